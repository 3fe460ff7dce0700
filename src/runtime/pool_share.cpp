// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/pool_memory_resource.hpp"
#include "runtime/pool_shares.hpp"
#include "runtime/release_call.hpp"

namespace cudacore {
namespace {

[[noreturn]] void refuse_share(const std::string& why) {
  throw std::invalid_argument("a descriptor of shared memory " + why);
}

std::string describe_place(int device) {
  return device >= 0 ? error::describe_device(device) : std::string("page-locked host memory");
}

/// What the driver knows of imported memory.
struct Extent {
  CUdeviceptr start = 0;
  std::size_t size = 0;
  unsigned type = 0;
  int device = -1;

  Extent(const ContextCall& call, CUdeviceptr pointer) {
    std::array asked{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                     CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    std::array<void*, 4> values{&start, &size, &type, &device};
    call.check(call.api().cuPointerGetAttributes(4, asked.data(), values.data(), pointer),
               "cuPointerGetAttributes",
               [&] { return "address " + error::format_address(pointer); });
  }
};

/// How many bytes are at an imported pointer.
/// @throw std::invalid_argument for memory of another place than the resource's.
std::size_t check_extent(const Extent& extent, CUdeviceptr pointer, int device) {
  const bool is_on_device = extent.type == CU_MEMORYTYPE_DEVICE;
  if (is_on_device != (device >= 0) || (is_on_device && extent.device != device)) {
    refuse_share("is of memory of " + describe_place(is_on_device ? extent.device : -1) +
                 ", but the resource is of " + describe_place(device));
  }
  // A driver may not say where memory of the host begins; what is shared is the beginning.
  return extent.start != 0 ? extent.start + extent.size - pointer : extent.size;
}

void require_shared_size(std::size_t size, std::size_t most) {
  if (size <= most) return;
  refuse_share("says that the memory has " + error::format_bytes(size) + ", but it has " +
               error::format_bytes(most));
}

void require_shared(const PoolMemoryResource& resource) {
  if (resource.is_ipc_enabled()) return;
  throw NotSupportedError(
      "this memory resource is not IPC-enabled: its memory can be shared with other processes if "
      "it is made with the option {\"ipc_enabled\": True}");
}

std::string describe(const PoolMemoryResource& resource) {
  return "a memory pool of " + describe_place(resource.device_id());
}

const std::shared_ptr<error::ContextBox>& context_of(const PoolMemoryResource& resource) {
  return resource.device_id() >= 0 ? error::primary_context(resource.device_id())
                                   : error::current_context();
}

}  // namespace

bool PoolMemoryResource::is_mapped() const noexcept {
  return shares_ != nullptr && shares_->is_mapped;
}

int PoolMemoryResource::share_pool() const {
  require_shared(*this);
  const ContextCall call(context_of(*this));
  if (is_mapped()) {
    throw NotSupportedError(
        "a memory resource of another process is shared by that process, not by this one");
  }
  int descriptor = -1;
  call.check(call.api().cuMemPoolExportToShareableHandle(
                 &descriptor, pool_->pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
             "cuMemPoolExportToShareableHandle", [&] { return describe(*this); });
  shares_->is_exported.store(true, std::memory_order_relaxed);
  return descriptor;
}

PointerShare PoolMemoryResource::share(const Buffer& buffer) {
  const owner::BufferBox& box = require_open(buffer.box(), "Buffer");
  box.throw_if_stale();
  require_shared(*this);
  const ContextCall call(context_of(*this));
  if (box.size == 0) throw std::invalid_argument("an empty Buffer has no memory to share");
  if (box.resource.get() != this) {
    throw std::invalid_argument(
        "the buffer must be one that this resource allocated, and no slice of one");
  }
  PointerShare share;
  share.size = box.size;
  if (is_mapped()) {
    const std::scoped_lock lock(shares_->mutex);
    const auto found =
        std::find_if(shares_->mappings.begin(), shares_->mappings.end(),
                     [&](const auto& mapping) { return mapping.pointer == box.pointer; });
    if (found == shares_->mappings.end()) refuse_share("can't be made of memory that is released");
    share.data = found->data;
    return share;
  }
  if (!shares_->is_exported.load(std::memory_order_relaxed)) ::close(share_pool());
  CUmemPoolPtrExportData data{};
  call.check(call.api().cuMemPoolExportPointer(&data, box.pointer), "cuMemPoolExportPointer", [&] {
    return error::format_bytes(box.size) + " at " + error::format_address(box.pointer);
  });
  static_assert(sizeof data == sizeof share.data);
  std::memcpy(share.data.data(), &data, sizeof data);
  shares_->shared.add(share.data, buffer.box());
  return share;
}

Buffer PoolMemoryResource::map_shared(const PointerShare& share,
                                      const std::optional<Stream>& stream) {
  require_shared(*this);
  auto box =
      new_buffer(shared_from_this(), stream ? *stream
                                     : device_id() >= 0
                                         ? Device::from_known_ordinal(device_id()).default_stream()
                                         : Stream::legacy_default());
  const StreamCall call(*box->stream);
  if (share.size == 0) refuse_share("says that the memory has no bytes");
  if (!is_mapped()) {
    std::shared_ptr<owner::BufferBox> own = shares_->shared.find(share.data);
    if (own == nullptr || own->is_stale()) {
      refuse_share(
          "is not one of a buffer that this memory resource, which is of this process, has shared "
          "and that is not closed");
    }
    require_shared_size(share.size, own->size);
    return Buffer(std::move(own));
  }
  const std::scoped_lock lock(shares_->mutex);
  auto& mappings = shares_->mappings;
  std::erase_if(mappings, [](const auto& mapping) { return mapping.is_stale(); });
  auto found = std::find_if(mappings.begin(), mappings.end(),
                            [&](const auto& mapping) { return mapping.data == share.data; });
  if (found != mappings.end()) {
    require_shared_size(share.size, found->most);
  } else {
    found = mappings.insert(mappings.end(), PoolShares::Mapping{share.data});
    try {
      CUmemPoolPtrExportData data{};
      std::memcpy(&data, share.data.data(), sizeof data);
      call.check(call.api().cuMemPoolImportPointer(&found->pointer, pool_->pool, &data),
                 "cuMemPoolImportPointer", [&] { return describe(*this); });
      const Extent extent(call, found->pointer);
      found->most = check_extent(extent, found->pointer, device_id());
      require_shared_size(share.size, found->most);
    } catch (...) {
      if (found->pointer != 0) {
        static_cast<void>(call.api().cuMemFreeAsync(found->pointer, call.stream()));
      }
      mappings.erase(found);
      throw;
    }
  }
  ++found->users;
  box->pointer = found->pointer;
  box->size = share.size;
  return Buffer(std::move(box));
}

void PoolMemoryResource::unmap(CUdeviceptr pointer, std::size_t size,
                               const std::optional<Stream>& stream) {
  const ReleaseCall call(stream, device_id());
  const std::scoped_lock lock(shares_->mutex);
  auto& mappings = shares_->mappings;
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const auto& mapping) {
    return mapping.pointer == pointer && !mapping.is_stale();
  });
  if (found == mappings.end()) {
    throw std::invalid_argument("MemoryResource.deallocate: this resource has mapped nothing at " +
                                error::format_address(pointer));
  }
  if (--found->users != 0) {
    std::erase_if(found->released, [](const Event& event) { return event.is_done(); });
    const auto used_on = call.shared_stream();
    const Stream last = used_on != nullptr ? Stream(used_on) : Stream::legacy_default();
    found->released.push_back(last.record(EventOptions{}));
    return;
  }
  CUresult ordered = CUDA_SUCCESS;
  for (const Event& event : found->released) {
    const CUresult result =
        call.api().cuStreamWaitEvent(call.stream(), event.box()->event, CU_EVENT_WAIT_DEFAULT);
    if (result != CUDA_SUCCESS) ordered = result;
  }
  mappings.erase(found);
  const CUresult freed = call.api().cuMemFreeAsync(pointer, call.stream());
  call.check(ordered, "cuStreamWaitEvent", pointer, size);
  call.check(freed, "cuMemFreeAsync", pointer, size);
}

}  // namespace cudacore
