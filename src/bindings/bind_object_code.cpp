// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "bindings/code_objects.hpp"
#include "bindings/conversions.hpp"
#include "bindings/fast_method.hpp"

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

/// Reads or writes files without the GIL.
template <typename Body>
auto with_os_errors(const Body& body) {
  try {
    const ReleaseGil release;
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    raise_os_error(error);
  }
}

std::map<std::string, std::string> to_symbol_mapping(py::handle object) {
  std::map<std::string, std::string> mapping;
  if (object.is_none()) return mapping;
  if (!is_mapping(object)) {
    refuse_type("symbol_mapping", "a mapping of names to symbols or None", object);
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
    return with_os_errors([&] { return ObjectCode::from_file(path, type, std::move(details)); });
  }
  if (PyObject_CheckBuffer(module.ptr()) == 0) {
    refuse_type("module", "bytes, or the path of a file (str or os.PathLike)", module);
  }
  return {copy_buffer(module), type, std::move(details)};
}

/// from_cubin() and similar functions. These are not pybind11 functions, whose message about a
/// wrong call shows every argument: here, the whole code.
template <CodeType type>
PyObject* from(PyObject* /*self*/, const std::array<py::handle, 3>& given) {
  const auto& [module, name, symbol_mapping] = given;
  ObjectCode::Details details;
  if (!name.is_none()) details.name = to_name(name, "name");
  details.symbol_mapping = to_symbol_mapping(symbol_mapping);
  return make_object<ObjectCode>(load(module, type, std::move(details)));
}

/// What kernels() returns, without the GIL: a large cubin takes a while to read.
const std::vector<KernelEntry>& read_kernels(const ObjectCode& self) {
  const ReleaseGil release;
  return self.kernels();
}

/// The name that finds only this entry: with its parameters if it is overloaded.
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

py::str repr(const ObjectCode& self) {
  std::string content = std::to_string(self.code().size()) + " bytes";
  try {
    const std::size_t count = read_kernels(self).size();
    content = std::to_string(count) + (count == 1 ? " kernel" : " kernels");
  } catch (const NotSupportedError&) {  // only the driver can list them
  } catch (const std::invalid_argument&) {
    content += ", unreadable";
  }
  const std::string name = self.name().empty() ? "" : "'" + self.name() + "' ";
  return foreign_text("<ObjectCode " + name + std::string(to_string(self.code_type())) + ", " +
                      content + ">");
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

/// The names and types of the parameters, in place of the source.
std::vector<KernelEntry> kernels_without_source(const ObjectCode& self) {
  try {
    return read_kernels(self);
  } catch (const NotSupportedError&) {      // only the driver can list them
  } catch (const std::invalid_argument&) {  // damaged, which unpickling reports
  }
  return self.details().known_kernels;
}

/// What a pickle holds: everything but the loaded library and, unless requested, the source.
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
  return py::make_tuple(to_bytes(self.code()), to_string(self.code_type()),
                        foreign_text(details.name), mapping, py::bytes(details.ptx),
                        py::bytes(has_source ? details.source : std::string()), kernels);
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

/// The bytes and the name of a file that may have no path, because it is in an archive
/// (importlib.resources.abc.Traversable).
ObjectCode load_resource(const py::object& file, ObjectCode::Details details) {
  if (details.name.empty()) details.name = py::str(attribute_or_none(file, "name"));
  const py::object bytes = file.attr("read_bytes")();
  if (PyObject_CheckBuffer(bytes.ptr()) == 0) {
    refuse_type("what read_bytes() returned", "bytes", bytes);
  }
  return ObjectCode::detect(copy_buffer(bytes), std::move(details));
}

/// Whether bytes can't be a path, as all code can't.
bool is_code(const py::object& path) {
  if (PyBytes_Check(path.ptr()) == 0) return false;
  const std::string_view bytes(PyBytes_AS_STRING(path.ptr()),
                               static_cast<std::size_t>(PyBytes_GET_SIZE(path.ptr())));
  return bytes.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos;
}

/// load(path, *, name="", symbol_mapping=None)
ObjectCode load_file(const py::object& path, const py::object& name,
                     const py::object& symbol_mapping) {
  ObjectCode::Details details;
  details.name = to_name(name, "name");
  details.symbol_mapping = to_symbol_mapping(symbol_mapping);
  if (is_code(path)) {
    throw py::type_error(
        "ObjectCode.load reads a file; for code in memory, call ObjectCode.from_cubin, from_ptx, "
        "from_fatbin, from_ltoir, from_object or from_library");
  }
  const bool has_path =
      PyUnicode_Check(path.ptr()) != 0 || !attribute_or_none(path, "__fspath__").is_none();
  if (!has_path && !attribute_or_none(path, "read_bytes").is_none()) {
    return load_resource(path, std::move(details));
  }
  const std::filesystem::path file = to_path(path);
  return with_os_errors([&] { return ObjectCode::load(file, std::move(details)); });
}

void save_file(const ObjectCode& self, const py::object& path) {
  const std::filesystem::path file = to_path(path);
  const ObjectCode code = self;
  with_os_errors([&] { code.save(file); });
}

}  // namespace

