// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "bindings/errors.hpp"
#include "bindings/keywords.hpp"

// Hot methods, which CPython calls without a tuple or a dict of the arguments. Where one is bound,
// its signature is all that says which arguments it takes:
//
//   .def_fast(FastMethod<type_name, fill_doc, &fill>::definition)
//
// Their bodies let the GIL go around what may block.

namespace cudacore::bindings {

/// What documentation such as "fill($self, value, *, stream=None)\n--\n\n..." says of the
/// arguments.
struct FastSignature {
  char function[64] = {};  ///< "Buffer.fill"
  std::size_t name = 0;    ///< where "fill" starts in it
  char keywords[4][16] = {};
  bool are_optional[4] = {};
  std::size_t count = 0;
  std::size_t positional = 0;  ///< how many may be given by place

  consteval FastSignature(std::string_view type, std::string_view doc) {
    const std::size_t open = doc.find('(');
    char* end = std::copy(type.begin(), type.end(), &function[0]);
    *end++ = '.';
    name = static_cast<std::size_t>(end - &function[0]);
    std::copy_n(doc.begin(), open, end);
    std::string_view rest = doc.substr(open + 1, doc.find(")\n--") - open - 1);
    bool is_by_place = true;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(", "), rest.size());
      const std::string_view parameter = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 2, rest.size()));
      if (parameter == "*") {
        is_by_place = false;
      } else if (parameter != "$self") {
        const std::size_t equals = std::min(parameter.find('='), parameter.size());
        are_optional[count] = equals != parameter.size();
        std::copy_n(parameter.begin(), equals, &keywords[count][0]);
        ++count;
        positional += is_by_place ? 1 : 0;
      }
    }
  }
};

/// A method of the type that messages call `type`. `body` gets the object and an array of the
/// arguments, borrowed: None for one that is optional and not given, null for one that is not.
template <const char* type, const char* doc, auto body>
class FastMethod {
  static constexpr FastSignature signature{type, doc};
  using Arguments = std::array<pybind11::handle, signature.count>;

  static constexpr std::array<const char*, signature.count> keywords = [] {
    std::array<const char*, signature.count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = &signature.keywords[i][0];
    return all;
  }();

  static PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return guarded([&]() -> PyObject* {
      Arguments given;
      for (std::size_t i = 0; i < given.size(); ++i) {
        given[i] = signature.are_optional[i] ? Py_None : nullptr;
      }
      if (names == nullptr && static_cast<std::size_t>(count) <= signature.positional) [[likely]] {
        std::copy_n(args, count, given.begin());
      } else {
        parse_keywords(&signature.function[0], keywords, given, signature.positional, args, count,
                       names);
      }
      return body(self, given);
    });
  }

 public:
  static inline PyMethodDef definition = {
      &signature.function[signature.name],
      reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call)), METH_FASTCALL | METH_KEYWORDS,
      doc};
};

}  // namespace cudacore::bindings
