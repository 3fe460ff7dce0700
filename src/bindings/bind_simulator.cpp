// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <cstddef>
#include <filesystem>

#include "bindings/gil.hpp"
#include "bindings/values.hpp"
#include "cudacore/simulator.hpp"

namespace cudacore::bindings {

void bind_simulator(py::module_& plain) {
  Policied<py::module_> module(plain);
  module.def(
      "simulator_enable",
      [](unsigned devices, int major, int minor, std::size_t memory) {
        simulator::enable({devices, major, minor, memory});
      },
      py::arg("devices"), py::arg("major"), py::arg("minor"), py::arg("memory"),
      "Make the simulated device this process's driver; see cudacore.simulator.enable.");
  module.def(
      "simulator_reset", [] { simulator::reset(); },
      "End all contexts of the simulated device; see cudacore.simulator.reset.");
  module.def(
      "simulator_is_enabled", [] { return simulator::is_enabled(); },
      "Whether the driver in use is the simulated device; see cudacore.simulator.is_enabled.");
  module.def(
      "simulator_library", [] { return to_str(without_gil([] { return simulator::library(); })); },
      in_parts, "Where libcudacore_sim.so lies; see cudacore.simulator.library.");
}

}  // namespace cudacore::bindings
