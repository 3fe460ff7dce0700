// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <cudacore/buffer.hpp>

namespace cudacore {

/// How host memory is registered (CU_MEMHOSTREGISTER_*).
struct HostRegistrationOptions {
  bool portable = true;    ///< page-locked for all contexts, not just the current one
  bool mapped = true;      ///< kernels can reach it
  bool io_memory = false;  ///< it is memory of an I/O device
  bool read_only = false;  ///< devices only read it
};

/// Page-locks memory that was allocated elsewhere (cuMemHostRegister), so that copies are
/// asynchronous and kernels can use it. The last Buffer ends that (cuMemHostUnregister), once the
/// work on its deallocation stream is done, and then drops `owner`.
/// @throw std::invalid_argument if there is no memory; NotSupportedError if the device can't;
/// Error if some of it is registered already.
[[nodiscard]] Buffer register_host(std::span<std::byte> memory,
                                   const HostRegistrationOptions& options = {},
                                   std::shared_ptr<void> owner = nullptr);

}  // namespace cudacore
