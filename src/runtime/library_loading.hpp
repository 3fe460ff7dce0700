// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cudacore/object_code.hpp"
#include "driver/driver_api.hpp"
#include "error/describe.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {

/// Calls `read`, which reads untrusted bytes and doesn't know their name. If it rejects them, adds
/// the name to the message: `damaged cubin "axpy": it has no ...`.
/// @throw std::invalid_argument
template <class Read>
decltype(auto) read_code(CodeType type, const std::string& name, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const std::invalid_argument& error) {
    std::string_view what = error.what();
    const std::string kind(to_string(type));
    std::string start = kind;
    if (const std::string damaged = "damaged " + kind; what.starts_with(damaged + ": ")) {
      what.remove_prefix(damaged.size() + 2);
      start = damaged;
    }
    throw std::invalid_argument(error::with_name(start, name) + ": " + std::string(what));
  }
}

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

/// What load_library() loaded and something still uses; null for libraries of others.
[[nodiscard]] std::shared_ptr<owner::LibraryBox> loaded_library(CUlibrary library);

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
