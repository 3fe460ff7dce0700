// SPDX-License-Identifier: Apache-2.0
#include "bindings/dlpack_import.hpp"

#include "bindings/conversions.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/type_cache.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::ExchangeApi;
using dlpack::ManagedTensor;
using dlpack::ManagedTensorVersioned;

constexpr unsigned known_major = 1;
constexpr char exchange_name[] = "its DLPack exchange API";
constexpr char dlpack_name[] = "its __dlpack__()";

/// What a type has: null is none.
struct ExchangeType {
  PyTypeObject* type = nullptr;
  const ExchangeApi* api = nullptr;
  bool has_own_dtype = false;
};

constinit TypeCache<ExchangeType> known_types;

const ExchangeApi* learn_exchange_api(PyTypeObject* type) {
  static PyObject* const name = interned("__dlpack_c_exchange_api__");
  const py::object capsule = optional_attribute(reinterpret_cast<PyObject*>(type), name);
  if (!capsule || capsule.is_none()) return nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), ExchangeApi::name) == 0) {
    throw ForeignArrayError("its type's __dlpack_c_exchange_api__ must be a capsule named '" +
                            std::string(ExchangeApi::name) + "', not " + shown(capsule));
  }
  const auto* api =
      static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), ExchangeApi::name));
  constexpr int most_versions = 16;  // a chain of more has a cycle
  for (int i = 0; i < most_versions && api != nullptr; ++i, api = api->previous) {
    if (api->version.major == known_major) {
      if (api->from_object == nullptr) {
        throw ForeignArrayError(std::string(exchange_name) + " has a null function");
      }
      return api;
    }
  }
  return nullptr;
}

template <typename Managed>
void release(void* managed) {
  auto* const tensor = static_cast<Managed*>(managed);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

void take(ManagedTensor* managed, ForeignArray& array) {
  array.owner = {managed, &release<ManagedTensor>};
  array.tensor = managed->tensor;
}

void take(ManagedTensorVersioned* managed, ForeignArray& array) {
  array.owner = {managed, &release<ManagedTensorVersioned>};
  if (managed->version.major != known_major) {
    throw ForeignArrayError("it speaks version " + std::to_string(managed->version.major) +
                            " of DLPack; cudacore knows version " + std::to_string(known_major));
  }
  array.tensor = managed->tensor;
  array.read_only = (managed->flags & ManagedTensorVersioned::read_only) != 0;
}

/// Takes the tensor of a capsule, if it has one of this kind that no one has taken.
template <typename Managed>
bool take_from(PyObject* capsule, ForeignArray& array) {
  if (PyCapsule_IsValid(capsule, Managed::name) == 0) return false;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  if (PyCapsule_SetName(capsule, Managed::used_name) != 0) throw py::error_already_set();
  take(managed, array);
  return true;
}

void take_capsule(const py::object& capsule, ForeignArray& array) {
  if (PyCapsule_CheckExact(capsule.ptr()) == 0) {
    throw ForeignArrayError(std::string(dlpack_name) + " must return a capsule, not " +
                            shown(capsule));
  }
  if (take_from<ManagedTensorVersioned>(capsule.ptr(), array) ||
      take_from<ManagedTensor>(capsule.ptr(), array)) {
    return;
  }
  constexpr std::size_t most_letters = 100;
  const char* name = PyCapsule_GetName(capsule.ptr());
  const std::string text =
      foreign_text(std::string_view(name == nullptr ? "" : name).substr(0, most_letters));
  const bool is_used =
      text == ManagedTensor::used_name || text == ManagedTensorVersioned::used_name;
  throw ForeignArrayError(std::string(dlpack_name) +
                          (is_used ? " returned a capsule that was consumed before"
                                   : " returned a capsule named '" + text +
                                         "', not 'dltensor_versioned' or 'dltensor'"));
}

/// What __dlpack_device__ says.
dlpack::Device device_of(PyObject* object) {
  static PyObject* const name = interned("__dlpack_device__");
  const py::object method = optional_attribute(object, name);
  if (!method) throw ForeignArrayError("it has __dlpack__, but no __dlpack_device__");
  const py::object answer = checked(PyObject_CallNoArgs(method.ptr()));
  std::array<long long, 2> numbers{};
  const bool is_pair = PyTuple_Check(answer.ptr()) != 0 && PyTuple_GET_SIZE(answer.ptr()) == 2;
  bool fits = is_pair;
  for (Py_ssize_t i = 0; fits && i < 2; ++i) {
    PyObject* item = PyTuple_GET_ITEM(answer.ptr(), i);
    fits = is_index(item);
    if (!fits) break;
    const Index index = to_index(item);
    fits = index.lies_in(0, std::numeric_limits<std::int32_t>::max());
    numbers.at(static_cast<std::size_t>(i)) = index.value;
  }
  if (!fits) {
    throw ForeignArrayError("its __dlpack_device__() must return (type, ordinal), not " +
                            shown(answer));
  }
  return {static_cast<dlpack::DeviceType>(numbers[0]), static_cast<std::int32_t>(numbers[1])};
}

/// Calls __dlpack__; libraries older than DLPack 1.0 don't know max_version.
py::object call_dlpack(const py::object& method, const py::object& stream) {
  try {
    return method(py::arg("stream") = stream, py::arg("max_version") = py::make_tuple(1, 3));
  } catch (const py::error_already_set& raised) {
    if (!raised.matches(PyExc_TypeError)) throw;
  }
  return method(py::arg("stream") = stream);
}

bool may_be_conjugated(const ForeignArray& array) noexcept {
  return array.api != nullptr && array.tensor.type.code == dlpack::TypeCode::complex;
}

/// The imaginary part of a conjugated tensor, whose elements have gaps unless there is one only.
/// What is contiguous has been made so by as_strided(), against the advice of PyTorch; asking each
/// tensor would cost each launch more than reading it.
bool may_be_negated(const ForeignArray& array) noexcept {
  return array.api != nullptr && array.tensor.type.code == dlpack::TypeCode::real &&
         (array.count == 1 || !array.is_c_contiguous);
}

}  // namespace

