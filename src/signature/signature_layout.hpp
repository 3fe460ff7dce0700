// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/signature.hpp"

namespace cudacore {

/// Sets the offsets of the parameters, which are laid out like the members of a C struct, up to the
/// first one of unknown size.
void lay_out(Signature& signature) noexcept;

}  // namespace cudacore
