// SPDX-License-Identifier: Apache-2.0
#include "tile/pipeline.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "tile/matrix_product.hpp"
#include "tile/operand_source.hpp"
#include "tile/operations.hpp"
#include "tile/pointer_root.hpp"

namespace cudacore::tile {
namespace {

struct Fed {
  Operation* mma = nullptr;
  std::size_t operand = 0;
  OperandSource source;
};

void set(Operation& operation, const char* key, std::int64_t value) {
  operation.attributes[key] = Attribute{value};
}

class LoopPipeliner {
 public:
  LoopPipeliner(Kernel& kernel, int architecture, int warps)
      : kernel_(kernel), architecture_(architecture), warps_(warps) {}

  void region(Region& region) {
    for (std::size_t i = 0; i < region.operations.size(); ++i) {
      Operation& operation = *region.operations[i];
      for (const std::unique_ptr<Region>& inner : operation.regions)
        if (!operation.is("reduce") && !operation.is("scan")) this->region(*inner);
      if (operation.is("for")) i += loop(region, i);
    }
  }

 private:
  // Whether a load of an iteration may be done before the iterations ahead of it have ended.
  static bool may_load_early(const Operation& load, Region& body) {
    if (pointer_root(load.operand(0)).pointee) return false;
    bool may = true;
    for_each_operation(body, [&](const Operation& other) {
      if (other.is("break") || other.is("return") || other.is("grid_wait")) may = false;
      const std::string order = other.word("mem", "weak");
      if (order == "acquire" || order == "acq_rel") may = false;
    });
    return may && !is_written(load, body);
  }

  // Whether operations of a region write to what a load reads.
  static bool is_written(const Operation& load, Region& region) {
    const Root root = pointer_root(load.operand(0));
    bool written = false;
    for_each_operation(region, [&](const Operation& other) {
      if (!writes_memory(other)) return;
      const Root target = pointer_root(other.operand(0));
      // Pointers that were read from memory may point anywhere.
      if (target == root || root.pointee || target.pointee) written = true;
    });
    return written;
  }

  // Whether the addresses of a load follow from the loop's variable and what is known before it.
  bool collect(const Operand& operand, const Region& body,
               std::vector<const Operation*>& needed) const {
    if (operand.value == nullptr || !inside_.contains(operand.value)) return true;
    if (operand.value == body.arguments[0]) return true;
    const Operation* const source = operand.value->source;
    if (source == nullptr || operand.value->type.is_tile() || !is_pure(*source) ||
        !source->regions.empty())
      return false;
    if (std::find(needed.begin(), needed.end(), source) != needed.end()) return true;
    for (const Operand& inner : source->operands)
      if (!collect(inner, body, needed)) return false;
    for (const auto& [key, members] : source->groups)
      for (const Operand& inner : members)
        if (!collect(inner, body, needed)) return false;
    needed.push_back(source);
    return true;
  }

  bool collect_address(const Operation& load, const Region& body,
                       std::vector<const Operation*>& needed) const {
    std::vector<const Operation*> found = needed;
    for (const Operand& operand : load.operands)
      if (!collect(operand, body, found)) return false;
    for (const auto& [key, members] : load.groups)
      for (const Operand& operand : members)
        if (!collect(operand, body, found)) return false;
    needed = std::move(found);
    return true;
  }

  // Rewrites the loop that is operation `at`; returns how many operations were put before it.
  std::size_t loop(Region& region, std::size_t at) {
    Operation& loop = *region.operations[at];
    Region& body = loop.region(0);
    inside_.clear();
    for (Value* const argument : body.arguments) inside_.insert(argument);
    std::unordered_set<const Operation*> direct;
    for (const auto& operation : body.operations) direct.insert(operation.get());
    std::vector<Operation*> products;
    for_each_operation(body, [&](Operation& operation) {
      for (Value* const result : operation.results) inside_.insert(result);
      if (operation.is("mma")) products.push_back(&operation);
    });
    if (products.empty()) return 0;
    const Uses uses = count_uses(kernel_);
    std::vector<Fed> ring;
    std::vector<Fed> once;
    std::vector<const Operation*> needed;
    for (Operation* const mma : products) {
      for (std::size_t operand = 0; operand < 2; ++operand) {
        if (mma->operand(operand)->shared) continue;
        const bool inside = inside_.contains(mma->operand(operand));
        if (!inside && operand == 0 && mma->integer("held") != 0) continue;
        std::optional<OperandSource> source = operand_source(*mma, operand, uses);
        if (!source) continue;
        const MatrixProduct product =
            matrix_product(*mma, architecture_, warps_, mma->integer("chained") != 0);
        source->stage.swizzled = product.unit != Unit::elements;
        if (!inside) {
          if (!is_written(*source->load, kernel_.body)) once.push_back({mma, operand, *source});
        } else if (direct.contains(source->load) && may_load_early(*source->load, body) &&
                   collect_address(*source->load, body, needed)) {
          ring.push_back({mma, operand, *source});
        }
      }
    }
    if (ring.empty()) return 0;
    return rewrite(region, at, ring, once, needed);
  }

