// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/launch.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "simulator/api/code/introspection.hpp"
#include "simulator/api/code/kernel_action.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/engine/grid.hpp"

namespace cudacore::simulator {

namespace {

CUresult result_of(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::illegal_address:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::misaligned_address:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::illegal_instruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::invalid_pc:
      return CUDA_ERROR_INVALID_PC;
    case FaultKind::assertion:
      return CUDA_ERROR_ASSERT;
    case FaultKind::deadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::out_of_memory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case FaultKind::trap:
    case FaultKind::stack_overflow:
    case FaultKind::cancelled:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

/// A kernel in a queue.
class Launch final : public Work {
 public:
  Launch(std::shared_ptr<Context> context, LaunchRequest request)
      : context_(std::move(context)), request_(std::move(request)) {}

  Progress run(const Turn& turn) noexcept override {
    // This launch may be gone as soon as the grid starts, so only copies are used from then on.
    const std::shared_ptr<Running> running = running_;
    const std::shared_ptr<Context> context = context_;
    const std::shared_ptr<Queue> queue = queue_ = turn.queue;
    const std::uint64_t sequence = sequence_ = turn.sequence;
    try {
      auto grid = Grid::start(std::move(request_), [this](const std::optional<Fault>& fault) {
        if (fault && fault->kind != FaultKind::cancelled) {
          context_->fail(result_of(fault->kind), fault->message);
        }
        finish(std::shared_ptr(std::move(context_)), std::shared_ptr(std::move(queue_)), sequence_);
      });
      const std::scoped_lock lock(running->mutex);
      if (running->is_cancelled) grid->cancel();
      running->grid = grid;
    } catch (const std::exception& error) {
      context->fail(CUDA_ERROR_OUT_OF_MEMORY,
                    std::string("a kernel could not be started: ") + error.what());
      finish(context, queue, sequence);
    }
    return Progress::later;
  }

  void cancel() noexcept override {
    const std::shared_ptr<Running> running = running_;
    const std::scoped_lock lock(running->mutex);
    running->is_cancelled = true;
    if (const auto grid = running->grid.lock()) grid->cancel();
  }

 private:
  struct Running {
    std::mutex mutex;
    bool is_cancelled = false;
    std::weak_ptr<Grid> grid;
  };

  /// Lets the queue continue, which destroys the launch.
  static void finish(const std::shared_ptr<Context>& context, const std::shared_ptr<Queue>& queue,
                     std::uint64_t sequence) noexcept {
    // This comes first: what follows must not start in a broken context.
    if (const CUresult status = context->status(); status != CUDA_SUCCESS) {
      queue->group().fail(status);
    }
    queue->finish(sequence);
  }

  std::shared_ptr<Context> context_;
  std::shared_ptr<Queue> queue_;
  std::uint64_t sequence_ = 0;
  LaunchRequest request_;
  std::shared_ptr<Running> running_ = std::make_shared<Running>();
};

/// Copies the values that kernelParams points at to where the kernel reads them.
CUresult pack_values(const Function& entry, void** values, ParameterBytes& bytes) {
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    if (values[i] == nullptr) {
      return refuse(
          CUDA_ERROR_INVALID_VALUE,
          entry.name + ": the pointer to the value of parameter " + std::to_string(i) + " is null");
    }
    const ParameterLayout& parameter = entry.parameters[i];
    std::memcpy(bytes.data() + parameter.offset, values[i], parameter.size);
  }
  return CUDA_SUCCESS;
}

/// Copies the buffer that `extra` specifies.
CUresult pack_buffer(const Function& entry, void** extra, ParameterBytes& bytes) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = static_cast<const std::size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (buffer == nullptr || size == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t needed =
      entry.parameters.empty() ? 0 : entry.parameters.back().offset + entry.parameters.back().size;
  if (*size != needed) {
    return refuse(*size < needed ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                  entry.name + " takes " + std::to_string(needed) +
                      " bytes of parameters; the buffer has " + std::to_string(*size));
  }
  std::memcpy(bytes.data(), buffer, needed);
  return CUDA_SUCCESS;
}

CUresult pack(const Function& entry, void** values, void** extra, ParameterBytes& bytes) {
  bytes.resize(entry.parameter_bytes);
  if (entry.parameters.empty()) return CUDA_SUCCESS;
  if (values != nullptr) return pack_values(entry, values, bytes);
  if (extra != nullptr) return pack_buffer(entry, extra, bytes);
  return refuse(CUDA_ERROR_INVALID_VALUE, entry.name + " takes parameters, and none are given");
}

LaunchRequest make_request(CheckedLaunch launch) {
  const FunctionObject& function = *launch.function;
  const LaunchShape& shape = launch.shape;
  Context& context = *function.module->context;
  LaunchRequest request;
  request.image = function.module->image;
  request.entry = function.entry;
  request.grid = shape.grid;
  request.block = shape.block;
  request.cluster = shape.cluster.value_or(Dim3{1, 1, 1});
  request.dynamic_shared = shape.dynamic_shared;
  request.parameters = std::move(launch.parameters);
  request.cooperative = shape.cooperative;
  request.device = context.device.ordinal;
  request.readable_devices = context.readable_devices.load(std::memory_order_relaxed);
  request.multiprocessors = context.device.properties.multiprocessors;
  request.resident_blocks = launch.resident_blocks;
  request.stack_bytes = static_cast<std::uint32_t>(context.limits[CU_LIMIT_STACK_SIZE].load());
  request.heap = &context.device.memory;
  request.thread_instructions = instruction_counter();
  request.heap_limit = context.limits[CU_LIMIT_MALLOC_HEAP_SIZE];
  request.heap_used = &context.heap_used;
  request.grid_id = context.next_grid.fetch_add(1, std::memory_order_relaxed);
  return request;
}

CUresult launch(const LaunchShape& shape, std::span<const CUlaunchAttribute> attributes,
                CUfunction handle, void** values, void** extra) {
  return driver_call([&] {
    CUresult status = CUDA_SUCCESS;
    const auto stream = find_stream(shape.stream, status);
    if (stream == nullptr) return status;
    Context& context = context_of(*stream);
    CheckedLaunch checked{find_function(handle, context, status), shape, 0, {}};
    if (checked.function == nullptr) return status;
    const FunctionObject& function = *checked.function;
    if (function.module->context.get() != &context) {
      return refuse(CUDA_ERROR_INVALID_HANDLE, function.entry->name +
                                                   ": the function and the stream belong to "
                                                   "different contexts");
    }
    status = check_launch(checked, values, extra);
    if (status != CUDA_SUCCESS) return status;
    status = stream->is_capturing() ? capture_launch(*stream, shape, std::move(checked), attributes)
                                    : stream->enqueue(make_launch(std::move(checked)));
    if (status == CUDA_SUCCESS && shape.event != nullptr) {
      status = cuEventRecordWithFlags(shape.event, shape.stream, shape.event_flags);
    }
    if (status != CUDA_SUCCESS || shape.completion_event == nullptr) return status;
    return cuEventRecordWithFlags(shape.completion_event, shape.stream, shape.completion_flags);
  });
}

CUresult launch(const CUlaunchConfig* config, CUfunction function, void** values, void** extra) {
  return driver_call([&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape;
    const CUresult result = read_shape(*config, shape);
    if (result != CUDA_SUCCESS) return result;
    return launch(shape, {config->attrs, config->numAttrs}, function, values, extra);
  });
}

}  // namespace

CUresult check_launch(CheckedLaunch& launch, void** values, void** extra) {
  const FunctionObject& function = *launch.function;
  const CUresult status = check_shape(on_device(function), launch.shape, launch.resident_blocks);
  return status == CUDA_SUCCESS ? pack(*function.entry, values, extra, launch.parameters) : status;
}

std::unique_ptr<Work> make_launch(CheckedLaunch launch) {
  std::shared_ptr<Context> context = launch.function->module->context;
  return std::make_unique<Launch>(std::move(context), make_request(std::move(launch)));
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** values, void** extra) {
  LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared};
  shape.stream = stream;
  return launch(shape, {}, function, values, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** values,
                          void** extra) {
  return launch(config, function, values, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** values) {
  LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared, true};
  shape.stream = stream;
  const CUlaunchAttribute attribute{
      .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .pad = {}, .value = {.cooperative = 1}};
  return launch(shape, {&attribute, 1}, function, values, nullptr);
}

}  // extern "C"
