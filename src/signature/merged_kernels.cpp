// SPDX-License-Identifier: Apache-2.0
#include "signature/merged_kernels.hpp"

namespace cudacore::signature {

void MergedKernels::add(std::vector<KernelEntry> more) {
  for (KernelEntry& kernel : more) {
    const auto [place, is_new] = places_.emplace(kernel.symbol, kernels_.size());
    if (is_new) {
      kernels_.push_back(std::move(kernel));
    } else {
      Signature& known = kernels_[place->second].signature;
      known = merge(std::move(known), kernel.signature);
    }
  }
}

}  // namespace cudacore::signature
