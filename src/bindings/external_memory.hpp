// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/collector.hpp"
#include "cudacore/external_memory.hpp"
#include "cudacore/external_semaphore.hpp"

// Semaphores of other APIs, which streams signal and wait for.

namespace cudacore::bindings {

template <>
Py_hash_t hash_of(const ExternalMemory& memory) noexcept;
template <>
Py_hash_t hash_of(const ExternalSemaphore& semaphore) noexcept;

/// Binds Stream.signal and Stream.wait_signal.
void add_external_signals(HeapClass<Stream>& type);

}  // namespace cudacore::bindings
