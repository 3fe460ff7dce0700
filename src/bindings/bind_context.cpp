// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bindings/gil.hpp"
#include "bindings/options.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] = "Device.context or Device.set_current()";

}  // namespace

void bind_context(py::module_& module) {
  HeapClass<Context>(
      module, "cudacore.Context",
      "A CUDA context: the state of one device in this process.\n\n"
      "The primary context of a device is retained once, on first use, and shared with\n"
      "every library that uses the CUDA runtime. A context of another library is\n"
      "borrowed, never destroyed.",
      refuse_new<how_made>)
      .def_property_readonly("handle", read<&Context::handle>, quick, "int: The CUcontext.")
      .def_property_readonly(
          "device", [](const Context& self) { return device_object(self.device().id()); }, quick,
          "Device: The device it belongs to.")
      .def_property_readonly(
          "is_green", read<&Context::is_green>, quick,
          "bool: Whether it has only part of the device's multiprocessors; always False.")
      .def_property_readonly(
          "is_lost", read<&Context::is_lost>, quick,
          "bool: Whether a kernel's failure has made it unusable; see `ContextLostError`.")
      .def_property_readonly(
          "is_closed", [](const Context&) { return false; }, quick,
          "bool: Always False: a primary context lives as long as the process.")
      .def(
          "create_stream",
          [](const Context& self, py::handle options) {
            return [self, chosen = to_options<StreamOptions>(options)] {
              return Stream(self, chosen);
            };
          },
          py::arg("options") = py::none(),
          "Makes a stream of this context (cuStreamCreateWithPriority).\n\n"
          "Parameters\n----------\noptions : StreamOptions, dict or None\n\n"
          "Returns\n-------\nStream")
      .def(
          "close", [](const Context&) {}, quick,
          "Does nothing: primary and borrowed contexts are not this object's to destroy.")
      .def(
          "sync", [](const Context& self) { self.sync(); },
          "Waits for all work of the context (cuCtxSynchronize); answers Ctrl-C.")
      .def_equality([](const Context& a, const Context& b) { return a == b; })
      .def(
          "__hash__",
          [](const Context& self) { return std::hash<const void*>{}(self.box().get()); }, quick)
      .def(
          "__repr__",
          [](const Context& self) {
            return "<Context of device " + std::to_string(self.device().id()) +
                   (self.is_lost() ? ", lost>" : ">");
          },
          quick);
}

}  // namespace cudacore::bindings
