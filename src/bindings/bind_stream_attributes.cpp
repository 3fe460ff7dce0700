// SPDX-License-Identifier: Apache-2.0
#include "bindings/instance.hpp"
#include "bindings/later.hpp"
#include "bindings/options.hpp"

namespace cudacore::bindings {
namespace {

constexpr char stream_attributes_made[] = "Stream.attributes";

constexpr long long most_domains = 255;

template <typename E>
py::str show_name(E value) {
  return py::str(name_of(value));
}

}  // namespace

MemSyncDomainMap to_mem_sync_domain_map(py::handle object, const char* what) {
  if (PyTuple_Check(object.ptr()) == 0 && PyList_Check(object.ptr()) == 0) {
    refuse_type(what, "a pair of ints", object);
  }
  const auto pair = checked<py::tuple>(PySequence_Tuple(object.ptr()));
  if (pair.size() != 2) {
    throw py::value_error(std::string(what) + " has 2 domains, not " + std::to_string(pair.size()));
  }
  const auto domain = [&](std::size_t i) {
    const py::object item = pair[i];
    if (!is_index(item)) refuse_type(what, "a pair of ints", item);
    return static_cast<std::uint8_t>(to_int<int>(item, what, {0, most_domains}));
  };
  const std::uint8_t normal = domain(0);
  return {.normal = normal, .remote = domain(1)};
}

void bind_stream_attributes(py::module_& module) {
  make_class("AccessPolicyWindow");
  HeapClass<StreamAttributes>(module, "cudacore.StreamAttributes",
                              refuse_new<stream_attributes_made>)
      .property("access_policy_window", read<&StreamAttributes::access_policy_window>)
      .setter("access_policy_window",
              [](const StreamAttributes& self, py::handle value) {
                const bool is_window = get_if<AccessPolicyWindow>(value.ptr()) != nullptr;
                if (!is_window && !value.is_none() && !is_mapping(value)) {
                  refuse_type("StreamAttributes.access_policy_window",
                              "an AccessPolicyWindow, a mapping of its fields, or None", value);
                }
                return [self, window = to_options<AccessPolicyWindow>(value)] {
                  self.set_access_policy_window(window);
                };
              })
      .property("sync_policy", in_parts,
                [](const StreamAttributes& self) {
                  return show_name(without_gil([self] { return self.sync_policy(); }));
                })
      .setter("sync_policy",
              [](const StreamAttributes& self, py::handle value) {
                return [self, policy = to_enum<SyncPolicy>(value, "StreamAttributes.sync_policy")] {
                  self.set_sync_policy(policy);
                };
              })
      .property("priority", read<&StreamAttributes::priority>)
      .setter("priority",
              [](const StreamAttributes& self, py::handle value) {
                return [self, priority = to_int<int>(value, "StreamAttributes.priority")] {
                  self.set_priority(priority);
                };
              })
      .property("mem_sync_domain", in_parts,
                [](const StreamAttributes& self) {
                  return show_name(without_gil([self] { return self.mem_sync_domain(); }));
                })
      .setter("mem_sync_domain",
              [](const StreamAttributes& self, py::handle value) {
                return [self, domain = to_enum<MemSyncDomain>(value,
                                                              "StreamAttributes.mem_sync_domain")] {
                  self.set_mem_sync_domain(domain);
                };
              })
      .property("mem_sync_domain_map", in_parts,
                [](const StreamAttributes& self) {
                  const MemSyncDomainMap map =
                      without_gil([self] { return self.mem_sync_domain_map(); });
                  return py::make_tuple(map.normal, map.remote);
                })
      .setter("mem_sync_domain_map",
              [](const StreamAttributes& self, py::handle value) {
                return [self, map = to_mem_sync_domain_map(
                                  value, "StreamAttributes.mem_sync_domain_map")] {
                  self.set_mem_sync_domain_map(map);
                };
              })
      .def("copy_from", py::arg("source"),
           [](const StreamAttributes& self, py::handle source) {
             return [self, from = to_stream(source)] { self.copy_from(from); };
           })
      .def("__reduce__", quick, &refuse_pickle)
      .def("__repr__", in_parts, [](const ObjectOf<StreamAttributes>& self) {
        return shown_attributes(self, "StreamAttributes",
                                {"priority", "sync_policy", "access_policy_window",
                                 "mem_sync_domain", "mem_sync_domain_map"});
      });
}

}  // namespace cudacore::bindings
