// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <string>

#include "tile/error.hpp"
#include "tile/generate.hpp"

namespace py = pybind11;
namespace tile = cudacore::tile;

namespace {

tile::Generated generate(const std::string& text, int arch, std::int64_t max_shared,
                         const py::kwargs& hints) {
  tile::Options options;
  options.architecture = arch;
  options.shared_limit = max_shared;
  for (const auto& [key, value] : hints)
    if (!value.is_none()) options.hints[py::cast<std::string>(key)] = py::cast<std::int64_t>(value);
  const py::gil_scoped_release unlocked;
  return tile::generate(text, options);
}

py::dict headers() {
  py::dict result;
  for (const auto& [name, text] : tile::headers()) result[py::str(name)] = text;
  return result;
}

// The class outlives each interpreter's modules, as exceptions may.
py::handle& error_class() {
  static py::handle handle;
  return handle;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const tile::Error& error) {
    const py::object value = error_class()(error.what());
    value.attr("message") = error.what();
    value.attr("file") = error.file.empty() ? py::object(py::none()) : py::str(error.file);
    value.attr("line") = error.line;
    value.attr("column") = error.column;
    value.attr("text_line") = error.text_line;
    PyErr_SetObject(error_class().ptr(), value.ptr());
  }
}

}  // namespace

PYBIND11_MODULE(_tile, module) {
  module.doc() = "Translates the text of tile kernels to CUDA C++.";
  error_class() = PyErr_NewException("cudacore._tile.Error", PyExc_Exception, nullptr);
  module.attr("Error") = error_class();
  py::register_local_exception_translator(&translate);

  py::class_<tile::Generated>(module, "Generated", py::module_local())
      .def_readonly("source", &tile::Generated::source)
      .def_readonly("entry", &tile::Generated::entry)
      .def_readonly("threads", &tile::Generated::threads)
      .def_readonly("shared_bytes", &tile::Generated::shared_bytes);
  module.def("generate", &generate, py::arg("text"), py::kw_only(), py::arg("arch") = 80,
             py::arg("max_shared") = 0);
  module.def("headers", &headers);
}
