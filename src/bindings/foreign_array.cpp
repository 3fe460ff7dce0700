// SPDX-License-Identifier: Apache-2.0
#include "bindings/foreign_array.hpp"

#include <limits>

#include "bindings/array_interface.hpp"
#include "bindings/dlpack_import.hpp"
#include "bindings/errors.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "error/describe.hpp"

namespace cudacore::bindings {
namespace {

[[noreturn]] void refuse(const char* protocol, const std::string& what) {
  throw ForeignArrayError(std::string(protocol) + " " + what);
}

/// Refuses strides that lead beyond the address space.
void check_strides(const char* protocol, const dlpack::Tensor& tensor, std::size_t item_size) {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  bool overflows = false;
  for (int i = 0; i < tensor.dimensions; ++i) {
    std::int64_t reach = 0;
    overflows |= __builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach);
    std::int64_t& end = reach < 0 ? lowest : highest;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  const auto size = static_cast<std::int64_t>(item_size);
  const auto address = reinterpret_cast<std::uint64_t>(tensor.data);
  std::uint64_t edge = 0;
  overflows |= __builtin_mul_overflow(lowest, size, &lowest);
  overflows |= __builtin_add_overflow(highest, 1, &highest);
  overflows |= __builtin_mul_overflow(highest, size, &highest);
  overflows |= __builtin_add_overflow(address, lowest, &edge);
  overflows |= __builtin_add_overflow(address, highest, &edge);
  if (overflows) refuse(protocol, "has strides that lead out of the address space");
}

/// For an array whose stream is unknown: lets its own library order the consumer behind its work,
/// if it can. The driver knows better where the memory is, and DLPack may not say that it is
/// read-only.
void order_by_dlpack(PyObject* object, CUstream consumer, ForeignArray& array) {
  const dlpack::Device device = array.tensor.device;
  const bool read_only = array.read_only;
  if (!read_dlpack(object, consumer, array)) return;
  array.tensor.device = device;
  array.read_only |= read_only;
  array.stream = nullptr;
}

}  // namespace

void ForeignArray::check(const char* protocol) {
  const int dimensions = tensor.dimensions;
  if (dimensions < 0 || dimensions > most_dimensions) [[unlikely]] {
    refuse(protocol, "has " + std::to_string(dimensions) + " dimensions; an array has 0 to " +
                         std::to_string(most_dimensions));
  }
  if (dimensions != 0 && tensor.shape == nullptr) [[unlikely]] {
    refuse(protocol, "has dimensions, but no shape");
  }
  const unsigned bits = unsigned{tensor.type.bits} * tensor.type.lanes;
  if (bits == 0 || bits % 8 != 0) [[unlikely]] {
    refuse(protocol, "has elements of " + std::to_string(bits) +
                         " bits, not of whole bytes; view them as bytes");
  }
  item_size = bits / 8;
  std::uint64_t elements = 1;
  bool in_order = true;
  bool overflows = false;
  for (int i = dimensions - 1; i >= 0; --i) {
    const std::int64_t extent = tensor.shape[i];
    if (extent < 0) [[unlikely]] {
      refuse(protocol, "has a negative extent, " + std::to_string(extent));
    }
    const bool follows = tensor.strides == nullptr || extent == 1 ||
                         static_cast<std::uint64_t>(tensor.strides[i]) == elements;
    in_order = in_order && follows;
    overflows |= __builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements);
  }
  const auto address = reinterpret_cast<std::uint64_t>(tensor.data);
  std::uint64_t size = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  overflows |= __builtin_mul_overflow(elements, std::uint64_t{item_size}, &size);
  overflows |= __builtin_add_overflow(address, tensor.byte_offset, &first);
  overflows |= __builtin_add_overflow(first, size, &end);
  if (overflows || size > std::numeric_limits<std::int64_t>::max()) [[unlikely]] {
    refuse(protocol, "has more elements than the address space holds");
  }
  if (tensor.data == nullptr && elements != 0) [[unlikely]] {
    refuse(protocol, "has a null address, but " + std::to_string(elements) + " elements");
  }
  tensor.data = reinterpret_cast<void*>(first);
  tensor.byte_offset = 0;
  count = elements;
  is_c_contiguous = in_order || elements == 0;
  if (!is_c_contiguous) check_strides(protocol, tensor, item_size);
}

