// SPDX-License-Identifier: Apache-2.0
#include "bindings/options.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/code_values.hpp"
#include "bindings/option_class.hpp"
#include "bindings/options_docs.hpp"
#include "cudacore/error.hpp"

namespace cudacore::bindings {

namespace {

/// What others call a field: NVRTC's short flags, nvcc's, and other libraries' options.
constexpr const char* other_names(std::string_view field) {
  struct Row {
    std::string_view field;
    const char* names;
  };
  constexpr auto rows = std::to_array<Row>({
      {"device_as_default_execution_space", "default_device"},
      {"relocatable_device_code", "rdc"},
      {"extensible_whole_program", "ewp"},
      {"link_time_optimization", "dlto lto"},
      {"debug", "G g"},
      {"define_macro", "D defines macros"},
      {"undefine_macro", "U"},
      {"include_path", "I include_dirs includes"},
      {"pre_include", "include"},
      {"disable_warnings", "w"},
      {"use_fast_math", "fast_math"},
      {"ptxas_options", "Xptxas"},
      {"max_register_count", "max_registers"},
      {"optimization_level", "opt_level"},
      {"options", "flags extra_options"},
      {"arch", "compute_capability"},
  });
  for (const Row& row : rows) {
    if (row.field == field) {
      return row.names;
    }
  }
  return "";
}

/// The range of an int field of ProgramOptions or LinkerOptions: all of them count something.
constexpr FieldSpec flag_field(const char* owner, const char* name, const char* doc,
                               const char* rule, const char* flag) {
  FieldSpec spec{owner, name, doc, rule, flag, other_names(name)};
  spec.minimum = 0;
  if (std::string_view(name) == "optimization_level") {
    spec.maximum = 3;
  } else if (std::string_view(name) == "time") {
    spec.when_true = "-";
  } else if (std::string_view(name) == "split_compile") {
    spec.when_true = "0";
  }
  for (const std::string_view path : {"time", "fdevice_time_trace", "include_path", "pre_include",
                                      "create_pch", "use_pch", "pch_dir"}) {
    spec.is_path = spec.is_path || path == name;
  }
  return spec;
}

/// The flags of a command line as cuda.core gives them.
py::list to_bytes(const std::vector<std::string>& flags) {
  py::list list;
  for (const std::string& flag : flags) {
    list.append(py::bytes(flag));
  }
  return list;
}

/// A backend's name in small letters.
std::string to_backend(py::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr()) == 0) {
    throw py::type_error(std::string(what) + ": backend must be str, not " + type_name(object));
  }
  return in_small_letters(object);
}

py::list program_bytes(const ProgramOptions& self, py::handle backend, py::handle target) {
  const std::string name = to_backend(backend, "ProgramOptions.as_bytes");
  if (name == "nvvm") {
    throw NotSupportedError(
        "ProgramOptions.as_bytes: NVVM IR needs libNVVM, which cudacore does "
        "not call; backend is \"nvrtc\"",
        0, {}, {});
  }
  if (name != "nvrtc") {
    throw py::value_error("ProgramOptions.as_bytes: backend must be \"nvrtc\", not \"" + name +
                          "\"");
  }
  return to_bytes(
      self.nvrtc_flags(target.is_none() ? CodeType::cubin : to_code_type(target, "target_type")));
}

py::list linker_bytes(const LinkerOptions& self, py::handle backend) {
  const std::string name = to_backend(backend, "LinkerOptions.as_bytes");
  if (name != "nvjitlink") {
    throw py::value_error("LinkerOptions.as_bytes: backend must be \"nvjitlink\", not \"" + name +
                          "\"");
  }
  return to_bytes(self.nvjitlink_flags());
}

constexpr char program_bytes_doc[] =
    "The command line that the options become.\n\n"
    "Parameters\n----------\n"
    "backend : {\"nvrtc\"}\n    The compiler.\n"
    "target_type : {\"cubin\", \"ptx\", \"ltoir\"}, optional\n    What is made.\n\n"
    "Returns\n-------\nlist of bytes\n"
    "    Without the folders of CUDA's headers; without an architecture where ``arch`` is None.\n\n"
    "Examples\n--------\n"
    ">>> cudacore.ProgramOptions(arch=\"sm_90\", fma=False).as_bytes(\"nvrtc\")\n"
    "[b'-arch=sm_90', b'--fmad=false']";

constexpr char linker_bytes_doc[] =
    "The command line that the options become.\n\n"
    "Parameters\n----------\n"
    "backend : {\"nvjitlink\"}\n    The linker.\n\n"
    "Returns\n-------\nlist of bytes\n    Without an architecture where ``arch`` is None.\n\n"
    "Examples\n--------\n"
    ">>> cudacore.LinkerOptions(arch=\"sm_90\", fma=False).as_bytes()\n"
    "[b'-arch=sm_90', b'-fma=0']";

