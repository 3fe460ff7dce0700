// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "compile/architecture.hpp"
#include "cudacore/linker.hpp"
#include "cudacore/object_code.hpp"

namespace cudacore::compile {

/// The PTX of what is linked, one module after another, for the simulated device; empty where an
/// input has none. LTO IR is made into PTX only where that device is in use, as it takes a link.
[[nodiscard]] std::string joined_ptx(std::span<const ObjectCode> inputs, const std::string& name,
                                     const Architecture& architecture, LinkerOptions options);

}  // namespace cudacore::compile
