// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/function_attributes.hpp"

#include <algorithm>
#include <string>

#include "simulator/api/entry.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {

namespace {

constexpr unsigned most_registers = 255;
constexpr unsigned register_step = 8;
constexpr unsigned portable_cluster_blocks = 8;
constexpr unsigned most_cluster_blocks = 16;

bool requires_cluster(const Function& entry) noexcept { return entry.required_cluster.x != 0; }

}  // namespace

unsigned FunctionOnDevice::max_threads() const noexcept {
  return std::min(entry.max_threads, 1024U);
}

unsigned FunctionOnDevice::registers() const noexcept {
  const unsigned threads = round_up(max_threads(), warp_size);
  const unsigned fit = device.registers_per_block / threads / register_step * register_step;
  return std::min({std::max(entry.registers, 8U), std::max(fit, 8U), most_registers});
}

std::size_t FunctionOnDevice::max_dynamic_shared() const noexcept {
  const int set = settings.max_dynamic_shared.load(std::memory_order_relaxed);
  if (set != FunctionSettings::not_set) return static_cast<std::size_t>(set);
  return device.shared_per_block -
         std::min<std::size_t>(entry.shared_bytes, device.shared_per_block);
}

unsigned FunctionOnDevice::max_cluster_blocks() const noexcept {
  if (!device.clusters) return 1;
  const bool any = settings.non_portable_cluster.load(std::memory_order_relaxed) != 0;
  const unsigned most = any ? most_cluster_blocks : portable_cluster_blocks;
  return entry.max_cluster_rank != 0 ? std::min(most, entry.max_cluster_rank) : most;
}

Dim3 FunctionOnDevice::required_cluster() const noexcept {
  if (requires_cluster(entry)) return entry.required_cluster;
  const auto extent = [this](std::size_t i) {
    return static_cast<std::uint32_t>(settings.required_cluster[i].load(std::memory_order_relaxed));
  };
  return {extent(0), extent(1), extent(2)};
}

CUresult FunctionOnDevice::get(CUfunction_attribute attribute, int& value) const {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      // A block size that .reqntid requires is distinguished from an upper bound, as in the driver.
      value = entry.required_threads.x != 0 ? 1024 : static_cast<int>(max_threads());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      value = static_cast<int>(entry.shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      value = static_cast<int>(entry.constant_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      value = static_cast<int>(std::max(entry.local_bytes, entry.stack_bytes));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      value = static_cast<int>(registers());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      value = entry.image->architecture();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      value = device.major * 10 + device.minor;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      value = static_cast<int>(max_dynamic_shared());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      value = settings.carveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      value = entry.explicit_cluster ? 1 : settings.cluster_must_be_set.load();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      value = static_cast<int>(required_cluster().x);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      value = static_cast<int>(required_cluster().y);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      value = static_cast<int>(required_cluster().z);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      value = settings.non_portable_cluster;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      value = settings.cluster_policy;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult FunctionOnDevice::set(CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const std::size_t most = device.shared_per_block_optin - entry.shared_bytes;
      if (value < 0 || static_cast<std::size_t>(value) > most) {
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      entry.name + ": " + std::to_string(value) +
                          " bytes of dynamic shared memory can't be allowed: at most " +
                          std::to_string(most) + " fit beside the static ones");
      }
      settings.max_dynamic_shared = value;
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      settings.carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      if (!device.clusters && value != 0) return CUDA_ERROR_NOT_SUPPORTED;
      settings.cluster_must_be_set = value != 0 ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
      if (requires_cluster(entry)) return CUDA_ERROR_INVALID_VALUE;
      if (value < 0) return CUDA_ERROR_INVALID_VALUE;
      if (!device.clusters && value != 0) return CUDA_ERROR_NOT_SUPPORTED;
      const int axis = attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
      settings.required_cluster[static_cast<std::size_t>(axis)] = value;
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      if (!device.clusters && value != 0) return CUDA_ERROR_NOT_SUPPORTED;
      settings.non_portable_cluster = value != 0 ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT ||
          value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      settings.cluster_policy = value;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace cudacore::simulator
