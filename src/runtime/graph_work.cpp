// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graph_work.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <stdexcept>

#include "error/describe.hpp"
#include "error/unraisable.hpp"
#include "launch/enqueue.hpp"
#include "launch/shape.hpp"
#include "owner/callback.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore {
namespace {

void run_callback(void* argument) noexcept {
  const owner::CallbackScope scope;
  try {
    static_cast<const owner::Kept*>(argument)->callback();
  } catch (const std::exception& error) {
    error::report_unraisable(("a graph's callback raised: " + std::string(error.what())).c_str());
  } catch (...) {
    error::report_unraisable("a graph's callback raised something unknown");
  }
}

/// What a copy must be told about an address.
CUmemorytype memory_type(const driver::DriverApi& api, CUdeviceptr address) {
  unsigned type = 0;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  std::array<void*, 1> values{&type};
  const CUresult result =
      api.cuPointerGetAttributes(attributes.size(), attributes.data(), values.data(), address);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) {
    error::check(result, "cuPointerGetAttributes", error::format_address(address));
  }
  return type == CU_MEMORYTYPE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

void* host_address(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

/// @throw NotSupportedError for what no node of a graph can have.
void refuse_attributes_of_streams(const LaunchConfig& config, const launching::KernelBox& kernel) {
  const LaunchAttributes& attributes = attributes_of(config.attributes);
  const char* field = config.programmatic_stream_serialization ? "programmatic_stream_serialization"
                      : attributes.programmatic_event          ? "programmatic_event"
                      : attributes.launch_completion_event     ? "launch_completion_event"
                      : attributes.shared_memory_carveout      ? "shared_memory_carveout"
                                                               : nullptr;
  if (field == nullptr) return;
  throw NotSupportedError(kernel.name + ": " + field +
                          " is for launches on streams; a node of a graph cannot have it");
}

std::shared_ptr<owner::EventBox> open_event(const Event& event) {
  owner::EventBox& box = require_open(event.box(), "Event");
  error::throw_if_lost(*box.context);
  return event.box();
}

}  // namespace

std::shared_ptr<GraphWorkBox> new_work(CUgraphNodeType type, std::string name) {
  auto box = std::make_shared<GraphWorkBox>();
  box->params.type = type;
  box->name = std::move(name);
  box->context = error::current_context();
  error::throw_if_lost(*box->context);
  return box;
}

GraphWork packed_kernel(const std::shared_ptr<error::ContextBox>& context,
                        const LaunchConfig& config, const Kernel& kernel,
                        std::unique_ptr<launching::PackedArguments> arguments) {
  const driver::DriverApi& api = graph_api();
  launching::KernelBox& box = *kernel.box();
  refuse_attributes_of_streams(config, box);
  error::throw_if_lost(*context);
  launching::KernelOnDevice& state = box.on(*context);
  check_shape(config, *context, state, box);
  allow_shared_memory(api, *context, box, state, config.shmem_size);
  auto work = std::make_shared<GraphWorkBox>();
  work->name = "kernel " + box.name;
  work->context = context;
  const launching::DriverLaunch launch(config, nullptr);
  work->attributes.assign(launch.attributes.begin(),
                          launch.attributes.begin() + launch.config.numAttrs);
  work->arguments = std::move(arguments);
  work->params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  CUDA_KERNEL_NODE_PARAMS_v3& params = work->params.kernel;
  params.kern = box.kernel;
  params.ctx = context->context;
  params.gridDimX = launch.config.gridDimX;
  params.gridDimY = launch.config.gridDimY;
  params.gridDimZ = launch.config.gridDimZ;
  params.blockDimX = launch.config.blockDimX;
  params.blockDimY = launch.config.blockDimY;
  params.blockDimZ = launch.config.blockDimZ;
  params.sharedMemBytes = launch.config.sharedMemBytes;
  params.kernelParams = work->arguments->places();
  work->kept->kernel = kernel.box();
  return GraphWork(std::move(work));
}

GraphWork GraphWork::kernel_arguments(const LaunchConfig& config, const Kernel& kernel,
                                      std::span<const Argument> arguments) {
  const launching::KernelBox& box = *kernel.box();
  auto packed = std::make_unique<launching::PackedArguments>(
      box, arguments.size(), [&](std::size_t i) { return exact_param(box, i, arguments[i]); });
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    pack_argument(box, i, packed->slots()[i], arguments[i], packed->places()[i]);
  }
  return packed_kernel(error::current_context(), config, kernel, std::move(packed));
}

