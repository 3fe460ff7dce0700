// SPDX-License-Identifier: Apache-2.0
//
// Reads any text as a declared signature, as source that names parameters, as a name to find, and
// as the type of an array view.
#include "cudacore/signature.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "signature/view_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The first line is a declaration; the rest is source, and the names of kernels.
  const std::size_t end = text.find('\n');
  const std::string_view declaration = text.substr(0, end);
  const std::string_view rest = end == std::string_view::npos ? text : text.substr(end + 1);
  cudacore::Signature signature;
  try {
    signature = cudacore::parse_signature(declaration);
    const std::size_t count = signature.params.size();
    cudacore::read_definition(signature, rest);
    if (signature.params.size() != count ||
        cudacore::merge(signature, signature).params.size() != count) {
      std::abort();
    }
    static_cast<void>(signature.str());
  } catch (const std::invalid_argument&) {
  }
  cudacore::Param view;
  view.kind = cudacore::ParamKind::structure;
  view.type = declaration;
  view.size = size % 64;
  static_cast<void>(cudacore::signature::view_layout(view));
  std::vector<cudacore::KernelEntry> entries(2);
  entries[0].symbol = "_Z4axpyIfEvT_PKS0_PS0_m";
  entries[0].name = "axpy<float>";
  entries[1].symbol = entries[1].name = declaration;
  entries[1].signature = signature;
  try {
    static_cast<void>(cudacore::find_kernel(entries, rest));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
