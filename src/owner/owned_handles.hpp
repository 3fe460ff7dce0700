// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"
#include "error/context_box.hpp"

// The owners of the driver's handles. Every public object holds a shared_ptr to a box. A box holds
// the boxes it depends on, so that nothing is destroyed while something made from it is alive:
//
//   BufferBox → MemoryResource → PoolBox → ContextBox
//             → StreamBox → ContextBox
//   EventBox  → ContextBox → GreenBox, if it is that of a green context
//   KernelBox → LibraryBox
//
// A box is allocated before the driver call that fills it, so that no failure leaks a handle. The
// destructors are noexcept, don't need Python, and report failures to system::set_log_hook's hook.

namespace cudacore {
class MemoryResource;
}

namespace cudacore::owner {

struct BufferBox;
struct StreamBox;

/// Who has something to do on a stream before it is destroyed.
class StreamFollower {
 public:
  virtual ~StreamFollower() = default;
  /// `stream` is a borrowed view of it, with its key. Never called in a host callback.
  virtual void stream_ends(const std::shared_ptr<StreamBox>& stream) noexcept = 0;
};

/// A green context. Whatever is made in it holds a pointer to its ContextBox that keeps this alive.
struct GreenBox : driver::NotCopied {
  CUgreenCtx green = nullptr;
  std::shared_ptr<error::ContextBox> context;  ///< keeps nothing alive
  std::vector<std::shared_ptr<const void>> resources;
  ~GreenBox();
};

struct StreamBox : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;  ///< null: the current one (for the default streams)
  CUstream stream = nullptr;
  bool owned = false;
  std::shared_ptr<void> owner;
  mutable std::atomic<std::uint64_t> key{0};  ///< what stream_key() found out
  ~StreamBox();

  /// Only for an owned stream: nobody knows when another one ends.
  void add_follower(const std::weak_ptr<StreamFollower>& follower);

  /// The context that work on this stream runs in.
  [[nodiscard]] const std::shared_ptr<error::ContextBox>& work_context() const {
    return context ? context : error::current_context();
  }

 private:
  std::mutex mutex_;  ///< guards followers_
  std::vector<std::weak_ptr<StreamFollower>> followers_;
};

/// Whether other code may capture a stream into a graph: it has had the handle of one.
inline constinit std::atomic<bool> captures_possible{false};

/// A default stream is another one in each context.
[[nodiscard]] inline bool is_same_stream(const StreamBox& a, const StreamBox& b) noexcept {
  return a.stream == b.stream && a.context == b.context;
}

/// "stream 0x55d0 of device 0 (NVIDIA H200)"
[[nodiscard]] std::string describe_stream(const StreamBox& stream);

struct EventBox : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  CUevent event = nullptr;
  error::EventKind kind;  ///< as it was made or taken
  std::atomic<bool> recorded{false};
  std::atomic<bool> in_flight{false};  ///< whether the last record may not have been reached
  std::atomic<bool> is_shared{false};  ///< other code has the handle, and may record it
  bool is_ipc = false;                 ///< other processes may have it; it is then shared, too
  ~EventBox();

  /// Whether there may be a record to ask the driver about.
  [[nodiscard]] bool may_be_recorded() const noexcept {
    return recorded.load(std::memory_order_relaxed) || is_shared.load(std::memory_order_relaxed);
  }

 private:
  /// Whether nothing waits for it any more, and no one else can record it.
  [[nodiscard]] bool is_idle() const noexcept {
    return !is_shared.load(std::memory_order_relaxed) && !in_flight.load(std::memory_order_relaxed);
  }
};

struct PoolBox : driver::NotCopied {
  CUmemoryPool pool = nullptr;
  bool owned = false;
  ~PoolBox();
};

/// What a resource gets back.
struct Allocation {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
  void* known_as = nullptr;  ///< what the resource knows it by
  std::uint64_t number = 0;  ///< and what tells it from others that were known by that
  /// Other streams whose work may still use it.
  std::vector<std::shared_ptr<StreamBox>> also_used_on{};
};

/// What the destruction of a buffer calls on the resource that gets its memory back.
struct ResourceCalls {
  void (*deallocate)(MemoryResource& resource, const Allocation& memory,
                     std::shared_ptr<StreamBox> stream) = nullptr;
  bool (*ends_with_reset)(const MemoryResource& resource) noexcept = nullptr;
  /// Takes the memory back at once and returns true; false leaves that to deallocate(). Null for
  /// resources that always call the driver.
  bool (*take_back)(BufferBox& buffer) noexcept = nullptr;
  /// Whether to release now would be part of a capture, or end one; `stream` may be null.
  bool (*must_wait)(const MemoryResource& resource, const Allocation& memory,
                    const StreamBox* stream) = nullptr;
};

struct BufferBox : driver::NotCopied {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
  std::shared_ptr<MemoryResource> resource;  ///< null: wrapped memory, nothing to free
  const ResourceCalls* calls = nullptr;      ///< set with the resource
  std::shared_ptr<StreamBox> stream;         ///< orders the release
  std::shared_ptr<void> owner;
  void* known_as = nullptr;  ///< see Allocation
  std::uint64_t number = 0;
  /// Streams that closed shares were ordered on: `stream` waits for them before the release.
  std::vector<std::shared_ptr<StreamBox>> also_used_on;
  std::atomic<bool> is_read_only{false};  ///< neither the host nor a device may write it
  mutable std::mutex mutex;               ///< guards stream and also_used_on

  static constexpr int any_device = -1;  ///< every device can access it
  static constexpr int not_asked = -2;
  static constexpr int host_only = -3;  ///< no device can access it
  /// The device that a launch compares with; queried from the resource once.
  std::atomic<int> device{not_asked};
  const unsigned made_after = error::resets.load(std::memory_order_relaxed);
  ~BufferBox();

  /// Whether it was made before a reset, which freed its memory. Wrapped memory stays valid.
  [[nodiscard]] bool is_stale() const noexcept {
    return made_after != error::resets.load(std::memory_order_relaxed) && ends_with_reset();
  }
  /// @throw ContextLostError if it is stale, without a driver call.
  void throw_if_stale() const;
  /// Releases the memory if that takes no driver call, and returns whether there is nothing left to
  /// release: in a forked child, nothing is ever released.
  bool release_at_once() noexcept;
  /// Releases the memory, once; on another thread when the capture of its stream is over. Most
  /// failures are reported, not thrown.
  /// @throw LaunchError if this call is the first to notice a fault; InterruptedError if the
  /// interrupt hook requests it; the memory is released in any case.
  void release();

 private:
  [[nodiscard]] bool ends_with_reset() const noexcept;
  [[nodiscard]] bool has_nothing_to_release() const noexcept;
  [[nodiscard]] bool waits_for_others() const noexcept;
};

struct LibraryBox : driver::NotCopied {
  CUlibrary library = nullptr;
  std::vector<std::byte> code;  ///< the driver reads it lazily
  bool owned = false;
  std::shared_ptr<void> owner;
  ~LibraryBox();
};

}  // namespace cudacore::owner
