// SPDX-License-Identifier: Apache-2.0
//
// Switching profilers on and off, and tables that only NVIDIA's own libraries request.
#include "simulator/api/entry.hpp"

using namespace cudacore::simulator;

extern "C" {

[[gnu::visibility("default")]] CUresult cuProfilerStart() {
  return context_call([](const Context&) { return CUDA_SUCCESS; });
}

[[gnu::visibility("default")]] CUresult cuProfilerStop() {
  return context_call([](const Context&) { return CUDA_SUCCESS; });
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  // Not an error: libraries also request what they can do without.
  log_warning(
      "cuGetExportTable is not simulated: programs that have NVIDIA's CUDA runtime inside need it; "
      "built with nvcc -cudart shared, they take the libcudart beside this library, and run");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // extern "C"
