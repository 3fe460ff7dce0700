// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/signature.hpp"

namespace cudacore {

/// Sets the offsets of parameters laid out like the members of a C struct, up to the first whose
/// size is unknown.
void lay_out(Signature& signature) noexcept;

}  // namespace cudacore