  static std::unique_ptr<Operation> fetch_of(const OperandSource& source, const char* name) {
    auto fetch = std::make_unique<Operation>();
    fetch->name = name;
    fetch->operands = source.load->operands;
    fetch->groups = source.load->groups;
    fetch->attributes = source.load->attributes;
    fetch->location = source.load->location;
    source.stage.describe(*fetch);
    set(*fetch, "batch_axis", source.batch_axis);
    set(*fetch, "row_axis", source.row_axis);
    set(*fetch, "column_axis", source.column_axis);
    set(*fetch, "chunk", source.chunk);
    set(*fetch, "whole", source.whole ? 1 : 0);
    return fetch;
  }

  Value* shared_result(Operation& operation, const Type& type, std::int64_t size) {
    Value* const value = kernel_.add_value(type);
    value->source = &operation;
    value->shared = true;
    value->shared_bytes = size;
    operation.results.push_back(value);
    return value;
  }

  std::size_t rewrite(Region& region, std::size_t at, std::vector<Fed>& ring,
                      std::vector<Fed>& once, const std::vector<const Operation*>& needed) {
    Operation& loop = *region.operations[at];
    Region& body = loop.region(0);
    const std::int64_t number = rings_++;
    std::vector<std::unique_ptr<Operation>> before;
    for (Fed& fed : once) {
      auto stage = fetch_of(fed.source, "stage_once");
      fed.mma->operands[fed.operand].value =
          shared_result(*stage, fed.mma->operand(fed.operand)->type, fed.source.stage.bytes());
      before.push_back(std::move(stage));
    }
    auto pipeline = std::make_unique<Operation>();
    pipeline->name = "pipeline";
    pipeline->operands = loop.operands;
    pipeline->location = loop.location;
    set(*pipeline, "ring", number);
    auto fetches = std::make_unique<Region>();
    fetches->parent = pipeline.get();
    std::map<const Value*, Value*> copies;
    Value* const variable = kernel_.add_value(body.arguments[0]->type);
    variable->region = fetches.get();
    variable->divisor = body.arguments[0]->divisor;
    fetches->arguments.push_back(variable);
    copies[body.arguments[0]] = variable;
    const auto renamed = [&](Operand& operand) {
      if (const auto found = copies.find(operand.value); found != copies.end())
        operand.value = found->second;
    };
    for (const Operation* const source : needed) {
      auto copy = std::make_unique<Operation>();
      copy->name = source->name;
      copy->operands = source->operands;
      copy->groups = source->groups;
      copy->attributes = source->attributes;
      copy->location = source->location;
      for_each_operand(*copy, renamed);
      for (const Value* const result : source->results) {
        Value* const value = kernel_.add_value(result->type);
        value->source = copy.get();
        value->divisor = result->divisor;
        copy->results.push_back(value);
        copies[result] = value;
      }
      fetches->operations.push_back(std::move(copy));
    }
    Value* const memory = shared_result(*pipeline, Type{Element::u8, {1}, false}, 0);
    std::vector<std::unique_ptr<Operation>> staged;
    std::int64_t slot = 0;
    const bool is_chained = std::any_of(
        ring.begin(), ring.end(), [](const Fed& fed) { return fed.mma->integer("chained") != 0; });
    for (Fed& fed : ring) {
      fed.source.stage.in_ring = true;
      fed.source.stage.ring = number;
      fed.source.stage.offset = slot;
      slot += fed.source.stage.bytes();
      auto fetch = fetch_of(fed.source, "fetch");
      // Where registers are scarce, addresses are computed again.
      set(*fetch, "again", is_chained ? 1 : 0);
      for_each_operand(*fetch, renamed);
      fetches->operations.push_back(std::move(fetch));
      auto tile = std::make_unique<Operation>();
      tile->name = "staged";
      tile->operands.push_back({memory, 0});
      tile->location = fed.source.load->location;
      fed.source.stage.describe(*tile);
      fed.mma->operands[fed.operand].value =
          shared_result(*tile, fed.mma->operand(fed.operand)->type, 0);
      staged.push_back(std::move(tile));
    }
    pipeline->regions.push_back(std::move(fetches));
    set(*pipeline, "slot_bytes", slot);
    auto arrive = std::make_unique<Operation>();
    arrive->name = "arrive";
    arrive->location = loop.location;
    // The loop's bounds, and its variable, from which the fetches ahead follow.
    arrive->operands = loop.operands;
    arrive->operands.push_back({body.arguments[0], 0});
    arrive->operands.push_back({memory, 0});
    staged.insert(staged.begin(), std::move(arrive));
    body.operations.insert(body.operations.begin(), std::make_move_iterator(staged.begin()),
                           std::make_move_iterator(staged.end()));
    if (is_chained) {
      set(*pipeline, "again", 1);
      auto again = std::make_unique<Operation>();
      again->name = "thread_again";
      again->location = loop.location;
      region.operations.insert(region.operations.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                               std::move(again));
    }
    before.push_back(std::move(pipeline));
    const std::size_t count = before.size();
    region.operations.insert(region.operations.begin() + static_cast<std::ptrdiff_t>(at),
                             std::make_move_iterator(before.begin()),
                             std::make_move_iterator(before.end()));
    return count;
  }

