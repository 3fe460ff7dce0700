// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/calls.hpp"
#include "core/release_call.hpp"
#include "cudacore/memory_resource.hpp"

namespace cudacore {

namespace {

/// An empty buffer that remembers where it goes back to.
std::shared_ptr<handle::BufferBox> make_box(std::shared_ptr<MemoryResource> resource,
                                            const std::optional<Stream>& stream) {
  auto box = std::make_shared<handle::BufferBox>();
  box->resource = std::move(resource);
  if (stream) box->stream = release_stream(*stream);
  return box;
}

/// Waits for work that may still use the memory: these functions are not ordered on streams.
CUresult finish(const ReleaseCall& call) {
  return call.has_stream() ? call.api().cuStreamSynchronize(call.stream()) : CUDA_SUCCESS;
}

}  // namespace

Buffer LegacyPinnedMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  auto box = make_box(shared_from_this(), stream);
  const ContextCall call(handle::current_context());
  if (size == 0) return Buffer(std::move(box));
  void* pointer = nullptr;
  const CUresult result = call.api().cuMemAllocHost(&pointer, size);
  if (result != CUDA_SUCCESS) {
    handle::throw_driver_error(result, "cuMemAllocHost",
                               "page-locked host memory, " + handle::format_bytes(size),
                               call.context().get());
  }
  box->pointer = reinterpret_cast<std::uintptr_t>(pointer);
  box->size = size;
  return Buffer(std::move(box));
}

void LegacyPinnedMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                            const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const ReleaseCall call(stream, -1);
  const CUresult finished = finish(call);
  void* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
  call.check(call.api().cuMemFreeHost(memory), "cuMemFreeHost", pointer, size);
  call.check(finished, "cuStreamSynchronize", pointer, size);
}

Buffer SynchronousMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  auto box = make_box(shared_from_this(), stream);
  const ContextCall call(handle::primary_context(device_.id()));
  if (size == 0) return Buffer(std::move(box));
  CUdeviceptr pointer = 0;
  const CUresult result = call.api().cuMemAlloc(&pointer, size);
  if (result != CUDA_SUCCESS) {
    handle::throw_driver_error(
        result, "cuMemAlloc",
        handle::describe_device(device_.id()) + ", " + handle::format_bytes(size),
        call.context().get());
  }
  box->pointer = pointer;
  box->size = size;
  return Buffer(std::move(box));
}

void SynchronousMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                           const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const ReleaseCall call(stream, device_.id());
  const CUresult finished = finish(call);
  call.check(call.api().cuMemFree(pointer), "cuMemFree", pointer, size);
  call.check(finished, "cuStreamSynchronize", pointer, size);
}

}  // namespace cudacore
