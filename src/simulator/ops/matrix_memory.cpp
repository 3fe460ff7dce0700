// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix, movmatrix, and wmma's loads and stores: matrices between memory and the
// registers of a warp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "simulator/engine/memory_access.hpp"
#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/memory_forms.hpp"
#include "simulator/ops/warp_wide.hpp"

namespace cudacore::simulator {
namespace {

/// An 8 x 8 matrix of 16-bit elements.
using Tile = std::array<std::array<std::uint16_t, 8>, 8>;

/// Element i of the pair that a lane holds of a tile.
std::uint16_t& held(Tile& tile, unsigned lane, unsigned i, bool transposed) {
  const unsigned row = lane / 4;
  const unsigned column = lane % 4 * 2 + i;
  return transposed ? tile[column][row] : tile[row][column];
}

template <class Base>
Row<std::uint64_t> addresses(Parts parts, unsigned operand) {
  const Row<Base> bases =
      gather_rows<Base>(parts, [&](const Part& part) { return part.row<Base>(operand); });
  Row<std::uint64_t> result{};
  const std::uint64_t offset = parts[0].in->imm;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    result[lane] = static_cast<Base>(bases[lane] + offset);
  }
  return result;
}

/// ldmatrix: lane 8 * i + r provides the address of row r of matrix i.
template <class Base>
[[gnu::noinline]] void load_tiles(Warp& warp, Parts parts, unsigned count, bool transposed,
                                  Space space) {
  const Row<std::uint64_t> at = addresses<Base>(parts, 1);
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    Tile tile;
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned lane = 8 * matrix + row;
      const std::byte* bytes =
          resolve(warp, *parts[0].in, space, at[lane], sizeof(tile[row]), Access::read, lane);
      if (bytes == nullptr) return;
      std::memcpy(tile[row].data(), bytes, sizeof(tile[row]));
    }
    Row<std::uint32_t> values;
    if (transposed) {
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        values[lane] =
            held(tile, lane, 0, true) | static_cast<std::uint32_t>(held(tile, lane, 1, true)) << 16;
      }
    } else {  // a lane's pair is a word of the tile
      static_assert(sizeof(values) == sizeof(tile));
      std::memcpy(values.data(), tile.data(), sizeof(tile));
    }
    for (const Part& part : parts) part.write(part.element<std::uint32_t>(0, matrix), values);
  }
}

template <class Base>
[[gnu::noinline]] void store_tiles(Warp& warp, Parts parts, unsigned count, bool transposed,
                                   Space space) {
  const Row<std::uint64_t> at = addresses<Base>(parts, 0);
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    const Row<std::uint32_t> values = gather_rows<std::uint32_t>(
        parts, [&](const Part& part) { return part.element<std::uint32_t>(1, matrix); });
    Tile tile{};
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      held(tile, lane, 0, transposed) = static_cast<std::uint16_t>(values[lane]);
      held(tile, lane, 1, transposed) = static_cast<std::uint16_t>(values[lane] >> 16);
    }
    for (unsigned row = 0; row < 8; ++row) {
      const unsigned lane = 8 * matrix + row;
      std::byte* bytes =
          resolve(warp, *parts[0].in, space, at[lane], sizeof(tile[row]), Access::write, lane);
      if (bytes == nullptr) return;
      std::memcpy(bytes, tile[row].data(), sizeof(tile[row]));
    }
  }
}

template <unsigned count, bool transposed, Space space, class Base>
void load_matrices(Warp& warp, Parts parts, std::uint32_t) {
  load_tiles<Base>(warp, parts, count, transposed, space);
}
template <unsigned count, bool transposed, Space space, class Base>
void store_matrices(Warp& warp, Parts parts, std::uint32_t) {
  store_tiles<Base>(warp, parts, count, transposed, space);
}

