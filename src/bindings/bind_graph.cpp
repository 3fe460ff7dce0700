// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include "bindings/conversions.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/graph_condition.hpp"
#include "bindings/recorder.hpp"
#include "owner/graph_box.hpp"

// Graphs. The classes of cudacore.graph, in Python, show a GraphDefinition and its nodes; Graph is
// shown as it is.

namespace cudacore::bindings {

void bind_graph_builder(py::module_& module);
void bind_graph_work(py::module_& module);

template <>
Py_hash_t hash_of(const Graph& graph) noexcept {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(graph.box().get()) >> 4);
}

namespace {

constexpr char how_graph_is_made[] = "GraphDefinition.instantiate()";
constexpr char how_made[] = "cudacore.graph";

PyObject* launch(PyObject* self, const std::array<py::handle, 1>& arguments) {
  const Borrowed<Graph> graph(self);
  const Stream stream = to_stream(arguments[0]);  // a share, which the graph keeps
  require_recorded(stream);
  const ReleaseGil release;
  graph.get().launch(stream);
  Py_RETURN_NONE;
}

auto upload(const Graph& self, py::handle stream) {
  return [graph = Graph(self), queue = to_stream(stream)] { graph.upload(queue); };
}

/// What a builder has built; a ValueError too if that is nothing.
py::object built_by(const GraphBuilder& self) {
  try {
    return py::cast(without_gil([builder = self] { return builder.graph_definition(); }));
  } catch (const std::logic_error& error) {
    raise_as_both(PyExc_ValueError, PyExc_RuntimeError,
                  "Graph.update: " + std::string(error.what()));
  }
}

auto update(const Graph& self, py::handle source) {
  const auto* builder = get_if<GraphBuilder>(source.ptr());
  const py::object shown =
      builder != nullptr ? built_by(*builder) : attribute_or_none(source, "_definition");
  const auto* definition = get_if<GraphDefinition>(shown.ptr());
  if (definition == nullptr) {
    refuse_type("Graph.update: source", "a GraphDefinition or a GraphBuilder", source);
  }
  return [graph = Graph(self), given = GraphDefinition(*definition)] { graph.update(given); };
}

std::vector<GraphNode> to_nodes(const py::sequence& objects) {
  std::vector<GraphNode> nodes;
  for (const py::handle object : objects) nodes.push_back(py::cast<GraphNode>(object));
  return nodes;
}

}  // namespace

