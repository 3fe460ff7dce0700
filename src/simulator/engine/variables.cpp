// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/variables.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

/// How much shared memory a block may have without opting in at launch, which only dynamic memory
/// can do.
constexpr std::size_t most_static_shared = 48u << 10;
constexpr std::uint32_t dynamic_align = 16;
/// What cooperative groups expect: barriers, and a slot for each warp of the largest block.
constexpr std::uint32_t reserved_shared_bytes = 288;

std::uint64_t address_of(const ModuleLinker& linker, const LinkedVariable& variable,
                         const ptx::Relocation& relocation,
                         std::span<const std::unique_ptr<Function>> functions) {
  const LinkedSymbol symbol =
      linker.resolve(variable.module, relocation.symbol, variable.source->position);
  if (symbol.kind == LinkedSymbol::Kind::function) {
    return reinterpret_cast<std::uint64_t>(functions[symbol.index].get());
  }
  if (symbol.kind == LinkedSymbol::Kind::known) {
    throw load_error(LoadError::Kind::not_simulated, variable.source->position,
                     "pointers to '" + std::string(relocation.symbol) + "' are not simulated");
  }
  const LinkedVariable& target = linker.variables()[symbol.index];
  if (target.source->space == ptx::Space::shared) {
    throw load_error(
        LoadError::Kind::link, variable.source->position,
        "'" + std::string(relocation.symbol) + "' is shared memory: its address is not a constant");
  }
  return target.address;
}

void initialise(const ModuleLinker& linker, const LinkedVariable& variable,
                std::span<const std::unique_ptr<Function>> functions) {
  const ptx::Variable& source = *variable.source;
  if (!source.initial.empty()) {
    std::memcpy(variable.host, source.initial.data(), std::min(source.initial.size(), source.size));
  }
  for (const ptx::Relocation& relocation : source.relocations) {
    const std::uint64_t address = address_of(linker, variable, relocation, functions);
    const std::uint64_t value =
        (address + static_cast<std::uint64_t>(relocation.addend)) >> relocation.shift;
    if (relocation.offset + relocation.size > source.size) {
      throw load_error(LoadError::Kind::syntax, source.position, "an initial value is too long");
    }
    std::memcpy(variable.host + relocation.offset, &value, std::min(relocation.size, 8u));
  }
}

/// The used parts of a kernel's shared memory, in order.
class Taken {
 public:
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
  };

  /// The end of what overlaps [begin, end); nothing if the range is free.
  [[nodiscard]] std::optional<std::uint64_t> conflict(std::uint64_t begin,
                                                      std::uint64_t end) const {
    const auto next =
        std::upper_bound(pieces_.begin(), pieces_.end(), begin,
                         [](std::uint64_t value, const Piece& piece) { return value < piece.end; });
    if (next == pieces_.end() || next->begin >= end) return std::nullopt;
    return next->end;
  }
  void add(std::uint64_t begin, std::uint64_t end) {
    const auto at = std::upper_bound(
        pieces_.begin(), pieces_.end(), begin,
        [](std::uint64_t value, const Piece& piece) { return value < piece.begin; });
    pieces_.insert(at, {begin, end});
  }
  [[nodiscard]] std::uint64_t end() const {
    return pieces_.empty() ? shared_begin : pieces_.back().end;
  }

 private:
  std::vector<Piece> pieces_;
};

std::uint64_t place(std::span<const std::uint32_t> entries, std::vector<Taken>& taken,
                    std::uint64_t size, std::uint64_t align) {
  std::uint64_t begin = round_up(shared_begin, align);
  bool is_free = false;
  while (!is_free) {
    is_free = true;
    for (const std::uint32_t entry : entries) {
      const std::optional<std::uint64_t> end = taken[entry].conflict(begin, begin + size);
      if (!end) continue;
      begin = round_up(*end, align);
      is_free = false;
    }
  }
  for (const std::uint32_t entry : entries) taken[entry].add(begin, begin + size);
  return begin;
}

}  // namespace

