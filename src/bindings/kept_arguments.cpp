// SPDX-License-Identifier: Apache-2.0
#include "bindings/kept_arguments.hpp"

#include "bindings/recorder.hpp"
#include "bindings/tensor_map_object.hpp"
#include "bindings/texture_objects.hpp"
#include "owner/captures.hpp"
#include "owner/require_open.hpp"
#include "runtime/captured_work.hpp"

namespace cudacore::bindings {
namespace {

bool is_number(PyObject* object) noexcept {
  return number_behind(object) != nullptr || PyLong_CheckExact(object) != 0 ||
         PyFloat_CheckExact(object) != 0 || PyBool_Check(object) != 0 || object == Py_None;
}

void keep_view(const StridedView& view, Shares& shares) {
  if (view.memory != nullptr) shares.push_back(std::const_pointer_cast<void>(view.memory));
  if (view.exporter) keep_argument(view.exporter, shares);
}

/// A share of what may be closed; null for other objects. Until such a class is made, its type is
/// null, and nothing is of it.
std::shared_ptr<void> closable_box(PyObject* object) {
  if (const auto* texture = get_if<PyTexture>(object)) return texture->texture.box();
  if (const auto* surface = get_if<PySurface>(object)) return surface->surface.box();
  if (const auto* array = used_value<OpaqueArray>(object)) return array->box();
  return nullptr;
}

}  // namespace

void keep_argument(py::handle object, Shares& shares) {
  if (const auto* buffer = used_value<Buffer>(object.ptr())) {
    if (std::shared_ptr<void> share = share_of(*buffer)) shares.push_back(std::move(share));
  } else if (const auto* view = get_if<StridedView>(object.ptr())) {
    keep_view(*view, shares);
  } else if (const auto* map = get_if<TensorMapObject>(object.ptr())) {
    keep_view(map->view, shares);
  } else if (std::shared_ptr<void> box = closable_box(object.ptr())) {
    shares.push_back(std::move(box));
  } else {
    shares.push_back(keep_alive(py::reinterpret_borrow<py::object>(object)));
  }
}

Shares keep_arguments(PyObject* const* arguments, std::size_t count) {
  Shares shares;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_number(arguments[i])) keep_argument(arguments[i], shares);
  }
  return shares;
}

void keep_if_captured(const Stream& stream, std::initializer_list<py::handle> objects,
                      std::shared_ptr<void> more) {
  if (!owner::any_capture()) [[likely]]
    return;
  auto kept = std::make_shared<owner::Kept>();
  if (more != nullptr) kept->shares.push_back(std::move(more));
  for (const py::handle object : objects) keep_argument(object, kept->shares);
  const owner::StreamBox& queue = owner::require_open(stream.box(), "Stream");
  if (Recorder* recorder = Recorder::active()) {
    if (recorder->keep(queue, kept->shares)) return;
  }
  const ReleaseGil release;
  owner::keep_in_capture(driver::api(), queue, std::move(kept));
}

}  // namespace cudacore::bindings
