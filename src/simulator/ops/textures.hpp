// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

void add_textures(FormTable& table);  ///< tex, tld4, txq
void add_surfaces(FormTable& table);  ///< suld, sust, suq

}  // namespace cudacore::simulator
