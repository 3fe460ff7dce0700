// SPDX-License-Identifier: Apache-2.0
#include "bindings/wrong_calls.hpp"

#include <limits>
#include <unordered_map>

#include "bindings/conversions.hpp"
#include "bindings/instance.hpp"
#include "bindings/keywords.hpp"
#include "bindings/suggestion.hpp"
#include "driver/leaked.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

using Record = py::detail::function_record;
using Call = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

/// pybind11's own function, the same for all; ours runs before it.
Call dispatch = nullptr;

/// "Stream.wait", by the record of the function. Never freed, like the module.
std::unordered_map<const Record*, std::string>& names() {
  return driver::leaked<std::unordered_map<const Record*, std::string>>();
}

/// The types of a record's parameters as its signature spells them: "(self: object, n: int) ->
/// None".
std::vector<std::string_view> types_of(const Record& record) {
  std::vector<std::string_view> types;
  const std::string_view text = record.signature != nullptr ? record.signature : "";
  std::size_t start = text.find('(') + 1;
  int depth = 0;
  for (std::size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_end = c == ')' && depth == 0;
    if (c == '[' || c == '(') ++depth;
    if ((c == ']' || c == ')') && !is_end) --depth;
    if (!is_end && (c != ',' || depth != 0)) continue;
    std::string_view parameter = text.substr(start, i - start);
    if (parameter.find_first_not_of(" */") != std::string_view::npos) {
      const std::size_t colon = parameter.find(": ");
      types.push_back(colon == std::string_view::npos ? parameter : parameter.substr(colon + 2));
    }
    start = i + 1;
    if (is_end) break;
  }
  return types;
}

struct Complaint {
  PyObject* type;
  std::string text;
};

bool is_int(std::string_view type) {
  const auto has = [&](std::string_view word) { return type.find(word) != std::string_view::npos; };
  return has("SupportsInt") || has("SupportsIndex") || type.substr(0, 3) == "int";
}

/// What is wrong with the type of a value for a parameter; nothing if we cannot tell.
std::optional<Complaint> wrong_type(std::string_view type, py::handle value) {
  const auto must_be = [&](const char* what) {
    return Complaint{PyExc_TypeError, std::string(what) + ", not " + type_name(value)};
  };
  if (is_int(type) && PyIndex_Check(value.ptr()) == 0) return must_be("an int");
  if (type.substr(0, 4) == "bool" && PyBool_Check(value.ptr()) == 0) return must_be("a bool");
  const bool is_callable = type.find("Callable") != std::string_view::npos;
  if (is_callable && PyCallable_Check(value.ptr()) == 0) return must_be("callable");
  if (type.substr(0, 3) == "str" && PyUnicode_Check(value.ptr()) == 0) return must_be("a str");
  return std::nullopt;
}

/// What is wrong with an int that does not fit 32 bits.
std::optional<Complaint> wrong_range(std::string_view type, py::handle value) {
  if (!is_int(type)) return std::nullopt;
  const Index index = to_index(value);
  if (index.lies_in(std::numeric_limits<int>::min(), std::numeric_limits<int>::max())) {
    return std::nullopt;
  }
  const bool is_low = index.number < py::int_(0);
  return Complaint{
      PyExc_OverflowError,
      (is_low ? "an int that is not so low, not " : "a smaller int, not ") + shown(index.number)};
}

/// What is wrong with a small int if everything else is right: it is negative.
std::optional<Complaint> wrong_sign(std::string_view type, py::handle value) {
  if (!is_int(type)) return std::nullopt;
  const py::object number = to_index(value).number;
  if (!(number < py::int_(0))) return std::nullopt;
  return Complaint{PyExc_OverflowError, "an int that is not negative, not " + shown(number)};
}

/// Finds what is wrong with a call that pybind11 refused.
class WrongCall {
 public:
  WrongCall(const Record& record, std::string name, PyObject* const* args, std::size_t count,
            PyObject* keywords)
      : record_(record),
        name_(std::move(name)),
        args_(args),
        count_(count),
        keywords_(keywords),
        skipped_(record.is_method ? 1 : 0) {}

  [[nodiscard]] Complaint complaint() const {
    if (auto complaint = wrong_self()) return *complaint;
    if (auto complaint = wrong_names()) return *complaint;
    return wrong_values();
  }

