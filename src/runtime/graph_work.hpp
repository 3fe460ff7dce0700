// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cudacore/error.hpp"
#include "cudacore/graph_definition.hpp"
#include "error/describe.hpp"
#include "launch/attribute_box.hpp"
#include "launch/packed_arguments.hpp"
#include "owner/graph_box.hpp"
#include "runtime/context_call.hpp"

// What the files about graphs share.

namespace cudacore {

/// Work as the driver takes it.
struct GraphWorkBox : driver::NotCopied {
  CUgraphNodeParams params{};
  std::shared_ptr<error::ContextBox> context;  ///< where it runs
  std::shared_ptr<owner::Kept> kept = std::make_shared<owner::Kept>();
  std::unique_ptr<launching::PackedArguments> arguments;  ///< of a kernel
  std::vector<CUlaunchAttribute> attributes;              ///< of a kernel
  std::vector<CUmemAccessDesc> access;                    ///< of an allocation, to its memory
  std::weak_ptr<owner::GraphBox> condition_of;            ///< the graph of a node's condition
  std::shared_ptr<owner::GraphBox> child;                 ///< the graph to copy
  std::string name;                                       ///< "kernel axpy", for messages
};

/// The work of a kernel whose arguments are packed already, in a context.
/// @throw as launch() for a wrong shape; NotSupportedError for what only streams have.
[[nodiscard]] GraphWork packed_kernel(const std::shared_ptr<error::ContextBox>& context,
                                      const LaunchConfig& config, const Kernel& kernel,
                                      std::unique_ptr<launching::PackedArguments> arguments);

/// The driver, which must know graphs as CUDA 12.3 does.
/// @throw NotSupportedError
[[nodiscard]] const driver::DriverApi& graph_api();

/// A call on a graph: nothing else of its family is called meanwhile. Its context is whichever is
/// current.
class GraphCall : driver::NotCopied {
 public:
  /// @throw InvalidValueError if the graph went with the node that contained it.
  explicit GraphCall(const std::shared_ptr<owner::GraphBox>& graph);

  [[nodiscard]] const driver::DriverApi& api() const noexcept { return *api_; }
  [[nodiscard]] CUgraph graph() const noexcept { return graph_->graph; }
  /// The handle of a node of this graph.
  /// @throw InvalidValueError if it is of another graph, or destroyed.
  [[nodiscard]] CUgraphNode node(const GraphNode& node) const;
  void check(CUresult result, const char* function) const {
    error::check(result, function,
                 [this] { return "graph " + error::format_address(graph_->graph); });
  }

 private:
  const driver::DriverApi* api_;
  owner::GraphBox* graph_;
  std::unique_lock<std::mutex> lock_;
};

/// The handles of a graph's nodes, in the order in which they were added.
[[nodiscard]] std::vector<CUgraphNode> list_nodes(const GraphCall& call);

/// A call on a node.
class NodeCall : public GraphCall {
 public:
  explicit NodeCall(const GraphNode& node)
      : GraphCall(node.graph_box()), node_(GraphCall::node(node)) {}
  /// @throw std::invalid_argument unless the node is of this type.
  NodeCall(const GraphNode& node, CUgraphNodeType type);

  static void require(const GraphNode& node, bool fits, const char* wanted);
  [[nodiscard]] CUgraphNode handle() const noexcept { return node_; }

 private:
  CUgraphNode node_;
};

/// Launches an executable graph, whose mutex the caller holds. If the stream is being captured,
/// returns what the graph that the launch becomes part of must keep: see keep_launched(); null
/// otherwise.
[[nodiscard]] std::shared_ptr<owner::Kept> launch_held(owner::ExecutableBox& box,
                                                       const StreamCall& call,
                                                       const Stream& stream);
/// Makes a captured graph keep what launch_held() returned. Without the mutex of the executable
/// graph: an update takes the lock of a definition first.
void keep_launched(const Stream& stream, std::shared_ptr<owner::Kept> kept);

/// Adds a node that runs after those which `dependencies` lists, during the call on the graph.
GraphNode add_node(const std::shared_ptr<owner::GraphBox>& graph, const GraphWork& given,
                   const std::function<std::vector<CUgraphNode>(const GraphCall&)>& dependencies);

/// Refuses what the driver would refuse, and says why.
/// @throw InvalidValueError, without a code
[[noreturn]] inline void throw_invalid(const std::string& message) {
  throw InvalidValueError(message, 0, {}, {});
}

/// New work in the current context.
[[nodiscard]] std::shared_ptr<GraphWorkBox> new_work(CUgraphNodeType type, std::string name);

/// "kernel", "memset", for messages.
[[nodiscard]] const char* kind_name(CUgraphNodeType type) noexcept;

/// @throw std::invalid_argument if an update would change what kind of node it is.
void require_kind(const GraphNode& node, const GraphWorkBox& work);
/// The value of an attribute of a kernel's work; the default unless it is set.
[[nodiscard]] CUlaunchAttributeValue attribute_of(const GraphWorkBox& work,
                                                  CUlaunchAttributeID id) noexcept;
/// What kernel nodes have. Some drivers and devices know only the first three.
inline constexpr std::array kernel_attributes{
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
    launching::portable_cluster_size_mode,
    launching::shared_memory_mode};
[[nodiscard]] constexpr bool is_known_everywhere(CUlaunchAttributeID id) noexcept {
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY;
}
/// The attributes of a kernel node, `handle`, that have another value in work.
[[nodiscard]] std::vector<CUlaunchAttributeID> changed_attributes(const GraphCall& call,
                                                                  CUgraphNode handle,
                                                                  const owner::NodeBox& node,
                                                                  const GraphWorkBox& work);
/// The attributes that work sets, besides those of the shape.
[[nodiscard]] std::vector<CUlaunchAttributeID> more_attributes(const GraphWorkBox& work);
/// Reads an attribute of a kernel node; returns false if the driver doesn't know it.
[[nodiscard]] bool read_attribute(const GraphCall& call, CUgraphNode node, CUlaunchAttributeID id,
                                  CUlaunchAttributeValue& value);

}  // namespace cudacore
