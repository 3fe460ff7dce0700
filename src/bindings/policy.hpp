// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/gil.hpp"
#include "bindings/held_types.hpp"

// Whether a bound function may block, which each says where it is bound:
//
//   by default  it may. A function of C++ values runs without the GIL, on shares of its own. One
//               that takes Python objects turns them into values and returns the rest of its work
//               as a lambda, which owns all it needs and runs without the GIL.
//   quick       It calls nothing that may block (see driver/symbols.def), and keeps the GIL.
//   in_parts    It lets the GIL go itself, around the parts that may block.
//
// A build with CUDACORE_CHECK_GIL aborts where one of them says so wrongly.

namespace cudacore::bindings {

namespace py = pybind11;

struct Quick {};
struct InParts {};
inline constexpr Quick quick;
inline constexpr InParts in_parts;

template <typename T>
inline constexpr bool is_python = std::is_base_of_v<py::handle, std::remove_cvref_t<T>>;

/// What is held of an argument while the GIL is away: a copy of what lies in a Python object, which
/// another thread may close meanwhile. Objects of pybind11's classes live as long as the call.
template <typename T>
using Share =
    std::conditional_t<is_held<T> || !std::is_lvalue_reference_v<T>, std::remove_cvref_t<T>, T>;

/// Runs `work` without the GIL, and ends it there too.
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

/// The function to bind, by what `Extra` says.
template <typename... Extra, typename Function>
auto with_policy(Function&& function) {
  if constexpr (((std::is_same_v<Extra, Quick> || std::is_same_v<Extra, InParts>) || ...)) {
    return std::forward<Function>(function);
  } else {
    using Plain = std::remove_cvref_t<Function>;
    using Signature = py::detail::function_signature_t<Plain>;
    return lets_gil_go(Plain(std::forward<Function>(function)), static_cast<Signature*>(nullptr));
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
/// arguments and other threads may call it meanwhile: what came first stands.
template <typename Class, typename Make, typename MakeDerived, typename Made, typename... Args>
auto initialises_once(Make make, MakeDerived make_derived, Made (* /*signature*/)(Args...)) {
  return [make, make_derived](py::detail::value_and_holder& part, Args... args) {
    const bool is_derived = Py_TYPE(part.inst) != part.type->type;
    Made made = is_derived ? make_derived(args...) : make(args...);
    if (!part.holder_constructed()) {
      py::detail::initimpl::construct<Class>(part, std::move(made), is_derived);
    }
  };
}

/// A module or a class of pybind11's whose functions say whether they may block.
template <typename Base>
class Policied : public Base {
 public:
  using Base::Base;
  // NOLINTNEXTLINE(google-explicit-constructor): stands for what it wraps
  Policied(const Base& base) : Base(base) {}

  template <typename Function, typename... Extra>
  Policied& def(const char* name, Function&& function, const Extra&... extra) {
    Base::def(name, with_policy<Extra...>(std::forward<Function>(function)), extra...);
    return *this;
  }
  /// The constructor of T() alone, which keeps the GIL.
  Policied& def(const py::detail::initimpl::constructor<>& init) {
    Base::def(init);
    return *this;
  }
  template <typename Factory, typename... Extra>
  Policied& def_init(const Factory& factory, const Extra&... extra) {
    return def_init_of_both(factory, factory, extra...);
  }
  /// Where the class has an alias, which the second factory makes.
  template <typename Factory, typename DerivedFactory, typename... Extra>
  Policied& def_init_of_both(const Factory& factory, const DerivedFactory& derived,
                             const Extra&... extra) {
    auto make = with_policy<Extra...>(factory);
    using Signature = py::detail::function_signature_t<decltype(make)>;
    Base::def("__init__",
              initialises_once<Base>(make, with_policy<Extra...>(derived),
                                     static_cast<Signature*>(nullptr)),
              py::detail::is_new_style_constructor(), extra...);
    return *this;
  }
  template <typename Getter, typename... Extra>
  Policied& def_property_readonly(const char* name, Getter&& getter, const Extra&... extra) {
    Base::def_property_readonly(name, with_policy<Extra...>(std::forward<Getter>(getter)),
                                extra...);
    return *this;
  }
  template <typename Getter, typename Setter, typename... Extra>
  Policied& def_property(const char* name, Getter&& getter, Setter&& setter,
                         const Extra&... extra) {
    Base::def_property(name, with_policy<Extra...>(std::forward<Getter>(getter)),
                       with_policy<Extra...>(std::forward<Setter>(setter)), extra...);
    return *this;
  }
};

}  // namespace cudacore::bindings

namespace pybind11::detail {

template <>
struct process_attribute<cudacore::bindings::Quick>
    : process_attribute_default<cudacore::bindings::Quick> {};
template <>
struct process_attribute<cudacore::bindings::InParts>
    : process_attribute_default<cudacore::bindings::InParts> {};

}  // namespace pybind11::detail
