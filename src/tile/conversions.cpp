// SPDX-License-Identifier: Apache-2.0
#include "tile/conversions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tile/assign_layouts.hpp"
#include "tile/layout_graph.hpp"
#include "tile/operations.hpp"
#include "tile/scan_layout.hpp"

namespace cudacore::tile {
namespace {

class Inserter {
 public:
  Inserter(Kernel& kernel, const Target& target, const Lowering& lowering)
      : kernel_(kernel), target_(target), lowering_(lowering) {
    // The whole kernel says what suits its stores, before it is taken apart.
    for_each_operation(kernel.body, [&](const Operation& operation) {
      if (operation.is("store") && operation.operand(1)->type.is_tile())
        memory_layouts_[&operation] = memory_layout(operation, kernel, target);
    });
  }

  void region(Region& region) {
    std::vector<std::unique_ptr<Operation>> before = std::move(region.operations);
    region.operations.clear();
    Region* const outer = region_;
    known_.emplace_back();
    for (std::unique_ptr<Operation>& operation : before) {
      region_ = &region;
      current_ = operation.get();
      convert_operands(*operation);
      follow(*operation);
      // A loop's arguments are what its initial values were converted to.
      Operation& placed = *operation;
      if (!placed.is("reduce") && !placed.is("scan")) {
        for (const std::unique_ptr<Region>& inner : placed.regions) {
          owners_.push_back(&placed);
          this->region(*inner);
          owners_.pop_back();
        }
      }
      region_ = &region;
      region.operations.push_back(std::move(operation));
    }
    known_.pop_back();
    region_ = outer;
  }

 private:
  void want(Operand& operand, const Layout& layout) {
    if (operand.value != nullptr && operand.value->type.is_tile() && !operand.value->shared &&
        !layout.empty())
      operand.value = converted(operand.value, layout);
  }

  void want_all(Operation& operation, const Layout& layout) {
    for_each_operand(operation, [&](Operand& operand) { want(operand, layout); });
  }

  void convert_operands(Operation& operation) {
    if (const auto wanted = lowering_.layouts(operation, target_)) {
      for (std::size_t i = 0; i < operation.operands.size() && i < wanted->operands.size(); ++i)
        want(operation.operands[i], wanted->operands[i]);
      return;
    }
    if (is_elementwise(operation) || operation.is("load_at")) {
      want_all(operation, operation.result()->layout);
    } else if (operation.is("store_at")) {
      want_all(operation, operation.operand(2)->layout);
    } else if (operation.is("atomic") || operation.is("atomic_cas")) {
      want_all(operation, operation.results.empty() ? operation.operand(1)->layout
                                                    : operation.result()->layout);
    } else if (operation.is("broadcast")) {
      const Value* const operand = operation.operand(0);
      if (operand != nullptr && operand->type.is_tile())
        want(operation.operands[0],
             mapped(operation.result()->layout,
                    broadcast_bits(operation.result()->type, operand->type)));
    } else if (operation.is("store")) {
      const Value* const tile = operation.operand(1);
      if (tile->type.is_tile() && !is_coalesced(operation, tile->layout))
        want(operation.operands[1], memory_layouts_.at(&operation));
    } else if (operation.is("scan") || (operation.is("reduce") && !commutes(operation))) {
      const Value* const tile = operation.operand(0);
      const Layout layout = scan_layout(tile->type, axis_of(operation), tile->layout, target_);
      for (Operand& operand : operation.operands) want(operand, layout);
    } else if (operation.is("reduce") || operation.is("cat")) {
      const Layout layout = operation.operand(0)->layout;
      for (Operand& operand : operation.operands) want(operand, layout);
    } else if (operation.is("insert")) {
      const Value* const tile = operation.operand(0);
      want(operation.operands[1],
           mapped(tile->layout, block_bits(tile->type, operation.operand(1)->type)));
    } else if (operation.is("pack") || operation.is("unpack")) {
      convert_packed(operation);
    } else if (operation.is("for") || operation.is("loop")) {
      const std::size_t first = operation.is("for") ? 1 : 0;
      std::vector<Operand>& initial = operation.groups["iter"];
      for (std::size_t i = 0; i < initial.size(); ++i) {
        const Layout& layout = operation.region(0).arguments[first + i]->layout;
        want(initial[i], layout);
        operation.results[i]->layout = layout;
      }
    } else if (operation.is("continue") || operation.is("break") || operation.is("yield")) {
      end_region(operation);
    }
  }

  // The layouts of what leaves a region are those of the values that it is given to.
  void end_region(Operation& operation) {
    const bool ends_loop = !operation.is("yield");
    const Operation* const owner =
        *std::find_if(owners_.rbegin(), owners_.rend(),
                      [&](const Operation* each) { return !ends_loop || !each->is("if"); });
    for (std::size_t i = 0; i < operation.operands.size(); ++i)
      want(operation.operands[i], owner->results[i]->layout);
  }

