// SPDX-License-Identifier: Apache-2.0
#include "bindings/recording.hpp"

#include <algorithm>

#include "bindings/argument.hpp"
#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

bool is_same_list(PyObject* list, PyObject* items) noexcept {
  const Py_ssize_t count = PyList_GET_SIZE(list);
  if (count != PyTuple_GET_SIZE(items)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyList_GET_ITEM(list, i) != PyTuple_GET_ITEM(items, i)) return false;
  }
  return true;
}

/// `items` are the keys and the values in turn.
bool is_same_dict(PyObject* dict, PyObject* items) noexcept {
  if (2 * PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(items)) return false;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &at, &key, &value) != 0; i += 2) {
    if (key != PyTuple_GET_ITEM(items, i) || value != PyTuple_GET_ITEM(items, i + 1)) return false;
  }
  return true;
}

bool is_same_code(PyObject* function, PyObject* parts) noexcept {
  const auto is = [&](Py_ssize_t i, PyObject* now) {
    return PyTuple_GET_ITEM(parts, i) == (now == nullptr ? Py_None : now);
  };
  return is(0, PyFunction_GET_CODE(function)) && is(1, PyFunction_GET_DEFAULTS(function)) &&
         is(2, PyFunction_GET_KW_DEFAULTS(function));
}

/// What a module's dict has for a name; null for nothing. Only compared.
PyObject* found_in(PyObject* dict, PyObject* name) noexcept {
  PyObject* found = PyDict_GetItemWithError(dict, name);
  if (found == nullptr && PyErr_Occurred() != nullptr) PyErr_Clear();
  return found;
}

}  // namespace

bool Guard::holds() const noexcept {
  switch (kind) {
    case Kind::variable:
      return found_in(container.ptr(), name.ptr()) == expected.ptr();
    case Kind::cell:
      return PyCell_GET(container.ptr()) == expected.ptr();
    case Kind::code:
      return is_same_code(container.ptr(), expected.ptr());
    case Kind::list:
      return is_same_list(container.ptr(), expected.ptr());
    case Kind::dict:
      return is_same_dict(container.ptr(), expected.ptr());
    case Kind::buffer: {
      const Buffer* buffer = get_if<Buffer>(container.ptr());
      return buffer != nullptr && !buffer->is_closed();
    }
  }
  return false;
}

bool Recording::guards_hold() const noexcept {
  return std::all_of(guards.begin(), guards.end(),
                     [](const Guard& guard) { return guard.holds(); });
}

bool Recording::fits(const CallArguments& given, PyObject* names, const Contexts& where) const {
  if (given.size() != arguments.size() || contexts != where) return false;
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count != PyTuple_GET_SIZE(keywords.ptr())) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* known = PyTuple_GET_ITEM(keywords.ptr(), i);
    if (PyTuple_GET_ITEM(names, i) != known &&
        PyUnicode_Compare(PyTuple_GET_ITEM(names, i), known) != 0) {
      return false;
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const RecordedArgument& argument = arguments[i];
    if (!argument.fits(given[i]) || earlier_same_memory(given, i) != argument.same_memory_as)
      return false;
  }
  return guards_hold();
}

void Recording::count_references(std::unordered_map<PyObject*, Py_ssize_t>& held) const {
  for (const Guard& guard : guards) {
    ++held[guard.container.ptr()];
    if (guard.expected) ++held[guard.expected.ptr()];
  }
  for (const RecordedArgument& argument : arguments) {
    if (argument.form == RecordedArgument::Form::constant) ++held[argument.value.ptr()];
  }
}

bool Recording::is_dead(const std::unordered_map<PyObject*, Py_ssize_t>& held) const {
  // Guards of containers expect tuples, which are made for them.
  const auto is_gone = [&](const py::object& object) {
    return object && Py_REFCNT(object.ptr()) == held.at(object.ptr());
  };
  return std::any_of(
             guards.begin(), guards.end(),
             [&](const Guard& guard) {
               return (guard.kind == Guard::Kind::variable || guard.kind == Guard::Kind::cell) &&
                      is_gone(guard.expected);
             }) ||
         std::any_of(arguments.begin(), arguments.end(), [&](const RecordedArgument& argument) {
           return argument.form == RecordedArgument::Form::constant && argument.scalar_size == 0 &&
                  !is_compared_by_value(argument.value.ptr()) && is_gone(argument.value);
         });
}

void Recording::write_values(const CallArguments& given, LaunchArrays& arrays,
                             std::span<std::uint64_t> values) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const RecordedArgument& argument = arguments[i];
    if (argument.value_index == RecordedArgument::none) continue;
    values[argument.value_index] = given[i].address;
    if (given[i].array != nullptr) arrays.add(*given[i].array);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const ReplayedNumber& number = numbers[i];
    std::uint64_t& value = values[address_count + i];
    value = 0;
    try {
      static_cast<void>(pack_argument(*number.kernel.box(), number.parameter, number.slot,
                                      given[number.argument].object, arrays,
                                      reinterpret_cast<unsigned char*>(&value)));
    } catch (const std::overflow_error& error) {
      throw std::overflow_error(label(number.argument) + ": " + error.what());
    }
  }
}

std::string Recording::label(std::size_t argument) const {
  const auto named = static_cast<std::size_t>(PyTuple_GET_SIZE(keywords.ptr()));
  const std::size_t positional = arguments.size() - named;
  if (argument < positional) return "argument " + std::to_string(argument + 1) + " of the call";
  PyObject* name = PyTuple_GET_ITEM(keywords.ptr(), static_cast<Py_ssize_t>(argument - positional));
  return "argument " + shown(name) + " of the call";
}

void Recording::launch(const Stream& stream, const CallArguments& given, LaunchArrays& arrays) {
  constexpr std::size_t few = 64;
  const std::size_t count = address_count + numbers.size();
  std::array<std::uint64_t, few> on_stack;  // NOLINT: filled below
  std::vector<std::uint64_t> more(count > few ? count : 0);
  const std::span<std::uint64_t> values(count > few ? more.data() : on_stack.data(), count);
  write_values(given, arrays, values);
  ++launch_count;
  const ReleaseGil release;
  if (arrays.has_producers()) arrays.wait_for_producers();
  graph->launch(stream, values);
  if (arrays.has_producers()) arrays.make_producers_wait();
}

PyObject* Recording::result(const CallArguments& given) const noexcept {
  if (!returns_tuple) {
    return Py_NewRef(results.empty() ? Py_None : given[results.front()].object);
  }
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(results.size()));
  for (std::size_t i = 0; tuple != nullptr && i < results.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(given[results[i]].object));
  }
  return tuple;
}

}  // namespace cudacore::bindings
