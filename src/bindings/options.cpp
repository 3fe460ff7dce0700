// SPDX-License-Identifier: Apache-2.0
#include "bindings/options.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bindings/code_objects.hpp"
#include "bindings/option_class.hpp"
#include "cudacore/error.hpp"

namespace cudacore::bindings {

namespace {

/// The flags of a command line as cuda.core gives them.
py::list to_bytes(const std::vector<std::string>& flags) {
  py::list list;
  for (const std::string& flag : flags) list.append(py::bytes(flag));
  return list;
}

/// as_bytes() names what makes the command line, in any case of letters.
void check_backend(py::handle backend, const std::string& function, const std::string& only) {
  if (PyUnicode_Check(backend.ptr()) == 0) {
    throw py::type_error(function + ": backend must be str, not " + type_name(backend));
  }
  const std::string name = in_small_letters(backend);
  if (name == "nvvm" && only == "nvrtc") {
    throw NotSupportedError(function +
                                ": NVVM IR needs libNVVM, which cudacore does not call; backend is "
                                "\"nvrtc\"",
                            0, {}, {});
  }
  if (name != only) {
    throw py::value_error(function + ": backend must be \"" + only + "\", not \"" + name + "\"");
  }
}

py::list program_bytes(const ProgramOptions& self, py::handle backend, py::handle target) {
  check_backend(backend, "ProgramOptions.as_bytes", "nvrtc");
  return to_bytes(
      self.nvrtc_flags(target.is_none() ? CodeType::cubin : to_code_type(target, "target_type")));
}

py::list linker_bytes(const LinkerOptions& self, py::handle backend) {
  check_backend(backend, "LinkerOptions.as_bytes", "nvjitlink");
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

[[noreturn]] void refuse_field(const std::string& function, const std::string& name) {
  throw py::type_error(function + " has no argument '" + name + "'; it is an option: options={\"" +
                       name + "\": ...}");
}

constexpr long long lowest_int = std::numeric_limits<int>::min();
constexpr char ipc_doc[] = "Sharing with other processes, which is not supported yet.";
constexpr char max_size_doc[] = "Bytes the pool may reach; 0 for no limit but the memory itself.";

}  // namespace

template <>
struct OptionTable<StreamOptions> {
  static constexpr char qualified_name[] = "cudacore.StreamOptions";
  static constexpr char summary[] = "How a stream is made (cuStreamCreateWithPriority).";
  static constexpr char example[] =
      ">>> cudacore.StreamOptions(priority=-1)\nStreamOptions(priority=-1)";
  static constexpr char tool[] = "";
  static constexpr std::array fields = {
      option<&StreamOptions::nonblocking>(
          {.name = "nonblocking",
           .doc = "Whether it does not wait for the legacy default stream."}),
      option<&StreamOptions::priority>(
          {.name = "priority",
           .doc = "Lower is more urgent; the device's default where None.",
           .minimum = lowest_int}),
  };
};

template <>
struct OptionTable<EventOptions> {
  static constexpr char qualified_name[] = "cudacore.EventOptions";
  static constexpr char summary[] = "How an event is made (cuEventCreate).";
  static constexpr char example[] =
      ">>> cudacore.EventOptions(timing_enabled=True)\nEventOptions(timing_enabled=True)";
  static constexpr char tool[] = "";
  static constexpr std::array fields = {
      option<&EventOptions::timing_enabled>(
          {.name = "timing_enabled",
           .doc = "Whether it may be subtracted from another such event.",
           .aliases = "enable_timing"}),
      option<&EventOptions::blocking_sync>(
          {.name = "blocking_sync",
           .doc = "Whether a waiting thread sleeps at once, instead of spinning first.",
           .aliases = "blocking"}),
      option<&EventOptions::ipc_enabled>(
          {.name = "ipc_enabled", .doc = ipc_doc, .aliases = "interprocess"}),
  };
};

template <>
struct OptionTable<DeviceMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.DeviceMemoryResourceOptions";
  static constexpr char summary[] = "How a pool of device memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> cudacore.DeviceMemoryResourceOptions(max_size=2**30).max_size\n1073741824";
  static constexpr char tool[] = "";
  static constexpr std::array fields = {
      option<&DeviceMemoryResourceOptions::ipc_enabled>({.name = "ipc_enabled", .doc = ipc_doc}),
      option<&DeviceMemoryResourceOptions::max_size>({.name = "max_size", .doc = max_size_doc}),
  };
};

template <>
struct OptionTable<PinnedMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.PinnedMemoryResourceOptions";
  static constexpr char summary[] =
      "How a pool of page-locked host memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> cudacore.PinnedMemoryResourceOptions(numa_id=0)\nPinnedMemoryResourceOptions(numa_id=0)";
  static constexpr char tool[] = "";
  static constexpr std::array fields = {
      option<&PinnedMemoryResourceOptions::ipc_enabled>({.name = "ipc_enabled", .doc = ipc_doc}),
      option<&PinnedMemoryResourceOptions::max_size>({.name = "max_size", .doc = max_size_doc}),
      option<&PinnedMemoryResourceOptions::numa_id>(
          {.name = "numa_id", .doc = "The host's NUMA node; any where None."}),
  };
};

