// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::uint32_t first_mask = sink_mask + sizeof(std::uint32_t);
constexpr std::size_t row_align = 64;

std::size_t class_of(unsigned width) noexcept {
  return static_cast<std::size_t>(std::bit_width(width));
}
std::uint32_t bytes_of(std::size_t size_class) noexcept {
  return size_class == 0 ? std::uint32_t{sizeof(std::uint32_t)} : warp_size << (size_class - 1);
}
/// Lists of registers, by the instruction at which something happens to them.
class Schedule {
 public:
  Schedule(std::size_t positions, std::size_t registers)
      : first_(positions, none), next_(registers, none) {}

  void add(std::uint32_t position, std::uint32_t reg) {
    next_[reg] = first_[position];
    first_[position] = reg;
  }
  template <typename Each>
  void for_each(std::size_t position, Each each) const {
    for (std::uint32_t reg = first_[position]; reg != none; reg = next_[reg]) each(reg);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> next_;
};

}  // namespace

Rows::Rows(std::span<const ptx::Register> registers, std::span<const Life> lives,
           std::size_t instructions)
    : offsets_(registers.size(), 0) {
  const std::size_t positions = instructions + 1;
  Schedule begins(positions, registers.size());
  Schedule ends(positions, registers.size());
  for (std::uint32_t i = 0; i < registers.size(); ++i) {
    if (!lives[i].is_used()) continue;
    begins.add(lives[i].begin, i);
    ends.add(lives[i].end, i);
  }

  // First, the number of each register's row among those of its class. Once the sizes of the
  // classes are known, its offset.
  std::array<std::vector<std::uint32_t>, classes> free;
  std::array<std::uint32_t, classes> counts{};
  std::uint32_t words = 0;
  const auto class_at = [&](std::uint32_t reg) {
    return class_of(ptx::size_of(registers[reg].type));
  };
  const auto words_at = [&](std::uint32_t reg) {
    return (ptx::size_of(registers[reg].type) + 3) / 4;
  };
  for (std::size_t at = 0; at < positions; ++at) {
    if (at != 0) {
      ends.for_each(at - 1, [&](std::uint32_t reg) {
        free[class_at(reg)].push_back(offsets_[reg]);
        words -= words_at(reg);
      });
    }
    begins.for_each(at, [&](std::uint32_t reg) {
      const std::size_t size_class = class_at(reg);
      if (free[size_class].empty()) {
        offsets_[reg] = counts[size_class]++;
      } else {
        offsets_[reg] = free[size_class].back();
        free[size_class].pop_back();
      }
      words += words_at(reg);
      pressure_ = std::max(pressure_, words);
    });
  }

  std::array<std::uint64_t, classes> begin{};
  begin[0] = first_mask;
  sink_ = static_cast<std::uint32_t>(
      round_up(first_mask + std::uint64_t{counts[0]} * bytes_of(0), row_align));
  end_ = sink_ + sink_bytes;
  for (std::size_t i = 1; i < classes; ++i) {
    begin[i] = end_;
    end_ = round_up(end_ + std::uint64_t{counts[i]} * bytes_of(i), row_align);
  }
  for (std::uint32_t i = 0; i < registers.size(); ++i) {
    const std::size_t size_class = class_at(i);
    offsets_[i] = static_cast<std::uint32_t>(begin[size_class] +
                                             std::uint64_t{offsets_[i]} * bytes_of(size_class));
  }
}

std::uint32_t Rows::reserve(std::size_t bytes) {
  const std::uint64_t at = end_;
  end_ = round_up(end_ + bytes, row_align);
  return static_cast<std::uint32_t>(at);
}

std::uint32_t Rows::add(std::size_t bytes) {
  const std::size_t at = round_up(constants_.size(), std::min(bytes, row_align));
  constants_.resize(at + bytes);
  return static_cast<std::uint32_t>(end_ + at);
}

std::uint32_t Rows::constant(unsigned width, std::uint64_t value) {
  if (width < 8) value &= (std::uint64_t{1} << (width * 8)) - 1;
  const std::size_t size_class = class_of(width);
  const auto [known, is_new] = known_[size_class].try_emplace(value, 0);
  if (!is_new) return known->second;
  const std::uint32_t offset = add(bytes_of(size_class));
  known->second = offset;
  std::byte* const row = constants_.data() + (offset - end_);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    std::memcpy(row + std::size_t{lane} * width, &value, std::min(width, 8u));
  }
  return offset;
}

std::uint32_t Rows::mask(bool value) {
  if (value) return true_mask;
  const auto [known, is_new] = known_[0].try_emplace(0, 0);
  if (is_new) known->second = add(sizeof(std::uint32_t));
  return known->second;
}

std::uint32_t Rows::take_temporary(std::size_t size_class, std::size_t bytes) {
  std::vector<std::uint32_t>& rows = temporaries_[size_class];
  const std::uint32_t index = used_[size_class]++;
  if (index == rows.size()) rows.push_back(add(bytes));
  return rows[index];
}

std::uint32_t Rows::temporary(unsigned width) {
  const std::size_t size_class = class_of(width);
  return take_temporary(size_class, bytes_of(size_class));
}

std::uint32_t Rows::temporary_mask() { return take_temporary(0, sizeof(std::uint32_t)); }

std::uint32_t Rows::constants_begin() const { return static_cast<std::uint32_t>(end_); }

std::uint32_t Rows::frame_bytes() {
  const std::uint64_t bytes = round_up(end_ + constants_.size(), row_align);
  if (bytes > all_lanes) {
    throw LoadError(LoadError::Kind::too_large, "a function's registers take more than 4 GiB");
  }
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace cudacore::simulator
