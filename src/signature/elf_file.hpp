// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "signature/bytes.hpp"

namespace cudacore::signature {

/// Untrusted bytes: every read is checked.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::string_view text() const noexcept { return text_of(bytes_); }

  /// The `count` bytes at `offset`.
  /// @throw std::invalid_argument if there are fewer.
  [[nodiscard]] ByteReader part(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) {
      throw std::invalid_argument("damaged cubin: " + std::to_string(count) + " bytes at offset " +
                                  std::to_string(offset) + " reach past the end, at " +
                                  std::to_string(bytes_.size()));
    }
    return ByteReader(
        bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count)));
  }

  /// The little-endian value at `offset`.
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const ByteReader field = part(offset, sizeof(T));
    T value{};
    std::memcpy(&value, field.bytes_.data(), sizeof(T));
    return value;
  }

  /// The null-terminated string at `offset`.
  [[nodiscard]] std::string_view string_at(std::uint64_t offset) const;

 private:
  std::span<const std::byte> bytes_;
};

/// A 64-bit little-endian ELF file for an NVIDIA GPU: its sections and symbols.
class ElfFile {
 public:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint64_t entry_size = 0;
    ByteReader bytes{{}};
  };

  struct Symbol {
    std::string_view name;
    std::uint8_t type = 0;     ///< STT_*
    std::uint8_t binding = 0;  ///< STB_*
    std::uint8_t other = 0;    ///< st_other
    std::uint16_t section = 0;
  };

  /// @throw std::invalid_argument if the bytes are something else; the message says what.
  explicit ElfFile(std::span<const std::byte> bytes);

  /// Whether it can be linked with other code.
  [[nodiscard]] bool is_relocatable() const noexcept { return is_relocatable_; }

  /// The compute capability it is for, times ten.
  [[nodiscard]] int architecture() const noexcept { return architecture_; }

  [[nodiscard]] const std::vector<Section>& sections() const noexcept { return sections_; }

  /// Refuses a file that ends before what its program headers name does.
  /// @throw std::invalid_argument
  void check_segments() const;

  /// The symbols of every symbol table, in order.
  [[nodiscard]] std::vector<Symbol> symbols() const;

 private:
  ByteReader file_;
  bool is_relocatable_ = false;
  int architecture_ = 0;
  std::vector<Section> sections_;
};

}  // namespace cudacore::signature