template <>
struct OptionTable<ManagedMemoryResourceOptions> {
  static constexpr char qualified_name[] = "cudacore.ManagedMemoryResourceOptions";
  static constexpr char summary[] = "How a pool of managed memory is made (cuMemPoolCreate).";
  static constexpr char example[] =
      ">>> options = cudacore.ManagedMemoryResourceOptions(0, \"device\")\n"
      ">>> options.preferred_location_type\n'device'";
  static constexpr char tool[] = "";
  static constexpr std::array fields = {
      option<&ManagedMemoryResourceOptions::preferred_location>(
          {.name = "preferred_location",
           .doc = "The ordinal of a device, or the number of a NUMA node.",
           .minimum = lowest_int}),
      option<&ManagedMemoryResourceOptions::preferred_location_type>(
          {.name = "preferred_location_type", .doc = "What preferred_location counts."}),
  };
};

template <>
struct OptionTable<ProgramOptions> {
  static constexpr char qualified_name[] = "cudacore.ProgramOptions";
  static void set_defaults(ProgramOptions& options) { options.name = "default_program"; }
  static constexpr char summary[] =
      "How a program is compiled. What is left None is as NVRTC has it by itself.";
  static constexpr char example[] =
      ">>> options = cudacore.ProgramOptions(arch=\"sm_90\", define_macro=(\"N\", \"4\"))\n"
      ">>> options.define_macro\n[('N', '4')]\n"
      ">>> options.debug = True\n"
      ">>> options\nProgramOptions(arch='sm_90', debug=True, define_macro=[('N', '4')])";
  static constexpr char tool[] = "NVRTC";
  static constexpr std::array fields = {
#define CUDACORE_PROGRAM_OPTION(type, field, how, spelling, ...) \
  option<&ProgramOptions::field>({.name = #field, .rule = #how, .flag = spelling, __VA_ARGS__}),
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  };
};

template <>
struct OptionTable<LinkerOptions> {
  static constexpr char qualified_name[] = "cudacore.LinkerOptions";
  static void set_defaults(LinkerOptions& options) { options.name = "default_linker"; }
  static constexpr char summary[] =
      "How object codes are linked. What is left None is as nvJitLink has it by itself.";
  static constexpr char example[] =
      ">>> cudacore.LinkerOptions(arch=\"sm_90\", link_time_optimization=True)\n"
      "LinkerOptions(arch='sm_90', link_time_optimization=True)";
  static constexpr char tool[] = "nvJitLink";
  static constexpr std::array fields = {
#define CUDACORE_LINKER_OPTION(type, field, how, spelling, ...) \
  option<&LinkerOptions::field>({.name = #field, .rule = #how, .flag = spelling, __VA_ARGS__}),
#include "cudacore/linker_options.def"
#undef CUDACORE_LINKER_OPTION
  };
};

template <typename T>
T to_options(py::handle object) {
  return OptionClass<T>::from_python(object);
}

template StreamOptions to_options(py::handle);
template EventOptions to_options(py::handle);
template DeviceMemoryResourceOptions to_options(py::handle);
template PinnedMemoryResourceOptions to_options(py::handle);
template ManagedMemoryResourceOptions to_options(py::handle);
template ProgramOptions to_options(py::handle);
template LinkerOptions to_options(py::handle);

void refuse_fields(py::handle options, const char* function, std::span<const char* const> keywords,
                   PyObject* kwargs) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t place = 0; kwargs != nullptr && PyDict_Next(kwargs, &place, &key, &value) != 0;) {
    const auto is_key = [key](const char* keyword) {
      return PyUnicode_CompareWithASCIIString(key, keyword) == 0;
    };
    if (PyUnicode_Check(key) == 0 || std::any_of(keywords.begin(), keywords.end(), is_key)) {
      continue;
    }
    const py::object field = py::getattr(options, py::handle(key), py::none());
    if (Py_IS_TYPE(field.ptr(), &PyGetSetDescr_Type)) {
      refuse_field(function, py::handle(key).cast<std::string>());
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