  // The elements that share one of the other type are in neighboring registers.
  void convert_packed(Operation& operation) {
    const Type& type = operation.operand(0)->type;
    const int to = bits(operation.result()->type.element);
    const int from = bits(type.element);
    if (to <= from) return;
    const int count = log2(to / from);
    const Layout& layout = operation.operand(0)->layout;
    bool fits = true;
    for (int bit = 0; bit < count; ++bit)
      fits = fits && static_cast<int>(layout.registers.size()) > bit &&
             layout.registers[static_cast<std::size_t>(bit)] == bit;
    if (fits) return;
    std::vector<int> order;
    for (int bit = 0; bit < type.index_bits(); ++bit) order.push_back(bit);
    want(operation.operands[0], blocked(order, count, log2(target_.warps)));
  }

  // Results whose layouts follow from the operands'.
  static void follow(Operation& operation) {
    const Layout layout = natural_layout(operation);
    if (layout.empty()) return;
    for (Value* const result : operation.results) result->layout = layout;
  }

  Value* converted(Value* value, const Layout& layout) {
    if (value->layout == layout) return value;
    const auto key = std::make_pair(value, to_string(layout));
    for (const auto& known : known_)
      if (const auto found = known.find(key); found != known.end()) return found->second;
    Value* const result =
        again(value, layout, 0) ? recomputed(value, layout) : moved(value, layout);
    known_.back()[key] = result;
    return result;
  }

  // Whether computing a tile in another layout costs less than moving its elements.
  static bool again(const Value* value, const Layout& layout, int depth) {
    const Operation* const source = value->source;
    if (source == nullptr || depth > 6) return false;
    if (source->is("const") || source->is("iota")) return true;
    if (source->is("broadcast")) return true;
    if (!is_elementwise(*source) || source->is("call")) return false;
    return std::all_of(source->operands.begin(), source->operands.end(),
                       [&](const Operand& operand) {
                         return operand.value == nullptr || !operand.value->type.is_tile() ||
                                again(operand.value, layout, depth + 1);
                       });
  }

  Value* recomputed(const Value* value, const Layout& layout) {
    const Operation& source = *value->source;
    auto copy = std::make_unique<Operation>();
    copy->name = source.name;
    copy->operands = source.operands;
    copy->attributes = source.attributes;
    copy->location = source.location;
    Value* const result = kernel_.add_value(value->type);
    result->layout = layout;
    result->source = copy.get();
    result->divisor = value->divisor;
    copy->results.push_back(result);
    convert_operands(*copy);
    region_->operations.push_back(std::move(copy));
    return result;
  }

  Value* moved(Value* value, const Layout& layout) {
    auto convert = std::make_unique<Operation>();
    convert->name = "convert";
    convert->operands.push_back({value, 0});
    convert->location = current_->location;
    Value* const result = kernel_.add_value(value->type);
    result->layout = layout;
    result->source = convert.get();
    result->divisor = value->divisor;
    convert->results.push_back(result);
    region_->operations.push_back(std::move(convert));
    return result;
  }

  Kernel& kernel_;
  const Target& target_;
  const Lowering& lowering_;
  std::map<const Operation*, Layout> memory_layouts_;  // of stores
  Region* region_ = nullptr;
  Operation* current_ = nullptr;
  std::vector<Operation*> owners_;
  std::vector<std::map<std::pair<Value*, std::string>, Value*>> known_;
};

bool remove_unused(Region& region, Uses& uses) {
  bool removed = false;
  for (std::size_t i = region.operations.size(); i-- > 0;) {
    Operation& operation = *region.operations[i];
    for (const std::unique_ptr<Region>& inner : operation.regions)
      if (!operation.is("reduce") && !operation.is("scan")) removed |= remove_unused(*inner, uses);
    const bool used = std::any_of(operation.results.begin(), operation.results.end(),
                                  [&](const Value* result) { return uses[result] > 0; });
    const bool load = operation.is("load") || operation.is("load_at");
    if (used || (!is_pure(operation) && !(load && operation.word("mem", "weak") == "weak")))
      continue;
    for_each_operand(operation, [&](const Operand& operand) {
      if (operand.value != nullptr) --uses[operand.value];
    });
    region.operations.erase(region.operations.begin() + static_cast<std::ptrdiff_t>(i));
    removed = true;
  }
  return removed;
}

}  // namespace

void insert_conversions(Kernel& kernel, const Target& target, const Lowering& lowering) {
  Inserter(kernel, target, lowering).region(kernel.body);
}

void remove_unused(Kernel& kernel) {
  Uses uses = count_uses(kernel);
  while (remove_unused(kernel.body, uses)) {
  }
}

}  // namespace cudacore::tile
