// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/kernel_action.hpp"

#include <algorithm>
#include <utility>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/stream/capture.hpp"

namespace cudacore::simulator {

namespace {

/// A shape with what the attributes add to it.
CUresult add_attributes(const KernelAction::Attributes& attributes, LaunchShape& shape) {
  std::vector<CUlaunchAttribute> list;
  for (const auto& [id, value] : attributes) list.push_back({.id = id, .pad = {}, .value = value});
  CUlaunchConfig config{};
  config.gridDimX = shape.grid.x;
  config.gridDimY = shape.grid.y;
  config.gridDimZ = shape.grid.z;
  config.blockDimX = shape.block.x;
  config.blockDimY = shape.block.y;
  config.blockDimZ = shape.block.z;
  config.sharedMemBytes = shape.dynamic_shared;
  config.attrs = list.data();
  config.numAttrs = static_cast<unsigned>(list.size());
  shape = {};
  const CUresult result = read_shape(config, shape);
  if (result == CUDA_SUCCESS && (shape.event != nullptr || shape.completion_event != nullptr)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "nodes of graphs record no events by attributes");
  }
  return result;
}

/// The function that parameters name, and its context.
std::shared_ptr<FunctionObject> find_function(const CUDA_KERNEL_NODE_PARAMS& parameters,
                                              CUresult& status) {
  Context* context = nullptr;
  std::shared_ptr<Context> named;
  if (parameters.ctx != nullptr && parameters.func == nullptr) {
    named = find_context(parameters.ctx, status);
    context = named != nullptr ? &named->worked_in() : nullptr;
  } else {
    status = current_context(context);
    if (status != CUDA_SUCCESS) context = nullptr;
  }
  if (context == nullptr) return nullptr;
  // A kernel may also be passed as a function.
  const CUfunction handle =
      parameters.func != nullptr ? parameters.func : reinterpret_cast<CUfunction>(parameters.kern);
  return find_function(handle, *context, status);
}

}  // namespace

KernelAction::KernelAction(const LaunchShape& shape, CheckedLaunch launch,
                           Attributes its_attributes)
    : GraphAction(CU_GRAPH_NODE_TYPE_KERNEL),
      attributes(std::move(its_attributes)),
      shape_(shape),
      launch_(std::move(launch)) {
  for (const ParameterLayout& parameter : launch_.function->entry->parameters) {
    values_.push_back(launch_.parameters.data() + parameter.offset);
  }
}

CUresult KernelAction::with(const Attributes& changed, SharedAction& action) const {
  CheckedLaunch launch = launch_;
  launch.shape = shape_;
  if (const CUresult result = add_attributes(changed, launch.shape); result != CUDA_SUCCESS) {
    return result;
  }
  const CUresult result =
      check_shape(on_device(*launch.function), launch.shape, launch.resident_blocks);
  if (result == CUDA_SUCCESS) {
    action = std::make_shared<KernelAction>(shape_, std::move(launch), changed);
  }
  return result;
}

void KernelAction::describe(CUgraphNodeParams& parameters) const {
  const FunctionObject& function = *launch_.function;
  auto& kernel = parameters.kernel;
  kernel.func = function.module->function_handle(*function.entry);
  kernel.gridDimX = shape_.grid.x;
  kernel.gridDimY = shape_.grid.y;
  kernel.gridDimZ = shape_.grid.z;
  kernel.blockDimX = shape_.block.x;
  kernel.blockDimY = shape_.block.y;
  kernel.blockDimZ = shape_.block.z;
  kernel.sharedMemBytes = shape_.dynamic_shared;
  kernel.kernelParams = const_cast<void**>(values_.data());  // NOLINT: cuda.h has no const here
  kernel.extra = nullptr;
  kernel.kern = nullptr;
  kernel.ctx = function.module->context->handle;
}

CUresult KernelAction::start(GraphRun& run) const { return run.enqueue(make_launch(launch_)); }

CUgraphExecUpdateResult KernelAction::can_become(const GraphAction& other) const {
  const auto& next = static_cast<const KernelAction&>(other);
  if (launch_.function->module->context != next.launch_.function->module->context) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  }
  return launch_.shape.cooperative == next.launch_.shape.cooperative
             ? CU_GRAPH_EXEC_UPDATE_SUCCESS
             : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

std::string KernelAction::text() const { return "launch of " + launch_.function->entry->name; }

CUresult capture_launch(const Stream& stream, const LaunchShape& shape, CheckedLaunch launch,
                        std::span<const CUlaunchAttribute> attributes) {
  KernelAction::Attributes kept;
  for (const CUlaunchAttribute& attribute : attributes) {
    const bool is_event = attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                          attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    if (!is_event) kept[attribute.id] = attribute.value;
  }
  if (stream.priority != least_stream_priority) {
    CUlaunchAttributeValue priority{};
    priority.priority = stream.priority;
    kept.try_emplace(CU_LAUNCH_ATTRIBUTE_PRIORITY, priority);
  }
  return capture(stream, std::make_shared<KernelAction>(shape, std::move(launch), std::move(kept)));
}

CUresult make_kernel_action(const CUDA_KERNEL_NODE_PARAMS& parameters, const GraphAction* old,
                            SharedAction& action) {
  CUresult status = CUDA_SUCCESS;
  CheckedLaunch launch{find_function(parameters, status), {}, 0, {}};
  if (launch.function == nullptr) return status;
  const LaunchShape shape{{parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ},
                          {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ},
                          {},
                          parameters.sharedMemBytes};
  launch.shape = shape;
  KernelAction::Attributes attributes;
  if (old != nullptr) attributes = static_cast<const KernelAction&>(*old).attributes;
  status = add_attributes(attributes, launch.shape);
  if (status != CUDA_SUCCESS) return status;
  status = check_launch(launch, parameters.kernelParams, parameters.extra);
  if (status != CUDA_SUCCESS) return status;
  action = std::make_shared<KernelAction>(shape, std::move(launch), std::move(attributes));
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator
