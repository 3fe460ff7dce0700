// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings/dlpack.hpp"
#include "bindings/errors.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/gil.hpp"
#include "bindings/host_buffer.hpp"
#include "bindings/values.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] = "Device.allocate(), MemoryResource.allocate() or Buffer.from_handle()";

constexpr char class_name[] = "Buffer";

/// A value and a stream.
using Arguments = std::array<py::handle, 2>;

/// A value that was not given is refused like a None.
py::handle or_none(py::handle value) { return value ? value : py::handle(Py_None); }

/// The stream of a call on a buffer: borrowed from a Stream object, or a share of its own.
class StreamOfCall {
 public:
  StreamOfCall(py::handle given, const Buffer& buffer) : given_(given) {
    if (get_if<Stream>(given.ptr()) != nullptr) {
      borrowed_.emplace(given.ptr());
    } else {
      own_ = to_stream(given, buffer);
    }
  }
  [[nodiscard]] const Stream& get() const { return borrowed_ ? borrowed_->get() : *own_; }
  /// A share, for a callee that keeps it.
  [[nodiscard]] Stream share() const { return borrowed_ ? *get_if<Stream>(given_.ptr()) : *own_; }

 private:
  py::handle given_;
  std::optional<Borrowed<Stream>> borrowed_;
  std::optional<Stream> own_;
};

PyObject* copy_from(PyObject* self, const Arguments& given) {
  const Borrowed<Buffer> destination(self);
  const StreamOfCall stream(given[1], destination.get());
  const py::handle origin = or_none(given[0]);
  if (get_if<Buffer>(origin.ptr()) != nullptr) {
    const Borrowed<Buffer> source(origin.ptr());
    const ReleaseGil release;
    destination.get().copy_from(source.get(), stream.get());
  } else {
    const HostBuffer host(origin, false, "Buffer.copy_from: src");
    const ReleaseGil release;
    destination.get().copy_from(host.bytes(), stream.get());
  }
  Py_RETURN_NONE;
}

PyObject* copy_to(PyObject* self, const Arguments& given) {
  const Borrowed<Buffer> borrowed(self);
  const Buffer& source = borrowed.get();
  const StreamOfCall stream(given[1], source);
  auto destination = py::reinterpret_borrow<py::object>(given[0]);
  if (destination.is_none()) {
    const std::shared_ptr<MemoryResource> resource = source.memory_resource();
    if (resource == nullptr) {
      throw py::value_error(
          "Buffer.copy_to: the buffer wraps memory of no resource, so dst must be given");
    }
    destination = py::cast(without_gil([&resource, size = source.size(), chosen = stream.share()] {
      return resource->allocate(size, chosen);
    }));
  }
  if (get_if<Buffer>(destination.ptr()) != nullptr) {
    const Borrowed<Buffer> target(destination.ptr());
    const ReleaseGil release;
    target.get().copy_from(source, stream.get());
  } else {
    const HostBuffer host(destination, true, "Buffer.copy_to: dst");
    const ReleaseGil release;
    source.copy_to(host.bytes(), stream.get());
  }
  return destination.release().ptr();
}

PyObject* fill(PyObject* self, const Arguments& given) {
  const Borrowed<Buffer> buffer(self);
  const StreamOfCall stream(given[1], buffer.get());
  const py::handle value = or_none(given[0]);
  std::uint32_t pattern = 0;
  std::size_t width = 1;
  if (PyLong_Check(value.ptr()) != 0 && PyBool_Check(value.ptr()) == 0) {
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || number < 0 || number > 255) {
      throw std::overflow_error(
          "Buffer.fill: an int fills single bytes and must lie in 0 .. 255, not " + shown(value) +
          "; give bytes or a NumPy scalar of 2 or 4 bytes for a wider pattern");
    }
    pattern = static_cast<std::uint32_t>(number);
  } else if (PyFloat_CheckExact(value.ptr()) != 0 || PyBool_Check(value.ptr()) != 0) {
    throw py::type_error("Buffer.fill: a " + type_name(value) +
                         " does not say how many bytes it has; give a NumPy scalar, such as "
                         "np.float32(...), an int of 0 .. 255 for single bytes, or bytes");
  } else if (get_if<Buffer>(value.ptr()) != nullptr) {
    throw py::type_error("Buffer.fill: value must be a pattern, not a " + type_name(value) +
                         "; copy_from copies one");
  } else if (PyObject_CheckBuffer(value.ptr()) == 0) {
    throw py::type_error(
        "Buffer.fill: value must be an int of 0 .. 255, a NumPy scalar or bytes, not " +
        type_name(value));
  } else {
    const HostBuffer host(value, false, "Buffer.fill: value");
    width = host.bytes().size();
    if (width != 1 && width != 2 && width != 4) {
      throw py::value_error("Buffer.fill: a pattern has 1, 2 or 4 bytes, not " +
                            std::to_string(width));
    }
    std::memcpy(&pattern, host.bytes().data(), width);
  }
  {
    const ReleaseGil release;
    buffer.get().fill(pattern, width, stream.get());
  }
  Py_RETURN_NONE;
}

