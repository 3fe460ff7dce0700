// SPDX-License-Identifier: Apache-2.0
#include "bindings/recorded_argument.hpp"

#include <cstring>

#include "bindings/array_argument.hpp"
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/scalar_type.hpp"
#include "bindings/texture_objects.hpp"
#include "error/describe.hpp"

namespace cudacore::bindings {
namespace {

using owner::BufferBox;

/// Whether objects of a type are plain values, or memory of ours: none of another library's arrays.
bool is_plain(PyObject* object) noexcept {
  const PyTypeObject* type = Py_TYPE(object);
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == heap_type<Buffer> || type == heap_type<StridedView> || object == Py_None ||
         type == &PyUnicode_Type || type == &PyTuple_Type;
}

/// NumPy's scalars have protocols of arrays too. May run Python code, for a new type.
bool is_scalar(PyObject* object) { return scalar_type(object).access != ScalarType::Access::none; }

/// The device of memory that only the device reaches; -1 for other memory. May run Python code.
int device_of(const Buffer& given) {
  const Buffer buffer = given;  // which a resource written in Python may close
  if (buffer.is_closed() || GraphMemoryResource::owns(buffer)) return -1;
  const int known = buffer.box()->device.load(std::memory_order_relaxed);
  if (known >= 0) return known;
  if (!buffer.is_device_accessible() || buffer.is_host_accessible() || buffer.is_managed()) {
    return -1;
  }
  return buffer.device_id();
}

struct LeaveRecursiveCall : driver::NotCopied {
  ~LeaveRecursiveCall() { Py_LeaveRecursiveCall(); }
};

/// Clears an error of an argument's own code; what ends a program goes on.
void clear_error() {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw py::error_already_set();
  PyErr_Clear();
}

/// Whether an object is a tuple, perhaps one with names, that is equal by its items alone.
bool is_plain_tuple(PyObject* object) noexcept {
  return PyTuple_Check(object) != 0 &&
         Py_TYPE(object)->tp_richcompare == PyTuple_Type.tp_richcompare;
}

/// An attribute of an object; null if it has none.
py::object attribute_of(PyObject* object, const char* name) {
  auto found = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, name));
  if (!found) clear_error();
  return found;
}

bool is_frozen_dataclass(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const py::object params = attribute_of(type, "__dataclass_params__");
  return params && attribute_of(params.ptr(), "frozen").ptr() == Py_True;
}

/// Whether an object is one of this library's that never change, and are equal by their values.
bool is_constant_of_ours(PyObject* object) noexcept {
  return get_if<LaunchConfig>(object) != nullptr || get_if<Kernel>(object) != nullptr ||
         get_if<PyDevice>(object) != nullptr;
}

bool is_same_value(PyObject* a, PyObject* b);

bool has_same_items(PyObject* a, PyObject* b) {
  const Py_ssize_t count = PyTuple_GET_SIZE(a);
  if (count != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!is_same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  }
  return true;
}

/// For two objects of one dataclass. Its own comparison would take 1 and True for the same.
bool has_same_fields(PyObject* a, PyObject* b) {
  const py::object fields =
      attribute_of(reinterpret_cast<PyObject*>(Py_TYPE(a)), "__dataclass_fields__");
  if (!fields || PyDict_Check(fields.ptr()) == 0) return false;
  // A copy, since reading a field may change the dict.
  for (const py::handle name : py::list(checked(PyDict_Keys(fields.ptr())))) {
    const auto of_a = py::reinterpret_steal<py::object>(PyObject_GetAttr(a, name.ptr()));
    const auto of_b =
        of_a ? py::reinterpret_steal<py::object>(PyObject_GetAttr(b, name.ptr())) : py::object();
    if (!of_b) {
      clear_error();
      return false;
    }
    if (!is_same_value(of_a.ptr(), of_b.ptr())) return false;
  }
  return true;
}

/// Whether a number or a value that never changes is the same. Exact types only: 1, 1.0 and True
/// are equal, but a kernel gets different bytes.
bool is_same_value(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a) != 0) {
    const double values[2] = {PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b)};
    return std::memcmp(&values[0], &values[1], sizeof(double)) == 0;
  }
  if (PyComplex_CheckExact(a) != 0) {
    const Py_complex values[2] = {PyComplex_AsCComplex(a), PyComplex_AsCComplex(b)};
    return std::memcmp(&values[0], &values[1], sizeof(Py_complex)) == 0;
  }
  const bool is_tuple = is_plain_tuple(a);
  if (is_tuple || is_frozen_dataclass(a)) {
    if (Py_EnterRecursiveCall("") != 0) {
      clear_error();
      return false;
    }
    const LeaveRecursiveCall leave{};
    return is_tuple ? has_same_items(a, b) : has_same_fields(a, b);
  }
  if (PyMethod_Check(a) != 0) {  // each access makes another one
    return PyMethod_GET_SELF(a) == PyMethod_GET_SELF(b) &&
           PyMethod_GET_FUNCTION(a) == PyMethod_GET_FUNCTION(b);
  }
  if (!is_compared_by_value(a)) return false;
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) clear_error();
  return equal > 0;
}

