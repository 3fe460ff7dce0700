// SPDX-License-Identifier: Apache-2.0
#include "launch/packed_arguments.hpp"

#include "cudacore/error.hpp"
#include "launch/argument_errors.hpp"

namespace cudacore::launching {

void PackedArguments::require_count(const KernelBox& kernel, std::size_t count) {
  if (count != kernel.plan.slots.size()) [[unlikely]] {
    throw TypeMismatchError(count_message(kernel, count));
  }
}

void PackedArguments::lay_out(const PackingPlan& plan) {
  plan_ = &plan;
  const std::size_t count = plan.slots.size();
  unsigned char* bytes = few_bytes_.data();
  places_ = few_places_.data();
  if (count > few || plan.bytes > few_bytes_.size()) [[unlikely]] {
    const std::size_t size = plan.bytes + count * sizeof(void*);
    more_ = std::make_unique_for_overwrite<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1);
    bytes = reinterpret_cast<unsigned char*>(more_.get());
    places_ = reinterpret_cast<void**>(bytes + plan.bytes);
  }
  for (std::size_t i = 0; i < count; ++i) places_[i] = bytes + plan.slots[i].offset;
}

}  // namespace cudacore::launching
