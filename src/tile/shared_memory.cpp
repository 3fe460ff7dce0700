// SPDX-License-Identifier: Apache-2.0
#include "tile/shared_memory.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tile/exchange.hpp"
#include "tile/layout_graph.hpp"
#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

constexpr std::int64_t alignment = 128;

std::int64_t aligned(std::int64_t n) { return (n + alignment - 1) / alignment * alignment; }

std::int64_t tile_bytes(const Type& type) { return type.size() * bytes(type.element); }

// What an operation of the text itself needs while it runs.
std::int64_t needed(const Operation& operation) {
  if (operation.is("convert")) {
    const Value& from = *operation.operand(0);
    return exchange(from.layout, operation.result()->layout) == Exchange::rename
               ? 0
               : tile_bytes(from.type);
  }
  if (operation.is("reduce") || operation.is("scan")) {
    if (!crosses_warps(operation)) return 0;
    std::int64_t total = 0;
    const Value& tile = *operation.operand(0);
    const std::int64_t rows =
        tile.type.size() / tile.type.shape[axis_of(operation)] * axis_warps(operation);
    for (const Operand& operand : operation.operands)
      total += (rows * bytes(operand.value->type.element) + 15) / 16 * 16;
    return total;
  }
  if ((operation.is("atomic") || operation.is("atomic_cas")) && !operation.results.empty()) {
    const Type& type = operation.result()->type;
    const bool is_told = !type.is_tile() || operation.result()->layout.is_replicated();
    return is_told ? tile_bytes(type) : 0;
  }
  if (operation.is("extract"))
    return natural_layout(operation).empty() ? tile_bytes(operation.operand(0)->type) : 0;
  if (operation.is("print")) {
    std::int64_t most = 0;
    for (const Operand& operand : operation.operands)
      if (operand.value != nullptr && operand.value->type.is_tile())
        most = std::max(most, tile_bytes(operand.value->type));
    return most;
  }
  return operation.scratch_bytes;
}

class Allocator {
 public:
  Allocator(Kernel& kernel, const Target& target) : kernel_(kernel), target_(target) {}

  std::int64_t run() {
    for_each_operation(kernel_.body, [&](Operation& operation) {
      operation.scratch_bytes = needed(operation);
      if (is_small(operation)) slot_ = std::max(slot_, aligned(operation.scratch_bytes));
    });
    region(kernel_.body, 0);
    return total_;
  }

 private:
  static bool is_small(const Operation& operation) {
    return operation.is("reduce") || operation.is("scan");
  }

  void claim(const Operation& operation, std::int64_t begin, std::int64_t size, const Type& type) {
    total_ = std::max(total_, begin + size);
    if (begin + size > target_.shared_limit)
      throw kernel_.error(operation.location,
                          user(operation, type) + std::to_string(size) +
                              " bytes of shared memory, " + std::to_string(begin + size) +
                              " bytes with what else is in use, but a block has at most " +
                              std::to_string(target_.shared_limit));
  }

  // Who needs memory, for a message that goes on with how much.
  std::string user(const Operation& operation, const Type& type) {
    if (!operation.is("pipeline"))
      return "'" + operation.name + "' of a tile of " + to_string(type) + " needs ";
    std::string tiles;
    for_each_operation(kernel_.body, [&](const Operation& staged) {
      if (staged.is("staged") && staged.operand(0) == operation.result())
        tiles += (tiles.empty() ? "" : " and ") + to_string(staged.result()->type);
    });
    return "the tiles " + tiles + ", which a loop loads ahead, need ";
  }

  // A shared value, from its definition to its last use in the region that defines it.
  struct Living {
    std::int64_t end = 0;
    std::size_t last_use = 0;
  };

  static std::map<const Value*, std::size_t> last_uses(const Region& region) {
    std::map<const Value*, std::size_t> last;
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
      const auto use = [&](const Operand& operand) {
        if (operand.value != nullptr && operand.value->shared) last[operand.value] = i;
      };
      Operation& operation = *region.operations[i];
      for_each_operand(operation, use);
      for (const std::unique_ptr<Region>& inner : operation.regions)
        for_each_operation(*inner, [&](Operation& within) { for_each_operand(within, use); });
    }
    return last;
  }

  void region(const Region& region, const std::int64_t outer) {
    const std::map<const Value*, std::size_t> last = last_uses(region);
    std::vector<Living> living;
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
      Operation& operation = *region.operations[i];
      std::erase_if(living, [&](const Living& value) { return value.last_use < i; });
      std::int64_t top = outer;
      for (const Living& value : living) top = std::max(top, value.end);
      for (Value* const result : operation.results) {
        if (!result->shared) continue;
        result->shared_offset = top;
        claim(operation, top, result->shared_bytes, result->type);
        top = aligned(top + result->shared_bytes);
        const auto found = last.find(result);
        living.push_back({top, found == last.end() ? i : found->second});
      }
      place_scratch(operation, top);
      if (!operation.is("reduce") && !operation.is("scan"))
        for (const std::unique_ptr<Region>& inner : operation.regions) this->region(*inner, top);
    }
  }

  void place_scratch(Operation& operation, std::int64_t top) {
    if (operation.scratch_bytes == 0) return;
    operation.scratch_offset = top;
    if (is_small(operation)) {
      // Small pieces take turns, so that the next need not wait until the last was read.
      operation.scratch_offset += odd_ ? slot_ : 0;
      odd_ = !odd_;
    } else {
      operation.scratch_offset += 2 * slot_;
    }
    const bool has_operand = !operation.operands.empty() && operation.operands[0].value != nullptr;
    claim(operation, operation.scratch_offset, operation.scratch_bytes,
          has_operand ? operation.operands[0].value->type : Type{});
  }

  Kernel& kernel_;
  const Target& target_;
  std::int64_t total_ = 0;
  std::int64_t slot_ = 0;
  bool odd_ = false;
};

}  // namespace

std::int64_t allocate_shared(Kernel& kernel, const Target& target) {
  return Allocator(kernel, target).run();
}

}  // namespace cudacore::tile
