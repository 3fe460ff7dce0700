// SPDX-License-Identifier: Apache-2.0
#include "compile/merged_details.hpp"

#include <set>
#include <stdexcept>
#include <utility>

#include "cudacore/error.hpp"
#include "signature/merged_kernels.hpp"

namespace cudacore::compile {
namespace {

/// The kernels of an input, as far as they can be read; LTO IR and host objects don't list any.
std::vector<KernelEntry> kernels_of(const ObjectCode& input) {
  try {
    return input.kernels();
  } catch (const NotSupportedError&) {
    return input.details().known_kernels;
  } catch (const std::invalid_argument&) {
    // The library that reads it reports what is wrong.
    return {};
  }
}

}  // namespace

ObjectCode::Details merged_details(std::span<const ObjectCode> inputs, std::string name) {
  ObjectCode::Details details;
  details.name = std::move(name);
  std::set<std::string_view> sources;
  signature::MergedKernels kernels;
  for (const ObjectCode& input : inputs) {
    details.symbol_mapping.insert(input.symbol_mapping().begin(), input.symbol_mapping().end());
    const std::string& source = input.details().source;
    if (!source.empty() && sources.insert(source).second) details.source += source + '\n';
    kernels.add(kernels_of(input));
  }
  details.known_kernels = kernels.take();
  return details;
}

}  // namespace cudacore::compile
