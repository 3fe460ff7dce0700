// SPDX-License-Identifier: Apache-2.0
#include "error/sticky.hpp"

#include <algorithm>
#include <utility>

#include "driver/leaked.hpp"
#include "error/describe.hpp"

namespace cudacore::error {
namespace {

struct Record {
  CUresult result = CUDA_SUCCESS;
  std::string reason;
  LossReport report;
  bool is_reported = false;
};

struct Known {
  std::mutex mutex;
  std::optional<Record> loss;
};

Known& known() { return driver::leaked<Known>(); }

constinit thread_local unsigned uncaught_depth = 0;

std::string reason_of(CUresult result, const char* function, std::string_view logged) {
  std::string reason = format_code(driver::api(), result) + ", which " + function + " reported";
  if (const std::string kernels = suspects(); !kernels.empty()) reason += " (" + kernels + ")";
  if (!logged.empty()) reason.append(": ").append(logged);
  return reason;
}

void set_lost(ContextBox& context, CUresult result, const std::string& reason) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (context.lost.load(std::memory_order_relaxed)) return;
  context.lost_reason = reason;
  context.lost_code = static_cast<int>(result);
  context.lost.store(true, std::memory_order_release);
}

}  // namespace

bool is_sticky(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

void mark_ended(ContextBox& context, const char* function) {
  set_lost(context, CUDA_ERROR_CONTEXT_IS_DESTROYED, std::string(function) + " ended it");
  context.history.end();
}

bool record_loss(const Loss& loss) {
  Record record{loss.result,
                reason_of(loss.result, loss.function, loss.logged),
                {std::string(loss.message), loss.function},
                !NobodyCatchesScope::here()};
  const std::scoped_lock lock(known().mutex);
  if (known().loss) return false;
  for (const auto& context : known_contexts()) set_lost(*context, record.result, record.reason);
  known().loss = std::move(record);
  return true;
}

void share_loss(ContextBox& context) {
  const std::scoped_lock lock(known().mutex);
  if (known().loss) set_lost(context, known().loss->result, known().loss->reason);
}

void forget_loss() {
  const std::scoped_lock lock(known().mutex);
  known().loss.reset();
}

std::optional<LossReport> take_unreported_loss() {
  if (NobodyCatchesScope::here()) return std::nullopt;
  const std::scoped_lock lock(known().mutex);
  if (!known().loss || std::exchange(known().loss->is_reported, true)) return std::nullopt;
  return known().loss->report;
}

std::string suspects() {
  struct Launched {
    int device;
    std::vector<std::string> kernels;
  };
  std::vector<Launched> devices;
  for (const auto& context : known_contexts()) {
    if (std::vector<std::string> kernels = context->history.since_sync(); !kernels.empty()) {
      devices.push_back({context->device, std::move(kernels)});
    }
  }
  std::sort(devices.begin(), devices.end(),
            [](const Launched& a, const Launched& b) { return a.device < b.device; });
  std::string list;
  std::size_t count = 0;
  const bool is_one_context = devices.size() == 1;
  for (const Launched& launched : devices) {
    if (!list.empty()) list += "; ";
    list += is_one_context ? "" : "device " + std::to_string(launched.device) + ": ";
    const char* separator = "";
    for (const std::string& kernel : launched.kernels) {
      list.append(std::exchange(separator, ", ")).append(kernel);
      ++count;
    }
  }
  if (count == 0) return {};
  // It is not known which context's launch was later.
  return (count == 1       ? "suspect, launched since the last successful synchronization: "
          : is_one_context ? "suspects, launched since the last successful synchronization, "
                             "newest last: "
                           : "suspects, launched since the last successful synchronization, "
                             "newest last in each context: ") +
         list;
}

NobodyCatchesScope::NobodyCatchesScope() noexcept { ++uncaught_depth; }
NobodyCatchesScope::~NobodyCatchesScope() { --uncaught_depth; }
bool NobodyCatchesScope::here() noexcept { return uncaught_depth != 0; }

}  // namespace cudacore::error
