// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cudacore/graph_work.hpp"
#include "launch/packed_arguments.hpp"
#include "owner/graph_box.hpp"
#include "runtime/context_call.hpp"

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

/// New work in the current context.
[[nodiscard]] std::shared_ptr<GraphWorkBox> new_work(CUgraphNodeType type, std::string name);

/// The work of a kernel whose arguments are packed already, in a context.
/// @throw as launch() for a wrong shape; NotSupportedError for what only streams have.
[[nodiscard]] GraphWork packed_kernel(const std::shared_ptr<error::ContextBox>& context,
                                      const LaunchConfig& config, const Kernel& kernel,
                                      std::unique_ptr<launching::PackedArguments> arguments);

/// @throw std::invalid_argument if an update would change what kind of node it is.
void require_kind(const GraphNode& node, const GraphWorkBox& work);

}  // namespace cudacore
