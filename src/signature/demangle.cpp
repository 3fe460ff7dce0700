// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

#include <cxxabi.h>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"
#include "signature/cxx_type.hpp"
#include "signature/signature_layout.hpp"

namespace cudacore {
namespace {

/// The types in a demangled parameter list. A type that cannot be read becomes a structure of
/// unknown size, so that the others keep their types.
Signature typed_signature(std::string_view list) {
  Signature signature;
  if (signature::trim(list) == "void") return signature;
  for (const std::string_view part : signature::split_arguments(list)) {
    try {
      Param param = signature::parse_parameter(part);
      param.name.clear();
      signature.params.push_back(std::move(param));
    } catch (const std::invalid_argument&) {
      Param param;
      param.kind = ParamKind::structure;
      param.type = part;
      signature.params.push_back(std::move(param));
    }
  }
  signature::lay_out(signature);
  return signature;
}

}  // namespace

std::string demangle(std::string_view symbol) {
  std::string text(symbol);
  // Without the prefix, __cxa_demangle reads a type: "f" would be float.
  if (!text.starts_with("_Z")) return text;
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }  // NOLINT: malloc's
  };
  int status = 0;
  const std::unique_ptr<char, Free> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status));
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : text;
}

KernelEntry describe_kernel(std::string symbol, std::optional<Signature> measured) {
  const std::string text = demangle(symbol);
  KernelEntry entry;
  entry.name = text;
  if (text != symbol) {
    const signature::FunctionText function = signature::split_function(text);
    entry.name = function.name;
    if (function.has_parameters) entry.signature = typed_signature(function.parameters);
  }
  if (measured) {
    const bool agree = measured->params.size() == entry.signature.params.size();
    entry.signature = agree ? merge(std::move(entry.signature), *measured) : std::move(*measured);
  }
  entry.signature.kernel = entry.name;
  entry.symbol = std::move(symbol);
  return entry;
}

}  // namespace cudacore
