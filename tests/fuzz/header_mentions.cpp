// SPDX-License-Identifier: Apache-2.0
//
// Looks for headers in any text.
#include "compile/header_mentions.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(cudacore::compile::header_mentions(text));
  static_cast<void>(cudacore::compile::definitions_of("H", text));
  return 0;
}
