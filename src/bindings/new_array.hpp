// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/exported_array.hpp"

namespace cudacore::bindings {

/// New memory for an array in C order, to be used on `stream`; on the host, the stream is closed.
/// @throw pybind11::buffer_error if cudacore allocates no such memory.
[[nodiscard]] ExportedArray new_array(dlpack::DataType type, StridedLayout layout,
                                      dlpack::Device device,
                                      std::shared_ptr<MemoryResource> resource,
                                      const Stream& stream);

/// A copy of an array, with the same strides: on the host, or on its own device. A copy on the
/// device is queued on `current`, which first waits for the array's own stream; a copy on the host
/// is complete. Needs no GIL.
[[nodiscard]] ExportedArray copied(const ExportedArray& array, dlpack::Device device,
                                   const Stream& current);

}  // namespace cudacore::bindings
