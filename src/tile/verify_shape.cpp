// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <variant>

#include "tile/operations.hpp"
#include "tile/verifier.hpp"

namespace cudacore::tile {

void Verifier::folding(const Operation& operation) const {
  const std::size_t count = operation.operands.size();
  require(operation, count > 0 && operation.results.size() == count,
          "gives as many results as it has operands");
  const Region& region = operation.region(0);
  require(operation, region.arguments.size() == 2 * count,
          "has a region with two arguments for each operand");
  require(operation,
          !region.operations.empty() && region.operations.back()->is("yield") &&
              region.operations.back()->operands.size() == count,
          "has a region that yields a value for each operand");
  const Type& first = type_of(operation, 0);
  require(operation, first.is_tile(), "takes tiles");
  const std::int64_t axis = operation.integer("axis", -1);
  require(operation, axis >= 0 && axis < static_cast<std::int64_t>(first.shape.size()),
          "has an axis of the tile's");
  std::vector<std::int64_t> shape = first.shape;
  if (operation.is("reduce")) shape.erase(shape.begin() + axis);
  for (std::size_t i = 0; i < count; ++i) {
    const Type& type = type_of(operation, i);
    require(operation, type.shape == first.shape && !type.pointer, "takes tiles of one shape");
    require(operation, operation.results[i]->type == Type{type.element, shape, false},
            "gives " + to_string(Type{type.element, shape, false}));
    const Type scalar{type.element, {}, false};
    const Operand& yielded = region.operations.back()->operands[i];
    require(operation,
            region.arguments[i]->type == scalar && region.arguments[count + i]->type == scalar &&
                yielded.value != nullptr && yielded.value->type == scalar,
            "has a region of scalars of the tiles' elements");
  }
  for (const std::unique_ptr<Operation>& inner : region.operations)
    require(*inner, inner->is("yield") || inner->is("const") || is_elementwise(*inner),
            "cannot stand in the region of a reduce or scan");
}

void Verifier::structured(const Operation& operation) const {
  if (operation.is("if")) {
    require(
        operation,
        operation.operand(0) != nullptr && type_of(operation, 0) == Type{Element::i1, {}, false},
        "decides by an i1");
    require(operation, operation.results.empty() || operation.regions.size() == 2,
            "gives values, so it needs both regions");
    return;
  }
  const std::vector<Operand>& initial = operation.group("iter");
  require(operation, operation.results.size() == initial.size(), "gives what it carries");
  for (std::size_t i = 0; i < initial.size(); ++i)
    require(operation, operation.results[i]->type == initial[i].value->type,
            "gives what it carries");
  if (!operation.is("for")) return;
  const Type& index = operation.region(0).arguments[0]->type;
  require(operation,
          !index.is_tile() && !index.pointer && is_integer(index.element) &&
              index.element != Element::i1,
          "counts with an integer");
  for (const Operand& bound : operation.operands)
    require(operation, bound.value == nullptr || bound.value->type == index,
            "has bounds of different types");
  require(operation, operation.operands[2].value != nullptr || operation.operands[2].literal > 0,
          "has a step above 0");
}

void Verifier::shape(const Operation& operation) const {
  const Type& from = type_of(operation, 0);
  const Type& to = operation.result()->type;
  const std::string& op = operation.name;
  const std::string both = to_string(from) + " and " + to_string(to);
  if (op == "mma") return product(operation);
  require(operation, !from.pointer && !to.pointer, "does not take pointers");
  if (op == "pack" || op == "unpack")
    return require(operation,
                   from.is_tile() && to.is_tile() && from.element != Element::i1 &&
                       to.element != Element::i1 &&
                       from.size() * bits(from.element) == to.size() * bits(to.element),
                   "keeps the number of bytes, unlike " + both);
  require(operation, from.element == to.element, "keeps the type of elements, unlike " + both);
  if (op == "broadcast") {
    bool fits = !from.is_tile() || from.shape.size() == to.shape.size();
    for (std::size_t i = 0; fits && i < from.shape.size(); ++i)
      fits = from.shape[i] == to.shape[i] || from.shape[i] == 1;
    return require(operation, fits && to.is_tile(), "cannot grow " + both);
  }
  if (op == "reshape")
    return require(operation, from.size() == to.size(),
                   "keeps the number of elements, unlike " + both);
  if (op == "permute") return permutation(operation);
  if (op == "cat") {
    const std::int64_t axis = operation.integer("axis", -1);
    require(operation, axis >= 0 && axis < static_cast<std::int64_t>(from.shape.size()),
            "has an axis of the tile's");
    Type wanted = from;
    wanted.shape[static_cast<std::size_t>(axis)] *= 2;
    return require(operation, type_of(operation, 1) == from && to == wanted,
                   "joins two tiles of one type");
  }
  // extract and insert
  const Type& block = op == "insert" ? type_of(operation, 1) : to;
  require(operation, op != "insert" || from == to, "gives a tile like its first");
  bool fits = from.is_tile() && block.element == from.element &&
              (block.shape.size() == from.shape.size() || !block.is_tile());
  for (std::size_t i = 0; fits && i < block.shape.size(); ++i)
    fits = block.shape[i] <= from.shape[i];
  require(operation, fits,
          "has a block that does not fit: " + to_string(block) + " of " + to_string(from));
  scalars(operation, "index", from.shape.size());
  for (std::size_t i = 0; i < from.shape.size(); ++i) {
    const Operand& index = operation.group("index")[i];
    const std::int64_t extent = block.is_tile() ? block.shape[i] : 1;
    require(
        operation,
        index.value != nullptr || (index.literal >= 0 && index.literal < from.shape[i] / extent),
        "has an index beyond the tile");
  }
}

void Verifier::permutation(const Operation& operation) const {
  const Type& from = type_of(operation, 0);
  const Type& to = operation.result()->type;
  const Attribute* const found = operation.attribute("axes");
  const auto* const axes = found == nullptr ? nullptr : std::get_if<AttributeList>(&found->value);
  require(operation,
          axes != nullptr && axes->size() == from.shape.size() && axes->size() == to.shape.size(),
          "names each axis once");
  std::vector<bool> seen(axes->size());
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto* const axis = std::get_if<std::int64_t>(&(*axes)[i].value);
    require(operation,
            axis != nullptr && *axis >= 0 && *axis < static_cast<std::int64_t>(axes->size()) &&
                !seen[static_cast<std::size_t>(*axis)] &&
                to.shape[i] == from.shape[static_cast<std::size_t>(*axis)],
            "names each axis once");
    seen[static_cast<std::size_t>(*axis)] = true;
  }
}

void Verifier::product(const Operation& operation) const {
  const std::vector<std::int64_t>& a = type_of(operation, 0).shape;
  const std::vector<std::int64_t>& b = type_of(operation, 1).shape;
  const std::vector<std::int64_t>& c = type_of(operation, 2).shape;
  const std::size_t rank = a.size();
  bool fits = (rank == 2 || rank == 3) && b.size() == rank && c.size() == rank &&
              type_of(operation, 2) == operation.result()->type;
  fits = fits && (rank == 2 || (a[0] == b[0] && b[0] == c[0])) && a[rank - 1] == b[rank - 2] &&
         a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1];
  require(operation, fits, "multiplies [M,K] and [K,N] and adds [M,N]");
}

}  // namespace cudacore::tile