void place_globals(ModuleLinker& linker, const Image::Allocate& allocate,
                   std::span<const std::unique_ptr<Function>> functions) {
  for (LinkedVariable& variable : linker.variables()) {
    const ptx::Variable& source = *variable.source;
    if (source.space == ptx::Space::shared || source.opaque) continue;
    const bool read_only = source.space == ptx::Space::constant;
    const std::optional<Allocation> allocation =
        allocate(std::max<std::size_t>(source.size, 1), source.align, read_only, source.managed);
    if (!allocation) {
      throw LoadError(LoadError::Kind::out_of_memory, "no memory for the variable '" +
                                                          std::string(source.name) + "' of " +
                                                          std::to_string(source.size) + " bytes");
    }
    variable.address = allocation->address;
    variable.host = allocation->host;
  }
  for (const LinkedVariable& variable : linker.variables()) {
    if (variable.host != nullptr) initialise(linker, variable, functions);
  }
}

SharedLayout::SharedLayout(ModuleLinker& linker, const CallGraph& graph, const Target& target)
    : bytes_(linker.functions().size()), dynamic_(linker.functions().size()) {
  std::vector<Taken> taken(bytes_.size());
  std::vector<std::uint32_t> aligns(bytes_.size(), 1);

  // Variables that are shared by the most kernels come first, so that they are close together.
  std::vector<std::uint32_t> order;
  const std::span<LinkedVariable> variables = linker.variables();
  for (std::uint32_t i = 0; i < variables.size(); ++i) {
    if (variables[i].source->space == ptx::Space::shared) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&graph](std::uint32_t a, std::uint32_t b) {
    return graph.reaching_variable(a).size() > graph.reaching_variable(b).size();
  });
  const std::size_t limit = std::min(target.max_shared_bytes, most_static_shared);
  for (const std::uint32_t index : order) {
    LinkedVariable& variable = variables[index];
    const std::span<const std::uint32_t> entries = graph.reaching_variable(index);
    const std::uint32_t align = std::max(variable.source->align, 1u);
    if (variable.dynamic) {
      for (const std::uint32_t entry : entries) {
        aligns[entry] = std::max({aligns[entry], align, dynamic_align});
      }
      continue;
    }
    if (variable.source->size > limit) {
      throw load_error(LoadError::Kind::too_large, variable.source->position,
                       "the shared variable '" + std::string(variable.source->name) + "' has " +
                           std::to_string(variable.source->size) + " bytes; a block may have " +
                           std::to_string(limit));
    }
    variable.address = place(entries, taken, variable.source->size, align);
  }

  if (const std::span<const std::uint32_t> entries = graph.reaching_reserved(); !entries.empty()) {
    reserved_begin_ =
        static_cast<std::uint32_t>(place(entries, taken, reserved_shared_bytes, dynamic_align));
  }

  for (std::uint32_t i = 0; i < bytes_.size(); ++i) {
    if (!linker.functions()[i].source->is_entry) continue;
    const std::uint64_t size = taken[i].end() - shared_begin;
    if (size > limit) {
      throw load_error(LoadError::Kind::too_large, linker.functions()[i].source->position,
                       "kernel '" + std::string(linker.functions()[i].source->name) + "' has " +
                           std::to_string(size) +
                           " bytes of static shared memory; a block may have " +
                           std::to_string(limit));
    }
    bytes_[i] = static_cast<std::uint32_t>(round_up(taken[i].end(), aligns[i])) - shared_begin;
  }
  for (std::uint32_t i = 0; i < dynamic_.size(); ++i) {
    const std::span<const std::uint32_t> entries = graph.reaching_function(i);
    if (entries.empty()) continue;
    dynamic_[i] = shared_begin + bytes_[entries.front()];
    for (const std::uint32_t entry : entries) {
      if (shared_begin + bytes_[entry] != dynamic_[i]) dynamic_[i] = 0;
    }
  }
}

}  // namespace cudacore::simulator
