// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graph_memory_resource.hpp"

#include <stdexcept>

#include "owner/captures.hpp"
#include "runtime/release_call.hpp"

namespace cudacore {
namespace {

CUgraphMem_attribute driver_attribute(GraphMemoryAttribute attribute) {
  return static_cast<CUgraphMem_attribute>(attribute);
}

void check(CUresult result, const char* function, int device) {
  error::check(result, function,
               [&] { return "memory of graphs on " + error::describe_device(device); });
}

}  // namespace

Buffer GraphMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  const Stream queue = stream ? *stream : device_.default_stream();
  auto box = new_buffer(shared_from_this(), queue);
  const StreamCall call(require_open(queue.box(), "Stream"));
  if (call.context()->device != device_.id()) {
    throw std::invalid_argument("this GraphMemoryResource is of device " +
                                std::to_string(device_.id()) + ", and the stream of device " +
                                std::to_string(call.context()->device));
  }
  if (!owner::is_captured(*queue.box())) {
    throw std::logic_error(
        "GraphMemoryResource allocates only on a stream that is being captured: use it with a "
        "GraphBuilder, and the device's memory_resource elsewhere");
  }
  if (size == 0) return Buffer(std::move(box));
  CUdeviceptr pointer = 0;
  call.check(call.api().cuMemAllocAsync(&pointer, size, call.stream()), "cuMemAllocAsync", [&] {
    return "memory of a graph on " + error::describe_device(device_.id()) + ", " +
           error::format_bytes(size);
  });
  box->pointer = pointer;
  box->size = size;
  return Buffer(std::move(box));
}

void GraphMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                     const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const ReleaseCall call(stream, device_.id());
  const std::shared_ptr<owner::StreamBox> queue = call.shared_stream();
  const bool is_captured = queue != nullptr && owner::is_captured(*queue);
  const CUresult result = call.api().cuMemFreeAsync(pointer, call.stream());
  if (result == CUDA_ERROR_INVALID_VALUE && !is_captured) return;
  call.check(result, "cuMemFreeAsync", pointer, size);
}

std::uint64_t GraphMemoryResource::attribute(GraphMemoryAttribute attribute) const {
  cuuint64_t value = 0;
  check(
      driver::api().cuDeviceGetGraphMemAttribute(device_.id(), driver_attribute(attribute), &value),
      "cuDeviceGetGraphMemAttribute", device_.id());
  return value;
}

void GraphMemoryResource::reset_high(GraphMemoryAttribute attribute) const {
  if (attribute != GraphMemoryAttribute::used_mem_high &&
      attribute != GraphMemoryAttribute::reserved_mem_high) {
    throw std::invalid_argument("the current use of memory can be read, not set");
  }
  cuuint64_t zero = 0;
  check(
      driver::api().cuDeviceSetGraphMemAttribute(device_.id(), driver_attribute(attribute), &zero),
      "cuDeviceSetGraphMemAttribute", device_.id());
}

void GraphMemoryResource::trim() const {
  check(driver::api().cuDeviceGraphMemTrim(device_.id()), "cuDeviceGraphMemTrim", device_.id());
}

bool GraphMemoryResource::owns(const Buffer& buffer) {
  if (buffer.is_closed()) return false;
  const std::shared_ptr<MemoryResource> resource = buffer.memory_resource();
  return dynamic_cast<const GraphMemoryResource*>(resource.get()) != nullptr;
}

}  // namespace cudacore
