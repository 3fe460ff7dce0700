// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "bindings/array_memory.hpp"
#include "bindings/conversions.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/host_buffer.hpp"
#include "bindings/kept_arguments.hpp"
#include "bindings/managed_buffer.hpp"
#include "bindings/options.hpp"
#include "bindings/recorder.hpp"
#include "bindings/strided_view.hpp"
#include "driver/driver_api.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/release_order.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "Device.allocate(), MemoryResource.allocate() or Buffer.from_handle()";

/// A value and a stream, and maybe options.
using Arguments = std::array<py::handle, 2>;
using CopyArguments = std::array<py::handle, 3>;

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

/// Refuses a Buffer that was open when the call began, and that what it converts has closed.
void require_still_open(py::handle self, const Buffer& begun_with, const char* function) {
  if (begun_with.is_closed() || !get_if<Buffer>(self.ptr())->is_closed()) return;
  throw py::value_error(std::string(function) +
                        ": the buffer was closed while the other arguments were read");
}

/// A copy with options, which only buffers have.
void copy_with_options(const char* function, py::handle destination, py::handle source,
                       py::handle stream, py::handle options) {
  const auto chosen = to_options<CopyOptions>(options);
  for (const py::handle side : {destination, source}) {
    if (get_if<Buffer>(side.ptr()) != nullptr) continue;
    refuse_type(std::string(function) + " with options", "given a Buffer", side);
  }
  const Stream on = to_stream(stream, Buffer(*get_if<Buffer>(destination.ptr())));
  const Buffer to = *get_if<Buffer>(destination.ptr());
  const Buffer from = *get_if<Buffer>(source.ptr());
  require_recorded(on);
  refuse_stream(without_gil([&] { return batch_refusal(function, on); }));
  without_gil([&] { to.copy_from(from, on, chosen); });
}

PyObject* copy_from(PyObject* self, const CopyArguments& given) {
  const py::handle origin = given[0];
  if (!given[2].is_none()) {
    copy_with_options("Buffer.copy_from", self, origin, given[1], given[2]);
    Py_RETURN_NONE;
  }
  const Borrowed<Buffer> destination(self);
  const StreamOfCall stream(given[1], destination.get());
  require_recorded(stream.get(), {self, origin});
  std::shared_ptr<void> used;
  std::span<const std::byte> host;
  std::optional<Borrowed<Buffer>> source;
  if (get_if<Buffer>(origin.ptr()) != nullptr) {
    source.emplace(origin.ptr());
    const ReleaseGil release;
    destination.get().copy_from(source->get(), stream.get());
  } else {
    used = with_memory(origin, false, stream.get(), "Buffer.copy_from: src",
                       [&](const ArrayMemory& array) {
                         require_still_open(self, destination.get(), "Buffer.copy_from");
                         if (array.is_on_host()) host = array.host_bytes();
                         require_recorded_source(host);
                         const ReleaseGil release;
                         array.copy_to(destination.get());
                       });
    note_recorded_source(stream.get(), host, used);
  }
  keep_if_captured(stream.get(), {self, origin}, std::move(used));
  Py_RETURN_NONE;
}

PyObject* copy_to(PyObject* self, const CopyArguments& given) {
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
    destination =
        checked(make_buffer(without_gil([&resource, size = source.size(), chosen = stream.share()] {
          return resource->allocate(size, chosen);
        })));
  }
  if (!given[2].is_none()) {
    copy_with_options("Buffer.copy_to", destination, self, given[1], given[2]);
    return destination.release().ptr();
  }
  std::shared_ptr<void> used;
  require_recorded(stream.get(), {self, destination});
  std::optional<Borrowed<Buffer>> target;
  if (get_if<Buffer>(destination.ptr()) != nullptr) {
    target.emplace(destination.ptr());
    const ReleaseGil release;
    target->get().copy_from(source, stream.get());
  } else {
    used = with_memory(destination, true, stream.get(), "Buffer.copy_to: dst",
                       [&](const ArrayMemory& array) {
                         require_still_open(self, source, "Buffer.copy_to");
                         require_recorded_copy(stream.get(), array.is_on_host());
                         const ReleaseGil release;
                         array.copy_from(source);
                       });
  }
  keep_if_captured(stream.get(), {self, destination}, std::move(used));
  return destination.release().ptr();
}

