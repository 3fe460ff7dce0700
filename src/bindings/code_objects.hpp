// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bindings/heap_type.hpp"
#include "cudacore/cache.hpp"

// What the Python types around compiled code hold: ParamInfo a Param, Signature and ObjectCode the
// C++ types of the same name.

namespace cudacore::bindings {

/// A Program or Linker that can be closed. A call that runs without the GIL keeps its own share, so
/// closing is safe at any time.
template <typename T>
struct Closable {
  std::shared_ptr<T> shared;

  /// @throw std::invalid_argument after close().
  [[nodiscard]] std::shared_ptr<T> get(const char* type) const {
    if (shared == nullptr) {
      throw pybind11::value_error(std::string("this ") + type + " is closed; make a new one");
    }
    return shared;
  }
};

/// Binds what such types have in common. `name` is theirs, for messages.
template <typename T>
void add_close(HeapClass<Closable<T>>& type, const char* name) {
  type.def("close", quick, [](Closable<T>& self) { self.shared.reset(); })
      .property("handle",
                [name](const Closable<T>& self) {
                  return [shared = self.get(name)] {
                    return reinterpret_cast<std::uintptr_t>(shared->handle().get());
                  };
                })
      .property("is_closed", quick, [](const Closable<T>& self) { return self.shared == nullptr; });
}

using PyProgram = Closable<Program>;
using PyLinker = Closable<Linker>;

/// A str, or the text in bytes; `what` names the argument for messages.
[[nodiscard]] std::string to_name(pybind11::handle object, const char* what);
/// One of the names of CodeType.
[[nodiscard]] CodeType to_code_type(pybind11::handle object, const char* what);
/// True and None use the cache, False doesn't.
[[nodiscard]] cache::Use to_cache_use(pybind11::handle object);
/// A Signature, or a str that declares one.
[[nodiscard]] Signature to_signature(pybind11::handle object);
/// A member of one of the enumerations of cudacore.typing, which is imported for it.
[[nodiscard]] pybind11::object to_member(const char* enumeration, std::string_view value);
/// The name of a kind: "float32".
[[nodiscard]] std::string_view to_string(ParamKind kind) noexcept;

}  // namespace cudacore::bindings
