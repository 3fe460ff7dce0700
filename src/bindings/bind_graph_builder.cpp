// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "bindings/conversions.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/graph_condition.hpp"
#include "bindings/options.hpp"
#include "error/describe.hpp"

// GraphBuilder and GraphCondition. The graph that a builder makes is shown by the classes of
// cudacore.graph, in Python.

namespace cudacore::bindings {

namespace {

constexpr char how_builder_is_made[] =
    "Device.create_graph_builder() or Stream.create_graph_builder()";
constexpr char how_condition_is_made[] = "create_condition() of a GraphDefinition or GraphBuilder";

using BuilderObject = ObjectOf<GraphBuilder>;

/// What cudacore.graph shows of the graph.
py::object definition(const GraphBuilder& self) {
  const GraphDefinition built =
      without_gil([builder = self] { return builder.graph_definition(); });
  return py::module_::import("cudacore.graph._definition").attr("show_definition")(built);
}

/// The Python object of the builder among the given ones, or a new one.
py::object same_object(const GraphBuilder& builder, const py::args& among) {
  for (const py::handle one : among) {
    if (get_if<GraphBuilder>(one.ptr())->box() == builder.box()) {
      return py::reinterpret_borrow<py::object>(one);
    }
  }
  return py::cast(builder);
}

const GraphBuilder& to_builder(py::handle object, const char* what) {
  const auto* builder = get_if<GraphBuilder>(object.ptr());
  if (builder == nullptr) refuse_type(what, "a GraphBuilder", object);
  return *builder;
}

py::object begin(const BuilderObject& self, py::handle mode) {
  const GraphBuilder builder = self.value();
  without_gil([builder, chosen = to_enum<CaptureMode>(mode, "GraphBuilder.begin_building: mode")] {
    builder.begin_building(chosen);
  });
  return self;
}

std::size_t to_count(py::handle object, const char* what) {
  constexpr long long most = 1U << 20U;
  return static_cast<std::size_t>(to_int<long long>(object, what, {1, most}));
}

py::tuple to_tuple(const std::vector<GraphBuilder>& builders) {
  py::tuple made(builders.size());
  for (std::size_t i = 0; i < builders.size(); ++i) made[i] = py::cast(builders[i]);
  return made;
}

py::object split(const BuilderObject& self, py::handle count) {
  const std::size_t wanted = to_count(count, "GraphBuilder.split: count");
  const auto builders =
      without_gil([builder = self.value(), wanted] { return builder.split(wanted); });
  py::tuple made = to_tuple(builders);
  made[0] = self;
  return made;
}

py::object join(const py::args& given) {
  std::vector<GraphBuilder> builders;
  for (const py::handle one : given) {
    builders.push_back(to_builder(one, "GraphBuilder.join: every argument"));
  }
  const GraphBuilder kept = without_gil([builders] { return GraphBuilder::join(builders); });
  return same_object(kept, given);
}

auto embed(const GraphBuilder& self, py::handle child) {
  const py::object shown_graph = attribute_or_none(child, "_definition");
  const auto* graph = get_if<GraphDefinition>(shown_graph.ptr());
  if (graph == nullptr) {
    refuse_type("GraphBuilder.embed: child", "a GraphBuilder or a GraphDefinition", child);
  }
  return [builder = GraphBuilder(self), given = GraphDefinition(*graph)] {
    builder.add(GraphWork::child(given));
  };
}

auto callback(const GraphBuilder& self, py::handle function, py::handle user_data) {
  const py::object work =
      py::module_::import("cudacore.graph._work").attr("callback")(function, user_data);
  return [builder = GraphBuilder(self), given = py::cast<GraphWork>(work)] { builder.add(given); };
}

auto create_condition(const GraphBuilder& self, py::handle value) {
  return [builder = GraphBuilder(self), chosen = to_condition_value(value)] {
    return builder.create_condition(chosen);
  };
}

/// Warns if nothing was captured: then the work most likely ran on another stream.
py::object complete(const GraphBuilder& self, py::handle options) {
  if (without_gil([builder = self] { return builder.graph_definition().node_count(); }) == 0) {
    constexpr const char* text =
        "this capture has no nodes: nothing was queued on its stream; launch on the current "
        "stream, or on the builder: launch(builder, ...)";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text, 1) != 0) throw py::error_already_set();
  }
  return definition(self).attr("instantiate")(options);
}

destructor deallocate_builder = nullptr;  ///< as for all classes

/// Warns if the last share of a builder is dropped while it captures.
void deallocate_with_warning(PyObject* self) {
  const GraphBuilder& builder = *get_if<GraphBuilder>(self);
  if (builder.has_begun() && !builder.is_join_required() && builder.box().use_count() == 1) {
    const py::error_scope kept_error;
    const int failed = PyErr_ResourceWarning(
        nullptr, 1,
        "a GraphBuilder was dropped while building; what it captured is lost: call end_building() "
        "and complete()");
    if (failed != 0) PyErr_WriteUnraisable(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  }
  deallocate_builder(self);
}

py::object enter(const BuilderObject& self) {
  const GraphBuilder builder = self.value();
  without_gil([builder] {
    if (!builder.is_building()) builder.begin_building();
  });
  enter_stream(py::reinterpret_borrow<ObjectOf<Stream>>(
                   py::cast(without_gil([builder] { return builder.stream(); }))),
               builder.box().get());
  return self;
}

void leave(const BuilderObject& self, const py::args& raised) {
  const GraphBuilder builder = self.value();
  leave_stream(builder.box().get(), "GraphBuilder.__exit__");
  const bool failed = !raised.empty() && !raised[0].is_none();
  without_gil([builder, failed] {
    if (failed) {
      if (!builder.is_join_required()) builder.close();
    } else if (!builder.is_join_required() && builder.has_begun()) {
      builder.end_building();
    }
  });
}

}  // namespace

