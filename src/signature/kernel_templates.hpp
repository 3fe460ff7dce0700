// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudacore::compile {

/// What to do where `name` is asked for and is only a template in the source, of which nothing was
/// compiled; empty where the source declares no such kernel template.
[[nodiscard]] std::string template_advice(std::string_view source, std::string_view name);

}  // namespace cudacore::compile
