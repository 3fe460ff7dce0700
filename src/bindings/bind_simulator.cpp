// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "cudacore/simulator.hpp"

namespace cudacore::bindings {

void bind_simulator(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("simulator_enable", py::arg("devices"), py::arg("major"), py::arg("minor"),
             py::arg("memory"), [](unsigned devices, int major, int minor, std::size_t memory) {
               simulator::enable({devices, major, minor, memory});
             });
  module.def("simulator_reset", [] { simulator::reset(); });
  module.def("simulator_is_enabled", [] { return simulator::is_enabled(); });
  module.def("simulator_library", in_parts,
             [] { return to_str(without_gil([] { return simulator::library(); })); });
}

}  // namespace cudacore::bindings
