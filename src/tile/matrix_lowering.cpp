// SPDX-License-Identifier: Apache-2.0
#include "tile/matrix_lowering.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

#include "tile/exchange.hpp"
#include "tile/operations.hpp"
#include "tile/pipeline.hpp"
#include "tile/pointer_root.hpp"
#include "tile/print_matrix.hpp"
#include "tile/stage.hpp"

namespace cudacore::tile {
namespace {

constexpr int most_registers = 255;    // of a thread
constexpr int registers_besides = 56;  // for fragments and addresses

void mark(Operation& operation, const char* key) {
  operation.attributes[key] = Attribute{std::int64_t{1}};
}

// The mma whose result a value is computed from element by element, or null.
Operation* chained_source(const Value* value, int depth) {
  Operation* const source = value == nullptr ? nullptr : value->source;
  if (source == nullptr || depth > 24) return nullptr;
  if (source->is("mma")) return source;
  if (source->is("if")) {
    for (const std::unique_ptr<Region>& region : source->regions)
      for (std::size_t i = 0; i < source->results.size(); ++i)
        if (source->results[i] == value && region->operations.back()->is("yield"))
          if (Operation* const found =
                  chained_source(region->operations.back()->operand(i), depth + 1))
            return found;
    return nullptr;
  }
  if (!is_elementwise(*source)) return nullptr;
  for (const Operand& operand : source->operands)
    if (operand.value != nullptr && operand.value->type.is_tile())
      if (Operation* const found = chained_source(operand.value, depth + 1)) return found;
  return nullptr;
}

// What the result of an mma takes of all threads' registers of 32 bits.
std::int64_t result_words(const Operation& mma) {
  const Type& type = mma.result()->type;
  return type.size() * bytes(type.element) / 4;
}

// Elements that no instruction takes as they are become f16, which holds all of their values.
void widen_operands(Kernel& kernel, Region& region, int architecture) {
  for (std::size_t i = 0; i < region.operations.size(); ++i) {
    for (const std::unique_ptr<Region>& inner : region.operations[i]->regions)
      widen_operands(kernel, *inner, architecture);
    Operation& mma = *region.operations[i];
    if (!mma.is("mma")) continue;
    const auto is_byte = [&](std::size_t operand) {
      const Element element = mma.operand(operand)->type.element;
      return element == Element::e4m3 || element == Element::e5m2;
    };
    if (!is_byte(0) || !is_byte(1) ||
        has_instruction(mma.operand(0)->type.element, mma.operand(1)->type.element,
                        mma.result()->type.element, architecture))
      continue;
    for (std::size_t operand = 0; operand < 2; ++operand) {
      auto cast = std::make_unique<Operation>();
      cast->name = "cast";
      cast->location = mma.location;
      cast->operands.push_back(mma.operands[operand]);
      Value* const wide = kernel.add_value(mma.operand(operand)->type.with(Element::f16));
      wide->source = cast.get();
      cast->results.push_back(wide);
      mma.operands[operand].value = wide;
      region.operations.insert(region.operations.begin() + static_cast<std::ptrdiff_t>(i),
                               std::move(cast));
      ++i;
    }
  }
}

bool is_held(const Operation& mma) { return mma.integer("held") != 0 && !mma.operand(0)->shared; }

// Bytes of the stages for operands that come from registers.
std::int64_t staged_bytes(const Operation& mma, const MatrixProduct& product) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < 2; ++i)
    if (!mma.operand(i)->shared && !(i == 0 && is_held(mma)))
      total += scratch_stage(mma.operand(i)->type, i == 0, product.unit != Unit::elements).bytes();
  return total;
}

Access shared_access(std::int64_t begin, std::int64_t size, bool writes) {
  Access access;
  access.writes = writes;
  access.begin = begin;
  access.end = begin + size;
  return access;
}

void add_reads(const Region& region, Phase& phase) {
  for (const std::unique_ptr<Operation>& operation : region.operations)
    if (operation->is("fetch")) {
      Access access;
      access.root = pointer_root(operation->operand(0));
      phase.accesses.push_back(access);
    }
}

}  // namespace

