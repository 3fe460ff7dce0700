// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bindings/gil.hpp"
#include "bindings/values.hpp"
#include "cudacore/system.hpp"
#include "error/unraisable.hpp"

namespace cudacore::bindings {

namespace {

py::tuple library(system::Library (*find)()) {
  const system::Library found = without_gil(find);
  return py::make_tuple(py::make_tuple(found.version.major, found.version.minor),
                        to_str(found.path));
}

/// Asks cudacore._paths; called by whatever thread first looks for a library, with the GIL or not.
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
  Policied<py::module_> module(plain);
  system::set_wheel_roots(&wheel_roots);

  module.def(
      "driver_library", [] { return library(&system::driver); }, in_parts,
      "The CUDA version that the driver speaks (cuDriverGetVersion), and where libcuda lies.\n\n"
      "Returns\n-------\n"
      "tuple\n    ``((major, minor), path)``.\n\n"
      "Raises\n------\n"
      "DriverNotFoundError\n    There is no driver; the message lists every place looked in.");
  module.def(
      "nvrtc_library", [] { return library(&system::nvrtc); }, in_parts,
      "The version of NVRTC (nvrtcVersion), and where it lies.\n\n"
      "Returns\n-------\n"
      "tuple\n    ``((major, minor), path)``.\n\n"
      "Raises\n------\n"
      "LibraryNotFoundError\n    NVRTC is not installed; the message lists every place looked "
      "in.\n\n"
      "Examples\n--------\n"
      ">>> (major, minor), path = cudacore.nvrtc_library()\n"
      ">>> major >= 12\n"
      "True");
  module.def(
      "nvjitlink_library", [] { return library(&system::nvjitlink); }, in_parts,
      "The version of nvJitLink (nvJitLinkVersion), and where it lies.\n\n"
      "Returns\n-------\n"
      "tuple\n    ``((major, minor), path)``.\n\n"
      "Raises\n------\n"
      "LibraryNotFoundError\n"
      "    nvJitLink is not installed; the message lists every place looked in.\n\n"
      "Examples\n--------\n"
      ">>> (major, minor), path = cudacore.nvjitlink_library()\n"
      ">>> major >= 12\n"
      "True");
  module.def(
      "nvrtc_architectures",
      [] {
        py::list architectures;
        for (const int architecture : without_gil(&system::nvrtc_architectures)) {
          architectures.append(architecture);
        }
        return architectures;
      },
      in_parts,
      "The architectures that NVRTC compiles for (nvrtcGetSupportedArchs).\n\n"
      "Returns\n-------\n"
      "list of int\n    Such as 75, 80, 90.\n\n"
      "Raises\n------\n"
      "LibraryNotFoundError\n    NVRTC is not installed.\n\n"
      "Examples\n--------\n"
      ">>> 90 in cudacore.nvrtc_architectures()\n"
      "True");
  module.def(
      "include_directories",
      [] {
        py::list folders;
        for (const auto& folder : without_gil(&system::include_directories)) {
          folders.append(to_str(folder));
        }
        return folders;
      },
      in_parts,
      "The folders with CUDA's own headers that programs see, in search order.\n\n"
      "Returns\n-------\n"
      "list of str\n    Empty where there are none.\n\n"
      "Raises\n------\n"
      "LibraryNotFoundError\n    NVRTC, whose version the headers must fit, is not installed.\n\n"
      "Examples\n--------\n"
      ">>> all(isinstance(folder, str) for folder in cudacore.include_directories())\n"
      "True");
  module.def(
      "num_devices", [] { return system::num_devices(); },
      "How many devices the driver shows (cuDeviceGetCount).\n\n"
      "Returns\n-------\n"
      "int\n    0 where the driver finds none.\n\n"
      "Raises\n------\n"
      "DriverNotFoundError\n    There is no driver.");
  module.def(
      "unraisable_errors", [] { return system::unraisable_errors(); }, quick,
      "How many failures could not be raised: in a buffer's or a stream's end, in a "
      "callback. Each\n"
      "was reported to standard error.\n\n"
      "Returns\n-------\n"
      "int\n\n"
      "Examples\n--------\n"
      ">>> cudacore.unraisable_errors()\n"
      "0");
}

}  // namespace cudacore::bindings
