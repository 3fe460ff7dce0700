// SPDX-License-Identifier: Apache-2.0
#include "cudacore/legacy_pinned_memory_resource.hpp"

#include "error/describe.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {

Buffer LegacyPinnedMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  auto box = new_buffer(shared_from_this(), stream);
  refuse_if_captured("a LegacyPinnedMemoryResource", stream);
  const ContextCall call(error::current_context());
  if (size == 0) return Buffer(std::move(box));
  void* pointer = nullptr;
  call.check(call.api().cuMemAllocHost(&pointer, size), "cuMemAllocHost",
             [&] { return "page-locked host memory, " + error::format_bytes(size); });
  box->pointer = reinterpret_cast<std::uintptr_t>(pointer);
  box->size = size;
  return Buffer(std::move(box));
}

void LegacyPinnedMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                            const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const ReleaseCall call(stream, -1);
  void* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
  const auto free = [memory](const driver::DriverApi& api) { return api.cuMemFreeHost(memory); };
  call.check(free_after_work(call, free), "cuMemFreeHost", pointer, size);
}

}  // namespace cudacore
