// SPDX-License-Identifier: Apache-2.0
#include "cudacore/pool_memory_resource.hpp"

#include <utility>

#include "cudacore/device.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/release_call.hpp"

namespace cudacore {
namespace {

CUmemPool_attribute driver_attribute(PoolAttribute attribute) {
  return static_cast<CUmemPool_attribute>(attribute);
}

/// The reuse settings are ints; the rest are 64-bit counters.
bool is_switch(PoolAttribute attribute) {
  return static_cast<int>(attribute) < static_cast<int>(PoolAttribute::release_threshold);
}

std::string describe(CUmemoryPool pool, int device) {
  std::string text = "memory pool " + error::format_address(pool);
  if (device >= 0) text += " of " + error::describe_device(device);
  return text;
}

void check(CUresult result, const char* function, const PoolMemoryResource& resource) {
  error::check(result, function, [&] { return describe(resource.handle(), resource.device_id()); });
}

/// What close() does, in places that cannot report failures.
void release_unused(const owner::PoolBox& pool) noexcept {
  const driver::DriverApi* api = driver::api_for_cleanup();
  if (api == nullptr) return;
  const owner::OutsideCaptures outside(*api);
  cuuint64_t none = 0;
  CUresult result = api->cuMemPoolSetAttribute(pool.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none);
  if (result == CUDA_SUCCESS) result = api->cuMemPoolTrimTo(pool.pool, 0);
  if (result != CUDA_SUCCESS) error::report_unraisable(result, "PoolMemoryResource::close");
}

}  // namespace

Buffer PoolMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  if (is_closed()) [[unlikely]] {
    const bool is_of_device = device_id() >= 0 && !is_managed();
    throw std::invalid_argument(
        describe(handle(), device_id()) + " is closed; allocate from another" +
        (is_of_device
             ? ", such as DeviceMemoryResource(device); if the closed one is the device's, "
               "first: device.memory_resource = DeviceMemoryResource(device)"
             : ""));
  }
  if (is_mapped()) [[unlikely]] {
    throw std::invalid_argument(
        describe(handle(), device_id()) +
        " is one of another process, which alone allocates from it: map what it shares with "
        "Buffer.from_ipc_descriptor");
  }
  auto box =
      new_buffer(shared_from_this(), stream ? *stream
                                     : device_id() >= 0
                                         ? Device::from_known_ordinal(device_id()).default_stream()
                                         : Stream::legacy_default());
  // The given stream, not the one for the release: a per-thread stream may use the memory at once.
  const StreamCall call(stream ? *stream->box() : *box->stream);
  if (size == 0) return Buffer(std::move(box));
  const owner::StreamBox& queue = stream ? *stream->box() : *box->stream;
  if (owner::is_captured_by_us(queue)) [[unlikely]]
    refuse_allocation(describe(handle(), device_id()), queue);
  CUdeviceptr pointer = 0;
  const auto describe_memory = [&] {
    const std::string place = device_id() >= 0 ? error::describe_device(device_id())
                              : is_managed()   ? "managed memory"
                                               : "page-locked host memory";
    return place + ", " + error::format_bytes(size);
  };
  call.check(call.api().cuMemAllocFromPoolAsync(&pointer, size, pool_->pool, call.stream()),
             "cuMemAllocFromPoolAsync", describe_memory);
  box->pointer = pointer;
  box->size = size;
  return Buffer(std::move(box));
}

void PoolMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                    const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  if (is_mapped()) [[unlikely]] {
    unmap(pointer, size, stream);
    return;
  }
  const ReleaseCall call(stream, device_id());
  call.note_freed_to_pool();
  call.check(call.api().cuMemFreeAsync(pointer, call.stream()), "cuMemFreeAsync", pointer, size);
}

CUmemoryPool PoolMemoryResource::handle() const noexcept { return pool_->pool; }
bool PoolMemoryResource::is_handle_owned() const noexcept { return pool_->owned; }

std::uint64_t PoolMemoryResource::attribute(PoolAttribute attribute) const {
  // Depending on the attribute, the driver writes four bytes or eight.
  int on = 0;
  cuuint64_t count = 0;
  void* value = is_switch(attribute) ? static_cast<void*>(&on) : static_cast<void*>(&count);
  check(driver::api().cuMemPoolGetAttribute(pool_->pool, driver_attribute(attribute), value),
        "cuMemPoolGetAttribute", *this);
  return is_switch(attribute) ? static_cast<std::uint64_t>(on) : count;
}

void PoolMemoryResource::set_attribute(PoolAttribute attribute, std::uint64_t value) const {
  switch (attribute) {
    case PoolAttribute::reserved_mem_current:
    case PoolAttribute::used_mem_current:
      throw std::invalid_argument("a memory pool's current use can be read, not set");
    case PoolAttribute::reserved_mem_high:
    case PoolAttribute::used_mem_high:
      if (value == 0) break;
      throw std::invalid_argument("a memory pool's high-water mark can only be set to 0, not " +
                                  std::to_string(value));
    default:
      break;
  }
  int on = value != 0 ? 1 : 0;
  cuuint64_t count = value;
  void* argument = is_switch(attribute) ? static_cast<void*>(&on) : static_cast<void*>(&count);
  check(driver::api().cuMemPoolSetAttribute(pool_->pool, driver_attribute(attribute), argument),
        "cuMemPoolSetAttribute", *this);
}

void PoolMemoryResource::close() {
  if (is_closed_.exchange(true) || !is_handle_owned() || is_mapped()) return;
  if (owner::in_callback()) {
    owner::end_elsewhere([pool = pool_] { release_unused(*pool); });
    return;
  }
  set_attribute(PoolAttribute::release_threshold, 0);
  trim();
}

void PoolMemoryResource::trim(std::size_t min_bytes_to_keep) const {
  check(driver::api().cuMemPoolTrimTo(pool_->pool, min_bytes_to_keep), "cuMemPoolTrimTo", *this);
}

}  // namespace cudacore
