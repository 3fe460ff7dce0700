// SPDX-License-Identifier: Apache-2.0
//
// The frame of a function: where each register, constant and intermediate value has its row.
//
// In the order of offsets: the fixed masks, predicates, the sink, registers and parameter regions.
// These are known from the function's text. They are followed by constants and intermediate rows,
// which are found while decoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulator/engine/liveness.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

class Rows {
 public:
  static constexpr std::uint32_t sink_bytes = 512;

  /// Registers whose lives don't overlap share a row.
  Rows(std::span<const ptx::Register> registers, std::span<const Life> lives,
       std::size_t instructions);

  [[nodiscard]] std::uint32_t of(std::uint32_t reg) const { return offsets_[reg]; }
  [[nodiscard]] std::uint32_t sink() const noexcept { return sink_; }
  /// The maximum number of 32-bit registers that a thread needs at once.
  [[nodiscard]] std::uint32_t pressure() const noexcept { return pressure_; }

  /// A region of the frame; call this only before the functions below.
  [[nodiscard]] std::uint32_t reserve(std::size_t bytes);

  /// A row of equal values of 1, 2, 4, 8 or 16 bytes; for 16 bytes, the upper half is 0.
  [[nodiscard]] std::uint32_t constant(unsigned width, std::uint64_t value);
  [[nodiscard]] std::uint32_t mask(bool value);
  /// Rows and masks that keep their values until the next release().
  [[nodiscard]] std::uint32_t temporary(unsigned width);
  [[nodiscard]] std::uint32_t temporary_mask();
  void release() noexcept { used_ = {}; }

  [[nodiscard]] std::uint32_t constants_begin() const;
  [[nodiscard]] std::vector<std::byte> take_constants() noexcept { return std::move(constants_); }
  /// The total size of everything that was handed out.
  [[nodiscard]] std::uint32_t frame_bytes();

 private:
  /// Masks first, then widths 1, 2, 4, 8, 16.
  static constexpr std::size_t classes = 6;

  [[nodiscard]] std::uint32_t add(std::size_t bytes);
  [[nodiscard]] std::uint32_t take_temporary(std::size_t size_class, std::size_t bytes);

  std::vector<std::uint32_t> offsets_;
  std::uint32_t sink_ = 0;
  std::uint32_t pressure_ = 0;
  std::uint64_t end_ = 0;  ///< the end of the registers and regions
  std::vector<std::byte> constants_;
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, classes> known_;
  std::array<std::vector<std::uint32_t>, classes> temporaries_;
  std::array<std::uint32_t, classes> used_{};
};

}  // namespace cudacore::simulator
