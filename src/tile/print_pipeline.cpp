// SPDX-License-Identifier: Apache-2.0
#include "tile/access.hpp"
#include "tile/print_matrix.hpp"
#include "tile/stage.hpp"

namespace cudacore::tile {
namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

std::string ring_name(const Operation& pipeline) {
  return "ring_" + number(pipeline.integer("ring"));
}

// One axis of a fetch: expressions of its origin, its extent in the array, its stride.
struct Axis {
  std::string origin = "0";
  std::string shape;
  std::string stride = "0";
  bool present = false;
  bool wide = false;  ///< of 64 bits
};

class FetchPrinter {
 public:
  FetchPrinter(Printer& printer, const Operation& fetch)
      : printer_(printer),
        fetch_(fetch),
        stage_(Stage::of(fetch)),
        bounded_(fetch.integer("bounds", 1) != 0) {}

  // Copies to the address that the variable or expression `to` has.
  void print(const std::string& to) {
    need_matrix_headers(printer_);
    Writer& out = printer_.out();
    const Axis row = axis(fetch_.integer("row_axis"));
    const Axis column = axis(fetch_.integer("column_axis"));
    const Axis batch = axis(fetch_.integer("batch_axis"));
    const std::string size = number(bytes(stage_.element));
    out.open("");
    std::string offset;
    std::string inside;
    const auto rank = static_cast<std::int64_t>(fetch_.group("origin").size());
    for (std::int64_t i = 0; i < rank; ++i) {
      const Axis other = axis(i);
      if (other.origin != "0")
        offset += " + i64(" + other.origin + ")" +
                  (other.stride == "1" ? "" : " * i64(" + other.stride + ")");
      const bool is_stages = i == fetch_.integer("row_axis") ||
                             i == fetch_.integer("column_axis") ||
                             i == fetch_.integer("batch_axis");
      if (!is_stages && bounded_)
        inside += (inside.empty() ? "" : " && ") + other.origin + " >= 0 && " + other.origin +
                  " < " + other.shape;
    }
    out.line("const char* from = reinterpret_cast<const char*>(" +
             printer_.scalar(fetch_.operands[0]) + offset + ");");
    if (!inside.empty()) out.line("const bool inside = " + inside + ";");
    const bool batched = stage_.batch > 1;
    if (batched) {
      out.open("for (int batch = 0; batch < " + number(stage_.batch) + "; ++batch)");
      if (bounded_)
        out.line("const bool in_batch = batch + " + batch.origin + " >= 0 && batch + " +
                 batch.origin + " < " + batch.shape + (inside.empty() ? ";" : " && inside;"));
    }
    const std::string condition = batched && bounded_ ? "in_batch" : inside.empty() ? "" : "inside";
    std::string window = "{from" +
                         (batched ? " + batch * i64(" + batch.stride + ") * " + size : "") +
                         ", i64(" + row.stride + ") * " + size + ", ";
    window += limits(row, condition) + ", " + limits(column, "") + "}";
    out.line("matrix::fetch<" + stage_.type() + ", " +
             number(std::int64_t{32} * printer_.target().warps) + ", " +
             number(fetch_.integer("chunk")) + ", " +
             (fetch_.integer("whole") != 0 ? "true" : "false") + ", " +
             (bounded_ ? "false" : "true") +
             (fetch_.integer("again") != 0 ? ", true>(" : ", false>(") + to + " + " +
             number(stage_.in_ring ? stage_.offset : 0) +
             (batched ? " + batch * " + number(stage_.matrix_bytes()) : "") + ", matrix::Window" +
             window + ");");
    if (batched) out.close();
    out.close();
  }

 private:
  [[nodiscard]] Axis axis(std::int64_t i) {
    Axis axis;
    if (i < 0) return axis;
    const auto at = static_cast<std::size_t>(i);
    axis.present = true;
    axis.origin = printer_.scalar(fetch_.group("origin")[at]);
    axis.stride = printer_.scalar(fetch_.group("strides")[at]);
    const std::vector<Operand>& shape = fetch_.group("shape");
    axis.shape = at < shape.size() ? printer_.scalar(shape[at]) : "0";
    axis.wide = is_wide(fetch_.group("origin")[at]) || (at < shape.size() && is_wide(shape[at]));
    return axis;
  }

  // First and number of rows or columns inside of the array.
  [[nodiscard]] std::string limits(const Axis& axis, const std::string& condition) const {
    if (!bounded_) return "0, 0";
    const std::string type = axis.wide ? "<i64>(" : "<i32>(";
    std::string count =
        axis.present ? "matrix::count_inside" + type + axis.origin + ", " + axis.shape + ")" : "1";
    if (!condition.empty()) count = condition + " ? " + count + " : 0";
    return (axis.present ? "matrix::first_inside" + type + axis.origin + ")" : std::string("0")) +
           ", " + count;
  }

