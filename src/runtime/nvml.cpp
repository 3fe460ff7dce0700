// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvml.hpp"

#include <bit>
#include <tuple>

#include "cudacore/nvml_error.hpp"
#include "driver/driver_api.hpp"
#include "driver/nvml_api.hpp"
#include "runtime/nvml_slot.hpp"

namespace cudacore::system {
namespace {

using driver::NvmlApi;

/// " for the device GPU-..."; empty if NVML can't tell.
std::string about(const NvmlApi& api, driver::NvmlDevice device) {
  std::array<char, 96> uuid{};
  if (api.nvmlDeviceGetUUID == nullptr ||
      api.nvmlDeviceGetUUID(device, uuid.data(), driver::NvmlLength{uuid.size()}) != 0) {
    return {};
  }
  return std::string(" for the device ") + uuid.data();
}

/// What a call was about, by its first parameter.
template <typename First, typename... Rest>
std::string about_first(const NvmlApi& api, NvmlSlot<First>& first, NvmlSlot<Rest>&... /*rest*/) {
  if constexpr (std::is_same_v<First, driver::NvmlDevice>) {
    return about(api, first.value);
  } else if constexpr (std::is_same_v<First, const char*>) {
    return " for " + first.text;
  } else {
    return {};
  }
}

/// "BAR1 memory info", of nvmlDeviceGetBAR1MemoryInfo.
std::string words_of(std::string_view name) {
  if (const std::size_t version = name.find("_v"); version != std::string_view::npos) {
    name = name.substr(0, version);
  }
  const auto is_upper = [&](std::size_t i) { return name[i] >= 'A' && name[i] <= 'Z'; };
  const auto is_lower = [&](std::size_t i) { return i < name.size() && name[i] >= 'a'; };
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_start = is_upper(i) && (i == 0 || !is_upper(i - 1) || is_lower(i + 1));
    if (is_start && i > 0) words += ' ';
    const bool is_acronym = is_upper(i) && !(is_start && is_lower(i + 1));
    words += is_upper(i) && !is_acronym ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return words;
}

/// @throw NvmlError, for a function that the library lacks
[[noreturn]] void throw_no_function(const NvmlApi& api, std::string_view name) {
  if (!driver::simulator_chosen()) {
    driver::throw_nvml_error(api, driver::nvml_function_not_found, std::string(name).c_str(), "");
  }
  constexpr std::string_view of_devices = "nvmlDeviceGet";
  const std::string why =
      name.starts_with(of_devices)
          ? "the simulated device has no " + words_of(name.substr(of_devices.size()))
          : "the simulated device doesn't do this";
  throw NvmlError(std::string(name) + " failed: Not Supported: " + why, driver::nvml_not_supported,
                  "Not Supported", std::string(name));
}

NvmlValue one_or_list(std::vector<NvmlValue> answers) {
  if (answers.size() == 1) return std::move(answers.front());
  return {std::move(answers)};
}

template <typename... Parameters>
NvmlValue call(const NvmlApi& api, const char* name, int (*function)(Parameters...),
               const std::vector<NvmlValue>& arguments) {
  NvmlInputs inputs(name, arguments);
  std::tuple<NvmlSlot<Parameters>...> slots{NvmlSlot<Parameters>(inputs)...};
  inputs.end();
  if (function == nullptr) throw_no_function(api, name);
  return std::apply(
      [&](NvmlSlot<Parameters>&... each) {
        if (const int result = function(each.passed()...); result != 0) {
          driver::throw_nvml_error(api, result, name, about_first(api, each...));
        }
        std::vector<NvmlValue> answers;
        (each.add_to(answers), ...);
        return one_or_list(std::move(answers));
      },
      slots);
}

struct Function {
  std::string_view name;
  NvmlValue (*ask)(const NvmlApi& api, const std::vector<NvmlValue>& arguments);
};

constexpr std::array functions = {
#define CUDACORE_NVML_SYMBOL(name, parameters)                                      \
  Function{#name, [](const NvmlApi& api, const std::vector<NvmlValue>& arguments) { \
             return call(api, #name, api.name, arguments);                          \
           }},
#include "driver/nvml_symbols.def"
#undef CUDACORE_NVML_SYMBOL
};

}  // namespace

NvmlValue value_of(const driver::NvmlFieldValue& field) {
  const auto number = [&]() -> NvmlValue {
    switch (field.type) {
      case 0:
        return {std::bit_cast<double>(field.bits)};
      case 1:
        return value_of(static_cast<unsigned>(field.bits));
      case 4:
        return value_of(static_cast<long long>(field.bits));
      case 5:
        return value_of(static_cast<int>(field.bits));
      case 6:
        return value_of(static_cast<unsigned short>(field.bits));
      default:
        return value_of(field.bits);
    }
  };
  return {std::vector<NvmlValue>{value_of(field.timestamp), value_of(field.latency),
                                 value_of(field.result), number()}};
}

NvmlValue ask_nvml(std::string_view function, const std::vector<NvmlValue>& arguments) {
  const NvmlApi& api = driver::nvml();
  const auto* found = std::find_if(functions.begin(), functions.end(),
                                   [&](const Function& each) { return each.name == function; });
  if (found == functions.end()) {
    throw std::invalid_argument(std::string(function) + " is no function of NVML's that is used");
  }
  return found->ask(api, arguments);
}

}  // namespace cudacore::system
