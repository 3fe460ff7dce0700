// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/event.hpp>
#include <cudacore/launch.hpp>

struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
using CUgraph = CUgraph_st*;
using CUgraphNode = CUgraphNode_st*;
using CUgraphExec = CUgraphExec_st*;

// Graphs: work that is described once and launched many times, as a whole.
//
//   GraphDefinition  what is to be done, and in which order; it can be edited
//   GraphNode        one piece of its work
//   GraphWork        what a node does; made before the node
//   GraphCondition   a number that kernels set, and by which conditional nodes run their branches
//   Graph            what the driver made of a definition; it can be launched
//
// A definition, its clones and every Graph made from it keep the kernels, events, callbacks and
// buffers that their nodes use, also while they run.

namespace cudacore {

namespace owner {
struct ExecutableBox;
struct GraphBox;
struct NodeBox;
}  // namespace owner

struct GraphWorkBox;
class GraphDefinition;

/// What a node does (CUgraphNodeType).
enum class GraphNodeKind : int {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  child_graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  semaphore_signal = 8,
  semaphore_wait = 9,
  allocation = 10,
  release = 11,
  batch_memory_operation = 12,
  conditional = 13,
};

/// How often a conditional node runs its branches (CUgraphConditionalNodeType).
enum class ConditionKind : int {
  if_ = 0,      ///< the first branch if the condition is not 0, otherwise the second, if any
  while_ = 1,   ///< its branch again and again, as long as the condition is not 0
  switch_ = 2,  ///< the branch with the condition's number, if there is one
};

/// A number of one graph: kernels set it (cudaGraphSetConditional), and one conditional node reads
/// it. Cheap to copy. It doesn't keep the graph.
class GraphCondition {
 public:
  GraphCondition(std::uint64_t handle, std::weak_ptr<owner::GraphBox> graph) noexcept
      : handle_(handle), graph_(std::move(graph)) {}

  /// The CUgraphConditionalHandle, which kernels take as an argument.
  [[nodiscard]] std::uint64_t handle() const noexcept { return handle_; }
  [[nodiscard]] const std::weak_ptr<owner::GraphBox>& graph_box() const noexcept { return graph_; }
  friend bool operator==(const GraphCondition& a, const GraphCondition& b) noexcept {
    return a.handle_ == b.handle_;
  }

 private:
  std::uint64_t handle_;
  std::weak_ptr<owner::GraphBox> graph_;
};

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

/// How a Graph is made from a definition.
struct GraphCompleteOptions {
  bool auto_free_on_launch = false;       ///< frees what an earlier launch allocated and left
  std::optional<Stream> upload_stream{};  ///< uploads the graph to the device on this stream
  bool device_launch = false;             ///< can be launched by kernels
  bool use_node_priority = false;         ///< by the nodes' priorities, not the stream's
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
  /// use the memory, and a node of release() frees it.
  [[nodiscard]] static GraphWork allocate(const GraphAllocation& wanted);
  /// Frees memory that a node allocated: of the same graph, or of one that is launched before.
  [[nodiscard]] static GraphWork release(CUdeviceptr address);
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

/// A node of a GraphDefinition, which it keeps alive. Cheap to copy.
class GraphNode {
 public:
  [[nodiscard]] GraphDefinition graph() const;
  [[nodiscard]] CUgraphNode handle() const noexcept;
  [[nodiscard]] GraphNodeKind kind() const noexcept;
  /// Whether it has not been destroyed, nor the node that contains its graph.
  [[nodiscard]] bool is_valid() const noexcept;

  /// Removes the node and its edges from the graph; does nothing if that is done already.
  void destroy() const;
  /// Replaces its work with other work of the same kind (cuGraphNodeSetParams). Graphs that were
  /// made before are not affected.
  void update(const GraphWork& given) const;

  /// The nodes that it runs after, and those that run after it.
  [[nodiscard]] std::vector<GraphNode> predecessors() const;
  [[nodiscard]] std::vector<GraphNode> successors() const;

  /// The details by kind.
  /// @throw std::invalid_argument for a node of another kind.
  [[nodiscard]] Kernel kernel() const;
  [[nodiscard]] LaunchConfig config() const;
  /// What kernels know a node by that they may update: a CUgraphDeviceNode, which they take as a
  /// cudaGraphDeviceNode_t.
  /// @throw std::invalid_argument also unless LaunchAttributes::device_updatable_kernel_node was
  /// set.
  [[nodiscard]] std::uintptr_t device_node() const;
  [[nodiscard]] Event event() const;
  [[nodiscard]] GraphDefinition child_graph() const;
  struct Copy {
    CUdeviceptr destination = 0;
    CUdeviceptr source = 0;
    std::size_t size = 0;
  };
  [[nodiscard]] Copy copy() const;
  struct Fill {
    CUdeviceptr destination = 0;
    std::uint32_t value = 0;
    unsigned element_size = 1;
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t pitch = 0;
  };
  [[nodiscard]] Fill fill() const;
  [[nodiscard]] GraphAllocation allocation() const;
  /// The address that a node of GraphWork::release() frees.
  [[nodiscard]] CUdeviceptr released() const;
  /// Of a conditional node: its branches, which can be built like any definition; what it reads;
  /// and how. Empty for one that was not made here, because the driver doesn't tell.
  [[nodiscard]] std::vector<GraphDefinition> branches() const;
  [[nodiscard]] std::optional<GraphCondition> condition() const;
  [[nodiscard]] std::optional<ConditionKind> condition_kind() const;
  /// What GraphWork::keep() was given first.
  [[nodiscard]] std::shared_ptr<void> first_kept() const;

