// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"
#include "error/context_box.hpp"

// The owners of arrays, and of what kernels reach them by:
//
//   TextureBox → ArrayBox, MipmapBox or BufferBox
//   SurfaceBox → ArrayBox
//   ArrayBox, of a level → MipmapBox
//   ArrayBox or MipmapBox, of OpenGL's → GraphicsMapping
//
// All hold their ContextBox. The driver destroys them at once, whatever still uses them, so their
// destructors wait for the context's work.

namespace cudacore::owner {

/// What queued work may use.
struct UsedByWork : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  std::atomic<bool> may_be_in_use{false};
  std::shared_ptr<void> owner;  ///< who else destroys the handle; null if this does

  void note_use() noexcept { may_be_in_use.store(true, std::memory_order_relaxed); }
  /// Whether its end must wait.
  [[nodiscard]] bool is_waited_for() const noexcept;
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

  /// Notes that work on it was queued.
  void note_work() noexcept {
    if (mipmap != nullptr) {
      mipmap->note_use();
    } else {
      note_use();
    }
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
