// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a fat binary, or as one entry of it.
#include "simulator/api/fat_binary.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

void read(const std::vector<std::uint8_t>& code) {
  std::uint32_t magic = 0;
  if (code.size() < sizeof(magic)) {
    return;
  }
  std::memcpy(&magic, code.data(), sizeof(magic));
  // A descriptor contains an address, which cannot be checked.
  if (magic == 0x466243b1 || !cudacore::simulator::is_fat_binary(code.data(), code.size())) {
    return;
  }
  std::string ptx;
  static_cast<void>(cudacore::simulator::take_ptx(code.data(), code.size(), {}, ptx));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, data + size});
  // A valid header, so that entries are reached without guessing sizes.
  std::vector<std::uint8_t> wrapped = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
  const std::uint64_t body = size;
  wrapped.resize(16);
  std::memcpy(&wrapped[8], &body, sizeof(body));
  wrapped.insert(wrapped.end(), data, data + size);
  read(wrapped);
  return 0;
}
