// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compile/sha256.hpp"

// What is in the cache's files: numbers and texts, behind a digest of them and of the key.

namespace cudacore::compile {

class FieldWriter {
 public:
  void add_number(std::uint64_t number);
  void add_text(std::string_view text);
  /// The bytes of the file.
  [[nodiscard]] std::string sealed(const Digest& key) const;

 private:
  std::string fields_;
};

/// The fields of a file.
/// @return unset if the bytes aren't exactly what FieldWriter::sealed() has made for this key.
[[nodiscard]] std::optional<std::string_view> unsealed(const Digest& key, std::string_view bytes);

/// Takes fields from the front of bytes; all are empty from the first one that is cut off.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() noexcept;
  std::string_view text() noexcept;

  [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
  [[nodiscard]] bool is_at_end() const noexcept { return is_valid_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_valid_ = true;
};

}  // namespace cudacore::compile