/// What the buffer held ends without the GIL: the release may have to wait for the driver.
void close_without_gil(PyObject* self) {
  Buffer ended = close_object<Buffer>(self);
  const ReleaseGil release;
  ended.close();
}

PyObject* close(PyObject* self, const std::array<py::handle, 1>& given) {
  const Buffer& buffer = *get_if<Buffer>(self);
  const std::optional<Stream> stream = to_optional_stream(given[0]);
  if (stream && !buffer.is_closed() && !buffer.box()->is_stale()) {
    buffer.set_deallocation_stream(*stream);  // refuses a closed stream before anything changes
  }
  close_without_gil(self);
  Py_RETURN_NONE;
}

/// A NumPy array of what is in the buffer, which has arrived when this returns.
py::object to_host(const Buffer& self, const py::object& dtype, const py::object& shape,
                   py::handle stream) {
  const Buffer source = self;
  if (source.is_closed()) throw py::value_error("Buffer.to_host: the buffer is closed");
  const StreamOfCall chosen(stream, source);
  const py::tuple made =
      py::module_::import("cudacore._host").attr("make_array")(source.size(), dtype, shape);
  const HostBuffer host(made[0], true, "Buffer.to_host");
  {
    const ReleaseGil release;
    source.copy_to(host.bytes(), chosen.get());
    chosen.get().sync();
  }
  return made[1];
}

/// buffer[start:stop]
Buffer get_slice(const Buffer& self, const py::object& index) {
  const Buffer whole = self;  // the bounds' __index__ may close the object
  if (PySlice_Check(index.ptr()) == 0) {
    throw py::type_error("a Buffer is sliced by bytes, buf[0:256], and has no element " +
                         shown(index) + "; buf.to_host(dtype) gives an array of its elements");
  }
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(index.ptr(), &start, &stop, &step) != 0) throw py::error_already_set();
  if (step != 1) {
    throw py::value_error("a slice of a Buffer is one range of bytes: its step must be 1, not " +
                          std::to_string(step));
  }
  const Py_ssize_t size =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(whole.size()), &start, &stop, step);
  return whole.slice(static_cast<std::size_t>(start), static_cast<std::size_t>(size));
}

/// Shows the memory to the host. The view holds a share of it, so that close() is safe meanwhile.
int get_view(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const PyObject* done = guarded([&]() -> PyObject* {
    auto share = std::make_unique<Buffer>(*get_if<Buffer>(self));
    if (!share->is_host_accessible()) {
      throw py::buffer_error(
          "this Buffer lives on device " + std::to_string(share->device_id()) +
          ", where the host cannot read it: buf.to_host() copies it into a NumPy array, "
          "buf.copy_to(bytearray(len(buf))) into memory of your own");
    }
    share->box()->throw_if_stale();
    if (share->handle() == 0 && share->size() != 0) {
      throw py::buffer_error("this Buffer's address is null: there is nothing to read");
    }
    auto* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(share->handle()));
    if (PyBuffer_FillInfo(view, self, memory, static_cast<Py_ssize_t>(share->size()), 0, flags) !=
        0) {
      throw py::error_already_set();
    }
    view->internal = share.release();
    return Py_None;
  });
  return done == nullptr ? -1 : 0;
}

void release_view(PyObject* /*self*/, Py_buffer* view) {
  const std::unique_ptr<Buffer> ended(static_cast<Buffer*>(view->internal));
}

constexpr char copy_from_doc[] =
    "copy_from($self, src, *, stream=None)\n--\n\n"
    "Copies the whole of another buffer, or of a host object, into this one\n"
    "(cuMemcpyAsync). Sizes must agree.\n\n"
    "Parameters\n----------\n"
    "src : Buffer or object with the buffer protocol\n"
    "    Pageable host memory is staged before the call returns; pinned memory must\n"
    "    stay as it is until the stream has passed the copy.\n"
    "stream : Stream or None\n    The current stream where None.\n\n"
    "Raises\n------\nValueError\n    Where the sizes differ or a buffer is closed.";
