// SPDX-License-Identifier: Apache-2.0
#include "tile/layout_graph.hpp"

#include <deque>
#include <utility>

#include "tile/operations.hpp"

namespace cudacore::tile {
namespace {

std::vector<int> inverse(const std::vector<int>& map) {
  std::vector<int> result(map.size());
  for (std::size_t i = 0; i < map.size(); ++i)
    result[static_cast<std::size_t>(map[i])] = static_cast<int>(i);
  return result;
}

// The terminators of one name that belong to a loop, those within its ifs included.
void collect(Region& region, std::string_view name, std::vector<Operation*>& found) {
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    if (operation->is(name)) found.push_back(operation.get());
    if (operation->is("if"))
      for (const std::unique_ptr<Region>& inner : operation->regions) collect(*inner, name, found);
  }
}

// For the bits of cat's operands: those of its result. The bit that says which operand is the last.
std::vector<int> cat_bits(const Operation& cat) {
  const Type& operand = cat.operand(0)->type;
  const auto [first, count] = axis_bits(operand, axis_of(cat));
  std::vector<int> map;
  for (int bit = 0; bit < operand.index_bits(); ++bit)
    map.push_back(bit < first + count ? bit : bit + 1);
  map.push_back(first + count);
  return map;
}

}  // namespace

void LayoutGraph::same(Value* a, Value* b) {
  if (a == nullptr || b == nullptr || !a->type.is_tile() || !b->type.is_tile()) return;
  if (a->shared || b->shared) return;
  edges_[a].push_back({b, {}, true});
  edges_[b].push_back({a, {}, true});
}

void LayoutGraph::one_way(Value* from, Value* to, std::vector<int> map) {
  if (from->type.is_tile() && to->type.is_tile() && !from->shared && !to->shared)
    edges_[from].push_back({to, std::move(map), false});
}

void LayoutGraph::add_carried(const Operation& operation) {
  if (operation.is("if")) {
    for (const std::unique_ptr<Region>& region : operation.regions)
      if (!region->operations.empty() && region->operations.back()->is("yield"))
        for (std::size_t i = 0; i < operation.results.size(); ++i)
          same(operation.results[i], region->operations.back()->operand(i));
    return;
  }
  Region& body = operation.region(0);
  const std::size_t first = operation.is("for") ? 1 : 0;
  const std::vector<Operand>& initial = operation.group("iter");
  std::vector<Operation*> ends;
  collect(body, "continue", ends);
  collect(body, "break", ends);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    Value* const carried = body.arguments[first + i];
    same(carried, operation.results[i]);
    for (const Operation* const end : ends) same(carried, end->operand(i));
    same(carried, initial[i].value);
  }
}

void LayoutGraph::add(const Operation& operation) {
  if (operation.is("for") || operation.is("loop") || operation.is("if")) {
    add_carried(operation);
  } else if (is_elementwise(operation) || operation.is("reshape") || operation.is("scan") ||
             operation.is("load_at") || operation.is("atomic") || operation.is("atomic_cas") ||
             operation.is("store_at")) {
    std::vector<Value*> tiles;
    for (const Operand& operand : operation.operands) tiles.push_back(operand.value);
    for (const auto& [key, members] : operation.groups)
      for (const Operand& operand : members) tiles.push_back(operand.value);
    for (Value* const result : operation.results) tiles.push_back(result);
    Value* first = nullptr;
    for (Value* const tile : tiles) {
      if (tile == nullptr || !tile->type.is_tile()) continue;
      if (first != nullptr) same(first, tile);
      if (first == nullptr) first = tile;
    }
  } else if (operation.is("permute")) {
    const std::vector<int> map = permuted_bits(operation);
    one_way(operation.operand(0), operation.result(), map);
    one_way(operation.result(), operation.operand(0), inverse(map));
  } else if (operation.is("broadcast")) {
    Value* const operand = operation.operand(0);
    if (operand != nullptr && operand->type.is_tile())
      one_way(operation.result(), operand, broadcast_bits(operation.result()->type, operand->type));
  } else if (operation.is("reduce")) {
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
      same(operation.operand(0), operation.operand(i));
      one_way(operation.operand(i), operation.results[i],
              without_axis(operation.operand(i)->type, axis_of(operation)));
    }
  } else if (operation.is("insert")) {
    Value* const tile = operation.operand(0);
    Value* const block = operation.operand(1);
    same(tile, operation.result());
    one_way(operation.result(), block, block_bits(tile->type, block->type));
  } else if (operation.is("mma")) {
    same(operation.operand(2), operation.result());
  }
}

LayoutGraph::LayoutGraph(Kernel& kernel) {
  for_each_operation(kernel.body, [this](const Operation& operation) { add(operation); });
}

void LayoutGraph::assign(Value* value, const Layout& layout,
                         const std::function<bool(const Value&, const Layout&)>& accept) {
  if (!value->layout.empty()) return;
  value->layout = layout;
  propagate(value, accept);
}

void LayoutGraph::propagate(Value* value,
                            const std::function<bool(const Value&, const Layout&)>& accept) {
  std::deque<Value*> waiting = {value};
  while (!waiting.empty()) {
    Value* const from = waiting.front();
    waiting.pop_front();
    for (const Edge& edge : edges_[from]) {
      if (!edge.to->layout.empty()) continue;
      Layout next = edge.same ? from->layout : mapped(from->layout, edge.map);
      if (!accept(*edge.to, next)) continue;
      edge.to->layout = std::move(next);
      waiting.push_back(edge.to);
    }
  }
}

Layout natural_layout(const Operation& operation) {
  const Value* const first = operation.operands.empty() ? nullptr : operation.operand(0);
  if (first == nullptr || !first->type.is_tile() || first->shared) return {};
  if (operation.is("reshape") || operation.is("scan") || operation.is("insert"))
    return first->layout;
  if (operation.is("permute")) return mapped(first->layout, permuted_bits(operation));
  if (operation.is("reduce"))
    return mapped(first->layout, without_axis(first->type, axis_of(operation)));
  if (operation.is("cat")) {
    const std::vector<int> map = cat_bits(operation);
    Layout layout = mapped(first->layout, map);
    layout.registers.push_back(map.back());
    return layout;
  }
  if (operation.is("extract")) {
    // A block that differs from its tile in registers alone is taken from these.
    for (const Operand& index : operation.group("index"))
      if (index.value != nullptr) return {};
    const std::vector<int> map = block_bits(first->type, operation.result()->type);
    for (int bit = 0; bit < static_cast<int>(map.size()); ++bit)
      if (map[static_cast<std::size_t>(bit)] < 0 && first->layout.register_of(bit) < 0) return {};
    return mapped(first->layout, map);
  }
  if (operation.is("pack") || operation.is("unpack")) {
    // One of both has several elements for one of the other's; these are in registers.
    const int from = bits(first->type.element);
    const int to = bits(operation.result()->type.element);
    const int shift = from > to ? log2(from / to) : -log2(to / from);
    Layout layout = first->layout;
    const auto move = [&](std::vector<int>& places) {
      for (int& bit : places)
        if (bit >= 0) bit += shift;
    };
    move(layout.registers);
    move(layout.lanes);
    move(layout.warps);
    if (shift < 0) std::erase_if(layout.registers, [](int bit) { return bit < 0; });
    for (int bit = 0; bit < shift; ++bit)
      layout.registers.insert(layout.registers.begin() + bit, bit);
    return layout;
  }
  return {};
}

}  // namespace cudacore::tile