PyObject* fill(PyObject* self, const Arguments& given) {
  const Borrowed<Buffer> buffer(self);
  const StreamOfCall stream(given[1], buffer.get());
  require_recorded(stream.get(), {self});
  const py::handle value = given[0];
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
    throw py::type_error("Buffer.fill: " + type_with_article(value) +
                         " does not say how many bytes it has; give a NumPy scalar, such as "
                         "np.float32(...), an int of 0 .. 255 for single bytes, or bytes");
  } else if (get_if<Buffer>(value.ptr()) != nullptr) {
    throw py::type_error("Buffer.fill: value must be a pattern, not " + type_with_article(value) +
                         "; copy_from copies one");
  } else if (PyObject_CheckBuffer(value.ptr()) == 0) {
    refuse_type("Buffer.fill: value", "an int of 0 .. 255, a NumPy scalar or bytes", value);
  } else {
    const HostBuffer host(value, false, "Buffer.fill: value");
    width = host.bytes().size();
    if (width != 1 && width != 2 && width != 4) {
      throw py::value_error("Buffer.fill: a pattern has 1, 2 or 4 bytes, not " +
                            std::to_string(width));
    }
    std::memcpy(&pattern, host.bytes().data(), width);
  }
  require_still_open(self, buffer.get(), "Buffer.fill");
  {
    const ReleaseGil release;
    buffer.get().fill(pattern, width, stream.get());
  }
  keep_if_captured(stream.get(), {self});
  Py_RETURN_NONE;
}

/// Releases the memory without the GIL if the release may have to wait for the driver.
void close_without_gil(PyObject* self) {
  Buffer ended = close_object<Buffer>(self);
  const std::shared_ptr<owner::BufferBox>& box = ended.box();
  if (box == nullptr || (box.use_count() == 1 && box->release_at_once())) return;
  const ReleaseGil release;
  ended.close();
}

PyObject* close(PyObject* self, const std::array<py::handle, 1>& given) {
  const Buffer& buffer = *get_if<Buffer>(self);
  const std::optional<Stream> stream = to_optional_stream(given[0]);
  if (stream && !buffer.is_closed() && !buffer.box()->is_stale()) {
    order_release(buffer, *stream);  // refuses a closed stream before anything changes
  }
  close_without_gil(self);
  Py_RETURN_NONE;
}

/// Whether a Buffer stands for an argument that the thread records, which has another address.
bool is_stand_in(const Buffer& buffer) noexcept {
  const Recorder* recorder = Recorder::active();
  return recorder != nullptr && recorder->is_stand_in_address(buffer.handle());
}

[[noreturn]] void refuse_comparison() {
  throw NotSupportedError(
      "a Buffer that is an argument is compared or hashed while that is recorded: the recording "
      "is for any Buffer of its size; compare outside of the recorded function");
}

void require_hashable(const Buffer& buffer) {
  if (is_stand_in(buffer)) refuse_comparison();
}

/// Two arguments may be compared: a recording is for those that are the same, or are not.
bool are_equal(const Buffer& a, const Buffer& b) {
  if (is_stand_in(a) != is_stand_in(b)) refuse_comparison();
  return a.handle() == b.handle() && a.size() == b.size();
}

/// A NumPy array with the content of the buffer, complete when this returns.
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
py::object get_slice(const ObjectOf<Buffer>& self, const py::object& index) {
  const Buffer whole = self.value();  // the bounds' __index__ may close the object
  if (PySlice_Check(index.ptr()) == 0) {
    throw py::type_error("a Buffer is sliced by bytes, buf[0:256], and has no element " +
                         shown(index) + "; buf.to_host(dtype) gives an array of its elements");
  }
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(index.ptr(), &start, &stop, &step) != 0) throw py::error_already_set();
  require_still_open(self, whole, "a slice of a Buffer");
  if (step != 1) {
    throw py::value_error("a slice of a Buffer is one range of bytes: its step must be 1, not " +
                          std::to_string(step));
  }
  const Py_ssize_t size =
      PySlice_AdjustIndices(static_cast<Py_ssize_t>(whole.size()), &start, &stop, step);
  Buffer part = whole.slice(static_cast<std::size_t>(start), static_cast<std::size_t>(size));
  return checked(is_managed_buffer(self) ? make_object(std::move(part), managed_buffer_type)
                                         : make_object(std::move(part)));
}

