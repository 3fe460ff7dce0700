// SPDX-License-Identifier: Apache-2.0
#include "runtime/release_order.hpp"

#include <algorithm>

#include "cudacore/error.hpp"
#include "cudacore/pool_memory_resource.hpp"
#include "owner/captures.hpp"
#include "runtime/caching_pool.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

using StreamBoxes = std::vector<std::shared_ptr<owner::StreamBox>>;

/// From so many on, those whose work is done are forgotten: they may have ended long ago.
constexpr std::size_t many = 16;

bool has(const StreamBoxes& streams, const std::shared_ptr<owner::StreamBox>& stream) {
  return std::ranges::any_of(
      streams, [&](const auto& known) { return owner::is_same_stream(*known, *stream); });
}

/// All but the first, which is that of the allocation: its later work counts, too.
void forget_done(owner::BufferBox& box) {
  StreamBoxes known;
  {
    const std::scoped_lock lock(box.mutex);
    if (box.also_used_on.size() < many) return;
    known.assign(box.also_used_on.begin() + 1, box.also_used_on.end());
  }
  std::erase_if(known, [](const auto& stream) {
    try {
      return owner::is_captured(*stream) || !Stream(stream).is_done();
    } catch (const Error&) {  // the release will report it
      return true;
    }
  });
  const std::scoped_lock lock(box.mutex);
  std::erase_if(box.also_used_on, [&](const auto& stream) {
    return std::ranges::find(known, stream) != known.end();
  });
}

void add_stream(owner::BufferBox& box, std::shared_ptr<owner::StreamBox> chosen) {
  forget_done(box);
  const std::scoped_lock lock(box.mutex);
  if (box.stream != nullptr && !has(box.also_used_on, box.stream)) {
    box.also_used_on.push_back(box.stream);
  }
  if (chosen != nullptr) box.stream.swap(chosen);
}

void refuse_captured(const owner::StreamBox& stream) {
  if (!owner::is_captured(stream)) return;
  throw NotSupportedError(
      owner::describe_stream(stream) +
      " is being captured: shared memory whose parts were used on several streams can't be "
      "released then, because one of them waits for the others");
}

}  // namespace

void order_release(const Buffer& buffer, const Stream& stream) {
  owner::BufferBox& box = *buffer.box();
  bool is_shared = buffer.box().use_count() > 1;
  if (!is_shared) {
    const std::scoped_lock lock(box.mutex);
    is_shared = !box.also_used_on.empty();
  }
  if (is_shared) {
    add_stream(box, stream_for_release(stream));
  } else {
    if (dynamic_cast<const CachingMemoryResource*>(box.resource.get()) != nullptr) {
      CachingPool::refuse_foreign_capture(*stream_for_release(stream));
    }
    buffer.set_deallocation_stream(stream);
  }
}

void share_ends(const Buffer& whole, const std::optional<Stream>& stream) {
  add_stream(*whole.box(), stream ? stream_for_release(*stream) : nullptr);
}

bool must_wait_for_capture(const MemoryResource& resource, const owner::Allocation& memory,
                           const owner::StreamBox* stream) {
  if (stream == nullptr || !owner::may_be_capturing()) [[likely]]
    return false;
  const auto is_other = [stream](const auto& known) {
    return !owner::is_same_stream(*known, *stream);
  };
  const bool is_shared = std::ranges::any_of(memory.also_used_on, is_other);
  const bool is_pooled = dynamic_cast<const PoolMemoryResource*>(&resource) != nullptr;
  if (!is_shared && !(is_pooled && owner::any_capture())) return false;
  if (owner::is_captured(*stream)) return true;
  return is_shared && std::ranges::any_of(memory.also_used_on, [](const auto& known) {
           return owner::is_captured(*known);
         });
}

void wait_for_others(const std::shared_ptr<owner::StreamBox>& stream, const StreamBoxes& others) {
  for (const std::shared_ptr<owner::StreamBox>& other : others) {
    if (owner::is_same_stream(*other, *stream)) continue;
    refuse_captured(*stream);
    refuse_captured(*other);
    try {
      Stream(stream).wait(Stream(other));
    } catch (const ContextLostError&) {  // one that is lost has no work
      if (stream->context != nullptr && stream->context->lost.load(std::memory_order_relaxed))
        throw;
    } catch (const Error&) {  // who owns the stream may have destroyed it
      if (!sync_outside_captures(other->work_context())) throw;
    }
  }
}

}  // namespace cudacore
