// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

/// The part of the asynchronous copies that goes by tensor maps.
void add_tensor_copies(FormTable& table);

}  // namespace cudacore::simulator
