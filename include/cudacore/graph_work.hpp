// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/event.hpp>
#include <cudacore/graph_condition.hpp>
#include <cudacore/launch.hpp>

namespace cudacore {

struct GraphWorkBox;
class GraphDefinition;

/// Where the memory is that a node allocates.
enum class GraphMemoryType : int { device = 0, host = 1, managed = 2 };

/// Memory that a node allocates.
struct GraphAllocation {
  std::size_t size = 0;
  GraphMemoryType type = GraphMemoryType::device;
  std::optional<int> device{};  ///< the current one unless set; none for memory of the host
  std::vector<int> peers{};     ///< other devices that may access it
  CUdeviceptr address = 0;      ///< chosen by the driver when the node is added
};

/// The work of one node: for GraphDefinition::add() and the updates. Cheap to copy.
class GraphWork {
 public:
  /// A kernel with its arguments, which are checked as for launch(), and the Buffers among which
  /// are kept.
  template <typename... Arguments>
  [[nodiscard]] static GraphWork kernel(const LaunchConfig& config, const Kernel& kernel,
                                        const Arguments&... arguments) {
    const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
    GraphWork work = kernel_arguments(config, kernel, list);
    (work.keep_buffer(arguments), ...);
    return work;
  }
  [[nodiscard]] static GraphWork kernel_arguments(const LaunchConfig& config, const Kernel& kernel,
                                                  std::span<const Argument> arguments);
  /// Copies `size` bytes. Each address is of a device, of managed memory, or of the host.
  [[nodiscard]] static GraphWork copy(CUdeviceptr destination, CUdeviceptr source,
                                      std::size_t size);
  /// Fills `height` rows of `width` elements of 1, 2 or 4 bytes, `pitch` bytes apart.
  [[nodiscard]] static GraphWork fill(CUdeviceptr destination, std::uint32_t value,
                                      unsigned element_size, std::size_t width,
                                      std::size_t height = 1, std::size_t pitch = 0);
  /// Does nothing: it joins other nodes.
  [[nodiscard]] static GraphWork empty();
  [[nodiscard]] static GraphWork record(const Event& event);
  [[nodiscard]] static GraphWork wait(const Event& event);
  /// Calls `function` on a thread of the driver, once for each launch. It must not call CUDA. If it
  /// throws an exception, that is reported and dropped.
  [[nodiscard]] static GraphWork callback(std::function<void()> function);
  /// Calls a C function with `data`.
  [[nodiscard]] static GraphWork host_function(void (*function)(void*), void* data);
  /// A copy of another graph, as it is now.
  [[nodiscard]] static GraphWork child(const GraphDefinition& graph);
  /// Allocates memory, whose address is known once the node is added. Other nodes that run after it
  /// use the memory, and a node of deallocate() frees it.
  [[nodiscard]] static GraphWork allocate(const GraphAllocation& wanted);
  /// Frees memory that a node allocated: of the same graph, or of one that is launched before.
  [[nodiscard]] static GraphWork deallocate(CUdeviceptr address);
  /// Runs one of its branches, whose graphs are GraphNode::branches().
  /// @throw InvalidValueError for a number of branches that the kind cannot have.
  [[nodiscard]] static GraphWork conditional(const GraphCondition& condition, ConditionKind kind,
                                             std::size_t branches);

  /// Keeps something else that the node uses as long as the node's graphs.
  void keep(std::shared_ptr<void> used);

  explicit GraphWork(std::shared_ptr<GraphWorkBox> box) noexcept : box_(std::move(box)) {}
  [[nodiscard]] GraphWorkBox& box() const noexcept { return *box_; }

 private:
  template <typename T>
  void keep_buffer(const T& argument) {
    if constexpr (std::is_same_v<T, Buffer>) keep_memory(argument);
  }
  void keep_memory(const Buffer& buffer);

  std::shared_ptr<GraphWorkBox> box_;
};

}  // namespace cudacore
