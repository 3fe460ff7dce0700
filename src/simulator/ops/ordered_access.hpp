// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

/// Loads and stores that other threads may observe: .volatile, .relaxed, .acquire, .release, .mmio.
void add_ordered_access(FormTable& table);

}  // namespace cudacore::simulator
