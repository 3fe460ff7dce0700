// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bindings/code_objects.hpp"
#include "bindings/errors.hpp"
#include "bindings/gil.hpp"
#include "bindings/keywords.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] =
    "Program.compile(), Linker.link() or ObjectCode.from_cubin() and its like";

py::bytes to_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> copy_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> copy_buffer(py::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&view, &PyBuffer_Release);
  return copy_bytes({static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len)});
}

/// OSError picks its subclass, such as FileNotFoundError, by the number.
[[noreturn]] void raise_os_error(const std::filesystem::filesystem_error& error) {
  const py::handle type(PyExc_OSError);
  const py::object instance =
      type(error.code().value(), error.code().message(), to_str(error.path1()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
  throw py::error_already_set();
}

std::map<std::string, std::string> to_symbol_mapping(py::handle object) {
  std::map<std::string, std::string> mapping;
  if (object.is_none()) return mapping;
  if (!is_mapping(object)) {
    throw py::type_error("symbol_mapping must be a mapping of names to symbols or None, not " +
                         type_name(object));
  }
  for (const auto& [key, value] : py::dict(py::reinterpret_borrow<py::object>(object))) {
    mapping[to_name(key, "a name in symbol_mapping")] =
        to_name(value, "a symbol in symbol_mapping");
  }
  return mapping;
}

ObjectCode load(py::handle module, CodeType type, ObjectCode::Details details) {
  const bool is_text = py::isinstance<py::str>(module);
  if (is_text && type == CodeType::ptx) {
    if (auto text = module.cast<std::string>(); text.find('\n') != std::string::npos) {
      return {copy_bytes(text), type, std::move(details)};
    }
  }
  if (is_text || !attribute_or_none(module, "__fspath__").is_none()) {
    const std::filesystem::path path = to_path(module);
    try {
      const ReleaseGil release;
      return ObjectCode::from_file(path, type, std::move(details));
    } catch (const std::filesystem::filesystem_error& error) {
      raise_os_error(error);
    }
  }
  if (PyObject_CheckBuffer(module.ptr()) == 0) {
    throw py::type_error("module must be bytes, or the path of a file (str or os.PathLike), not " +
                         type_name(module));
  }
  return {copy_buffer(module), type, std::move(details)};
}

/// The body of from_cubin() and its like. Not a pybind11 function, whose complaint about a wrong
/// call shows every argument: here the whole code.
template <CodeType type>
PyObject* from(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    static const std::string function = "ObjectCode.from_" + std::string(to_string(type));
    constexpr std::array<const char*, 3> keywords = {"module", "name", "symbol_mapping"};
    std::array<py::handle, 3> values = {py::handle(), Py_None, Py_None};
    parse_keywords(function.c_str(), keywords, values, 1, args, count, names);
    const auto& [module, name, symbol_mapping] = values;
    if (!module) throw py::type_error(function + " needs the argument 'module'");
    ObjectCode::Details details;
    if (!name.is_none()) details.name = to_name(name, "name");
    details.symbol_mapping = to_symbol_mapping(symbol_mapping);
    return make_object<ObjectCode>(load(module, type, std::move(details)));
  });
}

/// What kernels() gives, without the GIL: a large cubin takes a while to read.
const std::vector<KernelEntry>& read_kernels(const ObjectCode& self) {
  const ReleaseGil release;
  return self.kernels();
}

/// The name that finds this entry and no other: with its parameters where it is overloaded.
std::string unique_name(const std::vector<KernelEntry>& entries, const KernelEntry& entry) {
  const auto count = std::count_if(entries.begin(), entries.end(), [&](const KernelEntry& other) {
    return other.name == entry.name;
  });
  if (count == 1) return entry.name;
  std::string name = entry.name + "(";
  std::string_view separator;
  for (const Param& param : entry.signature.params) {
    name += std::string(separator) + param.type;
    separator = ", ";
  }
  return name + ")";
}

py::tuple kernel_names(const ObjectCode& self) {
  const std::vector<KernelEntry>& entries = read_kernels(self);
  py::tuple names(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    names[i] = py::str(unique_name(entries, entries[i]));
  }
  return names;
}

