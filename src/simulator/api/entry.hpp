// SPDX-License-Identifier: Apache-2.0
//
// What every driver function does at its start and end.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "simulator/api/objects.hpp"
#include "simulator/api/system/logs.hpp"

namespace cudacore::simulator {

/// Logs why a call is rejected, and returns its code, for `return refuse(...)`.
inline CUresult refuse(CUresult result, std::string_view why) noexcept {
  log_error(why);
  return result;
}

/// Turns the exception being handled into the call's result.
CUresult result_of_exception() noexcept;

/// A call that needs cuInit but no context: CUresult body().
template <class Body>
CUresult driver_call(Body&& body) noexcept {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  try {
    return body();
  } catch (...) {
    return result_of_exception();
  }
}

/// A call that works in the calling thread's current context: CUresult body(Context&).
template <class Body>
CUresult context_call(Body&& body) noexcept {
  Context* context = nullptr;
  if (const CUresult status = current_context(context); status != CUDA_SUCCESS) return status;
  try {
    return body(*context);
  } catch (...) {
    return result_of_exception();
  }
}

/// Calls CUresult body(T&) with the object of a live handle.
template <class Handle, class T, class Body>
CUresult with_object(const HandleTable<Handle, T>& table, Handle handle, Body&& body) {
  const auto object = table.find(handle);
  return object != nullptr ? body(*object) : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace cudacore::simulator
