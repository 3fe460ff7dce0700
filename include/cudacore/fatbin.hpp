// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <cudacore/object_code.hpp>

namespace cudacore {

/// How to make a fat binary.
struct FatbinOptions {
  /// What messages call it.
  std::string name;
  /// How nvFatbin compresses: "none", "default", "size", "speed" or "balance". If the code is
  /// compressed, only the driver can read it: kernels can't be listed without it, and parameters
  /// of `extern "C"` kernels have no types.
  std::string compress_mode = "none";
};

/// Puts cubins and PTX for several architectures into one fat binary, with NVIDIA's nvFatbin. When
/// it is loaded, the driver takes the best for the device. Needs no driver.
/// @throw std::invalid_argument if there are no inputs, one is neither a cubin nor PTX or is
/// damaged, two are of the same type and architecture, or the mode doesn't exist;
/// LibraryNotFoundError.
[[nodiscard]] ObjectCode make_fatbin(std::span<const ObjectCode> inputs,
                                     const FatbinOptions& options = {});

}  // namespace cudacore
