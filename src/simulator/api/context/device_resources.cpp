// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/context/device_resources.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::uint64_t our_mark = 0x73696D756C617465;
constexpr unsigned usual_queues = 8;  // CUDA_DEVICE_MAX_CONNECTIONS
constexpr unsigned most_neighbors = 32;
constexpr unsigned backfill_flag = 1;
constexpr unsigned ignore_neighbors_flag = 1;
constexpr unsigned known_split_flags = 3;
constexpr std::uint32_t remainder_part = ~std::uint32_t{0};

constexpr std::size_t fields_at = offsetof(CUdevResource, sm);
constexpr std::size_t origin_at = 8;  // behind the type, aligned

template <class Fields>
Fields read(const CUdevResource& resource, std::size_t at) noexcept {
  Fields fields{};
  std::memcpy(&fields, reinterpret_cast<const char*>(&resource) + at, sizeof(fields));
  return fields;
}

template <class Fields>
void write(CUdevResource& resource, std::size_t at, const Fields& fields) noexcept {
  std::memcpy(reinterpret_cast<char*>(&resource) + at, &fields, sizeof(fields));
}

CUdevResource make(const Device& device, CUdevResourceType type, std::uint32_t split,
                   std::uint32_t number) noexcept {
  CUdevResource resource{};
  resource.type = type;
  write(resource, origin_at, ResourceOrigin{our_mark, device.ordinal, split, number});
  return resource;
}

CUdevResource make_part(const Device& device, std::uint32_t split, std::uint32_t number,
                        const MultiprocessorFields& fields) noexcept {
  CUdevResource resource = make(device, CU_DEV_RESOURCE_TYPE_SM, split, number);
  write(resource, fields_at, fields);
  return resource;
}

/// The fewest multiprocessors of a group, and what their number is a multiple of.
MultiprocessorFields granularity_of(const Device& device) noexcept {
  const unsigned major = static_cast<unsigned>(device.properties.major);
  if (major >= 9) return {0, 8, 8, 0};
  return {0, major == 8 ? 4U : 2U, 2, 0};
}

std::uint32_t next_split() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

CUresult check_input(const CUdevResource* input, Device*& device) {
  if (input == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  device = device_of(*input);
  return device != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

/// What is left of a resource; nothing is of no type.
void write_remainder(CUdevResource* remainder, const Device& device, std::uint32_t split,
                     MultiprocessorFields fields, unsigned left) noexcept {
  if (remainder == nullptr) return;
  *remainder = {};
  if (left == 0) return;
  fields.count = left;
  *remainder = make_part(device, split, remainder_part, fields);
}

/// Finds out how many multiprocessors a group gets of those that are left.
CUresult count_group(const CU_DEV_SM_RESOURCE_GROUP_PARAMS& wanted, unsigned usual_neighbors,
                     unsigned left, bool is_needed, unsigned& count) {
  const unsigned neighbors =
      wanted.coscheduledSmCount != 0 ? wanted.coscheduledSmCount : usual_neighbors;
  if (neighbors % 2 != 0 || neighbors > most_neighbors) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "coscheduledSmCount must be even, and at most 32");
  }
  const bool backfills = (wanted.flags & backfill_flag) != 0;
  const unsigned step = backfills ? 2 : neighbors;
  count = wanted.smCount != 0 ? wanted.smCount : left / step * step;
  if (count % step != 0 || count > left || (is_needed && count < std::max(2U, step))) {
    return refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                  "a group of " + std::to_string(count) + " multiprocessors in groups of " +
                      std::to_string(step) + " cannot be had: " + std::to_string(left) +
                      " are left");
  }
  return CUDA_SUCCESS;
}

/// A descriptor: kept by this until a context uses it, and then by its contexts.
struct KnownDescriptor {
  ListedResources unused;
  std::weak_ptr<const std::vector<CUdevResource>> used;
};

struct Descriptors {
  std::mutex mutex;
  std::unordered_map<const void*, KnownDescriptor> all;
};

Descriptors& descriptors() {
  static auto& all = *std::make_unique<Descriptors>().release();
  return all;
}

void forget_descriptor(const std::vector<CUdevResource>* listed) noexcept {
  {
    const std::scoped_lock lock(descriptors().mutex);
    descriptors().all.erase(listed);
  }
  delete listed;
}

