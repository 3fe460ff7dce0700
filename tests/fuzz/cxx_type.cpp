// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as a C++ type, a declaration, a name or a mangled symbol.
#include "signature/cxx_type.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cudacore/signature.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const cudacore::Param param = cudacore::signature::parse_parameter(text);
    static_cast<void>(cudacore::signature::parse_parameter(param.type));
  } catch (const std::invalid_argument&) {
  }
  static_cast<void>(cudacore::signature::declared_name(text));
  static_cast<void>(cudacore::signature::canonical_name(text));
  static_cast<void>(cudacore::describe_kernel(std::string(text)));
  static_cast<void>(cudacore::describe_kernel("_Z" + std::string(text)));
  return 0;
}
