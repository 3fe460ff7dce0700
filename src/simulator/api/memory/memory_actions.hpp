// SPDX-License-Identifier: Apache-2.0
//
// Nodes that copy and fill memory.
#pragma once

#include "simulator/api/graph/graph_action.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

/// CU_MEMORYTYPE_DEVICE or CU_MEMORYTYPE_HOST.
CUmemorytype memory_type_of(std::uint64_t address);

CUresult make_copy_action(const CUDA_MEMCPY3D& copy, CUcontext context, SharedAction& action);
CUresult make_fill_action(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context,
                          SharedAction& action);

/// Adds a node to the graph that the stream captures into.
CUresult capture_copy(const Stream& stream, const CUDA_MEMCPY3D& copy);
CUresult capture_fill(const Stream& stream, const CUDA_MEMSET_NODE_PARAMS& fill);

}  // namespace cudacore::simulator
