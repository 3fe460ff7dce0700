// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/graph/graph_memory.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/stream/capture.hpp"

namespace cudacore::simulator {

namespace {

/// Reserved memory grows in steps of this size.
constexpr std::size_t chunk = std::size_t{32} << 20U;

/// A device's memory in graphs, by CUgraphMem_attribute.
using Statistics = std::array<cuuint64_t, 4>;

}  // namespace

class GraphMemory {
 public:
  GraphMemory(std::shared_ptr<MemoryObject> its_object, const CUDA_MEM_ALLOC_NODE_PARAMS_v2& given)
      : object(std::move(its_object)),
        access(given.accessDescs, given.accessDescs + given.accessDescCount),
        parameters(given) {
    parameters.accessDescs = access.data();
    parameters.dptr = object->allocation.address;
  }
  ~GraphMemory() {
    MemoryTable::instance().take(object->allocation.address, [&](const MemoryObject& candidate) {
      return &candidate == object.get();
    });
    release_memory(*object);
  }
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  const std::shared_ptr<MemoryObject> object;
  const std::vector<CUmemAccessDesc> access;
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters;

  // Everything below is guarded by the table's mutex.
  const Graph* owner = nullptr;  ///< only compared
  bool freed_by_owner = false;
  bool freed_elsewhere = false;
};

namespace {

/// All memory of graphs, by address.
class GraphMemoryTable {
 public:
  static GraphMemoryTable& instance() {
    static GraphMemoryTable& one = *std::make_unique<GraphMemoryTable>().release();
    return one;
  }

  void add(const std::shared_ptr<GraphMemory>& memory) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    known_[memory->parameters.dptr] = memory;
  }

  std::shared_ptr<GraphMemory> find(CUdeviceptr address) {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(address);
    return found != known_.end() ? found->second.lock() : nullptr;
  }

  /// Returns false if it is allocated already.
  bool allocate(const std::shared_ptr<GraphMemory>& memory) {
    const std::scoped_lock lock(mutex_);
    if (!allocated_.emplace(memory->parameters.dptr, memory).second) return false;
    if (memory->object->device == nullptr) return true;
    Statistics& numbers = statistics(*memory);
    cuuint64_t& used = numbers[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT];
    cuuint64_t& reserved = numbers[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT];
    cuuint64_t& allocated = allocated_bytes(*memory);
    allocated += memory->parameters.bytesize;
    raise(used, allocated);
    reserved = std::max<cuuint64_t>(reserved, (used + chunk - 1) / chunk * chunk);
    raise(numbers[CU_GRAPH_MEM_ATTR_USED_MEM_HIGH], used);
    raise(numbers[CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH], reserved);
    return true;
  }

  /// Returns null if it is not allocated.
  std::shared_ptr<GraphMemory> free(CUdeviceptr address) {
    const std::scoped_lock lock(mutex_);
    const auto found = allocated_.find(address);
    if (found == allocated_.end()) return nullptr;
    std::shared_ptr<GraphMemory> memory = std::move(found->second);
    allocated_.erase(found);
    if (memory->object->device != nullptr) {
      allocated_bytes(*memory) -= memory->parameters.bytesize;
    }
    return memory;
  }

  void free_all() {
    std::unordered_map<CUdeviceptr, std::shared_ptr<GraphMemory>> freed;
    const std::scoped_lock lock(mutex_);
    freed.swap(allocated_);
    for (Statistics& numbers : statistics_) numbers = {};
    allocated_bytes_ = {};
  }

  /// Whether the graph may free it. If so, remembers that.
  bool claim_free(GraphMemory& memory, const Graph& graph) {
    const std::scoped_lock lock(mutex_);
    if (memory.freed_by_owner) return false;
    if (memory.owner != &graph) {
      memory.freed_elsewhere = true;
      return true;
    }
    memory.freed_by_owner = !memory.freed_elsewhere;
    return memory.freed_by_owner;
  }
  void claim(GraphMemory& memory, const Graph& graph) {
    const std::scoped_lock lock(mutex_);
    memory.owner = &graph;
  }

