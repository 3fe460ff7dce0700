// SPDX-License-Identifier: Apache-2.0
#include "cudacore/opaque_array.hpp"

#include <algorithm>
#include <stdexcept>

#include "owner/captures.hpp"
#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/close_after_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/texture_checks.hpp"

namespace cudacore {
namespace {

using owner::ArrayBox;

ArrayBox& open(const OpaqueArray& array) { return require_open(array.box(), "OpaqueArray"); }

std::size_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& array) {
  return element_bytes(array) * array.Width * std::max<std::size_t>(array.Height, 1) *
         std::max<std::size_t>(array.Depth, 1);
}

void require_size(const ArrayBox& box, const char* what, std::size_t size) {
  const std::size_t extent = bytes_of(box.description);
  if (size == extent) return;
  throw std::invalid_argument(std::string(what) + " has " + std::to_string(size) + " bytes, " +
                              (size < extent ? "smaller" : "larger") + " than the array extent (" +
                              std::to_string(extent) + " bytes)" +
                              (size < extent ? "" : ": pass a slice of as many bytes"));
}

/// A copy of all elements, of which one side is the array, and the other one is not set.
CUDA_MEMCPY3D whole_copy(const ArrayBox& box) {
  const CUDA_ARRAY3D_DESCRIPTOR& array = box.description;
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = element_bytes(array) * array.Width;
  copy.Height = std::max<std::size_t>(array.Height, 1);
  copy.Depth = std::max<std::size_t>(array.Depth, 1);
  return copy;
}

CUDA_MEMCPY3D copy_into(const ArrayBox& box, CUdeviceptr source) {
  CUDA_MEMCPY3D copy = whole_copy(box);
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = source;
  copy.srcPitch = copy.WidthInBytes;
  copy.srcHeight = copy.Height;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = box.array;
  return copy;
}

CUDA_MEMCPY3D copy_out_of(const ArrayBox& box, CUdeviceptr destination) {
  CUDA_MEMCPY3D copy = whole_copy(box);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = box.array;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = destination;
  copy.dstPitch = copy.WidthInBytes;
  copy.dstHeight = copy.Height;
  return copy;
}

/// If the copy was captured, the graph keeps the array and the buffer, unless the caller does.
void keep_copy(const Stream& stream, const OpaqueArray& array, const Buffer* buffer) {
  if (!owner::any_capture()) [[likely]]
    return;
  auto kept = std::make_shared<owner::Kept>();
  if (array.box().use_count() != 0) kept->shares.emplace_back(array.box());
  if (buffer != nullptr) {
    if (std::shared_ptr<void> share = share_of(*buffer)) kept->shares.push_back(std::move(share));
  }
  if (!kept->shares.empty()) {
    owner::keep_in_capture(driver::api(), *stream.box(), std::move(kept));
  }
}

/// `buffer` is the other side, if it is one.
void run_copy(const OpaqueArray& array, const CUDA_MEMCPY3D& copy, const Stream& stream,
              const Buffer* buffer) {
  ArrayBox& box = *array.box();
  const StreamCall call(require_open(stream.box(), "Stream"));
  error::throw_if_lost(*box.context);
  if (const int device = call.context()->device; device != box.context->device) {
    throw std::invalid_argument("the array is on device " + std::to_string(box.context->device) +
                                ", and the stream is of device " + std::to_string(device));
  }
  call.check(call.api().cuMemcpy3DAsync(&copy, call.stream()), "cuMemcpy3DAsync",
             [&] { return array_text(box.description, box.context->device); });
  note_use(box.used(), *stream.box());
  keep_copy(stream, array, buffer);
}

}  // namespace

OpaqueArray::OpaqueArray(const Context& context, const OpaqueArrayOptions& options)
    : box_(std::make_shared<ArrayBox>()) {
  box_->context = context.box();
  box_->description = describe_array(options, context.device(), ArrayKind::plain);
  const ContextCall call(box_->context);
  call.check(call.api().cuArray3DCreate(&box_->array, &box_->description), "cuArray3DCreate",
             [&] { return array_text(box_->description, box_->context->device); });
}

void OpaqueArray::close() { close_after_work(box_); }

CUarray OpaqueArray::handle() const noexcept {
  if (box_ == nullptr) return nullptr;
  box_->used().note_handle();
  return box_->array;
}

Context OpaqueArray::context() const { return Context(open(*this).context); }
Device OpaqueArray::device() const { return context().device(); }
OpaqueArrayOptions OpaqueArray::options() const { return options_of(open(*this).description); }
std::size_t OpaqueArray::element_bytes() const {
  return cudacore::element_bytes(open(*this).description);
}
std::size_t OpaqueArray::size_bytes() const { return bytes_of(open(*this).description); }

void OpaqueArray::copy_from(const Buffer& source, const Stream& stream) const {
  const ArrayBox& box = open(*this);
  const owner::BufferBox& from = usable_memory(source);
  require_size(box, "the source Buffer", from.size);
  run_copy(*this, copy_into(box, from.pointer), stream, &source);
}

void OpaqueArray::copy_from(std::span<const std::byte> source, const Stream& stream) const {
  const ArrayBox& box = open(*this);
  require_size(box, "the source", source.size());
  run_copy(*this, copy_into(box, reinterpret_cast<std::uintptr_t>(source.data())), stream, nullptr);
}

void OpaqueArray::copy_to(const Buffer& destination, const Stream& stream) const {
  const ArrayBox& box = open(*this);
  const owner::BufferBox& to = usable_memory(destination);
  require_size(box, "the destination Buffer", to.size);
  run_copy(*this, copy_out_of(box, to.pointer), stream, &destination);
}

void OpaqueArray::copy_to(std::span<std::byte> destination, const Stream& stream) const {
  const ArrayBox& box = open(*this);
  require_size(box, "the destination", destination.size());
  run_copy(*this, copy_out_of(box, reinterpret_cast<std::uintptr_t>(destination.data())), stream,
           nullptr);
}

}  // namespace cudacore
