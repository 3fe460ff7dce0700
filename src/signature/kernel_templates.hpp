// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudacore::signature {

/// What to do if `name` is requested but is only a template in the source, without a compiled
/// instance; empty if the source declares no such kernel template.
[[nodiscard]] std::string template_advice(std::string_view source, std::string_view name);

}  // namespace cudacore::signature
