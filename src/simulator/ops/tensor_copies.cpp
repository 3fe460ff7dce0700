// SPDX-License-Identifier: Apache-2.0
//
// Copies and reductions by tensor maps. They complete with the instruction, like bulk copies.
#include "simulator/ops/tensor_copies.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>

#include "simulator/ops/async_parts.hpp"
#include "simulator/ops/tensor_walk.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::uint64_t piece = 16;  ///< bytes that swizzling keeps together

/// What an instruction says beside its operands.
struct TensorForm {
  TensorMode mode = TensorMode::tiled;
  std::uint8_t rank = 1;
  bool is_wide = false;  ///< addresses of shared memory have 64 bits
  bool is_multicast = false;
  Reduction reduction = Reduction::none;
};

std::uint64_t shared_address(const Warp& warp, const Instruction& in, const TensorForm& form,
                             unsigned operand, std::uint64_t offset, unsigned lane) {
  return form.is_wide ? address_of<std::uint64_t>(warp, in, operand, offset, lane)
                      : address_of<std::uint32_t>(warp, in, operand, offset, lane);
}

/// The map that a lane specifies; empty after a fault.
std::optional<TensorMap> read_map(Warp& warp, const Instruction& in, const TensorForm& form,
                                  unsigned operand, std::uint64_t offset, unsigned lane) {
  const std::uint64_t address = address_of<std::uint64_t>(warp, in, operand, offset, lane);
  const std::byte* host =
      resolve(warp, in, Space::generic, address, sizeof(TensorMap), Access::read, lane, 64);
  if (host == nullptr) return std::nullopt;
  std::optional<TensorMap> map(std::in_place);
  std::memcpy(static_cast<void*>(&*map), host, sizeof(TensorMap));
  const char* wrong = nullptr;
  if (map->tag != TensorMap::valid) {
    wrong = "copies by a tensor map that cuTensorMapEncode didn't make";
  } else if (map->rank != form.rank) {
    wrong = "copies by a tensor map of another number of dimensions";
  } else if (map->mode != form.mode) {
    wrong = map->mode == TensorMode::im2col ? "copies a tile by a tensor map for im2col"
                                            : "copies as im2col by a tensor map for tiles";
  } else if (map->interleave != 0) {
    wrong = "copies by an interleaved tensor map, which is not simulated";
  }
  if (wrong == nullptr) return map;
  warp.fault(in, FaultKind::illegal_instruction, lane, wrong);
  return std::nullopt;
}

TensorCoordinates coordinates_of(const Warp& warp, const Instruction& in, unsigned operand,
                                 std::size_t rank, unsigned lane) {
  TensorCoordinates at{};
  for (std::size_t i = 0; i < rank; ++i) {
    at.at(i) = warp.row<std::int32_t>(in.list[in.op[operand] + i])[lane];
  }
  return at;
}

/// What elements outside of the tensor are read as: zeros, or the hardware's special NaN.
std::uint64_t filler_of(const TensorMap& map) {
  return map.fills_with_nan ? 0x7ff77ff77ff77ff7 : 0;
}

/// Rounds float32 to TF32, to nearest.
void round_to_tf32(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, sizeof(bits));
    constexpr std::uint32_t lost = 0x1fff;
    if ((bits & 0x7fffffff) > 0x7f800000) {
      bits = 0x7fffe000;  // a NaN
    } else if ((bits & 0x7f800000) != 0x7f800000) {
      bits = (bits + lost / 2 + (bits >> 13 & 1)) & ~lost;
    }
    std::memcpy(bytes.data() + i, &bits, sizeof(bits));
  }
}

/// Moves a row between shared memory and a buffer, piece by piece if the map swizzles.
bool move_shared(Warp& warp, const Instruction& in, const TensorMap& map, std::uint64_t address,
                 std::span<std::byte> bytes, Access access, unsigned lane) {
  const std::size_t step = map.swizzle == 0 ? bytes.size() : piece;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::byte* host =
        resolve(warp, in, Space::shared, swizzled(map, address + at), step, access, lane, piece);
    if (host == nullptr) return false;
    if (access == Access::read) {
      std::memcpy(bytes.data() + at, host, step);
    } else {
      std::memcpy(host, bytes.data() + at, step);
    }
  }
  return true;
}

/// The largest row: 256 elements of 8 bytes.
using RowBytes = std::array<std::byte, 2048>;

