// SPDX-License-Identifier: Apache-2.0
#include "bindings/caching_report.hpp"

#include "bindings/conversions.hpp"
#include "bindings/later.hpp"

namespace cudacore::bindings {
namespace {

struct Counter {
  const char* name;
  std::uint64_t CachingStatistics::*value;
};

constexpr Counter counters[] = {
    {"current_bytes", &CachingStatistics::current_bytes},
    {"current_count", &CachingStatistics::current_count},
    {"peak_bytes", &CachingStatistics::peak_bytes},
    {"peak_count", &CachingStatistics::peak_count},
    {"total_bytes", &CachingStatistics::total_bytes},
    {"total_count", &CachingStatistics::total_count},
    {"used_bytes", &CachingStatistics::used_bytes},
    {"free_bytes", &CachingStatistics::free_bytes},
    {"reserved_bytes", &CachingStatistics::reserved_bytes},
    {"peak_reserved_bytes", &CachingStatistics::peak_reserved_bytes},
    {"num_free_blocks", &CachingStatistics::num_free_blocks},
    {"num_segments", &CachingStatistics::num_segments},
    {"num_device_alloc", &CachingStatistics::num_device_alloc},
    {"num_device_free", &CachingStatistics::num_device_free},
    {"num_stream_waits", &CachingStatistics::num_stream_waits},
    {"num_alloc_retries", &CachingStatistics::num_alloc_retries},
    {"num_ooms", &CachingStatistics::num_ooms},
};

NamedTuple& statistics_tuple() {
  static NamedTuple tuple("CachingStatistics", [] {
    std::string fields;
    for (const Counter& counter : counters) fields += std::string(counter.name) + " ";
    return fields;
  }());
  return tuple;
}

py::dict to_dict(const CachedBlock& block) {
  py::dict shown;
  shown["address"] = block.address;
  shown["size"] = block.size;
  shown["requested_size"] = block.requested_size;
  shown["state"] = block.is_used ? "active_allocated" : "inactive";
  if (block.stream == nullptr) {
    shown["stream"] = py::none();
  } else {
    shown["stream"] = reinterpret_cast<std::uintptr_t>(block.stream);
  }
  return shown;
}

}  // namespace

void add_caching_statistics() { statistics_tuple().add(); }

py::object to_object(const CachingStatistics& statistics) {
  py::tuple values(std::size(counters));
  for (std::size_t i = 0; i < std::size(counters); ++i) {
    values[i] = statistics.*counters[i].value;
  }
  return statistics_tuple()(*values);
}

py::list to_object(const std::vector<CachedSegment>& segments, int device) {
  py::list all;
  for (const CachedSegment& segment : segments) {
    std::size_t allocated = 0;
    py::list blocks;
    for (const CachedBlock& block : segment.blocks) {
      if (block.is_used) allocated += block.size;
      blocks.append(to_dict(block));
    }
    py::dict shown;
    shown["device"] = device;
    shown["address"] = segment.address;
    shown["total_size"] = segment.total_size;
    shown["allocated_size"] = allocated;
    shown["segment_type"] = segment.segment_type;
    shown["blocks"] = blocks;
    all.append(shown);
  }
  return all;
}

}  // namespace cudacore::bindings
