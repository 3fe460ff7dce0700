// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/operands.hpp"

#include <algorithm>
#include <string>

#include "simulator/ptx/constants.hpp"
#include "simulator/ptx/keywords.hpp"

namespace cudacore::simulator::ptx {
namespace {

bool is_mnemonic(std::string_view opcode, std::string_view mnemonic) noexcept {
  return opcode.starts_with(mnemonic) &&
         (opcode.size() == mnemonic.size() || opcode[mnemonic.size()] == '.');
}

bool begins_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

/// "x" is 0, and so on, or none.
std::uint32_t component_of(std::string_view name) noexcept {
  if (name.size() != 1) return RegisterRange::none;
  for (const std::string_view names : {std::string_view("xyzw"), std::string_view("rgba")}) {
    const std::size_t found = names.find(name.front());
    if (found != std::string_view::npos) return static_cast<std::uint32_t>(found);
  }
  return RegisterRange::none;
}

/// The parts of a register that video instructions select: "b0", "h1", "b3210".
bool is_selector(std::string_view name) noexcept {
  return name.size() > 1 && (name.front() == 'b' || name.front() == 'h') &&
         name.find_first_not_of("01234567", 1) == std::string_view::npos;
}

}  // namespace

Form form_of(std::string_view opcode) noexcept {
  if (opcode.size() < 3) return Form::plain;
  if (opcode[0] == 'b' && opcode[1] == 'r') {
    if (is_mnemonic(opcode, "bra")) return Form::branch;
    if (is_mnemonic(opcode, "brx")) return Form::indexed_branch;
  }
  if (opcode[0] == 'c' && is_mnemonic(opcode, "call")) return Form::call;
  return Form::plain;
}

std::span<Operand> OperandParser::parse(Form form, std::vector<Operand*>& labels) {
  if (lexer_.at(';')) return {};
  ordinal_ = 0;
  called_ = false;
  bool paired = false;
  for (;;) {
    Operand& operand = runs_.push();
    operand.paired = paired;
    operand.position = lexer_.token().position;
    parse_operand(operand, form);
    ++ordinal_;
    paired = lexer_.at('|');
    if (!paired && !lexer_.at(',')) break;
    lexer_.next();
  }
  const std::span<Operand> operands = runs_.close();
  if (!label_ordinals_.empty()) {
    for (const std::size_t ordinal : label_ordinals_) labels.push_back(&operands[ordinal]);
    label_ordinals_.clear();
  }
  return operands;
}

std::uint32_t OperandParser::parse_guard() {
  if (!lexer_.at(Token::Kind::name)) lexer_.fail_expected("a predicate");
  Operand operand;
  operand.position = lexer_.token().position;
  const std::string_view name = lexer_.token().text;
  if (!parse_register(operand)) {
    Lexer::fail(operand.position, "register " + quoted(name) + " is not declared");
  }
  if (operand.kind != Operand::Kind::reg || function_.registers[operand.index].type != Type::pred) {
    Lexer::fail(operand.position, quoted(name) + " is not a predicate");
  }
  return operand.index;
}

void OperandParser::parse_operand(Operand& operand, Form form) {
  switch (form) {
    case Form::plain:
      return parse_plain(operand);
    case Form::branch:
      return parse_label(operand);
    case Form::indexed_branch:
      return ordinal_ == 0 ? parse_plain(operand) : parse_label(operand);
    case Form::call:
      break;
  }
  if (lexer_.at('(')) return parse_list(operand);
  if (called_) return parse_label(operand);
  called_ = true;
  parse_plain(operand);
}

void OperandParser::parse_label(Operand& operand) {
  operand.kind = Operand::Kind::label;
  operand.name = lexer_.expect_name("a label");
  label_ordinals_.push_back(ordinal_);
}

void OperandParser::parse_plain(Operand& operand) {
  switch (lexer_.token().kind) {
    case Token::Kind::name:
      return parse_name(operand);
    case Token::Kind::integer:
    case Token::Kind::f32:
    case Token::Kind::f64:
      return parse_value(operand);
    case Token::Kind::symbol:
      break;
    default:
      lexer_.fail_expected("an operand");
  }
  switch (lexer_.token().symbol) {
    case '[':
      return parse_address(operand);
    case '{':
      return parse_vector(operand);
    case '!':
    case '-':
      if (begins_name(lexer_.following())) return parse_negated(operand);
      return parse_value(operand);
    case '+':
    case '~':
    case '(':
      return parse_value(operand);
    default:
      lexer_.fail_expected("an operand");
  }
}

void OperandParser::parse_negated(Operand& operand) {
  const Lexer before = lexer_;
  lexer_.next();
  if (lexer_.at_name("WARP_SZ")) {
    lexer_ = before;
    return parse_value(operand);
  }
  const Position position = lexer_.token().position;
  const std::string_view name = lexer_.token().text;
  if (!parse_register(operand)) {
    Lexer::fail(position, "register " + quoted(name) + " is not declared");
  }
  operand.negated = true;
}

void OperandParser::parse_name(Operand& operand) {
  const std::string_view name = lexer_.token().text;
  if (parse_register(operand)) return;
  if (name == "_") {
    operand.kind = Operand::Kind::blank;
    lexer_.next();
  } else if (name == "WARP_SZ") {
    parse_warp_size(operand);
  } else if (is_special_register(name)) {
    parse_special(operand);
  } else {
    parse_symbol(operand);
  }
}

bool OperandParser::parse_register(Operand& operand) {
  const std::string_view name = lexer_.token().text;
  const RegisterRange range = symbols_.find_register(name);
  if (range.index == RegisterRange::none) return false;
  if (lexer_.following() == '.') {
    parse_component(operand, range);
  } else if (range.width == 1) {
    set_register(operand, range.index, name);
  } else {
    expand(operand, range);
  }
  lexer_.next();
  return true;
}

void OperandParser::set_register(Operand& operand, std::uint32_t index,
                                 std::string_view name) const {
  operand.kind = Operand::Kind::reg;
  operand.index = index;
  Register& found = function_.registers[index];
  if (found.name.size() < name.size()) found.name = name;
}

void OperandParser::parse_component(Operand& operand, RegisterRange range) {
  const std::size_t size = lexer_.token().text.size();
  lexer_.extend_component();
  const std::string_view whole = lexer_.token().text;
  const std::string_view part = whole.substr(std::min(whole.size(), size + 1));
  if (range.width == 1) {
    if (!is_selector(part)) lexer_.fail(quoted(whole) + ": this register has no components");
    set_register(operand, range.index, whole.substr(0, size));
    operand.name = part;
    return;
  }
  const std::uint32_t component = component_of(part);
  if (component >= range.width) lexer_.fail(quoted(whole) + ": there is no such component");
  set_register(operand, range.index + component, whole);
}

void OperandParser::expand(Operand& operand, RegisterRange range) {
  if (in_vector_) lexer_.fail("a vector within a vector");
  for (std::uint32_t i = 0; i < range.width; ++i) {
    Operand& element = elements_.push();
    element.position = operand.position;
    element.kind = Operand::Kind::reg;
    element.index = range.index + i;
  }
  operand.kind = Operand::Kind::vector;
  operand.elements = elements_.close();
}

void OperandParser::parse_special(Operand& operand) {
  operand.kind = Operand::Kind::special;
  const std::string_view name = lexer_.token().text;
  if (lexer_.following() == '.') {
    lexer_.extend_component();
    const std::string_view whole = lexer_.token().text;
    const bool exists = whole.size() == name.size() + 2 &&
                        std::string_view("xyzw").find(whole.back()) != std::string_view::npos;
    if (!exists || !is_special_vector(name)) {
      lexer_.fail(quoted(whole) + ": there is no such component");
    }
  }
  operand.name = lexer_.token().text;
  lexer_.next();
}

void OperandParser::parse_warp_size(Operand& operand) {
  const Lexer before = lexer_;
  lexer_.next();
  const Token& after = lexer_.token();
  const bool alone = after.kind != Token::Kind::symbol ||
                     std::string_view(",;]})").find(after.symbol) != std::string_view::npos;
  if (!alone) {
    lexer_ = before;
    return parse_value(operand);
  }
  operand.kind = Operand::Kind::special;
  operand.name = before.token().text;
}

void OperandParser::parse_value(Operand& operand) {
  const Constant value = parse_constant(lexer_);
  operand.bits = value.bits;
  switch (value.kind) {
    case Constant::Kind::f32:
      operand.kind = Operand::Kind::f32;
      return;
    case Constant::Kind::f64:
      operand.kind = Operand::Kind::f64;
      return;
    default:
      operand.kind = Operand::Kind::integer;
  }
}

void OperandParser::parse_symbol(Operand& operand) {
  const std::string_view name = lexer_.token().text;
  const Symbol* const symbol = symbols_.find(name);
  if (symbol == nullptr) {
    const bool register_like = name.front() == '%';
    lexer_.fail((register_like ? "register " : "") + quoted(name) + " is not declared");
  }
  if (symbol->is_label()) lexer_.fail("the label " + quoted(name) + " is not an operand here");
  operand.kind = Operand::Kind::symbol;
  refer(operand, *symbol, name);
  lexer_.next();
  if (lexer_.at('[')) parse_index(operand);
  parse_offset(operand);
}

void OperandParser::refer(Operand& operand, const Symbol& symbol, std::string_view name) {
  operand.name = name;
  if (symbol.kind != Symbol::Kind::variable) return;
  operand.variable_known = true;
  operand.index = symbol.index;
}

std::size_t OperandParser::element_size(const Operand& operand) const {
  const Variable* variable = nullptr;
  if (operand.variable_known) {
    variable = &function_.variables[operand.index];
  } else if (const Symbol* const symbol = symbols_.find(operand.name);
             symbol != nullptr && symbol->kind == Symbol::Kind::global_variable) {
    variable = &module_.variables[symbol->index];
  }
  if (variable == nullptr || !variable->is_array) {
    lexer_.fail(quoted(operand.name) + " is not an array");
  }
  return std::size_t{size_of(variable->type)} * variable->vector;
}

void OperandParser::parse_index(Operand& operand) {
  const std::size_t size = element_size(operand);
  lexer_.next();
  const std::int64_t index = parse_integer(lexer_, "an index");
  lexer_.expect(']');
  operand.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(index) * size);
}

