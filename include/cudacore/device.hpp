// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/context.hpp>
#include <cudacore/event.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

class MemoryResource;

/// Device memory, in bytes.
struct MemoryInfo {
  std::size_t free = 0;
  std::size_t total = 0;
};

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
};

/// A device attribute: its name in cuda.core and its CUdevice_attribute.
struct DeviceAttribute {
  std::string_view name;
  int attribute;
  bool is_bool;
};

/// All attributes, in the order of their numbers in cuda.h.
[[nodiscard]] std::span<const DeviceAttribute> device_attributes() noexcept;

/// A GPU, by its ordinal. A plain value; owns nothing and may be used from any thread.
class Device {
 public:
  /// The number of devices that the driver shows (cuDeviceGetCount).
  [[nodiscard]] static int count();
  [[nodiscard]] static std::vector<Device> all();
  /// The device of the calling thread's current context, or device 0 if there is none.
  [[nodiscard]] static Device current();
  /// @throw std::invalid_argument with the number of devices.
  explicit Device(int ordinal);
  /// The device with an ordinal that came from the driver or from another Device; not checked.
  [[nodiscard]] static Device from_known_ordinal(int ordinal) noexcept {
    return Device(ordinal, Known{});
  }

  [[nodiscard]] int id() const noexcept { return id_; }
  [[nodiscard]] std::string name() const;
  /// "GPU-…" without the prefix: hexadecimal digits, 8-4-4-4-12 (cuDeviceGetUuid).
  [[nodiscard]] std::string uuid() const;
  /// "0000:41:00.0" (cuDeviceGetPCIBusId).
  [[nodiscard]] std::string pci_bus_id() const;
  [[nodiscard]] ComputeCapability compute_capability() const;
  /// The compute capability's digits, such as "90".
  [[nodiscard]] std::string arch() const;
  /// A CUdevice_attribute, cached; 0 if this driver doesn't know it.
  [[nodiscard]] int attribute(int attribute) const;
  /// Free and total memory (cuMemGetInfo).
  [[nodiscard]] MemoryInfo memory_info() const;
  [[nodiscard]] bool can_access_peer(Device peer) const;

  /// The primary context, retained on first use and then kept (cuDevicePrimaryCtxRetain).
  [[nodiscard]] Context context() const;
  /// Makes the primary context the calling thread's current one.
  void set_current() const { context().set_current(); }
  [[nodiscard]] Stream create_stream(const StreamOptions& options = {}) const;
  [[nodiscard]] Event create_event(const EventOptions& options = {}) const;
  /// Allocates `size` bytes from the default memory resource.
  [[nodiscard]] Buffer allocate(std::size_t size, const Stream& stream) const;
  /// The device's shared default resource: its current pool, or cuMemAlloc if it has no pools.
  [[nodiscard]] std::shared_ptr<MemoryResource> memory_resource() const;
  /// The legacy default stream of this device's primary context.
  [[nodiscard]] Stream default_stream() const;
  /// Waits for all work in the primary context.
  void sync() const { context().sync(); }

  friend bool operator==(const Device&, const Device&) = default;

 private:
  struct Known {};
  Device(int ordinal, Known /*tag*/) noexcept : id_(ordinal) {}

  int id_;
};

}  // namespace cudacore
