// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cudacore/pool_memory_resource.hpp"
#include "runtime/context_call.hpp"
#include "runtime/pool_shares.hpp"

// How the pools of all kinds are made. `place` is what messages call their memory.

namespace cudacore {

/// @throw NotSupportedError if a device's driver shares no pools by file descriptors.
void require_shared_pools(Device device, const char* option);
/// What a new pool shares with other processes: null for nothing.
[[nodiscard]] std::shared_ptr<PoolShares> shares_of_new(bool ipc_enabled);
[[nodiscard]] CUmemPoolProps pool_properties(CUmemAllocationType type, CUmemLocationType location,
                                             int id, std::size_t max_size,
                                             bool ipc_enabled = false);
[[nodiscard]] std::shared_ptr<owner::PoolBox> create_pool(const ContextCall& call,
                                                          const CUmemPoolProps& props,
                                                          const std::string& place);
/// A pool of another process.
[[nodiscard]] std::shared_ptr<owner::PoolBox> import_pool(const ContextCall& call,
                                                          PoolDescriptor descriptor,
                                                          const std::string& place);
/// Keeps freed memory in the pool instead of returning it to the system at the next
/// synchronization.
void keep_freed_memory(const ContextCall& call, const owner::PoolBox& pool,
                       const std::string& place);

}  // namespace cudacore
