// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/context/identity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace cudacore::simulator {

std::string device_name(int major, int minor) {
  return "cudacore simulated device (sm_" + std::to_string(major) + std::to_string(minor) + ")";
}

CUuuid uuid_of(int physical) noexcept {
  constexpr std::array<unsigned char, 16> base{0xcd, 0xac, 0x04, 0xe0, 0x51, 0x6d, 0x40, 0x1a,
                                               0x90, 0x7e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  CUuuid uuid{};
  std::ranges::transform(base, uuid.bytes,
                         [](unsigned char byte) { return static_cast<char>(byte); });
  uuid.bytes[15] = static_cast<char>(physical);
  return uuid;
}

std::string format_uuid(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits.data();
  }
  return text;
}

int pci_bus(int physical) noexcept { return physical + 1; }

std::string format_pci_place(int physical) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%02X:00.0", static_cast<unsigned>(pci_bus(physical)));
  return text.data();
}

int parse_pci_bus(std::string_view text) {
  std::array<unsigned, 4> fields{};  // domain, bus, device, function
  const std::size_t colons = static_cast<std::size_t>(std::ranges::count(text, ':'));
  if (colons != 1 && colons != 2) return -1;
  const char* at = text.data();
  const char* end = at + text.size();
  for (std::size_t i = 2 - colons; i < fields.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, fields[i], 16);
    if (error != std::errc{}) return -1;
    at = next;
    if (at == end) {
      if (i < 2) return -1;
      break;
    }
    if (i == 3 || *at != (i < 2 ? ':' : '.')) return -1;
    ++at;
  }
  return fields[0] == 0 && fields[2] == 0 && fields[3] == 0 ? static_cast<int>(fields[1]) : -1;
}

void copy_text(std::string_view text, char* to, std::size_t size) noexcept {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace cudacore::simulator
