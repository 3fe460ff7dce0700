// SPDX-License-Identifier: Apache-2.0
#include "bindings/collector.hpp"

#include <mutex>

#include "bindings/conversions.hpp"
#include "error/sticky.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {
namespace {

template <typename T>
bool is_unshared(const std::shared_ptr<T>& share) noexcept {
  return share.use_count() == 1;
}

int visit_owner(const std::shared_ptr<owner::StreamBox>& box, visitproc visit, void* arg) {
  return is_unshared(box) ? visit_kept(box->owner, visit, arg) : 0;
}

bool has_owner(const std::shared_ptr<owner::StreamBox>& box) noexcept {
  return box != nullptr && box->owner != nullptr;
}

/// Chains of owners may be long, so they are destroyed one after another, not recursively.
void release(PyObject* object) {
  constexpr unsigned deepest = 64;
  thread_local unsigned depth = 0;
  thread_local PyObject* later = nullptr;  // a list
  if (depth >= deepest && later != nullptr && PyList_Append(later, object) == 0) {
    Py_DECREF(object);
    return;
  }
  const py::error_scope kept_error;
  if (depth == 0) later = PyList_New(0);
  ++depth;
  Py_DECREF(object);
  --depth;
  if (depth != 0) return;
  const auto ended = py::reinterpret_steal<py::object>(std::exchange(later, nullptr));
}

}  // namespace

void ReleaseObject::operator()(void* /*pointer*/) const noexcept {
  if (!may_take_gil()) return;
  const AcquireGil acquire;
  run_python([this] { release(object); });
}

int visit_kept(const Stream& stream, visitproc visit, void* arg) {
  return visit_owner(stream.box(), visit, arg);
}

bool CollectorTraits<Stream>::may_keep(const Stream& stream) noexcept {
  return has_owner(stream.box());
}

bool CollectorTraits<Buffer>::may_keep(const Buffer& buffer) noexcept {
  const owner::BufferBox* box = buffer.box().get();
  return box != nullptr &&
         (box->owner != nullptr || has_owner(box->stream) || kept_by(box->resource) != nullptr);
}

int CollectorTraits<Buffer>::visit(const Buffer& buffer, visitproc visit, void* arg) {
  const std::shared_ptr<owner::BufferBox>& box = buffer.box();
  if (!is_unshared(box)) return 0;
  if (const int result = visit_kept(box->owner, visit, arg); result != 0) return result;
  if (const int result = visit_kept(box->resource, visit, arg); result != 0) return result;
  const std::scoped_lock lock(box->mutex);
  return visit_owner(box->stream, visit, arg);
}

void CollectorTraits<Buffer>::finalize(PyObject* self) noexcept {
  // Other garbage may still read memory that is not released.
  const owner::BufferBox* box = get_if<Buffer>(self)->box().get();
  if (box == nullptr || kept_by(box->resource) == nullptr) return;
  const py::error_scope kept_error;
  const error::NobodyCatchesScope scope;
  try {
    Buffer ended = close_object<Buffer>(self);
    const ReleaseGil release;
    ended.close();
  } catch (
      ...) {  // a fault, which the next call raises; or memory is short, and it is released later
  }
}

}  // namespace cudacore::bindings
