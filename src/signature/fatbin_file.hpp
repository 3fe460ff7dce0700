// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cudacore/signature.hpp"
#include "signature/bytes.hpp"
#include "signature/variables.hpp"

namespace cudacore::signature {

/// One piece of code in a fat binary.
struct FatbinPart {
  enum class Kind : std::uint8_t { ptx, cubin, other };

  Kind kind = Kind::other;
  bool is_compressed = false;
  unsigned architecture = 0;  ///< the compute capability, times ten
  std::span<const std::byte> code;
};

/// The pieces of a fat binary, in order; they are parts of its bytes.
/// @throw std::invalid_argument if the bytes are not a fat binary, or are a damaged one; never
/// reads out of bounds.
[[nodiscard]] std::vector<FatbinPart> parts_of_fatbin(std::span<const std::byte> fatbin);

/// The kernels of all pieces, each symbol once, with what PTX and machine code know about it;
/// nothing if a piece is compressed or something else, so that only the driver can list them.
/// @throw std::invalid_argument if the fat binary or a piece of it is damaged.
[[nodiscard]] std::optional<std::vector<KernelEntry>> kernels_in_fatbin(
    std::span<const std::byte> fatbin);

/// The variables, by a piece that can be read; nothing if there is none.
/// @throw std::invalid_argument if the fat binary or the piece is damaged.
[[nodiscard]] std::optional<std::vector<VariableEntry>> variables_in_fatbin(
    std::span<const std::byte> fatbin);

}  // namespace cudacore::signature
