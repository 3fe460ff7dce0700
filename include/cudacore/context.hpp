// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <cudacore/handles.hpp>

namespace cudacore {

namespace error {
struct ContextBox;
}

class Device;

/// What kernels of a context may use at most; the numbers are CUlimit's.
enum class ContextLimit : int {
  stack_size = 0,                        ///< bytes for each thread
  printf_fifo_size = 1,                  ///< bytes for what printf() writes until it is shown
  malloc_heap_size = 2,                  ///< bytes for malloc() in kernels
  dev_runtime_sync_depth = 3,            ///< how deep kernels wait for kernels that they launch
  dev_runtime_pending_launch_count = 4,  ///< how many launches of kernels by kernels may wait
  max_l2_fetch_granularity = 5,          ///< bytes, 0 to 128; a hint
  persisting_l2_cache_size = 6,  ///< bytes of the L2 cache set aside for persisting accesses
};

/// A CUDA context: the state of one device in this process.
///
/// Cheap to copy; copies share one box. A device's primary context is retained once for the life of
/// the process. A green context lives as long as anything that was made in it. A context made by
/// another library is borrowed and never destroyed.
class Context {
 public:
  explicit Context(std::shared_ptr<error::ContextBox> box) noexcept;

  /// The calling thread's current context (cuCtxGetCurrent). If there is none, makes the primary
  /// context of device 0 current.
  [[nodiscard]] static Context current();

  /// Lets go of a green context, which ends once nothing that was made in it is left. Does nothing
  /// for other contexts.
  /// @throw std::logic_error if it is the calling thread's current context.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUcontext handle() const;
  [[nodiscard]] Device device() const;
  /// Whether this is a green context, which has only some of a device's multiprocessors.
  [[nodiscard]] bool is_green() const;
  /// Whether a failure has made the context unusable; see ContextLostError.
  [[nodiscard]] bool is_lost() const;

  /// Reads a limit (cuCtxGetLimit).
  /// @throw NotSupportedError if the device has no such limit.
  [[nodiscard]] std::size_t limit(ContextLimit limit) const;
  /// Requests a limit (cuCtxSetLimit); the driver may round it, which limit() shows.
  /// @throw std::invalid_argument if a granularity exceeds 128 bytes.
  /// @throw NotSupportedError if the device has no such limit.
  void set_limit(ContextLimit limit, std::size_t value) const;
  /// Makes all persisting lines of the L2 cache normal again (cuCtxResetPersistingL2Cache).
  void reset_persisting_l2_cache() const;

  /// Makes this the calling thread's current context (cuCtxSetCurrent).
  void set_current() const;
  /// Waits for all work in the context (cuCtxSynchronize); the interrupt hook can end the wait.
  void sync() const;

  [[nodiscard]] const std::shared_ptr<error::ContextBox>& box() const noexcept { return box_; }
  friend bool operator==(const Context& a, const Context& b) noexcept { return a.box_ == b.box_; }

 private:
  std::shared_ptr<error::ContextBox> box_;
};

}  // namespace cudacore
