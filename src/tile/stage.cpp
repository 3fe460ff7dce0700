// SPDX-License-Identifier: Apache-2.0
#include "tile/stage.hpp"

namespace cudacore::tile {

std::int64_t Stage::matrix_bytes() const {
  return std::int64_t{tile::bytes(element)} * rows * columns;
}

std::int64_t Stage::bytes() const {
  const std::int64_t all = batch * matrix_bytes();
  return (all + 127) / 128 * 128;
}

std::string Stage::type() const {
  return "matrix::Stage<" + std::to_string(tile::bytes(element)) + ", " + std::to_string(rows) +
         ", " + std::to_string(columns) + (swizzled ? ">" : ", false>");
}

std::string Stage::operand_type(Element multiplied) const {
  const bool rounded = element == Element::f32 && multiplied == Element::tf32;
  return "matrix::Staged<" + matrix_kind(multiplied) + ", " + type() +
         (inner_is_column ? ", true" : ", false") + (rounded ? ", true>" : ">");
}

void Stage::describe(Operation& operation) const {
  const auto set = [&](const char* key, std::int64_t value) {
    operation.attributes[key] = Attribute{value};
  };
  set("stage_element", static_cast<std::int64_t>(element));
  set("stage_batch", batch);
  set("stage_rows", rows);
  set("stage_columns", columns);
  set("stage_inner_is_column", inner_is_column ? 1 : 0);
  set("stage_swizzled", swizzled ? 1 : 0);
  set("stage_offset", offset);
  set("stage_in_ring", in_ring ? 1 : 0);
  set("stage_ring", ring);
}

Stage Stage::of(const Operation& operation) {
  Stage stage;
  stage.element = static_cast<Element>(operation.integer("stage_element"));
  stage.batch = static_cast<int>(operation.integer("stage_batch"));
  stage.rows = static_cast<int>(operation.integer("stage_rows"));
  stage.columns = static_cast<int>(operation.integer("stage_columns"));
  stage.inner_is_column = operation.integer("stage_inner_is_column") != 0;
  stage.swizzled = operation.integer("stage_swizzled") != 0;
  stage.offset = operation.integer("stage_offset");
  stage.in_ring = operation.integer("stage_in_ring") != 0;
  stage.ring = operation.integer("stage_ring");
  return stage;
}

Stage scratch_stage(const Type& operand, bool is_left, bool swizzled) {
  const std::size_t rank = operand.shape.size();
  Stage stage;
  stage.element = operand.element;
  stage.batch = rank == 3 ? static_cast<int>(operand.shape[0]) : 1;
  const auto first = static_cast<int>(operand.shape[rank - 2]);
  const auto second = static_cast<int>(operand.shape[rank - 1]);
  // The inner extent goes along the columns, which suits ldmatrix whatever the size of elements.
  // The CUDA cores read columns of the right operand side by side.
  stage.inner_is_column = is_left || swizzled;
  stage.rows = is_left || !stage.inner_is_column ? first : second;
  stage.columns = is_left || !stage.inner_is_column ? second : first;
  stage.swizzled = swizzled;
  return stage;
}

std::string matrix_kind(Element element) {
  if (element == Element::i8) return "matrix::Kind::s8";
  return "matrix::Kind::" + std::string(name(element));
}

}  // namespace cudacore::tile
