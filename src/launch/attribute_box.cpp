// SPDX-License-Identifier: Apache-2.0
#include "launch/attribute_box.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "cudacore/error.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "owner/owned_handles.hpp"
#include "owner/require_open.hpp"

namespace cudacore {
namespace {

using launching::AttributeBox;

CUlaunchAttributeValue& add(AttributeBox& box, CUlaunchAttributeID id) {
  CUlaunchAttribute& attribute = box.native.at(box.count++);
  attribute.id = id;
  return attribute.value;
}

void add_mode(AttributeBox& box, CUlaunchAttributeID id, std::uint8_t mode) {
  const int number = mode;
  std::memcpy(&add(box, id), &number, sizeof(number));
}

/// The driver records only such events with a launch.
CUevent check_event(const Event& event, const std::string& field) {
  const owner::EventBox& box = owner::require_open(event.box(), "Event");
  if (box.kind.timing) {
    throw std::invalid_argument(field + " must be an event without timing_enabled");
  }
  if (box.is_ipc) {
    throw std::invalid_argument(field + " must be an event without ipc_enabled");
  }
  return box.event;
}

void add_events(AttributeBox& box) {
  const LaunchAttributes& given = box.given;
  if (given.programmatic_event) {
    auto& value = add(box, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT).programmaticEvent;
    value.event = check_event(*given.programmatic_event, "programmatic_event");
    value.triggerAtBlockStart = given.trigger_at_block_start ? 1 : 0;
  } else if (given.trigger_at_block_start) {
    throw std::invalid_argument("trigger_at_block_start needs a programmatic_event");
  }
  if (given.launch_completion_event) {
    add(box, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT).launchCompletionEvent.event =
        check_event(*given.launch_completion_event, "launch_completion_event");
  }
}

void add_memory(AttributeBox& box) {
  const LaunchAttributes& given = box.given;
  if (given.access_policy_window) {
    check_window(*given.access_policy_window);
    add(box, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow =
        launching::driver_window(*given.access_policy_window);
  }
  if (given.mem_sync_domain_map) {
    auto& map = add(box, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap;
    map.default_ = given.mem_sync_domain_map->normal;
    map.remote = given.mem_sync_domain_map->remote;
  }
  if (given.mem_sync_domain) {
    add(box, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain =
        static_cast<CUlaunchMemSyncDomain>(*given.mem_sync_domain);
  }
  if (given.shared_memory_carveout) {
    const int carveout = *given.shared_memory_carveout;
    if (carveout < 0 || carveout > 100) {
      throw std::invalid_argument("shared_memory_carveout must lie in 0 .. 100 percent, not " +
                                  std::to_string(carveout));
    }
    add(box, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout =
        static_cast<unsigned>(carveout);
  }
  if (given.shared_memory_mode) {
    add_mode(box, launching::shared_memory_mode,
             static_cast<std::uint8_t>(*given.shared_memory_mode));
  }
}

void add_scheduling(AttributeBox& box) {
  const LaunchAttributes& given = box.given;
  if (given.cluster_scheduling_policy_preference) {
    add(box, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        .clusterSchedulingPolicyPreference =
        static_cast<CUclusterSchedulingPolicy>(*given.cluster_scheduling_policy_preference);
  }
  if (given.preferred_cluster) {
    const auto& [x, y, z] = *given.preferred_cluster;
    if (x == 0 || y == 0 || z == 0) {
      throw std::invalid_argument("every extent of preferred_cluster must be at least 1");
    }
    add(box, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim = {x, y, z};
  }
  if (given.device_updatable_kernel_node) {
    add(box, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        .deviceUpdatableKernelNode.deviceUpdatable = 1;
  }
  if (given.nvlink_util_centric_scheduling) {
    add(box, CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING).nvlinkUtilCentricScheduling = 1;
  }
  if (given.portable_cluster_size_mode) {
    add_mode(box, launching::portable_cluster_size_mode,
             static_cast<std::uint8_t>(*given.portable_cluster_size_mode));
  }
}

void note_record(const Event& event) noexcept {
  owner::EventBox& box = *event.box();
  box.recorded.store(true, std::memory_order_relaxed);
  box.in_flight.store(true, std::memory_order_release);  // after the driver has the record
}

}  // namespace

void check_window(const AccessPolicyWindow& window) {
  if (!(window.hit_ratio >= 0 && window.hit_ratio <= 1)) {
    throw std::invalid_argument("hit_ratio must lie in 0 .. 1, not " +
                                std::to_string(window.hit_ratio));
  }
  if (window.miss_prop == AccessProperty::persisting) {
    throw std::invalid_argument(
        "miss_prop must be normal or streaming: only the lines of the hit ratio can persist");
  }
}

std::shared_ptr<const AttributeBox> prepare(LaunchAttributes attributes) {
  auto box = std::make_shared<AttributeBox>();
  box->given = std::move(attributes);
  add_memory(*box);
  add_events(*box);
  add_scheduling(*box);
  return box->count != 0 ? box : nullptr;
}

const LaunchAttributes& attributes_of(
    const std::shared_ptr<const AttributeBox>& prepared) noexcept {
  static const LaunchAttributes none{};
  return prepared != nullptr ? prepared->given : none;
}

namespace launching {

void AttributeBox::require_usable_events() const {
  if (given.programmatic_event) {
    error::throw_if_lost(*given.programmatic_event->box()->context);
  }
  if (given.launch_completion_event) {
    error::throw_if_lost(*given.launch_completion_event->box()->context);
  }
}

void AttributeBox::note_records() const noexcept {
  if (given.programmatic_event) note_record(*given.programmatic_event);
  if (given.launch_completion_event) note_record(*given.launch_completion_event);
}

void check_window_on(const AccessPolicyWindow& window, const error::ContextBox& context,
                     std::string_view object) {
  if (window.num_bytes == 0) return;
  const error::DeviceLimits& limits = context.limits;
  const std::string start = std::string(object) + ": ";
  if (limits.access_policy_window == 0) {
    throw NotSupportedError(start + error::describe_device(context.device) +
                            " has no access policy windows");
  }
  if (window.num_bytes > limits.access_policy_window) {
    throw std::invalid_argument(start + "an access policy window of " +
                                error::format_bytes(window.num_bytes) +
                                " is too large: " + error::describe_device(context.device) +
                                " allows " + error::format_bytes(limits.access_policy_window));
  }
  if (window.hit_prop == AccessProperty::persisting && limits.persisting_l2 == 0) {
    throw NotSupportedError(start + error::describe_device(context.device) +
                            " has no persisting accesses to its L2 cache");
  }
}

AccessPolicyWindow given_window(const CUaccessPolicyWindow& window) noexcept {
  constexpr double precision = 1e6;  // of a float
  return {.base_ptr = reinterpret_cast<std::uintptr_t>(window.base_ptr),
          .num_bytes = window.num_bytes,
          .hit_ratio = std::round(window.hitRatio * precision) / precision,
          .hit_prop = static_cast<AccessProperty>(window.hitProp),
          .miss_prop = static_cast<AccessProperty>(window.missProp)};
}

CUaccessPolicyWindow driver_window(const AccessPolicyWindow& window) noexcept {
  CUaccessPolicyWindow made{};
  made.base_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(window.base_ptr));
  made.num_bytes = window.num_bytes;
  made.hitRatio = static_cast<float>(window.hit_ratio);
  made.hitProp = static_cast<CUaccessProperty>(window.hit_prop);
  made.missProp = static_cast<CUaccessProperty>(window.miss_prop);
  return made;
}

}  // namespace launching
}  // namespace cudacore
