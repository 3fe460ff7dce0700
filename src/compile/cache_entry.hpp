// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/sha256.hpp"
#include "cudacore/object_code.hpp"

namespace cudacore::compile {

/// What the cache keeps of a compilation.
struct CacheEntry {
  CodeType type = CodeType::cubin;
  std::vector<std::byte> code;
  std::string ptx;                             ///< beside a cubin
  std::string log;                             ///< of the compiler; the linker's errors
  std::string info_log;                        ///< of the linker
  std::map<std::string, std::string> symbols;  ///< name expression → symbol
};

/// The bytes of an entry's file. They contain a digest of the key and of all that follows.
[[nodiscard]] std::string write_entry(const Digest& key, const CacheEntry& entry);

/// @return unset if the bytes aren't exactly what write_entry() has made for this key.
[[nodiscard]] std::optional<CacheEntry> read_entry(const Digest& key, std::string_view bytes);

/// The part of a file that the digest protects; trusts nothing about the bytes.
[[nodiscard]] std::optional<CacheEntry> read_entry_fields(std::string_view bytes);

}  // namespace cudacore::compile