/// An argument, or an item of a tuple.
struct Item {
  const std::string& argument;
  const Item* tuple = nullptr;
  Py_ssize_t index = 0;

  [[nodiscard]] std::string name() const {
    std::string indices;
    for (const Item* one = this; one->tuple != nullptr; one = one->tuple) {
      indices.insert(0, "[" + std::to_string(one->index) + "]");
    }
    return argument + indices;
  }
};

/// Refuses what may change, or show another value, without being noticed.
/// @throw TypeError, RecursionError
void require_constant(PyObject* object, const Item& item) {
  if (PyTuple_CheckExact(object) != 0) {
    if (Py_EnterRecursiveCall(" in a tuple that a recorded function takes") != 0) {
      throw py::error_already_set();
    }
    const LeaveRecursiveCall leave{};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      require_constant(PyTuple_GET_ITEM(object, i), Item{item.argument, &item, i});
    }
    return;
  }
  if (const auto* view = get_if<StridedView>(object); view != nullptr && is_closed(*view)) {
    throw py::value_error(item.name() + " is a view of a closed Buffer");
  }
  if (has_array_type(object) && !is_scalar(object)) {
    const std::string what = item.name() + " is " + type_with_article(object);
    if (item.tuple != nullptr) {
      throw py::type_error(what +
                           " in a tuple, where a recording cannot replace its memory; pass "
                           "it as an argument of its own");
    }
    if (get_if<Buffer>(object) != nullptr) return;
    throw py::type_error(what +
                         ", whose memory is not a device's alone: what the function reads "
                         "there would not be noticed; copy it into a Buffer first");
  }
  if (PyObject_Hash(object) != -1) return;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  throw py::type_error(
      item.name() + " is " + type_with_article(object) +
      ", which may change without being noticed; pass each Buffer as an argument of its own, and "
      "numbers in a tuple");
}

/// Whether an object was closed that kernels or copies take, or what it is of: they refuse it.
bool is_closed_object(PyObject* object) noexcept {
  if (const auto* texture = get_if<PyTexture>(object)) return texture->texture.is_closed();
  if (const auto* surface = get_if<PySurface>(object)) return surface->surface.is_closed();
  if (const auto* array = get_if<OpaqueArray>(object)) return array->is_closed();
  if (const auto* array = get_if<MipmappedArray>(object)) return array->is_closed();
  if (const auto* tensor = get_if<TensorMapObject>(object)) return is_closed(tensor->view);
  return false;
}

}  // namespace

bool is_compared_by_value(PyObject* object) {
  return PyLong_CheckExact(object) != 0 || PyUnicode_CheckExact(object) != 0 ||
         PyBytes_CheckExact(object) != 0 || PyFloat_CheckExact(object) != 0 ||
         PyComplex_CheckExact(object) != 0 || PyMethod_Check(object) != 0 ||
         Py_TYPE(object) == &PyRange_Type || is_plain_tuple(object) ||
         is_constant_of_ours(object) || is_frozen_dataclass(object);
}

