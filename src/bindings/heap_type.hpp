// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <structmember.h>

#include "bindings/gil.hpp"
#include "bindings/policy.hpp"

// Python types that hold a C++ value in the object itself. Creating, destroying and unpacking one
// costs a quarter of what a pybind11 class costs, which decides whether an allocation or an event
// is as cheap as in C. Their methods are pybind11 functions, except the hot ones, which are
// METH_FASTCALL.

namespace cudacore::bindings {

namespace py = pybind11;

/// A Python object that holds a T.
template <typename T>
struct HeapObject {
  PyObject_HEAD PyObject* weak_references;
  vectorcallfunc call;
  unsigned borrows;  ///< calls that use the value while the GIL is away
  T* parked;         ///< what was closed under them, until they are back
  alignas(T) unsigned char storage[sizeof(T)];

  [[nodiscard]] T& value() noexcept { return *std::launder(reinterpret_cast<T*>(storage)); }
};

/// The type object for T, once HeapClass has made it.
template <typename T>
inline PyTypeObject* heap_type = nullptr;

/// What calling an object that holds a T does; null where it cannot be called.
template <typename T>
inline vectorcallfunc heap_call = nullptr;

/// The T inside `object`, null where it is something else. Heap types are final.
template <typename T>
[[nodiscard]] T* get_if(PyObject* object) noexcept {
  return Py_TYPE(object) == heap_type<T> ? &reinterpret_cast<HeapObject<T>*>(object)->value()
                                         : nullptr;
}

/// A new reference to an object that holds `value`; null with a Python error where memory is short.
template <typename T>
[[nodiscard]] PyObject* make_object(T value) noexcept {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  auto* object = PyObject_New(HeapObject<T>, heap_type<T>);
  if (object == nullptr) {
    return nullptr;
  }
  object->weak_references = nullptr;
  object->call = heap_call<T>;
  object->borrows = 0;
  object->parked = nullptr;
  ::new (static_cast<void*>(object->storage)) T(std::move(value));
  return reinterpret_cast<PyObject*>(object);
}

/// The value of a Stream, Event or Buffer object for a call that lets the GIL go. Another thread
/// may close the object meanwhile: it then keeps the value until the call is back. Costs no locked
/// instruction, as a share of its own would. Made and ended under the GIL; must not be stored.
template <typename T>
class Borrowed {
 public:
  explicit Borrowed(PyObject* object)
      : object_(reinterpret_cast<HeapObject<T>*>(object)),
        value_(Pointer(Pointer(), object_->value().box().get())) {
    ++object_->borrows;
  }
  ~Borrowed() {
    if (--object_->borrows == 0 && object_->parked != nullptr) {
      std::unique_ptr<T> ended(std::exchange(object_->parked, nullptr));
      const ReleaseGil release;
      ended.reset();
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  [[nodiscard]] const T& get() const noexcept { return value_; }

 private:
  using Pointer = std::remove_cvref_t<decltype(std::declval<const T&>().box())>;

  HeapObject<T>* object_;
  T value_;
};

/// Takes the value out of an object that is being closed; calls that borrow it keep a share.
template <typename T>
T close_object(PyObject* self) {
  auto* object = reinterpret_cast<HeapObject<T>*>(self);
  using Pointer = std::remove_cvref_t<decltype(std::declval<const T&>().box())>;
  T ended(std::exchange(object->value(), T(Pointer())));
  if (object->borrows != 0 && object->parked == nullptr) {
    object->parked = std::make_unique<T>(ended).release();
  }
  return ended;
}

/// Passes a T between pybind11 functions and heap objects.
template <typename T>
struct HeapCaster {
  static constexpr auto name = py::detail::const_name("object");
  template <typename U>
  using cast_op_type = py::detail::cast_op_type<U>;

  bool load(py::handle source, bool /*convert*/) {
    value = get_if<T>(source.ptr());
    return value != nullptr;
  }
  explicit operator T*() { return value; }
  explicit operator T&() { return *value; }

  static py::handle cast(T source, py::return_value_policy /*policy*/, py::handle /*parent*/) {
    return make_object<T>(std::move(source));
  }

  T* value = nullptr;
};

/// Builds the type object for T: `HeapClass<Event>(module, "Event", "doc").def(...)`.
template <typename T>
class HeapClass : public py::object {
 public:
  /// `create` is tp_new, see refuse_new(); `vectorcall` makes the objects callable.
  HeapClass(py::module_& module, const char* qualified_name, const char* doc, newfunc create,
            vectorcallfunc vectorcall = nullptr) {
    PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(HeapObject<T>, weak_references), READONLY,
         nullptr},
        {vectorcall != nullptr ? "__vectorcalloffset__" : nullptr, T_PYSSIZET,
         offsetof(HeapObject<T>, call), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr},
    };
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(doc)},
        {Py_tp_new, reinterpret_cast<void*>(create)},
        {Py_tp_init, reinterpret_cast<void*>(&accept_any)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
        {Py_tp_members, members},
        {vectorcall != nullptr ? Py_tp_call : 0, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {0, nullptr},
    };
    const unsigned long flags =
        Py_TPFLAGS_DEFAULT | (vectorcall != nullptr ? Py_TPFLAGS_HAVE_VECTORCALL : 0UL);
    PyType_Spec spec{qualified_name, static_cast<int>(sizeof(HeapObject<T>)), 0,
                     static_cast<unsigned>(flags), slots};
    m_ptr = PyType_FromSpec(&spec);
    if (m_ptr == nullptr) {
      throw py::error_already_set();
    }
    heap_type<T> = reinterpret_cast<PyTypeObject*>(m_ptr);
    heap_call<T> = vectorcall;
    module.attr(attr("__name__")) = *this;
    inc_ref();  // heap_type<T> owns one for ever
  }

