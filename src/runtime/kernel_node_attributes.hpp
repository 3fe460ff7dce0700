// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "launch/attribute_box.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore {

/// The value of an attribute of a kernel's work; the default unless it is set.
[[nodiscard]] CUlaunchAttributeValue attribute_of(const GraphWorkBox& work,
                                                  CUlaunchAttributeID id) noexcept;
/// What kernel nodes have. Some drivers and devices know only the first three.
inline constexpr std::array kernel_attributes{
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
    launching::portable_cluster_size_mode,
    launching::shared_memory_mode};
[[nodiscard]] constexpr bool is_known_everywhere(CUlaunchAttributeID id) noexcept {
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY;
}
/// The attributes of a kernel node, `handle`, that have another value in work.
[[nodiscard]] std::vector<CUlaunchAttributeID> changed_attributes(const GraphCall& call,
                                                                  CUgraphNode handle,
                                                                  const owner::NodeBox& node,
                                                                  const GraphWorkBox& work);
/// The attributes that work sets, besides those of the shape.
[[nodiscard]] std::vector<CUlaunchAttributeID> more_attributes(const GraphWorkBox& work);
/// Reads an attribute of a kernel node; returns false if the driver doesn't know it.
[[nodiscard]] bool read_attribute(const GraphCall& call, CUgraphNode node, CUlaunchAttributeID id,
                                  CUlaunchAttributeValue& value);

}  // namespace cudacore
