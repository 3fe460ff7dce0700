// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "cudacore/buffer.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

/// (device type, ordinal) of a buffer, as __dlpack_device__ returns it.
[[nodiscard]] py::tuple dlpack_device(const Buffer& buffer);

/// A capsule that shows the buffer as a one-dimensional array of bytes (int8); versioned (1.0)
/// if the consumer asks for it. The consumer's stream waits for the buffer's own stream and for
/// the current one; a consumer on the host, which has no stream, gets memory that no work uses.
[[nodiscard]] py::object dlpack_capsule(const Buffer& buffer, py::handle stream,
                                        py::handle max_version, py::handle dl_device,
                                        py::handle copy);

}  // namespace cudacore::bindings
