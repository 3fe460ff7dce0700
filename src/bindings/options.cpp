// SPDX-License-Identifier: Apache-2.0
#include "bindings/options.hpp"

#include "bindings/code_objects.hpp"
#include "bindings/keywords.hpp"
#include "bindings/option_class.hpp"

namespace cudacore::bindings {
namespace {

/// The flags of a command line as cuda.core gives them.
py::list to_bytes(const std::vector<std::string>& flags) {
  py::list list;
  for (const std::string& flag : flags) list.append(py::bytes(flag));
  return list;
}

/// Checks the tool that as_bytes() names, in upper or lower case.
void check_backend(py::handle backend, const std::string& function, const std::string& only) {
  if (PyUnicode_Check(backend.ptr()) == 0) refuse_type(function + ": backend", "str", backend);
  const std::string name = in_small_letters(backend);
  if (name == "nvvm" && only == "nvrtc") {
    throw NotSupportedError(function +
                            ": NVVM IR needs libNVVM, which cudacore does not call; backend is "
                            "\"nvrtc\"");
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

[[noreturn]] void refuse_field(const std::string& function, const std::string& name) {
  throw py::type_error(option_given_as_argument(function, name, "options"));
}

constexpr long long lowest_int = std::numeric_limits<int>::min();
constexpr char ipc_doc[] = "Whether other processes may map the memory.";
constexpr char max_size_doc[] = "Bytes the pool may reach; 0 for no limit but the memory itself.";

}  // namespace

std::size_t find_name(py::handle object, std::span<const char* const> names,
                      const std::string& what, const char* expected) {
  const bool is_str = PyUnicode_Check(object.ptr()) != 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == nullptr
            ? object.is_none()
            : is_str && PyUnicode_CompareWithASCIIString(object.ptr(), names[i]) == 0) {
      return i;
    }
  }
  if (!is_str) refuse_type(what, expected, object);
  throw py::value_error(what + " must be " + expected + ", not " + shown(object));
}

template <>
struct OptionTable<StreamOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.StreamOptions",
      .summary = "How a stream is made (cuStreamCreateWithPriority).",
      .example = ">>> cudacore.StreamOptions(priority=-1)\nStreamOptions(priority=-1)"};
  static constexpr std::array fields = {
      option<&StreamOptions::nonblocking>(
          {.name = "nonblocking",
           .doc = "Whether it does not wait for the legacy default stream."}),
      option<&StreamOptions::priority>(
          {.name = "priority",
           .doc = "Lower is more urgent; if None, the device's default.",
           .minimum = lowest_int}),
  };
};

template <>
struct OptionTable<EventOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.EventOptions",
      .summary = "How an event is made (cuEventCreate).",
      .example =
          ">>> cudacore.EventOptions(timing_enabled=True)\nEventOptions(timing_enabled=True)"};
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
          {.name = "ipc_enabled",
           .doc = "Whether other processes may open it; it then has no timing.",
           .aliases = "interprocess"}),
  };
};

template <>
struct OptionTable<DeviceMemoryResourceOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.DeviceMemoryResourceOptions",
      .summary = "How a pool of device memory is made (cuMemPoolCreate).",
      .example = ">>> cudacore.DeviceMemoryResourceOptions(max_size=2**30).max_size\n1073741824"};
  static constexpr std::array fields = {
      option<&DeviceMemoryResourceOptions::ipc_enabled>({.name = "ipc_enabled", .doc = ipc_doc}),
      option<&DeviceMemoryResourceOptions::max_size>({.name = "max_size", .doc = max_size_doc}),
  };
};

template <>
struct OptionTable<PinnedMemoryResourceOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.PinnedMemoryResourceOptions",
      .summary = "How a pool of page-locked host memory is made (cuMemPoolCreate).",
      .example =
          ">>> "
          "cudacore.PinnedMemoryResourceOptions(numa_id=0)\nPinnedMemoryResourceOptions(numa_id="
          "0)"};
  static constexpr std::array fields = {
      option<&PinnedMemoryResourceOptions::ipc_enabled>({.name = "ipc_enabled", .doc = ipc_doc}),
      option<&PinnedMemoryResourceOptions::max_size>({.name = "max_size", .doc = max_size_doc}),
      option<&PinnedMemoryResourceOptions::numa_id>(
          {.name = "numa_id",
           .doc =
               "The host's NUMA node; if None, any, or, with ipc_enabled, the current device's."}),
  };
};

