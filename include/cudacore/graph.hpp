// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <cudacore/stream.hpp>

struct CUgraphExec_st;
using CUgraphExec = CUgraphExec_st*;

namespace cudacore {

namespace owner {
struct ExecutableBox;
}

class GraphDefinition;
class GraphNode;
class GraphWork;

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

}  // namespace cudacore
