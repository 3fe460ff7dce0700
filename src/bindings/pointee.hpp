// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/dlpack_abi.hpp"
#include "cudacore/signature.hpp"

// What an array's elements are, against what a kernel's pointer points at.

namespace cudacore::bindings {

/// Whether a pointer parameter takes elements of this type. Takes any if the signature doesn't know
/// what the pointer points at: for void, std::byte, and types of the user's own. char and its like
/// take any element of one byte, and raw bytes ("V8") go to a type of their size.
[[nodiscard]] bool takes_elements(const Param& pointer, dlpack::DataType type);

/// Whether a pointer to one of CUDA's vectors, such as float4 or __half2, takes an array of its
/// elements: `size` bytes must be whole vectors.
[[nodiscard]] bool takes_as_vectors(const Param& pointer, dlpack::DataType type, std::size_t size);

/// The alignment of what a pointer points at: 1 if the signature doesn't know what it is.
[[nodiscard]] std::size_t pointee_alignment(const Param& pointer);
inline constexpr std::size_t largest_pointee_alignment = 32;

/// What a pointer points at: "float" for "float const*".
[[nodiscard]] std::string_view pointee_text(const Param& pointer);

}  // namespace cudacore::bindings
