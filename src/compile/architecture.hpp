// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudacore::compile {

/// A GPU architecture: the digits of a compute capability and, for code that only runs on one chip
/// or family, a letter: 90, 90a, 100f.
struct Architecture {
  int number = 0;
  std::string suffix;

  /// For machine code: "sm_90a".
  [[nodiscard]] std::string sm() const { return "sm_" + std::to_string(number) + suffix; }
  /// For PTX: "compute_90a".
  [[nodiscard]] std::string compute() const { return "compute_" + std::to_string(number) + suffix; }
};

/// Reads "sm_90", "compute_90", "90", "90a", "sm_100f".
/// @throw std::invalid_argument that says what is accepted and what NVRTC compiles for.
[[nodiscard]] Architecture parse_architecture(std::string_view text);

/// The current device's architecture.
/// @throw DriverNotFoundError if there is no device; the message says to specify an arch.
[[nodiscard]] Architecture current_architecture();

/// Whether NVRTC compiles for it.
[[nodiscard]] bool nvrtc_knows(const Architecture& architecture);

/// The newest architecture that NVRTC compiles for and whose PTX a device of `architecture` runs.
/// @throw NotSupportedError if there is none.
[[nodiscard]] Architecture newest_for(const Architecture& architecture);

/// Throws NotSupportedError: this NVRTC doesn't compile for the architecture, and which NVRTC does.
[[noreturn]] void throw_unknown_to_nvrtc(const Architecture& architecture);

}  // namespace cudacore::compile
