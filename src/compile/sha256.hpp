// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cudacore::compile {

/// A SHA-256 digest.
using Digest = std::array<std::byte, 32>;

/// In lower-case hexadecimal digits.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

/// SHA-256 (FIPS 180-4) of bytes given in pieces. Uses the processor's instructions where it has
/// them.
///
/// This is an implementation of our own because the core depends on nothing that has one: OpenSSL
/// is not on every machine, and hashlib is Python's.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes) noexcept;
  /// The digest of all bytes so far. To be called once, at the end.
  [[nodiscard]] Digest finish() noexcept;

  static constexpr std::size_t block_size = 64;
  using State = std::array<std::uint32_t, 8>;

 private:
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, block_size> rest_{};
  std::uint64_t size_ = 0;
};

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes) noexcept;

/// Hashes fields so that different lists of fields never give the same bytes: each is preceded by
/// its length.
class FieldHash {
 public:
  void add(std::string_view text) noexcept;
  void add_number(std::uint64_t number) noexcept;
  [[nodiscard]] Digest finish() noexcept { return hash_.finish(); }

 private:
  Sha256 hash_;
};

/// Compresses whole blocks in portable C++, for tests on machines that don't use it.
void compress_portably(Sha256::State& state, std::span<const std::byte> blocks) noexcept;

}  // namespace cudacore::compile
