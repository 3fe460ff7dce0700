// SPDX-License-Identifier: Apache-2.0
#include "compile/sealed_fields.hpp"

#include <cstring>

#include "signature/bytes.hpp"

namespace cudacore::compile {
namespace {

/// Of the format, at the start of each file.
constexpr std::string_view magic = "cudacore program cache 1\n";

Digest digest_of(const Digest& key, std::string_view fields) {
  Sha256 hash;
  hash.update(key);
  hash.update(std::as_bytes(std::span(fields)));
  return hash.finish();
}

}  // namespace

void FieldWriter::add_number(std::uint64_t number) {
  for (unsigned byte = 0; byte < sizeof(number); ++byte) {
    fields_ += static_cast<char>(number >> 8 * byte & 0xFF);
  }
}

void FieldWriter::add_text(std::string_view text) {
  add_number(text.size());
  fields_ += text;
}

std::string FieldWriter::sealed(const Digest& key) const {
  const Digest digest = digest_of(key, fields_);
  return std::string(magic).append(signature::text_of(digest)).append(fields_);
}

std::optional<std::string_view> unsealed(const Digest& key, std::string_view bytes) {
  Digest digest;
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + digest.size()) {
    return std::nullopt;
  }
  bytes.remove_prefix(magic.size());
  std::memcpy(digest.data(), bytes.data(), digest.size());
  bytes.remove_prefix(digest.size());
  if (digest_of(key, bytes) != digest) return std::nullopt;
  return bytes;
}

std::uint64_t FieldReader::number() noexcept {
  std::uint64_t value = 0;
  if (rest_.size() < sizeof(value)) {
    is_valid_ = false;
    return 0;
  }
  for (unsigned byte = 0; byte < sizeof(value); ++byte) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[byte])) << 8 * byte;
  }
  rest_.remove_prefix(sizeof(value));
  return value;
}

std::string_view FieldReader::text() noexcept {
  const std::uint64_t size = number();
  if (size > rest_.size()) is_valid_ = false;
  if (!is_valid_) return {};
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

}  // namespace cudacore::compile
