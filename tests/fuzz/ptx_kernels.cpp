// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as PTX, and lists its directives and its kernels.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "cudacore/signature.hpp"
#include "signature/ptx_directives.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view ptx(reinterpret_cast<const char*>(data), size);
  static_cast<void>(cudacore::signature::directives_in_ptx(ptx));
  try {
    static_cast<void>(cudacore::kernels_in_ptx(ptx));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