/// Reads a row of a tensor.
bool read_row(Warp& warp, const Instruction& in, const TensorMap& map, const TensorRow& row,
              std::span<std::byte> bytes, unsigned lane) {
  const unsigned size = size_of(map.type);
  const std::uint64_t filler = filler_of(map);
  for (std::uint32_t i = 0; i < row.count; ++i) {
    if (i >= row.first && i < row.end) continue;
    std::memcpy(bytes.data() + std::size_t{i} * size, &filler, size);
  }
  if (row.first == row.end) return true;
  const std::size_t begin = std::size_t{row.first} * size;
  const std::size_t count = std::size_t{row.end - row.first} * size;
  const std::byte* host =
      resolve(warp, in, Space::global, row.address + begin, count, Access::read, lane, size);
  if (host == nullptr) return false;
  const std::span<std::byte> inside = bytes.subspan(begin, count);
  std::memcpy(inside.data(), host, count);
  if (map.type == TensorType::tf32 || map.type == TensorType::tf32_ftz) round_to_tf32(inside);
  return true;
}

template <class T>
void reduce_row(std::byte* to, const std::byte* from, std::size_t bytes, Reduction reduction) {
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) reduce_at<T>(to + i, reduction, from + i);
}

/// Whether a type has a reduction; see the manual's table for cp.reduce.async.bulk.
bool has_reduction(TensorType type, Reduction reduction) {
  switch (reduction) {
    case Reduction::add:
      return type >= TensorType::u32;
    case Reduction::min:
    case Reduction::max:
      return type >= TensorType::u32 && (!is_floating(type) || size_of(type) == 2);
    case Reduction::inc:
    case Reduction::dec:
      return type == TensorType::u32;
    default:
      return size_of(type) >= 4;
  }
}

void reduce_elements(TensorType type, std::byte* to, const std::byte* from, std::size_t bytes,
                     Reduction reduction) {
  switch (type) {
    case TensorType::u32:
      return reduce_row<std::uint32_t>(to, from, bytes, reduction);
    case TensorType::s32:
      return reduce_row<std::int32_t>(to, from, bytes, reduction);
    case TensorType::u64:
      return reduce_row<std::uint64_t>(to, from, bytes, reduction);
    case TensorType::s64:
      return reduce_row<std::int64_t>(to, from, bytes, reduction);
    case TensorType::f16:
      return reduce_row<HalfValue<F16>>(to, from, bytes, reduction);
    case TensorType::bf16:
      return reduce_row<HalfValue<Bf16>>(to, from, bytes, reduction);
    case TensorType::f64:
      if (reduction == Reduction::add) return reduce_row<double>(to, from, bytes, reduction);
      return reduce_row<std::uint64_t>(to, from, bytes, reduction);
    default:
      if (reduction == Reduction::add) return reduce_row<float>(to, from, bytes, reduction);
      return reduce_row<std::uint32_t>(to, from, bytes, reduction);
  }
}

/// Writes the part of a row that is in the tensor.
bool write_row(Warp& warp, const Instruction& in, const TensorMap& map, const TensorRow& row,
               std::span<const std::byte> bytes, Reduction reduction, unsigned lane) {
  if (row.first == row.end) return true;
  const unsigned size = size_of(map.type);
  const std::size_t begin = std::size_t{row.first} * size;
  const std::size_t count = std::size_t{row.end - row.first} * size;
  const Access access = reduction == Reduction::none ? Access::write : Access::update;
  std::byte* host =
      resolve(warp, in, Space::global, row.address + begin, count, access, lane, size);
  if (host == nullptr) return false;
  if (reduction == Reduction::none) {
    std::memcpy(host, bytes.data() + begin, count);
  } else {
    reduce_elements(map.type, host, bytes.data() + begin, count, reduction);
  }
  return true;
}

bool require_shared_alignment(Warp& warp, const Instruction& in, std::uint64_t address,
                              unsigned lane) {
  return resolve(warp, in, Space::shared, address, piece, Access::read, lane, 128) != nullptr;
}