  Kernel& kernel_;
  int architecture_;
  int warps_;
  std::int64_t rings_ = 0;
  std::unordered_set<const Value*> inside_;
};

// The product of a loop that does nothing else, or null.
Operation* only_product(Region& body, const Operation& pipeline) {
  Operation* product = nullptr;
  for (const std::unique_ptr<Operation>& operation : body.operations) {
    if (operation->is("mma")) {
      if (product != nullptr) return nullptr;
      product = operation.get();
      continue;
    }
    if (operation->is("arrive") || operation->is("staged") || operation->is("continue")) continue;
    // A barrier may not stand elsewhere than the others think.
    if (!is_pure(*operation) || !operation->regions.empty() || operation->is("convert") ||
        operation->is("extract"))
      return nullptr;
  }
  if (product == nullptr) return nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    const Value& operand = *product->operand(i);
    if (!operand.shared || !operand.source->is("staged") ||
        operand.source->operand(0)->source != &pipeline)
      return nullptr;
  }
  return product;
}

}  // namespace

bool may_load_ahead(const Operation& mma, const MatrixProduct& product) {
  if (product.unit != Unit::matrix || product.batch != 1 || product.warps < 8 ||
      product.result_registers() > 128 || product.rows / product.warps_down < 16 ||
      product.columns / product.warps_across < 16)
    return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Stage stage = Stage::of(*mma.operand(i)->source);
    const int size = bytes(stage.element);
    const int inner = (stage.inner_is_column ? stage.columns : stage.rows) * size;
    if (size > 4 || (!stage.inner_is_column && size != 2) || stage.columns * size < 32 ||
        inner % 64 != 0)
      return false;
  }
  return true;
}

void load_products_ahead(Region& region,
                         const std::function<MatrixProduct(const Operation& mma)>& product) {
  for (std::size_t i = 0; i < region.operations.size(); ++i) {
    Operation& loop = *region.operations[i];
    for (const std::unique_ptr<Region>& inner : loop.regions) load_products_ahead(*inner, product);
    if (i == 0 || !loop.is("for")) continue;
    Operation& pipeline = *region.operations[i - 1];
    if (!pipeline.is("pipeline") || pipeline.integer("slots") < 2) continue;
    Operation* const mma = only_product(loop.region(0), pipeline);
    if (mma == nullptr || !may_load_ahead(*mma, product(*mma))) continue;
    auto ahead = std::make_unique<Operation>();
    ahead->name = "product_ahead";
    ahead->location = mma->location;
    ahead->operands = mma->operands;
    set(pipeline, "crossing", 1);
    set(*mma, "crossing", 1);
    mma->operands.push_back({loop.region(0).arguments[0], 0});
    region.operations.insert(region.operations.begin() + static_cast<std::ptrdiff_t>(i),
                             std::move(ahead));
    ++i;
  }
}

void pipeline_loops(Kernel& kernel, int architecture, int warps) {
  LoopPipeliner(kernel, architecture, warps).region(kernel.body);
}

void size_rings(Kernel& kernel, std::int64_t limit, std::int64_t other, std::int64_t blocks) {
  for_each_operation(kernel.body, [&](Operation& operation) {
    if (!operation.is("pipeline")) return;
    const std::int64_t slot = operation.integer("slot_bytes");
    // Two slots hide the loads; a third helps where it costs no other block its place.
    std::int64_t slots = std::clamp<std::int64_t>((limit / blocks - 1024 - other) / slot, 1, 3);
    if (slots < 2) slots = std::clamp<std::int64_t>((limit - other) / slot, 1, 3);
    set(operation, "slots", slots);
    operation.result()->shared_bytes = slots * slot;
  });
}

}  // namespace cudacore::tile
