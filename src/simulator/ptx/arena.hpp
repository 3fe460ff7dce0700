// SPDX-License-Identifier: Apache-2.0
//
// Storage for a module's operands: chunks that never move, so that spans of them stay valid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

/// Stores runs of operands one after another; one run is open at a time.
class OperandArena {
 public:
  OperandArena(std::deque<std::vector<Operand>>& chunks, std::size_t first_chunk)
      : chunks_(chunks), chunk_size_(first_chunk) {}

  /// Appends to the open run. The reference is valid until the next call.
  Operand& push() {
    if (chunk_ == nullptr || chunk_->size() == chunk_->capacity()) grow();
    return chunk_->emplace_back();
  }

  /// Ends the open run.
  std::span<Operand> close() {
    if (chunk_ == nullptr) return {};
    const std::span<Operand> run = std::span(*chunk_).subspan(begin_);
    begin_ = chunk_->size();
    return run;
  }

 private:
  static constexpr std::size_t usual_chunk = 1024;

  void grow() {
    const std::span<Operand> run = close();
    const std::size_t needed = run.size() * 2;
    std::vector<Operand>& chunk = chunks_.emplace_back();
    chunk.reserve(std::max({chunk_size_, needed, std::size_t{1}}));
    chunk.assign(run.begin(), run.end());
    chunk_ = &chunk;
    begin_ = 0;
    chunk_size_ = usual_chunk;
  }

  std::deque<std::vector<Operand>>& chunks_;
  std::vector<Operand>* chunk_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t chunk_size_;
};

}  // namespace cudacore::simulator::ptx
