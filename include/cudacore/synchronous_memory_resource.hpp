// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <cudacore/device.hpp>
#include <cudacore/memory_resource.hpp>

namespace cudacore {

/// Device memory directly from cuMemAlloc, for devices without pools; not stream-ordered.
class SynchronousMemoryResource final : public MemoryResource {
 public:
  explicit SynchronousMemoryResource(Device device) : device_(device) {}
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_.id(); }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }

 private:
  Device device_;
};

}  // namespace cudacore
