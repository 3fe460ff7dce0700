// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as an entry of the program cache, and as the part of one behind its digest.
#include "compile/cache_entry.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cudacore::compile;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Digest key{};
  static_cast<void>(read_entry(key, bytes));
  if (const auto entry = read_entry_fields(bytes)) {
    // What can be read can be written, and read again.
    const auto again = read_entry(key, write_entry(key, *entry));
    if (!again || again->code != entry->code || again->symbols != entry->symbols) std::abort();
  }
  return 0;
}