void transpose(Warp&, Parts parts, std::uint32_t) {
  const Row<std::uint32_t> from = gather_rows<std::uint32_t>(
      parts, [](const Part& part) { return part.row<std::uint32_t>(1); });
  Tile tile{};
  Row<std::uint32_t> to{};
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    held(tile, lane, 0, false) = static_cast<std::uint16_t>(from[lane]);
    held(tile, lane, 1, false) = static_cast<std::uint16_t>(from[lane] >> 16);
  }
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    to[lane] = held(tile, lane, 0, true) | static_cast<std::uint32_t>(held(tile, lane, 1, true))
                                               << 16;
  }
  for (const Part& part : parts) part.write(part.row<std::uint32_t>(0), to);
}

/// What a wmma load or store moves.
struct Transfer {
  Fragment fragment;
  bool by_column;  ///< the layout in memory
  Space space;
  bool store;
};

/// The bytes of a cell in memory, for the lane that moves it; nullptr after a fault.
std::byte* cell_bytes(Warp& warp, const Instruction& in, const Transfer& transfer, unsigned lane,
                      std::uint64_t base, std::uint64_t stride, Cell cell, unsigned& shift) {
  const unsigned bits = bits_of(transfer.fragment.element);
  const std::uint64_t index =
      transfer.by_column ? cell.column * stride + cell.row : cell.row * stride + cell.column;
  // Elements of less than a byte are moved as whole registers.
  const unsigned unit = bits < 8 ? 32 : bits;
  shift = static_cast<unsigned>(index * bits % unit);
  return resolve(warp, in, transfer.space, base + index * bits / unit * (unit / 8), unit / 8,
                 transfer.store ? Access::write : Access::read, lane);
}

/// Each lane uses its own address.
template <class Value>
void transfer_lanes(Warp& warp, Parts parts, const Transfer& transfer,
                    const Row<std::uint64_t>& bases) {
  const Fragment& fragment = transfer.fragment;
  const unsigned value_operand = transfer.store ? 1 : 0;
  const std::uint64_t packed = transfer.by_column ? fragment.rows : fragment.columns;
  const unsigned bits = bits_of(fragment.element);
  const unsigned per = per_register(fragment.element);
  for (const Part& part : parts) {
    const std::uint32_t* strides =
        part.in->op[2] == no_operand ? nullptr : part.row<std::uint32_t>(2);
    for (unsigned reg = 0; reg < fragment.registers; ++reg) {
      Value* values = part.element<Value>(value_operand, reg);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        if (!part.has(lane)) continue;
        const std::uint64_t stride = strides != nullptr ? strides[lane] : packed;
        Value value = transfer.store ? values[lane] : 0;
        for (unsigned i = 0; i < per; ++i) {
          unsigned shift = 0;
          std::byte* bytes = cell_bytes(warp, *part.in, transfer, lane, bases[lane], stride,
                                        cell_of(fragment, lane, reg, i), shift);
          if (bytes == nullptr) return;
          if (bits < 8) {
            // A register's elements are adjacent in memory, in the only layout that they can have
            // there.
            std::memcpy(&value, bytes, sizeof(value));
            break;
          }
          if (transfer.store) {
            const Value element = static_cast<Value>(value >> (i * bits % (8 * sizeof(Value))));
            std::memcpy(bytes, &element, bits / 8);
          } else {
            Value element = 0;
            std::memcpy(&element, bytes, bits / 8);
            value = static_cast<Value>(value | element << (i * bits % (8 * sizeof(Value))));
          }
        }
        if (!transfer.store) values[lane] = value;
      }
    }
  }
}

/// Reorders the matrix between lines in memory and the order of its registers.
template <class Unit>
void turn(const std::byte* from, unsigned lines, unsigned length, std::byte* to) {
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned i = 0; i < length; ++i) {
      std::memcpy(to + (i * lines + line) * sizeof(Unit), from + (line * length + i) * sizeof(Unit),
                  sizeof(Unit));
    }
  }
}
void turn(const std::byte* from, unsigned lines, unsigned length, unsigned bits, std::byte* to) {
  switch (bits) {
    case 8:
      return turn<std::uint8_t>(from, lines, length, to);
    case 16:
      return turn<std::uint16_t>(from, lines, length, to);
    case 32:
      return turn<std::uint32_t>(from, lines, length, to);
    default:
      return turn<std::uint64_t>(from, lines, length, to);
  }
}

