// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "cudacore/device.hpp"
#include "error/describe.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore {
namespace {

CUmemLocation on_device(int device) { return {CU_MEM_LOCATION_TYPE_DEVICE, {device}}; }

}  // namespace

GraphWork GraphWork::allocate(const GraphAllocation& wanted) {
  if (wanted.size == 0) throw_invalid("an allocation in a graph needs a size");
  auto work =
      new_work(CU_GRAPH_NODE_TYPE_MEM_ALLOC, "allocation of " + error::format_bytes(wanted.size));
  const int device = Device(wanted.device.value_or(work->context->device)).id();
  CUDA_MEM_ALLOC_NODE_PARAMS_v2& params = work->params.alloc;
  const bool is_managed = wanted.type == GraphMemoryType::managed;
  params.poolProps.allocType =
      is_managed ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = wanted.type == GraphMemoryType::host
                                  ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, {0}}
                                  : on_device(device);
  params.bytesize = wanted.size;
  for (const int peer : wanted.peers) {
    work->access.push_back({on_device(Device(peer).id()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  params.accessDescs = work->access.data();
  params.accessDescCount = work->access.size();
  return GraphWork(std::move(work));
}

GraphWork GraphWork::deallocate(CUdeviceptr address) {
  auto work = new_work(CU_GRAPH_NODE_TYPE_MEM_FREE,
                       "release of memory at " + error::format_address(address));
  work->params.free.dptr = address;
  return GraphWork(std::move(work));
}

GraphAllocation GraphNode::allocation() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  CUDA_MEM_ALLOC_NODE_PARAMS params{};
  call.check(call.api().cuGraphMemAllocNodeGetParams(call.handle(), &params),
             "cuGraphMemAllocNodeGetParams");
  GraphAllocation told;
  told.size = params.bytesize;
  told.address = params.dptr;
  if (params.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
    told.type = GraphMemoryType::managed;
  } else if (params.poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    told.type = GraphMemoryType::host;
  }
  if (params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    told.device = params.poolProps.location.id;
  }
  for (std::size_t i = 0; i < params.accessDescCount; ++i) {
    told.peers.push_back(params.accessDescs[i].location.id);
  }
  return told;
}

CUdeviceptr GraphNode::released() const {
  const NodeCall call(*this, CU_GRAPH_NODE_TYPE_MEM_FREE);
  CUdeviceptr address = 0;
  call.check(call.api().cuGraphMemFreeNodeGetParams(call.handle(), &address),
             "cuGraphMemFreeNodeGetParams");
  return address;
}

}  // namespace cudacore
