// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cudacore/device.hpp>
#include <cudacore/memory_resource.hpp>

namespace cudacore {

/// The counters of a device's memory in graphs (CUgraphMem_attribute).
enum class GraphMemoryAttribute : int {
  used_mem_current = 0,
  used_mem_high = 1,
  reserved_mem_current = 2,
  reserved_mem_high = 3,
};

/// Memory of a graph that is being captured: allocate() becomes a node that allocates, and closing
/// the buffer while its stream is captured a node that frees. Each launch allocates the same
/// address.
///
/// The memory belongs to the graph: other nodes don't keep the Buffer. What the graph doesn't free
/// can be used after the launch; it is freed by closing the Buffer, once, or, if the Graph was made
/// with auto_free_on_launch, by the next launch.
class GraphMemoryResource final : public MemoryResource {
 public:
  explicit GraphMemoryResource(Device device) : device_(device) {}

  /// @throw std::logic_error unless the stream is being captured.
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  /// Does nothing outside a capture if no launch has allocated the memory, or if it is freed
  /// already.
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_.id(); }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }

  /// Reads a counter (cuDeviceGetGraphMemAttribute).
  [[nodiscard]] std::uint64_t attribute(GraphMemoryAttribute attribute) const;
  /// Sets a high-water mark to the current value (cuDeviceSetGraphMemAttribute).
  /// @throw std::invalid_argument for one of the other two.
  void reset_high(GraphMemoryAttribute attribute) const;
  /// Returns memory that no graph uses to the system (cuDeviceGraphMemTrim).
  void trim() const;

  /// Whether a buffer's memory belongs to a graph.
  [[nodiscard]] static bool owns(const Buffer& buffer);

 private:
  Device device_;
};

}  // namespace cudacore
