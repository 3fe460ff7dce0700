// SPDX-License-Identifier: Apache-2.0
#include "cudacore/caching_memory_resource.hpp"

#include <exception>
#include <stdexcept>

#include "cudacore/device.hpp"
#include "driver/blocking.hpp"
#include "driver/process.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "runtime/caching_pool.hpp"
#include "runtime/context_call.hpp"
#include "runtime/release_order.hpp"

namespace cudacore {
namespace {

/// Gives back everything, for a pool that nobody has any more.
void end(CachingPool& pool) noexcept {
  const driver::BlockingScope blocking;
  const error::NobodyCatchesScope scope;
  try {
    pool.close();
    if (pool.statistics().num_segments != 0) pool.trim(0);
  } catch (const std::exception& error) {  // what is left goes back as it is destroyed
    error::report_unraisable(
        (std::string("the end of a CachingMemoryResource: ") + error.what()).c_str());
  }
}

/// The lock of a pool may be held forever in a forked child.
CachingPool& usable(const std::shared_ptr<CachingPool>& pool) {
  if (driver::is_forked_child()) static_cast<void>(driver::api());  // throws
  return *pool;
}

std::shared_ptr<owner::StreamBox> release_stream(const MemoryResource& resource,
                                                 const std::optional<Stream>& stream) {
  if (stream) return stream_for_release(*stream);
  const int device = resource.device_id();
  return stream_for_release(device >= 0 ? Device::from_known_ordinal(device).default_stream()
                                        : Stream::legacy_default());
}

}  // namespace

/// What the release of a buffer calls.
struct CachingMemoryResource::Calls {
  static CachingPool& pool_of(MemoryResource& resource) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): for its own buffers
    return *static_cast<CachingMemoryResource&>(resource).pool_;
  }
  static void deallocate(MemoryResource& resource, const owner::Allocation& memory,
                         std::shared_ptr<owner::StreamBox> stream) {
    const std::shared_ptr<owner::StreamBox> ordered_on = std::move(stream);
    Block& block = *static_cast<Block*>(memory.known_as);
    try {
      wait_for_others(ordered_on, memory.also_used_on);
    } catch (...) {
      pool_of(resource).deallocate_unordered(block, memory.number);
      throw;
    }
    pool_of(resource).deallocate(block, memory.number, ordered_on);
  }
  static bool ends_with_reset(const MemoryResource& resource) noexcept {
    return resource.ends_with_reset();
  }
  static bool take_back(owner::BufferBox& box) noexcept {
    return pool_of(*box.resource)
        .try_deallocate(*static_cast<Block*>(box.known_as), box.number, *box.stream);
  }

  /// The box of a buffer that has no memory yet.
  static std::shared_ptr<owner::BufferBox> new_box(CachingMemoryResource& resource,
                                                   std::shared_ptr<owner::StreamBox> stream) {
    static constexpr owner::ResourceCalls calls{&deallocate, &ends_with_reset, &take_back,
                                                &must_wait_for_capture};
    auto box = std::make_shared<owner::BufferBox>();
    box->resource = resource.shared_from_this();
    box->calls = &calls;
    box->stream = std::move(stream);
    return box;
  }
  static void hand_over(Block& block, owner::BufferBox& box) noexcept {
    box.pointer = block.pointer;
    box.size = block.requested;
    box.known_as = &block;
    box.number = block.number;
  }
};

CachingMemoryResource::CachingMemoryResource(std::shared_ptr<MemoryResource> upstream,
                                             std::size_t max_size)
    : upstream_(std::move(upstream)) {
  if (upstream_ == nullptr) {
    throw std::invalid_argument("a CachingMemoryResource needs an upstream to take memory from");
  }
  pool_ = std::make_shared<CachingPool>(upstream_, max_size);
  is_device_accessible_ = upstream_->is_device_accessible();
  is_host_accessible_ = upstream_->is_host_accessible();
  is_managed_ = upstream_->is_managed();
  device_id_ = upstream_->device_id();
}

CachingMemoryResource::~CachingMemoryResource() {
  if (driver::is_forked_child() || driver::is_exiting()) return;
  owner::end_outside_callbacks([pool = std::move(pool_)]() mutable {
    end(*pool);
    const driver::BlockingScope blocking;
    pool.reset();
  });
}

Buffer CachingMemoryResource::allocate(std::size_t size, const std::optional<Stream>& stream) {
  if (is_closed()) {
    throw std::invalid_argument(
        "this CachingMemoryResource is closed: allocate from another, or from its upstream");
  }
  const Stream chosen = stream ? *stream : Stream(release_stream(*this, stream));
  auto box = Calls::new_box(*this, stream_for_release(chosen));
  if (size != 0) {
    Calls::hand_over(pool_->allocate(chosen, size), *box);
  } else {
    const StreamCall refuses_what_is_lost(*chosen.box());
  }
  return Buffer(std::move(box));
}

std::optional<Buffer> CachingMemoryResource::try_allocate(std::size_t size, const Stream& stream) {
  const std::shared_ptr<owner::StreamBox>& ordered_on = stream.box();
  if (ordered_on == nullptr) return std::nullopt;
  Block* block = pool_->try_allocate(*ordered_on, size);
  if (block == nullptr) return std::nullopt;
  try {
    auto box = Calls::new_box(*this, ordered_on);
    Calls::hand_over(*block, *box);
    return Buffer(std::move(box));
  } catch (...) {
    pool_->deallocate(*block, block->number, ordered_on);
    throw;
  }
}

void CachingMemoryResource::deallocate(CUdeviceptr pointer, std::size_t /*size*/,
                                       const std::optional<Stream>& stream) {
  if (pointer == 0) return;
  const auto [block, number] = usable(pool_).find(pointer);
  if (block == nullptr) {
    throw std::invalid_argument("no buffer of this CachingMemoryResource is at " +
                                error::format_address(pointer));
  }
  pool_->deallocate(*block, number, release_stream(*this, stream));
}

void CachingMemoryResource::trim(std::size_t min_bytes_to_keep) {
  usable(pool_).trim(min_bytes_to_keep);
}
void CachingMemoryResource::close() { usable(pool_).close(); }
bool CachingMemoryResource::is_closed() const noexcept { return pool_->is_closed(); }
std::size_t CachingMemoryResource::max_size() const noexcept { return pool_->max_size(); }
CachingStatistics CachingMemoryResource::statistics() const { return usable(pool_).statistics(); }
void CachingMemoryResource::reset_peaks() { usable(pool_).reset_peaks(); }
std::vector<CachedSegment> CachingMemoryResource::snapshot() const {
  return usable(pool_).snapshot();
}

bool CachingMemoryResource::ends_with_reset() const noexcept {
  return upstream_->ends_with_reset();
}

}  // namespace cudacore
