// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a cubin, and lists its kernels.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "cudacore/signature.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(cudacore::kernels_in_cubin(std::as_bytes(std::span(data, size))));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
