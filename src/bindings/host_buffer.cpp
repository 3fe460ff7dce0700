// SPDX-License-Identifier: Apache-2.0
#include "bindings/host_buffer.hpp"

#include "bindings/conversions.hpp"

namespace cudacore::bindings {
bool names_object(std::string_view format) noexcept {
  bool is_in_name = false;
  for (const char letter : format) {
    if (letter == ':') {
      is_in_name = !is_in_name;
    } else if (letter == 'O' && !is_in_name) {
      return true;
    }
  }
  return false;
}

namespace {

/// Asks for the format alone: some objects that show their memory, such as NumPy's dates, have none
/// to tell.
bool holds_objects(py::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool result = view.format != nullptr && names_object(view.format);
  PyBuffer_Release(&view);
  return result;
}

/// Passes on the error of an object that never shows its memory, whatever is requested.
void require_any_view(py::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_INDIRECT) != 0) throw py::error_already_set();
  PyBuffer_Release(&view);
}

}  // namespace

HostBuffer::HostBuffer(py::handle object, bool writable, const char* what) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    const bool is_list = PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0;
    refuse_type(what, "a Buffer, an array, or an object with the buffer protocol, such as bytes",
                object, is_list ? "; numpy.array(...) makes an array of it" : "");
  }
  const int flags = writable ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    const py::error_already_set raised;
    const bool is_refusal = raised.matches(PyExc_BufferError) || raised.matches(PyExc_ValueError) ||
                            raised.matches(PyExc_TypeError);
    if (!is_refusal) throw raised;
    require_any_view(object);
    const bool is_array = PyObject_HasAttrString(object.ptr(), "__array_interface__") != 0;
    const std::string array_advice =
        writable ? "; copy to a fresh array, and assign that to this one: a[...] = fresh"
                 : "; np.ascontiguousarray(...) makes one that is";
    throw py::type_error(std::string(what) + " must be C-contiguous" +
                         (writable ? " and writable" : "") + "; this " + type_name(object) +
                         " is not" + (is_array ? array_advice : ""));
  }
  const bool may_hold_objects = view_.itemsize >= static_cast<Py_ssize_t>(sizeof(PyObject*));
  if (may_hold_objects && holds_objects(object)) {
    PyBuffer_Release(&view_);
    throw py::type_error(std::string(what) + " must hold plain values; this " + type_name(object) +
                         " holds Python objects, and their addresses mean nothing on a device");
  }
}

}  // namespace cudacore::bindings
