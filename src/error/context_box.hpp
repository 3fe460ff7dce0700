// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

// The contexts that this process has seen, what was launched in each, and whether an error has
// ended it. A context's box lives forever: everything made in the context holds a share.

namespace cudacore::handle {

/// The limits that launches are checked against, read once.
struct DeviceLimits {
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> grid{};
  unsigned threads_per_block = 0;
  std::size_t shmem_per_block = 0;        ///< without opting in
  std::size_t shmem_per_block_optin = 0;  ///< after opting in
  bool cluster_launch = false;
  bool cooperative_launch = false;
};

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

/// Returns a name that lives until its last user gives it back and it is in no history; equal names
/// share one copy.
[[nodiscard]] const char* intern(const std::string& name);
/// Gives a name back; does nothing for null.
void give_back_name(const char* name) noexcept;
/// How many names there are, for tests.
[[nodiscard]] std::size_t interned_names();

/// What events must have in common to be used in place of each other. A capture, and anyone who has
/// the handle, can tell whether an event was ever recorded.
struct EventKind {
  bool timing = false;
  bool blocking = false;
  bool recorded = false;
};

/// Idle events of one context that were closed, kept for reuse: creating and destroying one in the
/// driver takes several times as long.
class IdleEvents {
 public:
  /// An event of this kind; null if there is none.
  [[nodiscard]] CUevent take(EventKind kind) noexcept;
  /// Keeps an event; returns false if there are enough of its kind.
  [[nodiscard]] bool keep(CUevent event, EventKind kind) noexcept;

 private:
  struct Idle {
    std::array<CUevent, 32> events{};
    std::size_t count = 0;
  };

  [[nodiscard]] Idle& idle(EventKind kind) noexcept {
    return idle_[(kind.timing ? 4U : 0U) + (kind.blocking ? 2U : 0U) + (kind.recorded ? 1U : 0U)];
  }

  std::mutex mutex_;  ///< guards idle_; never held during a driver call
  std::array<Idle, 8> idle_;
};

struct ContextBox {
  static constexpr int max_devices = 64;  ///< the maximum for a process

  CUcontext context = nullptr;
  int device = 0;
  unsigned long long id = 0;  ///< cuCtxGetId: differs from that of its successor after a reset
  DeviceLimits limits;
  LaunchHistory history;
  std::atomic<bool> lost{false};
  std::string lost_reason;  ///< written once, before `lost` is set
  int lost_code = 0;        ///< the driver's code, written with lost_reason
  IdleEvents idle_events;
  /// Whether memory was returned to a pool since the driver last waited.
  std::atomic<bool> freed_to_pool{false};

  [[nodiscard]] bool take_freed_to_pool() noexcept {
    return freed_to_pool.load(std::memory_order_relaxed) &&
           freed_to_pool.exchange(false, std::memory_order_relaxed);
  }
};

/// The primary context of a device, retained on first use, never released. Callable from any
/// thread.
[[nodiscard]] const std::shared_ptr<ContextBox>& primary_context(int device);
/// The box of the calling thread's current context. If there is none, makes device 0's primary
/// context current.
[[nodiscard]] const std::shared_ptr<ContextBox>& current_context();
/// The box of a context that was made elsewhere; always the same box for the same context.
[[nodiscard]] const std::shared_ptr<ContextBox>& context_box(CUcontext context);
/// Whether the driver still has the context: other code may have destroyed it, or reset its device.
[[nodiscard]] bool is_alive(const driver::DriverApi& api, const ContextBox& context) noexcept;
/// Refuses a context that the driver no longer has. If it was a primary context, the next call gets
/// its successor.
/// @throw ContextLostError
void throw_if_ended(const driver::DriverApi& api, ContextBox& context);
/// Every context that this process has seen, except those passed to forget_contexts().
[[nodiscard]] std::vector<std::shared_ptr<ContextBox>> known_contexts();

/// How many times contexts were forgotten.
inline constinit std::atomic<unsigned> resets{0};

/// Makes a context current for a scope. If no context was current before, it stays current
/// afterwards.
class ContextScope : driver::NotCopied {
 public:
  ContextScope(const driver::DriverApi& api, const ContextBox& context);
  ~ContextScope();

 private:
  const driver::DriverApi* api_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace cudacore::handle
