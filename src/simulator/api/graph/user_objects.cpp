// SPDX-License-Identifier: Apache-2.0
//
// Objects of the program that graphs keep alive.
#include <algorithm>
#include <memory>

#include "simulator/api/entry.hpp"
#include "simulator/api/graph/graph.hpp"
#include "simulator/api/graph/user_object.hpp"
#include "simulator/api/stream/host_thread.hpp"

namespace cudacore::simulator {

namespace {

/// Runs a function on the thread for host functions, after those that were handed over before.
void call_later(CUhostFn function, void* data) noexcept {
  static const std::shared_ptr<Queue>& queue =
      *std::make_unique<std::shared_ptr<Queue>>(
           QueueGroup::create()->create_queue(QueueKind::non_blocking))
           .release();
  try {
    queue->enqueue(std::make_unique<HostFunction>(function, data));
  } catch (const std::exception&) {
    function(data);
  }
}

CUresult user_object_call(CUuserObject handle, unsigned count, auto&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<UserObject> object = registry().user_objects.find(handle);
    if (object == nullptr || count == 0 || count > INT32_MAX) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "not a live user object, or no references");
    }
    return body(object);
  });
}

CUresult with_graph(CUgraph handle, auto&& body) {
  const std::shared_ptr<Graph> graph = registry().graphs.find(handle);
  return graph != nullptr ? body(*graph) : refuse(CUDA_ERROR_INVALID_VALUE, "not a live graph");
}

}  // namespace

bool UserObject::release(unsigned count) noexcept {
  unsigned before = references_.load(std::memory_order_relaxed);
  do {
    if (count > before) return false;
  } while (!references_.compare_exchange_weak(before, before - count, std::memory_order_acq_rel));
  if (before == count) {
    registry().user_objects.erase(handle);
    call_later(destroy_, data_);
  }
  return true;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuUserObjectCreate(CUuserObject* handle, void* data, CUhostFn destroy, unsigned references,
                            unsigned flags) {
  return driver_call([&] {
    if (handle == nullptr || destroy == nullptr || references == 0 || references > INT32_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto object = std::make_shared<UserObject>(data, destroy, references);
    *handle = object->handle = registry().user_objects.insert(object);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  return user_object_call(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    object->retain(count);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  return user_object_call(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return object->release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count,
                                 unsigned flags) {
  return user_object_call(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return with_graph(graph_handle, [&](Graph& graph) {
      if ((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) return CUDA_ERROR_INVALID_VALUE;
      auto held = std::ranges::find(graph.user_objects, object.get(), &UserReferences::object);
      if (held == graph.user_objects.end()) {
        held = graph.user_objects.emplace(held, object, 0);
      }
      if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->retain(count);
      held->add(count);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count) {
  return user_object_call(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return with_graph(graph_handle, [&](Graph& graph) {
      const auto held =
          std::ranges::find(graph.user_objects, object.get(), &UserReferences::object);
      if (held == graph.user_objects.end() || !held->release(count)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "the graph has fewer references to the object");
      }
      if (held->count() == 0) graph.user_objects.erase(held);
      return CUDA_SUCCESS;
    });
  });
}

}  // extern "C"
