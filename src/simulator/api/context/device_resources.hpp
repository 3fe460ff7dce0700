// SPDX-License-Identifier: Apache-2.0
//
// The resources of devices and of green contexts: multiprocessors and queues.
#pragma once

#include "simulator/api/objects.hpp"

#if CUDA_VERSION < 13010
struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
  unsigned smCount, coscheduledSmCount, preferredCoscheduledSmCount, flags, reserved[12];
};
#endif

namespace cudacore::simulator {

inline constexpr auto workqueue_config_type = static_cast<CUdevResourceType>(1000);

/// What a resource of multiprocessors has where the driver puts it, whichever CUDA cuda.h is of.
struct MultiprocessorFields {
  unsigned count;
  unsigned min_partition_size;
  unsigned alignment;
  unsigned flags;
};

/// The same for queues.
struct QueueFields {
  int device;
  unsigned concurrency_limit;
  int sharing_scope;
};

/// What is written into the part of a resource that is the driver's own.
struct ResourceOrigin {
  std::uint64_t mark;  ///< tells a resource of the simulated device from anything else
  int device;
  std::uint32_t split;  ///< the number of the split that it comes from; 0 for none
  std::uint32_t part;   ///< which one of that split
};

/// Both parts of a resource of a device, whole.
CUdevResource multiprocessors_of(const Device& device) noexcept;
CUdevResource queues_of(const Device& device) noexcept;

/// The device of a resource that is one; null for anything else.
Device* device_of(const CUdevResource& resource) noexcept;
ResourceOrigin origin_of(const CUdevResource& resource) noexcept;
MultiprocessorFields multiprocessors(const CUdevResource& resource) noexcept;

using ListedResources = std::shared_ptr<const std::vector<CUdevResource>>;

/// What a descriptor lists; null for anything else. The descriptor ends with the last share.
ListedResources use_descriptor(CUdevResourceDesc descriptor) noexcept;

/// What a green context was given.
struct GreenResources {
  CUdevResource multiprocessors;
  CUdevResource queues;
  ListedResources listed;
};

}  // namespace cudacore::simulator
