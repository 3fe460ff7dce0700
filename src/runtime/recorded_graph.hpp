// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cudacore/graph_definition.hpp"
#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

// A captured graph that is launched again and again with other addresses and numbers. Where they go
// is found once: each launch writes them there, in one pass, and tells the driver about the nodes
// whose parameters changed.

namespace cudacore {

/// Addresses that stand for those of value number `value` of a launch.
struct StandInRange {
  CUdeviceptr begin = 0;
  CUdeviceptr end = 0;
  CUdeviceptr address = 0;  ///< what stands for the value itself
  std::uint32_t value_index = 0;
};

/// A kernel that this library launched, and which of its arguments are numbers that change.
struct CapturedLaunch {
  struct Number {
    std::uint32_t parameter = 0;
    std::uint32_t value_index =
        0;  ///< the number of the launch's value: its bytes are the lowest ones
  };

  CUgraphNode node = nullptr;
  Kernel kernel;
  std::vector<Number> numbers{};
};

/// A captured call of a function, and what stood in for its arguments.
struct RecordedCapture {
  GraphDefinition definition;
  std::span<const StandInRange> stand_ins{};
  std::span<const CapturedLaunch> launches{};
};

class RecordedGraph : driver::NotCopied {
 public:
  /// Finds where the stand-ins went, and instantiates the graph with the first values instead of
  /// them. The graph must not be changed later. What its work uses is kept until the last launch
  /// has ended.
  ///
  /// An integer argument of a kernel of another library may look like an address, and an address
  /// may be passed as an integer. So there must be a second capture of the same call, with other
  /// stand-ins: everything that isn't replaced must be the same in both.
  /// @throw NotSupportedError if they went where they can't be replaced, or the captures differ.
  RecordedGraph(const RecordedCapture& capture, const RecordedCapture* second,
                std::span<const std::uint64_t> values, std::vector<std::shared_ptr<void>> kept);

  /// Whether a capture has kernels that other libraries launched.
  [[nodiscard]] static bool has_foreign_kernels(const GraphDefinition& definition,
                                                std::span<const CapturedLaunch> launches);

  /// Queues all its work on a stream, with these values.
  /// @throw Error; it then can't be launched again if is_broken().
  void launch(const Stream& stream, std::span<const std::uint64_t> values);
  /// Whether an update failed half-way.
  [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
  /// How many nodes the graph has, and how many of them change.
  [[nodiscard]] std::size_t node_count() const noexcept { return node_count_; }
  [[nodiscard]] std::size_t changing_nodes() const noexcept { return nodes_.size(); }

 private:
  struct Patch {
    unsigned char* target = nullptr;  ///< not aligned, in packed structs
    std::uint64_t offset = 0;
    std::uint32_t value_index = 0;
  };
  struct Node {
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    CUDA_KERNEL_NODE_PARAMS kernel{};    ///< the same, for kernels, in the older form
    std::vector<std::uint64_t> bytes{};  ///< of a kernel's arguments
    std::vector<void*> places{};         ///< where each begins in them
    std::size_t patches_begin = 0;
    std::size_t patches_end = 0;
  };
  class Scan;

  static bool write(const Node& node, std::span<const Patch> patches,
                    std::span<const std::uint64_t> values) noexcept;
  static CUresult update(const driver::DriverApi& api, CUgraphExec executable, Node& node) noexcept;

  GraphDefinition definition_;
  std::vector<Node> nodes_;
  std::vector<Patch> patches_;
  std::size_t node_count_ = 0;
  bool is_broken_ = false;
  Graph graph_{nullptr};
};

}  // namespace cudacore
