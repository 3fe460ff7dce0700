// SPDX-License-Identifier: Apache-2.0
#include "error/check.hpp"

#include "cudacore/error.hpp"
#include "driver/driver_log.hpp"
#include "error/describe.hpp"
#include "error/failed_capture.hpp"
#include "error/sticky.hpp"

namespace cudacore::error {
namespace {

enum class Category { other, memory, value, unsupported, launch, lost };

Category category(CUresult result) {
  if (is_sticky(result)) return Category::launch;
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return Category::memory;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_FILE_NOT_FOUND:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
    case CUDA_ERROR_INVALID_RESOURCE_TYPE:
    case CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:  // found before anything is launched
      return Category::value;
    case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_LIMIT:
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY:
    case CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_CDP_NOT_SUPPORTED:
      return Category::unsupported;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return Category::launch;
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return Category::lost;
    default:
      return Category::other;
  }
}

/// The simulated device's log already says where a kernel failed.
const char* advice(CUresult result, bool simulated) {
  if (simulated && is_sticky(result)) {
    return "CUDA is unusable in this process from here on: restart it, or call "
           "cudacore.simulator.reset().";
  }
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
      return "CUDA is unusable in this process from here on: restart it, and run it under "
             "`compute-sanitizer` to find the access.";
    case CUDA_ERROR_ASSERT:
      return "A device-side assert failed; the process's output names it. CUDA is unusable in "
             "this process from here on: restart it.";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "A kernel ran longer than the display driver allows. CUDA is unusable in this "
             "process from here on: restart it, and give the kernel less work at a time.";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "A block of this size needs more registers or shared memory than a multiprocessor "
             "has: use smaller blocks, or compile with max_register_count or __launch_bounds__.";
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
      return "All blocks of a cooperative launch must run at once: use no more than "
             "max_active_blocks_per_multiprocessor times the multiprocessors.";
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return "Ask max_potential_cluster_size; more than 8 blocks need the kernel attribute "
             "non_portable_cluster_size_allowed.";
    case CUDA_ERROR_NOT_PERMITTED:
      return "A host callback must not call CUDA.";
    case CUDA_ERROR_DEINITIALIZED:
      return "The driver has shut down: the process is exiting.";
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "Somebody destroyed or reset the context; objects made in it cannot be used.";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "Wait for work and look at results after the capture has ended: in Python, after its "
             "`with` block, or outside of the recorded function.";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "Nothing more can be captured: no thread may wait for the device, or for what is "
             "captured, before the capture has ended.";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "Let the stream wait for each stream that has captured work before the capture ends: "
             "stream.wait(other), and GraphBuilder.join() for the builders of split().";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
      return "A stream that is being captured can wait only for what is captured with it: let it "
             "wait before the capture begins, or let the other stream wait for this one first, "
             "which captures what is queued on that stream from then on, and record the event "
             "there.";
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
      return "Two captures can't wait for each other: end one, and add its graph to the other by "
             "GraphBuilder.embed(), or capture both streams by one GraphBuilder.";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "The legacy default stream waits for all streams but nonblocking ones: while one of "
             "them is being captured, use another stream, as device.create_stream() makes it.";
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
      return "The thread that has begun a capture ends it, unless its mode is \"relaxed\".";
    case CUDA_ERROR_CAPTURED_EVENT:
      return "The event was recorded in a capture, and so is part of a graph: wait for the stream "
             "that the graph is launched on, or for an event that is recorded there afterwards.";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "The PTX was made by a compiler newer than the driver: compile to a cubin, or update "
             "the NVIDIA driver.";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "The code was compiled for another architecture: compile it for this device's, or to "
             "PTX.";
    case CUDA_ERROR_INVALID_PTX:
      return "The PTX may be for a newer architecture than the device's.";
    default:
      return is_sticky(result) ? "CUDA is unusable in this process from here on: restart it, and "
                                 "run it under `compute-sanitizer` to find the fault."
                               : "";
  }
}