  GraphNode(std::shared_ptr<owner::GraphBox> graph, std::shared_ptr<owner::NodeBox> box) noexcept
      : graph_(std::move(graph)), box_(std::move(box)) {}
  [[nodiscard]] const std::shared_ptr<owner::GraphBox>& graph_box() const noexcept {
    return graph_;
  }
  [[nodiscard]] const std::shared_ptr<owner::NodeBox>& box() const noexcept { return box_; }
  friend bool operator==(const GraphNode& a, const GraphNode& b) noexcept {
    return a.box_ == b.box_;
  }

 private:
  std::shared_ptr<owner::GraphBox> graph_;
  std::shared_ptr<owner::NodeBox> box_;
};

/// An executable graph. Cheap to copy; the last copy destroys it, once its launches have ended.
class Graph {
 public:
  explicit Graph(std::shared_ptr<owner::ExecutableBox> box) noexcept : box_(std::move(box)) {}

  /// Queues all its work on a stream (cuGraphLaunch). One launch runs after another.
  void launch(const Stream& stream) const;
  /// Copies what the device needs of it there, before the first launch would (cuGraphUpload).
  void upload(const Stream& stream) const;
  /// Takes over the work of a definition with the same nodes and edges (cuGraphExecUpdate).
  /// @throw Error that says what differs.
  void update(const GraphDefinition& definition) const;

  // Of the node that was made from `node` of the definition:
  /// Replaces what it does (cuGraphExecNodeSetParams), from the next launch on.
  void update(const GraphNode& node, const GraphWork& given) const;
  /// Whether it does anything: only kernels, copies and fills can be disabled.
  void set_enabled(const GraphNode& node, bool enabled) const;
  [[nodiscard]] bool is_enabled(const GraphNode& node) const;

  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }
  /// Whoever launches it by its handle keeps this object until the launch has ended.
  [[nodiscard]] CUgraphExec handle() const;

  [[nodiscard]] const std::shared_ptr<owner::ExecutableBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::ExecutableBox> box_;
};

/// A graph under construction. Cheap to copy; copies share one CUgraph. Any thread may use it.
class GraphDefinition {
 public:
  /// An empty graph (cuGraphCreate).
  GraphDefinition();
  explicit GraphDefinition(std::shared_ptr<owner::GraphBox> box) noexcept : box_(std::move(box)) {}

  [[nodiscard]] CUgraph handle() const;
  /// Whether the node that contains it, if any, has not been destroyed.
  [[nodiscard]] bool is_valid() const noexcept;

  /// Adds a node, which runs after the given nodes of the same graph (cuGraphAddNode).
  /// @throw InvalidValueError if one is of another graph, or destroyed.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the node needn't be used
  GraphNode add(const GraphWork& work, std::span<const GraphNode> after = {}) const;
  /// All nodes, in the order in which they were added.
  [[nodiscard]] std::vector<GraphNode> nodes() const;
  /// All edges: the second node runs after the first.
  [[nodiscard]] std::vector<std::pair<GraphNode, GraphNode>> edges() const;
  /// Makes `to` run after `from`, and no longer so.
  /// @throw InvalidValueError for nodes of another graph, for an edge that would close a cycle,
  /// that exists already, or that does not exist.
  void add_edge(const GraphNode& from, const GraphNode& to) const;
  void remove_edge(const GraphNode& from, const GraphNode& to) const;

  /// Makes a condition for a conditional node of this graph (cuGraphConditionalHandleCreate). With
  /// a default value, it has that at the start of each launch; otherwise it keeps its value.
  [[nodiscard]] GraphCondition create_condition(
      const std::optional<unsigned>& default_value = {}) const;

  /// Makes an executable graph (cuGraphInstantiateWithParams).
  [[nodiscard]] Graph instantiate(const GraphCompleteOptions& options = {}) const;
  /// Writes the graph to a file as Graphviz text (cuGraphDebugDotPrint); `flags` are
  /// CUgraphDebugDot_flags.
  void write_dot(const std::string& path, unsigned flags = 0) const;

  [[nodiscard]] const std::shared_ptr<owner::GraphBox>& box() const noexcept { return box_; }
  friend bool operator==(const GraphDefinition& a, const GraphDefinition& b) noexcept {
    return a.box_ == b.box_;
  }

 private:
  std::shared_ptr<owner::GraphBox> box_;
};

}  // namespace cudacore
