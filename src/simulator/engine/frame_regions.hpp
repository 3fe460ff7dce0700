// SPDX-License-Identifier: Apache-2.0
//
// What functions pass to each other: regions of a frame in which the bytes of each lane are
// contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

/// The bytes of a parameter for 32 lanes, one lane after another.
struct Region {
  std::uint32_t at = 0;      ///< relative to the first region of its kind; later, in the frame
  std::uint32_t stride = 0;  ///< bytes per lane
  std::uint32_t size = 0;    ///< how many of them are used
  bool is_used = false;
};

/// The size of a parameter in bytes, even if it is declared as a register.
[[nodiscard]] std::size_t parameter_size(const ptx::Variable& variable) noexcept;
/// The bytes per lane that a parameter of a given size takes in a frame.
[[nodiscard]] std::uint32_t parameter_stride(std::size_t size) noexcept;

/// The regions of a function: those of its own parameters and results, if it is not a kernel; those
/// of its body's .param variables, which share bytes if their uses don't overlap; and scratch
/// regions for arguments that are in registers.
class FrameRegions {
 public:
  FrameRegions(const ptx::Function& function, const std::vector<bool>& targets);

  [[nodiscard]] std::uint32_t parameter_bytes() const noexcept { return parameter_bytes_; }
  [[nodiscard]] std::uint32_t result_bytes() const noexcept { return result_bytes_; }
  [[nodiscard]] std::uint32_t body_bytes() const noexcept { return body_bytes_; }
  /// Sets where in the frame the three begin.
  void place(std::uint32_t parameters, std::uint32_t results, std::uint32_t body);

  /// By index of the function's variables.
  [[nodiscard]] const Region& of(std::uint32_t variable) const { return regions_[variable]; }
  [[nodiscard]] Region scratch(std::uint32_t number) const;
  /// Parameters of a device function whose address is taken: they need local memory.
  [[nodiscard]] std::span<const std::uint32_t> pointed_at() const noexcept { return pointed_at_; }

 private:
  struct Use {
    std::uint32_t first = ~std::uint32_t{0};
    std::uint32_t last = 0;
  };

  void lay_out_own();
  void find_uses(const std::vector<bool>& targets);
  void add_use(const ptx::Operand& operand, std::uint32_t at);
  void widen_across_branches(const std::vector<bool>& targets);
  void lay_out_body();

  const ptx::Function& function_;
  std::size_t own_ = 0;  ///< variables that are parameters and results
  std::vector<Region> regions_;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> pointed_at_;
  std::uint32_t parameter_bytes_ = 0;
  std::uint32_t result_bytes_ = 0;
  std::uint32_t body_bytes_ = 0;
  std::uint32_t scratch_at_ = 0;
  std::uint32_t scratch_count_ = 0;
};

}  // namespace cudacore::simulator
