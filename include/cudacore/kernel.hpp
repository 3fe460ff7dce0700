// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cudacore/device.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/signature.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

namespace launching {
struct KernelBox;
}

struct LaunchConfig;

/// The attributes of a kernel on one device, some of which can be set (CUfunction_attribute).
enum class KernelAttribute : int {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  const_size_bytes = 2,
  local_size_bytes = 3,
  num_regs = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared_size_bytes = 8,     // settable
  preferred_shared_memory_carveout = 9,  // settable
  cluster_size_must_be_set = 10,
  required_cluster_width = 11,                // settable
  required_cluster_height = 12,               // settable
  required_cluster_depth = 13,                // settable
  non_portable_cluster_size_allowed = 14,     // settable
  cluster_scheduling_policy_preference = 15,  // settable
};

/// A block size, and the grid size that fills the device with such blocks.
struct PotentialBlockSize {
  int min_grid_size = 0;
  int max_block_size = 0;
};

/// A function in a loaded library that can be launched.
///
/// Cheap to copy; copies share one box, which keeps the library loaded. Knows its parameters.
class Kernel {
 public:
  explicit Kernel(std::shared_ptr<launching::KernelBox> box) noexcept : box_(std::move(box)) {}
  /// Wraps a kernel that was loaded elsewhere; `owner` is kept alive. Its signature is the
  /// parameter sizes that the driver reports, unless you declare one.
  [[nodiscard]] static Kernel from_handle(CUkernel handle, std::shared_ptr<void> owner = nullptr);

  [[nodiscard]] CUkernel handle() const noexcept;
  /// The library that contains it (cuKernelGetLibrary); null if the driver is too old to report it.
  [[nodiscard]] CUlibrary library() const;
  /// The readable name, such as "axpy<float>".
  [[nodiscard]] const std::string& name() const noexcept;
  /// The parameters, from the best available source.
  [[nodiscard]] const Signature& signature() const noexcept;
  /// The same kernel with a signature that the user declares, such as "(float*, int)".
  /// @throw std::invalid_argument if it contradicts the sizes that the driver reports.
  [[nodiscard]] Kernel with_signature(const Signature& signature) const;

  /// Reads an attribute (cuKernelGetAttribute).
  [[nodiscard]] int attribute(KernelAttribute attribute, Device device) const;
  /// Sets an attribute (cuKernelSetAttribute).
  /// @throw std::invalid_argument if the attribute cannot be set.
  void set_attribute(KernelAttribute attribute, int value, Device device) const;

  /// How many blocks of `block_size` threads can run on one multiprocessor at once.
  [[nodiscard]] int max_active_blocks_per_multiprocessor(int block_size,
                                                         std::size_t dynamic_shared_memory) const;
  /// The block size with the best occupancy; `dynamic_shared_memory` is in bytes per block.
  [[nodiscard]] PotentialBlockSize max_potential_block_size(std::size_t dynamic_shared_memory,
                                                            int block_size_limit) const;
  /// The same, if the shared memory depends on the block size.
  [[nodiscard]] PotentialBlockSize max_potential_block_size(
      const std::function<std::size_t(int)>& dynamic_shared_memory, int block_size_limit) const;
  [[nodiscard]] std::size_t available_dynamic_shared_memory_per_block(int blocks_per_multiprocessor,
                                                                      int block_size) const;
  [[nodiscard]] int max_potential_cluster_size(const LaunchConfig& config,
                                               const Stream& stream) const;
  [[nodiscard]] int max_active_clusters(const LaunchConfig& config, const Stream& stream) const;

  [[nodiscard]] const std::shared_ptr<launching::KernelBox>& box() const noexcept { return box_; }
  friend bool operator==(const Kernel& a, const Kernel& b) noexcept {
    return a.handle() == b.handle();
  }

 private:
  std::shared_ptr<launching::KernelBox> box_;
};

}  // namespace cudacore
