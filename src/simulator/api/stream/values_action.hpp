// SPDX-License-Identifier: Apache-2.0
//
// Nodes that wait for words of memory, and write them.
#pragma once

#include "simulator/api/graph/graph_action.hpp"

namespace cudacore::simulator {

CUresult make_values_action(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, SharedAction& action);

}  // namespace cudacore::simulator
