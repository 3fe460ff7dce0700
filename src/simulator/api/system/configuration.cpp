// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/system/configuration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "simulator/api/context/identity.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/engine/time_limit.hpp"
#include "simulator/engine/workers.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::size_t smallest_memory = std::size_t{1} << 20U;
constexpr std::size_t largest_memory = std::size_t{1} << 40U;

struct Setting {
  std::mutex mutex;
  Configuration configured{0, 0, 0, 0};  ///< 0: from the environment
  Configuration in_force;                ///< as determined by cuInit
};

Setting& setting() {
  static Setting storage;
  return storage;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> find_visible(std::string_view entry, unsigned devices) {
  if (entry.starts_with("GPU-")) {
    std::optional<int> found;
    for (int i = 0; i < static_cast<int>(devices); ++i) {
      if (!format_uuid(uuid_of(i)).starts_with(entry)) continue;
      if (found) return std::nullopt;  // the beginning of two
      found = i;
    }
    return found;
  }
  const auto number = parse_number<int>(entry);
  if (!number || *number < 0 || *number >= static_cast<int>(devices)) return std::nullopt;
  return number;
}

void log_bad_variable(const char* name, const char* value, const char* expected) {
  log_error(std::string(name) + " is \"" + value + "\"; it must be " + expected);
}

/// Every existing compute capability, times ten.
constexpr std::array known_capabilities{75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

std::string list_of_capabilities() {
  std::string text = "one of";
  for (const int capability : known_capabilities) {
    text += capability == known_capabilities.front() ? " " : ", ";
    text += std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
  }
  return text;
}

/// The configuration of the devices.
std::optional<Configuration> read_devices(const Configuration& told) {
  Configuration configuration;
  if (told.devices != 0) {
    configuration.devices = told.devices;
  } else if (const char* text = std::getenv("CUDACORE_SIMULATOR_DEVICES")) {
    const auto devices = parse_number<unsigned>(trim(text));
    if (!devices || *devices < 1 || *devices > max_devices) {
      log_bad_variable("CUDACORE_SIMULATOR_DEVICES", text, "a number from 1 to 64");
      return std::nullopt;
    }
    configuration.devices = *devices;
  }
  if (told.major != 0) {
    std::tie(configuration.major, configuration.minor) = std::tie(told.major, told.minor);
  } else if (const char* text = std::getenv("CUDACORE_SIMULATOR_COMPUTE_CAPABILITY")) {
    const auto capability = parse_compute_capability(text);
    if (capability) std::tie(configuration.major, configuration.minor) = *capability;
    if (!capability || !is_valid(configuration)) {
      log_bad_variable("CUDACORE_SIMULATOR_COMPUTE_CAPABILITY", text,
                       list_of_capabilities().c_str());
      return std::nullopt;
    }
  }
  if (told.memory_bytes != 0) {
    configuration.memory_bytes = told.memory_bytes;
  } else if (const char* text = std::getenv("CUDACORE_SIMULATOR_MEMORY")) {
    const auto memory = parse_memory(text);
    if (memory) configuration.memory_bytes = *memory;
    if (!memory || !is_valid(configuration)) {
      log_bad_variable("CUDACORE_SIMULATOR_MEMORY", text,
                       "from 1 MiB to 1 TiB, as \"4 GiB\", \"512 MiB\" or a number of bytes");
      return std::nullopt;
    }
  }
  return configuration;
}

bool read_time_limit() {
  const char* const text = std::getenv("CUDACORE_SIMULATOR_TIMEOUT");
  if (text == nullptr) return true;
  constexpr double most = 1e9;
  const auto seconds = parse_number<double>(trim(text));
  if (!seconds || !(*seconds > 0 && *seconds <= most)) {
    log_bad_variable("CUDACORE_SIMULATOR_TIMEOUT", text, "a number of seconds, as 10 or 0.5");
    return false;
  }
  set_time_limit(std::chrono::duration<double>(*seconds));
  return true;
}

bool read_threads(Configuration& configuration) {
  const char* const text = std::getenv("CUDACORE_SIMULATOR_THREADS");
  if (text == nullptr) return true;
  const auto threads = parse_number<unsigned>(trim(text));
  if (!threads || *threads < 1 || *threads > Workers::most) {
    log_bad_variable("CUDACORE_SIMULATOR_THREADS", text, "a number from 1 to 1024");
    return false;
  }
  configuration.threads = *threads;
  return true;
}

/// Whether the variables that the engine itself reads are valid.
bool check_engine() {
  const char* const count = std::getenv("CUDACORE_SIMULATOR_COUNT");
  if (count != nullptr && std::string_view(count) != "0" && std::string_view(count) != "1") {
    log_bad_variable("CUDACORE_SIMULATOR_COUNT", count, "0 or 1");
    return false;
  }
  try {
    static_cast<void>(best_isa());
    return true;
  } catch (const std::invalid_argument& error) {
    log_error(error.what());
    return false;
  }
}

}  // namespace

bool is_valid(const Configuration& configuration) noexcept {
  const int capability = configuration.major * 10 + configuration.minor;
  return configuration.devices >= 1 && configuration.devices <= max_devices &&
         configuration.minor >= 0 && configuration.minor <= 9 &&
         std::ranges::find(known_capabilities, capability) != known_capabilities.end() &&
         configuration.memory_bytes >= smallest_memory &&
         configuration.memory_bytes <= largest_memory;
}

std::optional<std::pair<int, int>> parse_compute_capability(std::string_view text) {
  text = trim(text);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_number<int>(text.substr(0, dot));
  const auto minor = parse_number<int>(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return std::pair{*major, *minor};
}

std::optional<std::size_t> parse_memory(std::string_view text) {
  text = trim(text);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view amount = text.substr(0, digits);
  constexpr std::array<std::pair<std::string_view, unsigned>, 6> units{
      {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  for (const auto& [unit, shift] : units) {
    if (trim(text.substr(digits)) != unit) continue;
    if (amount.find('.') != std::string_view::npos) {
      const auto number = parse_number<double>(amount);
      const double bytes = number.value_or(-1) * static_cast<double>(std::size_t{1} << shift);
      if (bytes < 0 || bytes > 0x1p63) return std::nullopt;
      return static_cast<std::size_t>(bytes);
    }
    const auto number = parse_number<std::size_t>(amount);
    if (!number) return std::nullopt;
    const std::size_t bytes = *number << shift;
    if (bytes >> shift != *number) return std::nullopt;
    return bytes;
  }
  return std::nullopt;
}

std::vector<int> parse_visible_devices(std::string_view text, unsigned devices) {
  std::vector<int> visible;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = find_visible(trim(text.substr(begin, end - begin)), devices);
    if (!number) break;
    if (std::ranges::find(visible, *number) != visible.end()) return {};
    visible.push_back(*number);
    begin = end + 1;
  }
  return visible;
}

std::optional<Configuration> read_configuration() {
  Configuration told;
  {
    Setting& known = setting();
    const std::scoped_lock lock(known.mutex);
    told = known.configured;
  }
  std::optional<Configuration> configuration = read_devices(told);
  if (!configuration || !read_threads(*configuration) || !read_time_limit() || !check_engine())
    return std::nullopt;
  Setting& known = setting();
  const std::scoped_lock lock(known.mutex);
  known.in_force = *configuration;
  return configuration;
}

}  // namespace cudacore::simulator

CUresult cudacoreSimulatorConfigure(unsigned devices, int major, int minor,
                                    std::size_t memory_bytes) {
  using namespace cudacore::simulator;
  const Configuration configuration{devices, major, minor, memory_bytes};
  Configuration checked;
  if (devices != 0) checked.devices = devices;
  if (major != 0 || minor != 0) std::tie(checked.major, checked.minor) = std::tie(major, minor);
  if (memory_bytes != 0) checked.memory_bytes = memory_bytes;
  if (!is_valid(checked)) return CUDA_ERROR_INVALID_VALUE;
  Setting& known = setting();
  const std::scoped_lock lock(known.mutex);
  if (driver_status() == CUDA_SUCCESS) {
    const Configuration& there = known.in_force;
    const bool is_so =
        (devices == 0 || devices == there.devices) &&
        ((major == 0 && minor == 0) || (major == there.major && minor == there.minor)) &&
        (memory_bytes == 0 || memory_bytes == there.memory_bytes);
    return is_so ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
  }
  known.configured = configuration;
  return CUDA_SUCCESS;
}
