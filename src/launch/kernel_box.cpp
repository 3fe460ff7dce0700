// SPDX-License-Identifier: Apache-2.0
#include "launch/kernel_box.hpp"

#include <algorithm>
#include <utility>

#include "error/check.hpp"
#include "error/context_box.hpp"
#include "error/describe.hpp"

namespace cudacore::handle {

namespace {

constexpr std::size_t largest_alignment = 16;

std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// The alignment of the packed bytes: enough for any load by the driver, and for whole words here.
std::size_t alignment(const Param& param) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (param.align != 0) return std::clamp(param.align, word, largest_alignment);
  std::size_t power = word;
  while (power < largest_alignment && param.size != 0 && param.size % (2 * power) == 0) power *= 2;
  return power;
}

std::size_t read_attribute(const driver::DriverApi& api, CUfunction_attribute attribute,
                           const KernelBox& kernel, int device) {
  int value = 0;
  const CUresult result = api.cuKernelGetAttribute(&value, attribute, kernel.kernel, device);
  if (result != CUDA_SUCCESS) {
    throw_driver_error(result, "cuKernelGetAttribute",
                       "kernel " + kernel.name + ", " + describe_device(device), nullptr);
  }
  return static_cast<std::size_t>(std::max(value, 0));
}

}  // namespace

KernelBox::~KernelBox() {
  give_back_name(interned_name);
  for (auto& entry : on_device) {
    const std::unique_ptr<KernelOnDevice> state(entry.load(std::memory_order_acquire));
  }
}

void KernelBox::plan(Signature value) {
  std::vector<Slot> steps;
  steps.reserve(value.params.size());
  std::size_t end = 0;
  for (const Param& param : value.params) {
    const std::size_t offset = round_up(end, alignment(param));
    end = offset + std::max(param.size, sizeof(std::uint64_t));
    Slot slot = make_slot(param);
    slot.offset = static_cast<std::uint32_t>(offset);
    steps.push_back(slot);
  }
  if (name.empty()) name = value.kernel;
  give_back_name(std::exchange(interned_name, intern(name)));
  signature = std::move(value);
  slots = std::move(steps);
  parameter_bytes = round_up(end, largest_alignment);
  has_signature = true;
}

KernelOnDevice& KernelBox::resolve(const ContextBox& context) {
  const driver::DriverApi& api = driver::api();
  throw_if_lost(context);
  auto state = std::make_unique<KernelOnDevice>();
  state->context = context.context;
  {
    const ContextScope scope(api, context);
    const CUresult result = api.cuKernelGetFunction(&state->function, kernel);
    if (result != CUDA_SUCCESS) {
      throw_driver_error(result, "cuKernelGetFunction",
                         "kernel " + name + ", " + describe_device(context.device), nullptr);
    }
    const int device = context.device;
    state->max_threads = static_cast<unsigned>(
        read_attribute(api, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, *this, device));
    state->static_shmem = read_attribute(api, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, *this, device);
    state->dynamic_shmem =
        read_attribute(api, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, *this, device);
  }
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (interned_name == nullptr) interned_name = intern(name.empty() ? "unnamed kernel" : name);
  auto& entry = on_device[static_cast<std::size_t>(context.device)];
  KernelOnDevice* expected = nullptr;
  if (entry.compare_exchange_strong(expected, state.get(), std::memory_order_acq_rel)) {
    return *state.release();
  }
  return *expected;  // another thread was faster
}

}  // namespace cudacore::handle
