// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/documentation.hpp"
#include "bindings/gil.hpp"
#include "bindings/held_types.hpp"

// Whether a bound function may block, which each binding says:
//
//   by default  it may. A function of C++ values runs without the GIL, on shares of its own. One
//               that takes Python objects turns them into values and returns the rest of its work
//               as a lambda, which owns all it needs and runs without the GIL.
//   quick       It calls nothing that may block (see driver/symbols.def), and keeps the GIL.
//   in_parts    It releases the GIL itself, around the parts that may block.
//
// A build with CUDACORE_CHECK_GIL aborts if one of them is wrong.

namespace cudacore::bindings {

namespace py = pybind11;

struct KeepsGil {};
inline constexpr KeepsGil quick;
inline constexpr KeepsGil in_parts;

template <typename T>
inline constexpr bool is_python = std::is_base_of_v<py::handle, std::remove_cvref_t<T>>;

/// What is held of an argument without the GIL: a copy of what a Python object holds, since another
/// thread may close it. Objects of pybind11's classes live as long as the call.
template <typename T>
using Share =
    std::conditional_t<is_held<T> || !std::is_lvalue_reference_v<T>, std::remove_cvref_t<T>, T>;

/// Runs `work` without the GIL, and destroys it there too.
template <typename Work>
auto without_gil(Work work) {
  const ReleaseGil release;
  Work last = std::move(work);
  return std::move(last)();
}

template <typename Function, typename Result, typename... Args>
auto lets_gil_go(Function function, Result (* /*signature*/)(Args...)) {
  if constexpr (std::is_invocable_v<Result>) {
    return [function](Args... args) { return without_gil(function(std::forward<Args>(args)...)); };
  } else {
    static_assert(!(is_python<Args> || ...) && !is_python<Result>,
                  "Python objects need the GIL: return a lambda to run without it, or say quick or "
                  "in_parts");
    static_assert(!((is_held<Args> && std::is_lvalue_reference_v<Args> &&
                     !std::is_const_v<std::remove_reference_t<Args>>) ||
                    ...),
                  "what changes an object needs the GIL");
    return [function](Args... args) {
      return without_gil([&function, shares = std::tuple<Share<Args>...>(std::forward<Args>(
                                         args)...)] { return std::apply(function, shares); });
    };
  }
}

/// The function to bind, by the policy among what is bound with it.
template <typename Function, typename... Extra>
auto with_policy(const Function& function, const Extra&... /*extra*/) {
  if constexpr ((std::is_same_v<Extra, KeepsGil> || ...)) {
    return function;
  } else {
    using Signature = py::detail::function_signature_t<Function>;
    return lets_gil_go(function, static_cast<Signature*>(nullptr));
  }
}

/// Calls use(function, extra...) for (extra..., function).
template <typename Use, typename... Parts>
void function_last(const Use& use, const Parts&... parts) {
  const std::tuple<const Parts&...> all(parts...);
  [&]<std::size_t... i>(std::index_sequence<i...> /*places*/) {
    use(std::get<sizeof...(i)>(all), std::get<i>(all)...);
  }
  (std::make_index_sequence<sizeof...(Parts) - 1>());
}

/// The docstring among what is bound with a name, or the stub's.
template <typename... Extra>
const char* docstring(py::handle scope, const char* name, const Extra&... extra) {
  if constexpr ((std::is_convertible_v<const Extra&, const char*> || ...)) {
    return std::get<const char*>(
        std::tuple<std::conditional_t<std::is_convertible_v<const Extra&, const char*>, const char*,
                                      const Extra&>...>(extra...));
  } else {
    return documentation(scope, name);
  }
}

template <auto member, typename T, typename R>
constexpr auto make_reader(R T::* /*member*/) {
  return [](const T& self) {
    auto value = std::invoke(member, self);
    if constexpr (std::is_pointer_v<decltype(value)>) {
      return reinterpret_cast<std::uintptr_t>(value);
    } else {
      return value;
    }
  };
}
/// The getter of a property: what a member is, or returns; a handle as an int.
template <auto member>
inline constexpr auto read = make_reader<member>(member);

/// __init__ by two factories, the second for classes that derive in Python. The conversion of the
/// arguments and other threads may call it too: the first call wins.
template <typename Class, typename Make, typename MakeDerived, typename Made, typename... Args>
auto initializes_once(Make make, MakeDerived make_derived, Made (* /*signature*/)(Args...)) {
  return [make, make_derived](py::detail::value_and_holder& part, Args... args) {
    const bool is_derived = Py_TYPE(part.inst) != part.type->type;
    Made made = is_derived ? make_derived(args...) : make(args...);
    if (!part.holder_constructed()) {
      py::detail::initimpl::construct<Class>(part, std::move(made), is_derived);
    }
  };
}

/// A module or a class of pybind11's whose functions are bound as those of a HeapClass.
template <typename Base>
class MethodsWithPolicy : public Base {
 public:
  template <typename... Extra>
  MethodsWithPolicy(py::module_& module, const char* name, const Extra&... extra)
      : Base(module, name, documentation(module, name), extra...) {}
  // NOLINTNEXTLINE(google-explicit-constructor): stands for what it wraps
  MethodsWithPolicy(const Base& base) : Base(base) {}

  template <typename... Rest>
  MethodsWithPolicy& def(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          Base::def(name, with_policy(function, extra...), docstring(*this, name, extra...),
                    extra...);
        },
        rest...);
    return *this;
  }
  template <typename... Rest>
  MethodsWithPolicy& def_static(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& function, const auto&... extra) {
          Base::def_static(name, with_policy(function, extra...), docstring(*this, name, extra...),
                           extra...);
        },
        rest...);
    return *this;
  }
  /// The constructor T(), which keeps the GIL.
  MethodsWithPolicy& def(const py::detail::initimpl::constructor<>& init) {
    Base::def(init);
    return *this;
  }
  template <typename... Rest>
  MethodsWithPolicy& def_init(const Rest&... rest) {
    const auto& factory = std::get<sizeof...(Rest) - 1>(std::tie(rest...));
    return def_init_of_both(rest..., factory);
  }
  /// For a class with an alias, which the second factory makes.
  template <typename... Rest>
  MethodsWithPolicy& def_init_of_both(const Rest&... rest) {
    Base& self = *this;  // GCC 12 cannot capture `this` here
    const auto add = [&self](const auto& derived, const auto& factory, const auto&... extra) {
      auto make = with_policy(factory, extra...);
      using Signature = py::detail::function_signature_t<decltype(make)>;
      self.def("__init__",
               initializes_once<Base>(make, with_policy(derived, extra...),
                                      static_cast<Signature*>(nullptr)),
               py::detail::is_new_style_constructor(), extra...);
    };
    function_last(
        [&](const auto& derived, const auto&... others) {
          function_last(
              [&](const auto& factory, const auto&... extra) { add(derived, factory, extra...); },
              others...);
        },
        rest...);
    return *this;
  }
  template <typename... Rest>
  MethodsWithPolicy& property(const char* name, const Rest&... rest) {
    function_last(
        [&](const auto& get, const auto&... extra) {
          Base::def_property_readonly(name, with_policy(get, extra...),
                                      docstring(*this, name, extra...), extra...);
        },
        rest...);
    return *this;
  }
};

}  // namespace cudacore::bindings

namespace pybind11::detail {

template <>
struct process_attribute<cudacore::bindings::KeepsGil>
    : process_attribute_default<cudacore::bindings::KeepsGil> {};

}  // namespace pybind11::detail
