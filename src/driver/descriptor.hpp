// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudacore::driver {

/// An open file, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
  /// Gives up ownership.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Reads a file to its end. `expected` is its size as far as it is known.
/// @return whether it could be read, and was at most `limit` long.
[[nodiscard]] bool read_all(int file, std::size_t expected, std::size_t limit,
                            std::string& content);
/// The same into bytes. If it fails, errno tells why.
[[nodiscard]] bool read_all(int file, std::size_t expected, std::size_t limit,
                            std::vector<std::byte>& content);

/// How the names of files begin that are not complete yet.
inline constexpr std::string_view draft_prefix = ".draft";

/// A name for a file until it is complete, which no other process chooses, also not one in another
/// container.
[[nodiscard]] std::string draft_name();

/// Returns errno, or 0 once everything is written. The process survives a limit on the size of
/// its files, which ends the write with EFBIG.
[[nodiscard]] int write_all(int file, std::span<const std::byte> bytes) noexcept;

}  // namespace cudacore::driver
