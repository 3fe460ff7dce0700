// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <structmember.h>

#include "bindings/errors.hpp"
#include "bindings/policy.hpp"

// Python types that hold a C++ value in the object itself. Creating, destroying and unpacking one
// costs a quarter of what a pybind11 class costs, which decides whether an allocation or an event
// is as cheap as in C. Their methods are pybind11 functions, except the hot ones, which are
// METH_FASTCALL.

namespace cudacore::bindings {

namespace py = pybind11;

/// What Python's garbage collector must know of a T; see collector.hpp. Types that may keep Python
/// objects alive specialize it, with
///   static bool may_keep(const T&)                     whether there can be anything to visit
///   static int visit(const T&, visitproc, void*)
template <typename T>
struct CollectorTraits {
  static constexpr bool any = false;
};

/// The hash of a T that can be closed, by what equality compares.
template <typename T>
[[nodiscard]] Py_hash_t hash_of(const T& value) noexcept;

/// The buffer protocol of the objects that hold a T; types that have it specialize it.
template <typename T>
struct BufferProtocolOf {
  static constexpr getbufferproc get = nullptr;
  static constexpr releasebufferproc release = nullptr;
};

/// A Python object that holds a T.
template <typename T>
struct HeapObject {
  PyObject_HEAD PyObject* weak_references;
  vectorcallfunc call;
  unsigned borrows;       ///< calls that use the value without the GIL
  T* parked;              ///< what was closed during them, until they return
  Py_hash_t closed_hash;  ///< the hash of what was closed
  alignas(T) unsigned char storage[sizeof(T)];

  [[nodiscard]] T& value() noexcept { return *std::launder(reinterpret_cast<T*>(storage)); }
};

/// The type object for T, once HeapClass has made it.
template <typename T>
inline PyTypeObject* heap_type = nullptr;

template <typename T>
[[nodiscard]] py::handle type_of() noexcept {
  return reinterpret_cast<PyObject*>(heap_type<T>);
}

/// What calling an object that holds a T does; null if it cannot be called.
template <typename T>
inline vectorcallfunc heap_call = nullptr;

/// The T inside `object`, null if it is something else.
template <typename T>
[[nodiscard]] T* get_if(PyObject* object) noexcept {
  if (Py_TYPE(object) == heap_type<T>) [[likely]] {
    return &reinterpret_cast<HeapObject<T>*>(object)->value();
  }
  if constexpr (is_subclassable<T>) {
    if (PyType_IsSubtype(Py_TYPE(object), heap_type<T>) != 0) {
      return &reinterpret_cast<HeapObject<T>*>(object)->value();
    }
  }
  return nullptr;
}

/// A Python object that holds a T, for functions that need the object itself.
template <typename T>
class ObjectOf : public py::object {
 public:
  ObjectOf() = default;
  ObjectOf(py::handle source, borrowed_t tag) : py::object(source, tag) {}
  ObjectOf(py::handle source, stolen_t tag) : py::object(source, tag) {}
  [[nodiscard]] static bool check_(py::handle source) {
    return source && get_if<T>(source.ptr()) != nullptr;
  }
  [[nodiscard]] T& value() const noexcept { return *get_if<T>(ptr()); }
};

/// Shows an object to the garbage collector once it may keep Python objects alive.
template <typename T>
void track(PyObject* object) noexcept {
  if constexpr (CollectorTraits<T>::any) {
    const T& value = reinterpret_cast<HeapObject<T>*>(object)->value();
    if (CollectorTraits<T>::may_keep(value) && PyObject_GC_IsTracked(object) == 0)
      PyObject_GC_Track(object);
  }
}

/// A new reference to an object that holds `value`, of `type` or of T's own; null with a Python
/// error if memory is short.
template <typename T>
[[nodiscard]] PyObject* make_object(T value, PyTypeObject* type = heap_type<T>) noexcept {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  HeapObject<T>* object = nullptr;
  if (is_subclassable<T> && type != heap_type<T>) {
    object = reinterpret_cast<HeapObject<T>*>(type->tp_alloc(type, 0));
  } else if constexpr (CollectorTraits<T>::any) {
    object = PyObject_GC_New(HeapObject<T>, type);
  } else {
    object = PyObject_New(HeapObject<T>, type);
  }
  if (object == nullptr) return nullptr;
  object->weak_references = nullptr;
  object->call = heap_call<T>;
  object->borrows = 0;
  object->parked = nullptr;
  object->closed_hash = 0;
  ::new (static_cast<void*>(object->storage)) T(std::move(value));
  track<T>(reinterpret_cast<PyObject*>(object));
  return reinterpret_cast<PyObject*>(object);
}

/// An instance of `type`, which is T's own or derives from it; its __init__ is not called.
template <typename T>
[[nodiscard]] py::object make_instance(py::handle type, T value) {
  if (PyType_Check(type.ptr()) == 0 ||
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), heap_type<T>) == 0) {
    throw py::type_error(std::string("expected ") + heap_type<T>->tp_name +
                         " or a class derived from it");
  }
  return checked(make_object(std::move(value), reinterpret_cast<PyTypeObject*>(type.ptr())));
}