void refuse_lazy(PyObject* object) {
  static PyObject* const is_conjugated = interned("is_conj");
  static PyObject* const is_negated = interned("is_neg");
  const auto answers_yes = [&](PyObject* name) {
    const py::object method = optional_attribute(object, name);
    if (!method) return false;
    const int answer = PyObject_IsTrue(checked(PyObject_CallNoArgs(method.ptr())).ptr());
    if (answer < 0) throw py::error_already_set();
    return answer != 0;
  };
  if (answers_yes(is_conjugated)) {
    throw ForeignArrayError("its memory is not conjugated yet; pass x.resolve_conj()");
  }
  if (answers_yes(is_negated)) {
    throw ForeignArrayError("its memory is not negated yet; pass x.resolve_neg()");
  }
}

void read_managed_tensor(ManagedTensorVersioned* tensor, ForeignArray& array) {
  take(tensor, array);
  array.check("the DLPack tensor");
}

void throw_protocol_error(const char* function) {
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  throw ForeignArrayError(std::string(function) + " failed, and said nothing");
}

ExchangeLookup find_exchange_api(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  bool has_learnt = false;
  const ExchangeType known = known_types.find(type, [&] {
    has_learnt = true;
    const ExchangeApi* api = learn_exchange_api(type);
    return ExchangeType{type, api, api != nullptr && has_own_dtype(type)};
  });
  return {known.api, has_learnt};
}

BorrowingApi known_borrowing_api(PyTypeObject* type) noexcept {
  const ExchangeType* known = known_types.peek(type);
  if (known == nullptr || known->api == nullptr || known->api == &own_exchange_api()) return {};
  if (!can_borrow(*known->api)) return {};
  return {known->api, known->has_own_dtype};
}

bool has_own_dtype(PyTypeObject* type) noexcept {
  static PyObject* const name = interned("dtype");
  const PyObject* found = _PyType_Lookup(type, name);
  return found == nullptr || Py_TYPE(found) != &PyGetSetDescr_Type;
}

void read_by(const ExchangeApi& api, PyObject* object, Sharing sharing, ForeignArray& array) {
  if (sharing == Sharing::borrow && can_borrow(api)) {
    if (api.borrow_from_object(object, &array.tensor) != 0) throw_protocol_error(exchange_name);
  } else {
    ManagedTensorVersioned* managed = nullptr;
    if (api.from_object(object, &managed) != 0 || managed == nullptr) {
      throw_protocol_error(exchange_name);
    }
    take(managed, array);
  }
  // The work of cudacore's own views is ordered by the user, like that of buffers.
  if (&api != &own_exchange_api()) array.api = &api;
  array.check(exchange_name);
}

bool read_checked_by(const ExchangeApi& api, PyObject* object, Sharing sharing,
                     ForeignArray& array) {
  read_by(api, object, sharing, array);
  const bool runs_python = sharing == Sharing::share || !can_borrow(api);
  if (!may_be_conjugated(array) && !may_be_negated(array)) return runs_python;
  refuse_lazy(object);
  read_by(api, object, sharing, array);  // a subclass of a tensor may have changed it
  return true;
}

bool read_exchange_api(PyObject* object, Sharing sharing, ForeignArray& array) {
  const ExchangeApi* api = find_exchange_api(object).api;
  if (api == nullptr) return false;
  static_cast<void>(read_checked_by(*api, object, sharing, array));
  return true;
}

bool read_dlpack(PyObject* object, CUstream consumer, ForeignArray& array) {
  static PyObject* const name = interned("__dlpack__");
  const py::object method = optional_attribute(object, name);
  if (!method || method.is_none()) return false;
  const dlpack::Device device = device_of(object);
  if (!dlpack::is_known(device.type)) throw ForeignArrayError(dlpack::unknown_device(device.type));
  constexpr int no_order = -1;
  const py::object stream = !has_streams(device.type) ? py::object(py::none())
                            : consumer == nullptr
                                ? py::object(py::int_(no_order))
                                : py::object(py::int_(reinterpret_cast<std::uintptr_t>(consumer)));
  take_capsule(call_dlpack(method, stream), array);
  array.check(dlpack_name);
  return true;
}

}  // namespace cudacore::bindings