/// Whether a kernel may have trapped. The simulated device says so; NVIDIA's driver doesn't.
bool may_be_trap(CUresult result, std::string_view logged, bool is_simulated) {
  return result == CUDA_ERROR_LAUNCH_FAILED &&
         (!is_simulated || logged.find(" trap ") != std::string_view::npos);
}

std::string memory_advice(const driver::DriverApi& api, const ContextBox* context) {
  std::string text;
  std::size_t free = 0;
  std::size_t total = 0;
  if (context != nullptr) {
    try {
      const ContextScope scope(api, *context);
      if (api.cuMemGetInfo(&free, &total) == CUDA_SUCCESS) {
        text = "The device has " + format_bytes(free) + " of " + format_bytes(total) + " free. ";
      }
    } catch (const Error&) {  // this answer is optional; the failure itself is what counts
    }
  }
  return text + "Free buffers, or trim() the memory resources that keep freed memory.";
}

[[noreturn]] void throw_category(Category category, const std::string& message, CUresult result,
                                 const std::string& name, const char* function) {
  const int code = static_cast<int>(result);
  if (category == Category::memory) throw OutOfMemoryError(message, code, name, function);
  if (category == Category::value) throw InvalidValueError(message, code, name, function);
  if (category == Category::unsupported) throw NotSupportedError(message, code, name, function);
  if (category == Category::launch) throw LaunchError(message, code, name, function);
  if (category == Category::lost) throw ContextLostError(message, code, name, function);
  throw Error(message, code, name, function);
}

}  // namespace

void throw_driver_error(CUresult result, const char* function, std::string_view object,
                        ContextBox* context) {
  const driver::DriverApi& api = driver::api();
  std::string more = advice(result, api.simulated);
  const std::string logged = driver::take_driver_log(api);
  if (may_be_trap(result, logged, api.simulated)) {
    more += " If the kernel calls this_grid().sync(), launch it with is_cooperative=True.";
  }
  if (is_sticky(result)) {
    if (const std::string kernels = suspects(); !kernels.empty()) {
      more = "The " + kernels + ". " + more;
    }
  } else if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    more = memory_advice(api, context);
  }
  const char* text = nullptr;
  api.cuGetErrorString(result, &text);
  std::string message = std::string(function) + " failed";
  if (!object.empty()) message.append(" on ").append(object);
  message += ": " + format_code(api, result);
  if (text != nullptr) message.append(": ").append(text);
  if (!logged.empty()) message.append(". The driver says: ").append(logged);
  if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) message += failed_capture();
  if (!more.empty()) message += ". " + more;
  note_failed_capture(result, message);
  Category kind = category(result);
  if (is_sticky(result) && !record_loss({result, function, logged, message})) {
    if (context != nullptr) throw_if_lost(*context);
    kind = Category::lost;
  }
  throw_category(kind, message, result, code_name(api, result), function);
}

void throw_if_lost(const ContextBox& context) {
  if (!context.lost.load(std::memory_order_acquire)) return;
  const driver::DriverApi& api = driver::api();
  const std::string name = code_name(api, static_cast<CUresult>(context.lost_code));
  if (const auto report = take_unreported_loss()) {
    throw LaunchError(report->message, context.lost_code, name, report->function);
  }
  const char* const cure =
      is_forgotten(context) ? ". Make its objects anew: those from before a reset cannot be used"
      : api.simulated       ? ". Restart the process, or call cudacore.simulator.reset(); until "
                              "then no object of any device can be used"
                      : ". Restart the process; until then no object of any device can be used";
  throw ContextLostError("the context of " + describe_device(context.device) +
                             " is unusable since " + context.lost_reason + cure,
                         context.lost_code, name, {});
}

void throw_stale(std::string_view message) {
  constexpr CUresult result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  throw ContextLostError(
      std::string(message) + " from before cudacore.simulator.reset(): make it anew",
      static_cast<int>(result), "CUDA_ERROR_CONTEXT_IS_DESTROYED", {});
}

}  // namespace cudacore::error