template <>
struct OptionTable<ManagedMemoryResourceOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.ManagedMemoryResourceOptions",
      .summary = "How a pool of managed memory is made (cuMemPoolCreate).",
      .example =
          ">>> options = cudacore.ManagedMemoryResourceOptions(0, \"device\")\n"
          ">>> options.preferred_location_type\n'device'"};
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
struct OptionTable<CopyOptions> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.utils.CopyOptions",
      .summary = "What a copy between buffers may assume (cuMemcpyBatchAsync).",
      .example =
          ">>> cudacore.utils.CopyOptions(src_access_order=\"any\", "
          "src_location_hint=cudacore.Host())\n"
          "CopyOptions(src_access_order='any', src_location_hint=Host())"};
  static constexpr std::array fields = {
      option<&CopyOptions::src_access_order>(
          {.name = "src_access_order",
           .doc = "When the source may be read: in the order of the stream, before the call "
                  "returns, or at any time until the copy is done."}),
      option<&CopyOptions::src_location_hint>(
          {.name = "src_location_hint",
           .doc = "Where the source is, if its memory is managed or pageable."}),
      option<&CopyOptions::dst_location_hint>(
          {.name = "dst_location_hint",
           .doc = "Where the destination is, if its memory is managed or pageable."}),
      option<&CopyOptions::overlap_mode>(
          {.name = "overlap_mode", .doc = "Whether the copy should overlap with kernels."}),
  };
};

template <>
struct OptionTable<AccessPolicyWindow> {
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.AccessPolicyWindow",
      .summary = "Memory whose lines the L2 cache keeps, or doesn't keep (CUaccessPolicyWindow).",
      .example =
          ">>> cudacore.AccessPolicyWindow(0x1000, 4096, hit_prop=\"persisting\")\n"
          "AccessPolicyWindow(base_ptr=4096, num_bytes=4096, hit_prop='persisting')"};
  static constexpr std::array fields = {
      option<&AccessPolicyWindow::base_ptr>(
          {.name = "base_ptr", .doc = "Where it starts; of a Buffer, its first byte."}),
      option<&AccessPolicyWindow::num_bytes>(
          {.name = "num_bytes",
           .doc = "At most the device's max_access_policy_window_size; 0 for no window."}),
      option<&AccessPolicyWindow::hit_ratio>(
          {.name = "hit_ratio", .doc = "The part of the lines, 0 to 1, that has hit_prop."}),
      option<&AccessPolicyWindow::hit_prop>(
          {.name = "hit_prop",
           .doc = "How long those lines stay: as usual, shortly, or in the part of the cache that "
                  "ContextLimits.persisting_l2_cache_size sets aside."}),
      option<&AccessPolicyWindow::miss_prop>(
          {.name = "miss_prop", .doc = "How long the others stay: 'normal' or 'streaming'."}),
  };

  static void check(const AccessPolicyWindow& window, const py::dict& given) {
    if (!given.contains("base_ptr")) return;
    const py::object base = given["base_ptr"];
    const auto* buffer = get_if<Buffer>(base.ptr());
    if (buffer == nullptr || buffer->is_closed() || window.num_bytes <= buffer->size()) return;
    throw py::value_error("AccessPolicyWindow.num_bytes: this Buffer has " +
                          std::to_string(buffer->size()) + " bytes, and the window " +
                          std::to_string(window.num_bytes));
  }
};

