// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/memory_actions.hpp"

#include <cstring>
#include <memory>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/memory/copy.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/texture/array.hpp"
#include "simulator/memory/address_space.hpp"

namespace cudacore::simulator {

namespace {

/// The device that memory belongs to; -1 for the host's.
int device_of(std::uint64_t address) {
  const auto allocation = AddressSpace::instance().find(address);
  return allocation ? allocation->device : -1;
}

int device_of(CUarray array) {
  const std::shared_ptr<ArrayObject> object = registry().arrays.find(array);
  return object != nullptr ? object->array.device : -1;
}

int device_of(CUmemorytype type, const void* host, CUdeviceptr address, CUarray array) {
  if (type == CU_MEMORYTYPE_ARRAY) return device_of(array);
  return device_of(type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host) : address);
}

class CopyAction final : public GraphAction {
 public:
  CopyAction(const CUDA_MEMCPY3D& copy, CUcontext context)
      : GraphAction(CU_GRAPH_NODE_TYPE_MEMCPY),
        copy_(copy),
        context_(context),
        source_device_(device_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray)),
        target_device_(device_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray)) {
  }

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.memcpy.copyCtx = context_;
    parameters.memcpy.copyParams = copy_;
  }
  CUresult start(GraphRun& run) const override {
    std::unique_ptr<Work> work;
    const CUresult result = find_copy(copy_, work);
    if (result != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return work != nullptr ? run.enqueue(std::move(work)) : CUDA_SUCCESS;
  }
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& other) const override {
    const auto& next = static_cast<const CopyAction&>(other);
    return copy_.srcMemoryType == next.copy_.srcMemoryType &&
                   copy_.dstMemoryType == next.copy_.dstMemoryType &&
                   source_device_ == next.source_device_ && target_device_ == next.target_device_
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
  [[nodiscard]] std::string text() const override {
    return "copy of " + std::to_string(copy_.WidthInBytes) + " x " + std::to_string(copy_.Height) +
           " x " + std::to_string(copy_.Depth) + " bytes";
  }

 private:
  CUDA_MEMCPY3D copy_;
  CUcontext context_;
  int source_device_;
  int target_device_;
};

class FillAction final : public GraphAction {
 public:
  FillAction(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context)
      : GraphAction(CU_GRAPH_NODE_TYPE_MEMSET),
        fill_(fill),
        context_(context),
        device_(device_of(fill.dst)) {}

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.memset = {fill_.dst,   fill_.pitch,  fill_.value, fill_.elementSize,
                         fill_.width, fill_.height, context_};
  }
  CUresult start(GraphRun& run) const override {
    std::unique_ptr<Work> work;
    const CUresult result = find_fill(fill_, work);
    if (result != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return work != nullptr ? run.enqueue(std::move(work)) : CUDA_SUCCESS;
  }
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& other) const override {
    const auto& next = static_cast<const FillAction&>(other);
    const bool is_flat = fill_.height == 1 && next.fill_.height == 1;
    const bool is_same_box = fill_.width == next.fill_.width && fill_.height == next.fill_.height &&
                             fill_.pitch == next.fill_.pitch &&
                             fill_.elementSize == next.fill_.elementSize;
    return device_ == next.device_ && (is_flat || is_same_box)
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
  [[nodiscard]] std::string text() const override {
    return "fill of " + std::to_string(fill_.width) + " x " + std::to_string(fill_.height) +
           " elements with " + std::to_string(fill_.value);
  }

 private:
  CUDA_MEMSET_NODE_PARAMS fill_;
  CUcontext context_;
  int device_;
};

/// The context that a node names, or the current one.
CUresult check_context(CUcontext& handle) {
  CUresult status = CUDA_SUCCESS;
  if (handle != nullptr) {
    return find_context(handle, status) != nullptr ? CUDA_SUCCESS : status;
  }
  Context* context = nullptr;
  status = current_context(context);
  if (status == CUDA_SUCCESS) handle = context->handle;
  return status;
}

}  // namespace

CUmemorytype memory_type_of(std::uint64_t address) {
  return device_of(address) >= 0 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

CUresult make_copy_action(const CUDA_MEMCPY3D& copy, CUcontext context, SharedAction& action) {
  if (const CUresult status = check_context(context); status != CUDA_SUCCESS) return status;
  std::unique_ptr<Work> work;
  const CUresult result = find_copy(copy, work);
  if (result != CUDA_SUCCESS) return result;
  if (work == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "a copy of no bytes");
  action = std::make_shared<CopyAction>(copy, context);
  return CUDA_SUCCESS;
}

CUresult make_fill_action(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context,
                          SharedAction& action) {
  if (const CUresult status = check_context(context); status != CUDA_SUCCESS) return status;
  std::unique_ptr<Work> work;
  const CUresult result = find_fill(fill, work);
  if (result != CUDA_SUCCESS) return result;
  if (work == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "a fill of no bytes");
  action = std::make_shared<FillAction>(fill, context);
  return CUDA_SUCCESS;
}

CUresult capture_copy(const Stream& stream, const CUDA_MEMCPY3D& copy) {
  SharedAction action;
  const CUresult result = make_copy_action(copy, stream.context.handle, action);
  return result == CUDA_SUCCESS ? capture(stream, std::move(action)) : result;
}

CUresult capture_fill(const Stream& stream, const CUDA_MEMSET_NODE_PARAMS& fill) {
  SharedAction action;
  const CUresult result = make_fill_action(fill, stream.context.handle, action);
  return result == CUDA_SUCCESS ? capture(stream, std::move(action)) : result;
}

}  // namespace cudacore::simulator