/// Calls visit(row) for the rows that an instruction copies.
template <class Visit>
bool visit_rows(Warp& warp, const Instruction& in, const TensorForm& form, const TensorMap& map,
                unsigned coordinates, unsigned offsets, unsigned lane, Visit visit) {
  const TensorCoordinates at = coordinates_of(warp, in, coordinates, form.rank, lane);
  if (at[0] * static_cast<std::int64_t>(size_of(map.type)) % 16 != 0) {
    warp.fault(in, FaultKind::illegal_instruction, lane,
               "copies from a place in a row that is not a multiple of 16 bytes");
    return false;
  }
  if (form.mode == TensorMode::tiled) return for_each_row(map, at, visit);
  PixelOffsets moves{};
  for (std::size_t i = 0; in.op[offsets] != no_operand && i + 2 < form.rank; ++i) {
    moves.at(i) = warp.row<std::uint16_t>(in.list[in.op[offsets] + i])[lane];
  }
  return for_each_pixel(map, at, moves, visit);
}

/// [dst], [map, {coordinates}], [mbarrier]{, {offsets}}{, mask of blocks}
void load_tensor(Warp& warp, const Instruction& in, const TensorForm& form) {
  const std::uint64_t map_offset = static_cast<std::uint64_t>(std::int64_t{in.imm2});
  for_each_lane(warp, in, [&](unsigned lane) {
    const std::optional<TensorMap> map = read_map(warp, in, form, 1, map_offset, lane);
    if (!map) return false;
    const std::uint64_t to = shared_address(warp, in, form, 0, in.imm, lane);
    const auto load_into = [&](std::uint64_t base, std::uint32_t rank_plus_one) {
      if (!require_shared_alignment(warp, in, base, lane)) return false;
      std::int64_t total = 0;
      const bool is_loaded =
          visit_rows(warp, in, form, *map, 2, 4, lane, [&](const TensorRow& row) {
            RowBytes buffer;
            const std::span<std::byte> bytes(buffer.data(),
                                             row.count * std::size_t{size_of(map->type)});
            total += static_cast<std::int64_t>(bytes.size());
            return read_row(warp, in, *map, row, bytes, lane) &&
                   move_shared(warp, in, *map, base + row.offset, bytes, Access::write, lane);
          });
      if (!is_loaded) return false;
      return form.is_wide ? complete_bytes<std::uint64_t>(warp, in, 3, lane, total, rank_plus_one)
                          : complete_bytes<std::uint32_t>(warp, in, 3, lane, total, rank_plus_one);
    };
    if (!form.is_multicast) return load_into(to, 0);
    const std::uint32_t mask_row = in.op[form.mode == TensorMode::im2col ? 5 : 4];
    const std::uint32_t mask = warp.row<std::uint16_t>(mask_row)[lane];
    const std::uint64_t offset = to & ((1U << cluster_rank_shift) - 1);
    for (std::uint32_t block = 0; block < 16; ++block) {
      if ((mask >> block & 1) == 0) continue;
      const std::uint64_t there = offset | std::uint64_t{block + 1} << cluster_rank_shift;
      if (!load_into(there, block + 1)) return false;
    }
    return true;
  });
}

/// [map, {coordinates}], [src]
void store_tensor(Warp& warp, const Instruction& in, const TensorForm& form) {
  const std::uint64_t from_offset = static_cast<std::uint64_t>(std::int64_t{in.imm2});
  for_each_lane(warp, in, [&](unsigned lane) {
    const std::optional<TensorMap> map = read_map(warp, in, form, 0, in.imm, lane);
    if (!map) return false;
    if (form.reduction != Reduction::none && !has_reduction(map->type, form.reduction)) {
      warp.fault(in, FaultKind::illegal_instruction, lane,
                 "reduces elements of a type that has no such reduction");
      return false;
    }
    const std::uint64_t base = shared_address(warp, in, form, 2, from_offset, lane);
    if (!require_shared_alignment(warp, in, base, lane)) return false;
    return visit_rows(warp, in, form, *map, 1, 3, lane, [&](const TensorRow& row) {
      RowBytes buffer;
      const std::span<std::byte> bytes(buffer.data(), row.count * std::size_t{size_of(map->type)});
      return move_shared(warp, in, *map, base + row.offset, bytes, Access::read, lane) &&
             write_row(warp, in, *map, row, bytes, form.reduction, lane);
    });
  });
}

/// A prefetch, of which only the map is checked.
void prefetch_tensor(Warp& warp, const Instruction& in, const TensorForm& form) {
  for_each_lane(warp, in, [&](unsigned lane) {
    return read_map(warp, in, form, 0, in.imm, lane).has_value();
  });
}

