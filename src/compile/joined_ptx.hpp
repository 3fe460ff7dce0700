// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "compile/architecture.hpp"
#include "cudacore/linker.hpp"
#include "cudacore/object_code.hpp"

namespace cudacore::compile {

/// The PTX of the linked inputs, one module after another, for the simulated device; empty if an
/// input has none. LTO IR is converted to PTX only if that device is in use, because it requires
/// linking.
[[nodiscard]] std::string joined_ptx(std::span<const ObjectCode> inputs, const std::string& name,
                                     const Architecture& architecture, LinkerOptions options);

}  // namespace cudacore::compile