  cuuint64_t get(const Device& device, CUgraphMem_attribute attribute) {
    const std::scoped_lock lock(mutex_);
    return statistics_[static_cast<std::size_t>(device.ordinal)][attribute];
  }
  /// Sets a high-water mark to what it is the mark of.
  void reset(const Device& device, CUgraphMem_attribute high, CUgraphMem_attribute current) {
    const std::scoped_lock lock(mutex_);
    Statistics& numbers = statistics_[static_cast<std::size_t>(device.ordinal)];
    numbers[high] = numbers[current];
  }
  /// What was freed counts as used until now, as a driver counts it.
  void trim(const Device& device) {
    const std::scoped_lock lock(mutex_);
    const auto ordinal = static_cast<std::size_t>(device.ordinal);
    Statistics& numbers = statistics_[ordinal];
    numbers[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = allocated_bytes_[ordinal];
    numbers[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] =
        (numbers[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] + chunk - 1) / chunk * chunk;
  }

 private:
  Statistics& statistics(const GraphMemory& memory) {
    return statistics_[static_cast<std::size_t>(memory.object->device->ordinal)];
  }
  cuuint64_t& allocated_bytes(const GraphMemory& memory) {
    return allocated_bytes_[static_cast<std::size_t>(memory.object->device->ordinal)];
  }
  static void raise(cuuint64_t& mark, cuuint64_t value) { mark = std::max(mark, value); }

  std::mutex mutex_;
  std::unordered_map<CUdeviceptr, std::weak_ptr<GraphMemory>> known_;
  std::unordered_map<CUdeviceptr, std::shared_ptr<GraphMemory>> allocated_;
  std::array<Statistics, 64> statistics_{};
  std::array<cuuint64_t, 64> allocated_bytes_{};  ///< of each device
};

class AllocAction final : public GraphAction {
 public:
  explicit AllocAction(std::shared_ptr<GraphMemory> its_memory) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_MEM_ALLOC), memory(std::move(its_memory)) {}

  const std::shared_ptr<GraphMemory> memory;

  void describe(CUgraphNodeParams& given) const override { given.alloc = memory->parameters; }
  CUresult queued(GraphRun& run) const override {
    GraphMemoryTable& table = GraphMemoryTable::instance();
    if ((run.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0) {
      table.free(memory->parameters.dptr);
    }
    if (table.allocate(memory)) {
      run.if_refused([address = memory->parameters.dptr] {
        static_cast<void>(GraphMemoryTable::instance().free(address));
      });
      return CUDA_SUCCESS;
    }
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the memory that an earlier launch of the graph allocated has not been freed");
  }
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& next) const override {
    return static_cast<const AllocAction&>(next).memory == memory
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
};

class FreeAction final : public GraphAction {
 public:
  explicit FreeAction(std::shared_ptr<GraphMemory> its_memory) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_MEM_FREE), memory(std::move(its_memory)) {}

  const std::shared_ptr<GraphMemory> memory;

  void describe(CUgraphNodeParams& given) const override {
    given.free.dptr = memory->parameters.dptr;
  }
  CUresult queued(GraphRun& run) const override {
    if (GraphMemoryTable::instance().free(memory->parameters.dptr) != nullptr) {
      run.if_refused(
          [freed = memory] { static_cast<void>(GraphMemoryTable::instance().allocate(freed)); });
      return CUDA_SUCCESS;
    }
    return refuse(CUDA_ERROR_INVALID_VALUE, "the memory that a node frees is not allocated");
  }
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& next) const override {
    return static_cast<const FreeAction&>(next).memory == memory
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
};

/// Holds memory until it is its turn, or until it is dropped.
class Hold final : public Work {
 public:
  explicit Hold(std::shared_ptr<const void> memory) noexcept : memory_(std::move(memory)) {}
  Progress run(const Turn&) noexcept override {
    memory_ = nullptr;
    return Progress::done;
  }

