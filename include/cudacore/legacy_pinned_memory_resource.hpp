// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <cudacore/memory_resource.hpp>

namespace cudacore {

/// Page-locked host memory directly from cuMemAllocHost; not stream-ordered.
class LegacyPinnedMemoryResource final : public MemoryResource {
 public:
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }
};

}  // namespace cudacore
