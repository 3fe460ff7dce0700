// SPDX-License-Identifier: Apache-2.0
//
// What tells a device from others: its name, its UUID, its place on the PCI bus. The number is that
// before CUDA_VISIBLE_DEVICES.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

[[nodiscard]] std::string device_name(int major, int minor);

[[nodiscard]] CUuuid uuid_of(int physical) noexcept;
/// "GPU-cdac04e0-...".
[[nodiscard]] std::string format_uuid(const CUuuid& uuid);

[[nodiscard]] int pci_bus(int physical) noexcept;
/// "01:00.0", which follows the domain.
[[nodiscard]] std::string format_pci_place(int physical);
/// The bus number of "[domain:]bus:device[.function]"; -1 where it is no such text or not ours.
[[nodiscard]] int parse_pci_bus(std::string_view text);

/// Copies as much as fits, with a null byte at the end. size is at least 1.
void copy_text(std::string_view text, char* to, std::size_t size) noexcept;

}  // namespace cudacore::simulator
