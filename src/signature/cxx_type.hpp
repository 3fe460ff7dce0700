// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cudacore/signature.hpp"

/// C++ types as text: what a parameter's declaration says about its kind and size.
namespace cudacore::cxx {

/// The parameter that `declaration` ("float const* x", "const float*", "int (&) [4]") declares: its
/// kind, size and natural alignment as CUDA lays types out on 64-bit Linux, its type spelled as the
/// demangler spells it, and its name where it has one. A top-level const is dropped, a reference is
/// a pointer, an array is a pointer to its element. A type that is not known by name is a structure
/// of size 0.
/// @throw std::invalid_argument naming the part that is not a type.
[[nodiscard]] Param parse_parameter(std::string_view declaration);

/// The name that a parameter's declaration gives it; empty where it gives none. Accepts what
/// parse_parameter() refuses.
[[nodiscard]] std::string_view declared_name(std::string_view declaration);

/// A name in the one spelling that equal names share: the demangler's, without optional spaces,
/// with const behind the type, and literals as plain numbers.
[[nodiscard]] std::string canonical_name(std::string_view name);

}  // namespace cudacore::cxx
