// SPDX-License-Identifier: Apache-2.0
//
// Memory that nodes of graphs allocate and free.
//
// The address is the node's as long as the node exists, in a graph, an executable graph or a
// launch. The memory is there for the same time; what a launch changes is whether it counts as
// allocated, which decides who may free it, and whether the graph may be launched again.
#pragma once

#include <memory>

#include "simulator/api/graph/graph_action.hpp"
#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

/// Checks the parameters, and writes the address into them.
CUresult make_alloc_action(CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters, SharedAction& action);
/// INVALID_VALUE if no node allocates memory at the address.
CUresult make_free_action(CUdeviceptr address, SharedAction& action);
/// Called when a node for memory is added to a graph; INVALID_VALUE if the graph must not free it.
CUresult claim_memory(const GraphAction& action, const Graph& graph);

/// Nodes for what cuMemAllocAsync and cuMemFreeAsync do.
CUresult capture_allocation(const Stream& stream, const CUmemPoolProps& pool, std::size_t size,
                            CUdeviceptr& address);
CUresult capture_free(const Stream& stream, CUdeviceptr address);

/// Gives back memory that a launch allocated and no node freed. Returns what must be held until
/// everything that uses it is done; null if there is no such memory at the address.
std::shared_ptr<const void> free_graph_memory(CUdeviceptr address);
/// Holds it until it is its turn in a queue, or until it is dropped.
std::unique_ptr<Work> make_hold(std::shared_ptr<const void> memory);
/// Gives back all of it.
void free_all_graph_memory();

}  // namespace cudacore::simulator
