// SPDX-License-Identifier: Apache-2.0
#include "cudacore/virtual_memory_resource.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "runtime/block_maker.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {
namespace {

using Options = VirtualMemoryResourceOptions;

/// The stream that the release of a buffer is ordered on.
std::optional<Stream> stream_of(const owner::BufferBox& box) {
  const std::scoped_lock lock(box.mutex);
  return box.stream != nullptr ? std::optional(Stream(box.stream)) : std::nullopt;
}

/// Whether the host may read the memory, but not write it.
bool is_read_only_for_host(const VirtualMemoryResourceOptions& options) noexcept {
  return !is_on_device(options) && options.self_access == VirtualAccess::read;
}

}  // namespace

VirtualMemoryResource::VirtualMemoryResource(Device device, VirtualMemoryResourceOptions options)
    : device_(device), options_(std::move(options)) {
  check_virtual_options(options_, device_);
}

Buffer VirtualMemoryResource::make_buffer(std::shared_ptr<owner::VirtualBlock> block,
                                          const std::optional<Stream>& stream) {
  auto box = new_buffer(shared_from_this(), stream);
  const Key key(block->address(), block->size());
  const std::scoped_lock lock(mutex_);
  box->is_read_only = is_read_only_for_host(options_);
  blocks_.emplace(key, std::move(block));
  std::tie(box->pointer, box->size) = key;
  return Buffer(std::move(box));
}

Buffer VirtualMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  if (size == 0) return Buffer(new_buffer(shared_from_this(), stream));
  refuse_if_captured("a VirtualMemoryResource", stream);
  const Options chosen = options();
  return make_buffer(BlockMaker(chosen, device_).make(size), stream);
}

void VirtualMemoryResource::deallocate(CUdeviceptr pointer, std::size_t size,
                                       const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  std::shared_ptr<owner::VirtualBlock> block;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find({pointer, size});
    if (found == blocks_.end()) {
      throw std::invalid_argument(
          "VirtualMemoryResource.deallocate: this resource has no buffer of " +
          error::format_bytes(size) + " at " + error::format_address(pointer));
    }
    block = std::move(found->second);
    blocks_.erase(found);
  }
  const ReleaseCall call(stream, device_.id());
  const bool is_ordered = stream.has_value();
  const auto free = [block = std::move(block), is_ordered](const driver::DriverApi& api) {
    const CUresult finished = is_ordered ? CUDA_SUCCESS : api.cuCtxSynchronize();
    block->end();  // reports its own failures
    return finished;
  };
  call.check(free_after_work(call, free), "cuCtxSynchronize", pointer, size);
}

Buffer VirtualMemoryResource::modify_allocation(
    const Buffer& buffer, std::size_t new_size,
    const std::optional<VirtualMemoryResourceOptions>& options) {
  const owner::BufferBox& box = owner::require_open(buffer.box(), "Buffer");
  const std::scoped_lock growing(growing_);
  const std::shared_ptr<owner::VirtualBlock> block = find_block(buffer, "modify_allocation");
  const Options before = this->options();
  Options next = options.value_or(before);
  if (next.location_type != before.location_type) {
    throw std::invalid_argument(
        "VirtualMemoryResource.modify_allocation: a buffer stays where it is; location_type "
        "can't change");
  }
  if (options) check_virtual_options(next, device_);
  const BlockMaker maker(next, device_);
  Buffer made = buffer;
  if (new_size > box.size) {
    auto grown = block == nullptr ? maker.make(new_size) : maker.grow(*block, new_size - box.size);
    made = make_buffer(std::move(grown), stream_of(box));
  }
  const bool changes = options && block != nullptr && made.handle() == box.pointer;
  if (changes) maker.change_access(*block);
  const std::scoped_lock lock(mutex_);
  made.box()->is_read_only = is_read_only_for_host(next);
  if (changes) {
    for (const auto& mapping : block->mappings) mapping->access = maker.access();
  }
  options_ = std::move(next);
  return made;
}

std::shared_ptr<owner::VirtualBlock> VirtualMemoryResource::find_block(const Buffer& buffer,
                                                                       const char* function) const {
  const owner::BufferBox& box = owner::require_open(buffer.box(), "Buffer");
  const std::scoped_lock lock(mutex_);
  const auto found = blocks_.find({box.pointer, box.size});
  const bool is_empty = box.size == 0;
  if (box.resource.get() != this || (!is_empty && found == blocks_.end())) {
    throw std::invalid_argument(std::string("VirtualMemoryResource.") + function +
                                ": the buffer must be one that this resource allocated, and no "
                                "slice of one");
  }
  return is_empty ? nullptr : found->second;
}

std::vector<MemoryShare> VirtualMemoryResource::share(const Buffer& buffer) const {
  const std::shared_ptr<owner::VirtualBlock> block = find_block(buffer, "share");
  return block != nullptr ? share_block(*block) : std::vector<MemoryShare>();
}

Buffer VirtualMemoryResource::map_shared(const std::vector<MemoryShare>& parts,
                                         const std::optional<Stream>& stream) {
  const Options chosen = options();
  return make_buffer(BlockMaker(chosen, device_).import_shared(parts), stream);
}

bool VirtualMemoryResource::is_mapped(const Buffer& buffer) const {
  const std::scoped_lock lock(mutex_);
  const auto found = blocks_.find({buffer.handle(), buffer.size()});
  return found != blocks_.end() && found->second->is_imported;
}

VirtualMemoryResourceOptions VirtualMemoryResource::options() const {
  const std::scoped_lock lock(mutex_);
  return options_;
}

bool VirtualMemoryResource::is_device_accessible() const {
  const std::scoped_lock lock(mutex_);
  return is_on_device(options_) || !options_.peers.empty();
}

bool VirtualMemoryResource::is_host_accessible() const {
  const std::scoped_lock lock(mutex_);
  return !is_on_device(options_) && options_.self_access != VirtualAccess::none;
}

int VirtualMemoryResource::device_id() const {
  const std::scoped_lock lock(mutex_);
  return is_on_device(options_) ? device_.id() : -1;
}

bool VirtualMemoryResource::is_accessible_by_peer(CUdeviceptr pointer, int device) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, block] : blocks_) {
    for (const auto& mapping : block->mappings) {
      if (pointer < mapping->address || pointer >= mapping->end()) continue;
      return std::ranges::any_of(mapping->access, [device](const CUmemAccessDesc& entry) {
        return entry.location.type == CU_MEM_LOCATION_TYPE_DEVICE && entry.location.id == device;
      });
    }
  }
  return false;
}

}  // namespace cudacore
