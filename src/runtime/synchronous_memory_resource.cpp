// SPDX-License-Identifier: Apache-2.0
#include "cudacore/synchronous_memory_resource.hpp"

#include "error/describe.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {

Buffer SynchronousMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  auto box = new_buffer(shared_from_this(), stream);
  refuse_if_captured("a SynchronousMemoryResource", stream);
  const ContextCall call(error::primary_context(device_.id()));
  if (size == 0) return Buffer(std::move(box));
  CUdeviceptr pointer = 0;
  call.check(call.api().cuMemAlloc(&pointer, size), "cuMemAlloc", [&] {
    return error::describe_device(device_.id()) + ", " + error::format_bytes(size);
  });
  box->pointer = pointer;
  box->size = size;
  return Buffer(std::move(box));
}

void SynchronousMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                           const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const ReleaseCall call(stream, device_.id());
  const auto free = [pointer](const driver::DriverApi& api) { return api.cuMemFree(pointer); };
  call.check(free_after_work(call, free), "cuMemFree", pointer, size);
}

}  // namespace cudacore
