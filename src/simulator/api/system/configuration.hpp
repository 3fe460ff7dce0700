// SPDX-License-Identifier: Apache-2.0
//
// The configuration of the simulated devices: set once, before cuInit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

inline constexpr unsigned max_devices = 64;
/// The CUDA version that the simulated driver supports.
inline constexpr int driver_version = 13050;

struct Configuration {
  unsigned devices = 1;
  int major = 9;
  int minor = 0;
  std::size_t memory_bytes = std::size_t{4} << 30U;  ///< per device
  unsigned threads = 0;                              ///< threads that run kernels; 0: one per core
};

/// Whether such devices are possible.
[[nodiscard]] bool is_valid(const Configuration& configuration) noexcept;

/// Parses "9.0" into major and minor; returns nothing for other text.
[[nodiscard]] std::optional<std::pair<int, int>> parse_compute_capability(std::string_view text);
/// Parses "4 GiB", "512MiB", "1048576" into bytes; returns nothing for other text.
[[nodiscard]] std::optional<std::size_t> parse_memory(std::string_view text);
/// The physical numbers of the devices that CUDA_VISIBLE_DEVICES shows, in its order. Each entry is
/// a number, or "GPU-" and the beginning of a UUID; the first entry that names no device ends the
/// list.
[[nodiscard]] std::vector<int> parse_visible_devices(std::string_view text, unsigned devices);

/// The configuration from the environment, overridden by cudacoreSimulatorConfigure(). If a
/// variable is invalid, returns nothing and logs why.
[[nodiscard]] std::optional<Configuration> read_configuration();

}  // namespace cudacore::simulator

/// Configures the devices; values of 0 come from the environment. Returns CUDA_ERROR_INVALID_VALUE
/// for impossible values. Once cuInit has succeeded, nothing changes; returns
/// CUDA_ERROR_ILLEGAL_STATE if the devices have a different configuration.
extern "C" [[gnu::visibility("default")]] CUresult cudacoreSimulatorConfigure(
    unsigned devices, int major, int minor, std::size_t memory_bytes);
