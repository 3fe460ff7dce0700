// SPDX-License-Identifier: Apache-2.0
#include "bindings/device_object.hpp"
#include "bindings/options.hpp"
#include "error/context_box.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "Device.context or Device.set_current()";

}  // namespace

void bind_context(py::module_& module) {
  MethodsWithPolicy<py::module_>(module).def("known_contexts", in_parts, [] {
    py::list contexts;
    for (auto& box : without_gil(&error::known_contexts)) {
      contexts.append(Context(std::move(box)));
    }
    return contexts;
  });

  HeapClass<Context>(module, "cudacore.Context", refuse_new<how_made>)
      .property("handle", quick, read<&Context::handle>)
      .property("device", quick,
                [](const Context& self) { return device_object(self.device().id()); })
      .property("is_green", quick, read<&Context::is_green>)
      .property("is_lost", quick, read<&Context::is_lost>)
      .property("is_closed", quick, [](const Context&) { return false; })
      .def("create_stream", py::arg("options") = py::none(),
           [](const Context& self, py::handle options) {
             return [self, chosen = to_options<StreamOptions>(options)] {
               return Stream(self, chosen);
             };
           })
      .def("close", quick, [](const Context&) {})
      .def("sync", [](const Context& self) { self.sync(); })
      .def_equality([](const Context& a, const Context& b) { return a == b; })
      .def("__hash__", quick,
           [](const Context& self) { return std::hash<const void*>{}(self.box().get()); })
      .def("__repr__", quick, [](const Context& self) {
        return "<Context of device " + std::to_string(self.device().id()) +
               (self.is_lost() ? ", lost>" : ">");
      });
}

}  // namespace cudacore::bindings
