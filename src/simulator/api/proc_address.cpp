// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/proc_address.hpp"

#include <algorithm>
#include <string_view>

#include "simulator/api/cuda_api.hpp"

using namespace cudacore::simulator;

namespace {

/// The newest form of a function that a version has; null if there is none, with the reason.
const Symbol* find_symbol(std::string_view name, int version,
                          CUdriverProcAddressQueryResult& status) {
  const std::span<const Symbol> all = symbols();
  const auto begin = std::lower_bound(
      all.begin(), all.end(), name,
      [](const Symbol& symbol, std::string_view wanted) { return symbol.name < wanted; });
  const auto end = std::find_if(begin, all.end(), [&](const Symbol& symbol) {
    return std::string_view(symbol.name) != name;
  });
  if (begin == end) {
    status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return nullptr;
  }
  const auto newer =
      std::find_if(begin, end, [&](const Symbol& symbol) { return symbol.since > version; });
  if (newer == begin) {
    status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    return nullptr;
  }
  status = CU_GET_PROC_ADDRESS_SUCCESS;
  return &*std::prev(newer);
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* name, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t known =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || address == nullptr || version < 0 || (flags & ~known) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SUCCESS;
  const Symbol* symbol = find_symbol(name, version, how);
  if (status != nullptr) *status = how;
  *address = nullptr;
  if (symbol == nullptr) return CUDA_SUCCESS;  // as in the driver: the null pointer shows it
  *address = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 ? symbol->per_thread
                                                                          : symbol->legacy;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* name, void** address, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, nullptr);
}

}  // extern "C"