  Printer& printer_;
  const Operation& fetch_;
  Stage stage_;
  bool bounded_;
};

// `ring` is the address of the ring's first slot, `ring_stage` that of this iteration's (of the one
// before it until the iteration arrives, unless the product does that), and
// `ring_fetch(from, ahead, to)` fetches for the iteration `ahead` of that whose variable is `from`.
void print_ring(Printer& printer, const Operation& pipeline) {
  need_matrix_headers(printer);
  const std::string ring = ring_name(pipeline);
  const Region& fetches = pipeline.region(0);
  const Value& variable = *fetches.arguments[0];
  const std::int64_t slots = pipeline.integer("slots");
  const std::int64_t slot_bytes = pipeline.integer("slot_bytes");
  const std::string type(name(variable.type.element));
  const std::string wide = bits(variable.type.element) == 64 ? "u64" : "u32";
  const std::string first = printer.scalar(pipeline.operands[0]);
  const std::string end = printer.scalar(pipeline.operands[1]);
  const std::string step = printer.scalar(pipeline.operands[2]);
  Writer& out = printer.out();
  printer.barrier(pipeline, 0);
  out.line("const u32 " + ring + " = matrix::shared_address(" +
           Printer::shared(Element::u8, pipeline.result()->shared_offset) + ");");
  const bool crossing = pipeline.integer("crossing") != 0;
  out.line("u32 " + ring + "_stage = " + ring + " + " +
           number(crossing ? 0 : (slots - 1) * slot_bytes) + ";");
  out.open("const auto " + ring + "_fetch = [&](" + type + " from, u32 ahead, u32 " + ring +
           "_to)");
  // Without overflow: as far from the end as that.
  out.open("if (from < " + end + " && u64(" + wide + "(" + end + ") - " + wide + "(from)) > u64(" +
           step + ") * ahead)");
  out.line(type + " " + Printer::name(variable) + " = " + type + "(" + wide + "(from) + " + wide +
           "(" + step + ") * ahead);");
  printer.region(fetches);
  static_cast<void>(printer.out());
  out.close();
  out.line("matrix::commit_copies();");
  out.close("};");
  if (slots > 1)
    out.line("TILE_EACH(k, " + number(slots - 1) + ") " + ring + "_fetch(" + first + ", k, " +
             ring + " + k * " + number(slot_bytes) + ");");
}

// What follows from the thread's number is computed again from here on, not kept in registers.
void print_thread_again(Printer& printer) {
  printer.out().line("tid = matrix::thread_number<true>();");
}

void print_arrive(Printer& printer, const Operation& arrive) {
  const Operation& pipeline = *arrive.operand(4)->source;
  if (pipeline.integer("crossing") != 0) return;  // the product waits and fetches
  if (pipeline.integer("again") != 0) print_thread_again(printer);
  const std::string ring = ring_name(pipeline);
  const std::int64_t slots = pipeline.integer("slots");
  const std::string variable = printer.scalar(arrive.operands[3]);
  Writer& out = printer.out();
  if (slots == 1) {
    out.line("__syncthreads();");
    out.line(ring + "_fetch(" + variable + ", 0, " + ring + ");");
    out.line("matrix::wait_copies<0>();");
    out.line("__syncthreads();");
    return;
  }
  out.line("matrix::wait_copies<" + number(slots - 2) + ">();");
  out.line("__syncthreads();");
  // The slot of the last iteration is free now.
  out.line(ring + "_fetch(" + variable + ", " + number(slots - 1) + ", " + ring + "_stage);");
  const std::int64_t slot_bytes = pipeline.integer("slot_bytes");
  out.line(ring + "_stage = " + ring + "_stage == " + ring + " + " +
           number((slots - 1) * slot_bytes) + " ? " + ring + " : " + ring + "_stage + " +
           number(slot_bytes) + ";");
}

}  // namespace

bool print_pipeline(Printer& printer, const Operation& operation) {
  if (operation.is("pipeline")) {
    print_ring(printer, operation);
  } else if (operation.is("arrive")) {
    print_arrive(printer, operation);
  } else if (operation.is("fetch")) {
    FetchPrinter(printer, operation).print("ring_" + number(Stage::of(operation).ring) + "_to");
  } else if (operation.is("stage_once")) {
    printer.barrier(operation, 0);
    FetchPrinter(printer, operation)
        .print("matrix::shared_address(" +
               Printer::shared(Element::u8, operation.result()->shared_offset) + ")");
    printer.out().line("matrix::commit_copies();");
  } else if (operation.is("thread_again")) {
    print_thread_again(printer);
  } else if (!operation.is("staged")) {
    return false;
  }
  return true;
}

}  // namespace cudacore::tile
