// SPDX-License-Identifier: Apache-2.0
#include "bindings/code_objects.hpp"
#include "bindings/conversions.hpp"

namespace cudacore::bindings {

cache::Use to_cache_use(py::handle object) {
  if (object.is_none() || object.is(py::bool_(true))) return cache::Use::yes;
  if (object.is(py::bool_(false))) return cache::Use::no;
  refuse_type("cache", "True, False or None", object);
}

void bind_cache(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("cache_info", in_parts, [] {
    const cache::Info info = without_gil(&cache::info);
    const cache::Counts& counts = info.counts;
    return py::make_tuple(info.is_enabled, to_str(info.folder), info.max_size, counts.hits,
                          counts.misses, counts.stored, counts.uncacheable, counts.failures,
                          foreign_text(info.problem), foreign_text(info.uncacheable));
  });
  module.def("cache_usage", in_parts, [] {
    const cache::Usage usage = without_gil(&cache::usage);
    return py::make_tuple(usage.entries, usage.size);
  });
  module.def("cache_clear", [] { return cache::clear(); });
  module.def("cache_enable", py::arg("enabled"), [](bool enabled) { cache::enable(enabled); });
  module.def("cache_set_folder", py::arg("folder"), [](const py::object& folder) {
    return [path = to_path(folder)] { cache::set_folder(path); };
  });
  module.def("cache_set_max_size", py::arg("size"),
             [](std::uint64_t size) { cache::set_max_size(size); });
}

}  // namespace cudacore::bindings
