// SPDX-License-Identifier: Apache-2.0
//
// Constant expressions.
#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/ptx/lexer.hpp"

namespace cudacore::simulator::ptx {

struct Constant {
  enum class Kind : std::uint8_t { s64, u64, f32, f64 };

  Kind kind = Kind::s64;
  std::uint64_t bits = 0;

  [[nodiscard]] bool is_integer() const noexcept { return kind == Kind::s64 || kind == Kind::u64; }
  /// The value as a double, whatever its type.
  [[nodiscard]] double real() const noexcept;
};

/// Whether a constant expression may begin with the token.
[[nodiscard]] bool at_constant(const Lexer& lexer) noexcept;
[[nodiscard]] Constant parse_constant(Lexer& lexer);
/// The same, if only an integer is allowed: its bits.
[[nodiscard]] std::int64_t parse_integer(Lexer& lexer, std::string_view what);

}  // namespace cudacore::simulator::ptx
