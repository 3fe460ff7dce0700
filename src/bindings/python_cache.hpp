// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

#include "bindings/code_objects.hpp"

namespace cudacore::bindings {

/// What a compilation makes, from a cache in Python or by `compile`.
///
/// @param cache a cudacore.utils.ProgramCacheResource.
/// @throw TypeError for another object; ValueError for what the cache can't keep apart; what the
/// cache raises.
[[nodiscard]] ObjectCode compile_through(pybind11::handle cache, const Program& program,
                                         std::optional<CodeType> target, bool has_names,
                                         const std::function<ObjectCode()>& compile);

}  // namespace cudacore::bindings
