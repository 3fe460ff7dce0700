// SPDX-License-Identifier: Apache-2.0
//
// What identifies a device: its name, its UUID, and its location on the PCI bus. The number is the
// one before CUDA_VISIBLE_DEVICES is applied.
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
/// The bus number in "[domain:]bus:device[.function]"; -1 if the text is different or the device
/// isn't ours.
[[nodiscard]] int parse_pci_bus(std::string_view text);

/// Copies as much as fits, and adds a null byte. size is at least 1.
void copy_text(std::string_view text, char* to, std::size_t size) noexcept;

}  // namespace cudacore::simulator
