// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "owner/owned_handles.hpp"

// What OpenGL owns, and a context has registered:
//
//   BufferBox's resource, ArrayBox or MipmapBox → GraphicsMapping → GraphicsBox

namespace cudacore::owner {

struct GraphicsMapping;

struct GraphicsBox : driver::NotCopied {
  std::shared_ptr<error::ContextBox> context;
  CUgraphicsResource resource = nullptr;
  std::mutex mutex;                        ///< guards mapping; not held in calls of the driver
  std::weak_ptr<GraphicsMapping> mapping;  ///< the one there is, if any
  /// Unregisters it.
  ~GraphicsBox();
};

/// From when a resource is mapped until it is unmapped.
struct GraphicsMapping : driver::NotCopied {
  std::shared_ptr<GraphicsBox> graphics;
  std::shared_ptr<StreamBox> stream;  ///< orders the unmapping; guarded by graphics->mutex
  bool is_mapped = false;
  /// Unmaps it.
  ~GraphicsMapping();
};

}  // namespace cudacore::owner