MatrixProduct MatrixLowering::product(const Operation& mma, int warps) const {
  return matrix_product(mma, architecture_, warps, mma.integer("chained") != 0);
}

int MatrixLowering::warps(const Kernel& kernel) const {
  int wanted = 0;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    if (!operation.is("mma")) return;
    const Type& type = operation.result()->type;
    int warps = 1;
    while (warps < 4 && type.size() > std::int64_t{256} * warps) warps *= 2;
    // 128 registers of a thread for the result leave room for fragments and addresses, and so do
    // 192 for the results of two products, one of which the other waits for.
    const std::int64_t words = result_words(operation);
    while (warps < 16 && words > std::int64_t{32} * 128 * warps) warps *= 2;
    if (const Operation* const source = chained_source(operation.operand(0), 0))
      while (warps < 16 && words + result_words(*source) > std::int64_t{32} * 192 * warps)
        warps *= 2;
    wanted = std::max(wanted, warps);
  });
  if (wanted == 0) return 0;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    for (const Value* const result : operation.results)
      while (wanted < 8 &&
             result->type.size() * bytes(result->type.element) > std::int64_t{32} * 512 * wanted)
        wanted *= 2;
  });
  return wanted;
}

void MatrixLowering::prepare(Kernel& kernel, const Target& target) const {
  widen_operands(kernel, kernel.body, architecture_);
  for_each_operation(kernel.body, [&](Operation& operation) {
    if (!operation.is("mma")) return;
    if (Operation* const source = chained_source(operation.operand(0), 0)) {
      mark(*source, "chained");
      mark(operation, "chained");
    }
  });
  for_each_operation(kernel.body, [&](Operation& operation) {
    if (!operation.is("mma")) return;
    const MatrixProduct made = product(operation, target.warps);
    if (made.result_registers() > most_registers)
      throw kernel.error(operation.location,
                         "the result of mma, " + to_string(operation.result()->type) + ", takes " +
                             std::to_string(operation.result()->type.size() *
                                            bytes(operation.result()->type.element)) +
                             " bytes of registers: " + std::to_string(made.result_registers()) +
                             " of each of " + std::to_string(32 * target.warps) +
                             " threads, which have " + std::to_string(most_registers) +
                             "; use smaller tiles or more warps");
    if (made.may_hold() && made.warps_across == 1 &&
        chained_source(operation.operand(0), 0) != nullptr)
      mark(operation, "held");
  });
  if (architecture_ >= 80) pipeline_loops(kernel, architecture_, target.warps);
}

std::optional<OperationLayouts> MatrixLowering::layouts(const Operation& operation,
                                                        const Target& target) const {
  if (operation.is("pipeline") || operation.is("arrive") || operation.is("staged") ||
      operation.is("stage_once") || operation.is("fetch") || operation.is("thread_again"))
    return OperationLayouts{};
  if (!operation.is("mma")) return std::nullopt;
  const MatrixProduct made = product(operation, target.warps);
  OperationLayouts wanted;
  const Layout result = made.result_layout();
  wanted.operands = {is_held(operation) ? made.held_layout() : Layout{}, Layout{}, result};
  wanted.results = {result};
  return wanted;
}

// The hint, or how many blocks leave each thread registers for its part of the products.
std::int64_t MatrixLowering::possible_occupancy(Kernel& kernel, const Target& target) const {
  std::int64_t needed = 0;
  for_each_operation(kernel.body, [&](const Operation& operation) {
    if (!operation.is("mma")) return;
    std::int64_t registers = product(operation, target.warps).result_registers();
    if (const Operation* const source = chained_source(operation.operand(0), 0))
      registers += product(*source, target.warps).result_registers();
    needed = std::max(needed, registers + registers_besides);
  });
  std::int64_t occupancy = kernel.hint("occupancy", 0);
  while (occupancy > 1 && needed * occupancy * 32 * target.warps > 65536) --occupancy;
  return occupancy;
}

