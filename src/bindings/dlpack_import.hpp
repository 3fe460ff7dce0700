// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/foreign_array.hpp"

namespace cudacore::bindings {

/// The C exchange API of an object's type. The first look-up of a type may run Python code.
struct ExchangeLookup {
  const dlpack::ExchangeApi* api;  ///< null if there is none of a major version that is known
  bool may_have_run_python;
};
/// @throw ForeignArrayError; what the type raises.
[[nodiscard]] ExchangeLookup find_exchange_api(PyObject* object);

/// The C exchange API of another library's type that was looked up before, if its arrays can be
/// borrowed.
struct BorrowingApi {
  const dlpack::ExchangeApi* api = nullptr;  ///< null if there is none
  bool has_own_dtype = false;                ///< as has_own_dtype() says of the type
};
/// Runs no Python code.
[[nodiscard]] BorrowingApi known_borrowing_api(PyTypeObject* type) noexcept;

/// Whether the `dtype` of a type's objects may be of code in Python, and so say something else than
/// the protocols do. Runs no Python code.
[[nodiscard]] bool has_own_dtype(PyTypeObject* type) noexcept;

/// Whether a library's arrays can be read without taking a share. This runs no Python code.
[[nodiscard]] inline bool can_borrow(const dlpack::ExchangeApi& api) noexcept {
  return api.borrow_from_object != nullptr;
}

/// Reads an array by the API of its type. Shares it, which may run Python code, if it can't be
/// borrowed.
/// @throw ForeignArrayError; what the library raises.
void read_by(const dlpack::ExchangeApi& api, PyObject* object, Sharing sharing,
             ForeignArray& array);

/// Refuses a tensor of PyTorch that is conjugated or negated only when PyTorch reads it. Runs
/// Python code.
/// @throw ForeignArrayError; what the object raises.
void refuse_lazy(PyObject* object);

/// Like read_by(), and refuses a tensor of PyTorch that is conjugated or negated only when PyTorch
/// reads it, which the API doesn't say.
/// @return whether Python code may have run.
/// @throw ForeignArrayError; what the library raises.
[[nodiscard]] bool read_checked_by(const dlpack::ExchangeApi& api, PyObject* object,
                                   Sharing sharing, ForeignArray& array);

/// Finds the API, and reads by it with that check.
/// @return false if the type has no such API.
[[nodiscard]] bool read_exchange_api(PyObject* object, Sharing sharing, ForeignArray& array);

/// Reads an array by __dlpack__, and owns what that returns. `consumer` is made to wait for the
/// array's work; null leaves that out.
/// @return false if the object does not have it.
/// @throw ForeignArrayError; what the object raises.
[[nodiscard]] bool read_dlpack(PyObject* object, CUstream consumer, ForeignArray& array);

/// Takes over a tensor, which is released even if it is refused.
/// @throw ForeignArrayError
void read_managed_tensor(dlpack::ManagedTensorVersioned* tensor, ForeignArray& array);

/// Passes on the Python error that a C function of another library left, or says that it failed.
[[noreturn]] void throw_protocol_error(const char* function);

}  // namespace cudacore::bindings
