// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/recorder.hpp"

namespace cudacore::bindings {

/// Makes what a recorded function gets for an argument: a number or memory of its own, or the
/// object itself. `make_number` and `make_array` are Python's.
/// @throw NotSupportedError for an array that can't be given other memory.
[[nodiscard]] Recorder::StandIn make_stand_in(const CallArgument& given,
                                              const RecordedArgument& argument,
                                              const py::object& make_number,
                                              const py::object& make_array, CUstream consumer);

/// Closes the memory of stand-ins, so that what the function has kept can't be used any more.
void close_stand_ins(const std::vector<Recorder::StandIn>& ended);
/// Whether the function has closed what stood in for memory.
[[nodiscard]] bool is_closed(const Recorder::StandIn& one);

}  // namespace cudacore::bindings
