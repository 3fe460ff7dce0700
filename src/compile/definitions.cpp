// SPDX-License-Identifier: Apache-2.0
#include "compile/definitions.hpp"

#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "signature/elf_file.hpp"
#include "signature/ptx_directives.hpp"

namespace cudacore::compile {
namespace {

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
  for (const signature::PtxDirective& directive : signature::directives_in_ptx(ptx)) {
    if (directive.linkage == ".visible" && directive.is_definition()) {
      symbols.emplace_back(directive.symbol);
    }
  }
  return symbols;
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
