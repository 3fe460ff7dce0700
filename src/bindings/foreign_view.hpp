// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/foreign_array.hpp"
#include "bindings/strided_view.hpp"

namespace cudacore::bindings {

using ArrayReader = bool (*)(PyObject* object, CUstream consumer, ForeignArray& array);

/// By the C exchange API or __dlpack__.
[[nodiscard]] bool read_any_dlpack(PyObject* object, CUstream consumer, ForeignArray& array);
/// By the protocols that NumPy's and CUDA's arrays have besides.
[[nodiscard]] bool read_cuda_interface(PyObject* object, CUstream consumer, ForeignArray& array);
[[nodiscard]] bool read_host_interface(PyObject* object, CUstream consumer, ForeignArray& array);

/// A view of another library's array, by the first of the readers that finds its protocol.
/// `stream` is where the view will be used, which is made to wait for the array's work: a Stream, a
/// handle, None for the current stream, or -1 for no order.
/// @throw BufferError if the array has none of the protocols, breaks it, or is on a device that
/// CUDA doesn't know; ValueError for strides that are no whole elements; what the array's own code
/// raises.
[[nodiscard]] StridedView view_array(const py::object& object, py::handle stream,
                                     std::initializer_list<ArrayReader> readers);

/// A view that takes over a tensor.
[[nodiscard]] StridedView view_tensor(dlpack::ManagedTensorVersioned* tensor);

}  // namespace cudacore::bindings