CodeType to_code_type(py::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr()) == 0) refuse_type(what, "str, such as \"cubin\"", object);
  return code_type_from_string(in_small_letters(object));
}

py::object to_member(const char* enumeration, std::string_view value) {
  return py::module_::import("cudacore.typing").attr(enumeration)(value);
}

void bind_object_code(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), rebuild_functions) != 0) throw py::error_already_set();
  HeapClass<ObjectCode> type(module, "cudacore.ObjectCode", refuse_new<how_made>);
  type.def_fast_static(fast_method<"ObjectCode.from_cubin(module, *, name='', symbol_mapping=None)",
                                   &from<CodeType::cubin>>)
      .def_fast_static(fast_method<"ObjectCode.from_ptx(module, *, name='', symbol_mapping=None)",
                                   &from<CodeType::ptx>>)
      .def_fast_static(fast_method<"ObjectCode.from_ltoir(module, *, name='', symbol_mapping=None)",
                                   &from<CodeType::ltoir>>)
      .def_fast_static(
          fast_method<"ObjectCode.from_fatbin(module, *, name='', symbol_mapping=None)",
                      &from<CodeType::fatbin>>)
      .def_fast_static(
          fast_method<"ObjectCode.from_object(module, *, name='', symbol_mapping=None)",
                      &from<CodeType::object>>)
      .def_fast_static(
          fast_method<"ObjectCode.from_library(module, *, name='', symbol_mapping=None)",
                      &from<CodeType::library>>)
      .def_static("load", in_parts, py::arg("path"), py::kw_only(), py::arg("name") = "",
                  py::arg("symbol_mapping") = py::none(), &load_file)
      .def("save", in_parts, py::arg("path"), &save_file)
      .property("pickle_source", quick, [](const ObjectCode& self) { return self.shares_source(); })
      .setter("pickle_source", quick,
              [](const ObjectCode& self, bool shares) { self.share_source(shares); })
      .property("code", quick, [](const ObjectCode& self) { return to_bytes(self.code()); })
      .property("code_type", quick,
                [](const ObjectCode& self) { return to_string(self.code_type()); })
      .property("name", quick, [](const ObjectCode& self) { return foreign_text(self.name()); })
      .property("symbol_mapping", quick,
                [](const ObjectCode& self) {
                  py::dict mapping;
                  for (const auto& [name, symbol] : self.symbol_mapping()) {
                    mapping[py::str(name)] = py::str(symbol);
                  }
                  return mapping;
                })
      .property("ptx", quick,
                [](const ObjectCode& self) {
                  const std::string_view ptx = self.ptx();
                  return ptx.empty() ? py::object(py::none()) : py::object(foreign_text(ptx));
                })
      .property("kernels", in_parts, &kernel_names)
      .property("handle", read<&ObjectCode::handle>)
      .def("signature", py::arg("name"),
           [](const ObjectCode& self, const py::object& name) {
             return [self, text = to_name(name, "name")] { return self.signature(text); };
           })
      .def("get_kernel", in_parts, py::arg("name"), py::kw_only(),
           py::arg("signature") = py::none(), &get_kernel)
      .def("get_global", py::arg("name"),
           [](const ObjectCode& self, const py::object& name) {
             return [self, text = to_name(name, "name")] { return self.get_global(text); };
           })
      .def("get_module",
           [](const ObjectCode& self) {
             return reinterpret_cast<std::uintptr_t>(self.get_module());
           })
      .def_equality([](const ObjectCode& a, const ObjectCode& b) { return a == b; })
      .def("__hash__", quick,
           [](const ObjectCode& self) { return std::hash<const void*>{}(&self.details()); })
      .def("__repr__", in_parts, &repr)
      .def("__copy__", quick, [](py::object self) { return self; })
      .def("__deepcopy__", quick, py::arg("memo"), py::pos_only(),
           [](py::object self, const py::object& /*memo*/) { return self; })
      .def("__reduce__", quick, [module](const ObjectCode& self) {
        return py::make_tuple(module.attr("_rebuild_object_code"), state_of(self));
      });
}

}  // namespace cudacore::bindings
