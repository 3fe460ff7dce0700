// SPDX-License-Identifier: Apache-2.0
#include "owner/virtual_memory.hpp"

#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/end_scope.hpp"

namespace cudacore::owner {
namespace {

/// Calls a function of the driver that gives something back; `kept` lives until then.
template <typename Call>
void give_back(const char* name, Call call) noexcept {
  end_outside_callbacks([name, call = std::move(call)] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr) return;
    const EndScope scope(*api);
    const CUresult result = call(*api);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, name);
  });
}

}  // namespace

PhysicalBox::~PhysicalBox() {
  if (size == 0) return;
  give_back("cuMemRelease",
            [handle = handle](const driver::DriverApi& api) { return api.cuMemRelease(handle); });
}

RangeBox::~RangeBox() {
  if (address == 0) return;
  give_back("cuMemAddressFree", [address = address, size = size](const driver::DriverApi& api) {
    return api.cuMemAddressFree(address, size);
  });
}

MappingBox::~MappingBox() {
  if (address == 0) return;
  // The range and the memory end after the mapping, on whichever thread.
  give_back("cuMemUnmap", [address = address, range = std::move(range),
                           memory = std::move(memory)](const driver::DriverApi& api) {
    const CUresult result = api.cuMemUnmap(address, memory->size);
    if (result == CUDA_SUCCESS) range->used = address - range->address;
    return result;
  });
}

}  // namespace cudacore::owner
