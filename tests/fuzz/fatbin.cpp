// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a fat binary, or as one entry of it, and lists its kernels and variables.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

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
  // A valid header, so that entries are reached without guessing sizes.
  std::vector<std::uint8_t> wrapped = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  const std::uint64_t body = size;
  wrapped.resize(16);
  std::memcpy(&wrapped[8], &body, sizeof(body));
  wrapped.insert(wrapped.end(), data, data + size);
  read(wrapped);
  return 0;
}