std::optional<unsigned> to_condition_value(py::handle value) {
  if (value.is_none()) return std::nullopt;
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True ? 1U : 0U;
  return to_int<unsigned>(value, "create_condition: default_value");
}

GraphCondition to_condition(py::handle object) {
  const auto* condition = get_if<GraphCondition>(object.ptr());
  if (condition == nullptr) {
    refuse_type("condition", "a GraphCondition", object,
                "; create_condition() of the builder or definition makes one");
  }
  return *condition;
}

void bind_graph_builder(py::module_& module) {
  HeapClass<GraphCondition>(module, "cudacore.graph.GraphCondition",
                            refuse_new<how_condition_is_made>)
      .property("handle", quick, read<&GraphCondition::handle>)
      .def("__index__", quick, [](const GraphCondition& self) { return self.handle(); })
      .def("__bool__", quick,
           [](const GraphCondition& /*self*/) -> bool {
             throw py::type_error(
                 "only the device knows a condition: builder.if_then(condition), and its like, "
                 "choose "
                 "what runs");
           })
      .def_equality([](const GraphCondition& a, const GraphCondition& b) { return a == b; })
      .def("__hash__", quick, [](const GraphCondition& self) { return self.handle(); })
      .def("__repr__", quick, [](const GraphCondition& self) {
        return "<GraphCondition " + std::to_string(self.handle()) + ">";
      });

  HeapClass<GraphBuilder> type(module, "cudacore.graph.GraphBuilder",
                               refuse_new<how_builder_is_made>);
  deallocate_builder = std::exchange(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_dealloc,
                                     &deallocate_with_warning);
  type.property("stream", read<&GraphBuilder::stream>)
      .property("is_building", read<&GraphBuilder::is_building>)
      .property("is_join_required", quick, read<&GraphBuilder::is_join_required>)
      .property("graph_definition", in_parts, &definition)
      .property("_definition", read<&GraphBuilder::graph_definition>)
      .def("begin_building", in_parts, py::arg("mode") = "relaxed", &begin)
      .def("end_building", in_parts,
           [](const BuilderObject& self) -> py::object {
             without_gil([builder = self.value()] { builder.end_building(); });
             return self;
           })
      .def("complete", in_parts, py::arg("options") = py::none(), &complete)
      .def("debug_dot_print", in_parts, py::arg("path"), py::arg("options") = py::none(),
           [](const GraphBuilder& self, py::handle path, py::handle options) {
             definition(self).attr("debug_dot_print")(path, options);
           })
      .def("split", in_parts, py::arg("count"), &split)
      .def_static("join", in_parts, &join)
      .def("embed", py::arg("child"), &embed)
      .def("callback", py::arg("fn"), py::kw_only(), py::arg("user_data") = py::none(), &callback)
      .def("create_condition", py::arg("default_value") = py::none(), &create_condition)
      .def("if_then", in_parts, py::arg("condition"),
           [](const GraphBuilder& self, py::handle condition) {
             return without_gil([builder = GraphBuilder(self), given = to_condition(condition)] {
               return builder.if_then(given);
             });
           })
      .def("if_else", in_parts, py::arg("condition"),
           [](const GraphBuilder& self, py::handle condition) {
             return without_gil([builder = GraphBuilder(self), given = to_condition(condition)] {
               return builder.if_else(given);
             });
           })
      .def("while_loop", in_parts, py::arg("condition"),
           [](const GraphBuilder& self, py::handle condition) {
             return without_gil([builder = GraphBuilder(self), given = to_condition(condition)] {
               return builder.while_loop(given);
             });
           })
      .def("switch", in_parts, py::arg("condition"), py::arg("count"),
           [](const GraphBuilder& self, py::handle condition, py::handle count) {
             const std::size_t wanted = to_count(count, "GraphBuilder.switch: count");
             return to_tuple(
                 without_gil([builder = GraphBuilder(self), given = to_condition(condition),
                              wanted] { return builder.switch_on(given, wanted); }));
           })
      .def("close", [](const GraphBuilder& self) { self.close(); })
      .def("__cuda_stream__", in_parts,
           [](const GraphBuilder& self) {
             const Stream stream = without_gil([builder = self] { return builder.stream(); });
             return py::make_tuple(0, reinterpret_cast<std::uintptr_t>(stream.handle()));
           })
      .def("__enter__", in_parts, &enter)
      .def("__exit__", in_parts, &leave)
      .def_equality([](const GraphBuilder& a, const GraphBuilder& b) { return a.box() == b.box(); })
      .def("__hash__", quick,
           [](const GraphBuilder& self) {
             return reinterpret_cast<std::uintptr_t>(self.box().get()) >> 4;
           })
      .def("__repr__", quick, [](const GraphBuilder& self) {
        return "<GraphBuilder, " + std::string(self.state()) + ", at " +
               error::format_address(self.box().get()) + ">";
      });
}

}  // namespace cudacore::bindings
