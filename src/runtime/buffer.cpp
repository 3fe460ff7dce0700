// SPDX-License-Identifier: Apache-2.0
#include "cudacore/buffer.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "error/describe.hpp"
#include "error/wait.hpp"
#include "owner/captures.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/release_order.hpp"

namespace cudacore {

std::shared_ptr<owner::BufferBox> new_buffer(std::shared_ptr<MemoryResource> resource,
                                             const std::optional<Stream>& stream) {
  static constexpr owner::ResourceCalls calls{
      [](MemoryResource& from, const owner::Allocation& memory,
         std::shared_ptr<owner::StreamBox> ordered_on) {
        if (ordered_on != nullptr) wait_for_others(ordered_on, memory.also_used_on);
        from.deallocate(
            memory.pointer, memory.size,
            ordered_on != nullptr ? std::optional(Stream(std::move(ordered_on))) : std::nullopt);
      },
      [](const MemoryResource& from) noexcept { return from.ends_with_reset(); }, nullptr,
      &must_wait_for_capture};
  auto box = std::make_shared<owner::BufferBox>();
  if (stream) box->stream = stream_for_release(*stream);
  box->resource = std::move(resource);
  box->calls = &calls;
  return box;
}

namespace {

const owner::BufferBox& open(const Buffer& buffer) { return require_open(buffer.box(), "Buffer"); }

/// The box of a buffer whose memory is about to be used.
const owner::BufferBox& usable(const Buffer& buffer) {
  const owner::BufferBox& box = open(buffer);
  box.throw_if_stale();
  return box;
}

std::string describe(CUdeviceptr pointer, std::size_t size) {
  return "a buffer of " + error::format_bytes(size) + " at " + error::format_address(pointer);
}

/// The box of a buffer whose memory is about to be written.
const owner::BufferBox& writable(const Buffer& buffer) {
  const owner::BufferBox& box = usable(buffer);
  if (box.is_read_only)
    throw std::invalid_argument(describe(box.pointer, box.size) + " is read-only");
  return box;
}

/// What the driver knows about an address; 0 for memory it has never seen.
template <typename T>
T pointer_attribute(CUdeviceptr pointer, CUpointer_attribute attribute) {
  T value{};
  if (pointer == 0) return value;
  const ContextCall call(error::current_context());
  void* data = &value;
  // Not cuPointerGetAttribute, which fails for memory that the driver has never seen.
  call.check(call.api().cuPointerGetAttributes(1, &attribute, &data, pointer),
             "cuPointerGetAttributes", [&] { return "address " + error::format_address(pointer); });
  return value;
}

template <typename T>
T pointer_attribute(const owner::BufferBox& box, CUpointer_attribute attribute) {
  box.throw_if_stale();
  return pointer_attribute<T>(box.pointer, attribute);
}

/// For a buffer or an address.
template <typename Memory>
unsigned memory_type(const Memory& memory) {
  return pointer_attribute<unsigned>(memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
}

bool is_managed_memory(const owner::BufferBox& box) {
  return pointer_attribute<int>(box, CU_POINTER_ATTRIBUTE_IS_MANAGED) != 0;
}

/// The resource of a slice: it keeps the whole buffer alive, and takes nothing back.
class SliceResource : public MemoryResource {
 public:
  explicit SliceResource(std::shared_ptr<owner::BufferBox> whole) : whole_(std::move(whole)) {}

  [[nodiscard]] const Buffer& whole() const noexcept { return whole_; }

  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    return whole_.memory_resource()->allocate(size, stream);
  }
  [[nodiscard]] bool ends_with_reset() const noexcept override {
    const owner::BufferBox& box = *whole_.box();
    return box.resource != nullptr && box.resource->ends_with_reset();
  }
  /// The stream of the part is one of those that the release of the whole waits for.
  void deallocate(CUdeviceptr /*pointer*/, std::size_t /*size*/,
                  const std::optional<Stream>& stream) override {
    share_ends(whole_, stream);
  }
  [[nodiscard]] bool is_device_accessible() const override { return whole_.is_device_accessible(); }
  [[nodiscard]] bool is_host_accessible() const override { return whole_.is_host_accessible(); }
  [[nodiscard]] bool is_managed() const override { return whole_.is_managed(); }
  [[nodiscard]] int device_id() const override { return whole_.device_id(); }
  [[nodiscard]] bool is_accessible_by_peer(CUdeviceptr pointer, int device) const override {
    const MemoryResource* resource = whole_.box()->resource.get();
    return resource != nullptr && resource->is_accessible_by_peer(pointer, device);
  }

 private:
  Buffer whole_;
};

const SliceResource* part_of(const owner::BufferBox& box) {
  return dynamic_cast<const SliceResource*>(box.resource.get());
}

void require_size(const char* what, std::size_t given, const owner::BufferBox& box) {
  if (given == box.size) return;
  throw std::invalid_argument(std::string(what) + " has " + std::to_string(given) +
                              " bytes, but the buffer has " + std::to_string(box.size) +
                              ": a copy needs the same size on both sides");
}

/// Copies from pageable host memory up to this size are staged, as measured on an H200: the driver
/// does not wait for the stream. For 16 MiB it does.
constexpr std::size_t staged_most = std::size_t{1} << 20U;

/// Before a copy to or from pageable host memory that would wait for the stream in the driver,
/// waits for it here, where Ctrl-C can end the wait.
void wait_before_pageable(const StreamCall& call, CUdeviceptr host) {
  if (error::interrupt_hook() == nullptr || owner::any_capture()) {
    return;  // a query would end a capture
  }
  const auto query = [&call] { return call.api().cuStreamQuery(call.stream()); };
  if (query() != CUDA_ERROR_NOT_READY || memory_type(host) != 0) return;
  call.check(error::wait_until_ready(query), "cuStreamQuery");
}

/// `waits_for`, if not null, is host memory for which the driver may wait if it is pageable.
void copy(CUdeviceptr destination, CUdeviceptr source, std::size_t size, const Stream& stream,
          CUdeviceptr waits_for = 0) {
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (size == 0) return;
  if (waits_for != 0) wait_before_pageable(call, waits_for);
  call.check(call.api().cuMemcpyAsync(destination, source, size, call.stream()), "cuMemcpyAsync");
}

}  // namespace

Buffer Buffer::from_handle(CUdeviceptr pointer, std::size_t size,
                           std::shared_ptr<MemoryResource> resource, std::shared_ptr<void> owner,
                           const std::optional<Stream>& stream) {
  const auto box = new_buffer(std::move(resource), stream);
  box->owner = std::move(owner);
  box->size = size;
  box->pointer = pointer;
  return Buffer(box);
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  const owner::BufferBox& box = usable(*this);
  if (offset > box.size || size > box.size - offset) {
    throw std::out_of_range("a slice of " + std::to_string(size) + " bytes at offset " +
                            std::to_string(offset) + " reaches past the end of " +
                            describe(box.pointer, box.size));
  }
  const SliceResource* part = part_of(box);
  const std::shared_ptr<owner::BufferBox>& whole = part != nullptr ? part->whole().box() : box_;
  const auto slice = new_buffer(std::make_shared<SliceResource>(whole));
  slice->owner = whole->owner;
  slice->size = size;
  slice->is_read_only = box.is_read_only.load();
  slice->pointer = box.pointer + offset;
  return Buffer(slice);
}

void Buffer::close(const std::optional<Stream>& stream) {
  if (box_ == nullptr) return;
  if (stream && !box_->is_stale()) order_release(*this, *stream);
  const std::shared_ptr<owner::BufferBox> last = std::move(box_);
  // If this is the last share, the wait can be interrupted here; in the box's destructor it cannot.
  if (last.use_count() == 1) last->release();
}

void Buffer::set_deallocation_stream(const Stream& stream) const {
  (void)usable(*this);
  std::shared_ptr<owner::StreamBox> chosen = stream_for_release(stream);
  const std::scoped_lock lock(box_->mutex);
  box_->stream.swap(chosen);
}

CUdeviceptr Buffer::handle() const noexcept { return box_ != nullptr ? box_->pointer : 0; }
std::size_t Buffer::size() const noexcept { return box_ != nullptr ? box_->size : 0; }

int Buffer::device_id() const {
  const owner::BufferBox& box = open(*this);
  if (box.resource != nullptr) return box.resource->device_id();
  if (memory_type(box) == 0) return -1;
  return pointer_attribute<int>(box, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
}

bool Buffer::is_device_accessible() const {
  const owner::BufferBox& box = open(*this);
  if (box.resource != nullptr) return box.resource->is_device_accessible();
  return memory_type(box) != 0;
}

bool Buffer::is_host_accessible() const {
  const owner::BufferBox& box = open(*this);
  if (box.resource != nullptr) return box.resource->is_host_accessible();
  return memory_type(box) != CU_MEMORYTYPE_DEVICE || is_managed_memory(box);
}

bool Buffer::is_managed() const {
  const owner::BufferBox& box = open(*this);
  if (box.resource == nullptr) return is_managed_memory(box);
  if (box.resource->is_managed()) return true;
  // A user-defined resource may not say so.
  return box.resource->is_host_accessible() && box.resource->is_device_accessible() &&
         is_managed_memory(box);
}

std::shared_ptr<MemoryResource> Buffer::memory_resource() const {
  const owner::BufferBox& box = open(*this);
  const SliceResource* part = part_of(box);
  return part != nullptr ? part->whole().memory_resource() : box.resource;
}

std::byte* Buffer::host_pointer() const {
  const owner::BufferBox& box = usable(*this);
  if (!is_host_accessible()) {
    throw std::invalid_argument(describe(box.pointer, box.size) +
                                " lives on a device: copy_to() host memory to read it");
  }
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(box.pointer));
}

void Buffer::copy_from(const Buffer& source, const Stream& stream) const {
  const owner::BufferBox& box = writable(*this);
  const owner::BufferBox& from = usable(source);
  require_size("the source buffer", from.size, box);
  copy(box.pointer, from.pointer, box.size, stream);
  keep_if_captured(stream, {*this, source});
}

void Buffer::copy_from(std::span<const std::byte> source, const Stream& stream) const {
  const owner::BufferBox& box = writable(*this);
  require_size("the source", source.size(), box);
  const auto host = reinterpret_cast<std::uintptr_t>(source.data());
  copy(box.pointer, host, box.size, stream, box.size > staged_most ? host : 0);
  keep_if_captured(stream, {*this});
}

void Buffer::copy_to(std::span<std::byte> destination, const Stream& stream) const {
  const owner::BufferBox& box = usable(*this);
  require_size("the destination", destination.size(), box);
  const auto host = reinterpret_cast<std::uintptr_t>(destination.data());
  copy(host, box.pointer, box.size, stream, host);
  keep_if_captured(stream, {*this});
}

void Buffer::fill(std::uint32_t value, std::size_t width, const Stream& stream) const {
  const owner::BufferBox& box = writable(*this);
  if (width != 1 && width != 2 && width != 4) {
    throw std::invalid_argument("a fill pattern has 1, 2 or 4 bytes, not " + std::to_string(width));
  }
  if (width < 4 && value >> (8 * width) != 0) {
    throw std::overflow_error("the fill value " + std::to_string(value) + " does not fit " +
                              std::to_string(width) + (width == 1 ? " byte" : " bytes"));
  }
  if (box.size % width != 0) {
    throw std::invalid_argument("a buffer of " + std::to_string(box.size) +
                                " bytes cannot be filled with a pattern of " +
                                std::to_string(width) + ": its size is not a multiple");
  }
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (box.size == 0) return;
  const driver::DriverApi& api = call.api();
  if (width == 1) {
    call.check(api.cuMemsetD8Async(box.pointer, static_cast<unsigned char>(value), box.size,
                                   call.stream()),
               "cuMemsetD8Async");
  } else if (width == 2) {
    call.check(api.cuMemsetD16Async(box.pointer, static_cast<unsigned short>(value), box.size / 2,
                                    call.stream()),
               "cuMemsetD16Async");
  } else {
    call.check(api.cuMemsetD32Async(box.pointer, value, box.size / 4, call.stream()),
               "cuMemsetD32Async");
  }
  keep_if_captured(stream, {*this});
}

}  // namespace cudacore