/// A typed view of the whole buffer.
StridedView get_typed_view(const ObjectOf<Buffer>& self, py::handle dtype, py::handle shape,
                           py::handle strides) {
  constexpr char what[] = "Buffer.view";
  ElementType element = to_element_type(dtype, "Buffer.view: dtype");
  if (element.is_big_endian()) {
    throw py::value_error("Buffer.view: dtype " + element.name +
                          " is big-endian, and devices are little-endian");
  }
  std::vector<std::int64_t> lengths = to_lengths(shape, "Buffer.view: shape");
  std::optional<std::vector<std::int64_t>> steps;
  if (!strides.is_none()) steps = to_lengths(strides, "Buffer.view: strides");
  const bool infers = std::find(lengths.begin(), lengths.end(), -1) != lengths.end();
  if (infers && steps) {
    throw py::value_error("Buffer.view: shape has a -1, which cannot be known beside strides");
  }
  const std::size_t size = self.value().size();
  if (infers && size % element.size != 0) {
    throw py::value_error("Buffer.view: a buffer of " + std::to_string(size) +
                          " bytes is not a whole number of " + element.name + " elements of " +
                          std::to_string(element.size) + " bytes; take a slice of it first");
  }
  infer_length(lengths, static_cast<std::int64_t>(size / element.size));
  return view_buffer(self, std::move(element), StridedLayout(std::move(lengths), std::move(steps)),
                     what);
}

/// Shows the memory to the host. The view holds a share of it, so close() is safe at any time.
int get_view(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return status_of([&] {
    auto share = std::make_unique<Buffer>(*get_if<Buffer>(self));
    if (!share->is_host_accessible()) {
      if (share->device_id() < 0) {
        throw py::buffer_error("the host has no access to the memory of this Buffer");
      }
      throw py::buffer_error(
          "this Buffer lives on device " + std::to_string(share->device_id()) +
          ", where the host cannot read it: buf.to_host() copies it into a NumPy array, "
          "buf.copy_to(bytearray(len(buf))) into memory of your own");
    }
    share->box()->throw_if_stale();
    if (Recorder::active() != nullptr) {
      throw NotSupportedError(
          "a recorded function shows this Buffer to the host, which would see what is there now, "
          "and not what each replay finds; look at it outside of the recorded function");
    }
    if (share->handle() == 0 && share->size() != 0) {
      throw py::buffer_error("this Buffer's address is null: there is nothing to read");
    }
    auto* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(share->handle()));
    if (PyBuffer_FillInfo(view, self, memory, static_cast<Py_ssize_t>(share->size()),
                          share->box()->is_read_only ? 1 : 0, flags) != 0) {
      throw py::error_already_set();
    }
    view->internal = share.release();
  });
}

void release_view(PyObject* /*self*/, Py_buffer* view) {
  const std::unique_ptr<Buffer> ended(static_cast<Buffer*>(view->internal));
}

std::string repr(const ObjectOf<Buffer>& object) {
  const Buffer& self = object.value();
  std::string name = Py_TYPE(object.ptr())->tp_name;
  name = "<" + name.substr(name.rfind('.') + 1);
  if (self.is_closed()) return name + ", closed>";
  char address[32];
  std::snprintf(address, sizeof(address), "0x%llx", self.handle());
  return name + " of " + std::to_string(self.size()) + " bytes at " + address + ">";
}

/// The part of this that is written in Python.
py::module_ sharing() { return py::module_::import("cudacore._ipc"); }

/// What is copied as it is sent would be the same memory.
void refuse_copy(const Buffer& /*self*/) {
  throw py::type_error(
      "a Buffer can't be copied by `copy`: allocate another, and copy_from() this one");
}

bool is_mapped(const Buffer& self) {
  driver::throw_if_forked();
  if (self.is_closed()) return false;
  const MemoryResource* resource = self.box()->resource.get();
  if (const auto* pool = dynamic_cast<const PoolMemoryResource*>(resource)) {
    return pool->is_mapped();
  }
  const auto* virtual_memory = dynamic_cast<const VirtualMemoryResource*>(resource);
  return virtual_memory != nullptr && virtual_memory->is_mapped(self);
}

}  // namespace

template <>
struct BufferProtocolOf<Buffer> {
  static constexpr getbufferproc get = &get_view;
  static constexpr releasebufferproc release = &release_view;
};

