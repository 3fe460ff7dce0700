// SPDX-License-Identifier: Apache-2.0
//
// A drawing of a graph, in the language of Graphviz.
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>

#include "simulator/api/graph/graph.hpp"

using namespace cudacore::simulator;

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// Nodes are named by their graph and their place in it.
class Drawing {
 public:
  explicit Drawing(unsigned flags)
      : handles_((flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) !=
                 0) {}

  /// Draws a graph and the graphs in it.
  void draw(const Graph& graph) {
    const std::string prefix = "graph_" + std::to_string(++graphs_);
    text += "subgraph cluster_" + prefix + " {\nlabel=\"" + prefix + "\"\n";
    std::size_t number = 0;
    for (const auto& node : graph.nodes) {
      const std::string name = prefix + "_node_" + std::to_string(number);
      names_[node.get()] = name;
      std::string label = std::to_string(number) + ": " + node->action->text();
      if (handles_) label += " " + handle_of(*node);
      text += "\"" + name + "\" [label=\"" + escaped(label) + "\"]\n";
      ++number;
      for (const auto& body : node->bodies) draw(*body);
    }
    for (const auto& node : graph.nodes) {
      for (const GraphEdge& edge : node->dependents) {
        text += "\"" + names_.at(node.get()) + "\" -> \"" + names_.at(edge.node) + "\"";
        if (edge.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) text += " [style=dashed]";
        text += "\n";
      }
    }
    text += "}\n";
  }

  std::string text;

 private:
  static std::string handle_of(const GraphNode& node) {
    std::string digits(20, '\0');
    const int length =
        std::snprintf(digits.data(), digits.size(), "%p", static_cast<const void*>(node.handle));
    digits.resize(static_cast<std::size_t>(length));
    return digits;
  }

  bool handles_;
  unsigned graphs_ = 0;
  std::unordered_map<const GraphNode*, std::string> names_;
};

}  // namespace

extern "C" CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned flags) {
  return graph_call(handle, [&](const Graph& graph) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Drawing drawing(flags);
    drawing.text = "digraph dot {\n";
    drawing.draw(graph);
    drawing.text += "}\n";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
    if (file == nullptr || std::fwrite(drawing.text.data(), 1, drawing.text.size(), file.get()) !=
                               drawing.text.size()) {
      return refuse(CUDA_ERROR_OPERATING_SYSTEM, "the file can't be written");
    }
    return CUDA_SUCCESS;
  });
}
