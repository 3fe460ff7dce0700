// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "bindings/conversions.hpp"

namespace cudacore::bindings {

using Shares = std::vector<std::shared_ptr<void>>;

/// Adds what keeps an argument, even if it is closed later: what a Buffer, a texture, a surface or
/// an array holds, what a view or a tensor map shows, or the object. Nothing for the memory of a
/// graph, which ends when its Buffer is closed.
void keep_argument(py::handle object, Shares& shares);
/// The same for all arguments of a launch that are no plain numbers.
[[nodiscard]] Shares keep_arguments(PyObject* const* arguments, std::size_t count);

/// If the stream is being captured, makes the graph keep what a call has queued there, and perhaps
/// a share of something else. The call must still borrow what may be closed meanwhile.
void keep_if_captured(const Stream& stream, std::initializer_list<py::handle> objects,
                      std::shared_ptr<void> more = nullptr);

}  // namespace cudacore::bindings
