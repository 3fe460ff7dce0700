// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/functions.hpp"

#include <string>
#include <utility>

namespace cudacore::simulator::ptx {
namespace {}  // namespace

void FunctionParser::parse(bool is_entry, Linkage linkage) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linkage;
  parse_head(function);
  parse_directives(function);
  if (!lexer_.at('{') && !lexer_.at(';')) lexer_.fail_expected("'{' or ';'");
  function.has_body = lexer_.at('{');
  if (function.has_body && linkage == Linkage::external) {
    lexer_.fail("the .extern function " + quoted(function.name) + " cannot have a body");
  }
  declare(function);
  symbols_.open_scope();
  declare_parameters(function, function.parameters);
  declare_parameters(function, function.results);
  if (function.has_body) {
    BodyParser(lexer_, ledger_, symbols_, module_, function, runs_, elements_).parse();
  } else {
    lexer_.next();
  }
  symbols_.close_scope();
  module_.functions.push_back(std::move(function));
}

void FunctionParser::parse_function_attributes() {
  while (lexer_.at(Token::Kind::directive)) {
    const Token token = lexer_.token();
    if (directive_of(token.word()) != Directive::attribute) lexer_.fail_expected("a function");
    lexer_.next();
    Qualifiers ignored;
    parse_attributes(lexer_, ignored);
  }
}

void FunctionParser::parse_head(Function& function) {
  parse_function_attributes();
  if (!function.is_entry && lexer_.at('(')) function.results = parse_parameters(lexer_);
  function.position = lexer_.token().position;
  function.name = lexer_.expect_name("a function's name");
  if (lexer_.at('(')) function.parameters = parse_parameters(lexer_);
}

void FunctionParser::declare(const Function& function) {
  const auto index = static_cast<std::uint32_t>(module_.functions.size());
  Symbol* const before = symbols_.find(function.name);
  if (before == nullptr) {
    Symbol symbol;
    symbol.name = function.name;
    symbol.kind = Symbol::Kind::function;
    symbol.index = index;
    return declare_symbol(symbols_, symbol, function.position);
  }
  const bool clashes = before->kind != Symbol::Kind::function ||
                       module_.functions[before->index].is_entry != function.is_entry ||
                       (function.has_body && module_.functions[before->index].has_body);
  if (clashes) Lexer::fail(function.position, quoted(function.name) + " is declared already");
  if (function.has_body) before->index = index;
}

void FunctionParser::declare_parameters(Function& function, std::vector<Variable>& parameters) {
  for (Variable& parameter : parameters) {
    Symbol symbol;
    symbol.name = parameter.name;
    if (parameter.in_register) {
      const Register model{parameter.type, 1, parameter.name};
      symbol.kind = Symbol::Kind::reg;
      symbol.width = parameter.vector;
      symbol.index = add_registers(ledger_, function, model, parameter.vector, parameter.position);
      parameter.index = symbol.index;
    } else {
      symbol.kind = Symbol::Kind::variable;
      symbol.index = static_cast<std::uint32_t>(function.variables.size());
    }
    function.variables.push_back(parameter);
    if (parameter.name != "_") declare_symbol(symbols_, symbol, parameter.position);
  }
}

/// One to three numbers; omitted numbers are 1.
void FunctionParser::parse_extents(std::uint32_t (&extents)[3]) {
  for (std::uint32_t& extent : extents) extent = 1;
  std::size_t given = 0;
  do {
    if (given == std::size(extents)) lexer_.fail("there are only three dimensions");
    extents[given++] = static_cast<std::uint32_t>(lexer_.expect_integer("an extent", largest_32));
  } while (lexer_.accept(','));
}

void FunctionParser::parse_directives(Function& function) {
  Directives& directives = function.directives;
  Position counts_clusters;
  const auto number = [&](std::string_view what) {
    return static_cast<std::uint32_t>(lexer_.expect_integer(what, largest_32));
  };
  while (lexer_.at(Token::Kind::directive)) {
    const Token token = lexer_.token();
    lexer_.next();
    switch (directive_of(token.word())) {
      case Directive::maxntid:
        parse_extents(directives.max_threads);
        break;
      case Directive::reqntid:
        parse_extents(directives.required_threads);
        break;
      case Directive::reqnctapercluster:
        parse_extents(directives.required_cluster);
        break;
      case Directive::maxclusterrank:
        directives.max_cluster_rank = number("a cluster's size");
        break;
      case Directive::minnctapersm:
        directives.min_blocks = number("a number of blocks");
        break;
      case Directive::maxnctapersm:
        static_cast<void>(number("a number of blocks"));
        break;
      case Directive::maxnreg:
        directives.max_registers = number("a number of registers");
        break;
      case Directive::abi_preserve:
      case Directive::abi_preserve_control:
        static_cast<void>(number("a number of registers"));
        break;
      case Directive::explicitcluster:
        directives.explicit_cluster = true;
        break;
      case Directive::noreturn:
        directives.no_return = true;
        break;
      case Directive::pragma:
        parse_pragma(lexer_);
        break;
      case Directive::blocksareclusters:
        directives.blocks_are_clusters = true;
        counts_clusters = token.position;
        break;
      default:
        Lexer::fail(token.position,
                    "unknown directive " + quoted(token.text) + " of " + quoted(function.name));
    }
  }
  if (!directives.blocks_are_clusters) return;
  if (!function.is_entry || directives.required_threads[0] == 0 ||
      directives.required_cluster[0] == 0) {
    Lexer::fail(counts_clusters, ".blocksareclusters of " + quoted(function.name) +
                                     " needs a kernel with .reqntid and .reqnctapercluster");
  }
}

}  // namespace cudacore::simulator::ptx