constexpr char copy_to_doc[] =
    "copy_to($self, dst=None, *, stream=None)\n--\n\n"
    "Copies the whole buffer into another, or into a writable host object\n"
    "(cuMemcpyAsync). Sizes must agree.\n\n"
    "Parameters\n----------\n"
    "dst : Buffer, writable object with the buffer protocol, or None\n"
    "    Where None, a new buffer of the same memory resource.\n"
    "stream : Stream or None\n    The current stream where None.\n\n"
    "Returns\n-------\nobject\n    dst, or the new buffer.\n\n"
    "Raises\n------\nValueError\n    Where the sizes differ or a buffer is closed.";
constexpr char fill_doc[] =
    "fill($self, value, *, stream=None)\n--\n\n"
    "Fills the buffer with a repeated pattern (cuMemsetD8Async, D16, D32).\n\n"
    "Parameters\n----------\n"
    "value : int or object with the buffer protocol\n"
    "    An int in 0 .. 255 for each byte, or 1, 2 or 4 bytes.\n"
    "stream : Stream or None\n    The current stream where None.\n\n"
    "Raises\n------\nValueError\n"
    "    Where the buffer's size is no multiple of the pattern's.";
constexpr char close_doc[] =
    "close($self, stream=None)\n--\n\n"
    "Gives the memory back to its resource, ordered on a stream (cuMemFreeAsync).\n"
    "Using the buffer later raises ValueError; closing it again does nothing.\n\n"
    "Parameters\n----------\n"
    "stream : Stream or None\n    The stream of the allocation where None.";

std::string repr(const Buffer& self) {
  if (self.is_closed()) return "<Buffer, closed>";
  char address[32];
  std::snprintf(address, sizeof(address), "0x%llx", self.handle());
  return "<Buffer of " + std::to_string(self.size()) + " bytes at " + address + ">";
}

}  // namespace

template <>
struct BufferProtocolOf<Buffer> {
  static constexpr getbufferproc get = &get_view;
  static constexpr releasebufferproc release = &release_view;
};

