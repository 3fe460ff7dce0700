// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cudacore/caching_memory_resource.hpp>

// What a caching pool reports, as Python sees it.

namespace cudacore::bindings {

namespace py = pybind11;

/// Adds the named tuple of the statistics.
void add_caching_statistics();
[[nodiscard]] py::object to_object(const CachingStatistics& statistics);
/// A dict for each segment, with a dict for each of its blocks.
[[nodiscard]] py::list to_object(const std::vector<CachedSegment>& segments, int device);

}  // namespace cudacore::bindings
