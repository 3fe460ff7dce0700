// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include "simulator/api/stream/stream.hpp"

using namespace cudacore::simulator;

namespace {

constexpr std::array settable{CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                              CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                              CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                              CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

bool is_settable(CUstreamAttrID attribute) {
  return std::find(settable.begin(), settable.end(), attribute) != settable.end();
}

CUlaunchAttributeValue usual_value(CUstreamAttrID attribute) {
  CUlaunchAttributeValue value{};
  if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
    value.syncPolicy = CU_SYNC_POLICY_AUTO;
  if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
  return value;
}

bool is_valid(const DeviceProperties& device, CUstreamAttrID attribute,
              const CUlaunchAttributeValue& value) {
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return value.syncPolicy >= CU_SYNC_POLICY_AUTO &&
             value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      return value.priority >= greatest_stream_priority && value.priority <= least_stream_priority;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
             value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return value.accessPolicyWindow.hitRatio >= 0 && value.accessPolicyWindow.hitRatio <= 1 &&
             value.accessPolicyWindow.num_bytes <= device.access_policy_window &&
             value.accessPolicyWindow.missProp != CU_ACCESS_PROPERTY_PERSISTING;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: {
      const int domains = device.major >= 9 ? 4 : 1;
      return value.memSyncDomainMap.default_ < domains && value.memSyncDomainMap.remote < domains;
    }
    default:
      return true;
  }
}

}  // namespace

extern "C" {

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (value == nullptr || !is_settable(attribute)) return CUDA_ERROR_INVALID_VALUE;
    const std::scoped_lock lock(stream->mutex);
    *value = stream->attributes[attribute].value_or(usual_value(attribute));
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = stream->priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (value == nullptr || !is_settable(attribute) ||
        !is_valid(stream->context.device.properties, attribute, *value)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::scoped_lock lock(stream->mutex);
    stream->attributes[attribute] = *value;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) stream->priority = value->priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return stream_call(to, [&](const std::shared_ptr<Stream>& target) {
    return stream_call(from, [&](const std::shared_ptr<Stream>& source) {
      if (target == source) return CUDA_SUCCESS;
      const std::scoped_lock lock(target->mutex, source->mutex);
      target->attributes = source->attributes;
      target->priority = source->priority;
      return CUDA_SUCCESS;
    });
  });
}

}  // extern "C"
