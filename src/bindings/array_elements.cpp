// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_elements.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bindings/foreign_array.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::TypeCode;

std::optional<TypeCode> code_of(std::string_view format) {
  if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos) {
    format.remove_prefix(1);
  }
  if (format == "Zf" || format == "Zd") return TypeCode::complex;
  if (format.size() != 1) return std::nullopt;
  if (std::string_view("bhilqn").find(format[0]) != std::string_view::npos) return TypeCode::sint;
  if (std::string_view("BHILQN").find(format[0]) != std::string_view::npos) return TypeCode::uint;
  if (std::string_view("efdg").find(format[0]) != std::string_view::npos) return TypeCode::real;
  if (format[0] == '?') return TypeCode::boolean;
  return std::nullopt;
}

dlpack::DataType channel_type(ArrayFormat format) {
  TypeCode code = TypeCode::real;
  if (format <= ArrayFormat::uint32) {
    code = TypeCode::uint;
  } else if (format <= ArrayFormat::int32) {
    code = TypeCode::sint;
  }
  return {code, static_cast<std::uint8_t>(8 * size_of(format)), 1};
}

std::string tuple_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "(" + text + (numbers.size() == 1 ? ",)" : ")");
}

std::string extent_text(const OpaqueArrayOptions& options) {
  const auto& shape = options.shape;
  std::string text = "a width of " + std::to_string(shape[0]);
  if (shape.size() == 2) text += " and a height of " + std::to_string(shape[1]);
  if (shape.size() == 3) {
    text +=
        ", a height of " + std::to_string(shape[1]) + " and a depth of " + std::to_string(shape[2]);
  }
  if (options.num_channels > 1) {
    text += ", with " + std::to_string(options.num_channels) + " channels,";
  }
  return text;
}

}  // namespace

ArrayElements elements_of_host_object(pybind11::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();  // such as NumPy's dates, which have no format
    return {};
  }
  ArrayElements elements;
  const auto code = code_of(view.format != nullptr ? view.format : "B");
  const bool is_bytes = view.itemsize == 1 && view.ndim <= 1;
  elements.is_typed = code && !is_bytes;
  if (elements.is_typed) {
    elements.type = {*code, static_cast<std::uint8_t>(8 * view.itemsize), 1};
    elements.shape.assign(view.shape, view.shape + view.ndim);
  }
  PyBuffer_Release(&view);
  return elements;
}

void require_fit(const ArrayElements& given, const OpaqueArray& array, const char* what) {
  if (!given.is_typed) return;
  const OpaqueArrayOptions options = array.options();
  const dlpack::DataType own = channel_type(options.format);
  const dlpack::DataType channel{given.type.code, given.type.bits, 1};
  const bool has_vectors = given.type.lanes > 1;
  if (channel != own || (has_vectors && given.type.lanes != options.num_channels)) {
    const std::string name = type_text(own);
    throw TypeMismatchError(std::string(what) + ": the array's elements are " +
                            type_text(given.type) + ", those of this OpaqueArray " + name +
                            ": pass array.astype(np." + name + ")");
  }
  if (given.shape.size() < 2 || (options.shape.size() < 2 && options.num_channels == 1)) return;
  std::vector<std::int64_t> wanted(options.shape.rbegin(), options.shape.rend());
  const bool has_one = options.num_channels == 1 && given.shape.size() == wanted.size() + 1;
  if (has_one || (options.num_channels > 1 && !has_vectors)) {
    wanted.push_back(options.num_channels);
  }
  if (given.shape == wanted) return;
  throw std::invalid_argument(std::string(what) + ": this array has shape " +
                              tuple_text(given.shape) + "; " + extent_text(options) +
                              " is the NumPy shape " + tuple_text(wanted));
}

}  // namespace cudacore::bindings
