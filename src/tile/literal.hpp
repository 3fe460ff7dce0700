// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// The bits of a number rounded to the nearest of a type of floats smaller than f64, ties to even.
/// Those of tf32 are 19.
[[nodiscard]] std::uint32_t encode(double number, Element element);

/// The C++ text of a number of a type.
[[nodiscard]] std::string literal(const Attribute& number, Element element);
[[nodiscard]] std::string literal(std::int64_t number, Element element);
[[nodiscard]] std::string literal(double number, Element element);

/// A C++ string literal.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace cudacore::tile
