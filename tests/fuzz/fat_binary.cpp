// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a fat binary, or as one entry of it.
#include "simulator/api/code/fat_binary.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fat_binary_header.hpp"

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
  read(with_fat_binary_header({data, size}));
  return 0;
}
