// SPDX-License-Identifier: Apache-2.0
#include "bindings/argument.hpp"
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/graph_condition.hpp"
#include "bindings/kept_arguments.hpp"
#include "bindings/launcher.hpp"
#include "error/unraisable.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "the methods of GraphDefinition and GraphNode";

/// The arguments are packed as those of a launch are.
GraphWork kernel_work(py::handle config, const Kernel& given, const py::tuple& args) {
  const LaunchConfig shape = to_launch_config(config);
  const Kernel kernel = given;
  const std::shared_ptr<error::ContextBox> context = error::current_context();
  owner::StreamBox legacy;  // no stream is waited for: the graph is launched later
  legacy.context = context;
  legacy.stream = CU_STREAM_LEGACY;
  LaunchArrays arrays(legacy, context);
  PyObject* const* objects = PySequence_Fast_ITEMS(args.ptr());
  auto packed = std::make_unique<launching::PackedArguments>(
      *kernel.box(), args.size(),
      [&](std::size_t i) { return exact_param(*kernel.box(), i, objects[i]); });
  pack_arguments(*kernel.box(), objects, arrays, *packed);
  Shares shares = keep_arguments(objects, args.size());
  const ReleaseGil release;
  GraphWork work = packed_kernel(context, shape, kernel, std::move(packed));
  for (std::shared_ptr<void>& share : shares) work.keep(std::move(share));
  return work;
}

auto allocate_work(std::size_t size, py::handle device, int type, const py::sequence& peers) {
  GraphAllocation wanted;
  wanted.size = size;
  wanted.type = static_cast<GraphMemoryType>(type);
  if (!device.is_none()) wanted.device = to_device(device).id();
  for (const py::handle peer : peers) wanted.peers.push_back(to_device(peer).id());
  return [wanted] { return GraphWork::allocate(wanted); };
}

GraphWork callback_work(py::function function) {
  const std::shared_ptr<void> kept = keep_alive(std::move(function));
  return GraphWork::callback([kept] { call_from_driver(kept_by(kept), nullptr); });
}

}  // namespace

void bind_graph_work(py::module_& module) {
  HeapClass<GraphWork>(module, "cudacore._GraphWork", refuse_new<how_made>)
      .def_static("kernel", in_parts, py::arg("config"), py::arg("kernel"), py::arg("args"),
                  &kernel_work)
      .def_static("copy", py::arg("dst"), py::arg("src"), py::arg("size"),
                  [](CUdeviceptr destination, CUdeviceptr source, std::size_t size) {
                    return GraphWork::copy(destination, source, size);
                  })
      .def_static("fill", py::arg("dst"), py::arg("value"), py::arg("element_size"),
                  py::arg("width"), py::arg("height"), py::arg("pitch"), &GraphWork::fill)
      .def_static("empty", [] { return GraphWork::empty(); })
      .def_static("record", py::arg("event"),
                  [](const Event& event) { return GraphWork::record(event); })
      .def_static("wait", py::arg("event"),
                  [](const Event& event) { return GraphWork::wait(event); })
      .def_static("callback", in_parts, py::arg("function"), &callback_work)
      .def_static("host_function", py::arg("function"), py::arg("data"),
                  [](std::uintptr_t function, std::uintptr_t data) {
                    return GraphWork::host_function(reinterpret_cast<void (*)(void*)>(function),
                                                    reinterpret_cast<void*>(data));
                  })
      .def_static("child", py::arg("graph"),
                  [](const GraphDefinition& graph) { return GraphWork::child(graph); })
      .def_static("allocate", py::arg("size"), py::arg("device"), py::arg("memory_type"),
                  py::arg("peers"), &allocate_work)
      .def_static("deallocate", py::arg("address"),
                  [](std::uintptr_t address) { return GraphWork::deallocate(address); })
      .def_static("conditional", py::arg("condition"), py::arg("kind"), py::arg("branches"),
                  [](py::handle condition, int kind, std::size_t branches) {
                    return [given = to_condition(condition), kind, branches] {
                      return GraphWork::conditional(given, static_cast<ConditionKind>(kind),
                                                    branches);
                    };
                  })
      .def("keep", quick, py::arg("used"),
           [](GraphWork& self, py::handle used) {
             Shares shares;
             keep_argument(used, shares);
             for (std::shared_ptr<void>& share : shares) self.keep(std::move(share));
           })
      // At once: another thread may close the Buffer at any time.
      .def("keep_buffer", quick, py::arg("buffer"),
           [](GraphWork& self, const ObjectOf<Buffer>& object) -> py::tuple {
             const Buffer buffer = object.value();
             if (buffer.is_closed()) return py::tuple();
             if (!GraphMemoryResource::owns(buffer)) self.keep(buffer.box());
             return py::make_tuple(buffer.handle(), buffer.size());
           })
      .def("keep_operands", quick, py::arg("operands"), [](GraphWork& self, py::object operands) {
        auto& shares = self.box().kept->shares;
        shares.insert(shares.begin(), keep_alive(std::move(operands)));
      });
}

}  // namespace cudacore::bindings
