// SPDX-License-Identifier: Apache-2.0
#include "handle/sticky.hpp"

#include <mutex>

#include "handle/boxes.hpp"
#include "handle/describe.hpp"

namespace cudacore::handle {

bool is_sticky(CUresult result) noexcept {
  switch (result) {
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
      return true;
    default:
      return false;
  }
}

std::string suspects(const ContextBox& context) {
  const std::vector<std::string> kernels = context.history.since_sync();
  if (kernels.empty()) return {};
  std::string text = kernels.size() == 1
                         ? "kernel launched since the last good synchronisation: "
                         : "kernels launched since the last good synchronisation, newest last: ";
  for (std::size_t i = 0; i < kernels.size(); ++i) text += (i > 0 ? ", " : "") + kernels[i];
  return text;
}

bool mark_lost(ContextBox& context, CUresult result, const char* function,
               std::string_view logged) {
  static std::mutex mutex;
  std::string reason = format_code(driver::api(), result) + ", which " + function + " reported";
  if (const std::string kernels = suspects(context); !kernels.empty())
    reason += " (" + kernels + ")";
  if (!logged.empty()) reason.append(": ").append(logged);
  const std::scoped_lock lock(mutex);
  if (context.lost.load(std::memory_order_relaxed)) return false;
  context.lost_reason = std::move(reason);
  context.lost_code = static_cast<int>(result);
  context.lost.store(true, std::memory_order_release);
  return true;
}

}  // namespace cudacore::handle
