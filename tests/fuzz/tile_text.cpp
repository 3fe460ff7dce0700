// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tile/error.hpp"
#include "tile/generate.hpp"

// Texts of tile kernels: whatever they say is translated or refused with an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(cudacore::tile::generate({reinterpret_cast<const char*>(data), size}, {}));
  } catch (const cudacore::tile::Error&) {
    return 0;
  }
  return 0;
}
