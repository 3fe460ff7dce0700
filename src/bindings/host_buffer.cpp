// SPDX-License-Identifier: Apache-2.0
#include "bindings/host_buffer.hpp"

#include <string>

#include "bindings/values.hpp"

namespace cudacore::bindings {

HostBuffer::HostBuffer(py::handle object, bool writable, const char* what) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    throw py::type_error(std::string(what) +
                         " must be a Buffer or a host object with the buffer protocol, not " +
                         type_name(object));
  }
  const int flags = writable ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    PyErr_Clear();
    throw py::type_error(std::string(what) + " must be C-contiguous" +
                         (writable ? " and writable" : "") + "; this " + type_name(object) +
                         " is not");
  }
}

}  // namespace cudacore::bindings
