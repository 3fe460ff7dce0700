// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <cudacore/buffer.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/mipmapped_array.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

namespace owner {
struct GraphicsBox;
}

/// What kernels will do with a resource (CUgraphicsRegisterFlags); nothing that is set here is
/// needed, unless they write an image.
struct GraphicsUse {
  bool is_read_only = false;           ///< they don't write it
  bool is_write_discard = false;       ///< they write all of it, and read nothing
  bool is_surface_load_store = false;  ///< they write an image, through a SurfaceObject
  bool is_texture_gather = false;      ///< they gather texels of an image
};

/// A buffer or an image of OpenGL's that kernels may use, while it is mapped.
///
/// Cheap to copy. It is unregistered when the last copy, and whatever it is mapped as, is gone. The
/// driver needs the OpenGL context to be current in the thread that registers, maps, unmaps and
/// unregisters it.
class GraphicsResource {
 public:
  /// Registers a buffer object in the current CUDA context (cuGraphicsGLRegisterBuffer).
  /// @param buffer its name, such as glGenBuffers() gives
  /// @param use what kernels will do with it
  /// @throw Error if no OpenGL context is current, or it has no such buffer; NotSupportedError
  [[nodiscard]] static GraphicsResource from_gl_buffer(unsigned buffer,
                                                       const GraphicsUse& use = {});
  /// Registers a texture or a renderbuffer (cuGraphicsGLRegisterImage).
  /// @param image its name, such as glGenTextures() gives
  /// @param target what it is, such as GL_TEXTURE_2D
  /// @param use what kernels will do with it
  /// @throw Error as from_gl_buffer(), and for formats that CUDA doesn't know
  [[nodiscard]] static GraphicsResource from_gl_image(unsigned image, unsigned target,
                                                      const GraphicsUse& use = {});

  explicit GraphicsResource(std::shared_ptr<owner::GraphicsBox> box) noexcept
      : box_(std::move(box)) {}

  /// Drops this object's share; using it later throws std::invalid_argument.
  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  /// The CUgraphicsResource; null after close().
  [[nodiscard]] CUgraphicsResource handle() const noexcept;
  [[nodiscard]] Device device() const;
  /// Whether something that it was mapped as still exists; false after close().
  [[nodiscard]] bool is_mapped() const;

  /// Maps a buffer (cuGraphicsMapResources). Work that OpenGL has been given before is done before
  /// what is queued on the stream from now on. When the last share of the Buffer is gone, it is
  /// unmapped, on the stream that its release is ordered on: what is queued there before is done
  /// before OpenGL's next work.
  /// @throw std::invalid_argument if it is mapped already, or the stream is of another device or
  /// being captured; Error
  [[nodiscard]] Buffer map(const Stream& stream) const;
  /// Maps an image, and gives one of its layers, or faces, at one of its levels
  /// (cuGraphicsSubResourceGetMappedArray). It is unmapped on the same stream when the last share
  /// of the array, and of what was made of it, is gone.
  /// @throw std::invalid_argument as map(); NotSupportedError for formats that arrays here lack
  [[nodiscard]] OpaqueArray map_array(unsigned layer, unsigned level, const Stream& stream) const;
  /// The same with all levels (cuGraphicsResourceGetMappedMipmappedArray).
  /// @throw NotSupportedError also for images with layers or faces
  [[nodiscard]] MipmappedArray map_mipmapped_array(const Stream& stream) const;
  /// Sets the stream that unmapping an image is ordered on.
  /// @throw std::invalid_argument if it is not mapped.
  void set_unmapping_stream(const Stream& stream) const;

  [[nodiscard]] const std::shared_ptr<owner::GraphicsBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::GraphicsBox> box_;
};

}  // namespace cudacore
