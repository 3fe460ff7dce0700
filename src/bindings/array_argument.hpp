// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "bindings/launch_arrays.hpp"
#include "launch/packed_arguments.hpp"

// Arrays of other libraries as arguments of kernels.

namespace cudacore::bindings {

/// Whether a slot takes an address: a pointer, or 8 bytes that may be one.
[[nodiscard]] inline bool takes_address(const launching::Slot& slot) noexcept {
  return slot.kind == ParamKind::pointer ||
         (slot.size == sizeof(std::uint64_t) &&
          (slot.kind == ParamKind::integer || slot.kind == ParamKind::opaque));
}

/// Whether a slot takes an array: as an address, or as a view.
[[nodiscard]] inline bool takes_array(const launching::Slot& slot) noexcept {
  return slot.view != 0 || takes_address(slot);
}

/// Packs what the pointers of a kernel nearly always get from other libraries: a contiguous tensor
/// on the launch's device, of a type that was seen before. Runs no Python code.
/// @return false for anything else, which pack_argument() packs or refuses.
/// @throw TypeMismatchError if the library cannot say which stream it works on.
[[nodiscard]] bool pack_known_array(const launching::KernelBox& kernel, std::size_t index,
                                    const launching::Slot& slot, PyObject* object,
                                    LaunchArrays& arrays, unsigned char* destination);

/// Packs an object whose type has DLPack's C exchange API into a slot that takes an array. Sets
/// `may_have_run_python` if that is so: for types that are new, and libraries that only share.
/// @return false for other objects.
/// @throw TypeMismatchError that names the kernel and the parameter.
[[nodiscard]] bool pack_exchanged_array(const launching::KernelBox& kernel, std::size_t index,
                                        const launching::Slot& slot, PyObject* object,
                                        LaunchArrays& arrays, unsigned char* destination,
                                        bool& may_have_run_python);

/// The API by which an object can be packed without running Python code; null for other objects.
/// May itself run Python code.
/// @throw as pack_exchanged_array().
[[nodiscard]] const dlpack::ExchangeApi* borrowing_api(const launching::KernelBox& kernel,
                                                       std::size_t index,
                                                       const launching::Slot& slot,
                                                       PyObject* object);

/// Packs an object by what borrowing_api() returned.
/// @throw as pack_exchanged_array().
void pack_borrowed_array(const launching::KernelBox& kernel, std::size_t index,
                         const launching::Slot& slot, PyObject* object,
                         const dlpack::ExchangeApi& api, LaunchArrays& arrays,
                         unsigned char* destination);

/// Packs an object that has any protocol of arrays into a slot that takes an array.
/// @return false for other objects.
/// @throw as pack_exchanged_array().
[[nodiscard]] bool pack_array(const launching::KernelBox& kernel, std::size_t index,
                              const launching::Slot& slot, PyObject* object, LaunchArrays& arrays,
                              unsigned char* destination);

/// Whether an object's type has a protocol of arrays, or is a Buffer's or a view's. Asks no object.
[[nodiscard]] bool has_array_type(PyObject* object);

/// Whether an object has any protocol of arrays. Runs Python code.
[[nodiscard]] bool is_array(PyObject* object);

}  // namespace cudacore::bindings
