// SPDX-License-Identifier: Apache-2.0
#include "error/context_box.hpp"

#include <algorithm>
#include <new>
#include <unordered_map>

#include "cudacore/error.hpp"
#include "driver/blocking.hpp"
#include "driver/leaked.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"

namespace cudacore::error {
namespace {

constexpr std::size_t max_devices = ContextBox::max_devices;

/// Every context that this process has seen, by cuCtxGetId, which is never reused.
struct Registry {
  std::mutex mutex;
  std::unordered_map<unsigned long long, std::shared_ptr<ContextBox>> boxes;
  std::vector<std::shared_ptr<ContextBox>> unforgotten;
  std::array<CUcontext, max_devices> retained{};
  std::array<std::atomic<const std::shared_ptr<ContextBox>*>, max_devices> primaries{};
  std::atomic<unsigned long long> last_forgotten{0};  ///< an id; later ones are greater
};

Registry& registry() { return driver::leaked<Registry>(); }

unsigned long long context_id(const driver::DriverApi& api, CUcontext context) {
  unsigned long long id = 0;
  check(api.cuCtxGetId(context, &id), "cuCtxGetId",
        [&] { return "context " + format_address(context); });
  return id;
}

DeviceLimits read_limits(const driver::DriverApi& api, int device) {
  const auto read = [&](CUdevice_attribute attribute) {
    int value = 0;
    const CUresult result = api.cuDeviceGetAttribute(&value, attribute, device);
    const bool is_newer_than_some_drivers = attribute == CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
    if (result == CUDA_ERROR_INVALID_VALUE && is_newer_than_some_drivers) return 0U;
    check(result, "cuDeviceGetAttribute", [&] { return "device " + std::to_string(device); });
    return static_cast<unsigned>(value);
  };
  DeviceLimits limits;
  limits.block = {read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                  read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                  read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  limits.grid = {read(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), read(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                 read(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  limits.threads_per_block = read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.shmem_per_block = read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  limits.shmem_per_block_optin = read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits.cluster_launch = read(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
  limits.cooperative_launch = read(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  limits.access_policy_window = read(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  limits.persisting_l2 = read(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  return limits;
}

void require_known_device(int device) {
  if (device >= 0 && static_cast<std::size_t>(device) < max_devices) return;
  throw NotSupportedError("device " + std::to_string(device) + ": cudacore serves " +
                          std::to_string(max_devices) + " devices in a process");
}

/// The device of a context. Leaves the calling thread's current context as it was, also if there is
/// none.
int device_of(const driver::DriverApi& api, CUcontext context) {
  CUcontext previous = nullptr;
  int device = 0;
  check(api.cuCtxGetCurrent(&previous), "cuCtxGetCurrent");
  check(api.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  const CUresult result = api.cuCtxGetDevice(&device);
  const CUresult restored = api.cuCtxSetCurrent(previous);
  if (restored != CUDA_SUCCESS) report_unraisable(restored, "cuCtxSetCurrent");
  check(result, "cuCtxGetDevice");
  return device;
}

/// A box, and its place in the registry, which never moves, and ends with a green context of ours.
struct KnownBox {
  std::shared_ptr<ContextBox> box;
  const std::shared_ptr<ContextBox>* place = nullptr;
};

KnownBox find_or_add(const driver::DriverApi& api, CUcontext context, unsigned long long id,
                     const std::shared_ptr<void>& green = nullptr) {
  Registry& known = registry();
  {
    const std::scoped_lock lock(known.mutex);
    if (const auto found = known.boxes.find(id); found != known.boxes.end()) {
      return {found->second, &found->second};
    }
  }
  auto box = std::make_shared<ContextBox>();
  box->context = context;
  box->id = id;
  box->is_green = green != nullptr;
  box->green = green;
  box->device = device_of(api, context);
  require_known_device(box->device);
  box->limits = read_limits(api, box->device);
  KnownBox added;
  {
    const std::scoped_lock lock(known.mutex);
    known.unforgotten.reserve(known.unforgotten.size() + 1);
    const auto [entry, is_new] = known.boxes.try_emplace(id, std::move(box));
    added = {entry->second, &entry->second};
    if (is_new) known.unforgotten.push_back(added.box);
  }
  share_loss(*added.box);
  return added;
}

/// Forgets the contexts that no longer have their id; `id_of` returns 0 for those that have ended.
template <typename IdOf>
void forget(const char* function, const IdOf& id_of) {
  Registry& known = registry();
  unsigned long long last = known.last_forgotten.load(std::memory_order_relaxed);
  for (const auto& box : known_contexts()) {
    if (id_of(box->context) == box->id) continue;
    mark_ended(*box, function);
    last = std::max(last, box->id);
  }
  // Memory that other threads allocated meanwhile may have been freed as well.
  resets.fetch_add(1, std::memory_order_relaxed);
  const std::scoped_lock lock(known.mutex);
  for (CUcontext& retained : known.retained) {
    if (retained != nullptr && id_of(retained) == 0) retained = nullptr;
  }
  for (auto& primary : known.primaries) {
    const auto* box = primary.load(std::memory_order_relaxed);
    if (box != nullptr && (*box)->id <= last) primary.store(nullptr, std::memory_order_release);
  }
  // Other objects hold references to the boxes, so they stay in the map.
  std::erase_if(known.unforgotten, [&](const auto& box) { return box->id <= last; });
  known.last_forgotten.store(last, std::memory_order_release);
}

CUcontext retain_primary(const driver::DriverApi& api, int device) {
  const driver::BlockingScope blocking;
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  CUcontext& context = known.retained[static_cast<std::size_t>(device)];
  if (context == nullptr) {
    CUcontext retained = nullptr;
    check(api.cuDevicePrimaryCtxRetain(&retained, device), "cuDevicePrimaryCtxRetain",
          [&] { return describe_device(device); });
    context = retained;
  }
  return context;
}

}  // namespace

bool is_alive(const driver::DriverApi& api, const ContextBox& context) noexcept {
  unsigned long long id = 0;
  const CUresult result = api.cuCtxGetId(context.context, &id);
  // A reset device's primary context may come back at the same address.
  if (result == CUDA_SUCCESS) return id == context.id;
  return result != CUDA_ERROR_CONTEXT_IS_DESTROYED && result != CUDA_ERROR_INVALID_CONTEXT;
}

void throw_if_ended(const driver::DriverApi& api, ContextBox& context) {
  throw_if_lost(context);
  if (is_alive(api, context)) [[likely]]
    return;
  mark_ended(context, "other code");
  throw_if_lost(context);
}

std::shared_ptr<ContextBox> context_box(CUcontext context) {
  const driver::DriverApi& api = driver::api();
  return find_or_add(api, context, context_id(api, context)).box;
}

std::shared_ptr<ContextBox> green_context_box(CUcontext context,
                                              const std::shared_ptr<void>& green) {
  const driver::DriverApi& api = driver::api();
  return find_or_add(api, context, context_id(api, context), green).box;
}

std::shared_ptr<ContextBox> with_green_share(std::shared_ptr<ContextBox> context) noexcept {
  if (context == nullptr || !context->is_green) [[likely]]
    return context;
  std::shared_ptr<void> green = context->green.lock();
  if (green == nullptr) return context;
  return {std::move(green), context.get()};
}

void forget_green(ContextBox& context) noexcept {
  try {
    mark_ended(context, "Context.close()");
  } catch (const std::bad_alloc&) {  // no room for the reason
    context.lost.store(true, std::memory_order_release);
  }
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  std::erase_if(known.unforgotten, [&](const auto& box) { return box.get() == &context; });
  known.boxes.erase(context.id);
}

std::vector<std::shared_ptr<ContextBox>> known_contexts() {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  return known.unforgotten;
}

const std::shared_ptr<ContextBox>& primary_context(int device) {
  const driver::DriverApi& api = driver::api();
  require_known_device(device);
  auto& known = registry().primaries[static_cast<std::size_t>(device)];
  if (const auto* box = known.load(std::memory_order_acquire)) return *box;
  const CUcontext context = retain_primary(api, device);
  const std::shared_ptr<ContextBox>* box =
      find_or_add(api, context, context_id(api, context)).place;
  known.store(box, std::memory_order_release);
  return *box;
}

const std::shared_ptr<ContextBox>& current_context() {
  const driver::DriverApi& api = driver::api();
  CUcontext context = nullptr;
  check(api.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context == nullptr) {
    const std::shared_ptr<ContextBox>& primary = primary_context(0);
    check(api.cuCtxSetCurrent(primary->context), "cuCtxSetCurrent");
    return primary;
  }
  // The number, not the address, distinguishes a context from a later one at the same address, and
  // says whether the last box is still there: that of an ended green context is not.
  const unsigned long long id = context_id(api, context);
  thread_local std::pair<unsigned long long, const std::shared_ptr<ContextBox>*> last{};
  if (last.second == nullptr || last.first != id) last = {id, find_or_add(api, context, id).place};
  return *last.second;
}

void forget_contexts(const char* function) {
  forget_loss();
  forget(function, [](CUcontext /*context*/) { return 0ULL; });
}

void forget_ended_contexts(const char* function) {
  forget(function, [&api = driver::api()](CUcontext context) {
    unsigned long long id = 0;
    return api.cuCtxGetId(context, &id) == CUDA_SUCCESS ? id : 0;
  });
}

bool is_forgotten(const ContextBox& context) noexcept {
  const unsigned long long last = registry().last_forgotten.load(std::memory_order_acquire);
  return last != 0 && context.id <= last;
}

ContextScope::ContextScope(const driver::DriverApi& api, const ContextBox& context) : api_(&api) {
  CUcontext current = nullptr;
  check(api.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  if (current == context.context) return;
  check(api.cuCtxSetCurrent(context.context), "cuCtxSetCurrent",
        [&] { return "a context of " + describe_device(context.device); });
  previous_ = current;
  restore_ = current != nullptr;
}

ContextScope::~ContextScope() {
  if (!restore_) return;
  const CUresult result = api_->cuCtxSetCurrent(previous_);
  if (result != CUDA_SUCCESS) report_unraisable(result, "cuCtxSetCurrent");
}

}  // namespace cudacore::error