bool read_foreign_array(PyObject* object, CUstream consumer, Sharing sharing, ForeignArray& array) {
  if (read_exchange_api(object, sharing, array)) return true;
  if (!read_cuda_array_interface(object, array)) {
    return read_array_interface(object, array) || read_dlpack(object, consumer, array);
  }
  if (!array.can_name_stream && consumer != nullptr) order_by_dlpack(object, consumer, array);
  return true;
}

CUstream current_stream(const dlpack::ExchangeApi& api, dlpack::Device device) {
  if (api.current_stream == nullptr || !has_streams(device.type)) return nullptr;
  void* stream = nullptr;
  if (api.current_stream(device.type, device.ordinal, &stream) != 0) {
    throw_protocol_error("current_work_stream of its DLPack exchange API");
  }
  return stream == nullptr ? CU_STREAM_LEGACY : static_cast<CUstream>(stream);
}

CUstream producer_stream(const ForeignArray& array) {
  return array.api == nullptr ? array.stream : current_stream(*array.api, array.tensor.device);
}

dlpack::Device locate(std::uint64_t address) {
  using dlpack::DeviceType;
  const driver::DriverApi& api = driver::api();
  CUcontext current = nullptr;
  error::check(api.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == nullptr) static_cast<void>(error::current_context());  // makes one current
  int ordinal = 0;
  unsigned type = 0;
  unsigned is_managed = 0;
  std::array<CUpointer_attribute, 3> attributes = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
  std::array<void*, 3> values = {&ordinal, &type, &is_managed};
  error::check(api.cuPointerGetAttributes(3, attributes.data(), values.data(), address),
               "cuPointerGetAttributes",
               [&] { return "address " + error::format_address(address); });
  if (is_managed != 0) return {DeviceType::cuda_managed, 0};
  if (type == CU_MEMORYTYPE_HOST) return {DeviceType::cuda_host, 0};
  if (type == CU_MEMORYTYPE_DEVICE) return {DeviceType::cuda, ordinal};
  return {DeviceType::cpu, 0};
}

std::string type_text(dlpack::DataType type) {
  using dlpack::TypeCode;
  constexpr std::array<const char*, 18> names = {"int",
                                                 "uint",
                                                 "float",
                                                 "",
                                                 "bfloat",
                                                 "complex",
                                                 "bool",
                                                 "float8_e3m4",
                                                 "float8_e4m3",
                                                 "float8_e4m3b11fnuz",
                                                 "float8_e4m3fn",
                                                 "float8_e4m3fnuz",
                                                 "float8_e5m2",
                                                 "float8_e5m2fnuz",
                                                 "float8_e8m0fnu",
                                                 "float6_e2m3fn",
                                                 "float6_e3m2fn",
                                                 "float4_e2m1fn"};
  const auto code = static_cast<std::size_t>(type.code);
  if (type.code == TypeCode::opaque_handle) {
    return std::to_string(type.bits * type.lanes / 8) + "-byte struct";
  }
  std::string text =
      code < names.size() ? names.at(code) : "DLPack's type " + std::to_string(code) + ", bits ";
  if (code < 6 || code >= names.size()) text += std::to_string(type.bits);
  if (type.lanes != 1) text += " x " + std::to_string(type.lanes);
  return text;
}

PyObject* interned(const char* name) {
  return checked(PyUnicode_InternFromString(name)).release().ptr();
}

pybind11::object optional_attribute(PyObject* object, PyObject* name) {
  PyObject* value = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  const int found = PyObject_GetOptionalAttr(object, name, &value);
#else
  const int found = _PyObject_LookupAttr(object, name, &value);
#endif
  if (found < 0) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(value);
}

}  // namespace cudacore::bindings