/// Multiprocessors of one descriptor come from one split, and everything from one device.
CUresult check_resources(std::span<const CUdevResource> resources) {
  const CUdevResource* first_part = nullptr;
  std::unordered_set<std::uint32_t> parts;
  for (const CUdevResource& resource : resources) {
    if (device_of(resource) == nullptr) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (device_of(resource) != device_of(resources.front())) {
      return refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                    "the resources are of different devices");
    }
    if (resource.type != CU_DEV_RESOURCE_TYPE_SM) continue;
    if (first_part == nullptr) first_part = &resource;
    const std::uint32_t split = origin_of(resource).split;
    if (&resource != first_part && (split == 0 || split != origin_of(*first_part).split)) {
      return refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                    "the multiprocessors are not of one split");
    }
    if (!parts.insert(origin_of(resource).part).second) {
      return refuse(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                    "the same multiprocessors are given twice");
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUdevResource multiprocessors_of(const Device& device) noexcept {
  MultiprocessorFields fields = granularity_of(device);
  fields.count = device.properties.multiprocessors;
  return make_part(device, 0, 0, fields);
}

CUdevResource queues_of(const Device& device) noexcept {
  CUdevResource resource = make(device, workqueue_config_type, 0, 0);
  write(resource, fields_at, QueueFields{device.ordinal, usual_queues, 0});
  return resource;
}

ResourceOrigin origin_of(const CUdevResource& resource) noexcept {
  return read<ResourceOrigin>(resource, origin_at);
}

MultiprocessorFields multiprocessors(const CUdevResource& resource) noexcept {
  return read<MultiprocessorFields>(resource, fields_at);
}

Device* device_of(const CUdevResource& resource) noexcept {
  const bool has_type =
      resource.type == CU_DEV_RESOURCE_TYPE_SM || resource.type == workqueue_config_type;
  const ResourceOrigin origin = origin_of(resource);
  return has_type && origin.mark == our_mark ? find_device(origin.device) : nullptr;
}

ListedResources use_descriptor(CUdevResourceDesc descriptor) noexcept {
  const std::scoped_lock lock(descriptors().mutex);
  const auto found = descriptors().all.find(descriptor);
  if (found == descriptors().all.end()) return nullptr;
  KnownDescriptor& known = found->second;
  if (known.unused == nullptr) return known.used.lock();
  known.used = known.unused;
  return std::exchange(known.unused, nullptr);
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource* resource, CUdevResourceType type) {
  return driver_call([&] {
    if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (type != CU_DEV_RESOURCE_TYPE_SM && type != workqueue_config_type) {
      return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    *resource = type == CU_DEV_RESOURCE_TYPE_SM ? multiprocessors_of(*device) : queues_of(*device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups,
                                     const CUdevResource* input, CUdevResource* remainder,
                                     unsigned flags, unsigned least) {
  return driver_call([&] {
    Device* device = nullptr;
    if (const CUresult status = check_input(input, device); status != CUDA_SUCCESS) return status;
    MultiprocessorFields fields = multiprocessors(*input);
    if (groups == nullptr || least > fields.count || (flags & ~known_split_flags) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const bool are_alone = (flags & ignore_neighbors_flag) != 0;
    const unsigned step = are_alone ? 2 : fields.alignment;
    const unsigned smallest = are_alone ? 2 : fields.min_partition_size;
    const unsigned size = (std::max(least, smallest) + step - 1) / step * step;
    const unsigned possible = fields.count / size;
    if (result == nullptr) {
      *groups = possible;
      return CUDA_SUCCESS;
    }
    *groups = std::min(*groups, possible);
    const std::uint32_t split = next_split();
    write_remainder(remainder, *device, split, fields, fields.count - *groups * size);
    fields.count = size;
    fields.alignment = step;
    for (unsigned i = 0; i < *groups; ++i) result[i] = make_part(*device, split, i, fields);
    return CUDA_SUCCESS;
  });
}

[[gnu::visibility("default")]] CUresult cuDevSmResourceSplit(
    CUdevResource* result, unsigned groups, const CUdevResource* input, CUdevResource* remainder,
    unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS* wanted) {
  return driver_call([&] {
    Device* device = nullptr;
    if (const CUresult status = check_input(input, device); status != CUDA_SUCCESS) return status;
    if (groups == 0 || flags != 0 || wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const MultiprocessorFields whole = multiprocessors(*input);
    const unsigned neighbors = granularity_of(*device).alignment;
    const std::uint32_t split = next_split();
    unsigned left = whole.count;
    std::vector<unsigned> counts(groups);
    for (unsigned i = 0; i < groups; ++i) {
      const CUresult status = count_group(wanted[i], neighbors, left, result != nullptr, counts[i]);
      if (status != CUDA_SUCCESS) return status;
      left -= counts[i];
    }
    for (unsigned i = 0; i < groups; ++i) {
      wanted[i].smCount = counts[i];
      if (result == nullptr) continue;
      MultiprocessorFields fields = whole;
      fields.count = counts[i];
      fields.flags = wanted[i].flags;
      if (wanted[i].coscheduledSmCount != 0) fields.alignment = wanted[i].coscheduledSmCount;
      result[i] = make_part(*device, split, i, fields);
    }
    write_remainder(remainder, *device, split, whole, left);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* descriptor, CUdevResource* resources,
                                   unsigned count) {
  return driver_call([&] {
    if (descriptor == nullptr || resources == nullptr || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::span<const CUdevResource> given(resources, count);
    if (const CUresult status = check_resources(given); status != CUDA_SUCCESS) return status;
    const ListedResources listed(
        std::make_unique<const std::vector<CUdevResource>>(given.begin(), given.end()).release(),
        &forget_descriptor);
    const std::scoped_lock lock(descriptors().mutex);
    descriptors().all[listed.get()].unused = listed;
    // A handle, which is only ever compared.
    *descriptor =
        reinterpret_cast<CUdevResourceDesc>(const_cast<std::vector<CUdevResource>*>(listed.get()));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
