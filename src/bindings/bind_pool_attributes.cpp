// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "bindings/instance.hpp"
#include "bindings/pool_attributes.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char attributes_made[] = "the attributes of a pool";

template <typename Class>
void add_flag(Class& type, const char* name, PoolAttribute attribute, const char* doc) {
  type.def_property(
      name, [attribute](const PoolAttributes& self) { return self.get(attribute) != 0; },
      [attribute](const PoolAttributes& self, bool value) {
        self.pool->set_attribute(attribute, value ? 1 : 0);
      },
      doc);
}

template <typename Class>
void add_setting(Class& type, const char* name, PoolAttribute attribute, const char* doc) {
  type.def_property(
      name, [attribute](const PoolAttributes& self) { return self.get(attribute); },
      [attribute, name](const PoolAttributes& self, py::handle value) {
        return [pool = self.pool, attribute, number = to_address(value, name)] {
          pool->set_attribute(attribute, number);
        };
      },
      doc);
}

}  // namespace

void bind_pool_attributes(py::module_& module) {
  HeapClass<PoolAttributes> type(module, "cudacore.MemoryPoolAttributes",
                                 "The counters and settings of a memory pool\n"
                                 "(cuMemPoolGetAttribute, cuMemPoolSetAttribute). Sizes in bytes.",
                                 refuse_new<attributes_made>);
  add_flag(type, "reuse_follow_event_dependencies", PoolAttribute::reuse_follow_event_dependencies,
           "bool: Whether freed memory may be used again on a stream that waits for the free.");
  add_flag(type, "reuse_allow_opportunistic", PoolAttribute::reuse_allow_opportunistic,
           "bool: Whether memory whose free has happened may be used again on any stream.");
  add_flag(type, "reuse_allow_internal_dependencies",
           PoolAttribute::reuse_allow_internal_dependencies,
           "bool: Whether the driver may add waits in order to use memory again.");
  add_setting(type, "release_threshold", PoolAttribute::release_threshold,
              "int: How much unused memory is kept at a synchronisation.");
  type.def_property_readonly(
      "reserved_mem_current",
      [](const PoolAttributes& self) { return self.get(PoolAttribute::reserved_mem_current); },
      "int: What the pool holds now.");
  add_setting(type, "reserved_mem_high", PoolAttribute::reserved_mem_high,
              "int: The most it has held; set to 0 to start over.");
  type.def_property_readonly(
      "used_mem_current",
      [](const PoolAttributes& self) { return self.get(PoolAttribute::used_mem_current); },
      "int: What is in use now.");
  add_setting(type, "used_mem_high", PoolAttribute::used_mem_high,
              "int: The most that was in use; set to 0 to start over.");
  type.def("__reduce__", &refuse_pickle, quick);
  type.def("__repr__", [](const PoolAttributes& self) {
    return "<MemoryPoolAttributes, used " +
           std::to_string(self.get(PoolAttribute::used_mem_current)) + " of " +
           std::to_string(self.get(PoolAttribute::reserved_mem_current)) + " bytes>";
  });
}

}  // namespace cudacore::bindings