void bind_buffer(py::module_& module) {
  HeapClass<Buffer> bound(module, "cudacore.Buffer", refuse_new<how_made>);
  bound.attr("__dlpack_c_exchange_api__") = exchange_capsule();
  bound
      .def_class("from_handle", quick, py::arg("ptr"), py::arg("size"), py::arg("mr") = py::none(),
                 py::arg("owner") = py::none(), py::kw_only(), py::arg("stream") = py::none(),
                 [](py::handle type, py::handle pointer, py::handle size, py::handle mr,
                    py::object owner, py::handle stream) {
                   const auto address =
                       pointer.is_none() ? 0 : to_address(pointer, "Buffer.from_handle: ptr");
                   if (!mr.is_none() && !owner.is_none()) {
                     throw py::value_error("Buffer.from_handle: give mr or owner, not both");
                   }
                   const std::size_t bytes = to_size(size, "Buffer.from_handle: size");
                   const std::optional<Stream> chosen = to_optional_stream(stream);
                   return make_instance(
                       type, Buffer::from_handle(
                                 address, bytes, mr.is_none() ? nullptr : to_memory_resource(mr),
                                 owner.is_none() ? nullptr : keep_alive(std::move(owner)), chosen));
                 })
      .def_fast(fast_method<"Buffer.close($self, stream=None)", &close>)
      .def_fast(
          fast_method<"Buffer.copy_from($self, src, *, stream=None, options=None)", &copy_from>)
      .def_fast(
          fast_method<"Buffer.copy_to($self, dst=None, *, stream=None, options=None)", &copy_to>)
      .def_fast(fast_method<"Buffer.fill($self, value, *, stream=None)", &fill>)
      .def("to_host", in_parts, py::arg("dtype") = py::none(), py::arg("shape") = py::none(),
           py::kw_only(), py::arg("stream") = py::none(), &to_host)
      .def("view", in_parts, py::arg("dtype"), py::arg("shape") = -1,
           py::arg("strides") = py::none(), &get_typed_view)
      .def("__len__", quick, [](const Buffer& self) { return self.size(); })
      .def("__getitem__", in_parts, py::arg("index"), py::pos_only(), &get_slice)
      .def("set_deallocation_stream", quick, py::arg("stream"),
           [](const ObjectOf<Buffer>& self, py::handle stream) {
             if (stream.is_none()) {
               throw py::type_error("Buffer.set_deallocation_stream: stream must not be None");
             }
             const Stream chosen = to_stream(stream);
             self.value().set_deallocation_stream(chosen);
             track<Buffer>(self.ptr());
           })
      .property("is_closed", quick, read<&Buffer::is_closed>)
      .property("handle", quick, read<&Buffer::handle>)
      .property("size", quick, read<&Buffer::size>)
      .property("device_id", read<&Buffer::device_id>)
      .property("is_device_accessible", read<&Buffer::is_device_accessible>)
      .property("is_host_accessible", read<&Buffer::is_host_accessible>)
      .property("is_managed", read<&Buffer::is_managed>)
      .property("is_mapped", quick, &is_mapped)
      .property("ipc_descriptor", in_parts,
                [](const py::object& self) { return sharing().attr("descriptor_of")(self); })
      .def_static(
          "from_ipc_descriptor", in_parts, py::arg("mr"), py::arg("ipc_descriptor"), py::kw_only(),
          py::arg("stream") = py::none(),
          [](const py::object& resource, const py::object& descriptor, const py::object& stream) {
            return sharing().attr("buffer_from")(resource, descriptor, stream);
          })
      .def("__reduce__", in_parts,
           [](const py::object& self) { return sharing().attr("reduce_buffer")(self); })
      .def("__copy__", quick, &refuse_copy)
      .def("__deepcopy__", quick, py::arg("memo"),
           [](const Buffer& self, py::handle) { refuse_copy(self); })
      .property(
          "memory_resource", quick,
          [](const Buffer& self) { return self.is_closed() ? nullptr : self.memory_resource(); })
      .property("owner", quick,
                [](const Buffer& self) {
                  return self.is_closed() ? py::object(py::none()) : kept_object(self.box()->owner);
                })
      .def("__dlpack__", in_parts, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(),
           [](const Buffer& self, py::handle stream, py::handle max_version, py::handle dl_device,
              py::handle copy) {
             return dlpack_capsule(exported(self), stream, max_version, dl_device, copy);
           })
      .def("__dlpack_device__", quick,
           [](const Buffer& self) { return to_tuple(dlpack_device(self)); })
      .property("__cuda_array_interface__", in_parts,
                [](const Buffer& self) { return cuda_array_interface(exported(self)); })
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<Buffer>& self, const py::args&) { close_without_gil(self.ptr()); })
      .def_identity(&are_equal, &require_hashable)
      .def("__repr__", quick, &repr);
}

}  // namespace cudacore::bindings