std::string repr(const ObjectCode& self) {
  std::string content = std::to_string(self.code().size()) + " bytes";
  if (self.code_type() == CodeType::ptx || self.code_type() == CodeType::cubin) {
    try {
      const std::size_t count = read_kernels(self).size();
      content = std::to_string(count) + (count == 1 ? " kernel" : " kernels");
    } catch (const std::invalid_argument&) {
      content += ", unreadable";
    }
  }
  const std::string name = self.name().empty() ? "" : "'" + self.name() + "' ";
  return "<ObjectCode " + name + std::string(to_string(self.code_type())) + ", " + content + ">";
}

Kernel get_kernel(const ObjectCode& self, const py::object& name, const py::object& signature) {
  return runtime_error_too([&] {
    return without_gil(
        [self, text = to_name(name, "name"),
         declared = signature.is_none() ? std::nullopt : std::optional(to_signature(signature))] {
          const Kernel kernel = self.get_kernel(text);
          return declared ? kernel.with_signature(*declared) : kernel;
        });
  });
}

/// The names and types of the parameters, in place of the source that tells them.
std::vector<KernelEntry> kernels_without_source(const ObjectCode& self) {
  if (self.code_type() == CodeType::ptx || self.code_type() == CodeType::cubin) {
    try {
      return read_kernels(self);
    } catch (const std::invalid_argument&) {  // damaged: whoever unpickles it is told
    }
  }
  return self.details().known_kernels;
}

/// What a pickle holds: all but the loaded library and, unless asked for, the source.
py::tuple state_of(const ObjectCode& self) {
  const ObjectCode::Details& details = self.details();
  const bool has_source = self.shares_source();
  py::dict mapping;
  for (const auto& [name, symbol] : details.symbol_mapping) {
    mapping[py::str(name)] = py::str(symbol);
  }
  py::list kernels;
  for (const KernelEntry& entry :
       has_source ? details.known_kernels : kernels_without_source(self)) {
    kernels.append(py::make_tuple(entry.symbol, entry.name, py::cast(Signature(entry.signature))));
  }
  return py::make_tuple(to_bytes(self.code()), to_string(self.code_type()), details.name, mapping,
                        details.ptx, has_source ? details.source : std::string(), kernels);
}

/// What pickles call; pickle finds only functions that belong to their module.
PyObject* rebuild(PyObject* /*module*/, PyObject* args) {
  return guarded([&] {
    const auto values = py::reinterpret_borrow<py::tuple>(args);
    if (values.size() != 7) {
      throw py::value_error("a pickled ObjectCode has 7 values, not " +
                            std::to_string(values.size()));
    }
    ObjectCode::Details details;
    details.name = values[2].cast<std::string>();
    details.symbol_mapping = to_symbol_mapping(values[3]);
    details.ptx = values[4].cast<std::string>();
    details.source = values[5].cast<std::string>();
    for (const py::handle item : values[6]) {
      const auto entry = item.cast<py::tuple>();
      details.known_kernels.push_back(
          {entry[0].cast<std::string>(), entry[1].cast<std::string>(), entry[2].cast<Signature>()});
    }
    return make_object<ObjectCode>(ObjectCode(
        copy_buffer(values[0]), to_code_type(values[1], "code_type"), std::move(details)));
  });
}

