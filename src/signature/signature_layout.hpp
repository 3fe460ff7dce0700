// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/signature.hpp"

namespace cudacore::signature {

/// Sets the offsets of the parameters, which are laid out like the members of a C struct, up to the
/// first one of unknown size.
void lay_out(Signature& signature) noexcept;

/// Whether the size comes from PTX, a cubin or the driver, and not from the name of a type.
[[nodiscard]] inline bool is_measured(const Param& param) noexcept {
  return param.type.empty() || param.type.front() == '.';
}

}  // namespace cudacore::signature
