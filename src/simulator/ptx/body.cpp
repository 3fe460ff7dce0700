// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/body.hpp"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/ptx/constants.hpp"

namespace cudacore::simulator::ptx {
namespace {

std::optional<Linkage> linkage_of(Directive directive) noexcept {
  switch (directive) {
    case Directive::external:
      return Linkage::external;
    case Directive::visible:
      return Linkage::visible;
    case Directive::weak:
      return Linkage::weak;
    case Directive::common:
      return Linkage::common;
    default:
      return std::nullopt;
  }
}

}  // namespace

void BodyParser::declare(const Symbol& symbol, Position position) {
  declare_symbol(symbols_, symbol, position);
}

void BodyParser::open_scope() {
  if (symbols_.depth() >= Symbols::deepest) lexer_.fail("blocks are nested too deep");
  symbols_.open_scope();
  labels_.open_scope();
}

void BodyParser::close_scope() {
  labels_.close_scope(symbols_);
  symbols_.close_scope();
}

void BodyParser::parse() {
  const Position opening = lexer_.token().position;
  // The parameters' scope is also the body's.
  labels_.open_scope();
  lexer_.expect('{');
  for (std::size_t depth = 1; depth != 0;) {
    if (lexer_.at('{')) {
      open_scope();
      ++depth;
      lexer_.next();
    } else if (lexer_.at('}')) {
      if (--depth != 0) close_scope();
      if (depth != 0) lexer_.next();
    } else if (lexer_.at(Token::Kind::end)) {
      lexer_.fail_expected("'}' for the '{' of line " + std::to_string(opening.line));
    } else {
      parse_statement();
    }
  }
  labels_.close_scope(symbols_);
  lexer_.next();
}

void BodyParser::parse_statement() {
  switch (lexer_.token().kind) {
    case Token::Kind::name: {
      const Position position = lexer_.token().position;
      lexer_.extend_opcode();
      const std::string_view name = lexer_.token().text;
      lexer_.next();
      if (lexer_.at(':')) return parse_label(name, position);
      Instruction& instruction = function_.instructions.emplace_back();
      instruction.opcode = name;
      instruction.position = position;
      return parse_instruction(instruction);
    }
    case Token::Kind::directive:
      return parse_directive();
    case Token::Kind::symbol:
      if (!lexer_.at('@')) break;
      if (lexer_.following() == '@') return lexer_.skip_line();
      return parse_guarded();
    default:
      break;
  }
  lexer_.fail_expected("an instruction");
}

void BodyParser::parse_guarded() {
  const Position position = lexer_.token().position;
  lexer_.next();
  const bool negated = lexer_.accept('!');
  const std::uint32_t guard = operands_.parse_guard();
  if (!lexer_.at(Token::Kind::name)) lexer_.fail_expected("an instruction");
  lexer_.extend_opcode();
  Instruction& instruction = function_.instructions.emplace_back();
  instruction.opcode = lexer_.token().text;
  instruction.position = position;
  instruction.guard = guard;
  instruction.guard_negated = negated;
  lexer_.next();
  parse_instruction(instruction);
}

std::string_view BodyParser::parse_opcode_in_parts(std::string_view first) {
  std::string& whole = module_.opcodes.emplace_back(first);
  while (lexer_.at(Token::Kind::directive)) {
    lexer_.extend_opcode();
    whole += lexer_.token().text;
    lexer_.next();
  }
  return whole;
}

void BodyParser::parse_instruction(Instruction& instruction) {
  const char initial = instruction.opcode.front();
  if (initial < 'a' || initial > 'z') {
    Lexer::fail(instruction.position,
                "expected an instruction, found " + quoted(instruction.opcode));
  }
  if (lexer_.at(Token::Kind::directive)) {
    instruction.opcode = parse_opcode_in_parts(instruction.opcode);
  }
  instruction.location = location_;
  instruction.form = form_of(instruction.opcode);
  instruction.operands = operands_.parse(instruction.form, labels_.operands());
  if (!lexer_.accept(';')) {
    lexer_.fail_expected(instruction.operands.empty() ? "an operand or ';'" : "',' or ';'");
  }
}

void BodyParser::parse_directive() {
  const Token token = lexer_.token();
  const Directive directive = directive_of(token.word());
  lexer_.next();
  switch (directive) {
    case Directive::reg:
      return parse_registers();
    case Directive::loc:
      return parse_location();
    case Directive::pragma:
      return parse_pragma(lexer_);
    case Directive::file:
      return parse_file(lexer_, ledger_, module_);
    case Directive::unknown:
      Lexer::fail(token.position, "unknown directive " + quoted(token.text));
    default:
      break;
  }
  if (const std::optional<Space> space = space_of(directive)) {
    return parse_body_variables(*space, Linkage::internal);
  }
  if (linkage_of(directive)) return parse_linked_variables(directive);
  Lexer::fail(token.position, quoted(token.text) + " does not belong here");
}

void BodyParser::parse_linked_variables(Directive linkage) {
  if (!lexer_.at(Token::Kind::directive)) lexer_.fail_expected("the space of a variable");
  const std::optional<Space> space = space_of(directive_of(lexer_.token().word()));
  if (!space) lexer_.fail_expected("the space of a variable");
  lexer_.next();
  parse_body_variables(*space, *linkage_of(linkage));
}

void BodyParser::parse_body_variables(Space space, Linkage linkage) {
  std::size_t next = function_.variables.size();
  parse_variables(lexer_, ledger_, space, linkage, function_.variables);
  for (; next < function_.variables.size(); ++next) {
    const Variable& variable = function_.variables[next];
    Symbol symbol;
    symbol.name = variable.name;
    symbol.kind = Symbol::Kind::variable;
    symbol.index = static_cast<std::uint32_t>(next);
    declare(symbol, variable.position);
  }
}

void BodyParser::parse_registers() {
  const Qualifiers qualifiers = parse_qualifiers(lexer_);
  do {
    parse_register_name(qualifiers);
  } while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::parse_register_name(const Qualifiers& qualifiers) {
  const Position position = lexer_.token().position;
  Symbol symbol;
  symbol.name = lexer_.expect_name("a register");
  symbol.width = qualifiers.vector;
  std::size_t count = 1;
  if (lexer_.accept('<')) {
    symbol.kind = Symbol::Kind::family;
    count = lexer_.expect_integer("a number of registers", largest_32);
    symbol.count = static_cast<std::uint32_t>(count);
    lexer_.expect('>');
  }
  const Register model{qualifiers.type, 1, symbol.name};
  symbol.index = add_registers(ledger_, function_, model, count * symbol.width, position);
  declare(symbol, position);
}

void BodyParser::parse_location() {
  Location location;
  location.file = static_cast<std::uint32_t>(lexer_.expect_integer("a file's number", largest_32));
  location.line = static_cast<std::uint32_t>(lexer_.expect_integer("a line", largest_32));
  if (lexer_.at(Token::Kind::integer)) {
    location.column = static_cast<std::uint32_t>(lexer_.expect_integer("a column", largest_32));
  }
  while (lexer_.accept(',')) {
    if (lexer_.at_name("function_name")) {
      lexer_.next();
      static_cast<void>(lexer_.expect_name("a label"));
      if (lexer_.accept('+')) static_cast<void>(lexer_.expect_integer("an offset", largest_32));
    } else if (lexer_.at_name("inlined_at")) {
      lexer_.next();
      parse_inlined_at(location);
    } else {
      lexer_.fail_expected("'function_name' or 'inlined_at'");
    }
  }
  location_ = static_cast<std::uint32_t>(module_.locations.size());
  module_.locations.push_back(location);
}

void BodyParser::parse_inlined_at(Location& location) {
  const auto number = [this](const char* what) {
    return static_cast<std::uint32_t>(lexer_.expect_integer(what, largest_32));
  };
  location.call_file = number("a file's number");
  location.call_line = number("a line");
  const std::uint32_t column = number("a column");
  // The call may have been inlined as well; its own position stands further up then.
  for (std::size_t i = module_.locations.size(); i-- > first_location_;) {
    const Location& call = module_.locations[i];
    if (call.file != location.call_file || call.line != location.call_line || call.column != column)
      continue;
    if (call.call_line != 0) {
      location.call_file = call.call_file;
      location.call_line = call.call_line;
    }
    return;
  }
}

void BodyParser::parse_label(std::string_view name, Position position) {
  if (name.find('.') != std::string_view::npos) lexer_.fail_expected("an operand or ';'");
  lexer_.next();
  Directive directive = Directive::unknown;
  if (lexer_.at(Token::Kind::directive)) directive = directive_of(lexer_.token().word());
  Symbol symbol;
  symbol.name = name;
  switch (directive) {
    case Directive::branchtargets:
    case Directive::calltargets:
      symbol.kind = Symbol::Kind::table;
      symbol.index = static_cast<std::uint32_t>(function_.tables.size());
      break;
    case Directive::callprototype:
      symbol.kind = Symbol::Kind::prototype;
      symbol.index = static_cast<std::uint32_t>(function_.prototypes.size());
      break;
    default:
      symbol.kind = Symbol::Kind::label;
      symbol.index = static_cast<std::uint32_t>(function_.instructions.size());
      return declare(symbol, position);
  }
  declare(symbol, position);
  lexer_.next();
  if (directive == Directive::branchtargets) return parse_branch_targets(name);
  if (directive == Directive::calltargets) return parse_call_targets(name);
  parse_prototype(name);
}

void BodyParser::parse_branch_targets(std::string_view name) {
  function_.tables.push_back({name, {}, {}});
  do {
    const Position position = lexer_.token().position;
    labels_.add_target(lexer_.expect_name("a label"), position);
  } while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::parse_call_targets(std::string_view name) {
  Table& table = function_.tables.emplace_back();
  table.name = name;
  do {
    const Position position = lexer_.token().position;
    table.functions.push_back(lexer_.expect_name("a function"));
    ledger_.references.push_back({table.functions.back(), position});
  } while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::parse_prototype(std::string_view name) {
  Prototype& prototype = function_.prototypes.emplace_back();
  prototype.name = name;
  if (lexer_.at('(')) prototype.results = parse_parameters(lexer_);
  static_cast<void>(lexer_.expect_name("'_'"));
  if (lexer_.at('(')) prototype.parameters = parse_parameters(lexer_);
  while (lexer_.at(Token::Kind::directive)) {
    const Token token = lexer_.token();
    switch (directive_of(token.word())) {
      case Directive::noreturn:
        lexer_.next();
        break;
      case Directive::abi_preserve:
      case Directive::abi_preserve_control:
        lexer_.next();
        static_cast<void>(lexer_.expect_integer("a number of registers", largest_32));
        break;
      default:
        lexer_.fail("unknown directive " + quoted(token.text) + " of a prototype");
    }
  }
  lexer_.expect(';');
}

void declare_symbol(Symbols& symbols, const Symbol& symbol, Position position) {
  if (symbols.declare(symbol)) return;
  const std::string family = symbol.kind == Symbol::Kind::family ? " or one of its registers" : "";
  Lexer::fail(position, quoted(symbol.name) + family + " is declared already");
}

std::uint32_t add_registers(Ledger& ledger, Function& function, const Register& model,
                            std::size_t count, Position position) {
  if (count > ledger.entries) Lexer::fail(position, "too many registers");
  ledger.entries -= count;
  const std::size_t first = function.registers.size();
  function.registers.resize(first + count, model);
  return static_cast<std::uint32_t>(first);
}

std::vector<Variable> parse_parameters(Lexer& lexer) {
  std::vector<Variable> parameters;
  lexer.expect('(');
  if (lexer.accept(')')) return parameters;
  do {
    parameters.push_back(parse_parameter(lexer));
  } while (lexer.accept(','));
  lexer.expect(')');
  return parameters;
}

void parse_file(Lexer& lexer, Ledger& ledger, Module& module) {
  const Position position = lexer.token().position;
  const auto number = static_cast<std::size_t>(lexer.expect_integer("a file's number", largest_32));
  if (!lexer.at(Token::Kind::string)) lexer.fail_expected("a file's name");
  if (number >= module.files.size()) {
    const std::size_t added = number + 1 - module.files.size();
    if (added > ledger.entries) Lexer::fail(position, "a file's number is too large");
    ledger.entries -= added;
    module.files.resize(number + 1);
  }
  const std::string_view name = lexer.token().text;
  module.files[number] = name.substr(1, name.size() - 2);
  lexer.next();
  while (lexer.accept(',')) {
    static_cast<void>(
        lexer.expect_integer("a file's time or size", std::numeric_limits<std::uint64_t>::max()));
  }
}

void parse_pragma(Lexer& lexer) {
  do {
    if (!lexer.at(Token::Kind::string)) lexer.fail_expected("a pragma's text");
    lexer.next();
  } while (lexer.accept(','));
  lexer.expect(';');
}

}  // namespace cudacore::simulator::ptx
