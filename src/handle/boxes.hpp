// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cudacore/memory_resource.hpp"
#include "cudacore/signature.hpp"
#include "driver/driver_api.hpp"
#include "handle/packing.hpp"

// What owns the driver's handles. Every public object holds a shared_ptr to a box; a box holds the
// boxes it depends on, so that nothing is destroyed while something made from it lives:
//
//   BufferBox → MemoryResource → PoolBox → ContextBox
//             → StreamBox → ContextBox
//   EventBox  → ContextBox
//   KernelBox → LibraryBox
//
// A box is allocated before the driver call that fills it, so that no failure leaks a handle. The
// destructors are noexcept, need no Python, and report what fails to system::set_log_hook's hook.

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

struct StreamBox {
  std::shared_ptr<ContextBox> context;  ///< null: whatever is current (the default streams)
  CUstream stream = nullptr;
  bool owned = false;
  std::shared_ptr<void> owner;
  StreamBox() = default;
  StreamBox(const StreamBox&) = delete;
  StreamBox& operator=(const StreamBox&) = delete;
  ~StreamBox();

  /// The context that work on this stream runs in.
  [[nodiscard]] const std::shared_ptr<ContextBox>& work_context() const {
    return context ? context : current_context();
  }
};

struct EventBox {
  std::shared_ptr<ContextBox> context;
  CUevent event = nullptr;
  bool timing = false;
  bool blocking = false;
  std::atomic<std::uint64_t> records{0};  ///< how often it was recorded
  std::atomic<std::uint64_t> reached{0};  ///< how many of these are known to be done
  std::atomic<bool> is_shared{false};     ///< others have the handle, and may record it
  EventBox() = default;
  EventBox(const EventBox&) = delete;
  EventBox& operator=(const EventBox&) = delete;
  ~EventBox();

  /// Whether there is a record to ask the driver about. An event that was used before still has
  /// the record of then.
  [[nodiscard]] bool may_be_recorded() const noexcept {
    return records.load(std::memory_order_relaxed) != 0 ||
           is_shared.load(std::memory_order_relaxed);
  }

 private:
  /// Whether nothing waits for it any more, and nobody else can record it.
  [[nodiscard]] bool is_idle() const noexcept {
    return !is_shared.load(std::memory_order_relaxed) &&
           records.load(std::memory_order_relaxed) == reached.load(std::memory_order_relaxed);
  }
};

struct PoolBox {
  CUmemoryPool pool = nullptr;
  bool owned = false;
  PoolBox() = default;
  PoolBox(const PoolBox&) = delete;
  PoolBox& operator=(const PoolBox&) = delete;
  ~PoolBox();
};

/// How often contexts were forgotten.
inline constinit std::atomic<unsigned> resets{0};

struct BufferBox {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
  std::shared_ptr<MemoryResource> resource;  ///< null: wrapped memory, nothing to free
  std::shared_ptr<StreamBox> stream;         ///< what the release is ordered on
  std::shared_ptr<void> owner;
  mutable std::mutex mutex;  ///< guards stream

  static constexpr int any_device = -1;  ///< every device reaches it
  static constexpr int not_asked = -2;
  static constexpr int host_only = -3;  ///< no device reaches it
  /// What a launch checks the memory against; asked of the resource once.
  std::atomic<int> device{not_asked};
  const unsigned made_after = resets.load(std::memory_order_relaxed);
  BufferBox() = default;
  BufferBox(const BufferBox&) = delete;
  BufferBox& operator=(const BufferBox&) = delete;
  ~BufferBox();

  /// Whether it was made before a reset, with which its memory ended. Memory of others goes on.
  [[nodiscard]] bool is_stale() const noexcept {
    return made_after != resets.load(std::memory_order_relaxed) && ends_with_reset();
  }
  /// Gives the memory back, once. Most failures are reported, not thrown.
  /// @throw LaunchError where this is the first to hear of a fault; InterruptedError where the
  /// interrupt hook says so: the memory goes back all the same.
  void release();

 private:
  [[nodiscard]] bool ends_with_reset() const noexcept;
  [[nodiscard]] bool has_nothing_to_release() const noexcept;
};

struct LibraryBox {
  CUlibrary library = nullptr;
  std::vector<std::byte> code;  ///< the driver reads it lazily
  bool owned = false;
  std::shared_ptr<void> owner;
  LibraryBox() = default;
  LibraryBox(const LibraryBox&) = delete;
  LibraryBox& operator=(const LibraryBox&) = delete;
  ~LibraryBox();
};

/// What a launch must know of a kernel on one device, filled on the first launch there.
struct KernelOnDevice {
  CUcontext context = nullptr;  ///< where `function` is valid
  CUfunction function = nullptr;
  unsigned max_threads = 0;  ///< of this kernel, by its registers
  std::size_t static_shmem = 0;
  std::atomic<std::size_t> dynamic_shmem{0};  ///< what is opted in to so far
};

struct KernelBox {
  static constexpr int max_devices = 64;

  std::shared_ptr<LibraryBox> library;
  CUkernel kernel = nullptr;
  Signature signature;
  std::vector<Slot> slots;          ///< the packing plan: one for each parameter
  std::size_t parameter_bytes = 0;  ///< of the packed buffer
  bool has_signature = false;       ///< false: nothing known, not even the count
  std::string name;
  const char* interned_name = nullptr;
  std::array<std::atomic<KernelOnDevice*>, max_devices> on_device{};
  KernelBox() = default;
  KernelBox(const KernelBox&) = delete;
  KernelBox& operator=(const KernelBox&) = delete;
  ~KernelBox();

  /// Sets the signature and makes the packing plan from it.
  void plan(Signature value);
  /// The state for a context's device; resolves it on first use.
  [[nodiscard]] KernelOnDevice& on(const ContextBox& context) {
    KernelOnDevice* state =
        on_device[static_cast<std::size_t>(context.device)].load(std::memory_order_acquire);
    return state != nullptr ? *state : resolve(context);
  }

 private:
  KernelOnDevice& resolve(const ContextBox& context);
};

}  // namespace cudacore::handle