 private:
  [[nodiscard]] Complaint refuse(const std::string& text) const {
    return {PyExc_TypeError, name_ + text};
  }
  [[nodiscard]] std::size_t positional() const {
    return record_.nargs_pos != 0 || record_.has_args ? record_.nargs_pos : record_.nargs;
  }
  [[nodiscard]] std::size_t keyword_count() const {
    return keywords_ == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(keywords_));
  }
  [[nodiscard]] std::string keyword(std::size_t i) const {
    // A name may hold bytes that are not valid UTF-8, as os.fsdecode() spells them.
    return checked<py::bytes>(PyUnicode_AsEncodedString(
        PyTuple_GET_ITEM(keywords_, static_cast<Py_ssize_t>(i)), "utf-8", "backslashreplace"));
  }
  [[nodiscard]] std::string parameter(std::size_t i) const {
    return i < record_.args.size() && record_.args[i].name != nullptr ? record_.args[i].name : "";
  }
  [[nodiscard]] std::vector<const char*> parameters() const {
    std::vector<const char*> all;
    for (std::size_t i = skipped_; i < record_.args.size(); ++i) {
      if (record_.args[i].name != nullptr) all.push_back(record_.args[i].name);
    }
    return all;
  }
  /// The parameters that cannot be given by place.
  [[nodiscard]] std::vector<const char*> by_name_alone() const {
    std::vector<const char*> all;
    for (std::size_t i = positional(); i < record_.args.size(); ++i) {
      if (record_.args[i].name != nullptr) all.push_back(record_.args[i].name);
    }
    return all;
  }
  /// What was given for a parameter, by place or by name.
  [[nodiscard]] py::handle given(std::size_t i) const {
    if (i < count_ && i < positional()) return args_[i];
    for (std::size_t k = 0; k < keyword_count(); ++k) {
      if (keyword(k) == parameter(i)) return args_[count_ + k];
    }
    return {};
  }

  [[nodiscard]] std::optional<Complaint> wrong_self() const {
    if (!record_.is_method || record_.is_constructor || !record_.scope) return std::nullopt;
    auto* type = reinterpret_cast<PyTypeObject*>(record_.scope.ptr());
    if (PyType_Check(record_.scope.ptr()) == 0) return std::nullopt;
    if (count_ == 0) return refuse(" needs the object that it is a method of");
    if (PyObject_TypeCheck(args_[0], type) != 0) return std::nullopt;
    const bool is_class = PyType_Check(args_[0]) != 0;  // which a class method gets
    if (is_class && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(args_[0]), type) != 0) {
      return std::nullopt;
    }
    return refuse(": self must be a " + std::string(type->tp_name) + ", not " +
                  type_name(args_[0]));
  }

  /// The parameter for the options of a class, if the unknown keyword is one of these.
  [[nodiscard]] std::optional<std::string> place_of_option(const std::string& keyword) const {
    if (!record_.is_constructor || parameters().empty()) return std::nullopt;
    const py::object options =
        py::getattr(py::module_::import("cudacore"), (name_ + "Options").c_str(), py::none());
    const py::object field = py::getattr(options, keyword.c_str(), py::none());
    if (!Py_IS_TYPE(field.ptr(), &PyGetSetDescr_Type)) return std::nullopt;
    return parameters().back();
  }

  [[nodiscard]] std::optional<Complaint> wrong_names() const {
    if (count_ > positional() && !record_.has_args) {
      return Complaint{PyExc_TypeError, too_many_arguments(name_, positional() - skipped_,
                                                           count_ - skipped_, by_name_alone())};
    }
    for (std::size_t k = 0; k < keyword_count(); ++k) {
      std::size_t i = skipped_;
      while (i < record_.args.size() && parameter(i) != keyword(k)) ++i;
      if (i >= record_.args.size() && !record_.has_kwargs) {
        if (const auto place = place_of_option(keyword(k))) {
          return Complaint{PyExc_TypeError, option_given_as_argument(name_, keyword(k), *place)};
        }
        return Complaint{PyExc_TypeError, unknown_argument(name_, keyword(k), parameters())};
      }
      if (i < count_ && i < positional()) return refuse(" was given '" + keyword(k) + "' twice");
    }
    const std::size_t all =
        record_.nargs - (record_.has_args ? 1U : 0U) - (record_.has_kwargs ? 1U : 0U);
    for (std::size_t i = skipped_; i < all; ++i) {
      const bool has_default = i < record_.args.size() && record_.args[i].value;
      if (has_default || given(i)) continue;
      return refuse(parameter(i).empty() ? " was given too few arguments"
                                         : " needs the argument '" + parameter(i) + "'");
    }
    return std::nullopt;
  }

  [[nodiscard]] Complaint wrong_values() const {
    const std::vector<std::string_view> types = types_of(record_);
    for (const auto& find : {&wrong_type, &wrong_range, &wrong_sign}) {
      for (std::size_t i = skipped_; i < record_.nargs && i < types.size(); ++i) {
        const py::handle value = given(i);
        if (!value) continue;
        if (const auto complaint = find(types[i], value)) {
          const std::string who = parameter(i).empty() ? "the value" : parameter(i);
          return {complaint->type, name_ + ": " + who + " must be " + complaint->text};
        }
      }
    }
    return refuse(" was given an argument of a type that it does not take");
  }

  const Record& record_;
  std::string name_;
  PyObject* const* args_;
  std::size_t count_;
  PyObject* keywords_;
  std::size_t skipped_;  ///< parameters that the caller does not give: self
};