 private:
  std::shared_ptr<const void> memory_;
};

/// CUresult body(Device&), for a device's statistics.
template <class Body>
CUresult statistics_call(CUdevice ordinal, const void* value, Body&& body) noexcept {
  return driver_call([&] {
    Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return value != nullptr ? body(*device) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace

CUresult make_alloc_action(CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters, SharedAction& action) {
  const CUmemPoolProps& pool = parameters.poolProps;
  const bool is_managed = pool.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  const bool is_on_device = pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  Device* device = is_on_device ? find_device(pool.location.id) : nullptr;
  if (parameters.bytesize == 0 ||
      (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED && !is_managed) ||
      (is_on_device && device == nullptr) || pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      (parameters.accessDescs == nullptr && parameters.accessDescCount != 0)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "graphs can't allocate memory of this kind");
  }
  std::shared_ptr<MemoryObject> object =
      is_on_device && !is_managed
          ? make_device_memory(*device, parameters.bytesize, 512, false, nullptr)
          : make_host_memory(is_managed ? MemoryKind::managed : MemoryKind::pinned,
                             parameters.bytesize, nullptr);
  if (object == nullptr) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
  object->origin = Origin::graph;
  const auto memory = std::make_shared<GraphMemory>(object, parameters);
  MemoryTable::instance().insert(std::move(object));
  GraphMemoryTable::instance().add(memory);
  parameters.dptr = memory->parameters.dptr;
  action = std::make_shared<AllocAction>(memory);
  return CUDA_SUCCESS;
}

CUresult make_free_action(CUdeviceptr address, SharedAction& action) {
  std::shared_ptr<GraphMemory> memory = GraphMemoryTable::instance().find(address);
  if (memory == nullptr) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "no node of a graph allocates memory at the address");
  }
  action = std::make_shared<FreeAction>(std::move(memory));
  return CUDA_SUCCESS;
}

CUresult claim_memory(const GraphAction& action, const Graph& graph) {
  GraphMemoryTable& table = GraphMemoryTable::instance();
  if (const auto* alloc = dynamic_cast<const AllocAction*>(&action)) {
    table.claim(*alloc->memory, graph);
  }
  const auto* free = dynamic_cast<const FreeAction*>(&action);
  if (free == nullptr || table.claim_free(*free->memory, graph)) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_INVALID_VALUE, "another node frees the memory");
}

CUresult capture_allocation(const Stream& stream, const CUmemPoolProps& pool, std::size_t size,
                            CUdeviceptr& address) {
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters{};
  parameters.poolProps = pool;
  parameters.bytesize = size;
  SharedAction action;
  CUresult result = make_alloc_action(parameters, action);
  if (result == CUDA_SUCCESS) result = capture(stream, std::move(action));
  if (result == CUDA_SUCCESS) address = parameters.dptr;
  return result;
}

CUresult capture_free(const Stream& stream, CUdeviceptr address) {
  SharedAction action;
  const CUresult result = make_free_action(address, action);
  return result == CUDA_SUCCESS ? capture(stream, std::move(action)) : result;
}

std::shared_ptr<const void> free_graph_memory(CUdeviceptr address) {
  return GraphMemoryTable::instance().free(address);
}

void free_all_graph_memory() { GraphMemoryTable::instance().free_all(); }

std::unique_ptr<Work> make_hold(std::shared_ptr<const void> memory) {
  return std::make_unique<Hold>(std::move(memory));
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  return statistics_call(ordinal, &ordinal, [](const Device& device) {
    GraphMemoryTable::instance().trim(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  return statistics_call(ordinal, value, [&](const Device& device) {
    if (static_cast<int>(attribute) < CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT ||
        attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *static_cast<cuuint64_t*>(value) = GraphMemoryTable::instance().get(device, attribute);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  return statistics_call(ordinal, value, [&](const Device& device) {
    GraphMemoryTable& table = GraphMemoryTable::instance();
    if (*static_cast<const cuuint64_t*>(value) == 0) {
      if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
        table.reset(device, attribute, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
        return CUDA_SUCCESS;
      }
      if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
        table.reset(device, attribute, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
        return CUDA_SUCCESS;
      }
    }
    return refuse(CUDA_ERROR_INVALID_VALUE, "only the high-water marks can be set, and only to 0");
  });
}

}  // extern "C"