PyMethodDef rebuild_functions[] = {
    {"_rebuild_object_code", &rebuild, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

/// load(path, *, name="", symbol_mapping=None)
ObjectCode load_file(const py::object& path, const py::object& name,
                     const py::object& symbol_mapping) {
  const std::filesystem::path file = to_path(path);
  ObjectCode::Details details;
  details.name = to_name(name, "name");
  details.symbol_mapping = to_symbol_mapping(symbol_mapping);
  try {
    const ReleaseGil release;
    return ObjectCode::load(file, std::move(details));
  } catch (const std::filesystem::filesystem_error& error) {
    raise_os_error(error);
  }
}

void save_file(const ObjectCode& self, const py::object& path) {
  const std::filesystem::path file = to_path(path);
  const ObjectCode code = self;
  try {
    const ReleaseGil release;
    code.save(file);
  } catch (const std::filesystem::filesystem_error& error) {
    raise_os_error(error);
  }
}

std::string from_doc(const char* name, std::string_view what, std::string_view more) {
  // The first two lines are what inspect.signature() reads; Python leaves them out of __doc__.
  return std::string(name) + "(module, *, name='', symbol_mapping=None)\n--\n\nTakes " +
         std::string(what) + " made elsewhere.\n\n" + std::string(more) +
         "Parameters\n----------\n"
         "module : bytes, str or os.PathLike\n"
         "    The code, in bytes or another buffer, or the path of a file that holds it.\n"
         "name : str, default \"\"\n"
         "    What messages call it; the file's name where empty.\n"
         "symbol_mapping : mapping of str to str, optional\n"
         "    Other names for symbols: `get_kernel` and `get_global` look here first.\n\n"
         "Returns\n-------\nObjectCode\n\n"
         "Raises\n------\n"
         "OSError\n    The file cannot be read.\n"
         "ValueError\n    There is no code in it.\n"
         "TypeError\n    An argument has the wrong type.";
}

constexpr char ptx_text_note[] =
    "A str with a line break in it is the PTX itself, any other str a path.\n\n";

constexpr char class_doc[] =
    "Compiled code: the bytes, the names in them, and the library loaded from them.\n\n"
    "Made by `Program.compile`, `Linker.link`, or from code made elsewhere by `from_cubin` and "
    "its\n"
    "like. The code is loaded into the driver when a kernel or a variable is first asked for\n"
    "(cuLibraryLoadData), and unloaded when the object, its kernels and its variables are gone;\n"
    "all else works without a driver. Objects can be pickled, without the source unless\n"
    "`pickle_source` is set; equal objects share one library.\n\n"
    "Examples\n--------\n"
    ">>> source = \"__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }\"\n"
    ">>> options = cudacore.ProgramOptions(arch=\"sm_90\", name=\"scale\")\n"
    ">>> code = cudacore.Program(source, \"c++\", options).compile(\"cubin\")\n"
    ">>> code\n"
    "<ObjectCode 'scale' cubin, 1 kernel>\n"
    ">>> code.kernels\n"
    "('scale',)\n"
    ">>> print(code.signature(\"scale\"))\n"
    "scale(float* x, float a)";

constexpr char get_kernel_doc[] =
    "A kernel that can be launched (cuLibraryGetKernel).\n\n"
    "Parameters\n----------\n"
    "name : str or bytes\n"
    "    Its plain C++ name, with template arguments where it has them (``\"axpy<float>\"``), its "
    "name\n"
    "    expression, or its mangled symbol. Parameters tell overloads apart: ``\"f(int)\"``.\n"
    "signature : str or Signature, optional\n"
    "    What its parameters are, where neither its name nor its code tell: ``\"(float*, "
    "int)\"``.\n\n"
    "Returns\n-------\nKernel\n\n"
    "Raises\n------\n"
    "ValueError\n"
    "    There is no such kernel, or there are several; the message lists them. Or the signature\n"
    "    contradicts the sizes that the driver knows.\n"
    "NotSupportedError\n    The code cannot be loaded by this driver or on this device.\n"
    "DriverNotFoundError\n    There is no driver.\n\n"
    "Examples\n--------\n"
    ">>> dev = cudacore.Device()\n"
    ">>> dev.set_current()\n"
    ">>> code = cudacore.Program(\"__global__ void fill(int* p) { *p = 7; }\", \"c++\").compile()\n"
    ">>> code.get_kernel(\"fill\").name\n"
    "'fill'";

constexpr char get_global_doc[] =
    "The memory of a ``__device__``, ``__constant__`` or ``__managed__`` variable, on the current\n"
    "context's device (cuLibraryGetGlobal).\n\n"
    "Parameters\n----------\n"
    "name : str\n    Its plain C++ name, its name expression, or its mangled symbol.\n\n"
    "Returns\n-------\nBuffer\n    Keeps the code loaded.\n\n"
    "Raises\n------\n"
    "ValueError\n    There is no such variable; NVRTC leaves out those that nothing uses.\n"
    "DriverNotFoundError\n    There is no driver.\n\n"
    "Examples\n--------\n"
    ">>> dev = cudacore.Device()\n"
    ">>> dev.set_current()\n"
    ">>> source = \"__device__ int n[4]; __global__ void f() { n[0] = 1; }\"\n"
    ">>> cudacore.Program(source, \"c++\").compile().get_global(\"n\").size\n"
    "16";

constexpr char load_doc[] =
    "Reads a file of PTX, a cubin, a fat binary, LTO IR, a host object or a library; its content\n"
    "tells which.\n\n"
    "Parameters\n----------\n"
    "path : str or os.PathLike\n"
    "name : str, default \"\"\n"
    "    What messages call it; the file's name where empty.\n"
    "symbol_mapping : mapping of str to str, optional\n"
    "    Other names for symbols: `get_kernel` and `get_global` look here first.\n\n"
    "Returns\n-------\nObjectCode\n\n"
    "Raises\n------\n"
    "OSError\n    The file cannot be read.\n"
    "ValueError\n    There is no such code in it.";

constexpr char save_doc[] =
    "Writes `code` to a file, which other tools read too; whoever opens it meanwhile sees all of\n"
    "the old one or of the new. A link is followed; a pipe or a device is written into.\n\n"
    "The names in the code stay, so kernels are found by their plain C++ names. What lies beside\n"
    "the code does not: `symbol_mapping`, `ptx` and `name`. A pickle holds those too.\n\n"
    "Parameters\n----------\n"
    "path : str or os.PathLike\n\n"
    "Raises\n------\n"
    "OSError\n    The file cannot be written; an older one is as it was.\n\n"
    "Examples\n--------\n"
    ">>> import os, tempfile\n"
    ">>> options = cudacore.ProgramOptions(arch=\"sm_90\")\n"
    ">>> code = cudacore.Program(\"__global__ void f() {}\", \"c++\", options).compile(\"cubin\")\n"
    ">>> with tempfile.TemporaryDirectory() as folder:\n"
    "...     path = os.path.join(folder, \"f.cubin\")\n"
    "...     code.save(path)\n"
    "...     cudacore.ObjectCode.load(path)\n"
    "<ObjectCode 'f.cubin' cubin, 1 kernel>";

template <CodeType type>
void add_from(const HeapClass<ObjectCode>& type_object, const char* name, std::string_view what,
              std::string_view more = "") {
  static const std::string doc = from_doc(name, what, more);
  static PyMethodDef definition = {
      name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&from<type>)),
      METH_FASTCALL | METH_KEYWORDS | METH_STATIC, doc.c_str()};
  const auto function = py::reinterpret_steal<py::object>(PyCFunction_New(&definition, nullptr));
  if (!function) throw py::error_already_set();
  type_object.attr(name) = py::staticmethod(function);
}

}  // namespace

