// SPDX-License-Identifier: Apache-2.0
#include "runtime/block_list.hpp"

#include "owner/captures.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

FreeBlocks& blocks_of(BlockList& list, const Block& block) noexcept {
  return list.free[static_cast<std::size_t>(block.segment->kind)];
}

/// Lets `block` take over the one after it.
void coalesce(Block& block, Block*& merged) noexcept {
  Block& gone = *block.after;
  block.size += gone.size;
  block.after = gone.after;
  if (block.after != nullptr) block.after->before = &block;
  gone.next = merged;
  merged = &gone;
}

}  // namespace

std::uint64_t stream_key(const owner::StreamBox& stream) {
  if (const std::uint64_t known = stream.key.load(std::memory_order_relaxed)) return known;
  if (owner::is_per_thread_stream(stream.stream)) return 0;
  const std::shared_ptr<error::ContextBox>& context = stream.work_context();
  const bool is_default = owner::is_default_stream(stream.stream);
  unsigned long long id = context->id;
  if (!is_default) {
    const ContextCall call(context);
    call.check(call.api().cuStreamGetId(stream.stream, &id), "cuStreamGetId",
               [&] { return owner::describe_stream(stream); });
  }
  // Numbers of contexts and of streams, told apart by the last bit; never 0.
  const std::uint64_t key = ((std::uint64_t{id} + 1) << 1U) | (is_default ? 1U : 0U);
  if (stream.context != nullptr) stream.key.store(key, std::memory_order_relaxed);
  return key;
}

bool Order::is_captured() const { return stream != nullptr && owner::is_captured(*stream); }

bool Order::is_done() const {
  const owner::OutsideCaptures outside(driver::api());
  return stream != nullptr ? Stream(stream).is_done() : event->is_done();
}

Event Order::mark() const {
  return stream != nullptr ? Stream(stream).record(EventOptions{}) : *event;
}

Block& BlockList::insert(Block& block, Block*& merged) noexcept {
  const SizeClass kind = block.segment->kind;
  FreeBlocks& of_class = blocks_of(*this, block);
  Block* whole = &block;
  if (block.after != nullptr && block.after->list == this) {
    remove(*block.after);
    coalesce(block, merged);
  }
  if (block.before != nullptr && block.before->list == this) {
    whole = block.before;
    remove(*whole);
    coalesce(*whole, merged);
  }
  whole->list = this;
  whole->insertion = ++inserts;
  of_class.insert(*whole, kind);
  ++blocks;
  return *whole;
}

void BlockList::remove(Block& block) noexcept {
  blocks_of(*this, block).remove(block, block.segment->kind);
  block.list = nullptr;
  --blocks;
}

Block* BlockList::any() const noexcept {
  for (const FreeBlocks& of_class : free) {
    if (Block* block = of_class.any()) return block;
  }
  return nullptr;
}

}  // namespace cudacore
