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

/// Loads code into the driver (cuLibraryLoadData) and also into the current context, because the
/// driver reports problems with the code only when it is used. `ptx` is the PTX that a cubin was
/// made from, which the simulated device loads instead; empty if it is not known.
/// @throw std::invalid_argument for a type that cannot be loaded and for damaged code; CompileError
/// with the JIT compiler's log for PTX; NotSupportedError if the code is for another GPU or its PTX
/// is too new for the driver.
[[nodiscard]] std::shared_ptr<owner::LibraryBox> load_library(const std::vector<std::byte>& code,
                                                              CodeType type,
                                                              const std::string& name,
                                                              const std::string& ptx);

/// The sizes and offsets of a kernel's parameters (cuKernelGetParamInfo); unset if the driver
/// cannot report them, as before 12.4. `count` is the number of parameters, if the code or its
/// names contain it: a driver before 13.2 doesn't report it, and must be asked for one parameter
/// after the other until it fails. Makes device 0's primary context current if there is none,
/// because the driver may need one. `name` is for errors.
[[nodiscard]] std::optional<Signature> measured_parameters(const driver::DriverApi& api,
                                                           CUkernel kernel, const std::string& name,
                                                           std::optional<std::size_t> count);

/// How many parameters a mangled name contains; unset for an `extern "C"` name.
[[nodiscard]] std::optional<std::size_t> parameter_count(const KernelEntry& entry);

/// The symbols of a library's kernels (cuLibraryEnumerateKernels).
/// @throw NotSupportedError if the driver is older than 12.4.
[[nodiscard]] std::vector<std::string> kernel_symbols(const driver::DriverApi& api,
                                                      const owner::LibraryBox& library,
                                                      const std::string& name);

}  // namespace cudacore