CodeType to_code_type(py::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr()) == 0) {
    throw py::type_error(std::string(what) + " must be str, such as \"cubin\", not " +
                         type_name(object));
  }
  return code_type_from_string(in_small_letters(object));
}

py::object to_enum(const char* enumeration, std::string_view value) {
  return py::module_::import("cudacore.typing").attr(enumeration)(value);
}

void bind_object_code(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), rebuild_functions) != 0) throw py::error_already_set();
  HeapClass<ObjectCode> type(module, "cudacore.ObjectCode", class_doc, refuse_new<how_made>);
  add_from<CodeType::cubin>(type, "from_cubin", "a cubin");
  add_from<CodeType::ptx>(type, "from_ptx", "PTX", ptx_text_note);
  add_from<CodeType::ltoir>(type, "from_ltoir", "LTO IR, which only a Linker takes,");
  add_from<CodeType::fatbin>(type, "from_fatbin", "a fat binary");
  add_from<CodeType::object>(type, "from_object", "a host object with device code, for a Linker,");
  add_from<CodeType::library>(type, "from_library",
                              "a host library with device code, for a Linker,");
  type.def_static("load", &load_file, py::arg("path"), py::kw_only(), py::arg("name") = "",
                  py::arg("symbol_mapping") = py::none(), in_parts, load_doc)
      .def("save", &save_file, py::arg("path"), in_parts, save_doc)
      .def_property(
          "pickle_source", [](const ObjectCode& self) { return self.shares_source(); },
          [](const ObjectCode& self, bool shares) { self.share_source(shares); }, quick,
          "bool: Whether a pickle holds the CUDA C++ text too, False by default. Without it the\n"
          "names of parameters stay; only those of LTO IR are lost.")
      .def_property_readonly(
          "code", [](const ObjectCode& self) { return to_bytes(self.code()); }, quick,
          "bytes: The code; a copy.")
      .def_property_readonly(
          "code_type", [](const ObjectCode& self) { return to_string(self.code_type()); }, quick,
          "str: ``ptx``, ``cubin``, ``ltoir``, ``fatbin``, ``object`` or ``library``.")
      .def_property_readonly("name", read<&ObjectCode::name>, quick, "str: What messages call it.")
      .def_property_readonly(
          "symbol_mapping",
          [](const ObjectCode& self) {
            py::dict mapping;
            for (const auto& [name, symbol] : self.symbol_mapping()) {
              mapping[py::str(name)] = py::str(symbol);
            }
            return mapping;
          },
          quick, "dict of str to str: The symbol of each name expression; a copy.")
      .def_property_readonly(
          "ptx",
          [](const ObjectCode& self) {
            const std::string_view ptx = self.ptx();
            return ptx.empty() ? py::object(py::none()) : py::object(py::str(ptx));
          },
          quick,
          "str or None: The PTX that a cubin was made from, or the code itself where it is PTX.")
      .def_property_readonly(
          "kernels", &kernel_names, in_parts,
          "tuple of str: The kernels inside, by readable name; one that is overloaded has its\n"
          "parameters with it. NotSupportedError for LTO IR, fat binaries, host objects and\n"
          "libraries, whose names cannot be read without the driver.")
      .def_property_readonly("handle", read<&ObjectCode::handle>,
                             "int: The CUlibrary; loads the code on first use (cuLibraryLoadData).")
      .def(
          "signature",
          [](const ObjectCode& self, const py::object& name) {
            return [self, text = to_name(name, "name")] { return self.signature(text); };
          },
          py::arg("name"),
          "The parameters of a kernel; needs no driver.\n\n"
          "Parameters\n----------\n"
          "name : str\n    As in `get_kernel`.\n\n"
          "Returns\n-------\nSignature\n\n"
          "Raises\n------\n"
          "ValueError\n    There is no such kernel, or there are several; the message lists them.\n"
          "NotSupportedError\n    The code is not PTX or a cubin.")
      .def("get_kernel", &get_kernel, py::arg("name"), py::kw_only(),
           py::arg("signature") = py::none(), in_parts, get_kernel_doc)
      .def(
          "get_global",
          [](const ObjectCode& self, const py::object& name) {
            return [self, text = to_name(name, "name")] { return self.get_global(text); };
          },
          py::arg("name"), get_global_doc)
      .def(
          "get_module",
          [](const ObjectCode& self) {
            return reinterpret_cast<std::uintptr_t>(self.get_module());
          },
          "The loaded code as a module of the current context (cuLibraryGetModule).\n\n"
          "Returns\n-------\nint\n    The CUmodule, for code that speaks to the driver itself.")
      .def_equality([](const ObjectCode& a, const ObjectCode& b) { return a == b; })
      .def(
          "__hash__",
          [](const ObjectCode& self) { return std::hash<const void*>{}(&self.details()); }, quick)
      .def("__repr__", &repr, in_parts)
      .def(
          "__copy__", [](py::object self) { return self; }, quick)
      .def(
          "__deepcopy__", [](py::object self, const py::object& /*memo*/) { return self; },
          py::arg("memo"), py::pos_only(), quick)
      .def(
          "__reduce__",
          [module](const ObjectCode& self) {
            return py::make_tuple(module.attr("_rebuild_object_code"), state_of(self));
          },
          quick);
}

}  // namespace cudacore::bindings
