// SPDX-License-Identifier: Apache-2.0
#include "cudacore/signature.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "signature/cxx_text.hpp"
#include "signature/cxx_type.hpp"
#include "signature/signature_layout.hpp"

namespace cudacore {
namespace {

bool is_bytes(ParamKind kind) noexcept {
  return kind == ParamKind::opaque || kind == ParamKind::structure;
}

void take_type(Param& to, const Param& from) {
  to.kind = from.kind;
  to.type = from.type;
  to.pointee = from.pointee;
  to.pointee_size = from.pointee_size;
  to.pointee_const = from.pointee_const;
}

/// Whether `typed` is a possible type for the bytes of `measured`.
bool refines(const Param& typed, const Param& measured) noexcept {
  if (signature::is_measured(typed)) {
    return measured.kind == ParamKind::opaque && typed.kind != ParamKind::opaque &&
           typed.size == measured.size;
  }
  if (typed.size != measured.size) {
    return typed.size == 0 && typed.kind == ParamKind::structure && is_bytes(measured.kind);
  }
  switch (measured.kind) {
    case ParamKind::opaque:
      return true;
    case ParamKind::integer:
      return typed.kind == ParamKind::boolean || typed.kind == ParamKind::sint ||
             typed.kind == ParamKind::uint || typed.kind == ParamKind::pointer;
    case ParamKind::structure:
      return typed.kind == ParamKind::structure || typed.kind == ParamKind::float16 ||
             typed.kind == ParamKind::bfloat16 || typed.kind == ParamKind::complex64 ||
             typed.kind == ParamKind::complex128;
    default:
      return typed.kind == measured.kind;
  }
}

/// The kind for bytes with an unknown type name: an enum or a struct.
ParamKind unknown_kind(std::size_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8 ? ParamKind::opaque
                                                          : ParamKind::structure;
}

void merge_measured(Param& param, const Param& measured) {
  const bool vague = param.kind == ParamKind::opaque && !is_bytes(measured.kind);
  const bool unknown = is_bytes(param.kind) && (param.size == 0 || vague);
  const bool wrong = param.size != 0 && measured.size != 0 && param.size != measured.size;
  if (unknown || wrong) {
    std::string type = std::move(param.type);
    take_type(param, measured);
    param.type = std::move(type);
    if (measured.kind == ParamKind::opaque) param.kind = unknown_kind(measured.size);
  }
  if (measured.size != 0) {
    param.size = measured.size;
    param.offset = measured.offset;
  }
  if (measured.align != 0 || wrong) param.align = measured.align;
}

void merge_declared(Param& param, const Param& declared) {
  const bool unknown_pointee = param.kind == ParamKind::pointer &&
                               param.pointee == ParamKind::opaque && signature::is_measured(param);
  if ((signature::is_measured(param) && refines(declared, param)) ||
      (unknown_pointee && declared.kind == ParamKind::pointer)) {
    take_type(param, declared);
  } else if (is_bytes(param.kind) && param.size == 0 && declared.size != 0) {
    std::string type = std::move(param.type);
    take_type(param, declared);
    param.type = std::move(type);
  }
  if (param.size == 0) param.size = declared.size;
  if (param.align == 0) param.align = declared.align;
}

void merge_param(Param& param, const Param& other) {
  if (signature::is_measured(other) && !signature::is_measured(param)) {
    merge_measured(param, other);
  } else {
    merge_declared(param, other);
  }
  if (param.name.empty()) param.name = other.name;
}

std::string spell(const Param& param) {
  std::string type = param.type.empty() ? "?" : param.type;
  if (param.name.empty()) return type;
  // The name of a function or an array is inside the declarator: "int (*f)(int)".
  for (const std::string_view declarator : {"(*", "(&"}) {
    const std::size_t open = signature::find_outside_groups(type, '(');
    if (open != signature::npos && type.compare(open, declarator.size(), declarator) == 0) {
      const std::size_t end = type.find_first_not_of("*&", open + 1);
      return type.substr(0, end) + param.name + type.substr(end);
    }
  }
  return type + " " + param.name;
}

/// The text in the parentheses of a declaration, or the whole of a bare list.
/// @throw std::invalid_argument if the parentheses are followed by more than a semicolon.
std::string_view parameter_list(std::string_view declaration) {
  declaration = signature::trim(declaration);
  if (declaration.empty()) return {};
  if (declaration.front() == '(' && signature::skip_group(declaration, 0) == declaration.size()) {
    return declaration.substr(1, declaration.size() - 2);
  }
  const std::size_t first = std::min(signature::find_outside_groups(declaration, ','),
                                     signature::find_outside_groups(declaration, '='));
  const signature::FunctionText function = signature::split_function(declaration.substr(0, first));
  const std::string_view inside = signature::trim(function.parameters);
  const bool declarator = !inside.empty() && (inside.front() == '*' || inside.front() == '&' ||
                                              inside.find("::*") != signature::npos);
  if (!function.has_parameters || declarator || function.name.empty()) return declaration;
  const auto close = static_cast<std::size_t>(function.parameters.data() - declaration.data()) +
                     function.parameters.size();
  const std::string_view rest = signature::trim(declaration.substr(close + 1));
  if (!rest.empty() && rest != ";") {
    throw std::invalid_argument("'" + signature::abbreviated(rest) + "' after the parameters of '" +
                                signature::abbreviated(function.name) +
                                "'; a signature ends with them");
  }
  return function.parameters;
}

}  // namespace

void signature::lay_out(Signature& signature) noexcept {
  std::size_t end = 0;
  for (Param& param : signature.params) {
    const std::size_t align = std::max<std::size_t>(param.align, 1);
    param.offset = (end + align - 1) / align * align;
    if (param.size == 0) return;
    end = param.offset + param.size;
  }
}

std::string Signature::str() const {
  std::string text = kernel + "(";
  for (std::size_t i = 0; i < params.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += spell(params[i]);
  }
  return text + ")";
}

bool Signature::complete() const noexcept {
  return std::all_of(params.begin(), params.end(),
                     [](const Param& param) { return param.size != 0; });
}

std::size_t Signature::buffer_size() const noexcept {
  return params.empty() ? 0 : params.back().offset + params.back().size;
}

Signature parse_signature(std::string_view declaration) {
  Signature signature;
  const std::string_view list = parameter_list(declaration);
  const std::string_view text = signature::trim(declaration);
  if (list.data() != text.data() && list.size() < text.size()) {
    signature.kernel = signature::canonical_name(signature::split_function(text).name);
  }
  if (signature::trim(list) != "void") {
    for (const std::string_view part : signature::split_arguments(list)) {
      signature.params.push_back(signature::parse_parameter(part));
    }
  }
  signature::lay_out(signature);
  return signature;
}

Signature merge(Signature better, const Signature& other) {
  if (better.kernel.empty()) better.kernel = other.kernel;
  if (better.params.size() != other.params.size()) return better;
  const bool was_complete = better.complete();
  for (std::size_t i = 0; i < better.params.size(); ++i) {
    merge_param(better.params[i], other.params[i]);
  }
  const bool measured =
      std::all_of(other.params.begin(), other.params.end(), signature::is_measured);
  if (!was_complete && !(measured && other.complete())) signature::lay_out(better);
  return better;
}

}  // namespace cudacore
