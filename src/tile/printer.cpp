// SPDX-License-Identifier: Apache-2.0
#include "tile/printer.hpp"

#include <algorithm>

#include "tile/exchange.hpp"
#include "tile/expression.hpp"
#include "tile/literal.hpp"
#include "tile/operations.hpp"
#include "tile/pointer_root.hpp"

namespace cudacore::tile {
namespace {

constexpr char register_mark = '\x01';
constexpr std::size_t longest_expression = 160;

// The printed sum of 2^(places[i]) over the bits i of `number`, runs of neighbors together.
std::string bits_moved(const std::vector<int>& places, const std::string& number, bool all) {
  std::string text;
  const auto count = static_cast<int>(places.size());
  for (int i = 0; i < count;) {
    const int to = places[static_cast<std::size_t>(i)];
    if (to < 0) {
      ++i;
      continue;
    }
    int length = 1;
    for (int next = i + 1; next < count; ++next, ++length)
      if (places[static_cast<std::size_t>(next)] != to + length) break;
    std::string term = number;
    if (i > 0) term = "(" + term + " >> " + std::to_string(i) + ")";
    if (!all || i + length < count)
      term = "(" + term + " & " + std::to_string((std::int64_t{1} << length) - 1) + ")";
    if (to > 0) term = "(" + term + " << " + std::to_string(to) + ")";
    text += (text.empty() ? "" : " + ") + term;
    i += length;
  }
  return text.empty() ? "0" : text;
}

bool is_forwarding(const Operation& operation) {
  return operation.is("broadcast") || operation.is("reshape") || operation.is("permute") ||
         (operation.is("convert") &&
          exchange(operation.operand(0)->layout, operation.result()->layout) == Exchange::rename) ||
         (operation.is("assume_div") && operation.result()->type.is_tile());
}

}  // namespace

Printer::Printer(Kernel& kernel, const Target& target, const Lowering& lowering,
                 std::int64_t shared_bytes)
    : kernel_(kernel),
      target_(target),
      lowering_(lowering),
      shared_bytes_(shared_bytes),
      writer_(kernel.files),
      streaming_loads_(kernel) {
  // What a loop gives is what it carried last.
  for_each_operation(kernel.body, [](Operation& operation) {
    if (!operation.is("for") && !operation.is("loop")) return;
    const std::size_t first = operation.is("for") ? 1 : 0;
    for (std::size_t i = 0; i < operation.results.size(); ++i)
      operation.results[i]->name = operation.region(0).arguments[first + i]->name;
  });
  count_uses();
  const auto look = [&](const Value& value) {
    if (is_float(value.type.element) && bits(value.type.element) <= 8) need("float8.cuh");
  };
  for (const Value* const parameter : kernel.parameters) look(*parameter);
  for_each_operation(kernel.body, [&](const Operation& operation) {
    for (const Value* const result : operation.results) look(*result);
  });
}

void Printer::inner(const Operation& owner, const Region& region) {
  owners_.push_back(&owner);
  this->region(region);
  static_cast<void>(out());
  owners_.pop_back();
}

void Printer::count_uses(const Region& region, std::map<const Value*, const Region*>& homes) {
  for (const Value* const argument : region.arguments) homes[argument] = &region;
  for (const std::unique_ptr<Operation>& operation : region.operations) {
    for_each_operand(*operation, [&](const Operand& operand) {
      // What an inner region uses may be used many times.
      if (operand.value != nullptr) uses_[operand.value] += homes[operand.value] == &region ? 1 : 2;
    });
    for (const Value* const result : operation->results) homes[result] = &region;
    for (const std::unique_ptr<Region>& inner : operation->regions) count_uses(*inner, homes);
  }
}

void Printer::count_uses() {
  std::map<const Value*, const Region*> homes;
  count_uses(kernel_.body, homes);
  for_each_operation(kernel_.body, [&](Operation& operation) {
    if (writes_memory(operation)) written_.insert(pointer_root(operation.operand(0)));
  });
  // A value that others only rename is used as often as they are.
  std::vector<Operation*> all;
  for_each_operation(kernel_.body, [&](Operation& operation) { all.push_back(&operation); });
  std::reverse(all.begin(), all.end());
  for (const Operation* const operation : all)
    if (is_forwarding(*operation) && operation->operands[0].value != nullptr) {
      // A grown tile's elements are used by several of its registers.
      const bool grows = operation->is("broadcast");
      uses_[operation->operand(0)] += std::max(0, uses_[operation->result()] - 1) + (grows ? 1 : 0);
    }
}

bool Printer::is_written(const Value* pointer) const {
  return written_.contains(pointer_root(pointer));
}

int Printer::uses(const Value& value) const {
  const auto found = uses_.find(&value);
  return found == uses_.end() ? 0 : found->second;
}

bool Printer::may_hold(int words) {
  constexpr int most = 16;
  if (held_words_ + words > most) return false;
  held_words_ += words;
  return true;
}

std::string Printer::name(const Value& value) {
  return value.name.front() == '.' ? "w" + value.name.substr(1) : "v" + value.name;
}

std::string Printer::fresh(const std::string& stem) {
  return stem + "_" + std::to_string(fresh_++);
}

Error Printer::error(const Operation& operation, const std::string& message) const {
  return kernel_.error(operation.location, message);
}

Writer& Printer::out() {
  if (waiting_.empty()) return writer_;
  const std::vector<std::string> statements = std::move(waiting_);
  waiting_.clear();
  waiting_names_.clear();
  const std::string head = "TILE_EACH(r, " + std::to_string(waiting_count_) + ")";
  if (statements.size() == 1) {
    writer_.line(head + " " + statements.front());
  } else {
    writer_.open(head);
    for (const std::string& statement : statements) writer_.line(statement);
    writer_.close();
  }
  return writer_;
}

std::string Printer::at(const std::string& text, const std::string& number) {
  std::string result;
  for (const char c : text)
    if (c == register_mark)
      result += number;
    else
      result += c;
  return result;
}

std::string Printer::scalar(const Operand& operand) {
  if (operand.value == nullptr) return std::to_string(operand.literal);
  const auto found = deferred_.find(operand.value);
  return found == deferred_.end() ? name(*operand.value) : found->second;
}

std::string Printer::element(const Operand& operand, const std::string& number) {
  if (operand.value == nullptr || !operand.value->type.is_tile()) return scalar(operand);
  const auto found = deferred_.find(operand.value);
  if (found != deferred_.end()) {
    const bool simple = number.find_first_of(" +*&|") == std::string::npos || number.front() == '(';
    return at(found->second, simple ? number : "(" + number + ")");
  }
  return name(*operand.value) + "[" + number + "]";
}

std::string Printer::array(const Value& value) {
  if (!deferred_.contains(&value)) {
    static_cast<void>(out());
    return name(value);
  }
  std::string array = fresh(name(value));
  Writer& out = this->out();
  out.line("alignas(16) " + std::string(tile::name(value.type.element)) + " " + array + "[" +
           std::to_string(value.layout.register_count()) + "];");
  out.line("TILE_EACH(r, " + std::to_string(value.layout.register_count()) + ") " + array +
           "[r] = " + element({const_cast<Value*>(&value), 0}, "r") + ";");
  return array;
}

void Printer::declare(const Value& value) {
  std::string text =
      std::string(tile::name(value.type.element)) + (value.type.pointer ? "* " : " ") + name(value);
  if (value.type.is_tile())
    text = "alignas(16) " + text + "[" + std::to_string(value.layout.register_count()) + "]";
  writer_.line(text + ";");
}

void Printer::each(const Value& value, const std::string& statement) {
  const int count = value.layout.register_count();
  if (!waiting_.empty() && waiting_count_ != count) static_cast<void>(out());
  waiting_count_ = count;
  waiting_.push_back(statement);
}

// Values are printed where they are used if that is once, or costs nothing; others get a variable.
void Printer::define(const Value& value, const std::string& text) {
  if (!value.type.is_tile()) {
    const bool is_constant = value.source != nullptr && value.source->is("const");
    if (is_constant) {
      deferred_[&value] = text;
      return;
    }
    const std::string type =
        std::string(tile::name(value.type.element)) + (value.type.pointer ? "*" : "");
    // Numbers are not const: the compiler would try to compute each where it is defined, through
    // all that it is made of, which takes the square of a kernel's length.
    out().line(type + (value.type.pointer ? " const " : " ") + name(value) + " = " + text + ";");
    return;
  }
  const bool single = uses(value) <= 1 && text.size() <= longest_expression;
  if (single) {
    deferred_[&value] = text;
    return;
  }
  if (!waiting_.empty() && waiting_count_ != value.layout.register_count())
    static_cast<void>(out());
  // The statement may read what the same turn of the loop has set, but not what other turns set.
  for (const std::string& other : waiting_names_)
    for (std::size_t from = text.find(other + "["); from != std::string::npos;
         from = text.find(other + "[", from + 1)) {
      const std::size_t end = from + other.size() + 1;
      if (text[end] != register_mark || text[end + 1] != ']') {
        static_cast<void>(out());
        from = std::string::npos - 1;
        break;
      }
    }
  declare(value);  // before the loop
  each(value, name(value) + "[r] = " + at(text, "r") + ";");
  waiting_names_.insert(name(value));
}

void Printer::elementwise(const Operation& operation) {
  if (print_quotient(*this, operation)) return;
  const Value& result = *operation.result();
  std::vector<std::string> operands;
  for (const Operand& operand : operation.operands)
    operands.push_back(element(operand, std::string(1, register_mark)));
  const Expression expression = tile::expression(operation, operands);
  if (!expression.header.empty()) need(expression.header);
  // A user's function runs where the text has it, as often as the text says.
  if (operation.is("call") && result.type.is_tile()) {
    Writer& out = this->out();
    declare(result);
    out.line("TILE_EACH(r, " + std::to_string(result.layout.register_count()) + ") " +
             name(result) + "[r] = " + at(expression.text, "r") + ";");
    return;
  }
  define(result, expression.text);
}

// Operations that give the same elements from other registers of the same thread.
void Printer::forward(const Operation& operation) {
  const Value& result = *operation.result();
  const Operand& operand = operation.operands[0];
  const std::string mark(1, register_mark);
  if (operand.value == nullptr || !operand.value->type.is_tile()) {
    deferred_[&result] = scalar(operand);
    return;
  }
  std::vector<int> map;
  const int bits = result.type.index_bits();
  if (operation.is("broadcast")) {
    map = broadcast_bits(result.type, operand.value->type);
  } else if (operation.is("permute")) {
    const std::vector<int> forward = permuted_bits(operation);
    map.resize(forward.size());
    for (std::size_t i = 0; i < forward.size(); ++i)
      map[static_cast<std::size_t>(forward[i])] = static_cast<int>(i);
  } else {
    for (int bit = 0; bit < bits; ++bit) map.push_back(bit);
  }
  std::vector<int> places;  // for each bit of the result's register: that of the operand's
  for (const int bit : result.layout.registers) {
    const int source = map[static_cast<std::size_t>(bit)];
    places.push_back(source < 0 ? -1 : operand.value->layout.register_of(source));
  }
  if (!result.type.is_tile()) {
    deferred_[&result] = element(operand, "0");
    return;
  }
  const bool same =
      result.layout.registers.size() == operand.value->layout.registers.size() && [&] {
        for (std::size_t i = 0; i < places.size(); ++i)
          if (places[i] != static_cast<int>(i)) return false;
        return true;
      }();
  const std::string number = same ? mark : bits_moved(places, mark, true);
  deferred_[&result] = element(operand, number);
}

void Printer::barrier(const Operation& operation, std::size_t phase) {
  if (phase < operation.barriers.size() && operation.barriers[phase])
    out().line("__syncthreads();");
}

std::string Printer::shared(Element element, std::int64_t offset) {
  const std::string address =
      offset == 0 ? "shared_memory" : "(shared_memory + " + std::to_string(offset) + ")";
  return "((" + std::string(tile::name(element)) + "*)" + address + ")";
}

std::string Printer::thread_part(const std::vector<int>& lanes, const std::vector<int>& warps) {
  std::vector<int> both = lanes;
  both.insert(both.end(), warps.begin(), warps.end());
  return bits_moved(both, "tid", true);
}

std::string Printer::register_part(const std::vector<int>& registers, const std::string& number) {
  return bits_moved(registers, number, true);
}

std::string Printer::is_first_replica(const Layout& layout) {
  std::int64_t mask = 0;
  for (std::size_t i = 0; i < layout.lanes.size(); ++i)
    if (layout.lanes[i] < 0) mask |= std::int64_t{1} << i;
  for (std::size_t i = 0; i < layout.warps.size(); ++i)
    if (layout.warps[i] < 0) mask |= std::int64_t{32} << i;
  return mask == 0 ? "" : "(tid & " + std::to_string(mask) + ") == 0";
}

void Printer::region(const Region& region) {
  for (const std::unique_ptr<Operation>& each : region.operations) operation(*each);
}

void Printer::operation(const Operation& operation) {
  if (!is_pure(operation) || !operation.regions.empty()) static_cast<void>(out());
  if (!waiting_.empty() && !is_elementwise(operation)) static_cast<void>(out());
  writer_.locate(operation.location);
  if (lowering_.print(*this, operation)) return;
  const std::string& op = operation.name;
  if (op == "const" || op == "iota") {
    const Value& result = *operation.result();
    if (op == "const")
      return define(
          result, deferred_[&result] = literal(*operation.attribute("value"), result.type.element));
    const std::string thread = thread_part(result.layout.lanes, result.layout.warps);
    const std::string number =
        register_part(result.layout.registers, std::string(1, register_mark));
    std::string sum = number == "0" ? thread : thread == "0" ? number : thread + " + " + number;
    deferred_[&result] = std::string(tile::name(result.type.element)) + "(" + sum + ")";
    return;
  }
  if (op == "bid" || op == "num_blocks") {
    const char axis = "xyz"[operation.integer("axis")];
    out().line("i32 " + name(*operation.result()) + " = i32(" +
               (op == "bid" ? "blockIdx." : "gridDim.") + axis + ");");
    return;
  }
  if (is_forwarding(operation)) return forward(operation);
  if (is_elementwise(operation)) return elementwise(operation);
  if (op == "load") return print_load(*this, operation);
  if (op == "store") return print_store(*this, operation);
  if (op == "load_at") return print_load_at(*this, operation);
  if (op == "store_at") return print_store_at(*this, operation);
  if (op == "atomic" || op == "atomic_cas") return print_atomic(*this, operation);
  if (op == "reduce") return print_reduce(*this, operation);
  if (op == "scan") return print_scan(*this, operation);
  if (op == "convert") return print_convert(*this, operation);
  if (op == "extract" || op == "insert" || op == "cat" || op == "pack" || op == "unpack")
    return print_block(*this, operation);
  if (op == "print" || op == "assert") return print_message(*this, operation);
  if (op == "grid_wait" || op == "grid_launch_dependents") {
    barrier(operation, 0);
    need("dependent_launch.cuh");
    out().line(op + "();");
    return;
  }
  if (is_terminator(operation) || !operation.regions.empty())
    return print_control(*this, operation);
  throw error(operation, "'" + op + "' has no lowering for this device");
}

}  // namespace cudacore::tile
