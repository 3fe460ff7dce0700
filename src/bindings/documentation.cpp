// SPDX-License-Identifier: Apache-2.0
#include "bindings/documentation.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>

#include "bindings/text_signature.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

struct Row {
  std::string_view name;
  const char* parameters;  ///< of a class
  const char* text;
};

// Sorted by name.
constexpr Row rows[] = {
#include "documentation.inc"
};

const Row* find(std::string_view name) noexcept {
  const Row* row =
      std::lower_bound(std::begin(rows), std::end(rows), name,
                       [](const Row& each, std::string_view wanted) { return each.name < wanted; });
  return row != std::end(rows) && row->name == name ? row : nullptr;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// The row of a member of a class or of the first base that has one.
const Row* find_member(const PyTypeObject* type, std::string_view name) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    const auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i));
    const std::string path = std::string(last_name(base->tp_name)) + "." + std::string(name);
    if (const Row* row = find(path)) return row;
  }
  return nullptr;
}

}  // namespace

const char* documentation(py::handle scope, std::string_view name) {
  const bool is_member = PyType_Check(scope.ptr()) != 0;
  const Row* row =
      is_member ? find_member(reinterpret_cast<PyTypeObject*>(scope.ptr()), name) : find(name);
  if (row != nullptr) return row->text;
  if (name.starts_with('_')) return nullptr;
  throw std::logic_error("_core.pyi does not document " + std::string(name) + " of " +
                         std::string(py::repr(scope)));
}

std::string class_documentation(const char* qualified_name) {
  const std::string name(last_name(qualified_name));
  const Row* row = find(name);
  if (row == nullptr) throw std::logic_error("_core.pyi does not document " + name);
  return with_signature(name, row->parameters, row->text);
}

void document(PyMethodDef& definition, py::handle scope) {
  const std::string_view given = definition.ml_doc;
  const std::string signature(given.substr(0, given.find('\n')));
  const char* text = documentation(scope, definition.ml_name);
  const std::string documented = signature + "\n--\n\n" + (text == nullptr ? "" : text);
  definition.ml_doc = ::strdup(documented.c_str());  // never freed, like the definition
  if (definition.ml_doc == nullptr) throw std::bad_alloc();
}

}  // namespace cudacore::bindings
