// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "bindings/conversions.hpp"

namespace cudacore::bindings {

/// What keeps an argument: what a Buffer, a texture, a surface or an array holds, even if it is
/// closed later, or the object. Null
/// for the memory of a graph, which ends when its Buffer is closed.
[[nodiscard]] std::shared_ptr<void> keep_argument(py::handle object);
/// The same for all arguments of a launch that are no plain numbers.
[[nodiscard]] std::vector<std::shared_ptr<void>> keep_arguments(PyObject* const* arguments,
                                                                std::size_t count);

/// If the stream is being captured, makes the graph keep what a call has queued there, and perhaps
/// a share of something else.
void keep_if_captured(const Stream& stream, std::initializer_list<py::handle> objects,
                      std::shared_ptr<void> more = nullptr);

}  // namespace cudacore::bindings