template <void (*run)(Warp&, const Instruction&, const TensorForm&), TensorForm form>
void run_form(Warp& warp, const Instruction& in) {
  run(warp, in, form);
}

void nothing(Warp& /*warp*/, const Instruction& /*in*/) {}

constexpr const char* by_mbarrier = ".mbarrier::complete_tx::bytes";

/// What the keys and signatures of a mode's forms have in common.
struct TensorNames {
  std::string dimensions;
  std::string coordinates;
  std::string offsets;
  const char* loads;
  const char* stores;
};

template <TensorForm form>
void add_store(FormTable& table, const TensorNames& names, const char* reduction) {
  constexpr TensorForm wide{form.mode, form.rank, true, false, form.reduction};
  const char* start =
      form.reduction == Reduction::none ? "cp.async.bulk.tensor" : "cp.reduce.async.bulk.tensor";
  const auto add = [&](const char* source, Handler run) {
    table.add(
        {start, names.dimensions.c_str(), ".global.shared", reduction, names.stores, ".bulk_group"},
        ("m" + names.coordinates + source).c_str(), run);
  };
  add("n", &run_form<store_tensor, form>);
  add("m", &run_form<store_tensor, wide>);
}

template <TensorMode mode, std::uint8_t rank, bool is_multicast>
void add_load(FormTable& table, const TensorNames& names, const char* to) {
  constexpr TensorForm small{mode, rank, false, is_multicast};
  constexpr TensorForm wide{mode, rank, true, is_multicast};
  const auto add = [&](const std::string& shared, Handler run) {
    std::string signature = shared + "m" + names.coordinates + shared + names.offsets;
    if (is_multicast) signature += 'h';
    table.add({"cp.async.bulk.tensor", names.dimensions.c_str(), to, ".global", names.loads,
               by_mbarrier, is_multicast ? ".multicast::cluster" : ""},
              signature.c_str(), run);
  };
  add("n", &run_form<load_tensor, small>);
  add("m", &run_form<load_tensor, wide>);
}

template <TensorMode mode, std::uint8_t rank>
void add_mode(FormTable& table, const TensorNames& names) {
  add_load<mode, rank, false>(table, names, ".shared::cluster");
  add_load<mode, rank, false>(table, names, ".shared");
  add_load<mode, rank, true>(table, names, ".shared::cluster");
  table.add({"cp.async.bulk.prefetch.tensor", names.dimensions.c_str(), ".L2.global", names.loads},
            ("m" + names.coordinates + names.offsets).c_str(),
            &run_form<prefetch_tensor, TensorForm{mode, rank}>);
  add_store<TensorForm{mode, rank}>(table, names, "");
  const auto reduce = [&]<Reduction reduction>(const char* name) {
    add_store<TensorForm{mode, rank, false, false, reduction}>(table, names, name);
  };
  reduce.template operator()<Reduction::add>(".add");
  reduce.template operator()<Reduction::min>(".min");
  reduce.template operator()<Reduction::max>(".max");
  reduce.template operator()<Reduction::inc>(".inc");
  reduce.template operator()<Reduction::dec>(".dec");
  reduce.template operator()<Reduction::bit_and>(".and");
  reduce.template operator()<Reduction::bit_or>(".or");
  reduce.template operator()<Reduction::bit_xor>(".xor");
}

template <std::uint8_t rank>
void add_rank(FormTable& table) {
  const std::string number = std::to_string(rank);
  TensorNames names{"." + number + "d", number + "w", "", ".tile", ".tile"};
  add_mode<TensorMode::tiled, rank>(table, names);
  names.loads = names.stores = "";  // as older versions of PTX write it
  add_mode<TensorMode::tiled, rank>(table, names);
  if constexpr (rank >= 3) {
    names.offsets = std::to_string(rank - 2) + "h";
    names.loads = ".im2col";
    names.stores = ".im2col_no_offs";
    add_mode<TensorMode::im2col, rank>(table, names);
  }
}

}  // namespace

void add_tensor_copies(FormTable& table) {
  add_rank<1>(table);
  add_rank<2>(table);
  add_rank<3>(table);
  add_rank<4>(table);
  add_rank<5>(table);
  for (const char* space : {"", ".param", ".const"}) {
    table.add({"prefetch", space, ".tensormap"}, "m", &nothing);
  }
}

}  // namespace cudacore::simulator
