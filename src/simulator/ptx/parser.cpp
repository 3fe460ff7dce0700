// SPDX-License-Identifier: Apache-2.0
//
// Modules: everything outside of functions, and where one module ends and the next begins.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "simulator/ptx/functions.hpp"
#include "simulator/ptx/module_texts.hpp"

namespace cudacore::simulator::ptx {
namespace {

constexpr std::size_t most_entries = std::size_t{1} << 20U;
constexpr std::size_t most_initial_bytes = std::size_t{1} << 30U;
constexpr std::size_t text_per_operand = 16;
constexpr std::size_t largest_first_chunk = 1024;
constexpr std::size_t first_elements = 16;

class ModuleParser {
 public:
  ModuleParser(Module& module, Ledger& ledger, const ModuleText& text)
      : module_(module),
        ledger_(ledger),
        lexer_(module.text, text.start, text.is_last ? "the end of the text" : "'.version'"),
        runs_(module.operands,
              std::min(module.text.size() / text_per_operand, largest_first_chunk)),
        elements_(module.operands, first_elements),
        functions_(lexer_, ledger, symbols_, module, runs_, elements_) {}

  void parse() {
    parse_version();
    parse_target();
    while (!lexer_.at(Token::Kind::end)) parse_item();
    for (const Reference& reference : ledger_.references) {
      if (symbols_.find(reference.name) == nullptr) {
        Lexer::fail(reference.position, quoted(reference.name) + " is not declared");
      }
    }
  }

 private:
  void parse_version() {
    if (!at_directive(Directive::version)) lexer_.fail_expected("'.version'");
    lexer_.next();
    const std::string_view text = lexer_.token().text;
    const auto digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    const bool valid = lexer_.at(Token::Kind::f64) && text.size() >= 3 && digit(text.size() - 1) &&
                       text[text.size() - 2] == '.' && digit(0) && text.size() <= 4 &&
                       digit(text.size() - 3);
    if (!valid) lexer_.fail_expected("a version such as 8.0");
    for (const char c : text) {
      if (c != '.') module_.version = module_.version * 10 + static_cast<unsigned>(c - '0');
    }
    lexer_.next();
  }

  void parse_target() {
    if (!at_directive(Directive::target)) lexer_.fail_expected("'.target'");
    lexer_.next();
    module_.target = lexer_.expect_name("a target such as sm_90");
    while (lexer_.accept(',')) static_cast<void>(lexer_.expect_name("an option of the target"));
  }

  [[nodiscard]] bool at_directive(Directive directive) const {
    return lexer_.at(Token::Kind::directive) && directive_of(lexer_.token().word()) == directive;
  }

  void parse_item() {
    if (lexer_.at('@') && lexer_.following() == '@') return lexer_.skip_line();
    if (!lexer_.at(Token::Kind::directive)) lexer_.fail_expected("a directive");
    Linkage linkage = Linkage::internal;
    bool linked = true;
    switch (directive_of(lexer_.token().word())) {
      case Directive::visible:
        linkage = Linkage::visible;
        break;
      case Directive::external:
        linkage = Linkage::external;
        break;
      case Directive::weak:
        linkage = Linkage::weak;
        break;
      case Directive::common:
        linkage = Linkage::common;
        break;
      default:
        linked = false;
    }
    if (linked) {
      lexer_.next();
      if (!lexer_.at(Token::Kind::directive)) lexer_.fail_expected("a declaration");
    }
    if (!parse_declaration(linkage)) {
      if (linked) lexer_.fail_expected("a variable or a function");
      parse_plain_directive();
    }
  }

  /// @returns false if the token doesn't begin a declaration.
  bool parse_declaration(Linkage linkage) {
    const Directive directive = directive_of(lexer_.token().word());
    if (directive == Directive::entry || directive == Directive::func) {
      lexer_.next();
      functions_.parse(directive == Directive::entry, linkage);
      return true;
    }
    const std::optional<Space> space = space_of(directive);
    if (!space || *space == Space::param) return false;
    lexer_.next();
    std::size_t next = module_.variables.size();
    parse_variables(lexer_, ledger_, *space, linkage, module_.variables);
    for (; next < module_.variables.size(); ++next) declare(next);
    return true;
  }

  void declare(std::size_t index) {
    const Variable& variable = module_.variables[index];
    Symbol* const before = symbols_.find(variable.name);
    if (before == nullptr) {
      Symbol symbol;
      symbol.name = variable.name;
      symbol.kind = Symbol::Kind::global_variable;
      symbol.index = static_cast<std::uint32_t>(index);
      return declare_symbol(symbols_, symbol, variable.position);
    }
    const bool both_define = before->kind != Symbol::Kind::global_variable ||
                             (variable.linkage != Linkage::external &&
                              module_.variables[before->index].linkage != Linkage::external);
    if (both_define) Lexer::fail(variable.position, quoted(variable.name) + " is declared already");
    if (variable.linkage != Linkage::external) before->index = static_cast<std::uint32_t>(index);
  }

  void parse_plain_directive() {
    const Token token = lexer_.token();
    lexer_.next();
    switch (directive_of(token.word())) {
      case Directive::address_size:
        return parse_address_size();
      case Directive::file:
        return parse_file(lexer_, ledger_, module_);
      case Directive::section:
        return parse_section();
      case Directive::pragma:
        return parse_pragma(lexer_);
      case Directive::alias:
        return parse_alias();
      case Directive::unknown:
        Lexer::fail(token.position, "unknown directive " + quoted(token.text));
      default:
        Lexer::fail(token.position, quoted(token.text) + " does not belong here");
    }
  }

  void parse_address_size() {
    constexpr std::uint64_t large = 64;
    constexpr std::uint64_t small = 32;
    const Position position = lexer_.token().position;
    const std::uint64_t size = lexer_.expect_integer("an address size", large);
    if (size != small && size != large) Lexer::fail(position, "an address size is 32 or 64");
    module_.address_size = static_cast<unsigned>(size);
  }

  /// Debug data, which nothing here uses.
  void parse_section() {
    if (!lexer_.at(Token::Kind::directive) && !lexer_.at(Token::Kind::name)) {
      lexer_.fail_expected("a section's name");
    }
    lexer_.next();
    const Position opening = lexer_.token().position;
    lexer_.expect('{');
    lexer_.skip_block(opening);
  }

  void parse_alias() {
    Alias alias;
    for (std::string_view* const name : {&alias.name, &alias.target}) {
      if (name == &alias.target) lexer_.expect(',');
      ledger_.references.push_back({lexer_.token().text, lexer_.token().position});
      *name = lexer_.expect_name("a function's name");
    }
    lexer_.expect(';');
    module_.aliases.push_back(alias);
  }

  Module& module_;
  Ledger& ledger_;
  Lexer lexer_;
  Symbols symbols_;
  OperandArena runs_;
  OperandArena elements_;
  FunctionParser functions_;
};

}  // namespace

std::vector<std::unique_ptr<Module>> parse(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  Ledger ledger;
  ledger.entries = most_entries + text.size();
  ledger.initial_bytes = most_initial_bytes;
  std::vector<std::unique_ptr<Module>> modules;
  for (const ModuleText& each : split_modules(text)) {
    Module& module = *modules.emplace_back(std::make_unique<Module>());
    module.text = each.text;
    ledger.references.clear();
    ModuleParser(module, ledger, each).parse();
  }
  return modules;
}

}  // namespace cudacore::simulator::ptx
