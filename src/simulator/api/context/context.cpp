// SPDX-License-Identifier: Apache-2.0
//
// Contexts: creating, destroying, and making them current.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "simulator/api/code/module.hpp"
#include "simulator/api/context/contexts.hpp"
#include "simulator/api/context/device_resources.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/stream/per_thread.hpp"

namespace cudacore::simulator {

namespace {

using ContextStack = std::vector<std::shared_ptr<Context>>;

constinit std::atomic<std::uint64_t> next_context_id{1};
/// Contexts older than this one were all destroyed at once: they are not current to any thread any
/// more.
constinit std::atomic<std::uint64_t> first_kept_id{0};

/// The thread's contexts, without those that were all destroyed at once. Call it once per call,
/// before using any of them: another thread may destroy all contexts at any time.
ContextStack& stack() {
  ContextStack& contexts = PerThread<ContextStack>::get();
  std::erase_if(contexts, [](const auto& context) { return ended_with_all(*context); });
  return contexts;
}

/// The current context, which stays alive during the call even if it is destroyed meanwhile.
Context* top() noexcept {
  const ContextStack* const contexts = PerThread<ContextStack>::find();
  if (contexts == nullptr) return nullptr;
  const auto kept = std::find_if(contexts->rbegin(), contexts->rend(),
                                 [](const auto& context) { return !ended_with_all(*context); });
  return kept != contexts->rend() ? kept->get() : nullptr;
}

std::uint64_t take_context_id() noexcept {
  return next_context_id.fetch_add(1, std::memory_order_relaxed);
}

/// All live contexts, so that all of them can be destroyed.
struct LiveContexts {
  std::mutex mutex;
  std::vector<std::weak_ptr<Context>> contexts;

