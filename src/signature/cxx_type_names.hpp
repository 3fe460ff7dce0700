// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "cudacore/signature.hpp"

namespace cudacore::signature {

/// What the name of a type says, given how CUDA lays out types on 64-bit Linux.
struct NamedType {
  ParamKind kind = ParamKind::structure;
  std::size_t size = 0;  ///< bytes; 0 if the name is unknown
  std::size_t align = 0;
};

/// Looks up a fundamental type, a standard typedef, one of CUDA's built-in or number types, or a
/// complex number of libcu++, Thrust or the standard library, written without qualifiers.
[[nodiscard]] NamedType named_type(std::string_view name) noexcept;

/// The type that a typedef of CUDA or the standard library stands for on 64-bit Linux, if every
/// compiler agrees; `name` itself for any other name.
[[nodiscard]] std::string_view resolve_typedef(std::string_view name) noexcept;

}  // namespace cudacore::signature