/// Copies the lines of the matrix in memory, one after another, to or from `matrix`; false after a
/// fault.
bool transfer_lines(Warp& warp, const Instruction& in, const Transfer& transfer, std::uint64_t base,
                    std::uint64_t stride, std::byte* matrix) {
  const Fragment& fragment = transfer.fragment;
  const unsigned bits = bits_of(fragment.element);
  const unsigned lines = transfer.by_column ? fragment.columns : fragment.rows;
  const unsigned length = transfer.by_column ? fragment.rows : fragment.columns;
  const unsigned size = length * bits / 8;
  for (unsigned line = 0; line < lines; ++line) {
    std::byte* const bytes =
        resolve(warp, in, transfer.space, base + line * stride * bits / 8, size,
                transfer.store ? Access::write : Access::read, 0, bits < 8 ? 4 : bits / 8);
    if (bytes == nullptr) return false;
    std::byte* const here = matrix + line * size;
    std::memcpy(transfer.store ? bytes : here, transfer.store ? here : bytes, size);
  }
  return true;
}

/// All lanes use the same address and stride, as PTX requires.
template <class Value>
void transfer_matrix(Warp& warp, Parts parts, const Transfer& transfer, std::uint64_t base,
                     std::uint64_t stride) {
  constexpr unsigned most = 32 * 32 * sizeof(Value);
  const Fragment& fragment = transfer.fragment;
  const unsigned value_operand = transfer.store ? 1 : 0;
  const unsigned bits = bits_of(fragment.element);
  const unsigned size = unsigned{fragment.rows} * fragment.columns * bits / 8;
  const bool turned = transfer.by_column != (fragment.arrangement == Arrangement::opaque_columns);
  const unsigned lines = transfer.by_column ? fragment.columns : fragment.rows;
  const unsigned length = transfer.by_column ? fragment.rows : fragment.columns;
  alignas(64) std::array<std::byte, most> in_memory;
  alignas(64) std::array<std::byte, most> in_registers;
  std::byte* const registers = turned ? in_registers.data() : in_memory.data();
  constexpr unsigned row_bytes = warp_size * sizeof(Value);
  if (transfer.store) {
    for (unsigned reg = 0; reg < fragment.registers; ++reg) {
      const Row<Value> row = gather_rows<Value>(
          parts, [&](const Part& part) { return part.element<Value>(value_operand, reg); });
      std::memcpy(registers + reg * row_bytes, row.data(), row_bytes);
    }
    if (turned) turn(registers, length, lines, bits, in_memory.data());
    transfer_lines(warp, *parts[0].in, transfer, base, stride, in_memory.data());
    return;
  }
  if (!transfer_lines(warp, *parts[0].in, transfer, base, stride, in_memory.data())) return;
  if (turned) turn(in_memory.data(), lines, length, bits, registers);
  for (unsigned reg = 0; reg < fragment.registers; ++reg) {
    Row<Value> row;  // Some fragments hold the matrix twice.
    std::memcpy(row.data(), registers + reg * row_bytes % size, row_bytes);
    for (const Part& part : parts) part.write(part.element<Value>(value_operand, reg), row);
  }
}

/// The stride that all lanes have; nothing if they differ.
std::optional<std::uint64_t> common_stride(Parts parts, std::uint64_t packed) {
  std::optional<std::uint64_t> common;
  for (const Part& part : parts) {
    const bool has_stride = part.in->op[2] != no_operand;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (!part.has(lane)) continue;
      const std::uint64_t stride = has_stride ? part.row<std::uint32_t>(2)[lane] : packed;
      if (common.value_or(stride) != stride) return std::nullopt;
      common = stride;
    }
  }
  return common;
}