void OperandParser::parse_offset(Operand& operand) {
  if (!lexer_.at('+') && !lexer_.at('-')) return;
  const auto sum = static_cast<std::uint64_t>(operand.offset) +
                   static_cast<std::uint64_t>(parse_integer(lexer_, "an offset"));
  operand.offset = static_cast<std::int64_t>(sum);
}

void OperandParser::parse_address(Operand& operand) {
  lexer_.next();
  if (at_constant(lexer_)) {
    operand.offset = parse_integer(lexer_, "an address");
  } else {
    if (!lexer_.at(Token::Kind::name)) lexer_.fail_expected("an address");
    if (parse_register(operand)) {
      if (operand.kind != Operand::Kind::reg) lexer_.fail("an address cannot be a vector");
      operand.base = Operand::Base::reg;
      parse_offset(operand);
    } else {
      parse_symbol(operand);
      operand.base = Operand::Base::symbol;
    }
  }
  operand.kind = Operand::Kind::address;
  if (lexer_.at(',')) {
    scratch_.clear();
    while (lexer_.accept(',')) {
      if (lexer_.at('[')) lexer_.fail_expected("an operand other than an address");
      Operand& element = scratch_.emplace_back();
      element.position = lexer_.token().position;
      parse_plain(element);
    }
    operand.elements = keep(scratch_);
  }
  lexer_.expect(']');
}

void OperandParser::parse_vector(Operand& operand) {
  lexer_.next();
  operand.kind = Operand::Kind::vector;
  in_vector_ = true;
  do {
    const Token& token = lexer_.token();
    if (token.symbol == '{' || token.symbol == '[') lexer_.fail_expected("a vector's element");
    Operand& element = elements_.push();
    element.position = token.position;
    parse_plain(element);
  } while (lexer_.accept(','));
  in_vector_ = false;
  operand.elements = elements_.close();
  lexer_.expect('}');
}

void OperandParser::parse_list(Operand& operand) {
  lexer_.next();
  operand.kind = Operand::Kind::list;
  scratch_.clear();
  if (!lexer_.at(')')) {
    do {
      if (lexer_.at('[') || lexer_.at('(')) lexer_.fail_expected("an argument");
      Operand& element = scratch_.emplace_back();
      element.position = lexer_.token().position;
      parse_plain(element);
    } while (lexer_.accept(','));
  }
  operand.elements = keep(scratch_);
  lexer_.expect(')');
}

std::span<const Operand> OperandParser::keep(std::span<const Operand> operands) {
  for (const Operand& operand : operands) elements_.push() = operand;
  return elements_.close();
}

}  // namespace cudacore::simulator::ptx