  static LiveContexts& instance() {
    static LiveContexts& one = *std::make_unique<LiveContexts>().release();
    return one;
  }
};

}  // namespace

Context::Context(Device& device_of, bool is_primary, unsigned flags_of)
    : device(device_of),
      id(take_context_id()),
      primary(is_primary),
      flags(flags_of),
      readable_devices(std::uint64_t{1} << static_cast<unsigned>(device_of.ordinal)) {
  limits[CU_LIMIT_STACK_SIZE] = 1024;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = std::size_t{1} << 20U;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = std::size_t{8} << 20U;
  limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  limits[CU_LIMIT_SHMEM_SIZE] = device.properties.shared_per_block_optin;
}

Context::~Context() = default;

void Context::fail(CUresult error, std::string_view message) noexcept {
  CUresult none = CUDA_SUCCESS;
  // Logged first, so that any thread that sees the error finds the reason.
  log_error(message);
  error_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

bool ended_with_all(const Context& context) noexcept {
  return context.id < first_kept_id.load(std::memory_order_relaxed);
}

std::shared_ptr<Context> make_context(Device& device, bool primary, unsigned flags) {
  LiveContexts& live = LiveContexts::instance();
  // All contexts may be destroyed before this one has its number, or once it is in the list.
  const std::scoped_lock lock(live.mutex);
  auto context = std::make_shared<Context>(device, primary, flags);
  context->streams = make_context_streams(*context);
  context->handle = registry().contexts.insert(context);
  std::erase_if(live.contexts, [](const auto& other) { return other.expired(); });
  live.contexts.push_back(context);
  return context;
}

void destroy_context(const std::shared_ptr<Context>& context) {
  if (context->destroyed.exchange(true)) return;
  registry().contexts.erase(context->handle);
  std::vector<std::shared_ptr<Module>> modules;
  {
    const std::scoped_lock lock(context->mutex);
    modules.swap(context->modules);
  }
  for (const auto& module : modules) end_module(*module, false);
  release_context(*context);
}

void destroy_all_contexts() {
  std::vector<std::weak_ptr<Context>> ended;
  {
    LiveContexts& live = LiveContexts::instance();
    const std::scoped_lock lock(live.mutex);
    ended.swap(live.contexts);
    first_kept_id.store(next_context_id.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  for (const auto& one : ended) {
    if (const auto context = one.lock()) destroy_context(context);
  }
}

std::shared_ptr<Context> find_context(CUcontext handle, CUresult& status) {
  auto context = registry().contexts.find(handle);
  status = CUDA_SUCCESS;
  if (context == nullptr) {
    status = registry().contexts.is_known(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                  : CUDA_ERROR_INVALID_CONTEXT;
  }
  return context;
}

CUresult current_context_even_broken(Context*& context) noexcept {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  context = top();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const auto is_destroyed = [](const Context& each) {
    return each.destroyed.load(std::memory_order_acquire);
  };
  if (is_destroyed(*context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  context = &context->worked_in();
  return is_destroyed(*context) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult current_context(Context*& context) noexcept {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  context = top();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult status = context->status(); status != CUDA_SUCCESS) return status;
  context = &context->worked_in();
  return context->status();
}

std::shared_ptr<Context> current_green_context() {
  Context* const context = top();
  return context != nullptr && context->base != nullptr ? context->shared_from_this() : nullptr;
}

bool are_context_flags(unsigned flags) noexcept {
  constexpr unsigned known = CU_CTX_FLAGS_MASK;
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~known) == 0 && (schedule & (schedule - 1)) == 0;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

CUresult create_context(CUcontext* handle, unsigned flags, CUdevice ordinal) {
  return driver_call([&] {
    if (handle == nullptr || !are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    ContextStack& contexts = stack();
    contexts.reserve(contexts.size() + 1);
    const auto context = make_context(*device, false, flags);
    contexts.push_back(context);
    *handle = context->handle;
    return CUDA_SUCCESS;
  });
}

CUresult refuse_affinity() {
  return refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                "contexts with an execution affinity are not simulated");
}

}  // namespace

extern "C" {

CUresult cuCtxCreate(CUcontext* handle, unsigned flags, CUdevice device) {
  return create_context(handle, flags, device);
}

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice device) {
  return create_context(handle, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* handle, CUexecAffinityParam* affinities, int count,
                        unsigned flags, CUdevice device) {
  if (count < 0 || (count > 0 && affinities == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  if (count > 0) return refuse_affinity();
  return create_context(handle, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  if (parameters != nullptr) {
    if (parameters->numExecAffinityParams > 0) return refuse_affinity();
    if (parameters->cigParams != nullptr) {
      return refuse(CUDA_ERROR_NOT_SUPPORTED, "CUDA in graphics contexts are not simulated");
    }
  }
  return create_context(handle, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return driver_call([&] {
    CUresult status = CUDA_SUCCESS;
    const auto context = find_context(handle, status);
    if (context == nullptr) return status;
    if (context->base != nullptr) {
      return refuse(CUDA_ERROR_INVALID_CONTEXT, "a green context ends with cuGreenCtxDestroy");
    }
    if (context->primary) {
      return refuse(CUDA_ERROR_INVALID_CONTEXT,
                    "a primary context ends with cuDevicePrimaryCtxRelease, not cuCtxDestroy");
    }
    destroy_context(context);
    ContextStack& contexts = stack();
    if (!contexts.empty() && contexts.back() == context) contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return driver_call([&] {
    CUresult status = CUDA_SUCCESS;
    auto context = find_context(handle, status);
    if (context != nullptr) stack().push_back(std::move(context));
    return status;
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return driver_call([&] {
    ContextStack& contexts = stack();
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = contexts.back()->handle;
    contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext* handle) { return cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  return driver_call([&] {
    ContextStack& contexts = stack();
    if (handle == nullptr) {
      if (!contexts.empty()) contexts.pop_back();
      return CUDA_SUCCESS;
    }
    if (!contexts.empty() && contexts.back()->handle == handle) return CUDA_SUCCESS;
    CUresult status = CUDA_SUCCESS;
    auto context = find_context(handle, status);
    if (context == nullptr) return status;
    if (!contexts.empty()) {
      contexts.back() = std::move(context);
    } else {
      contexts.push_back(std::move(context));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return driver_call([&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Context* const context = top();
    *handle = context != nullptr ? context->handle : nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxAttach(CUcontext*, unsigned) {
  return driver_call([] {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuCtxAttach is obsolete, and not simulated");
  });
}

CUresult cuCtxDetach(CUcontext) {
  return driver_call([] {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuCtxDetach is obsolete, and not simulated");
  });
}

}  // extern "C"
