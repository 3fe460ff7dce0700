// SPDX-License-Identifier: Apache-2.0
//
// The objects for the driver's handles, and where to find them.
//
// Objects are shared: a handle in its table is one owner, work in progress is another. Streams,
// events and modules keep their context's state alive after cuCtxDestroy; `destroyed` is then true.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "simulator/api/cuda_api.hpp"
#include "simulator/api/handles.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/memory/address_space.hpp"
#include "simulator/memory/device_memory.hpp"

namespace cudacore::simulator {

class Context;
class ContextStreams;         // stream.hpp: the streams of a context
class Event;                  // event.hpp
class ExecutableGraph;        // executable_graph.hpp
class Graph;                  // graph.hpp
class Linker;                 // linker.cpp
class MemoryPool;             // memory_pool.hpp
class Module;                 // module.hpp
class Library;                // module.hpp
struct GreenResources;        // device_resources.hpp
class Stream;                 // stream.hpp
class UserObject;             // user_object.hpp
struct KernelObject;          // module.hpp
struct FunctionObject;        // module.hpp
struct ArrayObject;           // array.hpp
struct GraphNode;             // graph.hpp
struct MipmappedArrayObject;  // array.hpp

/// What a device of a compute capability has, according to NVIDIA's tables.
struct DeviceProperties {
  int major = 9;
  int minor = 0;
  unsigned multiprocessors = 16;
  unsigned threads_per_multiprocessor = 2048;
  unsigned blocks_per_multiprocessor = 32;
  unsigned registers_per_multiprocessor = 65536;
  unsigned registers_per_block = 65536;
  std::size_t shared_per_multiprocessor = 233472;
  std::size_t shared_per_block = 49152;  ///< without opting in
  std::size_t shared_per_block_optin = 232448;
  std::size_t reserved_shared_per_block = 1024;
  bool clusters = true;
  std::size_t persisting_l2 = std::size_t{3} << 20U;  ///< of an L2 cache of 4 MiB
  std::size_t access_policy_window = std::size_t{128} << 20U;
};

DeviceProperties properties_of(int major, int minor) noexcept;

/// Never destroyed after cuInit has created it.
class Device {
 public:
  Device(int ordinal, int physical, const DeviceProperties& properties, std::size_t memory_bytes);

  const int ordinal;
  const int physical;  ///< its number before CUDA_VISIBLE_DEVICES is applied
  const DeviceProperties properties;
  DeviceMemory memory;

  std::mutex mutex;  ///< guards everything below
  std::shared_ptr<Context> primary;
  unsigned primary_references = 0;
  unsigned primary_flags = 0;
  std::shared_ptr<MemoryPool> default_pool;  ///< created on first use: memory_pool.cpp
  std::shared_ptr<MemoryPool> current_pool;  ///< null: the default
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(Device& device, bool primary, unsigned flags);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device& device;
  const std::uint64_t id;  ///< never reused
  const bool primary;
  CUcontext handle = nullptr;
  std::atomic<unsigned> flags;
  std::atomic<CUfunc_cache> cache_config{CU_FUNC_CACHE_PREFER_NONE};
  std::atomic<CUsharedconfig> shared_config{CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE};
  std::array<std::atomic<std::size_t>, CU_LIMIT_MAX> limits{};  ///< by CUlimit
  /// A bit for each ordinal whose memory kernels of this context may access: its own, and those of
  /// peers.
  std::atomic<std::uint64_t> readable_devices;
  std::atomic<std::size_t> heap_used{0};  ///< by malloc in kernels
  std::atomic<std::uint64_t> next_grid{1};
  std::atomic<bool> destroyed{false};

  std::shared_ptr<ContextStreams> streams;    ///< created with the context
  std::shared_ptr<Context> base;              ///< of a green context: where its work runs
  std::unique_ptr<GreenResources> resources;  ///< of a green context: its share

  /// Where its work runs: itself, unless it is a green context.
  [[nodiscard]] Context& worked_in() noexcept { return base != nullptr ? *base : *this; }