/// Ends a call's use of an object's value; the last ends what was closed meanwhile.
template <typename T>
void end_borrow(HeapObject<T>& object) {
  if (--object.borrows == 0 && object.parked != nullptr) [[unlikely]] {
    std::unique_ptr<T> ended(std::exchange(object.parked, nullptr));
    const ReleaseGil release;
    ended.reset();
  }
}

/// The value inside `object`, even if it was closed during a call that still uses it.
template <typename T>
[[nodiscard]] const T* used_value(PyObject* object) noexcept {
  const T* value = get_if<T>(object);
  if (value == nullptr || !value->is_closed()) return value;
  const T* parked = reinterpret_cast<HeapObject<T>*>(object)->parked;
  return parked != nullptr ? parked : value;
}

/// The value of a Stream, Event or Buffer object for a call that runs Python code or releases the
/// GIL. Either may close the object during the call: it then keeps the value until the call
/// returns. Unlike a share, it costs no locked instruction. It is made and destroyed under the GIL;
/// the object must be held throughout; what get() returns must not be stored.
template <typename T>
class Borrowed : driver::NotCopied {
 public:
  explicit Borrowed(PyObject* object)
      : object_(reinterpret_cast<HeapObject<T>*>(object)),
        value_(Pointer(Pointer(), object_->value().box().get())) {
    ++object_->borrows;
  }
  ~Borrowed() { end_borrow(*object_); }

  [[nodiscard]] const T& get() const noexcept { return value_; }

 private:
  using Pointer = std::remove_cvref_t<decltype(std::declval<const T&>().box())>;

  HeapObject<T>* object_;
  T value_;
};

