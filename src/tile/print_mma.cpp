// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tile/print_matrix.hpp"
#include "tile/stage.hpp"

namespace cudacore::tile {
namespace {

std::string places(const Layout& layout) {
  std::string text = "matrix::Registers<";
  for (std::size_t i = 0; i < layout.registers.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(layout.registers[i]);
  return text + ">";
}

std::string number(std::int64_t n) { return std::to_string(n); }

constexpr const char* names[] = {"a", "b"};
constexpr const char* types[] = {"A", "B"};

class MmaPrinter {
 public:
  MmaPrinter(Printer& printer, const Operation& mma, const MatrixProduct& product, bool is_held)
      : printer_(printer),
        mma_(mma),
        product_(product),
        is_held_(is_held),
        stem_(Printer::name(*mma.result())) {}

  void print() {
    need_matrix_headers(printer_);
    const Value& result = *mma_.result();
    static_cast<void>(printer_.out());
    printer_.declare(result);
    printer_.out().line("TILE_EACH(r, " + number(result.layout.register_count()) + ") " + stem_ +
                        "[r] = " + printer_.element(mma_.operands[2], "r") + ";");
    if (mma_.integer("crossing") != 0) {
      print_crossing();
      return;
    }
    stage_operands();
    Writer& out = printer_.out();
    out.open("");
    address(0);
    address(1);
    switch (product_.unit) {
      case Unit::matrix:
        print_matrix();
        break;
      case Unit::doubles:
        print_doubles();
        break;
      case Unit::elements:
        print_elements();
        break;
    }
    out.close();
  }

 private:
  [[nodiscard]] Element multiplied(std::size_t operand) const {
    return operand == 0 ? product_.a : product_.b;
  }

  // Operands from registers are put in shared memory, one after the other.
  void stage_operands() {
    std::int64_t offset = mma_.scratch_offset;
    for (std::size_t i = 0; i < 2; ++i) {
      if (mma_.operand(i)->shared) {
        stages_[i] = Stage::of(*mma_.operand(i)->source);
      } else if (i == 1 || !is_held_) {
        stages_[i] = scratch_stage(mma_.operand(i)->type, i == 0, product_.unit != Unit::elements);
        stages_[i].offset = offset;
        offset += stages_[i].bytes();
      }
    }
    if (mma_.scratch_bytes == 0) {
      printer_.barrier(mma_, 0);
      return;
    }
    printer_.barrier(mma_, 0);
    for (std::size_t i = 0; i < 2; ++i)
      if (!mma_.operand(i)->shared && (i == 1 || !is_held_)) put(i);
    printer_.barrier(mma_, 1);
  }

  void put(std::size_t i) {
    const Value& operand = *mma_.operand(i);
    const Stage& stage = stages_[i];
    const std::size_t rank = operand.type.shape.size();
    const std::int64_t rows = operand.type.shape[rank - 2];
    const std::int64_t columns = operand.type.shape[rank - 1];
    const std::string replica = Printer::is_first_replica(operand.layout);
    Writer& out = printer_.out();
    out.open(replica.empty() ? "" : "if (" + replica + ")");
    out.line(std::string("using ") + types[i] + " = " + stage.operand_type(multiplied(i)) + ";");
    out.line("const unsigned stage = matrix::shared_address(" +
             Printer::shared(Element::u8, stage.offset) + ");");
    out.line("const int first = " +
             Printer::thread_part(operand.layout.lanes, operand.layout.warps) + ";");
    out.open("TILE_EACH(r, " + number(operand.layout.register_count()) + ")");
    out.line("const int at = first + " + places(operand.layout) + "::part(r);");
    const std::string row = "at / " + number(columns) + " % " + number(rows);
    const std::string column = "at % " + number(columns);
    const std::string base = stage.batch == 1 ? "stage"
                                              : "stage + at / " + number(rows * columns) + " * " +
                                                    number(stage.matrix_bytes());
    out.line(std::string("matrix::put(") + types[i] + "{" + base + "}, " +
             (i == 0 ? row + ", " + column : column + ", " + row) + ", " +
             printer_.element(mma_.operands[i], "r") + ");");
    out.close();
    out.close();
  }

  // Declares the operand of the first batch of the warp.
  void address(std::size_t i) {
    if (i == 0 && is_held_) {
      print_held();
      return;
    }
    const Stage& stage = stages_[i];
    const Value& operand = *mma_.operand(i);
    std::string base;
    if (stage.in_ring) {
      base = "ring_" + number(stage.ring) + "_stage + " + number(stage.offset);
    } else {
      const std::int64_t offset = operand.shared ? operand.shared_offset : stage.offset;
      base = "matrix::shared_address(" + Printer::shared(Element::u8, offset) + ")";
    }
    if (product_.unit != Unit::elements && product_.warps_batch > 1)
      base += " + " + product_.first_batch() + " * " + number(stage.matrix_bytes());
    printer_.out().line(std::string("using ") + types[i] + " = " +
                        stage.operand_type(multiplied(i)) + ";");
    printer_.out().line(std::string("const ") + types[i] + " " + names[i] + "{" + base + "};");
  }

  // The operand of batch `batch` of the warp.
  [[nodiscard]] std::string of_batch(std::size_t i) const {
    return std::string(types[i]) + "{" + names[i] + ".address + batch * " +
           number(stages_[i].matrix_bytes()) + "}";
  }

  void print_held() {
    const Value& operand = *mma_.operand(0);
    const int words = operand.layout.register_count() / 2;
    Writer& out = printer_.out();
    out.line("unsigned words[" + number(words) + "];");
    const Operation* const source = operand.source;
    const bool from_f32 =
        source != nullptr && source->is("cast") && source->operand(0) != nullptr &&
        source->operand(0)->type.element == Element::f32 &&
        source->operand(0)->layout == operand.layout && source->attributes.empty();
    const Operand& from = from_f32 ? source->operands[0] : mma_.operands[0];
    const std::string function = !from_f32                     ? "matrix::pack"
                                 : product_.a == Element::bf16 ? "matrix::pack_bf16"
                                                               : "matrix::pack_f16";
    out.line("TILE_EACH(r, " + number(words) + ") words[r] = " + function + "(" +
             printer_.element(from, "2 * r") + ", " + printer_.element(from, "2 * r + 1") + ");");
  }

  void print_matrix() {
    Writer& out = printer_.out();
    const int batches = product_.batch / product_.warps_batch;
    const int registers = mma_.result()->layout.register_count() / batches;
    const std::string extents = number(product_.rows) + ", " + number(product_.columns) + ", " +
                                number(product_.warps_down) + ", " + number(product_.warps_across);
    // Registers for fragments of two steps are there if the product is all that the warp works on.
    const bool ahead = product_.result_registers() <= 128 && mma_.integer("chained") == 0;
    const auto batch = [&](std::size_t i) {
      return batches == 1 ? std::string(names[i]) : of_batch(i);
    };
    if (batches > 1) out.open("TILE_EACH(batch, " + number(batches) + ")");
    const std::string again = mma_.integer("chained") != 0 ? ", true>(" : ">(";
    const std::string left =
        is_held_ ? "matrix::HeldRows<" + matrix_kind(product_.a) + ", " + number(product_.inner) +
                       ">{words}"
                 : "matrix::Rows<A" + again + batch(0) + ", " + product_.first_row() + ")";
    const std::string right =
        "matrix::Columns<B" + again + batch(1) + ", " + product_.first_column() + ")";
    out.line("matrix::multiply_tiles<" + extents + (ahead ? ", true>(" : ", false>(") + stem_ +
             (batches == 1 ? "" : " + batch * " + number(registers)) + ", " + left + ", " + right +
             ");");
    if (batches > 1) out.close();
  }

  // The product that print_product_ahead() has declared.
  void print_crossing() {
    const Operation& staged = *mma_.operand(0)->source;
    const Operation& pipeline = *staged.operand(0)->source;
    const std::int64_t left = Stage::of(staged).offset;
    const std::int64_t right = Stage::of(*mma_.operand(1)->source).offset;
    const std::int64_t slots = pipeline.integer("slots");
    const std::int64_t slot_bytes = pipeline.integer("slot_bytes");
    const std::string ring = "ring_" + number(pipeline.integer("ring"));
    const std::string last = ring + " + " + number((slots - 1) * slot_bytes);
    const std::string loop = Printer::name(*mma_.operand(3));
    Writer& out = printer_.out();
    printer_.barrier(mma_, 0);
    out.open("");
    out.line("const u32 next = " + ring + "_stage == " + last + " ? " + ring + " : " + ring +
             "_stage + " + number(slot_bytes) + ";");
    out.line(ring + "_product.run(" + stem_ + ", " + ring + "_stage + " + number(left) + ", " +
             ring + "_stage + " + number(right) + ", next + " + number(left) + ", next + " +
             number(right) + ",");
    out.line("    [&] { " + ring + "_fetch(" + loop + ", " + number(slots - 1) + ", " + ring +
             "_stage == " + ring + " ? " + last + " : " + ring + "_stage - " + number(slot_bytes) +
             "); },");
    out.line("    [&] { matrix::wait_copies<" + number(slots - 2) + ">(); __syncthreads(); });");
    out.line(ring + "_stage = next;");
    out.close();
  }

  void print_doubles() {
    Writer& out = printer_.out();
    const int batches = product_.batch / product_.warps_batch;
    const int registers = mma_.result()->layout.register_count() / batches;
    out.line("TILE_EACH(batch, " + number(batches) + ") matrix::multiply_doubles<" +
             number(product_.rows) + ", " + number(product_.columns) + ", " +
             number(product_.warps_down) + ", " + number(product_.warps_across) + ">(" + stem_ +
             " + batch * " + number(registers) + ", " + of_batch(0) + ", " + of_batch(1) + ", " +
             product_.first_row() + ", " + product_.first_column() + ");");
  }

  void print_elements() {
    const Layout& layout = mma_.result()->layout;
    printer_.out().line("matrix::multiply_elements<" + number(product_.rows) + ", " +
                        number(product_.columns) + ", " + places(layout) + ", " +
                        number(stages_[0].matrix_bytes()) + ", " +
                        number(stages_[1].matrix_bytes()) + ">(" + stem_ + ", a, b, " +
                        Printer::thread_part(layout.lanes, layout.warps) + ");");
  }

  Printer& printer_;
  const Operation& mma_;
  const MatrixProduct& product_;
  bool is_held_;
  std::string stem_;
  std::array<Stage, 2> stages_;
};

}  // namespace

void print_product_ahead(Printer& printer, const Operation& ahead, const MatrixProduct& product) {
  const Operation& staged = *ahead.operand(0)->source;
  const Operation& pipeline = *staged.operand(0)->source;
  const Stage left = Stage::of(staged);
  const Stage right = Stage::of(*ahead.operand(1)->source);
  const std::string ring = "ring_" + number(pipeline.integer("ring"));
  Writer& out = printer.out();
  out.line("matrix::LoopProduct<" + number(product.rows) + ", " + number(product.columns) + ", " +
           number(product.warps_down) + ", " + number(product.warps_across) + ", " +
           left.operand_type(product.a) + ", " + right.operand_type(product.b) + "> " + ring +
           "_product(" + product.first_row() + ", " + product.first_column() + ");");
  out.line("matrix::wait_copies<" + number(pipeline.integer("slots") - 2) + ">();");
  out.line("__syncthreads();");
  out.line(ring + "_product.load(" + ring + " + " + number(left.offset) + ", " + ring + " + " +
           number(right.offset) + ", 0);");
}

void need_matrix_headers(Printer& printer) {
  for (const char* const header : {"mma.cuh", "stage.cuh", "product.cuh"}) printer.need(header);
}

void print_mma(Printer& printer, const Operation& mma, const MatrixProduct& product, bool is_held) {
  MmaPrinter(printer, mma, product, is_held).print();
}

}  // namespace cudacore::tile
