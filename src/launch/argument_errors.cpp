// SPDX-License-Identifier: Apache-2.0
#include "launch/argument_errors.hpp"

namespace cudacore::launching {
namespace {

/// In the order of ParamKind.
constexpr std::array<const char*, 14> kind_texts = {
    "value",    "bool",  "integer", "signed integer",    "unsigned integer",   "half",
    "bfloat16", "float", "double",  "complex of floats", "complex of doubles", "pointer",
    "struct",   "void"};
static_assert(kind_texts.size() == static_cast<std::size_t>(ParamKind::void_type) + 1);

std::string type_text(const Param& param) {
  std::string text =
      param.type.empty() ? kind_texts.at(static_cast<std::size_t>(param.kind)) : param.type;
  const bool says_size = param.kind != ParamKind::structure && param.kind != ParamKind::opaque;
  if (!says_size && param.size != 0) text += ", " + std::to_string(param.size) + " bytes";
  return text;
}

std::string place(const KernelBox& kernel, std::size_t index) {
  std::string text = kernel.name + ": argument " + std::to_string(index + 1);
  if (index >= kernel.signature.params.size()) return text;
  const Param& param = kernel.signature.params[index];
  if (!param.name.empty()) text += " '" + param.name + "'";
  return text + " (" + type_text(param) + ")";
}

std::string range_text(const Param& param) {
  const auto bits = static_cast<unsigned>(8 * param.size);
  if (bits == 0 || bits > 64) return {};
  const std::string lowest = "-" + std::to_string(std::uint64_t{1} << (bits - 1));
  const std::string highest_signed = std::to_string((std::uint64_t{1} << (bits - 1)) - 1);
  const std::string highest = std::to_string(~std::uint64_t{0} >> (64 - bits));
  switch (param.kind) {
    case ParamKind::sint:
      return lowest + " to " + highest_signed;
    case ParamKind::uint:
    case ParamKind::pointer:
      return "0 to " + highest;
    case ParamKind::integer:
    case ParamKind::opaque:
      return lowest + " to " + highest;
    case ParamKind::float16:
      return "finite values up to 65504";
    case ParamKind::bfloat16:
      return "finite values up to 3.39e38";
    case ParamKind::float32:
    case ParamKind::complex64:
      return "finite values up to 3.403e38";
    default:
      return {};
  }
}

}  // namespace

std::string mismatch_message(const KernelBox& kernel, std::size_t index, std::string_view given) {
  return place(kernel, index) + " cannot take " + std::string(given);
}

std::string overflow_message(const KernelBox& kernel, std::size_t index, std::string_view value) {
  std::string text = place(kernel, index) + " cannot hold " + std::string(value);
  if (index >= kernel.signature.params.size()) return text;
  const std::string range = range_text(kernel.signature.params[index]);
  return range.empty() ? text : text + ": it takes " + range;
}

std::string count_message(const KernelBox& kernel, std::size_t given) {
  const std::size_t wanted = kernel.signature.params.size();
  return kernel.name + " takes " + std::to_string(wanted) +
         (wanted == 1 ? " argument, but " : " arguments, but ") + std::to_string(given) +
         (given == 1 ? " was" : " were") + " given: " + kernel.signature.str();
}

std::string unknown_signature_message(const KernelBox& kernel, std::size_t index,
                                      std::string_view given) {
  return kernel.name + ": argument " + std::to_string(index + 1) +
         ": the parameters of this kernel "
         "are unknown, so that " +
         std::string(given) +
         " has no type to become: pass a value of an exact type, or declare a signature with "
         "with_signature()";
}

}  // namespace cudacore::launching
