// SPDX-License-Identifier: Apache-2.0
//
// Handmade fat binaries.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace cudacore::simulator {

inline constexpr std::uint16_t ptx_kind = 1;
inline constexpr std::uint16_t elf_kind = 2;

inline std::string ptx_for(const std::string& target) {
  return ".version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry of_" + target +
         "() { ret; }\n";
}

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
void overwrite(std::string& in, std::size_t at, T value) {
  std::memcpy(in.data() + at, &value, sizeof(value));
}

class FatBinary {
 public:
  FatBinary& add(std::uint16_t kind, std::uint32_t architecture, std::string code,
                 std::uint64_t flags = 0, std::uint64_t whole_size = 0) {
    const auto compressed_size = static_cast<std::uint32_t>(flags != 0 ? code.size() : 0);
    code.resize((code.size() + 8) / 8 * 8);  // at least one null byte
    append<std::uint16_t>(pieces_, kind);
    append<std::uint16_t>(pieces_, 0x101);
    append<std::uint32_t>(pieces_, 64);
    append<std::uint64_t>(pieces_, code.size());
    append<std::uint32_t>(pieces_, compressed_size);
    append<std::uint32_t>(pieces_, 0);
    append<std::uint32_t>(pieces_, 0x80000);
    append<std::uint32_t>(pieces_, architecture);
    append<std::uint64_t>(pieces_, 0);
    append<std::uint64_t>(pieces_, 0x11 | flags);
    append<std::uint64_t>(pieces_, 0);
    append<std::uint64_t>(pieces_, whole_size);
    pieces_ += code;
    return *this;
  }
  FatBinary& add_ptx(std::uint32_t architecture, const std::string& suffix = "") {
    return add(ptx_kind, architecture, ptx_for("sm_" + std::to_string(architecture) + suffix));
  }
  [[nodiscard]] std::string bytes() const {
    std::string all;
    append<std::uint32_t>(all, 0xba55ed50);
    append<std::uint16_t>(all, 1);
    append<std::uint16_t>(all, 16);
    append<std::uint64_t>(all, pieces_.size());
    return all + pieces_;
  }

 private:
  std::string pieces_;
};

}  // namespace cudacore::simulator
