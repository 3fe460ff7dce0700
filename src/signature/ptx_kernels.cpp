// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "cudacore/signature.hpp"
#include "signature/ptx_tokens.hpp"
#include "signature/signature_layout.hpp"

namespace cudacore {
namespace {

struct PtxType {
  std::string_view name;
  ParamKind kind;
  std::size_t size;
};

constexpr auto ptx_types = std::to_array<PtxType>({
    {".u8", ParamKind::integer, 1},        {".s8", ParamKind::integer, 1},
    {".b8", ParamKind::integer, 1},        {".u16", ParamKind::integer, 2},
    {".s16", ParamKind::integer, 2},       {".b16", ParamKind::integer, 2},
    {".u32", ParamKind::integer, 4},       {".s32", ParamKind::integer, 4},
    {".b32", ParamKind::integer, 4},       {".u64", ParamKind::integer, 8},
    {".s64", ParamKind::integer, 8},       {".b64", ParamKind::integer, 8},
    {".b128", ParamKind::opaque, 16},      {".f16", ParamKind::float16, 2},
    {".bf16", ParamKind::bfloat16, 2},     {".f16x2", ParamKind::structure, 4},
    {".bf16x2", ParamKind::structure, 4},  {".f32", ParamKind::float32, 4},
    {".f64", ParamKind::float64, 8},       {".texref", ParamKind::opaque, 8},
    {".samplerref", ParamKind::opaque, 8}, {".surfref", ParamKind::opaque, 8},
});

std::size_t number(signature::PtxTokens& tokens, std::string_view what) {
  const std::string_view token = tokens.next();
  std::size_t value = 0;
  const bool hex = token.starts_with("0x") || token.starts_with("0X");
  const char* const first = token.data() + (hex ? 2 : 0);
  const char* last = token.data() + token.size();
  if (last != first && (last[-1] == 'U' || last[-1] == 'u')) --last;
  const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  // A kernel's parameters have at most 32764 bytes.
  if (error != std::errc{} || end != last || value > std::numeric_limits<std::uint16_t>::max()) {
    tokens.fail("'" + std::string(token) + "' is not " + std::string(what));
  }
  return value;
}

/// NVRTC, clang and Triton number the parameters; any other name was chosen by the author.
bool is_numbered(std::string_view name, std::string_view symbol) noexcept {
  constexpr std::string_view suffix = "_param_";
  return name.starts_with(symbol) && name.substr(symbol.size()).starts_with(suffix);
}

/// A parameter, from after its `.param` to the ',' or ')' that follows it.
Param parameter(signature::PtxTokens& tokens, std::string_view symbol) {
  Param param;
  std::size_t lanes = 1;
  std::size_t align = 0;
  bool pointer = false;
  std::string_view word = tokens.next();
  for (; !word.empty() && word.front() == '.'; word = tokens.next()) {
    if (word == ".align") {
      const std::size_t value = number(tokens, "an alignment");
      if (value == 0 || (value & (value - 1)) != 0) {
        tokens.fail("an alignment is a power of two, not " + std::to_string(value));
      }
      // After `.ptr`, it is the alignment of what the pointer points at.
      align = pointer ? align : value;
    } else if (word == ".ptr") {
      pointer = true;
    } else if (word == ".v2" || word == ".v4") {
      lanes = word == ".v2" ? 2 : 4;
    } else if (word == ".global" || word == ".shared" || word == ".const" || word == ".local" ||
               word == ".generic") {
      continue;
    } else {
      const auto* const type = std::find_if(ptx_types.begin(), ptx_types.end(),
                                            [&](const PtxType& row) { return row.name == word; });
      if (type == ptx_types.end()) {
        tokens.fail("'" + std::string(word) + "' is not the type of a kernel's parameter");
      }
      param.kind = type->kind;
      param.size = type->size;
      param.type = word;
    }
  }
  if (param.size == 0) tokens.fail("a parameter of '" + std::string(symbol) + "' has no type");
  if (word.empty() || (!signature::is_word_char(word.front()) && word.front() != '%')) {
    tokens.fail("a parameter of '" + std::string(symbol) + "' has no name");
  }
  const std::size_t element = param.size * lanes;
  param.align = align != 0 ? align : element;
  param.size = element;
  if (pointer && param.size == 8) {
    param.kind = ParamKind::pointer;
    param.type += " .ptr";
  }
  if (lanes > 1) {
    param.type = (lanes == 2 ? ".v2 " : ".v4 ") + param.type;
    param.kind = ParamKind::structure;
  }
  while (tokens.peek() == "[") {
    tokens.next();
    const std::size_t count = number(tokens, "an array size");
    tokens.expect("]", "after an array size");
    param.kind = ParamKind::structure;
    param.size *= count;
    if (param.size > std::numeric_limits<std::uint16_t>::max()) {
      tokens.fail("the parameter '" + std::string(word) + "' is larger than CUDA allows");
    }
    param.type += "[" + std::to_string(count) + "]";
  }
  if (!is_numbered(word, symbol)) param.name = word;
  return param;
}

Signature parameters(signature::PtxTokens& tokens, std::string_view symbol) {
  Signature signature;
  signature.kernel = symbol;
  if (tokens.peek() != "(") {
    return signature;
  }
  tokens.next();
  if (tokens.peek() == ")") {
    tokens.next();
    return signature;
  }
  while (true) {
    tokens.expect(".param", "in the parameters of '" + std::string(symbol) + "'");
    signature.params.push_back(parameter(tokens, symbol));
    const std::string_view token = tokens.next();
    if (token == ")") {
      break;
    }
    if (token != ",") {
      tokens.fail("expected ',' or ')' in the parameters of '" + std::string(symbol) + "'");
    }
  }
  signature::lay_out(signature);
  return signature;
}

/// Skips the directives between the parameters and the body. Returns false for a declaration.
bool has_body(signature::PtxTokens& tokens) {
  while (true) {
    const std::string_view token = tokens.next();
    if (token.empty()) tokens.fail("the text ends before the body of a kernel");
    if (token == "{") return true;
    if (token == ";") return false;
  }
}

}  // namespace

std::vector<KernelEntry> kernels_in_ptx(std::string_view ptx) {
  std::vector<KernelEntry> kernels;
  std::set<std::string_view> seen;
  signature::PtxTokens tokens(ptx);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token != ".entry") continue;
    const std::string_view symbol = tokens.next();
    if (symbol.empty() || !signature::is_ptx_word_char(symbol.front()) || symbol.front() == '.') {
      tokens.fail("an .entry has no name");
    }
    Signature signature = parameters(tokens, symbol);
    if (has_body(tokens) && seen.insert(symbol).second) {
      kernels.push_back(describe_kernel(std::string(symbol), std::move(signature)));
    }
  }
  return kernels;
}

}  // namespace cudacore
