// SPDX-License-Identifier: Apache-2.0
#include "bindings/device_object.hpp"
#include "bindings/instance.hpp"
#include "bindings/later.hpp"
#include "bindings/options.hpp"

// What options mean is read in Python, by cudacore._device_resources.

namespace cudacore::bindings {
namespace {

constexpr char resources_made[] = "Device.resources, Context.resources or Stream.resources";
constexpr char part_made[] = "DeviceResources.sm or SMResource.split()";
constexpr char queue_made[] = "DeviceResources.workqueue";

py::object read_options(const char* function, py::handle options) {
  return py::module_::import("cudacore._device_resources").attr(function)(options);
}

/// A driver's `unsigned`, which is a number of something.
unsigned to_count(py::handle object, const char* what) {
  constexpr long long most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(to_int<long long>(object, what, {0, most}));
}

py::tuple split(const SMResource& self, py::handle options, bool dry_run) {
  const SMResource whole = self;
  std::vector<SMGroup> groups;
  for (const py::handle item : read_options("split_groups", options)) {
    const auto fields = py::reinterpret_borrow<py::tuple>(item);
    SMGroup& group = groups.emplace_back();
    if (!fields[0].is_none()) group.count = to_count(fields[0], "SMResourceOptions.count");
    if (!fields[1].is_none())
      group.coscheduled = to_count(fields[1], "SMResourceOptions.coscheduled_sm_count");
    if (!fields[2].is_none())
      group.preferred_coscheduled =
          to_count(fields[2], "SMResourceOptions.preferred_coscheduled_sm_count");
    group.backfill = fields[3].ptr() == Py_True;
  }
  const SMResource::Split made = without_gil([&] { return whole.split(groups, dry_run); });
  py::list parts;
  for (const SMResource& part : made.groups) parts.append(part);
  return py::make_tuple(parts, made.remainder);
}

void configure(const WorkqueueResource& self, py::handle options) {
  const WorkqueueResource queue = self;
  const py::tuple given = read_options("workqueue_settings", options);
  std::optional<WorkqueueSharingScope> scope;
  std::optional<unsigned> limit;
  if (!given[0].is_none()) scope = static_cast<WorkqueueSharingScope>(given[0].cast<int>());
  if (!given[1].is_none()) limit = to_count(given[1], "WorkqueueResourceOptions.concurrency_limit");
  queue.configure(scope, limit);
}

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

Context create_green_context(const Device& device, py::handle options) {
  make_class("SMResource");
  ContextOptions given;
  std::size_t index = 0;
  for (const py::handle item : read_options("context_resources", options)) {
    const std::string place = "ContextOptions.resources[" + std::to_string(index++) + "]";
    if (const auto* part = get_if<SMResource>(item.ptr())) {
      given.resources.emplace_back(*part);
    } else if (const auto* queue = get_if<WorkqueueResource>(item.ptr())) {
      given.resources.emplace_back(*queue);
    } else {
      refuse_type(place, "an SMResource or a WorkqueueResource", item,
                  PyList_Check(item.ptr()) != 0 || PyTuple_Check(item.ptr()) != 0
                      ? "; SMResource.split() returns a list of groups and the rest: "
                        "give resources=groups or resources=[groups[0]]"
                      : "");
    }
  }
  return without_gil([device, &given] { return create_context(device, given); });
}

void bind_device_resources(py::module_& module) {
  HeapClass<DeviceResources>(module, "cudacore.DeviceResources", refuse_new<resources_made>)
      .property("sm", read<&DeviceResources::sm>)
      .property("workqueue", read<&DeviceResources::workqueue>)
      .def("__reduce__", quick, &refuse_pickle)
      .def("__repr__", in_parts, [](const ObjectOf<DeviceResources>& self) {
        return shown_attributes(self, "DeviceResources", {"sm", "workqueue"});
      });
  HeapClass<SMResource>(module, "cudacore.SMResource", refuse_new<part_made>)
      .property("handle", quick, [](const SMResource& self) { return address(self.handle()); })
      .property("sm_count", quick, read<&SMResource::sm_count>)
      .property("min_partition_size", quick, read<&SMResource::min_partition_size>)
      .property("coscheduled_alignment", quick, read<&SMResource::coscheduled_alignment>)
      .property("flags", quick, read<&SMResource::flags>)
      .def("split", in_parts, py::arg("options"), py::kw_only(),
           py::arg("dry_run").noconvert() = false, &split)
      .def("__reduce__", quick, &refuse_pickle)
      .def("__repr__", quick, [](const SMResource& self) {
        return "<SMResource, " + std::to_string(self.sm_count()) + " multiprocessors of device " +
               std::to_string(self.device().id()) + ">";
      });
  HeapClass<WorkqueueResource>(module, "cudacore.WorkqueueResource", refuse_new<queue_made>)
      .property("handle", quick,
                [](const WorkqueueResource& self) { return address(self.handle()); })
      .property("sharing_scope", in_parts,
                [](const WorkqueueResource& self) {
                  const py::object scopes =
                      py::module_::import("cudacore.typing").attr("WorkqueueSharingScopeType");
                  return scopes(self.sharing_scope() == WorkqueueSharingScope::device_ctx
                                    ? "device_ctx"
                                    : "green_ctx_balanced");
                })
      .property("concurrency_limit", quick, read<&WorkqueueResource::concurrency_limit>)
      .property("device", quick,
                [](const WorkqueueResource& self) { return device_object(self.device().id()); })
      .def("configure", in_parts, py::arg("options"), &configure)
      .def("__reduce__", quick, &refuse_pickle)
      .def("__repr__", in_parts, [](const ObjectOf<WorkqueueResource>& self) {
        return shown_attributes(self, "WorkqueueResource",
                                {"device", "sharing_scope", "concurrency_limit"});
      });
}

}  // namespace cudacore::bindings
