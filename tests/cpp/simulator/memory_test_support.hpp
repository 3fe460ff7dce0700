// SPDX-License-Identifier: Apache-2.0
//
// Blocks with shared and local memory, and device memory, for tests of what reaches memory:
//
//   Surroundings around;
//   const Allocation a = around.allocate(128);
//   OneInstruction load(Isa::avx2, "ld.global.f32", "wm");
//   around.place(load);
//   load.run();
//   EXPECT_FALSE(around.fault());
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops_test_support.hpp"
#include "simulator/engine/grid.hpp"
#include "simulator/memory/device_memory.hpp"

namespace cudacore::simulator {

/// A grid that never runs: what handlers query, and where they report faults.
struct GridForTests {
  static std::shared_ptr<Grid> make(LaunchRequest request) {
    return std::shared_ptr<Grid>(new Grid(std::move(request), nullptr));  // NOLINT: private
  }
  static std::optional<Fault> take_fault(Grid& grid) {
    grid.stopped_ = false;
    return std::exchange(grid.fault_, std::nullopt);
  }
  static LaunchRequest& request(Grid& grid) { return grid.request_; }
};

namespace testing {

/// Two blocks of a cluster, with 64 threads each, on a device with its own memory.
class Surroundings {
 public:
  static constexpr std::uint32_t threads = 64;
  static constexpr std::uint32_t shared_bytes = 4096;
  static constexpr std::uint32_t local_stride = 512;
  static constexpr std::size_t parameter_bytes = 256;
  static constexpr int device = 5;

  explicit Surroundings(std::size_t capacity = std::size_t{16} << 20) : memory_(device, capacity) {
    entry_.name = "tested";
    LaunchRequest request;
    request.entry = &entry_;
    request.device = device;
    request.parameters.resize(parameter_bytes);
    for (std::size_t i = 0; i < parameter_bytes; ++i) {
      request.parameters[i] = static_cast<std::byte>(i * 7);
    }
    grid_ = GridForTests::make(std::move(request));
    frame_.function = &entry_;
    for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) {
      Block& block = blocks_[rank];
      shared_[rank].resize(shared_bytes / sizeof(Line));
      local_[rank].resize(std::size_t{local_stride} * threads / sizeof(Line));
      block.grid = grid_.get();
      block.shared = shared_[rank].front().bytes.data();
      block.shared_bytes = shared_bytes;
      block.local = local_[rank].front().bytes.data();
      block.local_stride = local_stride;
      block.threads = threads;
      block.living = threads;
      block.cluster = &cluster_;
      block.cluster_rank = rank;
      cluster_.blocks.push_back(&block);
    }
    frame_.local_base = local_begin;
    frame_.local_top = local_begin;
  }

  /// Makes an instruction run as a warp of block 0.
  void place(OneInstruction& instruction, std::uint32_t warp_index = 0) {
    Warp& warp = instruction.warp();
    warp.block = &blocks_[0];
    warp.worker = &worker_;
    warp.frame = &frame_;
    warp.index = warp_index;
  }

  /// Device memory filled with a pattern.
  Allocation allocate(std::size_t size, bool read_only = false) {
    const Allocation allocation = memory_.allocate(size, 256, read_only).value();
    for (std::size_t i = 0; i < size; ++i) allocation.host[i] = static_cast<std::byte>(i * 11 + 3);
    return allocation;
  }

  /// The fault since the last call.
  std::optional<Fault> fault() { return GridForTests::take_fault(*grid_); }

  DeviceMemory& memory() { return memory_; }
  Block& block(std::size_t rank = 0) { return blocks_[rank]; }
  LaunchRequest& request() { return GridForTests::request(*grid_); }
  Grid& grid() { return *grid_; }
  Frame& frame() { return frame_; }
  Worker& worker() { return worker_; }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };

  DeviceMemory memory_;
  Function entry_;
  Frame frame_;
  Worker worker_;
  std::shared_ptr<Grid> grid_;
  std::array<Block, 2> blocks_{};
  std::array<std::vector<Line>, 2> shared_;
  std::array<std::vector<Line>, 2> local_;
  Cluster cluster_;
};

}  // namespace testing
}  // namespace cudacore::simulator
