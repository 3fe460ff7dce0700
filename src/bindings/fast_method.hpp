// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "bindings/errors.hpp"
#include "bindings/keywords.hpp"

// Hot methods, which CPython calls without a tuple or a dict of the arguments. The signature in the
// binding alone says which arguments they take:
//
//   .def_fast(fast_method<"Buffer.fill($self, value, *, stream=None)", &fill>)
//
// Their bodies release the GIL around what may block.

namespace cudacore::bindings {

/// A string as a template argument.
template <std::size_t size>
struct LiteralText {
  char text[size];

  // NOLINTNEXTLINE(google-explicit-constructor): stands for the literal
  consteval LiteralText(const char (&literal)[size]) { std::copy_n(literal, size, &text[0]); }
};

/// What a signature such as "Buffer.fill($self, value, *, stream=None)" says of the arguments.
struct FastSignature {
  char function[64] = {};  ///< "Buffer.fill"
  std::size_t name = 0;    ///< where "fill" starts in it
  char keywords[4][16] = {};
  bool are_optional[4] = {};
  std::size_t count = 0;
  std::size_t positional = 0;  ///< how many may be given by place
  std::size_t required = 0;    ///< how many come before and with the last one that is not optional

  consteval explicit FastSignature(std::string_view text) : name(text.find('.') + 1) {
    const std::size_t open = text.find('(');
    std::copy_n(text.begin(), open, &function[0]);
    std::string_view rest = text.substr(open + 1, text.rfind(')') - open - 1);
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
        if (!are_optional[count - 1]) required = count;
        positional += is_by_place ? 1 : 0;
      }
    }
  }
};

/// `body` gets the object and an array of the arguments, borrowed: None for what is not given.
/// Without one that is not optional, it is not called.
template <LiteralText literal, auto body>
class FastMethod {
  static constexpr FastSignature signature{&literal.text[0]};
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
      const auto by_place = static_cast<std::size_t>(count);
      if (names == nullptr && by_place >= signature.required && by_place <= signature.positional)
          [[likely]] {
        std::copy_n(args, count, given.begin());
      } else {
        parse_keywords(&signature.function[0], keywords, given, signature.positional, args, count,
                       names);
        require_all(&signature.function[0], keywords, given);
      }
      return body(self, given);
    });
  }

 public:
  static inline PyMethodDef definition = {
      &signature.function[signature.name],
      reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call)), METH_FASTCALL | METH_KEYWORDS,
      &literal.text[signature.name]};
};

template <LiteralText literal, auto body>
inline PyMethodDef& fast_method = FastMethod<literal, body>::definition;

}  // namespace cudacore::bindings
