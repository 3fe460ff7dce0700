// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "runtime/nvml.hpp"

namespace cudacore::bindings {
namespace {

using system::NvmlValue;

NvmlValue nvml_argument(py::handle value) {
  if (PyUnicode_Check(value.ptr()) != 0) return {value.cast<std::string>()};
  const Index number = to_index(value);
  if (number.fits && number.value < 0) return {static_cast<std::int64_t>(number.value)};
  return {to_int<std::uint64_t>(number.number, "an argument of NVML")};
}

py::object nvml_answer(const NvmlValue& value) {
  return std::visit(
      [](const auto& each) -> py::object {
        using Each = std::remove_cvref_t<decltype(each)>;
        if constexpr (std::is_same_v<Each, std::vector<NvmlValue>>) {
          py::tuple all(each.size());
          for (std::size_t i = 0; i < each.size(); ++i) all[i] = nvml_answer(each[i]);
          return all;
        } else if constexpr (std::is_same_v<Each, std::string>) {
          return foreign_text(each);
        } else {
          return py::cast(each);
        }
      },
      value.of);
}

/// That there is no NVML is one of its results, too.
[[noreturn]] void raise_without_nvml(const LibraryNotFoundError& error) {
  constexpr int library_not_found = 12;
  const auto type = py::module_::import("cudacore.system._exceptions").attr("class_of");
  const py::object raised = type(library_not_found)(foreign_text(error.what()));
  py::list tried;
  for (const std::string& place : error.tried()) tried.append(foreign_text(place));
  raised.attr("code") = library_not_found;
  raised.attr("name") = "";
  raised.attr("function") = "";
  raised.attr("tried") = tried;
  PyErr_SetObject(py::type::of(raised).ptr(), raised.ptr());
  throw py::error_already_set();
}

}  // namespace

void bind_nvml(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("nvml", in_parts, [](const std::string& function, const py::args& given) {
    std::vector<NvmlValue> arguments;
    for (const py::handle each : given) arguments.push_back(nvml_argument(each));
    try {
      return nvml_answer(without_gil([&] { return system::ask_nvml(function, arguments); }));
    } catch (const LibraryNotFoundError& error) {
      raise_without_nvml(error);
    }
  });
}

}  // namespace cudacore::bindings
