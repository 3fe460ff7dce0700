// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_entry.hpp"

#include "compile/sealed_fields.hpp"
#include "signature/bytes.hpp"

namespace cudacore::compile {

std::string write_entry(const Digest& key, const CacheEntry& entry) {
  FieldWriter fields;
  fields.add_number(static_cast<std::uint64_t>(entry.type));
  fields.add_text(signature::text_of(entry.code));
  fields.add_text(entry.ptx);
  fields.add_text(entry.log);
  fields.add_text(entry.info_log);
  fields.add_number(entry.symbols.size());
  for (const auto& [name, symbol] : entry.symbols) {
    fields.add_text(name);
    fields.add_text(symbol);
  }
  return fields.sealed(key);
}

std::optional<CacheEntry> read_entry(const Digest& key, std::string_view bytes) {
  const std::optional<std::string_view> fields = unsealed(key, bytes);
  return fields ? read_entry_fields(*fields) : std::nullopt;
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