  /// The error that broke the context, or CUDA_SUCCESS: every later call returns it.
  [[nodiscard]] CUresult error() const noexcept { return error_.load(std::memory_order_acquire); }
  /// Breaks the context and logs why. The first error is kept.
  void fail(CUresult error, std::string_view message) noexcept;
  /// CONTEXT_IS_DESTROYED, the sticky error, or CUDA_SUCCESS.
  [[nodiscard]] CUresult status() const noexcept {
    if (destroyed.load(std::memory_order_acquire)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return error();
  }

  std::mutex mutex;                              ///< guards everything below
  std::vector<std::shared_ptr<Module>> modules;  ///< loaded in it, including those of libraries
  std::unordered_set<CUarray> arrays;            ///< except the levels of mipmapped arrays
  std::unordered_set<CUmipmappedArray> mipmapped_arrays;

 private:
  std::atomic<CUresult> error_{CUDA_SUCCESS};
};

/// All live objects, by handle. Lives as long as the process.
struct Registry {
  HandleTable<CUcontext, Context> contexts{1};
  HandleTable<CUstream, Stream> streams{2};
  HandleTable<CUevent, Event> events{3};
  HandleTable<CUmemoryPool, MemoryPool> pools{4};
  HandleTable<CUmodule, Module> modules{5};
  /// Of modules and libraries: a CUkernel is accepted in place of a CUfunction.
  HandleTable<CUfunction, FunctionObject> functions{6};
  HandleTable<CUkernel, KernelObject> kernels{7};
  HandleTable<CUlibrary, Library> libraries{8};
  HandleTable<CUlinkState, Linker> linkers{9};
  HandleTable<CUarray, ArrayObject> arrays{10};
  HandleTable<CUmipmappedArray, MipmappedArrayObject> mipmapped_arrays{11};
  HandleTable<CUgraph, Graph> graphs{15};
  HandleTable<CUgraphNode, GraphNode> graph_nodes{16};
  HandleTable<CUgraphExec, ExecutableGraph> executable_graphs{17};
  HandleTable<CUuserObject, UserObject> user_objects{18};
  std::vector<std::unique_ptr<Device>> devices;  ///< constant after cuInit
};
Registry& registry() noexcept;

/// CUDA_SUCCESS once cuInit has succeeded; NOT_INITIALIZED before, and in a forked child.
CUresult driver_status() noexcept;
/// The device with an ordinal; null if there is none.
Device* find_device(CUdevice ordinal) noexcept;

/// The calling thread's current context, with its error if it has one: NOT_INITIALIZED,
/// INVALID_CONTEXT, CONTEXT_IS_DESTROYED or the sticky error. It lives at least until the thread
/// makes another context current.
CUresult current_context(Context*& context) noexcept;
/// The same, but a broken context is returned with CUDA_SUCCESS, for calls that free things.
CUresult current_context_even_broken(Context*& context) noexcept;
/// The current context if that is a green one, whose work runs in what the others return.
std::shared_ptr<Context> current_green_context();

// Everything below is implemented by the streams and the memory: stream.cpp and memory.cpp.

/// The stream for a handle: a live stream, or a default stream of the current context, for 0 (the
/// thread's own during an OwnDefaultStream), CU_STREAM_LEGACY and CU_STREAM_PER_THREAD. Otherwise
/// null, with the code in status: INVALID_HANDLE, CONTEXT_IS_DESTROYED, a sticky error...
std::shared_ptr<Stream> find_stream(CUstream handle, CUresult& status);
/// The context that a stream belongs to.
Context& context_of(const Stream& stream) noexcept;

/// The streams of a new context, including the legacy default stream.
std::shared_ptr<ContextStreams> make_context_streams(Context& context);
/// Waits for all work of a context. Returns CUDA_SUCCESS or its sticky error.
CUresult synchronize_context(Context& context);
/// Called once, after context.destroyed was set: ends its work (and cancels what runs), then
/// invalidates the handles of its streams and events, and frees its memory.
void release_context(Context& context) noexcept;

/// Allocates memory for a variable of a module. Returns nothing if there is too little.
std::optional<Allocation> allocate_variable(Context& context, std::size_t size, std::size_t align,
                                            bool read_only, bool managed);
void free_variable(Context& context, const Allocation& allocation) noexcept;

}  // namespace cudacore::simulator
