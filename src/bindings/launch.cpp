// SPDX-License-Identifier: Apache-2.0
#include "bindings/argument.hpp"
#include "bindings/borrowed_buffers.hpp"
#include "bindings/conversions.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/kept_arguments.hpp"
#include "bindings/launcher.hpp"
#include "bindings/queue_launch.hpp"
#include "bindings/recorder.hpp"
#include "bindings/traced_launches.hpp"
#include "error/context_box.hpp"
#include "launch/enqueue.hpp"
#include "launch/kernel_box.hpp"
#include "owner/captures.hpp"
#include "owner/owned_handles.hpp"

// The launch from Python. One function serves launch(), kernel[...](...) and bound launchers; it
// packs into a buffer on the stack, and releases the GIL only around the driver call: otherwise, a
// full queue behind a host callback that needs the GIL would hang.

namespace cudacore::bindings {
namespace {

void queue(const driver::DriverApi& api, const owner::StreamBox& stream, error::ContextBox& context,
           launching::KernelBox& kernel, const LaunchConfig& config, void** parameters) {
  CUresult result = CUDA_SUCCESS;
  {
    const ReleaseGil release;
    result = enqueue(api, stream, context, kernel, config, parameters);
  }
  if (result != CUDA_SUCCESS) [[unlikely]] {
    throw_launch_error(result, stream, context, kernel, config);
  }
}

/// The graph that a captured launch becomes part of keeps what the launch uses.
void keep_in_capture(const driver::DriverApi& api, const owner::StreamBox& stream,
                     const Kernel& kernel, Shares shares, LaunchArrays& arrays) {
  auto kept = std::make_shared<owner::Kept>();
  kept->shares = std::move(shares);
  if (Recorder* recorder = Recorder::active()) {
    if (recorder->note_launch(stream, kernel, arrays) && recorder->keep(stream, kept->shares))
      return;
  }
  kept->kernel = kernel.box();
  const ReleaseGil release;
  owner::keep_in_capture(api, stream, std::move(kept));
}

/// Whether an object is a kernel of cudacore.tile, which is not loaded for the question.
bool is_tile_kernel(py::handle object) {
  const auto tile =
      py::reinterpret_steal<py::object>(PyImport_GetModule(py::str("cudacore.tile").ptr()));
  if (!tile && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return tile && py::isinstance(object, tile.attr("kernel"));
}

/// Says what is wrong with a call of launch().
[[noreturn]] void refuse_launch(PyObject* const* args, Py_ssize_t count) {
  const std::string shape = "launch(stream, config, kernel, *kernel_args)";
  const auto is_config = [&](Py_ssize_t i) {
    return count > i && (get_if<LaunchConfig>(args[i]) != nullptr || PyDict_Check(args[i]) != 0);
  };
  const auto is_kernel = [&](Py_ssize_t i) {
    return count > i && get_if<Kernel>(args[i]) != nullptr;
  };
  if (is_config(0) && is_kernel(1)) {
    throw py::type_error(
        shape + ": the stream is missing; give it first, or None for the current " + "stream");
  }
  if (is_kernel(1) && is_config(2)) {
    throw py::type_error(shape + ": the config goes before the kernel");
  }
  if (is_kernel(0)) {
    throw py::type_error(shape + " has the kernel third; kernel[grid, block](...) is shorter");
  }
  if (count < 3) {
    throw py::type_error(shape + " takes at least 3 arguments, but " + std::to_string(count) +
                         (count == 1 ? " was given" : " were given"));
  }
  if (is_tile_kernel(args[2])) {
    throw py::type_error(
        "launch: kernel must be a Kernel, not a kernel of cudacore.tile: use "
        "cudacore.tile.launch(stream, grid, kernel, kernel_args)");
  }
  refuse_type("launch: kernel", "a Kernel", args[2]);
}

/// launch(stream, config, kernel, *kernel_args)
PyObject* launch(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (is_tracing()) [[unlikely]]
      Py_RETURN_NONE;
    const auto* kernel = count < 3 ? nullptr : get_if<Kernel>(args[2]);
    if (kernel == nullptr) [[unlikely]] {
      refuse_launch(args, count);
    }
    const auto* config = get_if<LaunchConfig>(args[1]);
    const std::span<PyObject* const> given(args + 3, static_cast<std::size_t>(count - 3));
    if (get_if<Stream>(args[0]) != nullptr && config != nullptr) [[likely]] {
      const Borrowed<Stream> stream(args[0]);
      launch_from_python(stream.get(), *config, *kernel, given, given);
    } else {
      launch_from_python(to_stream(args[0]), to_launch_config(args[1]), *kernel, given, given);
    }
    Py_RETURN_NONE;
  });
}

/// launcher(*kernel_args)
PyObject* call_launcher(PyObject* self, PyObject* const* args, std::size_t flags,
                        PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    if (is_tracing()) [[unlikely]]
      Py_RETURN_NONE;
    if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
      throw py::type_error(
          "a launch takes no keyword arguments: the kernel's parameters go by position, the stream "
          "and shared memory into the brackets, kernel[grid, block, stream, shmem_size](...)");
    }
    const Launcher& bound = *get_if<Launcher>(self);
    const auto launch_on = [&](const Stream& stream) {
      const std::span given(args, static_cast<std::size_t>(PyVectorcall_NARGS(flags)));
      launch_from_python(stream, bound.config, bound.kernel, given, given);
    };
    if (bound.stream) {
      launch_on(*bound.stream);
    } else if (PyObject* entered = entered_stream()) {
      // Held, since an argument's Python code may leave and close it.
      const auto held = py::reinterpret_borrow<py::object>(entered);
      const Borrowed<Stream> stream(entered);
      launch_on(stream.get());
    } else {
      launch_on(default_stream());
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&launch)), METH_FASTCALL,
     "launch(stream, config, kernel, /, *kernel_args)"},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* call_method(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return call_launcher(self, args, static_cast<std::size_t>(count), nullptr);
}