void bind_buffer(py::module_& module) {
  HeapClass<Buffer>(
      module, "cudacore.Buffer",
      "A range of memory that a device, the host, or both can reach.\n\n"
      "Goes back to its memory resource when the last reference does, ordered on the\n"
      "stream of the allocation. ``len(buf)`` is its size in bytes. ``buf[256:512]`` is a part of\n"
      "the same memory, as a buffer of its own; the memory lives until the last part is gone,\n"
      "whether or not the whole is closed. ``memoryview(buf)`` shows what the host can read.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> stream = dev.create_stream()\n"
      ">>> with dev.allocate(4, stream=stream) as buffer:\n"
      "...     buffer.copy_from(b\"abcd\", stream=stream)\n"
      "...     back = buffer.copy_to(bytearray(4), stream=stream)\n"
      ">>> stream.sync()\n"
      ">>> back\n"
      "bytearray(b'abcd')",
      refuse_new<how_made>)
      .def_class(
          "from_handle",
          [](py::handle type, py::handle pointer, py::handle size, py::handle mr, py::object owner,
             py::handle stream) {
            const auto address =
                pointer.is_none() ? 0 : to_address(pointer, "Buffer.from_handle: ptr");
            if (!mr.is_none() && !owner.is_none()) {
              throw py::value_error("Buffer.from_handle: give mr or owner, not both");
            }
            const std::size_t bytes = to_byte_count(size, "Buffer.from_handle");
            const std::optional<Stream> chosen = to_optional_stream(stream);
            return make_instance(
                type, Buffer::from_handle(
                          address, bytes, mr.is_none() ? nullptr : to_memory_resource(mr),
                          owner.is_none() ? nullptr : keep_alive(std::move(owner)), chosen));
          },
          quick, py::arg("ptr"), py::arg("size"), py::arg("mr") = py::none(),
          py::arg("owner") = py::none(), py::kw_only(), py::arg("stream") = py::none(),
          "Wraps memory that somebody else allocated.\n\n"
          "Parameters\n----------\n"
          "ptr : int or None\n    The address.\n"
          "size : int\n    Bytes.\n"
          "mr : MemoryResource or None\n    Its ``deallocate`` is called at the end.\n"
          "owner : object\n    Kept alive until the end; nothing is freed. Not with `mr`.\n"
          "stream : Stream or None\n    What the release is ordered on.\n\n"
          "Returns\n-------\nBuffer\n    Of the class that it is called on.")
      .def_fast(FastMethod<class_name, close_doc, &close>::definition)
      .def_fast(FastMethod<class_name, copy_from_doc, &copy_from>::definition)
      .def_fast(FastMethod<class_name, copy_to_doc, &copy_to>::definition)
      .def_fast(FastMethod<class_name, fill_doc, &fill>::definition)
      .def("to_host", &to_host, py::arg("dtype") = py::none(), py::arg("shape") = py::none(),
           py::kw_only(), py::arg("stream") = py::none(), in_parts,
           "Copies the whole buffer into a new NumPy array, and waits for it to arrive\n"
           "(cuMemcpyAsync, cuStreamSynchronize).\n\n"
           "Parameters\n----------\n"
           "dtype : anything that numpy.dtype() takes, optional\n"
           "    The type of the elements; ``uint8`` where None.\n"
           "shape : int or tuple of int, optional\n"
           "    As numpy.reshape() takes it, with -1 for what is left; one dimension where None.\n"
           "stream : Stream or None\n    The current stream where None.\n\n"
           "Returns\n-------\nnumpy.ndarray\n\n"
           "Raises\n------\n"
           "ImportError\n    NumPy is not installed.\n"
           "ValueError\n    The size is no whole number of elements, or not that of the shape; or "
           "the\n"
           "    buffer is closed.\n\n"
           "Examples\n--------\n"
           ">>> dev = cudacore.Device()\n"
           ">>> buffer = dev.to_device(bytes([1, 0, 2, 0]))\n"
           ">>> buffer.to_host(\"int16\").tolist()\n"
           "[1, 2]")
      .def(
          "__len__", [](const Buffer& self) { return self.size(); }, quick)
      .def("__getitem__", &get_slice, py::arg("index"), py::pos_only(), in_parts,
           "A part of the memory: ``buf[start:stop]``, in bytes.")
      .def(
          "set_deallocation_stream",
          [](const ObjectOf<Buffer>& self, py::handle stream) {
            if (stream.is_none()) {
              throw py::type_error("Buffer.set_deallocation_stream: stream must not be None");
            }
            const Stream chosen = to_stream(stream);
            self.value().set_deallocation_stream(chosen);
            track<Buffer>(self.ptr());
          },
          quick, py::arg("stream"), "Sets the stream that the memory's release will be ordered on.")
      .def_property_readonly("is_closed", read<&Buffer::is_closed>, quick, "bool: Whether closed.")
      .def_property_readonly("handle", read<&Buffer::handle>, quick,
                             "int: The address; 0 once closed.")
      .def_property_readonly("size", read<&Buffer::size>, quick, "int: Bytes; 0 once closed.")
      .def_property_readonly("device_id", read<&Buffer::device_id>,
                             "int: The device that owns the memory, -1 where none does.")
      .def_property_readonly("is_device_accessible", read<&Buffer::is_device_accessible>,
                             "bool: Whether a kernel can reach it.")
      .def_property_readonly("is_host_accessible", read<&Buffer::is_host_accessible>,
                             "bool: Whether the host can reach it.")
      .def_property_readonly("is_managed", read<&Buffer::is_managed>,
                             "bool: Whether it moves between host and device by itself.")
      .def_property_readonly(
          "is_mapped", [](const Buffer&) { return false; }, quick,
          "bool: Always False: memory of other processes is not supported yet.")
      .def_property_readonly(
          "memory_resource",
          [](const Buffer& self) { return self.is_closed() ? nullptr : self.memory_resource(); },
          quick, "MemoryResource or None: Where the memory goes back to; None once closed.")
      .def_property_readonly(
          "owner",
          [](const Buffer& self) {
            return self.is_closed() ? py::object(py::none()) : kept_object(self.box()->owner);
          },
          quick, "object: What `from_handle` was given to keep alive.")
      .def("__dlpack__", &dlpack_capsule, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(), in_parts,
           "A DLPack capsule that shows the memory as a 1-D array of int8.")
      .def("__dlpack_device__", &dlpack_device, quick, "(device type, ordinal) in DLPack's codes.")
      .def(
          "__enter__", [](py::object self) { return self; }, quick)
      .def(
          "__exit__",
          [](const ObjectOf<Buffer>& self, const py::args&) { close_without_gil(self.ptr()); },
          in_parts)
      .def_identity([](const Buffer& a, const Buffer& b) {
        return a.handle() == b.handle() && a.size() == b.size();
      })
      .def("__repr__", &repr, quick);
}

}  // namespace cudacore::bindings
