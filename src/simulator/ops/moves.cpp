// SPDX-License-Identifier: Apache-2.0
//
// Moves: registers, predicates, and between a register and its parts.
#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {

template <class T>
T same(T a) {
  return a;
}

void move_predicate(Warp& warp, const Instruction& in) {
  warp.set_mask(in.op[0], warp.enabled(in), warp.mask(in.op[1]));
}

/// d = {a, b, ...}: a is the lowest part.
template <class Whole, class Part>
void pack(Warp& warp, const Instruction& in) {
  constexpr unsigned count = sizeof(Whole) / sizeof(Part);
  const std::uint32_t* offsets = in.list + in.op[1];
  const Part* parts[count];
  for (unsigned k = 0; k < count; ++k) parts[k] = warp.row<Part>(offsets[k]);
  write_row(
      warp.row<Whole>(in.op[0]), warp.enabled(in), [&](Whole * to) __attribute__((always_inline)) {
        Part* d = reinterpret_cast<Part*>(to);
#pragma GCC ivdep
        for (unsigned i = 0; i < warp_size; ++i) {
          for (unsigned k = 0; k < count; ++k) d[i * count + k] = parts[k][i];
        }
      });
}
/// {a, b, ...} = d
template <class Whole, class Part>
void unpack(Warp& warp, const Instruction& in) {
  constexpr unsigned count = sizeof(Whole) / sizeof(Part);
  const std::uint32_t* offsets = in.list + in.op[0];
  const Part* whole = warp.row<Part>(in.op[1]);
  const std::uint32_t lanes = warp.enabled(in);
  for (unsigned k = 0; k < count; ++k) {
    write_each(
        warp.row<Part>(offsets[k]),
        lanes, [&](unsigned i) __attribute__((always_inline)) { return whole[i * count + k]; });
  }
}

template <class Whole, class Part>
void add_parts(FormTable& table, const char* key) {
  static constexpr char count[] = {static_cast<char>('0' + sizeof(Whole) / sizeof(Part)), '\0'};
  static constexpr char packing[] = {letter<Whole>, count[0], letter<Part>, '\0'};
  static constexpr char unpacking[] = {count[0], letter<Part>, letter<Whole>, '\0'};
  table.add({key}, packing, pack<Whole, Part>);
  table.add({key}, unpacking, unpack<Whole, Part>);
}

}  // namespace

template <>
void add_moves<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.role = Role::move});
  table.add({"mov.pred"}, "pp", move_predicate);
  for (const char* type : {".b16", ".u16", ".s16"}) add_lanes<same<u16>>(table, "mov", type);
  for (const char* type : {".b32", ".u32", ".s32", ".f32"}) {
    add_lanes<same<u32>>(table, "mov", type);
  }
  for (const char* type : {".b64", ".u64", ".s64", ".f64"}) {
    add_lanes<same<u64>>(table, "mov", type);
  }
  add_lanes<same<u128>>(table, "mov", ".b128");

  add_parts<u16, u8>(table, "mov.b16");
  add_parts<u32, u8>(table, "mov.b32");
  add_parts<u32, u16>(table, "mov.b32");
  add_parts<u64, u16>(table, "mov.b64");
  add_parts<u64, u32>(table, "mov.b64");
  add_parts<u128, u32>(table, "mov.b128");
  add_parts<u128, u64>(table, "mov.b128");
}

}  // namespace cudacore::simulator