/// Not inlined, because a great many forms use it.
template <class Value, class Base>
[[gnu::noinline]] void move_fragment(Warp& warp, Parts parts, std::uint32_t members,
                                     const Transfer& transfer) {
  const Fragment& fragment = transfer.fragment;
  const Row<std::uint64_t> bases = addresses<Base>(parts, transfer.store ? 0 : 1);
  const auto stride = common_stride(parts, transfer.by_column ? fragment.rows : fragment.columns);
  const bool one_place =
      stride && members == all_lanes &&
      std::all_of(bases.begin(), bases.end(), [&](auto base) { return base == bases[0]; });
  if (one_place) {
    transfer_matrix<Value>(warp, parts, transfer, bases[0], *stride);
  } else {
    transfer_lanes<Value>(warp, parts, transfer, bases);
  }
}
template <Transfer transfer, class Base>
void move(Warp& warp, Parts parts, std::uint32_t members) {
  constexpr bool wide = transfer.fragment.element == Element::f64;
  using Value = std::conditional_t<wide, std::uint64_t, std::uint32_t>;
  move_fragment<Value, Base>(warp, parts, members, transfer);
}

/// Runs for the whole warp.
template <Together together>
void run(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes != 0) run_together(warp, in, all_lanes, lanes, together);
}

template <unsigned count, bool transposed, Space space>
void add_tiles_in(FormTable& table, const char* space_text) {
  constexpr const char* counts[] = {"", ".x1", ".x2", "", ".x4"};
  constexpr const char* vectors[] = {"", "1w", "2w", "", "4w"};
  const char* trans = transposed ? ".trans" : "";
  const std::string vector = vectors[count];
  table.add({"ldmatrix.sync.aligned.m8n8", counts[count], trans, space_text, ".b16"},
            (vector + "m").c_str(), &run<load_matrices<count, transposed, space, std::uint64_t>>);
  table.add({"stmatrix.sync.aligned.m8n8", counts[count], trans, space_text, ".b16"},
            ("m" + vector).c_str(), &run<store_matrices<count, transposed, space, std::uint64_t>>);
  if constexpr (!has_narrow_addresses<space>) return;
  table.add({"ldmatrix.sync.aligned.m8n8", counts[count], trans, space_text, ".b16"},
            (vector + "n").c_str(), &run<load_matrices<count, transposed, space, std::uint32_t>>);
  table.add({"stmatrix.sync.aligned.m8n8", counts[count], trans, space_text, ".b16"},
            ("n" + vector).c_str(), &run<store_matrices<count, transposed, space, std::uint32_t>>);
}

template <unsigned count>
void add_tiles(FormTable& table) {
  add_tiles_in<count, false, Space::shared>(table, ".shared");
  add_tiles_in<count, true, Space::shared>(table, ".shared");
  add_tiles_in<count, false, Space::generic>(table, "");
  add_tiles_in<count, true, Space::generic>(table, "");
}

/// With a 64-bit base and, in the spaces that have such addresses, a 32-bit base.
void add_transfer_with(FormTable& table, const Transfer& transfer, const char* matrix,
                       const char* shape, const char* space_text, const char* type, Handler wide,
                       Handler narrow) {
  const Fragment& fragment = transfer.fragment;
  const bool store = transfer.store;
  const char* layout = transfer.by_column ? ".col" : ".row";
  std::string vector(1, static_cast<char>('0' + fragment.registers));
  vector += fragment.element == Element::f64 ? 'x' : 'w';
  const auto add = [&](const char* base, Handler handler) {
    const std::string signature = store ? base + vector + "?w" : vector + base + "?w";
    table.add({store ? "wmma.store." : "wmma.load.", matrix, ".sync.aligned", layout, shape,
               space_text, type},
              signature.c_str(), handler, {.effect = Effect::acts, .literals = Literals::any});
  };
  add("m", wide);
  if (narrow != nullptr) add("n", narrow);
}
template <Fragment fragment, bool by_column, Space space, bool store>
void add_transfer_in(FormTable& table, const char* matrix, const char* shape,
                     const char* space_text, const char* type) {
  constexpr Transfer transfer{fragment, by_column, space, store};
  Handler narrow = nullptr;
  if constexpr (has_narrow_addresses<space>) narrow = &run<move<transfer, std::uint32_t>>;
  add_transfer_with(table, transfer, matrix, shape, space_text, type,
                    &run<move<transfer, std::uint64_t>>, narrow);
}

