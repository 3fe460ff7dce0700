// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/occupancy.hpp"

#include <algorithm>

#include "simulator/api/code/launch_shape.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::size_t shared_granularity = 128;
constexpr unsigned register_granularity = 256;  // per warp
constexpr unsigned warp_granularity = 4;

unsigned blocks_by_threads(const DeviceProperties& device, unsigned warps) noexcept {
  return std::min(device.threads_per_multiprocessor / (warps * warp_size),
                  device.blocks_per_multiprocessor);
}

unsigned blocks_by_registers(const FunctionOnDevice& function, unsigned warps) noexcept {
  const unsigned per_warp = round_up(function.registers() * warp_size, register_granularity);
  const unsigned most_warps =
      function.device.registers_per_multiprocessor / per_warp / warp_granularity * warp_granularity;
  return most_warps / warps;
}

}  // namespace

unsigned blocks_per_multiprocessor(const FunctionOnDevice& function, unsigned threads,
                                   std::size_t dynamic_shared) noexcept {
  const DeviceProperties& device = function.device;
  if (threads == 0 || threads > function.max_threads()) return 0;
  if (dynamic_shared > function.max_dynamic_shared()) return 0;
  const std::size_t shared = function.entry.shared_bytes + dynamic_shared;
  const unsigned warps = (threads + warp_size - 1) / warp_size;
  unsigned blocks =
      std::min(blocks_by_threads(device, warps), blocks_by_registers(function, warps));
  const std::size_t taken = round_up(shared + device.reserved_shared_per_block, shared_granularity);
  if (taken > 0) {
    const std::size_t fit = device.shared_per_multiprocessor / taken;
    blocks = static_cast<unsigned>(std::min<std::size_t>(blocks, fit));
  }
  return blocks;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

/// CUresult body(FunctionOnDevice), for a live handle.
template <class Body>
CUresult occupancy_call(CUfunction handle, Body&& body) noexcept {
  return context_call([&](Context& context) {
    CUresult status = CUDA_SUCCESS;
    const auto function = find_function(handle, context, status);
    return function != nullptr ? body(on_device(*function)) : status;
  });
}

CUresult max_active_blocks(int* blocks, CUfunction handle, int threads, std::size_t shared,
                           unsigned flags) {
  return occupancy_call(handle, [&](const FunctionOnDevice& function) {
    if (blocks == nullptr || threads <= 0 || (flags & ~1U) != 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = static_cast<int>(
        blocks_per_multiprocessor(function, static_cast<unsigned>(threads), shared));
    return CUDA_SUCCESS;
  });
}

CUresult max_potential_block_size(int* grid, int* block, CUfunction handle,
                                  CUoccupancyB2DSize shared_of, std::size_t shared, int limit,
                                  unsigned flags) {
  return occupancy_call(handle, [&](const FunctionOnDevice& function) {
    if (grid == nullptr || block == nullptr || limit < 0 || (flags & ~1U) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned most = function.max_threads();
    if (limit > 0) most = std::min(most, static_cast<unsigned>(limit));
    unsigned best_resident = 0;
    *grid = 0;
    *block = 0;
    for (unsigned size = round_up(most, warp_size); size > 0; size -= warp_size) {
      const unsigned threads = std::min(size, most);
      const std::size_t bytes =
          shared_of != nullptr ? shared_of(static_cast<int>(threads)) : shared;
      const unsigned blocks = blocks_per_multiprocessor(function, threads, bytes);
      if (blocks * threads <= best_resident) continue;
      best_resident = blocks * threads;
      *block = static_cast<int>(threads);
      *grid = static_cast<int>(blocks * function.device.multiprocessors);
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared) {
  return max_active_blocks(blocks, function, threads, shared, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, std::size_t shared,
                                                              unsigned flags) {
  return max_active_blocks(blocks, function, threads, shared, flags);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared,
                                          int limit) {
  return max_potential_block_size(grid, block, function, shared_of, shared, limit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned flags) {
  return max_potential_block_size(grid, block, function, shared_of, shared, limit, flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction handle, int blocks,
                                                 int threads) {
  return occupancy_call(handle, [&](const FunctionOnDevice& function) {
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    const DeviceProperties& device = function.device;
    const auto count = static_cast<unsigned>(blocks);
    if (blocks_per_multiprocessor(function, static_cast<unsigned>(threads), 0) < count) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::size_t each =
        device.shared_per_multiprocessor / count / shared_granularity * shared_granularity;
    const std::size_t taken = device.reserved_shared_per_block + function.entry.shared_bytes;
    *bytes = std::min(each - std::min(each, taken), function.max_dynamic_shared());
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle,
                                            const CUlaunchConfig* config) {
  return occupancy_call(handle, [&](const FunctionOnDevice& function) {
    if (size == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape;
    if (const CUresult result = read_shape(*config, shape); result != CUDA_SUCCESS) return result;
    apply_directives(function.entry, shape);
    if (!function.device.clusters) return CUDA_ERROR_NOT_SUPPORTED;
    const unsigned blocks = blocks_per_multiprocessor(
        function, static_cast<unsigned>(shape.block.count()), shape.dynamic_shared);
    if (blocks == 0) return CUDA_ERROR_INVALID_VALUE;
    unsigned most = 1;
    while (most * 2 <=
           std::min(function.max_cluster_blocks(), blocks * function.device.multiprocessors)) {
      most *= 2;
    }
    *size = static_cast<int>(most);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                      const CUlaunchConfig* config) {
  return occupancy_call(handle, [&](const FunctionOnDevice& function) {
    if (clusters == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape;
    if (const CUresult result = read_shape(*config, shape); result != CUDA_SUCCESS) return result;
    apply_directives(function.entry, shape);
    if (!function.device.clusters) return CUDA_ERROR_NOT_SUPPORTED;
    Dim3 cluster;
    if (const CUresult result = find_cluster(function, shape, cluster); result != CUDA_SUCCESS) {
      return result;
    }
    const unsigned blocks = blocks_per_multiprocessor(
        function, static_cast<unsigned>(shape.block.count()), shape.dynamic_shared);
    *clusters = static_cast<int>(blocks * function.device.multiprocessors / cluster.count());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
