// SPDX-License-Identifier: Apache-2.0
#include "cudacore/stream_attributes.hpp"

#include <array>
#include <stdexcept>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "launch/attribute_box.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

const owner::StreamBox& opened(const Stream& stream) {
  return require_open(stream.box(), "Stream");
}

CUlaunchAttributeValue read_value(const Stream& stream, CUstreamAttrID attribute) {
  const StreamCall call(opened(stream));
  CUlaunchAttributeValue value{};
  call.check(call.api().cuStreamGetAttribute(call.stream(), attribute, &value),
             "cuStreamGetAttribute");
  return value;
}

void write_value(const StreamCall& call, CUstreamAttrID attribute,
                 const CUlaunchAttributeValue& value) {
  call.check(call.api().cuStreamSetAttribute(call.stream(), attribute, &value),
             "cuStreamSetAttribute");
}

/// A window is over memory that the device can access.
void require_memory(const StreamCall& call, const AccessPolicyWindow& window) {
  unsigned type = 0;
  int device = -1;
  unsigned is_managed = 0;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                        CU_POINTER_ATTRIBUTE_IS_MANAGED};
  std::array<void*, attributes.size()> values{&type, &device, &is_managed};
  const CUresult result = call.api().cuPointerGetAttributes(attributes.size(), attributes.data(),
                                                            values.data(), window.base_ptr);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) {
    call.check(result, "cuPointerGetAttributes");
  }
  const std::string start =
      "access_policy_window: base_ptr " + error::format_address(window.base_ptr) + " is ";
  if (result != CUDA_SUCCESS || type == 0) {
    throw std::invalid_argument(start + "no memory that the driver knows");
  }
  const int wanted = call.context()->device;
  if (type == CU_MEMORYTYPE_DEVICE && is_managed == 0 && device != wanted) {
    throw std::invalid_argument(start + "memory of device " + std::to_string(device) +
                                ", and the stream is of device " + std::to_string(wanted));
  }
}

}  // namespace

StreamAttributes::StreamAttributes(Stream stream) : stream_(std::move(stream)) {
  static_cast<void>(opened(stream_));
}

AccessPolicyWindow StreamAttributes::access_policy_window() const {
  return launching::given_window(
      read_value(stream_, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow);
}

void StreamAttributes::set_access_policy_window(const AccessPolicyWindow& window) const {
  check_window(window);
  const StreamCall call(opened(stream_));
  launching::check_window_on(window, *call.context(), "access_policy_window");
  if (window.num_bytes != 0) require_memory(call, window);
  CUlaunchAttributeValue value{};
  value.accessPolicyWindow = launching::driver_window(window);
  write_value(call, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, value);
}

SyncPolicy StreamAttributes::sync_policy() const {
  const int policy = read_value(stream_, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy;
  return policy == 0 ? SyncPolicy::automatic
                     : static_cast<SyncPolicy>(policy - CU_SYNC_POLICY_AUTO);
}

void StreamAttributes::set_sync_policy(SyncPolicy policy) const {
  CUlaunchAttributeValue value{};
  value.syncPolicy =
      static_cast<CUsynchronizationPolicy>(static_cast<int>(policy) + CU_SYNC_POLICY_AUTO);
  write_value(StreamCall(opened(stream_)), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, value);
}

int StreamAttributes::priority() const {
  return read_value(stream_, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority;
}

void StreamAttributes::set_priority(int priority) const {
  const StreamCall call(opened(stream_));
  check_priority(call, priority);
  CUlaunchAttributeValue value{};
  value.priority = priority;
  write_value(call, CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
}

MemSyncDomain StreamAttributes::mem_sync_domain() const {
  return static_cast<MemSyncDomain>(
      read_value(stream_, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain);
}

void StreamAttributes::set_mem_sync_domain(MemSyncDomain domain) const {
  CUlaunchAttributeValue value{};
  value.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(domain);
  write_value(StreamCall(opened(stream_)), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, value);
}

MemSyncDomainMap StreamAttributes::mem_sync_domain_map() const {
  const CUlaunchMemSyncDomainMap map =
      read_value(stream_, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap;
  return {.normal = map.default_, .remote = map.remote};
}

void StreamAttributes::set_mem_sync_domain_map(MemSyncDomainMap map) const {
  const int domains = stream_.device().attribute(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
  if (map.normal >= domains || map.remote >= domains) {
    throw std::invalid_argument("mem_sync_domain_map must have domains in 0 .. " +
                                std::to_string(domains - 1) + ", of which " +
                                error::describe_device(stream_.device().id()) + " has " +
                                std::to_string(domains));
  }
  CUlaunchAttributeValue value{};
  value.memSyncDomainMap.default_ = map.normal;
  value.memSyncDomainMap.remote = map.remote;
  write_value(StreamCall(opened(stream_)), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, value);
}

void StreamAttributes::copy_from(const Stream& source) const {
  const owner::StreamBox& from = opened(source);
  const StreamCall call(opened(stream_));
  const int device = from.work_context()->device;
  if (device != call.context()->device) {
    throw std::invalid_argument(
        "attributes are copied between streams of one device: this is of "
        "device " +
        std::to_string(call.context()->device) + ", and the source of device " +
        std::to_string(device));
  }
  call.check(call.api().cuStreamCopyAttributes(call.stream(), from.stream),
             "cuStreamCopyAttributes");
}

}  // namespace cudacore