PyMethodDef call_definition[] = {
    {"__call__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call_method)),
     METH_FASTCALL | METH_COEXIST, "__call__($self, /, *args)"},
    {nullptr, nullptr, 0, nullptr},
};

constexpr char how_made[] = "kernel[grid, block] or kernel[grid, block, stream, shmem_size]";

}  // namespace

void launch_from_python(const Stream& stream, const LaunchConfig& config, const Kernel& target,
                        std::span<PyObject* const> args, std::span<PyObject* const> used) {
  launching::KernelBox& kernel = *target.box();
  const owner::StreamBox* box = stream.box().get();
  if (box == nullptr) [[unlikely]] {
    throw std::invalid_argument("launch of " + kernel.name + ": the stream is closed");
  }
  // Once: an argument's Python code may make another device current.
  const std::shared_ptr<error::ContextBox>& context = box->work_context();
  LaunchArrays arrays(*box, context);
  launching::PackedArguments packed(kernel, args.size(),
                                    [&](std::size_t i) { return exact_param(kernel, i, args[i]); });
  pack_arguments(kernel, args.data(), arrays, packed);
  queue_launch(*box, *context, config, target, packed.places(), arrays, used);
}

void queue_launch(const owner::StreamBox& stream, error::ContextBox& context,
                  const LaunchConfig& config, const Kernel& kernel, void** places,
                  LaunchArrays& arrays, std::span<PyObject* const> used) {
  const driver::DriverApi& api = driver::api();
  // From here on, no other thread ends what was packed.
  const BorrowedBuffers borrowed(used.data(), used.size());
  Shares shares;
  const bool may_be_captured = owner::any_capture();
  if (may_be_captured) [[unlikely]] {
    shares = keep_arguments(used.data(), used.size());
    require_no_foreign_stand_ins(stream, used);
  }
  if (arrays.has_producers()) [[unlikely]] {
    const ReleaseGil release;
    arrays.wait_for_producers();
  }
  if (const Recorder* recorder = Recorder::active()) [[unlikely]]
    recorder->require_captured(stream);
  queue(api, stream, context, *kernel.box(), config, places);
  if (owner::any_capture()) [[unlikely]] {
    if (!may_be_captured) shares = keep_arguments(used.data(), used.size());
    keep_in_capture(api, stream, kernel, std::move(shares), arrays);
  }
  if (arrays.notes_uses()) [[unlikely]] {
    const ReleaseGil release;
    arrays.note_uses();
  }
  if (arrays.has_producers()) [[unlikely]] {
    const ReleaseGil release;
    arrays.make_producers_wait();
  }
}

void bind_launch(py::module_& module) {
  document(functions[0], module);
  if (PyModule_AddFunctions(module.ptr(), functions) != 0) throw py::error_already_set();
  HeapClass<Launcher>(module, "cudacore.Launcher", refuse_new<how_made>, &call_launcher,
                      call_definition)
      .property("kernel", quick, [](const Launcher& self) { return self.kernel; })
      .property("config", quick, [](const Launcher& self) { return self.config; })
      .property("stream", quick, [](const Launcher& self) { return to_object(self.stream); })
      .def("__repr__", quick,
           [](const Launcher& self) { return "<Launcher of " + self.kernel.name() + ">"; });
}

}  // namespace cudacore::bindings