template <>
struct OptionTable<VirtualMemoryResourceOptions> {
  using Options = VirtualMemoryResourceOptions;
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.VirtualMemoryResourceOptions",
      .summary = "How virtual memory is made, and who may access it (cuMemCreate, cuMemSetAccess).",
      .example =
          ">>> cudacore.VirtualMemoryResourceOptions(handle_type=None, peers=[1])\n"
          "VirtualMemoryResourceOptions(handle_type=None, peers=[1])"};
  static constexpr std::array fields = {
      option<&Options::allocation_type>(
          {.name = "allocation_type",
           .doc = "The kind of memory. No driver so far makes managed memory in this way."}),
      option<&Options::location_type>(
          {.name = "location_type", .doc = "Where the memory is: on the device, or on the host."}),
      option<&Options::handle_type>(
          {.name = "handle_type", .doc = "How the memory can be shared; None: not at all."}),
      option<&Options::granularity>(
          {.name = "granularity",
           .doc = "Whether sizes are multiples of the smallest unit, or of one that is faster."}),
      option<&Options::gpu_direct_rdma>(
          {.name = "gpu_direct_rdma", .doc = "Whether network cards may access the memory."}),
      option<&Options::addr_hint>(
          {.name = "addr_hint",
           .doc = "The address to use if it is free; 0 or None for any address."}),
      option<&Options::addr_align>(
          {.name = "addr_align",
           .doc = "What the address is a multiple of, a power of two; None for the granularity."}),
      option<&Options::peers>({.name = "peers",
                               .rule = "list",
                               .doc = "Ordinals of other devices that may access the memory."}),
      option<&Options::self_access>(
          {.name = "self_access", .doc = "What the device may do, or the host with its memory."}),
      option<&Options::peer_access>({.name = "peer_access", .doc = "What the peers may do."}),
  };
};

template <>
struct OptionTable<ProgramOptions> {
  static void set_defaults(ProgramOptions& options) { options.name = "default_program"; }
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.ProgramOptions",
      .summary = "How a program is compiled. Fields left None keep NVRTC's default.",
      .example =
          ">>> options = cudacore.ProgramOptions(arch=\"sm_90\", define_macro=(\"N\", \"4\"))\n"
          ">>> options.define_macro\n[('N', '4')]\n"
          ">>> options.debug = True\n"
          ">>> options\nProgramOptions(arch='sm_90', debug=True, define_macro=[('N', '4')])",
      .tool = "NVRTC"};
  static constexpr std::array fields = {
#define CUDACORE_PROGRAM_OPTION(type, field, how, spelling, ...) \
  option<&ProgramOptions::field>({.name = #field, .rule = #how, .flag = spelling, __VA_ARGS__}),
#include "cudacore/program_options.def"
#undef CUDACORE_PROGRAM_OPTION
  };
};

template <>
struct OptionTable<LinkerOptions> {
  static void set_defaults(LinkerOptions& options) { options.name = "default_linker"; }
  static constexpr OptionTexts texts{
      .qualified_name = "cudacore.LinkerOptions",
      .summary = "How object codes are linked. Fields left None keep nvJitLink's default.",
      .example =
          ">>> cudacore.LinkerOptions(arch=\"sm_90\", link_time_optimization=True)\n"
          "LinkerOptions(arch='sm_90', link_time_optimization=True)",
      .tool = "nvJitLink"};
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
template CopyOptions to_options(py::handle);
template VirtualMemoryResourceOptions to_options(py::handle);
template AccessPolicyWindow to_options(py::handle);
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

void bind_access_policy_window(py::module_& module) {
  OptionClass<AccessPolicyWindow>::add(module);
}

void bind_options(py::module_& module) {
  OptionClass<StreamOptions>::add(module);
  OptionClass<EventOptions>::add(module);
  OptionClass<DeviceMemoryResourceOptions>::add(module);
  OptionClass<PinnedMemoryResourceOptions>::add(module);
  OptionClass<ManagedMemoryResourceOptions>::add(module);
  OptionClass<CopyOptions>::add(module);
  OptionClass<VirtualMemoryResourceOptions>::add(module);
  OptionClass<ProgramOptions>::add(module).def("as_bytes", quick, py::arg("backend"),
                                               py::arg("target_type") = py::none(), &program_bytes);
  OptionClass<LinkerOptions>::add(module).def("as_bytes", quick, py::arg("backend") = "nvjitlink",
                                              &linker_bytes);
}

}  // namespace cudacore::bindings
