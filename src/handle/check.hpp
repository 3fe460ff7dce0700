// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "driver/driver_api.hpp"

namespace cudacore::handle {

struct BufferBox;
struct ContextBox;

/// Raises the exception that a driver code stands for: what was called, the driver's name and text
/// for the code, the object, advice. A sticky code marks every context as lost and names the
/// kernels launched since the last successful synchronization.
[[noreturn]] void throw_driver_error(CUresult result, const char* function, std::string_view object,
                                     ContextBox* context);

/// Does nothing on success. `object` says on what the call was made: "stream 0x55.. of device 0".
inline void check(CUresult result, const char* function, std::string_view object = {},
                  ContextBox* context = nullptr) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    throw_driver_error(result, function, object, context);
  }
}

/// Raises ContextLostError, without a driver call, where the context is lost; LaunchError, once,
/// where only a deleter has heard of it yet.
void throw_if_lost(const ContextBox& context);

/// Raises ContextLostError, without a driver call, for memory that ended with a reset.
void throw_if_stale(const BufferBox& buffer);
/// Raises it: "<message> from before cudacore.simulator.reset(): ...".
[[noreturn]] void throw_stale(std::string_view message);

/// Raises NotSupportedError for an option that shares with other processes.
[[noreturn]] void throw_no_ipc(const std::string& option);

/// Counts a failure that cannot be thrown and has been told already.
void count_unraisable() noexcept;
/// Counts a failure that cannot be thrown and tells the log hook. For deleters. A sticky code only
/// marks every context as lost, for the next call to raise.
void report_unraisable(CUresult result, const char* function) noexcept;
void report_unraisable(const char* message) noexcept;

/// Waits by polling `query` until it stops returning CUDA_ERROR_NOT_READY: spins for a while, then
/// sleeps for ever longer parts of the time waited, and asks the interrupt hook every 20 ms.
/// Without an interrupt hook, the driver's own blocking call is the better choice.
/// @throw InterruptedError where the hook says so.
[[nodiscard]] CUresult wait_until_ready(CUresult (*query)(void*), void* argument, bool spin = true);

/// Makes a blocking driver call that has no query to poll, such as cuCtxSynchronize, on a thread of
/// its own, and asks the interrupt hook every 20 ms. A wait that is given up leaves the thread
/// behind until the driver returns: `wait` owns what it needs.
/// @throw InterruptedError where the hook says so.
[[nodiscard]] CUresult wait_on_thread(const std::shared_ptr<ContextBox>& context,
                                      std::function<CUresult(const driver::DriverApi&)> wait);

}  // namespace cudacore::handle
