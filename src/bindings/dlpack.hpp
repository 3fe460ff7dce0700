// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bindings/exported_array.hpp"

namespace cudacore::bindings {

/// __dlpack__: a capsule that shows an array; versioned (1.3) if the consumer asks for that. The
/// consumer's stream waits for the array's own stream and for the current one; a consumer on the
/// host, which has no stream, gets memory that no work uses. What the consumer cannot reach, or
/// wants for itself, is copied.
[[nodiscard]] pybind11::object dlpack_capsule(ExportedArray array, pybind11::handle stream,
                                              pybind11::handle max_version,
                                              pybind11::handle dl_device, pybind11::handle copy);

/// (device type, ordinal), as __dlpack_device__ returns it.
[[nodiscard]] pybind11::tuple to_tuple(dlpack::Device device);

/// @throw pybind11::buffer_error if DLPack has no such elements.
void require_dlpack_type(const ExportedArray& array);
/// What shows an array that has such elements, as long as it lives.
[[nodiscard]] dlpack::Tensor tensor_of(const ExportedArray& array);

/// A tensor of DLPack 1.3 that shows an array; its deleter frees it.
/// @throw pybind11::buffer_error if DLPack has no such elements.
[[nodiscard]] dlpack::ManagedTensorVersioned* make_managed_tensor(ExportedArray array);

/// DLPack's C exchange API, which Buffer and the views share.
[[nodiscard]] const dlpack::ExchangeApi& own_exchange_api() noexcept;
/// Its capsule, __dlpack_c_exchange_api__.
[[nodiscard]] pybind11::object exchange_capsule();

}  // namespace cudacore::bindings
