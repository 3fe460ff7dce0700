// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/frame_regions.hpp"

#include <algorithm>

#include "simulator/engine/image.hpp"
#include "simulator/engine/linker.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

using ptx::Operand;

constexpr std::uint32_t stride_unit = 16;
constexpr std::size_t largest = std::size_t{1} << 20;

}  // namespace

std::size_t parameter_size(const ptx::Variable& variable) noexcept {
  return variable.in_register ? std::size_t{ptx::size_of(variable.type)} * variable.vector
                              : variable.size;
}

std::uint32_t parameter_stride(std::size_t size) noexcept {
  return static_cast<std::uint32_t>(round_up(size, stride_unit));
}

FrameRegions::FrameRegions(const ptx::Function& function, const std::vector<bool>& targets)
    : function_(function),
      own_(function.parameters.size() + function.results.size()),
      regions_(function.variables.size()),
      uses_(function.variables.size()) {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const ptx::Variable& variable = function.variables[i];
    if (variable.space != ptx::Space::param) continue;
    const std::size_t size = parameter_size(variable);
    if (size > largest) {
      throw load_error(LoadError::Kind::too_large, variable.position,
                       "the parameter '" + std::string(variable.name) + "' is too large");
    }
    regions_[i].size = static_cast<std::uint32_t>(size);
    regions_[i].stride = parameter_stride(size);
  }
  lay_out_own();
  find_uses(targets);
  lay_out_body();
}

void FrameRegions::lay_out_own() {
  if (function_.is_entry) return;
  const std::size_t parameters = function_.parameters.size();
  for (std::size_t i = 0; i < own_; ++i) {
    std::uint32_t& end = i < parameters ? parameter_bytes_ : result_bytes_;
    // For a parameter in a register, the space may say so.
    regions_[i].size = static_cast<std::uint32_t>(parameter_size(function_.variables[i]));
    regions_[i].stride = parameter_stride(regions_[i].size);
    regions_[i].at = end;
    regions_[i].is_used = true;
    end += regions_[i].stride * warp_size;
  }
}

void FrameRegions::find_uses(const std::vector<bool>& targets) {
  for (std::uint32_t at = 0; at < function_.instructions.size(); ++at) {
    const ptx::Instruction& instruction = function_.instructions[at];
    const bool is_call = instruction.form == ptx::Form::call;
    std::uint32_t scratch = 0;
    for (const Operand& operand : instruction.operands) {
      add_use(operand, at);
      if (operand.kind == Operand::Kind::list) {
        for (const Operand& element : operand.elements) {
          add_use(element, at);
          const bool in_region = element.variable_known &&
                                 function_.variables[element.index].space == ptx::Space::param;
          if (!in_region) ++scratch;
        }
      } else if (!is_call && operand.kind == Operand::Kind::symbol && operand.variable_known &&
                 operand.index < own_ && !function_.is_entry) {
        pointed_at_.push_back(operand.index);
      }
    }
    scratch_count_ = std::max(scratch_count_, scratch);
  }
  std::sort(pointed_at_.begin(), pointed_at_.end());
  pointed_at_.erase(std::unique(pointed_at_.begin(), pointed_at_.end()), pointed_at_.end());
  widen_across_branches(targets);
}

void FrameRegions::add_use(const Operand& operand, std::uint32_t at) {
  if (!operand.variable_known) return;
  Use& use = uses_[operand.index];
  use.first = std::min(use.first, at);
  use.last = std::max(use.last, at);
}

void FrameRegions::widen_across_branches(const std::vector<bool>& targets) {
  // The text's order is the execution order only between uses in a straight run of instructions.
  std::vector<std::uint32_t> targets_before(targets.size() + 1, 0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets_before[i + 1] = targets_before[i] + (targets[i] ? 1 : 0);
  }
  for (Use& use : uses_) {
    if (use.first > use.last) continue;
    if (targets_before[use.last + 1] == targets_before[use.first + 1]) continue;
    use.first = 0;
    use.last = static_cast<std::uint32_t>(function_.instructions.size());
  }
}

void FrameRegions::lay_out_body() {
  std::vector<std::uint32_t> order;
  for (std::size_t i = own_; i < regions_.size(); ++i) {
    if (function_.variables[i].space == ptx::Space::param && uses_[i].first <= uses_[i].last) {
      order.push_back(static_cast<std::uint32_t>(i));
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return uses_[a].first < uses_[b].first;
  });
  std::vector<std::uint32_t> active;  // by place
  for (const std::uint32_t index : order) {
    std::erase_if(active,
                  [&](std::uint32_t other) { return uses_[other].last < uses_[index].first; });
    Region& region = regions_[index];
    const std::uint32_t bytes = region.stride * warp_size;
    std::size_t next = 0;
    for (; next < active.size(); ++next) {
      const Region& other = regions_[active[next]];
      if (region.at + bytes <= other.at) break;
      region.at = other.at + other.stride * warp_size;
    }
    region.is_used = true;
    active.insert(active.begin() + static_cast<std::ptrdiff_t>(next), index);
    body_bytes_ = std::max(body_bytes_, region.at + bytes);
  }
  scratch_at_ = body_bytes_;
  body_bytes_ += scratch_count_ * stride_unit * warp_size;
}

void FrameRegions::place(std::uint32_t parameters, std::uint32_t results, std::uint32_t body) {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    regions_[i].at += i >= own_ ? body : i < function_.parameters.size() ? parameters : results;
  }
  scratch_at_ += body;
}

Region FrameRegions::scratch(std::uint32_t number) const {
  return {scratch_at_ + number * stride_unit * warp_size, stride_unit, stride_unit, true};
}

}  // namespace cudacore::simulator
