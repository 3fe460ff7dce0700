// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cudacore/object_code.hpp"
#include "driver/driver_api.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {

/// Loads code into the driver (cuLibraryLoadData) and, since the driver reports what is wrong with
/// it only when it is used, into the current context as well. `ptx` is what a cubin was made from,
/// which the simulated device loads in its place; empty where it is not known.
/// @throw std::invalid_argument for a type that cannot be loaded and for damaged code; CompileError
/// with the JIT compiler's log for PTX; NotSupportedError where the code is for another GPU or its
/// PTX is too new for the driver.
[[nodiscard]] std::shared_ptr<handle::LibraryBox> load_library(const std::vector<std::byte>& code,
                                                               CodeType type,
                                                               const std::string& name,
                                                               const std::string& ptx);

/// The sizes and offsets of a kernel's parameters (cuKernelGetParamInfo); unset where the driver,
/// before 12.4, does not tell. `count` is how many there are, where the code or its names tell: a
/// driver before 13.2 does not, and must be asked for one after the other until it fails. Makes
/// device 0's primary context current where none is: the driver may need one. `name` is for errors.
[[nodiscard]] std::optional<Signature> measured_parameters(const driver::DriverApi& api,
                                                           CUkernel kernel, const std::string& name,
                                                           std::optional<std::size_t> count);

/// How many parameters a mangled name tells of; unset for an `extern "C"` one.
[[nodiscard]] std::optional<std::size_t> parameter_count(const KernelEntry& entry);

/// The symbols of a library's kernels (cuLibraryEnumerateKernels).
/// @throw NotSupportedError where the driver is older than 12.4.
[[nodiscard]] std::vector<std::string> kernel_symbols(const driver::DriverApi& api,
                                                      const handle::LibraryBox& library,
                                                      const std::string& name);

}  // namespace cudacore
