// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "owner/owned_handles.hpp"

// The owners of arrays, and of what kernels reach them by:
//
//   TextureBox → ArrayBox, MipmapBox or BufferBox
//   SurfaceBox → ArrayBox
//   ArrayBox, of a level → MipmapBox
//   ArrayBox or MipmapBox, of OpenGL's → GraphicsMapping
//
// All hold their ContextBox. The driver destroys them at once, whatever still uses them, so they
// end after the work that was noted for them. Graphs hold shares.

namespace cudacore::owner {

/// The work that may use something: events behind it.
struct WorkUses {
  struct Use {
    std::uint64_t stream = 0;  ///< the number of its stream; 0 for one without
    std::shared_ptr<EventBox> behind;
  };
  std::vector<Use> known;
  bool anywhere = false;  ///< other code has the handle: any work of the context may use it

  /// Forgets what is done. Returns CUDA_ERROR_NOT_READY if something is left.
  CUresult query(const driver::DriverApi& api) noexcept;
  /// Waits until all that is known is done, and forgets it.
  void wait(const driver::DriverApi& api) noexcept;
};

/// What queued work may use.
struct UsedByWork : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  std::shared_ptr<void> owner;  ///< who else destroys the handle; null if this does

  /// Notes that other code gets the handle. It never blocks.
  void note_handle() noexcept { has_handle_.store(true, std::memory_order_relaxed); }
  /// Notes what was queued last on the stream of this number: an event behind it is recorded, which
  /// is `spare` unless there is one of the same stream.
  /// @throw Error
  void add_use(const driver::DriverApi& api, CUstream stream, std::uint64_t number,
               std::shared_ptr<EventBox> spare);
  /// For the last owner, who has waited for all work: nothing is left to wait for.
  void forget_uses() noexcept;
  [[nodiscard]] WorkUses uses() const;
  /// For the destructor.
  [[nodiscard]] WorkUses take_uses() noexcept { return {std::move(known_), has_handle_.load()}; }

 private:
  std::atomic<bool> has_handle_{false};
  mutable std::mutex mutex_;  ///< guards known_; held during driver calls that may block
  std::vector<WorkUses::Use> known_;
};

struct MipmapBox : UsedByWork {
  CUmipmappedArray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR level_0{};
  unsigned levels = 0;
  ~MipmapBox();
};

struct ArrayBox : UsedByWork {
  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR description{};  ///< height and depth are 0 for dimensions it lacks
  std::shared_ptr<MipmapBox> mipmap;      ///< for a level: what owns it
  ~ArrayBox();

  /// What notes the work on it.
  [[nodiscard]] UsedByWork& used() noexcept {
    if (mipmap != nullptr) return *mipmap;
    return *this;
  }
};

struct TextureBox : UsedByWork {
  CUtexObject texture = 0;       ///< 0 for none
  std::shared_ptr<void> memory;  ///< the box of what it reads
  CUdeviceptr address = 0;       ///< of a buffer that it reads
  ~TextureBox();
};

struct SurfaceBox : UsedByWork {
  CUsurfObject surface = 0;  ///< 0 for none
  std::shared_ptr<ArrayBox> array;
  ~SurfaceBox();
};

}  // namespace cudacore::owner
