// SPDX-License-Identifier: Apache-2.0
#include "compile/definitions.hpp"

#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "signature/cxx_text.hpp"
#include "signature/elf_file.hpp"
#include "signature/ptx_tokens.hpp"

namespace cudacore::compile {
namespace {

bool is_symbol(std::string_view token) {
  return signature::is_ptx_word_char(token.front()) && token.front() != '.' &&
         !signature::is_digit(token.front());
}

/// After an opening bracket has been read, reads past the bracket that closes it.
void skip_brackets(signature::PtxTokens& tokens, std::string_view open, std::string_view close) {
  std::size_t depth = 1;
  while (depth > 0) {
    const std::string_view token = tokens.next();
    if (token.empty()) return;
    if (token == open) ++depth;
    if (token == close) --depth;
  }
}

/// The symbol that a directive defines, read from after its `.visible` to its end; empty if it is
/// only a declaration.
std::string_view defined_symbol(signature::PtxTokens& tokens) {
  std::string_view symbol;
  bool is_function = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{") {
      skip_brackets(tokens, "{", "}");
      // The initializer of a variable; its semicolon follows.
      if (!is_function) continue;
      return symbol;
    }
    if (token == ";") return is_function ? std::string_view() : symbol;
    if (token == "(") {
      skip_brackets(tokens, "(", ")");
    } else if (token == ".entry" || token == ".func") {
      is_function = true;
    } else if (symbol.empty() && is_symbol(token)) {
      symbol = token;
    }
  }
  return {};
}

/// Returns nothing for code that cannot be read.
std::vector<std::string> strong_definitions(const ObjectCode& input) {
  try {
    if (input.code_type() == CodeType::ptx) return strong_definitions_in_ptx(input.ptx());
    if (input.code_type() == CodeType::cubin) return strong_definitions_in_cubin(input.code());
  } catch (const std::invalid_argument&) {
    // nvJitLink will report what is wrong with it.
  }
  return {};
}

std::string describe(std::span<const ObjectCode> inputs, std::size_t index) {
  const ObjectCode& input = inputs[index];
  return "input " + std::to_string(index) + " (" +
         error::with_name(to_string(input.code_type()), input.name()) + ")";
}

}  // namespace

std::vector<std::string> strong_definitions_in_ptx(std::string_view ptx) {
  std::vector<std::string> symbols;
  signature::PtxTokens tokens(ptx);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{") {
      skip_brackets(tokens, "{", "}");
    } else if (token == ".visible") {
      if (const std::string_view symbol = defined_symbol(tokens); !symbol.empty()) {
        symbols.emplace_back(symbol);
      }
    }
  }
  return symbols;
}

std::string_view declared_symbol(std::string_view directive) {
  signature::PtxTokens tokens(directive);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "(") {
      skip_brackets(tokens, "(", ")");
    } else if (is_symbol(token)) {
      return token;
    }
  }
  return {};
}

std::vector<Declaration> external_declarations_in_ptx(std::string_view ptx) {
  std::vector<Declaration> declarations;
  signature::PtxTokens tokens(ptx);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{") {
      skip_brackets(tokens, "{", "}");
    } else if (token == ".extern") {
      Declaration declaration;
      bool is_shared = false;
      for (token = tokens.next(); !token.empty() && token != ";"; token = tokens.next()) {
        if (token == "(") {
          skip_brackets(tokens, "(", ")");
        } else if (token == ".func") {
          declaration.is_function = true;
        } else if (token == ".shared") {
          is_shared = true;
        } else if (declaration.symbol.empty() && is_symbol(token)) {
          declaration.symbol = token;
        }
      }
      if (!is_shared && !declaration.symbol.empty()) declarations.push_back(std::move(declaration));
    }
  }
  return declarations;
}

std::vector<std::string> strong_definitions_in_cubin(std::span<const std::byte> cubin) {
  constexpr std::uint8_t stb_global = 1;
  constexpr std::uint8_t stt_object = 1;
  constexpr std::uint8_t stt_func = 2;
  const signature::ElfFile file(cubin);
  std::vector<std::string> symbols;
  for (const signature::ElfFile::Symbol& symbol : file.symbols()) {
    // Undefined and common symbols are not in any section of the file.
    const bool is_defined = symbol.section != 0 && symbol.section < file.sections().size();
    if (is_defined && symbol.binding == stb_global &&
        (symbol.type == stt_object || symbol.type == stt_func)) {
      symbols.emplace_back(symbol.name);
    }
  }
  return symbols;
}

void check_defined_once(std::span<const ObjectCode> inputs) {
  if (inputs.size() < 2) return;
  std::unordered_map<std::string, std::size_t> definers;
  std::string message;
  std::size_t more = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::string& symbol : strong_definitions(inputs[i])) {
      const auto [definer, is_first] = definers.try_emplace(std::move(symbol), i);
      if (is_first || definer->second == i) continue;
      if (!message.empty()) {
        ++more;
        continue;
      }
      message = "cannot link: " + demangle(definer->first) + " is defined in " +
                describe(inputs, definer->second) + " and again in " + describe(inputs, i);
    }
  }
  if (message.empty()) return;
  if (more != 0) message += ", and " + std::to_string(more) + " more like it";
  message += "; define it in one and declare it extern in the other, or make it static or inline";
  throw LinkError(message, 0, {}, "nvJitLinkAddData", message);
}

}  // namespace cudacore::compile
