// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/introspection.hpp"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {

std::atomic<std::uint64_t>* instruction_counter() {
  static std::atomic<std::uint64_t> counter{0};
  static const bool counts = [] {
    const char* value = std::getenv("CUDACORE_SIMULATOR_COUNT");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return counts ? &counter : nullptr;
}

}  // namespace cudacore::simulator

extern "C" CUresult cudacoreSimulatorForm(std::size_t index, const char** key,
                                          const char** signature) {
  using cudacore::simulator::Form;
  // Never destroyed: other code may call this at exit.
  static const std::vector<const Form*>& forms =
      *std::make_unique<const std::vector<const Form*>>(
           cudacore::simulator::form_table(cudacore::simulator::best_isa())->all())
           .release();
  if (key == nullptr || signature == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (index >= forms.size()) return CUDA_ERROR_NOT_FOUND;
  *key = forms[index]->key.c_str();
  *signature = forms[index]->signature.c_str();
  return CUDA_SUCCESS;
}

extern "C" std::uint64_t cudacoreSimulatorThreadInstructions() {
  const auto* counter = cudacore::simulator::instruction_counter();
  return counter != nullptr ? counter->load() : 0;
}
