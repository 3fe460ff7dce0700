// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <cudacore/pool_memory_resource.hpp>

// The pools of this process that processes share, by what they are called in all of them. It keeps
// none of them alive. Any thread may call any function.

namespace cudacore::bindings {

/// The 16 bytes of a uuid.UUID.
using PoolUuid = std::string;

/// What a pool is called; nothing if it is not registered.
[[nodiscard]] std::optional<PoolUuid> uuid_of(const PoolMemoryResource& pool);
/// The pool of a name; null if there is none.
[[nodiscard]] std::shared_ptr<PoolMemoryResource> registered_pool(const PoolUuid& uuid);
/// Gives a pool a name, and returns the pool that has it: another one if the name is taken.
std::shared_ptr<PoolMemoryResource> register_pool(const std::shared_ptr<PoolMemoryResource>& pool,
                                                  const PoolUuid& uuid);

}  // namespace cudacore::bindings
