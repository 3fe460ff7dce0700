// SPDX-License-Identifier: Apache-2.0
#include "bindings/pointee.hpp"

#include <algorithm>
#include <array>

namespace cudacore::bindings {
namespace {

using dlpack::DataType;
using dlpack::TypeCode;

struct NamedElement {
  std::string_view name;
  DataType type;
};

constexpr DataType one(TypeCode code, std::uint8_t bits) { return {code, bits, 1}; }

/// Pointees with a name of their own, of which the signature knows the size alone.
constexpr auto small_floats = std::to_array<NamedElement>({
    {"__nv_fp8_e4m3", one(TypeCode::float8_e4m3fn, 8)},
    {"__nv_fp8_e5m2", one(TypeCode::float8_e5m2, 8)},
    {"__nv_fp8_e8m0", one(TypeCode::float8_e8m0fnu, 8)},
});

/// The elements of CUDA's vectors, whose names end in the number of lanes.
constexpr auto vector_elements = std::to_array<NamedElement>({
    {"char", one(TypeCode::sint, 8)},
    {"uchar", one(TypeCode::uint, 8)},
    {"short", one(TypeCode::sint, 16)},
    {"ushort", one(TypeCode::uint, 16)},
    {"int", one(TypeCode::sint, 32)},
    {"uint", one(TypeCode::uint, 32)},
    {"long", one(TypeCode::sint, 64)},
    {"ulong", one(TypeCode::uint, 64)},
    {"longlong", one(TypeCode::sint, 64)},
    {"ulonglong", one(TypeCode::uint, 64)},
    {"float", one(TypeCode::real, 32)},
    {"double", one(TypeCode::real, 64)},
    {"__half", one(TypeCode::real, 16)},
    {"__nv_bfloat16", one(TypeCode::bfloat, 16)},
});

/// The element of a vector type; of 0 bits for other types.
DataType vector_element(std::string_view name) noexcept {
  const std::size_t aligned = name.find("4_");  // long4_32a
  if (aligned != std::string_view::npos) name = name.substr(0, aligned + 1);
  if (name.empty() || name.back() < '1' || name.back() > '4') return {};
  name.remove_suffix(1);
  const auto* const found =
      std::find_if(vector_elements.begin(), vector_elements.end(),
                   [&](const NamedElement& element) { return element.name == name; });
  return found != vector_elements.end() ? found->type : DataType{};
}

bool is_named(std::string_view name, DataType type) noexcept {
  return std::any_of(small_floats.begin(), small_floats.end(), [&](const NamedElement& element) {
    return element.name == name && element.type == type;
  });
}

bool is_byte(std::string_view name) noexcept {
  return name == "std::byte" || name == "cuda::std::byte";
}

}  // namespace

std::string_view pointee_text(const Param& pointer) {
  std::string_view text = pointer.type;
  const bool is_rvalue = text.ends_with("&&");
  if (is_rvalue || text.ends_with('*') || text.ends_with('&'))
    text.remove_suffix(is_rvalue ? 2 : 1);
  for (const std::string_view qualifier : {" volatile", " const"}) {
    if (text.ends_with(qualifier)) text.remove_suffix(qualifier.size());
  }
  return text;
}

bool takes_elements(const Param& pointer, DataType type) {
  const std::size_t bits = std::size_t{type.bits} * type.lanes;
  if (type.code == TypeCode::opaque_handle && 8 * pointer.pointee_size == bits) return true;
  const auto is = [&](TypeCode code) {
    return type.code == code && type.lanes == 1 && type.bits == 8 * pointer.pointee_size;
  };
  switch (pointer.pointee) {
    case ParamKind::opaque:
    case ParamKind::void_type:
      return true;
    case ParamKind::boolean:
      return is(TypeCode::boolean);
    case ParamKind::sint:
    case ParamKind::uint:
      if (is(pointer.pointee == ParamKind::sint ? TypeCode::sint : TypeCode::uint)) return true;
      return pointer.pointee_size == 1 && (bits == 8 || is_byte(pointee_text(pointer)));
    case ParamKind::float16:
    case ParamKind::float32:
    case ParamKind::float64:
      return is(TypeCode::real);
    case ParamKind::bfloat16:
      return is(TypeCode::bfloat);
    case ParamKind::complex64:
    case ParamKind::complex128:
      return is(TypeCode::complex);
    case ParamKind::pointer:
      return is(TypeCode::sint) || is(TypeCode::uint);
    default:
      return pointer.pointee_size == 0 || is_named(pointee_text(pointer), type);
  }
}

bool takes_as_vectors(const Param& pointer, DataType type, std::size_t size) {
  const DataType element = vector_element(pointee_text(pointer));
  return element.bits != 0 && type.code == element.code && type.bits == element.bits &&
         size % pointer.pointee_size == 0;
}

std::size_t pointee_alignment(const Param& pointer) {
  const std::size_t size = pointer.pointee_size;
  const std::string_view name = pointee_text(pointer);
  const DataType element = vector_element(name);
  if (element.bits != 0 && size != 0) {
    const std::size_t scalar = element.bits / 8U;
    const std::size_t most = name.ends_with("_32a") ? largest_pointee_alignment : 16;
    return size == 3 * scalar ? scalar : std::min(size, most);
  }
  switch (pointer.pointee) {
    case ParamKind::boolean:
    case ParamKind::integer:
    case ParamKind::sint:
    case ParamKind::uint:
    case ParamKind::float16:
    case ParamKind::bfloat16:
    case ParamKind::float32:
    case ParamKind::float64:
    case ParamKind::complex64:
    case ParamKind::complex128:
    case ParamKind::pointer:
      return std::max<std::size_t>(size, 1);
    default:
      return 1;
  }
}

}  // namespace cudacore::bindings
