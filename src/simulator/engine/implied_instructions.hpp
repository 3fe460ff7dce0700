// SPDX-License-Identifier: Apache-2.0
//
// Handlers for the instructions that the decoder adds.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

/// Each one is looked up on first use.
class ImpliedInstructions {
 public:
  explicit ImpliedInstructions(const FormTable& table) : table_(table) {}

  /// The handler for a key with that signature. @throws LoadError if there is none.
  [[nodiscard]] Handler find(std::string_view key, std::string_view signature) const;
  /// The same, with the first of the key's signatures.
  [[nodiscard]] Handler find(std::string_view key) const;
  /// nullptr if there is none.
  [[nodiscard]] Handler find_special(std::string_view name, char kind) const;

  /// Zero-extends, sign-extends or truncates; widths are in bytes.
  [[nodiscard]] Handler resize(bool is_signed, unsigned to, unsigned from);
  [[nodiscard]] Handler negate_mask();
  /// Moves a value of 1 to 16 bytes to or from a parameter region.
  [[nodiscard]] Handler frame_access(bool is_store, unsigned width);

  /// 'b', 'h', 'w', 'x' or 'q'
  [[nodiscard]] static char kind_of(unsigned width) noexcept;
  /// The width in bytes of a kind of row; 0 if there is no such kind.
  [[nodiscard]] static constexpr unsigned width_of(char kind) noexcept {
    return kind == 'b'   ? 1
           : kind == 'h' ? 2
           : kind == 'w' ? 4
           : kind == 'x' ? 8
           : kind == 'q' ? 16
                         : 0;
  }

 private:
  const FormTable& table_;
  std::array<Handler, 128> resizes_{};
  std::array<Handler, 16> frame_accesses_{};
  Handler negate_mask_ = nullptr;
};

}  // namespace cudacore::simulator
