// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "bindings/collector.hpp"
#include "cudacore/surface_object.hpp"
#include "cudacore/texture_object.hpp"

namespace cudacore::bindings {

/// The format of a number, which a class derived in Python may give wrong.
/// @throw pybind11::value_error
[[nodiscard]] inline ArrayFormat to_array_format(int number) {
  if (number >= 0 && number <= static_cast<int>(ArrayFormat::float32)) {
    return static_cast<ArrayFormat>(number);
  }
  throw py::value_error("no format has the number " + std::to_string(number));
}

/// The enumerator of a number that an object of a class which derives from ours may have set.
template <typename Enumeration>
[[nodiscard]] Enumeration checked_enumerator(int number, Enumeration last, const char* what) {
  if (number >= 0 && number <= static_cast<int>(last)) return static_cast<Enumeration>(number);
  throw std::invalid_argument(std::string(what) +
                              " is not one of its values: " + std::to_string(number));
}

/// A TextureObject object: what a kernel takes, and what it was made from, to be shown again.
struct PyTexture {
  TextureObject texture;
  py::object resource{};  ///< null once it is closed
  py::object options{};
};

/// A SurfaceObject object.
struct PySurface {
  SurfaceObject surface;
  py::object resource{};  ///< null once it is closed
};

template <>
struct CollectorTraits<PyTexture> {
  static constexpr bool any = true;
  static bool may_keep(const PyTexture& /*texture*/) noexcept { return true; }
  static int visit(const PyTexture& texture, visitproc visit, void* arg) {
    Py_VISIT(texture.resource.ptr());
    Py_VISIT(texture.options.ptr());
    return 0;
  }
};

template <>
struct CollectorTraits<PySurface> {
  static constexpr bool any = true;
  static bool may_keep(const PySurface& /*surface*/) noexcept { return true; }
  static int visit(const PySurface& surface, visitproc visit, void* arg) {
    Py_VISIT(surface.resource.ptr());
    return 0;
  }
};

}  // namespace cudacore::bindings
