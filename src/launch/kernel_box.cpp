// SPDX-License-Identifier: Apache-2.0
#include "launch/kernel_box.hpp"

#include <algorithm>
#include <utility>

#include "error/check.hpp"
#include "error/describe.hpp"
#include "error/interned_names.hpp"

namespace cudacore::launching {
namespace {

std::size_t read_attribute(const driver::DriverApi& api, CUfunction_attribute attribute,
                           const KernelBox& kernel, int device) {
  int value = 0;
  error::check(api.cuKernelGetAttribute(&value, attribute, kernel.kernel, device),
               "cuKernelGetAttribute", [&] { return kernel.describe_on(device); });
  return static_cast<std::size_t>(std::max(value, 0));
}

}  // namespace

std::string KernelBox::describe_on(int device) const {
  return "kernel " + name + ", " + error::describe_device(device);
}

KernelBox::~KernelBox() {
  error::give_back_name(interned_name);
  for (auto& entry : on_device) {
    const std::unique_ptr<KernelOnDevice> state(entry.load(std::memory_order_acquire));
  }
}

void KernelBox::set_signature(Signature value) {
  PackingPlan made(value.params);
  if (name.empty()) name = value.kernel;
  error::give_back_name(std::exchange(interned_name, error::intern(name)));
  signature = std::move(value);
  plan = std::move(made);
  has_signature = true;
}

KernelOnDevice& KernelBox::resolve(const error::ContextBox& context) {
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(context);
  auto state = std::make_unique<KernelOnDevice>();
  state->context = context.context;
  {
    const error::ContextScope scope(api, context);
    const int device = context.device;
    error::check(api.cuKernelGetFunction(&state->function, kernel), "cuKernelGetFunction",
                 [&] { return describe_on(device); });
    state->max_threads = static_cast<unsigned>(
        read_attribute(api, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, *this, device));
    state->static_shmem = read_attribute(api, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, *this, device);
    state->dynamic_shmem =
        read_attribute(api, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, *this, device);
  }
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (interned_name == nullptr)
    interned_name = error::intern(name.empty() ? "unnamed kernel" : name);
  auto& entry = on_device[static_cast<std::size_t>(context.device)];
  KernelOnDevice* expected = nullptr;
  if (entry.compare_exchange_strong(expected, state.get(), std::memory_order_acq_rel)) {
    return *state.release();
  }
  return *expected;  // another thread was faster
}

}  // namespace cudacore::launching
