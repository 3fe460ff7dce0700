// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/driver_api.hpp"

namespace cudacore::error {

/// The names of the last launches on a context, for the message of the error that one of them
/// causes. Writers don't lock or synchronize, because a locked instruction after a launch waits for
/// the launch to reach the device. At worst, a torn history names the wrong kernels; it never
/// crashes. The names are interned; see intern().
class LaunchHistory {
 public:
  void add(const char* kernel, CUstream stream = nullptr) noexcept {
    const std::uint64_t launch = next_.load(std::memory_order_relaxed);
    next_.store(launch + 1, std::memory_order_relaxed);
    const auto index = launch % names_.size();
    streams_[index].store(stream, std::memory_order_relaxed);
    names_[index].store(kernel, std::memory_order_release);  // other threads read the name's bytes
  }
  /// The current position in the history. Pass it to synced() after a wait that started here has
  /// succeeded.
  [[nodiscard]] std::uint64_t mark() const noexcept {
    return next_.load(std::memory_order_relaxed);
  }
  void synced(std::uint64_t mark) noexcept { synced_.store(mark, std::memory_order_relaxed); }
  /// The same for a wait on one stream: forgets what was launched there before the mark.
  void synced(std::uint64_t mark, CUstream stream) noexcept;
  /// The kernels launched since the last successful synchronization, newest last, without
  /// duplicates; none after end().
  [[nodiscard]] std::vector<std::string> since_sync() const;
  /// Forgets everything permanently: the context has ended.
  void end() noexcept;
  /// Calls `visit` with each name in the history; for forget_unused_names().
  template <typename Visit>
  void for_each_name(Visit visit) const {
    for (const auto& name : names_) visit(name.load(std::memory_order_relaxed));
  }

 private:
  std::array<std::atomic<const char*>, 64> names_{};
  std::array<std::atomic<CUstream>, 64> streams_{};
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> synced_{0};
  bool has_ended_ = false;  ///< guarded by the lock of the names
};

}  // namespace cudacore::error
