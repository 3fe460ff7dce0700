// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cudacore/signature.hpp"

/// C++ types as text: what a parameter's declaration says about its kind and size.
namespace cudacore::signature {

/// The parameter that `declaration` ("float const* x", "const float*", "int (&) [4]") declares: its
/// kind, its size and natural alignment as CUDA lays out types on 64-bit Linux, its type as the
/// demangler spells it, and its name, if any. A top-level const is dropped, a reference becomes a
/// pointer, an array becomes a pointer to its element. A type with an unknown name is a structure
/// of size 0.
/// @throw std::invalid_argument that names the part that is not a type.
[[nodiscard]] Param parse_parameter(std::string_view declaration);

/// The name that a parameter's declaration contains; empty if there is none. Also accepts what
/// parse_parameter() rejects.
[[nodiscard]] std::string_view declared_name(std::string_view declaration);

/// The canonical spelling of a name: the demangler's, without optional spaces, with const after the
/// type, and with literals as plain numbers. Equal names have the same canonical spelling.
[[nodiscard]] std::string canonical_name(std::string_view name);

}  // namespace cudacore::signature
