// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_entry.hpp"

#include <algorithm>
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

void append_number(std::string& fields, std::uint64_t number) {
  for (unsigned byte = 0; byte < sizeof(number); ++byte) {
    fields += static_cast<char>(number >> 8 * byte & 0xFF);
  }
}

void append_text(std::string& fields, std::string_view text) {
  append_number(fields, text.size());
  fields += text;
}

/// Takes fields from the front of bytes; all are empty from the first one that is cut off.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() noexcept {
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

  std::string_view text() noexcept {
    const std::uint64_t size = number();
    if (size > rest_.size()) is_valid_ = false;
    if (!is_valid_) return {};
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  [[nodiscard]] bool is_valid() const noexcept { return is_valid_; }
  [[nodiscard]] bool is_at_end() const noexcept { return is_valid_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_valid_ = true;
};

}  // namespace

std::string write_entry(const Digest& key, const CacheEntry& entry) {
  std::string fields;
  append_number(fields, static_cast<std::uint64_t>(entry.type));
  append_text(fields, signature::text_of(entry.code));
  append_text(fields, entry.ptx);
  append_text(fields, entry.log);
  append_text(fields, entry.info_log);
  append_number(fields, entry.symbols.size());
  for (const auto& [name, symbol] : entry.symbols) {
    append_text(fields, name);
    append_text(fields, symbol);
  }
  const Digest digest = digest_of(key, fields);
  return std::string(magic).append(signature::text_of(digest)).append(fields);
}

std::optional<CacheEntry> read_entry(const Digest& key, std::string_view bytes) {
  Digest digest;
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + digest.size()) {
    return std::nullopt;
  }
  bytes.remove_prefix(magic.size());
  std::memcpy(digest.data(), bytes.data(), digest.size());
  bytes.remove_prefix(digest.size());
  if (digest_of(key, bytes) != digest) return std::nullopt;
  return read_entry_fields(bytes);
}

std::optional<CacheEntry> read_entry_fields(std::string_view bytes) {
  FieldReader fields(bytes);
  CacheEntry entry;
  const std::uint64_t type = fields.number();
  if (type > static_cast<std::uint64_t>(CodeType::ltoir)) return std::nullopt;
  entry.type = static_cast<CodeType>(type);
  entry.code = signature::bytes_of(fields.text());
  entry.ptx = fields.text();
  entry.log = fields.text();
  entry.info_log = fields.text();
  for (std::uint64_t left = fields.number(); left != 0 && fields.is_valid(); --left) {
    const std::string_view name = fields.text();
    entry.symbols.emplace(name, fields.text());
  }
  if (!fields.is_at_end() || entry.code.empty()) return std::nullopt;
  return entry;
}

}  // namespace cudacore::compile