template <Fragment fragment, bool by_column, bool store>
void add_transfer(FormTable& table, const char* matrix, const char* shape, const char* type) {
  add_transfer_in<fragment, by_column, Space::generic, store>(table, matrix, shape, "", type);
  add_transfer_in<fragment, by_column, Space::global, store>(table, matrix, shape, ".global", type);
  add_transfer_in<fragment, by_column, Space::shared, store>(table, matrix, shape, ".shared", type);
}

template <unsigned m, unsigned n, unsigned k, Element element>
void add_inputs(FormTable& table, const char* shape, const char* type) {
  constexpr Fragment a = wmma_fragment(WmmaMatrix::a, m, n, k, element);
  constexpr Fragment b = wmma_fragment(WmmaMatrix::b, m, n, k, element);
  add_transfer<a, false, false>(table, "a", shape, type);
  add_transfer<b, true, false>(table, "b", shape, type);
  if constexpr (bits_of(element) >= 8) {
    add_transfer<a, true, false>(table, "a", shape, type);
    add_transfer<b, false, false>(table, "b", shape, type);
  }
}

template <unsigned m, unsigned n, unsigned k, Element element>
void add_sums(FormTable& table, const char* shape, const char* type) {
  constexpr Fragment c = wmma_fragment(WmmaMatrix::c, m, n, k, element);
  add_transfer<c, false, false>(table, "c", shape, type);
  add_transfer<c, true, false>(table, "c", shape, type);
  add_transfer<c, false, true>(table, "d", shape, type);
  add_transfer<c, true, true>(table, "d", shape, type);
}

template <unsigned m, unsigned n>
void add_shape(FormTable& table, const char* shape) {
  add_inputs<m, n, 16, Element::f16>(table, shape, ".f16");
  add_inputs<m, n, 16, Element::bf16>(table, shape, ".bf16");
  add_inputs<m, n, 16, Element::s8>(table, shape, ".s8");
  add_inputs<m, n, 16, Element::u8>(table, shape, ".u8");
  add_sums<m, n, 16, Element::f16>(table, shape, ".f16");
  add_sums<m, n, 16, Element::f32>(table, shape, ".f32");
  add_sums<m, n, 16, Element::s32>(table, shape, ".s32");
}

}  // namespace

void add_matrix(FormTable& table) {
  add_tiles<1>(table);
  add_tiles<2>(table);
  add_tiles<4>(table);
  table.add({"movmatrix.sync.aligned.m8n8.trans.b16"}, "ww", &run<transpose>);

  add_shape<16, 16>(table, ".m16n16k16");
  add_shape<8, 32>(table, ".m8n32k16");
  add_shape<32, 8>(table, ".m32n8k16");
  add_inputs<16, 16, 8, Element::tf32>(table, ".m16n16k8", ".tf32");
  add_sums<16, 16, 8, Element::f32>(table, ".m16n16k8", ".f32");
  add_inputs<8, 8, 4, Element::f64>(table, ".m8n8k4", ".f64");
  add_sums<8, 8, 4, Element::f64>(table, ".m8n8k4", ".f64");
  add_inputs<8, 8, 32, Element::s4>(table, ".m8n8k32", ".s4");
  add_inputs<8, 8, 32, Element::u4>(table, ".m8n8k32", ".u4");
  add_sums<8, 8, 32, Element::s32>(table, ".m8n8k32", ".s32");
  add_inputs<8, 8, 128, Element::b1>(table, ".m8n8k128", ".b1");
  add_sums<8, 8, 128, Element::s32>(table, ".m8n8k128", ".s32");
}

}  // namespace cudacore::simulator
