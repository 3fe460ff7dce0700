// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "bindings/collector.hpp"
#include "cudacore/graphics_resource.hpp"

namespace cudacore::bindings {

/// A GraphicsResource object, and what it keeps for Python.
struct PyGraphics {
  GraphicsResource resource;
  py::object mapped{};             ///< the Buffer or the array that it was mapped as last; null
  std::optional<Stream> stream{};  ///< on which a `with` maps it
};

template <>
struct CollectorTraits<PyGraphics> {
  static constexpr bool any = true;
  static bool may_keep(const PyGraphics& /*graphics*/) noexcept { return true; }
  static int visit(const PyGraphics& graphics, visitproc visit, void* arg) {
    Py_VISIT(graphics.mapped.ptr());
    return graphics.stream ? visit_kept(*graphics.stream, visit, arg) : 0;
  }
};

}  // namespace cudacore::bindings
