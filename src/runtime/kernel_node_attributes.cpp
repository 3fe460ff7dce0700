// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_node_attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cudacore {
namespace {

/// How many bytes of an attribute's value tell it from others.
std::size_t size_of(CUlaunchAttributeID id) noexcept {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return offsetof(CUaccessPolicyWindow, missProp) + sizeof(CUaccessProperty);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return 3 * sizeof(unsigned);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return sizeof(CUlaunchMemSyncDomainMap);
    default:
      return sizeof(int);
  }
}

/// Whether a kernel's work sets an attribute.
bool has_attribute(const GraphWorkBox& work, CUlaunchAttributeID id) noexcept {
  return std::any_of(work.attributes.begin(), work.attributes.end(),
                     [id](const CUlaunchAttribute& attribute) { return attribute.id == id; });
}

/// Whether work or a node of a kernel may have another value than the device's default.
bool may_differ(const owner::NodeBox& node, const GraphWorkBox& work,
                CUlaunchAttributeID id) noexcept {
  return is_known_everywhere(id) || has_attribute(work, id) ||
         std::find(node.attributes.begin(), node.attributes.end(), id) != node.attributes.end();
}

}  // namespace

CUlaunchAttributeValue attribute_of(const GraphWorkBox& work, CUlaunchAttributeID id) noexcept {
  for (const CUlaunchAttribute& attribute : work.attributes) {
    if (attribute.id == id) return attribute.value;
  }
  CUlaunchAttributeValue value{};
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
  return value;
}

std::vector<CUlaunchAttributeID> changed_attributes(const GraphCall& call, CUgraphNode handle,
                                                    const owner::NodeBox& node,
                                                    const GraphWorkBox& work) {
  std::vector<CUlaunchAttributeID> changed;
  for (const CUlaunchAttributeID id : kernel_attributes) {
    if (!may_differ(node, work, id)) continue;
    const CUlaunchAttributeValue wanted = attribute_of(work, id);
    CUlaunchAttributeValue now{};
    const bool is_known = read_attribute(call, handle, id, now);
    const bool is_same =
        is_known ? std::memcmp(&wanted, &now, size_of(id)) == 0 : !has_attribute(work, id);
    if (!is_same) changed.push_back(id);
  }
  return changed;
}

std::vector<CUlaunchAttributeID> more_attributes(const GraphWorkBox& work) {
  std::vector<CUlaunchAttributeID> ids;
  for (const CUlaunchAttribute& attribute : work.attributes) {
    if (!is_known_everywhere(attribute.id)) ids.push_back(attribute.id);
  }
  return ids;
}

bool read_attribute(const GraphCall& call, CUgraphNode node, CUlaunchAttributeID id,
                    CUlaunchAttributeValue& value) {
  const CUresult result = call.api().cuGraphKernelNodeGetAttribute(node, id, &value);
  if (result == CUDA_ERROR_INVALID_VALUE && !is_known_everywhere(id)) return false;
  call.check(result, "cuGraphKernelNodeGetAttribute");
  return true;
}

}  // namespace cudacore
