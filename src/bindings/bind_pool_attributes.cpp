// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/instance.hpp"
#include "bindings/pool_attributes.hpp"

namespace cudacore::bindings {
namespace {

constexpr char attributes_made[] = "the attributes of a pool";

template <typename Class>
void add_flag(Class& type, const char* name, PoolAttribute attribute) {
  type.property(name, [attribute](const PoolAttributes& self) { return self.get(attribute) != 0; });
  type.setter(name, [attribute, name](const PoolAttributes& self, py::handle value) {
    return [pool = self.pool, attribute,
            flag = to_bool(value, std::string("MemoryPoolAttributes.") + name)] {
      pool->set_attribute(attribute, flag ? 1 : 0);
    };
  });
}

template <typename Class>
void add_setting(Class& type, const char* name, PoolAttribute attribute) {
  type.property(name, [attribute](const PoolAttributes& self) { return self.get(attribute); });
  type.setter(name, [attribute, name](const PoolAttributes& self, py::handle value) {
    return [pool = self.pool, attribute,
            number = to_int<std::uint64_t>(value, std::string("MemoryPoolAttributes.") + name)] {
      pool->set_attribute(attribute, number);
    };
  });
}

}  // namespace

void bind_pool_attributes(py::module_& module) {
  HeapClass<PoolAttributes> type(module, "cudacore.MemoryPoolAttributes",
                                 refuse_new<attributes_made>);
  add_flag(type, "reuse_follow_event_dependencies", PoolAttribute::reuse_follow_event_dependencies);
  add_flag(type, "reuse_allow_opportunistic", PoolAttribute::reuse_allow_opportunistic);
  add_flag(type, "reuse_allow_internal_dependencies",
           PoolAttribute::reuse_allow_internal_dependencies);
  add_setting(type, "release_threshold", PoolAttribute::release_threshold);
  type.property("reserved_mem_current", [](const PoolAttributes& self) {
    return self.get(PoolAttribute::reserved_mem_current);
  });
  add_setting(type, "reserved_mem_high", PoolAttribute::reserved_mem_high);
  type.property("used_mem_current", [](const PoolAttributes& self) {
    return self.get(PoolAttribute::used_mem_current);
  });
  add_setting(type, "used_mem_high", PoolAttribute::used_mem_high);
  type.def("__reduce__", quick, &refuse_pickle);
  type.def("__repr__", [](const PoolAttributes& self) {
    const auto flag = [&](const char* name, PoolAttribute attribute) {
      return name + std::string(self.get(attribute) != 0 ? "True" : "False");
    };
    const auto number = [&](const char* name, PoolAttribute attribute) {
      return name + std::to_string(self.get(attribute));
    };
    return flag("MemoryPoolAttributes(reuse_follow_event_dependencies=",
                PoolAttribute::reuse_follow_event_dependencies) +
           flag(", reuse_allow_opportunistic=", PoolAttribute::reuse_allow_opportunistic) +
           flag(", reuse_allow_internal_dependencies=",
                PoolAttribute::reuse_allow_internal_dependencies) +
           number(", release_threshold=", PoolAttribute::release_threshold) +
           number(", reserved_mem_current=", PoolAttribute::reserved_mem_current) +
           number(", reserved_mem_high=", PoolAttribute::reserved_mem_high) +
           number(", used_mem_current=", PoolAttribute::used_mem_current) +
           number(", used_mem_high=", PoolAttribute::used_mem_high) + ")";
  });
}

}  // namespace cudacore::bindings