void MatrixLowering::rewrite(Kernel& kernel, const Target& target) const {
  for_each_operation(kernel.body, [&](Operation& operation) {
    if (operation.is("mma"))
      operation.scratch_bytes = staged_bytes(operation, product(operation, target.warps));
  });
  // What is needed outside of loops comes when the loops' rings are no longer.
  std::int64_t scratch = 0;
  std::int64_t kept = 0;
  const auto count = [&](const Operation& operation) {
    if (operation.is("stage_once")) kept += operation.result()->shared_bytes;
    std::int64_t needed = operation.scratch_bytes;
    if (operation.is("convert") &&
        exchange(operation.operand(0)->layout, operation.result()->layout) != Exchange::rename)
      needed = operation.result()->type.size() * bytes(operation.result()->type.element);
    scratch = std::max(scratch, needed);
  };
  for (const std::unique_ptr<Operation>& operation : kernel.body.operations) {
    if (operation->is("stage_once")) count(*operation);
    for (const std::unique_ptr<Region>& inner : operation->regions)
      for_each_operation(*inner, count);
  }
  const std::int64_t occupancy = possible_occupancy(kernel, target);
  if (occupancy > 0) kernel.hints["occupancy"] = occupancy;
  const std::int64_t blocks = occupancy > 0 ? occupancy : target.warps <= 4 ? 2 : 1;
  size_rings(kernel, target.shared_limit, scratch + kept + 4096, blocks);
  load_products_ahead(kernel.body,
                      [&](const Operation& mma) { return product(mma, target.warps); });
}

std::optional<std::vector<Phase>> MatrixLowering::effects(const Operation& operation) const {
  if (operation.is("staged") || operation.is("fetch") || operation.is("thread_again"))
    return std::vector<Phase>{};
  if (operation.is("pipeline") || operation.is("stage_once")) {
    const Value& memory = *operation.result();
    Phase phase;
    phase.accesses.push_back(shared_access(memory.shared_offset, memory.shared_bytes, true));
    if (operation.is("pipeline")) {
      add_reads(operation.region(0), phase);
    } else {
      Access access;
      access.root = pointer_root(operation.operand(0));
      phase.accesses.push_back(access);
    }
    return std::vector<Phase>{phase};
  }
  if (operation.is("arrive")) {
    Phase phase;
    phase.is_barrier = true;
    const Operation& pipeline = *operation.operand(4)->source;
    add_reads(pipeline.region(0), phase);
    return std::vector<Phase>{phase};
  }
  if (operation.is("product_ahead")) {
    Phase phase;
    phase.is_barrier = true;
    const Value& memory = *operation.operand(0)->source->operand(0);
    phase.accesses.push_back(shared_access(memory.shared_offset, memory.shared_bytes, false));
    return std::vector<Phase>{phase};
  }
  if (!operation.is("mma")) return std::nullopt;
  std::vector<Phase> phases;
  Phase reads;
  if (operation.scratch_bytes > 0) {
    phases.push_back(
        {{shared_access(operation.scratch_offset, operation.scratch_bytes, true)}, false});
    reads.accesses.push_back(
        shared_access(operation.scratch_offset, operation.scratch_bytes, false));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Value& operand = *operation.operand(i);
    if (!operand.shared) continue;
    const Value& memory = operand.source->is("staged") ? *operand.source->operand(0) : operand;
    reads.accesses.push_back(shared_access(memory.shared_offset, memory.shared_bytes, false));
  }
  phases.push_back(reads);
  return phases;
}

bool MatrixLowering::print(Printer& printer, const Operation& operation) const {
  if (operation.is("mma")) {
    print_mma(printer, operation, product(operation, printer.target().warps), is_held(operation));
    return true;
  }
  if (operation.is("product_ahead")) {
    print_product_ahead(printer, operation, product(operation, printer.target().warps));
    return true;
  }
  return print_pipeline(printer, operation);
}

std::unique_ptr<Lowering> make_lowering(int architecture) {
  return std::make_unique<MatrixLowering>(architecture);
}

}  // namespace cudacore::tile
