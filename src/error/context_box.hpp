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

// The contexts that this process has met, what was launched in each, and whether an error has ended
// it. A context's box lives for ever: whatever was made in the context holds a share.

namespace cudacore::handle {

/// Limits a launch is checked against, read once.
struct DeviceLimits {
  std::array<unsigned, 3> block{};
  std::array<unsigned, 3> grid{};
  unsigned threads_per_block = 0;
  std::size_t shmem_per_block = 0;        ///< without opting in
  std::size_t shmem_per_block_optin = 0;  ///< with
  bool cluster_launch = false;
  bool cooperative_launch = false;
};

/// The names of the last launches on a context, for the message of the error that one of them
/// causes. Writers neither lock nor synchronise, since a locked instruction behind a launch waits
/// for the launch to reach the device: a torn history only ever misreports which kernels, never
/// crashes. The names are interned; see intern().
class LaunchHistory {
 public:
  void add(const char* kernel, CUstream stream = nullptr) noexcept {
    const std::uint64_t launch = next_.load(std::memory_order_relaxed);
    next_.store(launch + 1, std::memory_order_relaxed);
    const auto index = launch % names_.size();
    streams_[index].store(stream, std::memory_order_relaxed);
    names_[index].store(kernel, std::memory_order_release);  // others read the name's bytes
  }
  /// Where the history stands now; hand it to synced() once a wait that began here has succeeded.
  [[nodiscard]] std::uint64_t mark() const noexcept {
    return next_.load(std::memory_order_relaxed);
  }
  void synced(std::uint64_t mark) noexcept { synced_.store(mark, std::memory_order_relaxed); }
  /// The same for a wait on one stream: forgets what was launched there before the mark.
  void synced(std::uint64_t mark, CUstream stream) noexcept;
  /// The kernels launched since the last successful synchronization, newest last, each once; none
  /// after end().
  [[nodiscard]] std::vector<std::string> since_sync() const;
  /// Forgets all, for good: the context has ended.
  void end() noexcept;
  /// Calls `visit` with each name in it; for forget_unused_names().
  template <typename Visit>
  void for_each_name(Visit visit) const {
    for (const auto& name : names_) visit(name.load(std::memory_order_relaxed));
  }

 private:
  std::array<std::atomic<const char*>, 64> names_{};
  std::array<std::atomic<CUstream>, 64> streams_{};
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> synced_{0};
  bool has_ended_ = false;  ///< guarded by what guards the names
};

/// A name that lives until its last user gives it back and no history has it; equal names share one
/// copy.
[[nodiscard]] const char* intern(const std::string& name);
/// Gives a name back; null does nothing.
void give_back_name(const char* name) noexcept;
/// How many names there are, for tests.
[[nodiscard]] std::size_t interned_names();

/// Events of one context that were closed idle, kept to be handed out again: making and destroying
/// one in the driver costs several times as much.
class IdleEvents {
 public:
  /// An event of this kind, null if there is none.
  [[nodiscard]] CUevent take(bool timing, bool blocking) noexcept;
  /// Keeps an event; false if there are enough of its kind.
  [[nodiscard]] bool keep(CUevent event, bool timing, bool blocking) noexcept;

 private:
  struct Kind {
    std::array<CUevent, 32> events{};
    std::size_t count = 0;
  };

  [[nodiscard]] Kind& kind(bool timing, bool blocking) noexcept {
    return kinds_[(timing ? 2U : 0U) + (blocking ? 1U : 0U)];
  }

  std::mutex mutex_;  ///< guards kinds_; no driver call is made under it
  std::array<Kind, 4> kinds_;
};

struct ContextBox {
  static constexpr int max_devices = 64;  ///< that a process can use

  CUcontext context = nullptr;
  int device = 0;
  unsigned long long id = 0;  ///< cuCtxGetId: tells a context from its successor after a reset
  DeviceLimits limits;
  LaunchHistory history;
  std::atomic<bool> lost{false};
  std::string lost_reason;  ///< written once, before `lost` is set
  int lost_code = 0;        ///< the driver's code, written with lost_reason
  IdleEvents idle_events;
  /// Whether memory went back to a pool since the last wait in the driver itself.
  std::atomic<bool> freed_to_pool{false};

  [[nodiscard]] bool take_freed_to_pool() noexcept {
    return freed_to_pool.load(std::memory_order_relaxed) &&
           freed_to_pool.exchange(false, std::memory_order_relaxed);
  }
};

/// The primary context of a device, retained on first use, never released. Any thread.
[[nodiscard]] const std::shared_ptr<ContextBox>& primary_context(int device);
/// The box of the calling thread's current context; device 0's primary, made current, if there is
/// none.
[[nodiscard]] const std::shared_ptr<ContextBox>& current_context();
/// The box of a context somebody made; always the same box for the same context.
[[nodiscard]] const std::shared_ptr<ContextBox>& context_box(CUcontext context);
/// Every context that this process has met, but for those that forget_contexts() was told of.
[[nodiscard]] std::vector<std::shared_ptr<ContextBox>> known_contexts();

/// How often contexts were forgotten.
inline constinit std::atomic<unsigned> resets{0};

/// Makes a context current for a scope. Where none was current before, it stays current after.
class ContextScope {
 public:
  ContextScope(const driver::DriverApi& api, const ContextBox& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const driver::DriverApi* api_;
  CUcontext previous_ = nullptr;
  bool restore_ = false;
};

}  // namespace cudacore::handle
