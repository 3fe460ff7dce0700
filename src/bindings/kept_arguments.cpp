// SPDX-License-Identifier: Apache-2.0
#include "bindings/kept_arguments.hpp"

#include "bindings/recorder.hpp"
#include "bindings/texture_objects.hpp"
#include "owner/captures.hpp"
#include "owner/require_open.hpp"

namespace cudacore::bindings {
namespace {

bool is_number(PyObject* object) noexcept {
  return recorded_number(object) != nullptr || PyLong_CheckExact(object) != 0 ||
         PyFloat_CheckExact(object) != 0 || PyBool_Check(object) != 0 || object == Py_None;
}

}  // namespace

std::shared_ptr<void> keep_argument(py::handle object) {
  // Until such a class is made, its type is null, and nothing is of it.
  if (const auto* texture = get_if<PyTexture>(object.ptr())) return texture->texture.box();
  if (const auto* surface = get_if<PySurface>(object.ptr())) return surface->surface.box();
  if (const auto* array = get_if<OpaqueArray>(object.ptr())) return array->box();
  const auto* buffer = get_if<Buffer>(object.ptr());
  if (buffer == nullptr) return keep_alive(py::reinterpret_borrow<py::object>(object));
  if (GraphMemoryResource::owns(*buffer)) return nullptr;
  return buffer->box();
}

std::vector<std::shared_ptr<void>> keep_arguments(PyObject* const* arguments, std::size_t count) {
  std::vector<std::shared_ptr<void>> shares;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_number(arguments[i])) continue;
    if (std::shared_ptr<void> share = keep_argument(arguments[i]))
      shares.push_back(std::move(share));
  }
  return shares;
}

void keep_if_captured(const Stream& stream, std::initializer_list<py::handle> objects,
                      std::shared_ptr<void> more) {
  if (!owner::any_capture()) [[likely]]
    return;
  auto kept = std::make_shared<owner::Kept>();
  if (more != nullptr) kept->shares.push_back(std::move(more));
  for (const py::handle object : objects) {
    if (std::shared_ptr<void> share = keep_argument(object)) kept->shares.push_back(share);
  }
  // Not handle(), which is for other code: from then on, any stream may be captured by it.
  CUstream handle = owner::require_open(stream.box(), "Stream").stream;
  if (Recorder* recorder = Recorder::active()) {
    if (recorder->keep(*stream.box(), kept->shares)) return;
  }
  const ReleaseGil release;
  owner::keep_in_capture(driver::api(), handle, std::move(kept));
}

}  // namespace cudacore::bindings
