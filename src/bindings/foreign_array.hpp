// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "bindings/dlpack_abi.hpp"
#include "cudacore/error.hpp"
#include "cudacore/handles.hpp"
#include "driver/not_copied.hpp"

// Arrays of other libraries, by the protocols that they have: DLPack's C exchange API,
// __cuda_array_interface__, __array_interface__ and __dlpack__. Nothing that an array says is
// trusted before it is checked.

namespace cudacore::bindings {

/// An array that breaks a protocol, or has a form that cudacore doesn't know. Raised as TypeError.
class ForeignArrayError : public TypeMismatchError {
 public:
  using TypeMismatchError::TypeMismatchError;
};

/// An array whose strides are no whole elements.
class ForeignStrideError : public ForeignArrayError {
 public:
  using ForeignArrayError::ForeignArrayError;
};

/// The memory of another library's array, as the array describes it.
struct ForeignArray : driver::NotCopied {
  static constexpr int most_dimensions = 64;

  using Owner = std::unique_ptr<void, void (*)(void*)>;

  /// Checked: no extent is negative, and the bytes lie within the address space. `data` is the
  /// first element, null only if there is none; byte_offset is 0. `shape` and `strides` belong to
  /// the array, to `owner` or to `extents`.
  dlpack::Tensor tensor{};
  std::size_t item_size = 0;  ///< bytes of an element
  std::size_t count = 0;      ///< elements
  bool is_c_contiguous = false;
  bool read_only = false;
  /// The stream that the array says its work is queued on; null if it names none.
  CUstream stream = nullptr;
  bool can_name_stream = true;  ///< false if the protocol has no room for one
  /// What to ask for that stream instead; null for other protocols.
  const dlpack::ExchangeApi* api = nullptr;
  Owner owner{nullptr, nullptr};  ///< keeps the memory; null if the object itself does
  std::array<std::int64_t, 2 * std::size_t{most_dimensions}> extents;  // NOLINT: filled if needed

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): clearing the extents costs time
  ForeignArray() {}

  /// Fills in what follows from the tensor, once it is complete.
  /// @throw ForeignArrayError that begins with `protocol`.
  void check(const char* protocol);
};

/// Whether a reader leaves the memory to the object, or shares it so that it outlives the object.
/// Only DLPack can share: of the other protocols, the object must be kept.
enum class Sharing : bool { borrow, share };

/// Reads an object by the best protocol that it has. `consumer` is the stream on which the memory
/// will be used: if no other protocol of the object names a stream, its __dlpack__ makes that
/// stream wait for the array. Runs Python code, except for the C exchange API.
/// @return false if the object has no such protocol.
/// @throw ForeignArrayError; what the object's own code raises.
[[nodiscard]] bool read_foreign_array(PyObject* object, CUstream consumer, Sharing sharing,
                                      ForeignArray& array);

/// The stream that a library works on; null if its memory there isn't ordered by streams, or the
/// library doesn't say.
/// @throw ForeignArrayError; what the library raises.
[[nodiscard]] CUstream current_stream(const dlpack::ExchangeApi& api, dlpack::Device device);

/// The stream that an array's work is queued on; null if there is none to wait for. For the C
/// exchange API, asks for the library's current stream.
[[nodiscard]] CUstream producer_stream(const ForeignArray& array);

/// Where the driver says that an address is; DeviceType::cpu for memory that it doesn't know.
[[nodiscard]] dlpack::Device locate(std::uint64_t address);

/// "float32", "complex64", "float32 x 4", "12-byte struct"
[[nodiscard]] std::string type_text(dlpack::DataType type);

/// The name of an attribute, which is never released.
[[nodiscard]] PyObject* interned(const char* name);

/// An attribute; null, without an exception, if the object does not have it.
[[nodiscard]] pybind11::object optional_attribute(PyObject* object, PyObject* name);

}  // namespace cudacore::bindings
