// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "cudacore/memory_resource.hpp"
#include "error/unraisable.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {
namespace {

using Free = std::function<CUresult(const driver::DriverApi&)>;

/// To wait for a stream would end its capture: this frees on another thread, when that is over and
/// the stream's work is done.
void free_after_capture(const std::shared_ptr<owner::StreamBox>& stream,
                        const std::shared_ptr<error::ContextBox>& context,
                        const Free& free) noexcept {
  owner::try_elsewhere([stream, context, free] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return true;
    const owner::OutsideCaptures outside(*api);
    try {
      if (owner::is_captured(*stream)) return false;
      const error::ContextScope scope(*api, *context);
      const CUresult finished = api->cuStreamQuery(stream->stream);
      if (finished == CUDA_ERROR_NOT_READY) return false;
      const CUresult freed = free(*api);
      const CUresult result = freed != CUDA_SUCCESS ? freed : finished;
      if (result != CUDA_SUCCESS) error::report_unraisable(result, "the release of memory");
    } catch (const std::exception&) {  // the context was lost, and the memory with it
    }
    return true;
  });
}

/// A driver that fails to say so must not keep the memory.
bool is_surely_captured(const owner::StreamBox& stream) noexcept {
  try {
    return owner::is_captured(stream);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

CUresult free_after_work(const ReleaseCall& call, const Free& free) {
  const std::shared_ptr<owner::StreamBox> captured = call.shared_stream();
  if (captured != nullptr && call.context() != nullptr && is_surely_captured(*captured)) {
    free_after_capture(captured, call.context(), free);
    return CUDA_SUCCESS;
  }
  const auto wait_and_free = [stream = call.shared_stream(), free](const driver::DriverApi& api) {
    const owner::OutsideCaptures outside(api);
    const CUresult finished =
        stream != nullptr ? api.cuStreamSynchronize(stream->stream) : CUDA_SUCCESS;
    const CUresult freed = free(api);
    return freed != CUDA_SUCCESS ? freed : finished;
  };
  const bool is_heard = error::interrupt_hook() != nullptr && !error::NobodyCatchesScope::here();
  return is_heard && call.context() != nullptr
             ? error::wait_on_thread(call.context(), wait_and_free)
             : wait_and_free(call.api());
}

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