/// Whether the current error is pybind11's about the arguments of a call.
bool is_wrong_call(const Record& record) {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return false;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const auto text =
      py::reinterpret_steal<py::object>(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* message = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  const bool found = message != nullptr && std::string_view(message).starts_with(
                                               std::string(record.name) + "(): incompatible ");
  PyErr_Restore(type, value, trace);
  return found;
}

std::string name_of(const Record& record) {
  const auto name = names().find(&record);
  return name != names().end() ? name->second : record.name;
}

std::size_t positional_count(std::size_t count) {
  return static_cast<std::size_t>(PyVectorcall_NARGS(count));
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t count, PyObject* keywords) {
  PyObject* result = nullptr;
  bool is_wrong = false;
  try {
    result = dispatch(self, args, count, keywords);
  } catch (abi::__forced_unwind&) {
    park_thread();
  } catch (py::error_already_set& error) {
    is_wrong = error.matches(PyExc_UnicodeError);  // its complaint if a keyword is not valid UTF-8
    if (!is_wrong) error.restore();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
  if (result != nullptr) [[likely]]
    return result;
  const Record& record = *py::detail::function_record_ptr_from_PyObject(self);
  if (!is_wrong && !is_wrong_call(record)) return nullptr;
  PyErr_Clear();
  try {
    const WrongCall wrong(record, name_of(record), args, positional_count(count), keywords);
    const Complaint complaint = wrong.complaint();
    PyErr_SetString(complaint.type, complaint.text.c_str());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return nullptr;
}

PyTypeObject* class_of(const Record& record) {
  return reinterpret_cast<PyTypeObject*>(record.scope.ptr());
}

/// What is wrong with the self of an __init__ of pybind11's classes.
std::optional<Complaint> wrong_start(const Record& record, py::handle self) {
  const std::string name = name_of(record) + ".__init__";
  if (!self || PyObject_TypeCheck(self.ptr(), class_of(record)) == 0) {
    return Complaint{PyExc_TypeError, name + ": self must be a " + class_of(record)->tp_name +
                                          ", not " + (self ? type_name(self) : "missing")};
  }
  if (is_made_by(self, class_of(record))) return std::nullopt;
  return Complaint{PyExc_TypeError, name + " does not make " + type_with_article(self) +
                                        ": call super().__init__(...)"};
}

/// Sets the error of a refused call; null, or None if there is no complaint.
template <typename Find>
PyObject* raise_complaint(PyObject* self, const Find& find) {
  return guarded([&]() -> PyObject* {
    const std::optional<Complaint> complaint =
        find(*py::detail::function_record_ptr_from_PyObject(self));
    if (!complaint) return Py_None;
    PyErr_SetString(complaint->type, complaint->text.c_str());
    return nullptr;
  });
}

py::handle first_argument(PyObject* const* args, std::size_t count) {
  return positional_count(count) != 0 ? args[0] : nullptr;
}

/// An __init__ of pybind11's classes.
PyObject* call_init(PyObject* self, PyObject* const* args, std::size_t count, PyObject* keywords) {
  const auto find = [&](const Record& record) {
    return wrong_start(record, first_argument(args, count));
  };
  return raise_complaint(self, find) == nullptr ? nullptr : call(self, args, count, keywords);
}

/// Any other method of pybind11's classes.
PyObject* call_method(PyObject* self, PyObject* const* args, std::size_t count,
                      PyObject* keywords) {
  const py::handle object = first_argument(args, count);
  const bool is_foreign = !object || PyObject_TypeCheck(object.ptr(), instance_base()) == 0;
  if (is_foreign || is_initialized(object)) [[likely]]
    return call(self, args, count, keywords);
  return raise_complaint(self, [&](const Record& record) {
    return std::optional(Complaint{PyExc_ValueError, name_of(record) + ": __init__ of this " +
                                                         type_name(object) + " was never called"});
  });
}

/// The function to run before pybind11's.
Call call_for(const Record& record) {
  const bool has_instances = record.is_method && PyType_Check(record.scope.ptr()) != 0 &&
                             PyType_IsSubtype(class_of(record), instance_base()) != 0;
  return !has_instances ? &call : record.is_constructor ? &call_init : &call_method;
}

bool is_ours(Call function) {
  return function == &call || function == &call_init || function == &call_method;
}

}  // namespace

void explain_wrong_calls(const BoundFunction& function) {
  PyCFunction& called = function.definition.ml_meth;
  const auto own = reinterpret_cast<Call>(reinterpret_cast<void*>(called));
  if (is_ours(own)) return;
  dispatch = own;
  called = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_for(function.record)));
  names().emplace(&function.record, function.name);
}

}  // namespace cudacore::bindings
