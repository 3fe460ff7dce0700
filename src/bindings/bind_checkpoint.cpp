// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "bindings/conversions.hpp"
#include "cudacore/checkpoint.hpp"

namespace cudacore::bindings {

using checkpoint::Process;

void bind_checkpoint(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("checkpoint_state", py::arg("pid"),
             [](int pid) { return static_cast<int>(Process(pid).state()); });
  module.def("checkpoint_restore_thread_id", py::arg("pid"),
             [](int pid) { return Process(pid).restore_thread_id(); });
  module.def("checkpoint_lock", py::arg("pid"), py::arg("timeout_ms"),
             [](int pid, unsigned timeout_ms) { Process(pid).lock(timeout_ms); });
  module.def("checkpoint_checkpoint", py::arg("pid"), [](int pid) { Process(pid).checkpoint(); });
  module.def("checkpoint_restore", py::arg("pid"), py::arg("pairs"),
             [](int pid, const std::string& pairs) {
               using checkpoint::DevicePair;
               std::vector<DevicePair> devices(pairs.size() / sizeof(DevicePair));
               if (devices.size() * sizeof(DevicePair) != pairs.size()) {
                 throw std::invalid_argument("checkpoint_restore: pairs of uuids have 32 bytes");
               }
               if (!devices.empty()) std::memcpy(devices.data(), pairs.data(), pairs.size());
               Process(pid).restore(devices);
             });
  module.def("checkpoint_unlock", py::arg("pid"), [](int pid) { Process(pid).unlock(); });
}

}  // namespace cudacore::bindings
