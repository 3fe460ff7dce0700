// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/foreign_view.hpp"
#include "bindings/tensor_map_object.hpp"

namespace cudacore::bindings {
namespace {

py::module_ python_part() { return py::module_::import("cudacore._tensor_map"); }

/// A TensorMapDescriptorOptions, made and checked by a function of the Python part.
template <typename... Arguments>
py::object options_by(const char* function, const TensorMapFields& fields,
                      const Arguments&... arguments) {
  return python_part().attr(function)(arguments..., fields.element_strides, fields.data_type,
                                      fields.interleave, fields.swizzle, fields.l2_promotion,
                                      fields.oob_fill);
}

std::optional<TensorMapDataType> find_data_type(const ElementType& element) {
  struct Named {
    std::string_view name;
    TensorMapDataType type;
  };
  static constexpr auto known = std::to_array<Named>({
      {"uint8", TensorMapDataType::uint8},
      {"uint16", TensorMapDataType::uint16},
      {"uint32", TensorMapDataType::uint32},
      {"int32", TensorMapDataType::int32},
      {"uint64", TensorMapDataType::uint64},
      {"int64", TensorMapDataType::int64},
      {"float16", TensorMapDataType::float16},
      {"float32", TensorMapDataType::float32},
      {"float64", TensorMapDataType::float64},
      {"bfloat16", TensorMapDataType::bfloat16},
  });
  const auto* found = std::find_if(known.begin(), known.end(),
                                   [&](const Named& each) { return each.name == element.name; });
  return found == known.end() ? std::nullopt : std::optional(found->type);
}

TensorMapDataType to_data_type(py::handle given, const StridedView& view) {
  if (given.is_none() && !view.is_typed) {
    throw py::value_error(
        "Cannot infer TMA data type from the tensor; please specify data_type explicitly");
  }
  if (!given.is_none() && py::isinstance(given, python_part().attr("TensorMapDataType"))) {
    // A member that Python code has made may have any number.
    const auto number = given.cast<long long>();
    if (number < 0 || number > static_cast<int>(TensorMapDataType::tfloat32_ftz)) {
      throw py::value_error("data_type: there is no TensorMapDataType " + std::to_string(number));
    }
    return static_cast<TensorMapDataType>(number);
  }
  const ElementType element =
      given.is_none() ? view.element
                      : to_element_type(given, "data_type must be a TensorMapDataType or a dtype:");
  const std::optional<TensorMapDataType> type = find_data_type(element);
  if (!type) {
    throw py::value_error("Unsupported dtype " + element.name +
                          " for TMA; data_type=TensorMapDataType.UINT8, UINT16, UINT32 or UINT64 "
                          "copies its elements as they are");
  }
  return *type;
}

/// What any kind of descriptor is made of, once all Python code has run.
struct Request {
  TensorMapTensor tensor;
  TensorMapOptions options;
  std::int64_t extent = 0;
};

void require_reachable(const StridedView& view) {
  require_open(view);
  if (!view.is_device_accessible()) {
    throw py::value_error("The tensor must be device-accessible");
  }
}

void require_device(const StridedView& view, const Device& device, const char* what) {
  if (view.device.type != dlpack::DeviceType::cuda || view.device_id == device.id()) return;
  throw py::value_error(std::string(what) + " expects tensor on device " +
                        std::to_string(device.id()) + ", got " + std::to_string(view.device_id));
}

template <typename Enumeration>
Enumeration enumerator(py::handle options, const char* name) {
  return static_cast<Enumeration>(options.attr(name).cast<int>());
}

/// `options` is a TensorMapDescriptorOptions, which has checked its fields.
Request request_of(const StridedView& view, py::handle options, const char* what) {
  require_reachable(view);
  require_device(view, Device::current(), what);
  Request made;
  made.tensor.data_type = to_data_type(options.attr("data_type"), view);
  const auto size = static_cast<std::int64_t>(size_of(made.tensor.data_type));
  const StridedLayout layout =
      size == static_cast<std::int64_t>(view.element.size)
          ? view.layout
          : view.layout.resized(static_cast<std::int64_t>(view.element.size), size);
  made.tensor.address = view.address;
  made.tensor.shape = layout.shape();
  made.tensor.strides = layout.strides();
  made.extent = layout.range().end * size;
  const py::object steps = options.attr("element_strides");
  if (!steps.is_none()) made.options.element_strides = to_lengths(steps, "element_strides");
  made.options.interleave = enumerator<TensorMapInterleave>(options, "interleave");
  made.options.swizzle = enumerator<TensorMapSwizzle>(options, "swizzle");
  made.options.l2_promotion = enumerator<TensorMapL2Promotion>(options, "l2_promotion");
  made.options.oob_fill = enumerator<TensorMapOOBFill>(options, "oob_fill");
  require_open(view);  // what ran above may have closed it
  return made;
}

template <typename Make>
TensorMapObject made_by(const StridedView& view, const Request& request, const Make& make) {
  auto map = [&] {
    const ReleaseGil release;
    return std::make_shared<const TensorMapDescriptor>(make());
  }();
  return {std::move(map), view, request.extent};
}

StridedView to_strided_view(py::handle object, const char* what) {
  const auto* view = get_if<StridedView>(object.ptr());
  if (view == nullptr) refuse_type(std::string(what) + ": view", "a StridedMemoryView", object);
  return *view;
}

constexpr char im2col_name[] = "TensorMapDescriptor.from_im2col";
constexpr char wide_name[] = "TensorMapDescriptor.from_im2col_wide";

TensorMapObject make_im2col(py::handle object, py::handle lower, py::handle upper,
                            py::handle channels, py::handle columns,
                            const TensorMapFields& fields) {
  const StridedView view = to_strided_view(object, im2col_name);
  const TensorMapPixels pixels{to_lengths(lower, "pixel_box_lower_corner"),
                               to_lengths(upper, "pixel_box_upper_corner"),
                               to_int<std::int64_t>(channels, "channels_per_pixel"),
                               to_int<std::int64_t>(columns, "pixels_per_column")};
  const Request request = request_of(view, options_by("im2col_options", fields), im2col_name);
  return made_by(view, request, [&] {
    return TensorMapDescriptor::im2col(request.tensor, pixels, request.options);
  });
}

TensorMapObject make_im2col_wide(py::handle object, py::handle lower, py::handle upper,
                                 py::handle channels, py::handle columns, py::handle mode,
                                 const TensorMapFields& fields) {
  const StridedView view = to_strided_view(object, wide_name);
  const TensorMapPixels pixels{{to_int<std::int64_t>(lower, "pixel_box_lower_corner_width")},
                               {to_int<std::int64_t>(upper, "pixel_box_upper_corner_width")},
                               to_int<std::int64_t>(channels, "channels_per_pixel"),
                               to_int<std::int64_t>(columns, "pixels_per_column")};
  const auto chosen =
      static_cast<TensorMapIm2ColWideMode>(python_part().attr("wide_mode")(mode).cast<int>());
  const Request request = request_of(view, options_by("wide_options", fields), wide_name);
  return made_by(view, request, [&] {
    return TensorMapDescriptor::im2col_wide(request.tensor, pixels, chosen, request.options);
  });
}

void replace_address(const ObjectOf<TensorMapObject>& self, const py::object& tensor) {
  constexpr char what[] = "TensorMapDescriptor.replace_address";
  const auto* given = get_if<StridedView>(tensor.ptr());
  StridedView view =
      given != nullptr ? *given
                       : view_array(tensor, py::int_(-1),
                                    {&read_any_dlpack, &read_cuda_interface, &read_host_interface});
  require_reachable(view);
  TensorMapObject& object = self.value();
  require_device(view, object.map->context().device(), what);
  const std::int64_t bytes = view.layout.range().end * static_cast<std::int64_t>(view.element.size);
  if (bytes < object.extent) {
    throw py::value_error(std::string(what) + ": the descriptor describes " +
                          std::to_string(object.extent) + " bytes, but the tensor has " +
                          std::to_string(bytes));
  }
  auto changed = std::make_shared<TensorMapDescriptor>(*object.map);
  changed->replace_address(view.address);
  object.map = std::move(changed);
  // The old view ends last: releasing its memory may run Python code.
  std::swap(object.view, view);
}

PyObject* new_tensor_map(PyTypeObject* /*type*/, PyObject* /*args*/, PyObject* /*kwargs*/) {
  return guarded([]() -> PyObject* {
    raise_as_both(PyExc_TypeError, PyExc_RuntimeError,
                  "TensorMapDescriptor cannot be instantiated directly: use "
                  "StridedMemoryView.as_tensor_map()");
  });
}

}  // namespace

TensorMapObject make_tiled(const StridedView& view, py::handle box_dim, py::handle given,
                           const TensorMapFields& fields) {
  const StridedView kept = view;
  const py::object options = options_by("tiled_options", fields, box_dim, given);
  const std::vector<std::int64_t> box = to_lengths(options.attr("box_dim"), "box_dim");
  const Request request = request_of(kept, options, "StridedMemoryView.as_tensor_map");
  return made_by(kept, request,
                 [&] { return TensorMapDescriptor::tiled(request.tensor, box, request.options); });
}

void bind_tensor_map(py::module_& module) {
  using py::handle;
  const auto unset = [](const char* name) { return py::arg(name) = py::none(); };
  HeapClass<TensorMapObject>(module, "cudacore.TensorMapDescriptor", &new_tensor_map)
      .def_class("from_im2col", in_parts, py::arg("view"), py::arg("pixel_box_lower_corner"),
                 py::arg("pixel_box_upper_corner"), py::arg("channels_per_pixel"),
                 py::arg("pixels_per_column"), py::kw_only(), unset("element_strides"),
                 unset("data_type"), unset("interleave"), unset("swizzle"), unset("l2_promotion"),
                 unset("oob_fill"),
                 [](handle /*type*/, handle view, handle lower, handle upper, handle channels,
                    handle columns, handle strides, handle type, handle interleave, handle swizzle,
                    handle l2, handle fill) {
                   return make_im2col(view, lower, upper, channels, columns,
                                      {strides, type, interleave, swizzle, l2, fill});
                 })
      .def_class("from_im2col_wide", in_parts, py::arg("view"),
                 py::arg("pixel_box_lower_corner_width"), py::arg("pixel_box_upper_corner_width"),
                 py::arg("channels_per_pixel"), py::arg("pixels_per_column"), py::kw_only(),
                 unset("element_strides"), unset("data_type"), unset("interleave"), unset("mode"),
                 unset("swizzle"), unset("l2_promotion"), unset("oob_fill"),
                 [](handle /*type*/, handle view, handle lower, handle upper, handle channels,
                    handle columns, handle strides, handle type, handle interleave, handle mode,
                    handle swizzle, handle l2, handle fill) {
                   return make_im2col_wide(view, lower, upper, channels, columns, mode,
                                           {strides, type, interleave, swizzle, l2, fill});
                 })
      .property("device", quick,
                [](const TensorMapObject& self) {
                  return device_object(self.map->context().device().id());
                })
      .def("replace_address", in_parts, py::arg("tensor"), &replace_address)
      .def("__repr__", quick, [](const TensorMapObject& self) { return self.map->str(); });
}

}  // namespace cudacore::bindings
