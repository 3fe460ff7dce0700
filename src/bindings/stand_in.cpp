// SPDX-License-Identifier: Apache-2.0
#include "bindings/stand_in.hpp"

#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

/// A Buffer of other addresses.
py::object stand_in_buffer(CUdeviceptr address, std::size_t size, int device) {
  auto box = std::make_shared<owner::BufferBox>();
  box->pointer = address;
  box->size = size;
  box->device = device;
  return py::cast(Buffer(std::move(box)));
}

/// Addresses for what a layout reaches from a base, which is aligned as `address` is.
/// Returns how many bytes that is.
std::size_t stand_in_for(Recorder::StandIn& made, std::uint64_t address,
                         const StridedLayout& layout, std::size_t item, int device) {
  const StridedLayout::Range range = layout.range();
  const std::int64_t first = range.first * static_cast<std::int64_t>(item);
  const auto size = static_cast<std::size_t>(range.end - range.first) * item;
  const std::uint64_t lowest = address + static_cast<std::uint64_t>(first);
  made.memory = without_gil([=] {
    return std::make_shared<StandInMemory>(Device(device), size, lowest % StandInMemory::alignment);
  });
  made.base = made.memory->address() - static_cast<std::uint64_t>(first);
  return size;
}

StridedView stand_in_view(Recorder::StandIn& made, const StridedView& shape) {
  const std::size_t size =
      stand_in_for(made, shape.address, shape.layout, shape.element.size, shape.device_id);
  StridedView view = shape;
  view.exporter = stand_in_buffer(made.memory->address(), size, shape.device_id);
  view.memory = nullptr;
  view.address = made.base;
  return view;
}

/// @throw NotSupportedError unless `made` is an array as the given one, at the stand-in's address.
void require_stand_in(const Recorder::StandIn& made, const RecordedArgument& wanted,
                      py::handle original, CUstream consumer) {
  PyObject* const object = made.object.ptr();
  const CallArguments given(&object, 1, consumer);
  if (given[0].is_memory && given[0].address == made.base && wanted.fits(given[0])) return;
  throw NotSupportedError(type_with_article(original) +
                          " cannot be given other memory to be recorded; pass "
                          "cudacore.utils.StridedMemoryView of it");
}

/// The Buffer that a stand-in for memory is, or that its view is of; null for other stand-ins.
PyObject* buffer_of(const Recorder::StandIn& one) noexcept {
  if (one.memory == nullptr) return nullptr;
  const auto* view = get_if<StridedView>(one.object.ptr());
  PyObject* object = view != nullptr ? view->exporter.ptr() : one.object.ptr();
  return get_if<Buffer>(object) != nullptr ? object : nullptr;
}

}  // namespace

Recorder::StandIn make_stand_in(const CallArgument& given, const RecordedArgument& argument,
                                const py::object& make_number, const py::object& make_array,
                                CUstream consumer) {
  Recorder::StandIn made;
  const auto object = py::reinterpret_borrow<py::object>(given.object);
  if (argument.form == RecordedArgument::Form::number) {
    made.value = object;
    made.object = make_number(object);
  } else if (argument.form == RecordedArgument::Form::constant) {
    made.object = object;
  } else if (given.view != nullptr) {
    const StridedView shape = *given.view;
    made.object = py::cast(stand_in_view(made, shape));
  } else if (given.array != nullptr) {
    StridedView shape{.exporter = object};
    shape.address = given.address;
    shape.element = element_type_of(*argument.element);
    shape.layout = StridedLayout(
        argument.shape, argument.strides.empty() ? std::nullopt : std::optional(argument.strides));
    shape.is_read_only = argument.is_read_only;
    shape.device = {dlpack::DeviceType::cuda, given.device};
    shape.device_id = given.device;
    made.object = make_array(object, py::cast(stand_in_view(made, shape)));
    require_stand_in(made, argument, object, consumer);
  } else {
    const auto count = static_cast<std::int64_t>(given.size);
    stand_in_for(made, given.address, StridedLayout({count}), 1, given.device);
    made.object = stand_in_buffer(made.base, given.size, given.device);
  }
  return made;
}

void close_stand_ins(const std::vector<Recorder::StandIn>& ended) {
  for (const Recorder::StandIn& one : ended) {
    if (PyObject* buffer = buffer_of(one)) close_object<Buffer>(buffer);
  }
}

bool is_closed(const Recorder::StandIn& one) {
  PyObject* buffer = buffer_of(one);
  return buffer != nullptr && get_if<Buffer>(buffer)->is_closed();
}

}  // namespace cudacore::bindings
