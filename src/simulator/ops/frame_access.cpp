// SPDX-License-Identifier: Apache-2.0
//
// Forms that only the decoder uses: moving values between rows and the parameter regions of a
// frame, where the bytes of each lane are contiguous, and between rows of different widths.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/engine/machine.hpp"
#include "simulator/ops/families.hpp"
#include "simulator/ops/lanes.hpp"

namespace cudacore::simulator {
namespace {

struct Bits128 {
  std::uint64_t low;
  std::uint64_t high;
};

/// imm: offset of the bytes of lane 0 in the frame; imm2: distance between lanes. op[0] is the row,
/// or the index of the list of rows.
template <class T, unsigned count, bool is_store>
void move_frame(Warp& warp, const Instruction& in) {
  std::byte* const first = warp.rows + in.imm;
  const auto stride = static_cast<std::size_t>(in.imm2);
  const std::uint32_t* const rows = count == 0 ? in.op.data() : in.list + in.op[0];
  for (std::uint32_t lanes = warp.enabled(in); lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    std::byte* const bytes = first + lane * stride;
    for (unsigned i = 0; i < (count == 0 ? 1 : count); ++i) {
      T* const value = warp.row<T>(rows[i]) + lane;
      if constexpr (is_store) {
        std::memcpy(bytes + i * sizeof(T), value, sizeof(T));
      } else {
        std::memcpy(value, bytes + i * sizeof(T), sizeof(T));
      }
    }
  }
}

template <class T, unsigned count>
void add_access(FormTable& table, const char* type, const char* letter) {
  const std::string vector = count == 0 ? "" : ".v" + std::to_string(count);
  const std::string signature = (count == 0 ? "" : std::to_string(count)) + letter;
  table.add({"ld.frame", vector.c_str(), type}, signature.c_str(), move_frame<T, count, false>,
            {.converts = true, .role = Role::load_param});
  table.add(
      {"st.frame", vector.c_str(), type}, signature.c_str(), move_frame<T, count, true>,
      {.effect = Effect::acts, .only_reads = true, .converts = true, .role = Role::store_param});
}

template <class T>
void add_accesses(FormTable& table, const char* type, const char* letter) {
  add_access<T, 0>(table, type, letter);
  add_access<T, 2>(table, type, letter);
  add_access<T, 4>(table, type, letter);
  add_access<T, 8>(table, type, letter);
}

template <class To, class From>
To resize(From value) {
  return static_cast<To>(value);
}

template <class To, class From>
void add_resize(FormTable& table, const char* key, const char* signature) {
  table.add({key}, signature, Lanes<resize<To, From>>::run);
}

}  // namespace

void add_frame_access(FormTable& table) {
  add_accesses<std::uint8_t>(table, ".b8", "b");
  add_accesses<std::uint16_t>(table, ".b16", "h");
  add_accesses<std::uint32_t>(table, ".b32", "w");
  add_accesses<std::uint64_t>(table, ".b64", "x");
  add_accesses<Bits128>(table, ".b128", "q");

  add_resize<std::uint16_t, std::uint8_t>(table, "resize.u", "hb");
  add_resize<std::uint32_t, std::uint8_t>(table, "resize.u", "wb");
  add_resize<std::uint64_t, std::uint8_t>(table, "resize.u", "xb");
  add_resize<std::uint32_t, std::uint16_t>(table, "resize.u", "wh");
  add_resize<std::uint64_t, std::uint16_t>(table, "resize.u", "xh");
  add_resize<std::uint64_t, std::uint32_t>(table, "resize.u", "xw");
  add_resize<std::int16_t, std::int8_t>(table, "resize.s", "hb");
  add_resize<std::int32_t, std::int8_t>(table, "resize.s", "wb");
  add_resize<std::int64_t, std::int8_t>(table, "resize.s", "xb");
  add_resize<std::int32_t, std::int16_t>(table, "resize.s", "wh");
  add_resize<std::int64_t, std::int16_t>(table, "resize.s", "xh");
  add_resize<std::int64_t, std::int32_t>(table, "resize.s", "xw");
  add_resize<std::uint8_t, std::uint16_t>(table, "resize.u", "bh");
  add_resize<std::uint8_t, std::uint32_t>(table, "resize.u", "bw");
  add_resize<std::uint8_t, std::uint64_t>(table, "resize.u", "bx");
  add_resize<std::uint16_t, std::uint32_t>(table, "resize.u", "hw");
  add_resize<std::uint16_t, std::uint64_t>(table, "resize.u", "hx");
  add_resize<std::uint32_t, std::uint64_t>(table, "resize.u", "wx");
}

}  // namespace cudacore::simulator
