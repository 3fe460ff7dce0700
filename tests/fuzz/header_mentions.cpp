// SPDX-License-Identifier: Apache-2.0
//
// Looks for headers in any text.
#include "compile/header_mentions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compile/macro_definitions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<std::string> joined = cudacore::compile::joined_lines(text);
  const std::string_view read = joined ? std::string_view(*joined) : text;
  static_cast<void>(cudacore::compile::header_mentions(read));
  const std::array<std::string, 1> names = {"H"};
  for (const auto& macro : cudacore::compile::definitions_in(names, read)) {
    static_cast<void>(cudacore::compile::meaning_of(macro));
  }
  return 0;
}