constexpr FieldSpec count_field(const char* owner, const char* name, const char* doc) {
  FieldSpec spec{owner, name, doc};
  spec.minimum = 0;
  return spec;
}

constexpr char ipc_doc[] = "Sharing with other processes, which is not supported yet.";
constexpr char max_size_doc[] = "Bytes the pool may reach; 0 for no limit but the memory itself.";

}  // namespace

template <>
struct OptionTable<StreamOptions> {
  static constexpr char qualified_name[] = "cudacore.StreamOptions";
  static constexpr char name[] = "StreamOptions";
  static constexpr char summary[] = "How a stream is made (cuStreamCreateWithPriority).";
  static constexpr char example[] =
      ">>> cudacore.StreamOptions(priority=-1)\nStreamOptions(priority=-1)";
  static constexpr char tool[] = "";
  static constexpr bool positional = true;
  static constexpr std::array fields = {
      make_field<&StreamOptions::nonblocking>(
          {name, "nonblocking", "Whether it does not wait for the legacy default stream."}),
      make_field<&StreamOptions::priority>(
          {name, "priority", "Lower is more urgent; the device's default where None."}),
  };
};

template <>
struct OptionTable<EventOptions> {
  static constexpr char qualified_name[] = "cudacore.EventOptions";
  static constexpr char name[] = "EventOptions";
  static constexpr char summary[] = "How an event is made (cuEventCreate).";
  static constexpr char example[] =
      ">>> cudacore.EventOptions(timing_enabled=True)\nEventOptions(timing_enabled=True)";
  static constexpr char tool[] = "";
  static constexpr bool positional = true;
  static constexpr std::array fields = {
      make_field<&EventOptions::timing_enabled>(
          {name, "timing_enabled", "Whether it may be subtracted from another such event.", "none",
           "", "enable_timing"}),
      make_field<&EventOptions::blocking_sync>(
          {name, "blocking_sync",
           "Whether a waiting thread sleeps at once, instead of spinning first.", "none", "",
           "blocking"}),
      make_field<&EventOptions::ipc_enabled>(
          {name, "ipc_enabled", ipc_doc, "none", "", "interprocess"}),
  };
};

template <>
struct OptionTable<DeviceMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.DeviceMemoryResourceOptions";
  static constexpr char name[] = "DeviceMemoryResourceOptions";
  static constexpr char summary[] = "How a pool of device memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> cudacore.DeviceMemoryResourceOptions(max_size=2**30).max_size\n1073741824";
  static constexpr char tool[] = "";
  static constexpr bool positional = true;
  static constexpr std::array fields = {
      make_field<&DeviceMemoryResourceOptions::ipc_enabled>({name, "ipc_enabled", ipc_doc}),
      make_field<&DeviceMemoryResourceOptions::max_size>({name, "max_size", max_size_doc}),
  };
};

template <>
struct OptionTable<PinnedMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.PinnedMemoryResourceOptions";
  static constexpr char name[] = "PinnedMemoryResourceOptions";
  static constexpr char summary[] =
      "How a pool of page-locked host memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> cudacore.PinnedMemoryResourceOptions(numa_id=0)\nPinnedMemoryResourceOptions(numa_id=0)";
  static constexpr char tool[] = "";
  static constexpr bool positional = true;
  static constexpr std::array fields = {
      make_field<&PinnedMemoryResourceOptions::ipc_enabled>({name, "ipc_enabled", ipc_doc}),
      make_field<&PinnedMemoryResourceOptions::max_size>({name, "max_size", max_size_doc}),
      make_field<&PinnedMemoryResourceOptions::numa_id>(
          count_field(name, "numa_id", "The host's NUMA node; any where None.")),
  };
};

template <>
struct OptionTable<ManagedMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.ManagedMemoryResourceOptions";
  static constexpr char name[] = "ManagedMemoryResourceOptions";
  static constexpr char summary[] = "How a pool of managed memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> options = cudacore.ManagedMemoryResourceOptions(0, \"device\")\n"
      ">>> options.preferred_location_type\n'device'";
  static constexpr char tool[] = "";
  static constexpr bool positional = true;
  static constexpr std::array fields = {
      make_field<&ManagedMemoryResourceOptions::preferred_location>(
          {name, "preferred_location", "The ordinal of a device, or the number of a NUMA node."}),
      make_field<&ManagedMemoryResourceOptions::preferred_location_type>(
          {name, "preferred_location_type", "What preferred_location counts."}),
  };
};

