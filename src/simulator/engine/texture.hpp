// SPDX-License-Identifier: Apache-2.0
//
// Texture objects and surface objects: what kernels find behind their handles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/memory/array.hpp"

namespace cudacore::simulator {

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

/// How a texture is read.
struct Sampler {
  std::array<AddressMode, 3> modes{};
  bool is_linear = false;         ///< between elements
  bool is_linear_mipmap = false;  ///< between levels
  bool is_normalized = false;     ///< coordinates from 0 to 1
  bool reads_elements = false;    ///< integers are not converted to numbers from 0 or -1 to 1
  bool is_srgb = false;           ///< 8-bit color channels are converted to linear ones
  float level_bias = 0;           ///< added to a level
  float least_level = 0;          ///< clamp a level
  float most_level = 0;
  std::array<float, 4> border{};
};

enum class TextureSource : std::uint8_t { array, linear, pitched };

struct Texture {
  TextureSource source = TextureSource::array;
  ChannelFormat format = ChannelFormat::u8;
  std::uint8_t channels = 1;
  int device = 0;                 ///< ordinal
  const void* context = nullptr;  ///< the owner
  Sampler sampler;
  // Of arrays; the levels and layers of a view.
  std::vector<std::shared_ptr<const Array>> levels;
  std::uint32_t first_layer = 0;
  std::uint32_t layers = 1;  ///< planes of layered arrays and cubes
  // Of memory.
  std::uint64_t address = 0;
  std::uint32_t width = 0;   ///< elements
  std::uint32_t height = 0;  ///< rows; 0 for linear memory
  std::size_t pitch = 0;     ///< bytes from row to row

  [[nodiscard]] std::size_t element_size() const noexcept {
    return std::size_t{channels} * size_of(format);
  }
};

struct Surface {
  std::shared_ptr<const Array> array;
  const void* context = nullptr;  ///< the owner
};

/// Live objects by handle. A handle is never reused. Any thread may call any function.
template <class Object>
class ObjectTable {
 public:
  /// Handles begin after `base`, so that those of different tables differ.
  explicit ObjectTable(std::uint64_t base) noexcept : next_(base) {}

  /// @throws std::bad_alloc
  std::uint64_t insert(std::shared_ptr<const Object> object) {
    const std::unique_lock lock(mutex_);
    const std::uint64_t handle = next_ + 1;
    objects_.emplace(handle, std::move(object));
    return next_ = handle;
  }
  /// Null if the handle is not live.
  [[nodiscard]] std::shared_ptr<const Object> find(std::uint64_t handle) const noexcept {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found != objects_.end() ? found->second : nullptr;
  }
  /// Returns false if the handle is not live.
  bool erase(std::uint64_t handle) {
    const std::unique_lock lock(mutex_);
    return objects_.erase(handle) != 0;
  }
  void erase_all(const void* context) noexcept {
    const std::unique_lock lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return entry.second->context == context; });
  }

 private:
  mutable std::shared_mutex mutex_;
  std::uint64_t next_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Object>> objects_;
};

/// The process's only tables.
ObjectTable<Texture>& textures() noexcept;
ObjectTable<Surface>& surfaces() noexcept;

}  // namespace cudacore::simulator
