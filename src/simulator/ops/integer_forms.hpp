// SPDX-License-Identifier: Apache-2.0
//
// Names and signatures of integer types, for the families of integer instructions.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/ops/families.hpp"
#include "simulator/ops/lanes.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

template <class T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
template <class T>
inline constexpr unsigned bits_of = sizeof(T) * 8;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Signed = std::make_signed_t<T>;
template <class T>
using Wider = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<is_signed<T>, s32, u32>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<is_signed<T>, s64, u64>,
                       std::conditional_t<is_signed<T>, s128, u128>>>;

/// PTX's name of a type, including the dot.
template <class T>
constexpr const char* dot_name() {
  if constexpr (sizeof(T) == 1) return is_signed<T> ? ".s8" : ".u8";
  if constexpr (sizeof(T) == 2) return is_signed<T> ? ".s16" : ".u16";
  if constexpr (sizeof(T) == 4) return is_signed<T> ? ".s32" : ".u32";
  if constexpr (sizeof(T) == 8) return is_signed<T> ? ".s64" : ".u64";
}
template <class T>
constexpr const char* dot_bits() {
  if constexpr (sizeof(T) == 2) return ".b16";
  if constexpr (sizeof(T) == 4) return ".b32";
  if constexpr (sizeof(T) == 8) return ".b64";
}

/// The letter of a row in a signature.
template <class T>
inline constexpr char letter = sizeof(T) == 1   ? 'b'
                               : sizeof(T) == 2 ? 'h'
                               : sizeof(T) == 4 ? 'w'
                               : sizeof(T) == 8 ? 'x'
                                                : 'q';
template <class... T>
inline constexpr char rows[] = {letter<T>..., '\0'};

/// A lane function's handler and signature.
template <auto F>
struct FormOf;
template <class D, class... A, bool N, D (*F)(A...) noexcept(N)>
struct FormOf<F> {
  static constexpr const char* signature = rows<D, A...>;
  static constexpr Handler run = &Lanes<F>::run;
};

/// Adds the form of a lane function.
template <auto F>
void add_lanes(FormTable& table, const char* opcode, const char* type) {
  table.add({opcode, type}, FormOf<F>::signature, FormOf<F>::run);
}
/// The same for the unsigned and the signed type, if they don't differ.
template <auto F, class U>
void add_both(FormTable& table, const char* opcode) {
  add_lanes<F>(table, opcode, dot_name<Unsigned<U>>());
  add_lanes<F>(table, opcode, dot_name<Signed<U>>());
}

}  // namespace
}  // namespace cudacore::simulator
