// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace cudacore::checkpoint {

/// What has been done to a process.
enum class ProcessState : std::uint8_t {
  running,
  locked,         ///< its CUDA calls wait
  checkpointed,   ///< its device memory is on the host, and it has no devices
  failed,         ///< it cannot be restored
  checkpointing,  ///< its device memory is on the way to the host
  restoring,      ///< its device memory is on the way back
};

/// The device that a process had, and the one that it gets instead, by their uuids.
struct DevicePair {
  std::array<unsigned char, 16> had{};
  std::array<unsigned char, 16> gets{};
};

/// A process that uses CUDA, which is taken off its devices and put back: lock(), checkpoint(),
/// then restore(), unlock(). Any process may do it to another of the same user, or to itself.
///
/// The calls throw NotSupportedError if the driver, before CUDA 12.8, or the simulated device lacks
/// them, and Error if the process isn't in the right state.
class Process {
 public:
  /// @throw std::invalid_argument if the id is not positive.
  explicit Process(int pid);

  [[nodiscard]] int pid() const noexcept { return pid_; }
  /// cuCheckpointProcessGetState
  [[nodiscard]] ProcessState state() const;
  /// The thread that restore() must be called for (cuCheckpointProcessGetRestoreThreadId).
  [[nodiscard]] int restore_thread_id() const;
  /// Makes further CUDA calls of the process wait, once those that run are done
  /// (cuCheckpointProcessLock).
  /// @param timeout_ms the most milliseconds to wait for these; 0 waits forever
  void lock(unsigned timeout_ms = 0) const;
  /// Copies the device memory of the locked process to the host, and gives its devices back
  /// (cuCheckpointProcessCheckpoint).
  void checkpoint() const;
  /// Undoes checkpoint() (cuCheckpointProcessRestore). The process stays locked.
  /// @param devices which devices replace which; if any, all that the kernel's driver has are named
  void restore(std::span<const DevicePair> devices = {}) const;
  /// Lets CUDA calls go on (cuCheckpointProcessUnlock).
  void unlock() const;

 private:
  int pid_;
};

}  // namespace cudacore::checkpoint
