// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

// Objects of pybind11's classes. __init__ makes their C++ part, and a class that derives from one
// may call it late or never: until then, pybind11 hands out uninitialized memory.

namespace cudacore::bindings {

/// Whether __init__ has made the C++ part of each base. `object` must be of a class of pybind11's.
[[nodiscard]] bool is_initialized(pybind11::handle object);

/// Whether the object's C++ part is made by the __init__ of `type`, not by that of a class that
/// derives from it.
[[nodiscard]] bool is_made_by(pybind11::handle object, const PyTypeObject* type);

/// __reduce__ of objects that stand for memory. For old protocols of pickle, Python's own would
/// call the base of all of pybind11's classes, which ends the process.
[[noreturn]] void refuse_pickle(const pybind11::object& self);

/// The base of all of pybind11's classes.
[[nodiscard]] PyTypeObject* instance_base();

/// A metaclass whose call refuses an object that __init__ left without a C++ part.
[[nodiscard]] pybind11::object instance_metaclass();

}  // namespace cudacore::bindings
