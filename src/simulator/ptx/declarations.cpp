// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/declarations.hpp"

#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "simulator/ptx/constants.hpp"
#include "simulator/ptx/initializers.hpp"
#include "simulator/ptx/keywords.hpp"

namespace cudacore::simulator::ptx {
namespace {

constexpr unsigned largest_alignment = 1U << 20U;
constexpr std::size_t most_dimensions = 32;
constexpr unsigned last_constant_bank = 10;

unsigned parse_alignment(Lexer& lexer) {
  const Position position = lexer.token().position;
  const auto align = static_cast<unsigned>(lexer.expect_integer("an alignment", largest_alignment));
  if (!std::has_single_bit(align)) Lexer::fail(position, "an alignment must be a power of two");
  return align;
}

void parse_qualifier(Lexer& lexer, const Token& token, Qualifiers& qualifiers) {
  const Directive directive = directive_of(token.word());
  switch (directive) {
    case Directive::align:
      qualifiers.align = parse_alignment(lexer);
      return;
    case Directive::v2:
      qualifiers.vector = 2;
      return;
    case Directive::v4:
      qualifiers.vector = 4;
      return;
    case Directive::v8:
      qualifiers.vector = 8;
      return;
    case Directive::attribute:
      parse_attributes(lexer, qualifiers);
      return;
    case Directive::ptr:
      qualifiers.is_pointer = true;
      if (lexer.at(Token::Kind::directive) && space_of(directive_of(lexer.token().word()))) {
        lexer.next();
      }
      return;
    default:
      break;
  }
  const std::string what = directive == Directive::unknown ? "unknown directive " : "unexpected ";
  Lexer::fail(token.position, what + quoted(token.text) + " in a declaration");
}

/// "[3][4]". An unknown size, which only the first dimension can have, counts as 0.
std::vector<std::size_t> parse_dimensions(Lexer& lexer, bool& is_unsized) {
  std::vector<std::size_t> dimensions;
  while (lexer.at('[')) {
    if (dimensions.size() == most_dimensions) {
      lexer.fail("an array has at most " + std::to_string(most_dimensions) + " dimensions");
    }
    lexer.next();
    if (dimensions.empty() && lexer.at(']')) {
      is_unsized = true;
      dimensions.push_back(0);
    } else {
      const Position position = lexer.token().position;
      const std::int64_t extent = parse_integer(lexer, "an array's size");
      if (extent < 0) Lexer::fail(position, "an array's size must not be negative");
      if (static_cast<std::uint64_t>(extent) > largest_size) {
        Lexer::fail(position, "this array is larger than 2^40 bytes");
      }
      dimensions.push_back(static_cast<std::size_t>(extent));
    }
    lexer.expect(']');
  }
  return dimensions;
}

struct Declarator {
  Variable variable;
  std::vector<std::size_t> dimensions;
  bool is_unsized = false;
};

Declarator parse_declarator(Lexer& lexer, const Qualifiers& qualifiers, Space space) {
  Declarator out;
  Variable& variable = out.variable;
  variable.position = lexer.token().position;
  variable.name = lexer.expect_name("a name");
  variable.space = space;
  variable.type = qualifiers.type;
  variable.vector = qualifiers.vector;
  variable.is_pointer = qualifiers.is_pointer;
  variable.managed = qualifiers.managed;
  variable.opaque = qualifiers.opaque;
  out.dimensions = parse_dimensions(lexer, out.is_unsized);
  variable.is_array = !out.dimensions.empty();
  variable.size = std::size_t{size_of(variable.type)} * variable.vector;
  variable.align = qualifiers.align != 0 ? qualifiers.align : static_cast<unsigned>(variable.size);
  for (const std::size_t extent : out.dimensions) {
    if (extent != 0 && variable.size > largest_size / extent) {
      Lexer::fail(variable.position, quoted(variable.name) + " is larger than 2^40 bytes");
    }
    variable.size *= extent;
  }
  return out;
}

void refuse_predicate(const Qualifiers& qualifiers, Position position) {
  if (qualifiers.type == Type::pred) Lexer::fail(position, "a predicate can only be a register");
}

void parse_initial(Lexer& lexer, Ledger& ledger, Declarator& declarator) {
  Variable& variable = declarator.variable;
  const Position position = lexer.token().position;
  lexer.next();
  if (variable.opaque) {
    const Position opening = lexer.token().position;
    lexer.expect('{');
    return lexer.skip_block(opening);
  }
  if (variable.space != Space::global && variable.space != Space::constant) {
    Lexer::fail(position, "only .global and .const variables take an initial value");
  }
  if (variable.linkage == Linkage::external) {
    Lexer::fail(position, "an .extern variable takes no initial value");
  }
  parse_initializer(lexer, ledger, variable, declarator.dimensions, declarator.is_unsized);
}

}  // namespace

void parse_attributes(Lexer& lexer, Qualifiers& qualifiers) {
  lexer.expect('(');
  do {
    if (!lexer.at(Token::Kind::directive)) lexer.fail_expected("an attribute");
    const Token attribute = lexer.token();
    lexer.next();
    if (attribute.text == ".managed") {
      qualifiers.managed = true;
    } else if (attribute.text == ".unified") {
      lexer.expect('(');
      static_cast<void>(parse_integer(lexer, "an identifier"));
      lexer.expect(',');
      static_cast<void>(parse_integer(lexer, "an identifier"));
      lexer.expect(')');
    } else {
      Lexer::fail(attribute.position, "unknown attribute " + quoted(attribute.text));
    }
  } while (lexer.accept(','));
  lexer.expect(')');
}

Qualifiers parse_qualifiers(Lexer& lexer) {
  Qualifiers qualifiers;
  bool typed = false;
  while (lexer.at(Token::Kind::directive)) {
    const Token token = lexer.token();
    const std::optional<Type> type = type_of(token.word());
    const bool opaque = !type && is_opaque_type(token.word());
    if ((type || opaque) && typed) lexer.fail("a second type, " + quoted(token.text));
    lexer.next();
    if (type || opaque) {
      qualifiers.type = type.value_or(Type::b64);
      qualifiers.opaque = opaque;
      typed = true;
    } else {
      parse_qualifier(lexer, token, qualifiers);
    }
  }
  if (!typed) lexer.fail_expected("a type");
  return qualifiers;
}

void parse_variables(Lexer& lexer, Ledger& ledger, Space space, Linkage linkage,
                     std::vector<Variable>& variables) {
  if (space == Space::constant && lexer.accept('[')) {
    static_cast<void>(lexer.expect_integer("a constant bank", last_constant_bank));
    lexer.expect(']');
  }
  const Position position = lexer.token().position;
  const Qualifiers qualifiers = parse_qualifiers(lexer);
  refuse_predicate(qualifiers, position);
  do {
    Declarator declarator = parse_declarator(lexer, qualifiers, space);
    declarator.variable.linkage = linkage;
    if (lexer.at('=')) {
      parse_initial(lexer, ledger, declarator);
    } else if (declarator.is_unsized && linkage != Linkage::external) {
      Lexer::fail(declarator.variable.position,
                  quoted(declarator.variable.name) +
                      " has no size: only an .extern array or one with initial values may");
    }
    variables.push_back(std::move(declarator.variable));
  } while (lexer.accept(','));
  lexer.expect(';');
}

Variable parse_parameter(Lexer& lexer) {
  const Token token = lexer.token();
  if (!lexer.at(Token::Kind::directive)) lexer.fail_expected("a parameter");
  const Directive directive = directive_of(token.word());
  if (directive != Directive::param && directive != Directive::reg) {
    lexer.fail_expected("'.param' or '.reg'");
  }
  lexer.next();
  const Qualifiers qualifiers = parse_qualifiers(lexer);
  const bool in_register = directive == Directive::reg;
  if (!in_register) refuse_predicate(qualifiers, token.position);
  Declarator declarator = parse_declarator(lexer, qualifiers, Space::param);
  declarator.variable.in_register = in_register;
  if (in_register && declarator.variable.is_array) {
    Lexer::fail(declarator.variable.position, "an array cannot be a register");
  }
  return std::move(declarator.variable);
}

}  // namespace cudacore::simulator::ptx
