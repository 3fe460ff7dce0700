// SPDX-License-Identifier: Apache-2.0
#include "bindings/device_object.hpp"
#include "bindings/instance.hpp"
#include "bindings/later.hpp"
#include "bindings/options.hpp"
#include "error/context_box.hpp"

namespace cudacore::bindings {

/// A view of what a context may use.
struct ContextLimits {
  Context context;
};

template <>
Py_hash_t hash_of(const Context& context) noexcept {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(context.box().get()) >> 4U);
}

namespace {

constexpr char how_made[] = "Device.context or Device.create_context()";
constexpr char limits_made[] = "Context.limits";

constexpr std::array limits{
    std::pair{"stack_size", ContextLimit::stack_size},
    std::pair{"printf_fifo_size", ContextLimit::printf_fifo_size},
    std::pair{"malloc_heap_size", ContextLimit::malloc_heap_size},
    std::pair{"dev_runtime_sync_depth", ContextLimit::dev_runtime_sync_depth},
    std::pair{"dev_runtime_pending_launch_count", ContextLimit::dev_runtime_pending_launch_count},
    std::pair{"max_l2_fetch_granularity", ContextLimit::max_l2_fetch_granularity},
    std::pair{"persisting_l2_cache_size", ContextLimit::persisting_l2_cache_size},
};

std::string show_limits(const ContextLimits& self) {
  std::string text = "ContextLimits(";
  std::string_view separator;
  for (const auto& [name, limit] : limits) {
    try {
      const std::size_t value = self.context.limit(limit);
      text += std::string(separator) + name + "=" + std::to_string(value);
      separator = ", ";
    } catch (const NotSupportedError&) {  // the device has no such limit
    }
  }
  return text + ")";
}

/// Only a green context is ours to close.
void close(const ObjectOf<Context>& self) {
  Context closing = self.value();
  without_gil([&closing] { closing.close(); });
  if (closing.is_closed()) close_object<Context>(self.ptr());
}

std::string repr(const Context& self) {
  if (self.is_closed()) return "<Context, closed>";
  return std::string(self.is_green() ? "<green Context" : "<Context") + " of device " +
         std::to_string(self.device().id()) + (self.is_lost() ? ", lost>" : ">");
}

}  // namespace

void bind_context_limits(py::module_& module) {
  HeapClass<ContextLimits> type(module, "cudacore.ContextLimits", refuse_new<limits_made>);
  for (const auto& [name, limit] : limits) {
    type.property(name,
                  [limit = limit](const ContextLimits& self) { return self.context.limit(limit); });
    type.setter(name, [name = name, limit = limit](const ContextLimits& self, py::handle value) {
      const std::size_t number = to_size(value, std::string("ContextLimits.") + name);
      return [context = self.context, limit, number] { context.set_limit(limit, number); };
    });
  }
  type.def("__reduce__", quick, &refuse_pickle).def("__repr__", &show_limits);
}

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
      .property("is_closed", quick, read<&Context::is_closed>)
      .property("limits", in_parts,
                [](const Context& self) {
                  static_cast<void>(self.handle());  // refuses a closed one
                  make_class("ContextLimits");
                  return ContextLimits{self};
                })
      .property("resources", in_parts,
                [](const Context& self) {
                  make_class("DeviceResources");
                  return DeviceResources(self);
                })
      .def("create_stream", py::arg("options") = py::none(),
           [](const Context& self, py::handle options) {
             return [self, chosen = to_options<StreamOptions>(options)] {
               return Stream(self, chosen);
             };
           })
      .def("reset_persisting_l2_cache",
           [](const Context& self) { self.reset_persisting_l2_cache(); })
      .def("close", in_parts, &close)
      .def("sync", [](const Context& self) { self.sync(); })
      .def_identity([](const Context& a, const Context& b) { return a == b; })
      .def("__repr__", quick, &repr);
}

}  // namespace cudacore::bindings