CallArguments::CallArguments(PyObject* const* objects, std::size_t count, CUstream consumer)
    : count_(count) {
  if (count > few) {
    more_.resize(count);
    all_ = more_.data();
  }
  // What may run Python code first: it may close a Buffer.
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* object = objects[i];
    all_[i].object = object;
    if (const Buffer* buffer = get_if<Buffer>(object)) {
      all_[i].device = device_of(*buffer);
    } else if (!is_plain(object) && has_array_type(object) && !is_scalar(object)) {
      ForeignArray& array = arrays_.emplace_back();
      if (!read_foreign_array(object, consumer, Sharing::borrow, array)) {
        arrays_.pop_back();
      } else if (array.tensor.device.type == dlpack::DeviceType::cuda) {
        all_[i].array = &array;
        all_[i].is_memory = true;
        all_[i].address = reinterpret_cast<std::uint64_t>(array.tensor.data);
        all_[i].device = array.tensor.device.ordinal;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    CallArgument& given = all_[i];
    if (Py_TYPE(given.object) == heap_type<Buffer>) {
      const BufferBox* box = get_if<Buffer>(given.object)->box().get();
      given.is_memory = given.device >= 0 && box != nullptr && !box->is_stale();
      if (!given.is_memory) continue;
      given.address = box->pointer;
      given.size = box->size;
    } else if (const auto* view = get_if<StridedView>(given.object)) {
      given.is_memory = view->device.type == dlpack::DeviceType::cuda && !is_closed(*view);
      given.view = view;
      given.address = view->address;
      given.device = view->device_id;
    }
  }
}

RecordedArgument::RecordedArgument(const CallArgument& given, const std::string& name)
    : type(py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(Py_TYPE(given.object)))) {
  if (given.is_memory) {
    form = Form::memory;
    size = given.size;
    offset = given.address % alignment;
    device = given.device;
    if (given.view != nullptr) {
      element = given.view->element.dlpack;
      element_name = given.view->element.name;
      size = given.view->element.size;
      shape = given.view->layout.shape();
      strides = given.view->layout.strides();
      is_read_only = given.view->is_read_only;
    } else if (given.array != nullptr) {
      const dlpack::Tensor& tensor = given.array->tensor;
      element = tensor.type;
      size = given.array->item_size;
      shape.assign(tensor.shape, tensor.shape + tensor.dimensions);
      if (tensor.strides != nullptr) {
        strides.assign(tensor.strides, tensor.strides + tensor.dimensions);
      }
      is_read_only = given.array->read_only;
    }
  } else if (PyLong_CheckExact(given.object) != 0 || PyFloat_CheckExact(given.object) != 0) {
    form = Form::number;
    value = py::reinterpret_borrow<py::object>(given.object);
  } else {
    require_constant(given.object, Item{name});
    value = py::reinterpret_borrow<py::object>(given.object);
    const ScalarType scalar = scalar_type(given.object);
    if (scalar.access == ScalarType::Access::at_offset) scalar_size = scalar.size;
    if (const auto* tensor = get_if<TensorMapObject>(given.object)) map = tensor->map->bytes();
  }
}

bool RecordedArgument::fits(const CallArgument& given) const {
  if (reinterpret_cast<PyObject*>(Py_TYPE(given.object)) != type.ptr()) return false;
  if (form == Form::number) return true;
  if (form == Form::constant) {
    if (given.is_memory) return false;
    if (const Buffer* buffer = get_if<Buffer>(given.object)) {
      return given.object == value.ptr() && !buffer->is_closed();
    }
    if (scalar_size != 0) {
      return std::memcmp(scalar_bytes(given.object), scalar_bytes(value.ptr()), scalar_size) == 0;
    }
    if (map && get_if<TensorMapObject>(given.object)->map->bytes().opaque != map->opaque) {
      return false;
    }
    return !is_closed_object(given.object) && is_same_value(given.object, value.ptr());
  }
  if (!given.is_memory || given.device != device || given.address % alignment != offset) {
    return false;
  }
  if (given.view != nullptr) {
    const StridedView& view = *given.view;
    return view.layout.shape() == shape && view.layout.strides() == strides &&
           view.element.size == size && view.element.dlpack == element &&
           view.element.name == element_name && view.is_read_only == is_read_only;
  }
  if (given.array == nullptr) return given.size == size;
  const dlpack::Tensor& tensor = given.array->tensor;
  const auto rank = static_cast<std::size_t>(tensor.dimensions);
  return rank == shape.size() && (tensor.strides == nullptr) == (rank == 0 || strides.empty()) &&
         std::equal(shape.begin(), shape.end(), tensor.shape) &&
         (tensor.strides == nullptr ||
          std::equal(strides.begin(), strides.end(), tensor.strides)) &&
         given.array->item_size == size && tensor.type == *element &&
         given.array->read_only == is_read_only;
}

std::string RecordedArgument::text() const {
  std::string text = type.attr("__name__").cast<std::string>();
  if (form == Form::memory) {
    text += element ? " of " + (element_name.empty() ? type_text(*element) : element_name) + " " +
                          shape_text(shape)
                    : " of " + error::format_bytes(size);
    return text + ", device " + std::to_string(device);
  }
  if (form == Form::constant) {
    text += " " + shown(value);
    if (!fixed_at.empty()) text += ", whose value is used at " + fixed_at;
  }
  return text;
}

std::uint32_t earlier_same_memory(const CallArguments& all, std::size_t i) noexcept {
  if (!all[i].is_memory) return RecordedArgument::none;
  const CallArgument& one = all[i];
  for (std::size_t before = 0; before < i; ++before) {
    const CallArgument& other = all[before];
    const bool are_buffers = get_if<Buffer>(one.object) != nullptr &&
                             get_if<Buffer>(other.object) != nullptr && other.is_memory;
    if (other.object == one.object ||
        (are_buffers && other.address == one.address && other.size == one.size)) {
      return static_cast<std::uint32_t>(before);
    }
  }
  return RecordedArgument::none;
}

}  // namespace cudacore::bindings
