// SPDX-License-Identifier: Apache-2.0
//
// What the simulated devices are like: set once, before cuInit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

inline constexpr unsigned max_devices = 64;
/// The CUDA version that the simulated driver speaks.
inline constexpr int driver_version = 13050;

struct Configuration {
  unsigned devices = 1;
  int major = 9;
  int minor = 0;
  std::size_t memory_bytes = std::size_t{4} << 30U;  ///< of each device
  unsigned threads = 0;                              ///< that run kernels; 0: one for each core
};

/// Whether there may be such devices.
[[nodiscard]] bool is_valid(const Configuration& configuration) noexcept;

/// "9.0" as major and minor; nothing where it is no such text.
[[nodiscard]] std::optional<std::pair<int, int>> parse_compute_capability(std::string_view text);
/// "4 GiB", "512MiB", "1048576": bytes; nothing where it is no such text.
[[nodiscard]] std::optional<std::size_t> parse_memory(std::string_view text);
/// The physical numbers that CUDA_VISIBLE_DEVICES leaves, in its order. A number or "GPU-" and the
/// begin of a UUID each; the first that names no device ends the list.
[[nodiscard]] std::vector<int> parse_visible_devices(std::string_view text, unsigned devices);

/// What the environment asks for, and cudacoreSimulatorConfigure() over it. Nothing, and a line in
/// the log, where a variable makes no sense.
[[nodiscard]] std::optional<Configuration> read_configuration();

}  // namespace cudacore::simulator

/// Sets what the devices are to be; what is 0 the environment says. CUDA_ERROR_INVALID_VALUE for
/// what can't be. Once cuInit has succeeded nothing changes: CUDA_ERROR_ILLEGAL_STATE where the
/// devices are not so.
extern "C" [[gnu::visibility("default")]] CUresult cudacoreSimulatorConfigure(
    unsigned devices, int major, int minor, std::size_t memory_bytes);
