// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "cudacore/clocks.hpp"
#include "cudacore/places.hpp"
#include "error/unraisable.hpp"

namespace cudacore::bindings {
namespace {

py::tuple library(system::Library (*find)()) {
  const system::Library found = without_gil(find);
  return py::make_tuple(py::make_tuple(found.version.major, found.version.minor),
                        to_str(found.path));
}

/// Asks cudacore._paths. Any thread may be the first to look for a library, with or without the
/// GIL.
std::vector<std::filesystem::path> wheel_roots() {
  std::vector<std::filesystem::path> roots;
  if (!may_take_gil()) return roots;
  const AcquireGil gil;
  const py::object answer = py::module_::import("cudacore._paths").attr("wheel_roots")();
  for (const py::handle root : answer) roots.push_back(to_path(root));
  return roots;
}

}  // namespace

void bind_system(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  system::set_wheel_roots(&wheel_roots);

  module.def("driver_library", in_parts, [] { return library(&system::driver); });
  module.def("nvrtc_library", in_parts, [] { return library(&system::nvrtc); });
  module.def("nvjitlink_library", in_parts, [] { return library(&system::nvjitlink); });
  module.def("nvfatbin_library", in_parts, [] { return library(&system::nvfatbin); });
  module.def("nvrtc_architectures", in_parts, [] {
    py::list architectures;
    for (const int architecture : without_gil(&system::nvrtc_architectures)) {
      architectures.append(architecture);
    }
    return architectures;
  });
  module.def("include_directories", in_parts, [] {
    py::list folders;
    for (const auto& folder : without_gil(&system::include_directories)) {
      folders.append(to_str(folder));
    }
    return folders;
  });
  module.def("library_places", py::arg("library"), in_parts, [](const std::string& library) {
    py::list found;
    for (const auto& [kind, name] : without_gil([&] { return system::library_places(library); })) {
      found.append(py::make_tuple(kind, to_str(name)));
    }
    return found;
  });
  module.def("header_places", in_parts, [] {
    py::list found;
    for (const auto& [version, folder] : without_gil(&system::header_places)) {
      found.append(py::make_tuple(to_str(folder), py::make_tuple(version.major, version.minor)));
    }
    return found;
  });
  module.def("clocks", py::arg("pci_bus_id"), in_parts, [](const std::string& pci_bus_id) {
    const system::Clocks found = without_gil([&] { return system::clocks(pci_bus_id); });
    return py::make_tuple(found.multiprocessors, found.memory, found.reasons);
  });
  module.def("num_devices", [] { return system::num_devices(); });
  module.def("unraisable_errors", quick, [] { return system::unraisable_errors(); });
}

}  // namespace cudacore::bindings
