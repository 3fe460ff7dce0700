// SPDX-License-Identifier: Apache-2.0
#include "signature/cxx_type_names.hpp"

#include <algorithm>
#include <array>

#include "signature/cxx_text.hpp"

namespace cudacore::signature {
namespace {

struct Row {
  std::string_view name;
  NamedType type;
};

constexpr NamedType number(ParamKind kind, std::size_t size) { return {kind, size, size}; }
constexpr NamedType sint(std::size_t size) { return number(ParamKind::sint, size); }
constexpr NamedType uint(std::size_t size) { return number(ParamKind::uint, size); }
constexpr NamedType structure(std::size_t size, std::size_t align) {
  return {ParamKind::structure, size, align};
}
constexpr NamedType complex64 = number(ParamKind::complex64, 8);
constexpr NamedType complex128 = number(ParamKind::complex128, 16);

constexpr auto rows = std::to_array<Row>({
    {"void", {ParamKind::void_type, 0, 0}},
    {"bool", number(ParamKind::boolean, 1)},
    {"char", sint(1)},
    {"signed char", sint(1)},
    {"unsigned char", uint(1)},
    {"short", sint(2)},
    {"unsigned short", uint(2)},
    {"int", sint(4)},
    {"unsigned int", uint(4)},
    {"long", sint(8)},
    {"unsigned long", uint(8)},
    {"long long", sint(8)},
    {"unsigned long long", uint(8)},
    {"__int128", {ParamKind::opaque, 16, 16}},
    {"unsigned __int128", {ParamKind::opaque, 16, 16}},
    {"wchar_t", sint(4)},
    {"char8_t", uint(1)},
    {"char16_t", uint(2)},
    {"char32_t", uint(4)},
    {"float", number(ParamKind::float32, 4)},
    {"double", number(ParamKind::float64, 8)},
    {"_Float16", number(ParamKind::float16, 2)},
    {"__bf16", number(ParamKind::bfloat16, 2)},

    {"int64_t", sint(8)},
    {"intptr_t", sint(8)},
    {"ssize_t", sint(8)},
    {"uint64_t", uint(8)},
    {"uintptr_t", uint(8)},
    {"byte", uint(1)},
    {"CUtexObject", uint(8)},
    {"CUsurfObject", uint(8)},

    {"__half", number(ParamKind::float16, 2)},
    {"__nv_bfloat16", number(ParamKind::bfloat16, 2)},
    {"__half2", structure(4, 4)},
    {"__nv_bfloat162", structure(4, 4)},
    {"__nv_fp8_e4m3", structure(1, 1)},
    {"__nv_fp8_e5m2", structure(1, 1)},
    {"__nv_fp8_e8m0", structure(1, 1)},
    {"CUtensorMap", structure(128, 64)},
    {"CUtensorMap_st", structure(128, 64)},

    {"dim3", structure(12, 4)},
    {"float2", complex64},
    {"double2", complex128},
});

struct Typedef {
  std::string_view name;
  std::string_view type;
};

/// Without int64_t and similar types, which are long with some compilers and long long with others.
constexpr auto typedefs = std::to_array<Typedef>({
    {"int8_t", "signed char"},
    {"uint8_t", "unsigned char"},
    {"int16_t", "short"},
    {"uint16_t", "unsigned short"},
    {"int32_t", "int"},
    {"uint32_t", "unsigned int"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"ushort", "unsigned short"},
    {"uint", "unsigned int"},
    {"ulong", "unsigned long"},
    {"half", "__half"},
    {"half2", "__half2"},
    {"nv_bfloat16", "__nv_bfloat16"},
    {"nv_bfloat162", "__nv_bfloat162"},
    {"cuComplex", "float2"},
    {"cuFloatComplex", "float2"},
    {"cuDoubleComplex", "double2"},
    {"CUdeviceptr", "unsigned long long"},
    {"cudaTextureObject_t", "unsigned long long"},
    {"cudaSurfaceObject_t", "unsigned long long"},
});

struct Element {
  std::string_view name;
  std::size_t size;
};

constexpr auto vector_elements = std::to_array<Element>({
    {"char", 1},
    {"uchar", 1},
    {"short", 2},
    {"ushort", 2},
    {"int", 4},
    {"uint", 4},
    {"long", 8},
    {"ulong", 8},
    {"float", 4},
    {"longlong", 8},
    {"ulonglong", 8},
    {"double", 8},
});

/// The vectors without a kind of their own: "char1" to "double4", "long4_32a".
NamedType vector_type(std::string_view name) noexcept {
  std::size_t max_align = 16;
  if (const std::size_t suffix = name.find('_'); suffix != npos) {
    const std::string_view tail = name.substr(suffix);
    if (suffix == 0 || name[suffix - 1] != '4' || (tail != "_16a" && tail != "_32a")) return {};
    max_align = tail == "_32a" ? 32 : 16;
    name = name.substr(0, suffix);
  }
  if (name.empty() || name.back() < '1' || name.back() > '4') return {};
  const auto lanes = static_cast<std::size_t>(name.back() - '0');
  name.remove_suffix(1);
  const auto* const element =
      std::find_if(vector_elements.begin(), vector_elements.end(),
                   [&](const Element& candidate) { return candidate.name == name; });
  if (element == vector_elements.end() || (max_align == 32 && element->size != 8)) return {};
  const std::size_t size = lanes * element->size;
  return structure(size, lanes == 3 ? element->size : std::min(size, max_align));
}

/// "complex<float>" in cuda::std, std or thrust, in any inline namespace.
NamedType complex_type(std::string_view name) noexcept {
  constexpr auto scopes = std::to_array<std::string_view>({"cuda::std::", "thrust::", "std::"});
  for (const std::string_view scope : scopes) {
    if (!name.starts_with(scope)) continue;
    std::string_view rest = name.substr(scope.size());
    if (const std::size_t end = skip_identifier(rest, 0); rest.substr(end, 2) == "::") {
      rest.remove_prefix(end + 2);
    }
    return rest == "complex<float>"    ? complex64
           : rest == "complex<double>" ? complex128
                                       : NamedType{};
  }
  return {};
}

std::string_view without_std(std::string_view name) noexcept {
  for (const std::string_view scope :
       {std::string_view("cuda::std::"), std::string_view("std::")}) {
    if (name.starts_with(scope)) return name.substr(scope.size());
  }
  return name;
}

bool ends_with_t(std::string_view name) noexcept { return name.size() > 2 && name.ends_with("_t"); }

}  // namespace

NamedType named_type(std::string_view name) noexcept {
  const std::string_view plain = without_std(name);
  const bool scoped = plain.size() != name.size();
  const auto* const row = std::find_if(
      rows.begin(), rows.end(), [&](const Row& candidate) { return candidate.name == plain; });
  // Of these, only the typedefs and std::byte are in namespaces; "std::float4" is a different type.
  if (row != rows.end() && (plain == "byte" ? scoped : (!scoped || ends_with_t(plain)))) {
    return row->type;
  }
  if (const NamedType vector = scoped ? NamedType{} : vector_type(name); vector.size != 0) {
    return vector;
  }
  return complex_type(name);
}

std::string_view resolve_typedef(std::string_view name) noexcept {
  const std::string_view plain = without_std(name);
  const bool scoped = plain.size() != name.size();
  const auto* const row =
      std::find_if(typedefs.begin(), typedefs.end(),
                   [&](const Typedef& candidate) { return candidate.name == plain; });
  return row != typedefs.end() && (!scoped || ends_with_t(plain)) ? row->type : name;
}

}  // namespace cudacore::signature