void bind_graph(py::module_& module) {
  bind_graph_builder(module);
  bind_graph_work(module);
  HeapClass<GraphNode>(module, "cudacore._GraphNode", refuse_new<how_made>)
      .property("handle", quick, read<&GraphNode::handle>)
      .property("kind", quick, [](const GraphNode& self) { return static_cast<int>(self.kind()); })
      .property(
          "identity", quick,
          [](const GraphNode& self) { return reinterpret_cast<std::uintptr_t>(self.box().get()); })
      .property("graph", quick, read<&GraphNode::graph>)
      .property("is_valid", read<&GraphNode::is_valid>)
      .property("predecessors", read<&GraphNode::predecessors>)
      .property("successors", read<&GraphNode::successors>)
      .property("kernel", read<&GraphNode::kernel>)
      .property("config", read<&GraphNode::config>)
      .property("device_node", read<&GraphNode::device_node>)
      .property("event", read<&GraphNode::event>)
      .property("child_graph", read<&GraphNode::child_graph>)
      .property("copy", in_parts,
                [](const GraphNode& self) {
                  const auto copy = without_gil([node = self] { return node.copy(); });
                  return py::make_tuple(copy.destination, copy.source, copy.size);
                })
      .property("fill", in_parts,
                [](const GraphNode& self) {
                  const auto fill = without_gil([node = self] { return node.fill(); });
                  return py::make_tuple(fill.destination, fill.value, fill.element_size, fill.width,
                                        fill.height, fill.pitch);
                })
      .property("allocation", in_parts,
                [](const GraphNode& self) {
                  const auto told = without_gil([node = self] { return node.allocation(); });
                  return py::make_tuple(told.address, told.size, told.device.value_or(-1),
                                        static_cast<int>(told.type),
                                        py::tuple(py::cast(told.peers)));
                })
      .property("released", read<&GraphNode::released>)
      .property("branches", read<&GraphNode::branches>)
      .property("condition", read<&GraphNode::condition>)
      .property("condition_kind",
                [](const GraphNode& self) -> std::optional<int> {
                  const std::optional<ConditionKind> kind = self.condition_kind();
                  return kind ? std::optional(static_cast<int>(*kind)) : std::nullopt;
                })
      .property("operands", in_parts,
                [](const GraphNode& self) {
                  return kept_object(without_gil([node = self] { return node.first_kept(); }));
                })
      .def("destroy", [](const GraphNode& self) { self.destroy(); })
      .def("update", py::arg("work"),
           [](const GraphNode& self, const GraphWork& work) { self.update(work); });

  HeapClass<GraphDefinition>(module, "cudacore._GraphDefinition", refuse_new<how_made>)
      .def_static("create", [] { return GraphDefinition(); })
      .property(
          "handle",
          [](const GraphDefinition& self) {
            return reinterpret_cast<std::uintptr_t>(self.is_valid() ? self.handle() : nullptr);
          })
      .property("identity", quick,
                [](const GraphDefinition& self) {
                  return reinterpret_cast<std::uintptr_t>(self.box().get());
                })
      .property("is_valid", read<&GraphDefinition::is_valid>)
      .def("add", py::arg("work"), py::arg("after"),
           [](const GraphDefinition& self, const GraphWork& work, const py::sequence& after) {
             return [graph = GraphDefinition(self), given = GraphWork(work),
                     nodes = to_nodes(after)] { return graph.add(given, nodes); };
           })
      .def("create_condition", py::arg("default_value"),
           [](const GraphDefinition& self, py::handle value) {
             return [graph = GraphDefinition(self), chosen = to_condition_value(value)] {
               return graph.create_condition(chosen);
             };
           })
      .def("nodes", [](const GraphDefinition& self) { return self.nodes(); })
      .def("node_count", [](const GraphDefinition& self) { return self.node_count(); })
      .def("edges", [](const GraphDefinition& self) { return self.edges(); })
      .def("add_edge", py::arg("from_"), py::arg("to"),
           [](const GraphDefinition& self, const GraphNode& from, const GraphNode& to) {
             self.add_edge(from, to);
           })
      .def("remove_edge", py::arg("from_"), py::arg("to"),
           [](const GraphDefinition& self, const GraphNode& from, const GraphNode& to) {
             self.remove_edge(from, to);
           })
      .def("instantiate", py::arg("auto_free_on_launch"), py::arg("upload_stream"),
           py::arg("device_launch"), py::arg("use_node_priority"),
           [](const GraphDefinition& self, bool auto_free, py::handle upload_stream,
              bool device_launch, bool use_node_priority) {
             GraphCompleteOptions options;
             options.auto_free_on_launch = auto_free;
             options.upload_stream = to_optional_stream(upload_stream);
             options.device_launch = device_launch;
             options.use_node_priority = use_node_priority;
             return [graph = GraphDefinition(self), options] { return graph.instantiate(options); };
           })
      .def("write_dot", py::arg("path"), py::arg("flags"),
           [](const GraphDefinition& self, py::handle path, unsigned flags) {
             return [graph = GraphDefinition(self), file = to_path(path).string(), flags] {
               graph.write_dot(file, flags);
             };
           });

  HeapClass<Graph>(module, "cudacore.graph.Graph", refuse_new<how_graph_is_made>)
      .def_fast(fast_method<"Graph.launch($self, stream=None)", &launch>)
      .def("upload", py::arg("stream") = py::none(), &upload)
      .def("update", py::arg("source"), &update)
      .def("__getitem__", in_parts, py::arg("node"),
           [](const ObjectOf<Graph>& self, py::handle node) {
             return py::module_::import("cudacore.graph").attr("ExecutableNode")(self, node);
           })
      .def("close", in_parts, [](const ObjectOf<Graph>& self) { close_object<Graph>(self.ptr()); })
      .property("is_closed", quick, read<&Graph::is_closed>)
      .property("handle", quick, read<&Graph::handle>)
      .def("_update_node", py::arg("node"), py::arg("work"),
           [](const Graph& self, const GraphNode& node, const GraphWork& work) {
             self.update(node, work);
           })
      .def("_set_enabled", py::arg("node"), py::arg("enabled"),
           [](const Graph& self, const GraphNode& node, bool enabled) {
             self.set_enabled(node, enabled);
           })
      .def("_is_enabled", py::arg("node"),
           [](const Graph& self, const GraphNode& node) { return self.is_enabled(node); })
      .def_identity([](const Graph& a, const Graph& b) { return a.box() == b.box(); })
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<Graph>& self, const py::args&) { close_object<Graph>(self.ptr()); })
      .def("__repr__", quick, [](const Graph& self) {
        return self.is_closed() ? std::string("<Graph, closed>")
                                : "<Graph: " + std::string(self.box()->interned_name) + ">";
      });
}

}  // namespace cudacore::bindings
