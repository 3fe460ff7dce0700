// SPDX-License-Identifier: Apache-2.0
#include "compile/provided_headers.hpp"

#include <algorithm>
#include <array>

#include "compile/array_view.hpp"
#include "compile/compile_error.hpp"
#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

struct Header {
  std::string_view name;
  std::string_view text;
};

/// C's headers for 64-bit Linux, limited to what is built into NVRTC: of the functions, those of
/// math.h, printf, assert, malloc, free, memcpy, memset and clock. int64_t is a long long, as in
/// libcu++ under NVRTC; some versions of NVRTC lack __builtin_offsetof.
constexpr auto c_headers = std::to_array<Header>({
    {"assert.h", ""},
    {"ctype.h", ""},
    {"errno.h", ""},
    {"stdio.h", "#include <stddef.h>\n"},
    {"stdlib.h", "#include <stddef.h>\n"},
    {"string.h", "#include <stddef.h>\n"},
    {"time.h", "#include <stddef.h>\n"},
    {"stdbool.h", "#define __bool_true_false_are_defined 1\n"},
    {"stddef.h", R"(#ifndef CUDACORE_STDDEF_H
#define CUDACORE_STDDEF_H
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) \
  ((size_t)&reinterpret_cast<const volatile char&>(((type*)0)->member))
#endif
#endif
)"},
    {"stdint.h", R"(#ifndef CUDACORE_STDINT_H
#define CUDACORE_STDINT_H
typedef signed char int8_t, int_least8_t, int_fast8_t;
typedef short int16_t, int_least16_t, int_fast16_t;
typedef int int32_t, int_least32_t, int_fast32_t;
typedef long long int64_t, int_least64_t, int_fast64_t, intptr_t, intmax_t;
typedef unsigned char uint8_t, uint_least8_t, uint_fast8_t;
typedef unsigned short uint16_t, uint_least16_t, uint_fast16_t;
typedef unsigned int uint32_t, uint_least32_t, uint_fast32_t;
typedef unsigned long long uint64_t, uint_least64_t, uint_fast64_t, uintptr_t, uintmax_t;
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##LL
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##ULL
#define INTMAX_C(c) c##LL
#define UINTMAX_C(c) c##ULL
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#endif
)"},
    {"inttypes.h", R"(#ifndef CUDACORE_INTTYPES_H
#define CUDACORE_INTTYPES_H
#include <stdint.h>
#define PRId8 "d"
#define PRId16 "d"
#define PRId32 "d"
#define PRId64 "lld"
#define PRIi32 "i"
#define PRIi64 "lli"
#define PRIu8 "u"
#define PRIu16 "u"
#define PRIu32 "u"
#define PRIu64 "llu"
#define PRIx8 "x"
#define PRIx16 "x"
#define PRIx32 "x"
#define PRIx64 "llx"
#endif
)"},
    {"limits.h", R"(#ifndef CUDACORE_LIMITS_H
#define CUDACORE_LIMITS_H
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1L)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1LL)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
)"},
    {"float.h", R"(#ifndef CUDACORE_FLOAT_H
#define CUDACORE_FLOAT_H
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_EPSILON 1.19209290e-7F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#endif
)"},
    {"math.h", R"(#ifndef CUDACORE_MATH_H
#define CUDACORE_MATH_H
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF __int_as_float(0x7f800000)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)"},
});

/// The runtime's own declarations of these are only for nvcc.
constexpr Header programmatic_launch = {"cudacore/programmatic_launch.h",
                                        R"(#pragma once
static __device__ __forceinline__ void cudaGridDependencySynchronize() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
)"};

bool lacks(std::string_view log, std::string_view identifier) {
  return log.find("identifier \"" + std::string(identifier) + "\" is undefined") !=
         std::string_view::npos;
}

/// Whether a header contains `#define NAME` or `typedef ... NAME, ...;`.
bool defines(std::string_view text, std::string_view name) {
  for (std::size_t i = text.find(name); i != signature::npos; i = text.find(name, i + 1)) {
    const std::string_view before = text.substr(0, i);
    const std::size_t end = i + name.size();
    const char after = end < text.size() ? text[end] : ' ';
    if (signature::is_word_char(after)) continue;
    const bool ends_declarator = after == ',' || after == ';';
    if (before.ends_with("#define ") || (before.ends_with(' ') && ends_declarator)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string_view> provided_header(std::string_view name) {
  const auto* const header = std::find_if(c_headers.begin(), c_headers.end(),
                                          [&](const Header& entry) { return entry.name == name; });
  if (header == c_headers.end()) return std::nullopt;
  return header->text;
}

std::string all_provided() {
  std::string all;
  for (const auto& [name, text] : c_headers) all.append(name).append("\n").append(text);
  return all.append(programmatic_launch.text).append(array_view_text);
}

std::string_view providing_header(std::string_view name) {
  const auto* const header =
      std::find_if(c_headers.begin(), c_headers.end(),
                   [&](const Header& entry) { return defines(entry.text, name); });
  return header == c_headers.end() ? std::string_view{} : header->name;
}

bool provide_missing(std::string_view log, CompilerInputs& given) {
  const std::string_view wanted = missing_header(log);
  if (wanted == array_view_name) {
    return given.headers.emplace(array_view_name, array_view_text).second;
  }
  const bool known = std::any_of(c_headers.begin(), c_headers.end(),
                                 [&](const Header& header) { return header.name == wanted; });
  if (known) {
    const std::size_t before = given.headers.size();
    for (const auto& [name, text] : c_headers) given.headers.emplace(name, text);
    return given.headers.size() != before;
  }
  if (lacks(log, "cudaGridDependencySynchronize") ||
      lacks(log, "cudaTriggerProgrammaticLaunchCompletion")) {
    const auto& [name, text] = programmatic_launch;
    if (!given.headers.emplace(name, text).second) return false;
    given.flags.push_back("--pre-include=" + std::string(name));
    return true;
  }
  return false;
}

}  // namespace cudacore::compile
