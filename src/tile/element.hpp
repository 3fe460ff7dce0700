// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace cudacore::tile {

/// The type of one element. The order is that of the table in element.cpp.
enum class Element {
  i1,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e8m0,
  e5m3,
  e2m1,
};

[[nodiscard]] std::string_view name(Element element);
[[nodiscard]] std::optional<Element> element_named(std::string_view name);

/// Bits of one element: 1 for i1, though memory and registers have a byte for it.
[[nodiscard]] int bits(Element element);
/// Bytes that an element takes in an array of its own: 1 for what has fewer bits.
[[nodiscard]] int bytes(Element element);

[[nodiscard]] bool is_float(Element element);
[[nodiscard]] bool is_signed(Element element);   ///< of integers; i1 is not
[[nodiscard]] bool is_integer(Element element);  ///< i1 included
/// Whether an element's arithmetic happens in f32 and is rounded to it: those smaller than f32.
[[nodiscard]] bool is_small_float(Element element);

}  // namespace cudacore::tile
