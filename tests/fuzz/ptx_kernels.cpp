// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as PTX, and lists its kernels.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "cudacore/signature.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(cudacore::kernels_in_ptx({reinterpret_cast<const char*>(data), size}));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
