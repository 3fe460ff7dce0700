// SPDX-License-Identifier: Apache-2.0
#include "error/describe.hpp"

#include <cstdio>

namespace cudacore::error {

std::string describe_device(int device) {
  std::string text = "device " + std::to_string(device);
  std::array<char, 256> name{};
  if (driver::api().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) ==
      CUDA_SUCCESS) {
    text.append(" (").append(name.data()).append(")");
  }
  return text;
}

std::string format_bytes(std::size_t size) {
  constexpr std::array<const char*, 7> units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(size);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s", value, units[unit]);
  return text.data();
}

std::string with_name(std::string_view what, const std::string& name) {
  return name.empty() ? std::string(what) : std::string(what) + " \"" + name + "\"";
}

std::string format_address(std::uintptr_t address) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(address));
  return text.data();
}

std::string format_address(const void* address) {
  return format_address(reinterpret_cast<std::uintptr_t>(address));
}

std::string format_extents(const std::array<unsigned, 3>& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " +
         std::to_string(extents[2]);
}

std::string code_name(const driver::DriverApi& api, CUresult result) {
  const char* name = nullptr;
  api.cuGetErrorName(result, &name);
  return name != nullptr ? name : "";
}

std::string format_code(const driver::DriverApi& api, CUresult result) {
  const std::string name = code_name(api, result);
  return (name.empty() ? "unknown error" : name) + " (" + std::to_string(static_cast<int>(result)) +
         ")";
}

}  // namespace cudacore::error
