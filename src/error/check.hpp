// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string_view>

#include "error/context_box.hpp"

namespace cudacore::error {

/// Throws the exception for a driver code: what was called, the driver's name and text for the
/// code, the object, advice. A sticky code marks every context as lost and names the kernels
/// launched since the last successful synchronization.
[[noreturn]] void throw_driver_error(CUresult result, const char* function, std::string_view object,
                                     ContextBox* context);

/// Does nothing on success. `object` describes the object that the call was made on: "stream 0x55..
/// of device 0".
inline void check(CUresult result, const char* function, std::string_view object = {},
                  ContextBox* context = nullptr) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    throw_driver_error(result, function, object, context);
  }
}
/// Out of line: builds the object's text, after a failure only.
template <typename Describe>
[[noreturn, gnu::cold, gnu::noinline]] void throw_described(CUresult result, const char* function,
                                                            const Describe& describe,
                                                            ContextBox* context) {
  throw_driver_error(result, function, describe(), context);
}

/// The same; `describe` makes the object's text, after a failure only.
inline void check(CUresult result, const char* function, const std::invocable auto& describe,
                  ContextBox* context = nullptr) {
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_described(result, function, describe, context);
}

/// If the context is lost, throws ContextLostError without calling the driver; if only a deleter
/// has noticed the loss so far, throws LaunchError, once.
void throw_if_lost(const ContextBox& context);

/// Throws ContextLostError, without calling the driver: "<message> from before
/// cudacore.simulator.reset(): ...".
[[noreturn]] void throw_stale(std::string_view message);

}  // namespace cudacore::error
