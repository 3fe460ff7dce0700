// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cudacore/signature.hpp"

namespace cudacore::signature {

/// Kernels by what several pieces of code say of them: each symbol once, in the order in which they
/// were added.
class MergedKernels {
 public:
  void add(std::vector<KernelEntry> more);
  [[nodiscard]] std::vector<KernelEntry> take() { return std::move(kernels_); }

 private:
  std::vector<KernelEntry> kernels_;
  std::map<std::string, std::size_t> places_;  ///< by symbol
};

}  // namespace cudacore::signature