GraphWork GraphWork::copy(CUdeviceptr destination, CUdeviceptr source, std::size_t size) {
  const driver::DriverApi& api = graph_api();
  auto work = new_work(CU_GRAPH_NODE_TYPE_MEMCPY, "copy of " + error::format_bytes(size));
  work->params.memcpy.copyCtx = work->context->context;
  CUDA_MEMCPY3D& params = work->params.memcpy.copyParams;
  params.dstMemoryType = memory_type(api, destination);
  params.srcMemoryType = memory_type(api, source);
  params.dstDevice = destination;
  params.srcDevice = source;
  params.dstHost = host_address(destination);
  params.srcHost = host_address(source);
  params.WidthInBytes = size;
  params.Height = 1;
  params.Depth = 1;
  return GraphWork(std::move(work));
}

GraphWork GraphWork::fill(CUdeviceptr destination, std::uint32_t value, unsigned element_size,
                          std::size_t width, std::size_t height, std::size_t pitch) {
  if (element_size != 1 && element_size != 2 && element_size != 4) {
    throw std::invalid_argument("a fill has elements of 1, 2 or 4 bytes, not " +
                                std::to_string(element_size));
  }
  if (height > 1 && pitch < width * element_size) {
    throw std::invalid_argument("the rows of a fill have " + std::to_string(width * element_size) +
                                " bytes, which is more than their pitch of " +
                                std::to_string(pitch));
  }
  auto work = new_work(CU_GRAPH_NODE_TYPE_MEMSET, "fill");
  CUDA_MEMSET_NODE_PARAMS_v2& params = work->params.memset;
  params.dst = destination;
  params.pitch = pitch;
  params.value = value;
  params.elementSize = element_size;
  params.width = width;
  params.height = height;
  params.ctx = work->context->context;
  return GraphWork(std::move(work));
}

GraphWork GraphWork::empty() { return GraphWork(new_work(CU_GRAPH_NODE_TYPE_EMPTY, "empty node")); }

GraphWork GraphWork::record(const Event& event) {
  auto work = new_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, "record of an event");
  work->kept->event = open_event(event);
  work->params.eventRecord.event = event.handle();
  return GraphWork(std::move(work));
}

GraphWork GraphWork::wait(const Event& event) {
  auto work = new_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, "wait for an event");
  work->kept->event = open_event(event);
  work->params.eventWait.event = event.handle();
  return GraphWork(std::move(work));
}

GraphWork GraphWork::callback(std::function<void()> function) {
  if (!function) throw std::invalid_argument("a callback needs a function to call");
  auto work = new_work(CU_GRAPH_NODE_TYPE_HOST, "callback");
  work->kept->callback = std::move(function);
  work->params.host.fn = run_callback;
  work->params.host.userData = work->kept.get();
  return GraphWork(std::move(work));
}

GraphWork GraphWork::host_function(void (*function)(void*), void* data) {
  if (function == nullptr) throw std::invalid_argument("a callback needs a function to call");
  auto work = new_work(CU_GRAPH_NODE_TYPE_HOST, "callback");
  work->params.host.fn = function;
  work->params.host.userData = data;
  return GraphWork(std::move(work));
}

GraphWork GraphWork::child(const GraphDefinition& graph) {
  auto work = new_work(CU_GRAPH_NODE_TYPE_GRAPH, "child graph");
  work->params.graph.graph = GraphCall(graph.box()).graph();
  work->child = graph.box();
  return GraphWork(std::move(work));
}

void GraphWork::keep(std::shared_ptr<void> used) { box_->kept->shares.push_back(std::move(used)); }

void GraphWork::keep_memory(const Buffer& buffer) {
  if (std::shared_ptr<void> share = share_of(buffer)) keep(std::move(share));
}

void require_kind(const GraphNode& node, const GraphWorkBox& work) {
  const CUgraphNodeType type = node.box()->type;
  if (type == work.params.type) return;
  throw std::invalid_argument(std::string("a node cannot become another kind: this one is a ") +
                              kind_name(type) + " node, and the work is that of a " +
                              kind_name(work.params.type) + " node");
}

}  // namespace cudacore
