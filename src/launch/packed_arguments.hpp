// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cudacore/argument.hpp"
#include "launch/kernel_box.hpp"

namespace cudacore::launching {

/// The arguments of one launch, as the driver takes them: made empty, filled by a launcher, and
/// handed to enqueue(). On the stack, but for kernels of very many parameters.
class PackedArguments : driver::NotCopied {
 public:
  /// Lays out `count` arguments by the kernel's plan. If its signature is unknown, each argument
  /// must state its exact type: `param_of(i)` returns it, or throws.
  /// @throw TypeMismatchError if the kernel takes another number of arguments.
  template <typename ParamOf>
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): clearing the arrays costs time
  PackedArguments(const KernelBox& kernel, std::size_t count, const ParamOf& param_of) {
    if (kernel.has_signature) [[likely]] {
      require_count(kernel, count);
      lay_out(kernel.plan);
      return;
    }
    std::vector<Param> params;
    params.reserve(count);
    for (std::size_t i = 0; i < count; ++i) params.push_back(param_of(i));
    lay_out(own_plan_.emplace(params));
  }

  /// What each argument must become.
  [[nodiscard]] std::span<const Slot> slots() const noexcept { return plan_->slots; }
  /// Where the bytes of each go: 8 at least.
  [[nodiscard]] void** places() noexcept { return places_; }

 private:
  static void require_count(const KernelBox& kernel, std::size_t count);
  void lay_out(const PackingPlan& plan);

  static constexpr std::size_t few = 512;

  const PackingPlan* plan_ = nullptr;
  void** places_ = nullptr;
  std::optional<PackingPlan> own_plan_;
  std::unique_ptr<std::max_align_t[]> more_;  ///< for what is too large for the arrays
  std::array<void*, few> few_places_;
  alignas(std::max_align_t) std::array<unsigned char, few * sizeof(void*)> few_bytes_;
};

/// Writes an argument as the bytes that `slot` declares, the slot of parameter `index`.
/// @throw TypeMismatchError, std::overflow_error.
void pack_argument(const KernelBox& kernel, std::size_t index, const Slot& slot,
                   const Argument& argument, void* place);

/// The parameter that an argument fits exactly, for a kernel whose parameters are unknown.
/// @throw TypeMismatchError for an argument that says no exact type.
[[nodiscard]] Param exact_param(const KernelBox& kernel, std::size_t index,
                                const Argument& argument);

}  // namespace cudacore::launching
