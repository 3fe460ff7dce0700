// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a fat binary, or as one entry of it, and lists its kernels and variables.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "fat_binary_header.hpp"
#include "signature/fatbin_file.hpp"

namespace {

void read(std::span<const std::uint8_t> code) {
  const auto bytes = std::as_bytes(code);
  try {
    static_cast<void>(cudacore::signature::kernels_in_fatbin(bytes));
  } catch (const std::invalid_argument&) {
  }
  try {
    static_cast<void>(cudacore::signature::variables_in_fatbin(bytes));
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, size});
  read(with_fat_binary_header({data, size}));
  return 0;
}