template <>
struct OptionTable<ProgramOptions> {
  static constexpr char qualified_name[] = "cudacore.ProgramOptions";
  static constexpr char name[] = "ProgramOptions";
  static void set_defaults(ProgramOptions& options) { options.name = "default_program"; }
  static constexpr char summary[] =
      "How a program is compiled. What is left None is as NVRTC has it by itself.";
  static constexpr char example[] =
      ">>> options = cudacore.ProgramOptions(arch=\"sm_90\", define_macro=(\"N\", \"4\"))\n"
      ">>> options.define_macro\n[('N', '4')]\n"
      ">>> options.debug = True\n"
      ">>> options\nProgramOptions(arch='sm_90', debug=True, define_macro=[('N', '4')])";
  static constexpr char tool[] = "NVRTC";
  static constexpr bool positional = false;
  static constexpr std::array fields = {
#define CUDACORE_PROGRAM_OPTION(type, field, rule, flag) \
  make_field<&ProgramOptions::field>(flag_field(name, #field, program_docs::field, #rule, flag)),
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  };
};

template <>
struct OptionTable<LinkerOptions> {
  static constexpr char qualified_name[] = "cudacore.LinkerOptions";
  static constexpr char name[] = "LinkerOptions";
  static void set_defaults(LinkerOptions& options) { options.name = "default_linker"; }
  static constexpr char summary[] =
      "How object codes are linked. What is left None is as nvJitLink has it by itself.";
  static constexpr char example[] =
      ">>> cudacore.LinkerOptions(arch=\"sm_90\", link_time_optimization=True)\n"
      "LinkerOptions(arch='sm_90', link_time_optimization=True)";
  static constexpr char tool[] = "nvJitLink";
  static constexpr bool positional = false;
  static constexpr std::array fields = {
#define CUDACORE_LINKER_OPTION(type, field, rule, flag) \
  make_field<&LinkerOptions::field>(flag_field(name, #field, linker_docs::field, #rule, flag)),
#include "cudacore/linker_options.def"
#undef CUDACORE_LINKER_OPTION
  };
};

StreamOptions to_stream_options(py::handle object) {
  return OptionClass<StreamOptions>::from_python(object);
}

EventOptions to_event_options(py::handle object) {
  return OptionClass<EventOptions>::from_python(object);
}

std::optional<DeviceMemoryResourceOptions> to_device_pool_options(py::handle object) {
  if (object.is_none()) {
    return std::nullopt;
  }
  return OptionClass<DeviceMemoryResourceOptions>::from_python(object);
}

PinnedMemoryResourceOptions to_pinned_pool_options(py::handle object) {
  return OptionClass<PinnedMemoryResourceOptions>::from_python(object);
}

ManagedMemoryResourceOptions to_managed_pool_options(py::handle object) {
  return OptionClass<ManagedMemoryResourceOptions>::from_python(object);
}

ProgramOptions to_program_options(py::handle object) {
  return OptionClass<ProgramOptions>::from_python(object);
}

LinkerOptions to_linker_options(py::handle object) {
  return OptionClass<LinkerOptions>::from_python(object);
}

void refuse_fields(PyTypeObject* options, const char* function,
                   std::span<const char* const> keywords, PyObject* kwargs) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t place = 0; kwargs != nullptr && PyDict_Next(kwargs, &place, &key, &value) != 0;) {
    const auto is_key = [key](const char* keyword) {
      return PyUnicode_CompareWithASCIIString(key, keyword) == 0;
    };
    if (PyUnicode_Check(key) == 0 || std::any_of(keywords.begin(), keywords.end(), is_key)) {
      continue;
    }
    const py::handle type(reinterpret_cast<PyObject*>(options));
    const py::object field = py::getattr(type, py::handle(key), py::none());
    if (Py_IS_TYPE(field.ptr(), &PyGetSetDescr_Type)) {
      const auto name = py::handle(key).cast<std::string>();
      throw py::type_error(std::string(function) + " has no argument '" + name +
                           "'; it is an option: options={\"" + name + "\": ...}");
    }
  }
}

void bind_options(py::module_& module) {
  OptionClass<StreamOptions>::add(module);
  OptionClass<EventOptions>::add(module);
  OptionClass<DeviceMemoryResourceOptions>::add(module);
  OptionClass<PinnedMemoryResourceOptions>::add(module);
  OptionClass<ManagedMemoryResourceOptions>::add(module);
  OptionClass<ProgramOptions>::add(module).def("as_bytes", &program_bytes, py::arg("backend"),
                                               py::arg("target_type") = py::none(), quick,
                                               program_bytes_doc);
  OptionClass<LinkerOptions>::add(module).def(
      "as_bytes", &linker_bytes, py::arg("backend") = "nvjitlink", quick, linker_bytes_doc);
}

}  // namespace cudacore::bindings
