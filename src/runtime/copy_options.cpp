// SPDX-License-Identifier: Apache-2.0
#include "cudacore/copy_options.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "error/describe.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/driver_location.hpp"

namespace cudacore {
namespace {

CUmemcpyAttributes attributes_of(const CopyOptions& options) {
  CUmemcpyAttributes attributes{};
  switch (options.src_access_order) {
    case MemcpySrcAccessOrder::stream:
      attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
      break;
    case MemcpySrcAccessOrder::during_api_call:
      attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
      break;
    case MemcpySrcAccessOrder::any:
      attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
      break;
  }
  if (options.src_location_hint) attributes.srcLocHint = to_driver(*options.src_location_hint);
  if (options.dst_location_hint) attributes.dstLocHint = to_driver(*options.dst_location_hint);
  attributes.flags = options.overlap_mode == MemcpyOverlapMode::prefer_overlap_with_compute
                         ? CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
                         : CU_MEMCPY_FLAG_DEFAULT;
  return attributes;
}

/// The box of a buffer whose memory is about to be used.
const owner::BufferBox& box_to_copy(const Buffer& buffer) {
  const owner::BufferBox& box = require_open(buffer.box(), "Buffer");
  box.throw_if_stale();
  return box;
}

/// Copies as the driver's batches take them. Those of no bytes, which the driver refuses, are left
/// out.
struct CopyBatch {
  std::vector<CUdeviceptr> destinations;
  std::vector<CUdeviceptr> sources;
  std::vector<std::size_t> sizes;
  std::vector<CUmemcpyAttributes> attributes;
  std::vector<std::size_t> attribute_begins;

  void add(const owner::BufferBox& destination, const owner::BufferBox& source,
           const CUmemcpyAttributes* changed) {
    if (changed != nullptr) {
      attributes.push_back(*changed);
      attribute_begins.push_back(sizes.size());
    }
    destinations.push_back(destination.pointer);
    sources.push_back(source.pointer);
    sizes.push_back(source.size);
  }
};

[[noreturn]] void refuse_counts(std::size_t given, const char* what, std::size_t copies) {
  throw std::invalid_argument("copy_batch: " + std::to_string(given) + " " + what + " for " +
                              std::to_string(copies) + " sources");
}

CopyBatch make_batch(std::span<const Buffer> destinations, std::span<const Buffer> sources,
                     std::span<const CopyOptions> options) {
  if (sources.empty()) throw std::invalid_argument("copy_batch: there are no buffers");
  if (destinations.size() != sources.size()) {
    refuse_counts(destinations.size(), "destinations", sources.size());
  }
  if (options.size() > 1 && options.size() != sources.size()) {
    refuse_counts(options.size(), "options", sources.size());
  }
  std::vector<CUmemcpyAttributes> attributes;
  for (const CopyOptions& each : options) attributes.push_back(attributes_of(each));
  if (options.empty()) attributes.push_back(attributes_of(CopyOptions{}));
  CopyBatch batch;
  const CopyOptions* last = nullptr;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const owner::BufferBox& to = box_to_copy(destinations[i]);
    const owner::BufferBox& from = box_to_copy(sources[i]);
    if (to.size != from.size) {
      throw std::invalid_argument("copy_batch: source " + std::to_string(i) + " has " +
                                  std::to_string(from.size) + " bytes, but its destination " +
                                  std::to_string(to.size));
    }
    if (to.is_read_only) {
      throw std::invalid_argument("copy_batch: destination " + std::to_string(i) + " is read-only");
    }
    if (from.size == 0) continue;
    const std::size_t place = options.size() > 1 ? i : 0;
    const CopyOptions* chosen = options.empty() ? nullptr : &options[place];
    const bool differs =
        batch.sizes.empty() || (chosen != nullptr && chosen != last && !(*chosen == *last));
    batch.add(to, from, differs ? &attributes[place] : nullptr);
    last = chosen;
  }
  return batch;
}

}  // namespace

void copy_batch(std::span<const Buffer> destinations, std::span<const Buffer> sources,
                std::span<const CopyOptions> options, const Stream& stream) {
  CopyBatch batch = make_batch(destinations, sources, options);
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (call.api().cuMemcpyBatchAsync == nullptr) {
    driver::throw_missing_symbol("cuMemcpyBatchAsync", 13000);
  }
  refuse(batch_refusal("copy_batch", stream));
  if (batch.sizes.empty()) return;
  call.check(call.api().cuMemcpyBatchAsync(batch.destinations.data(), batch.sources.data(),
                                           batch.sizes.data(), batch.sizes.size(),
                                           batch.attributes.data(), batch.attribute_begins.data(),
                                           batch.attributes.size(), call.stream()),
             "cuMemcpyBatchAsync");
}

void Buffer::copy_from(const Buffer& source, const Stream& stream,
                       const CopyOptions& options) const {
  copy_batch({this, 1}, {&source, 1}, {&options, 1}, stream);
}

}  // namespace cudacore