  template <typename Function, typename... Extra>
  HeapClass& def(const char* name, Function&& function, const Extra&... extra) {
    attr(name) = py::cpp_function(with_policy<Extra...>(std::forward<Function>(function)),
                                  py::name(name), py::is_method(*this),
                                  py::sibling(py::getattr(*this, name, py::none())), extra...);
    return *this;
  }

  /// __eq__ by a predicate of two values; objects of other types are left to answer for themselves.
  template <typename Predicate>
  HeapClass& def_equality(Predicate predicate) {
    return def(
        "__eq__",
        [predicate](const T& self, py::handle other) -> py::object {
          const T* value = get_if<T>(other.ptr());
          return value == nullptr ? py::reinterpret_borrow<py::object>(Py_NotImplemented)
                                  : py::bool_(predicate(self, *value));
        },
        py::is_operator(), quick);
  }

  template <typename Function, typename... Extra>
  HeapClass& def_static(const char* name, Function&& function, const Extra&... extra) {
    py::cpp_function made(with_policy<Extra...>(std::forward<Function>(function)), py::name(name),
                          py::scope(*this), extra...);
    attr(name) = py::staticmethod(made);
    return *this;
  }

  /// The last of `extra` is the documentation.
  template <typename Getter, typename... Extra>
  HeapClass& def_property_readonly(const char* name, Getter&& getter, const Extra&... extra) {
    return def_property(name, std::forward<Getter>(getter), nullptr, extra...);
  }

  template <typename Getter, typename Setter, typename... Extra>
  HeapClass& def_property(const char* name, Getter&& getter, Setter&& setter,
                          const Extra&... extra) {
    const char* doc = std::get<sizeof...(Extra) - 1>(std::tie(extra...));
    py::cpp_function get(with_policy<Extra...>(std::forward<Getter>(getter)), py::is_method(*this));
    py::object set = py::none();
    if constexpr (!std::is_null_pointer_v<std::remove_cvref_t<Setter>>) {
      set = py::cpp_function(with_policy<Extra...>(std::forward<Setter>(setter)),
                             py::is_method(*this));
    }
    auto property =
        py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyProperty_Type));
    attr(name) = property(get, set, py::none(), py::str(doc));
    return *this;
  }

  /// A hot method: `definition` must live for ever.
  HeapClass& def_fast(PyMethodDef& definition) {
    attr(definition.ml_name) =
        py::reinterpret_steal<py::object>(PyDescr_NewMethod(heap_type<T>, &definition));
    return *this;
  }

 private:
  static int accept_any(PyObject* /*self*/, PyObject* /*args*/, PyObject* /*kwargs*/) { return 0; }

  static void deallocate(PyObject* self) {
    auto* object = reinterpret_cast<HeapObject<T>*>(self);
    PyTypeObject* type = Py_TYPE(self);
    if (object->weak_references != nullptr) {
      PyObject_ClearWeakRefs(self);
    }
    object->value().~T();  // boxes let the GIL go where their end may block
    PyObject_Free(self);
    Py_DECREF(type);
  }
};

/// A tp_new for types that only the library makes.
template <const char* How>
PyObject* refuse_new(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  PyErr_Format(PyExc_TypeError, "%s objects are not made directly: use %s", type->tp_name, How);
  return nullptr;
}

}  // namespace cudacore::bindings