/// Takes the value out of an object that is being closed; calls that borrow it keep a share. If
/// memory is short, the object stays as it is.
template <typename T>
T close_object(PyObject* self) {
  auto* object = reinterpret_cast<HeapObject<T>*>(self);
  using Pointer = std::remove_cvref_t<decltype(std::declval<const T&>().box())>;
  if (object->value().is_closed()) return T(Pointer());
  if (object->borrows != 0) object->parked = std::make_unique<T>(object->value()).release();
  object->closed_hash = hash_of(object->value());
  return std::exchange(object->value(), T(Pointer()));
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

/// Builds the type object for T: `HeapClass<Event>(module, "cudacore.Event", &create).def(...)`.
/// Each function is bound by its name, its policy (see policy.hpp), its arguments, and the function
/// last. Its docstring comes from _core.pyi, unless one is among the arguments.
template <typename T>
class HeapClass : public py::object {
 public:
  /// `create` is tp_new, see refuse_new(); `vectorcall` makes the objects callable, and `call`
  /// documents that: a METH_COEXIST definition of __call__, then an empty one.
  HeapClass(py::module_& module, const char* qualified_name, newfunc create,
            vectorcallfunc vectorcall = nullptr, PyMethodDef* call = nullptr)
      : HeapClass(module, qualified_name, class_documentation(qualified_name), create, vectorcall,
                  call) {}

  HeapClass(py::module_& module, const char* qualified_name, const std::string& doc, newfunc create,
            vectorcallfunc vectorcall = nullptr, PyMethodDef* call = nullptr) {
    PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(HeapObject<T>, weak_references), READONLY,
         nullptr},
        {vectorcall != nullptr ? "__vectorcalloffset__" : nullptr, T_PYSSIZET,
         offsetof(HeapObject<T>, call), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr},
    };
    std::vector<PyType_Slot> slots = {
        {Py_tp_doc, const_cast<char*>(doc.c_str())},
        {Py_tp_new, reinterpret_cast<void*>(create)},
        {Py_tp_init, reinterpret_cast<void*>(&accept_any)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
        {Py_tp_members, members},
    };
    unsigned long flags = Py_TPFLAGS_DEFAULT;
    if (vectorcall != nullptr) {
      flags |= Py_TPFLAGS_HAVE_VECTORCALL;
      slots.push_back({Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)});
      slots.push_back({Py_tp_methods, call});
    }
    if constexpr (is_subclassable<T>) flags |= Py_TPFLAGS_BASETYPE;
    if constexpr (CollectorTraits<T>::any) {
      flags |= Py_TPFLAGS_HAVE_GC;
      slots.push_back({Py_tp_traverse, reinterpret_cast<void*>(&traverse)});
      if constexpr (requires(PyObject * self) { CollectorTraits<T>::finalize(self); }) {
        slots.push_back({Py_tp_finalize, reinterpret_cast<void*>(&CollectorTraits<T>::finalize)});
      }
    }
    if constexpr (BufferProtocolOf<T>::get != nullptr) {
      slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(BufferProtocolOf<T>::get)});
      slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(BufferProtocolOf<T>::release)});
    }
    slots.push_back({0, nullptr});
    PyType_Spec spec{qualified_name, static_cast<int>(sizeof(HeapObject<T>)), 0,
                     static_cast<unsigned>(flags), slots.data()};
    m_ptr = checked(PyType_FromSpec(&spec)).release().ptr();
    if (call != nullptr) document(*call, *this);
    heap_type<T> = reinterpret_cast<PyTypeObject*>(m_ptr);
    heap_call<T> = vectorcall;
    module.attr(attr("__name__")) = *this;
    inc_ref();  // heap_type<T> owns one forever
  }

  /// A class that derives from T's own: get_if<T>() finds the value in its objects, which
  /// make_object() makes if it is given `type()`.
  [[nodiscard]] static HeapClass derived(py::module_& module, const char* qualified_name) {
    const std::string doc = class_documentation(qualified_name);
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc.c_str())}, {0, nullptr}};
    PyType_Spec spec{qualified_name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    HeapClass made(checked(PyType_FromSpecWithBases(&spec, py::make_tuple(type_of<T>()).ptr())));
    module.attr(made.attr("__name__")) = made;
    made.inc_ref();  // as for heap_type<T>
    return made;
  }
  [[nodiscard]] PyTypeObject* type() const noexcept {
    return reinterpret_cast<PyTypeObject*>(m_ptr);
  }

  template <typename... Rest>
  HeapClass& def(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          attr(name) =
              py::cpp_function(with_policy(function, extra...), py::name(name),
                               py::is_method(*this), docstring(*this, name, extra...),
                               py::sibling(py::getattr(*this, name, py::none())), extra...);
        },
        rest...);
    return *this;
  }

  /// A class method: its function takes the class first; see make_instance().
  template <typename... Rest>
  HeapClass& def_class(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          const py::cpp_function made(with_policy(function, extra...), py::name(name),
                                      py::is_method(*this), docstring(*this, name, extra...),
                                      extra...);
          attr(name) = checked(PyClassMethod_New(made.ptr()));
        },
        rest...);
    return *this;
  }

  template <typename... Rest>
  HeapClass& def_static(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          attr(name) = py::staticmethod(
              py::cpp_function(with_policy(function, extra...), py::name(name), py::scope(*this),
                               docstring(*this, name, extra...), extra...));
        },
        rest...);
    return *this;
  }

  /// property(name, policy, getter); a setter() may follow.
  template <typename... Rest>
  HeapClass& property(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& get, const auto&... extra) {
          const py::handle type(reinterpret_cast<PyObject*>(&PyProperty_Type));
          attr(name) = type(accessor(get, extra...), py::none(), py::none(),
                            docstring(*this, name, extra...));
        },
        rest...);
    return *this;
  }

  /// The setter of the property of this name.
  template <typename... Rest>
  HeapClass& setter(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          attr(name) = attr(name).attr("setter")(accessor(function, extra...));
        },
        rest...);
    return *this;
  }

  /// __eq__ by a predicate of two values; other types answer for themselves.
  template <typename Predicate>
  HeapClass& def_equality(Predicate predicate) {
    return def("__eq__", quick, py::arg("other"), py::pos_only(), py::is_operator(),
               [predicate](const T& self, py::handle other) -> py::object {
                 const T* value = get_if<T>(other.ptr());
                 return value == nullptr ? py::reinterpret_borrow<py::object>(Py_NotImplemented)
                                         : py::bool_(predicate(self, *value));
               });
  }

  /// __eq__ and __hash__ of objects that can be closed: by a predicate of two values and hash_of()
  /// while they are open, unless the predicate throws, or `require`, which a hash asks first. A
  /// closed one equals only itself, and keeps its hash.
  template <typename Predicate>
  HeapClass& def_identity(
      Predicate predicate, void (*require)(const T&) = [](const T& /*any*/) {}) {
    def("__eq__", quick, py::arg("other"), py::pos_only(), py::is_operator(),
        [predicate, require](const ObjectOf<T>& self, py::handle other) -> py::object {
          const T* value = get_if<T>(other.ptr());
          if (value == nullptr) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
          const bool are_open = !self.value().is_closed() && !value->is_closed();
          if (!are_open || self.is(other)) return py::bool_(self.is(other));
          return py::bool_(predicate(self.value(), *value));
        });
    return def("__hash__", quick, [require](const ObjectOf<T>& self) {
      const T& value = self.value();
      if (value.is_closed()) return reinterpret_cast<HeapObject<T>*>(self.ptr())->closed_hash;
      require(value);
      return hash_of(value);
    });
  }

  /// __replace__, which copy.replace() calls, by a function that changes fields of a value.
  template <typename Change>
  HeapClass& def_replace(Change change) {
    return def("__replace__", quick, "A copy with some fields changed; what copy.replace() calls.",
               [change](T self, const py::kwargs& changes) {
                 change(self, changes);
                 return self;
               });
  }

  /// A hot method: `definition` is never freed, and its documentation is its signature.
  HeapClass& def_fast(PyMethodDef& definition) {
    document(definition, *this);
    attr(definition.ml_name) = checked(PyDescr_NewMethod(heap_type<T>, &definition));
    return *this;
  }

  /// The same for a static method.
  HeapClass& def_fast_static(PyMethodDef& definition) {
    document(definition, *this);
    attr(definition.ml_name) = py::staticmethod(checked(PyCFunction_New(&definition, nullptr)));
    return *this;
  }

 private:
  explicit HeapClass(py::object&& type) : py::object(std::move(type)) {}

  template <typename Function, typename... Extra>
  py::cpp_function accessor(const Function& function, const Extra&... extra) {
    return {with_policy(function, extra...), py::is_method(*this)};
  }

  static int accept_any(PyObject* /*self*/, PyObject* /*args*/, PyObject* /*kwargs*/) { return 0; }

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if constexpr (CollectorTraits<T>::any) {
      return CollectorTraits<T>::visit(reinterpret_cast<HeapObject<T>*>(self)->value(), visit, arg);
    } else {
      return 0;
    }
  }

  static void deallocate(PyObject* self) {
    auto* object = reinterpret_cast<HeapObject<T>*>(self);
    PyTypeObject* type = Py_TYPE(self);
    if constexpr (CollectorTraits<T>::any) PyObject_GC_UnTrack(self);
    if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
    object->value().~T();  // boxes release the GIL if destroying them may block
    type->tp_free(self);
    Py_DECREF(type);
  }
};

/// A tp_new for types that only the library makes.
template <const char* How>
PyObject* refuse_new(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  return guarded([&]() -> PyObject* {
    raise_as_both(PyExc_TypeError, PyExc_RuntimeError,
                  std::string(type->tp_name) + " objects are not made directly: use " + How);
  });
}

}  // namespace cudacore::bindings

namespace pybind11::detail {

template <typename T>
struct type_caster<T, std::enable_if_t<cudacore::bindings::is_held<T>>>
    : cudacore::bindings::HeapCaster<T> {};

}  // namespace pybind11::detail
