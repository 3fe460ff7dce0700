// SPDX-License-Identifier: Apache-2.0
#include "runtime/recorded_graph.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <unordered_map>

#include "runtime/context_call.hpp"
#include "runtime/foreign_kernel.hpp"
#include "runtime/graph_call.hpp"
#include "runtime/graph_launch.hpp"
#include "runtime/graph_work_box.hpp"

namespace cudacore {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

[[noreturn]] void refuse_use(const std::string& what) {
  throw NotSupportedError("an argument's memory is used by " + what +
                          ", where a recording cannot replace it");
}

/// What tells copies and fills apart. A pointer of the host counts only for memory of the host.
auto parts(const CUDA_MEMCPY3D& copy) noexcept {
  const auto host = [](CUmemorytype type, const void* address) {
    return type == CU_MEMORYTYPE_HOST ? address : nullptr;
  };
  return std::tuple(copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcLOD, copy.srcMemoryType,
                    host(copy.srcMemoryType, copy.srcHost), copy.srcDevice, copy.srcArray,
                    copy.srcPitch, copy.srcHeight, copy.dstXInBytes, copy.dstY, copy.dstZ,
                    copy.dstLOD, copy.dstMemoryType, host(copy.dstMemoryType, copy.dstHost),
                    copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight, copy.WidthInBytes,
                    copy.Height, copy.Depth);
}

auto parts(const CUDA_MEMSET_NODE_PARAMS_v2& fill) noexcept {
  return std::tuple(fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height);
}

}  // namespace

/// Looks for the stand-ins in a captured graph.
class RecordedGraph::Scan {
 public:
  explicit Scan(const RecordedCapture& capture)
      : call_(capture.definition.box()), stand_ins_(capture.stand_ins) {
    for (const CapturedLaunch& launch : capture.launches) launches_.emplace(launch.node, &launch);
    for (CUgraphNode node : list_nodes(call_)) {
      Node scanned;
      scanned.node = node;
      scanned.params.type = type_of(call_, node);
      scanned.patches_begin = patches_.size();
      scan(scanned);
      scanned.patches_end = patches_.size();
      nodes_.push_back(std::move(scanned));
    }
    place_patches();
  }

  [[nodiscard]] const GraphCall& call() const noexcept { return call_; }

  static CUgraphNodeType type_of(const GraphCall& call, CUgraphNode node) {
    CUgraphNodeType type{};
    call.check(call.api().cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
    return type;
  }

  void write_values(std::span<const std::uint64_t> values) noexcept {
    for (const Node& node : nodes_) write(node, patches_, values);
  }

  /// Refuses a capture that differs, once the same values are written to both.
  void require_same(const Scan& second) const {
    if (nodes_.size() != second.nodes_.size()) {
      throw NotSupportedError("a second run of the recorded function queues other work: " +
                              std::to_string(second.nodes_.size()) + " nodes instead of " +
                              std::to_string(nodes_.size()));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_same(nodes_[i], second.nodes_[i])) continue;
      throw NotSupportedError(
          "a second run of the recorded function queues other work: node " + std::to_string(i) +
          ", " + describe(nodes_[i]) +
          ", has other parameters, which don't come from the arguments of the function alone");
    }
  }

  /// Leaves only the nodes that change.
  std::size_t finish(std::vector<Node>& nodes, std::vector<Patch>& patches) {
    const std::size_t count = nodes_.size();
    std::erase_if(nodes_, [](const Node& node) { return node.patches_begin == node.patches_end; });
    place_patches();  // those of a copy or a fill lie in the node itself, which has moved
    nodes = std::move(nodes_);
    patches = std::move(patches_);
    return count;
  }

 private:
  const StandInRange* find(CUdeviceptr address) const noexcept {
    const auto found = std::find_if(
        stand_ins_.begin(), stand_ins_.end(),
        [&](const StandInRange& range) { return address >= range.begin && address < range.end; });
    return found == stand_ins_.end() ? nullptr : &*found;
  }

  void add(std::size_t offset, std::uint64_t addend, std::uint32_t value_index) {
    patches_.push_back({.target = nullptr, .offset = addend, .value_index = value_index});
    offsets_.push_back(offset);
  }

  /// Notes the word at `offset` of `bytes` if it is an address of a stand-in.
  void look_at(const void* bytes, std::size_t offset) {
    std::uint64_t address = 0;
    std::memcpy(&address, static_cast<const unsigned char*>(bytes) + offset, word_size);
    if (const StandInRange* range = find(address)) {
      add(offset, address - range->address, range->value_index);
    }
  }

  void scan(Node& node) {
    switch (node.params.type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return scan_kernel(node);
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        return scan_copy(node);
      case CU_GRAPH_NODE_TYPE_MEMSET:
        return scan_fill(node);
      case CU_GRAPH_NODE_TYPE_EMPTY:
      case CU_GRAPH_NODE_TYPE_HOST:
      case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return;
      default:
        throw NotSupportedError(std::string("a recorded function cannot make a node of kind \"") +
                                kind_name(node.params.type) +
                                "\": which arguments it uses cannot be found out");
    }
  }

  /// The sizes of a kernel's arguments, which are asked for once.
  const std::vector<std::size_t>& sizes_of(CUfunction function, CUkernel kernel) {
    const driver::DriverApi& api = call_.api();
    if (kernel == nullptr && api.cuFuncGetParamInfo == nullptr) {
      driver::throw_missing_symbol("cuFuncGetParamInfo", 12040);
    }
    const void* key = kernel;
    if (kernel == nullptr) key = function;
    const auto [known, is_new] = sizes_.try_emplace(key);
    for (std::size_t i = 0; is_new; ++i) {
      std::size_t offset = 0;
      std::size_t size = 0;
      const CUresult result = kernel != nullptr
                                  ? api.cuKernelGetParamInfo(kernel, i, &offset, &size)
                                  : api.cuFuncGetParamInfo(function, i, &offset, &size);
      if (result == CUDA_ERROR_INVALID_VALUE) break;
      call_.check(result, kernel != nullptr ? "cuKernelGetParamInfo" : "cuFuncGetParamInfo");
      known->second.push_back(size);
    }
    return known->second;
  }

  void scan_kernel(Node& node) {
    CUDA_KERNEL_NODE_PARAMS& params = node.kernel;
    call_.check(call_.api().cuGraphKernelNodeGetParams(node.node, &params),
                "cuGraphKernelNodeGetParams");
    const auto launched = launches_.find(node.node);
    const bool is_own = launched != launches_.end();
    if (params.kernelParams == nullptr && params.extra != nullptr) {
      throw NotSupportedError("the arguments of " + describe(node) +
                              ", a kernel of another library, are in one piece, and can't be "
                              "replaced by a recording");
    }
    const std::vector<std::size_t>& sizes =
        is_own ? sizes_of(nullptr, launched->second->kernel.box()->kernel)
               : sizes_of(params.func, params.func != nullptr ? nullptr : params.kern);
    std::vector<std::size_t> begins;
    std::size_t size = 0;
    for (const std::size_t one : sizes) {
      begins.push_back(size);
      size += (one + word_size - 1) / word_size * word_size;
    }
    node.bytes.resize(size / word_size);
    auto* bytes = reinterpret_cast<unsigned char*>(node.bytes.data());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::memcpy(bytes + begins[i], params.kernelParams[i], sizes[i]);
      const bool is_last_of_words = i + 1 == sizes.size() && sizes[i] % word_size == 0;
      if (!is_own && is_last_of_words) {
        clear_unread(function_name(call_.api(), params.func),
                     std::span(node.bytes).subspan(begins[i] / word_size));
      }
      node.places.push_back(bytes + begins[i]);
      for (std::size_t at = 0; at + word_size <= sizes[i]; ++at) look_at(bytes, begins[i] + at);
    }
    if (is_own) {
      for (const CapturedLaunch::Number& number : launched->second->numbers) {
        add(begins.at(number.parameter), 0, number.value_index);
      }
    }
    params.kernelParams = node.places.data();
    CUDA_KERNEL_NODE_PARAMS_v3& set = node.params.kernel;
    set.func = params.func;
    set.kern = params.kern;
    set.ctx = params.ctx;
    set.gridDimX = params.gridDimX;
    set.gridDimY = params.gridDimY;
    set.gridDimZ = params.gridDimZ;
    set.blockDimX = params.blockDimX;
    set.blockDimY = params.blockDimY;
    set.blockDimZ = params.blockDimZ;
    set.sharedMemBytes = params.sharedMemBytes;
    set.kernelParams = params.kernelParams;
  }

  void scan_copy(Node& node) {
    CUDA_MEMCPY3D& params = node.params.memcpy.copyParams;
    call_.check(call_.api().cuGraphMemcpyNodeGetParams(node.node, &params),
                "cuGraphMemcpyNodeGetParams");
    node.params.memcpy.copyCtx = error::current_context()->context;
    const std::size_t before = offsets_.size();
    look_at(&node.params, offset_in(node, params.srcDevice));
    look_at(&node.params, offset_in(node, params.dstDevice));
    if (offsets_.size() != before && (params.Height > 1 || params.Depth > 1)) {
      refuse_use("a copy in two or three dimensions");
    }
  }

  void scan_fill(Node& node) {
    CUDA_MEMSET_NODE_PARAMS params{};
    call_.check(call_.api().cuGraphMemsetNodeGetParams(node.node, &params),
                "cuGraphMemsetNodeGetParams");
    CUDA_MEMSET_NODE_PARAMS_v2& set = node.params.memset;
    set.dst = params.dst;
    set.pitch = params.pitch;
    set.value = params.value;
    set.elementSize = params.elementSize;
    set.width = params.width;
    set.height = params.height;
    set.ctx = error::current_context()->context;
    const std::size_t before = offsets_.size();
    look_at(&node.params, offset_in(node, set.dst));
    if (offsets_.size() != before && params.height > 1) refuse_use("a fill in two dimensions");
  }

  static std::size_t offset_in(const Node& node, const CUdeviceptr& field) noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(&field) -
                                    reinterpret_cast<const unsigned char*>(&node.params));
  }

  /// The patches point into nodes, which must not move any more.
  void place_patches() {
    for (Node& node : nodes_) {
      auto* bytes = node.params.type == CU_GRAPH_NODE_TYPE_KERNEL
                        ? reinterpret_cast<unsigned char*>(node.bytes.data())
                        : reinterpret_cast<unsigned char*>(&node.params);
      for (std::size_t i = node.patches_begin; i < node.patches_end; ++i) {
        patches_[i].target = bytes + offsets_[i];
      }
    }
  }

  static bool is_same(const Node& a, const Node& b) noexcept {
    const CUgraphNodeType type = a.params.type;
    if (type != b.params.type) return false;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
      const auto shape = [](const CUDA_KERNEL_NODE_PARAMS& params) {
        return std::tuple(params.func, params.kern, params.gridDimX, params.gridDimY,
                          params.gridDimZ, params.blockDimX, params.blockDimY, params.blockDimZ,
                          params.sharedMemBytes);
      };
      return shape(a.kernel) == shape(b.kernel) && a.bytes == b.bytes;
    }
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
      return parts(a.params.memcpy.copyParams) == parts(b.params.memcpy.copyParams);
    }
    return type != CU_GRAPH_NODE_TYPE_MEMSET || parts(a.params.memset) == parts(b.params.memset);
  }

  std::string describe(const Node& node) const {
    const bool is_kernel = node.params.type == CU_GRAPH_NODE_TYPE_KERNEL;
    const std::string name =
        is_kernel ? function_name(call_.api(), node.kernel.func) : std::string();
    const std::string kind = kind_name(node.params.type);
    return name.empty() ? "a " + kind : "the " + kind + " " + name;
  }

  GraphCall call_;
  std::span<const StandInRange> stand_ins_;
  std::unordered_map<CUgraphNode, const CapturedLaunch*> launches_;
  std::unordered_map<const void*, std::vector<std::size_t>> sizes_;
  std::vector<Node> nodes_;
  std::vector<Patch> patches_;
  std::vector<std::size_t> offsets_;  ///< of each patch, from where its node's bytes begin
};

RecordedGraph::RecordedGraph(const RecordedCapture& capture, const RecordedCapture* second,
                             std::span<const std::uint64_t> values,
                             std::vector<std::shared_ptr<void>> kept)
    : definition_(capture.definition) {
  if (graph_api().cuKernelGetParamInfo == nullptr) {
    driver::throw_missing_symbol("cuKernelGetParamInfo", 12040);
  }
  {
    Scan scan(capture);
    scan.write_values(values);
    if (second != nullptr) {
      Scan other(*second);
      other.write_values(values);
      scan.require_same(other);
    }
    node_count_ = scan.finish(nodes_, patches_);
    const GraphCall& call = scan.call();
    for (Node& node : nodes_) {
      call.check(call.api().cuGraphNodeSetParams(node.node, &node.params), "cuGraphNodeSetParams");
    }
  }
  graph_ = definition_.instantiate();
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  owner::ExecutableBox& box = *graph_.box();
  box.uses.push_back(std::make_shared<owner::Kept>());
  box.uses.back()->shares = std::move(kept);
}

bool RecordedGraph::has_foreign_kernels(const GraphDefinition& definition,
                                        std::span<const CapturedLaunch> launches) {
  const GraphCall call(definition.box());
  const std::vector<CUgraphNode> nodes = list_nodes(call);
  const auto kernels = std::count_if(nodes.begin(), nodes.end(), [&](CUgraphNode node) {
    return Scan::type_of(call, node) == CU_GRAPH_NODE_TYPE_KERNEL;
  });
  return static_cast<std::size_t>(kernels) != launches.size();
}

/// Writes a node's values; returns whether any of them changed.
bool RecordedGraph::write(const Node& node, std::span<const Patch> patches,
                          std::span<const std::uint64_t> values) noexcept {
  std::uint64_t changes = 0;
  for (std::size_t i = node.patches_begin; i < node.patches_end; ++i) {
    const Patch& one = patches[i];
    const std::uint64_t value = values[one.value_index] + one.offset;
    std::uint64_t before = 0;
    std::memcpy(&before, one.target, word_size);
    changes |= before ^ value;
    std::memcpy(one.target, &value, word_size);
  }
  return changes != 0;
}

CUresult RecordedGraph::update(const driver::DriverApi& api, CUgraphExec executable,
                               Node& node) noexcept {
  return node.params.type == CU_GRAPH_NODE_TYPE_KERNEL
             ? api.cuGraphExecKernelNodeSetParams(executable, node.node, &node.kernel)
             : api.cuGraphExecNodeSetParams(executable, node.node, &node.params);
}

void RecordedGraph::launch(const Stream& stream, std::span<const std::uint64_t> values) {
  owner::ExecutableBox& box = *graph_.box();
  const owner::StreamBox& queue = require_open(stream.box(), "Stream");
  const StreamCall call(queue);
  std::unique_lock lock(box.mutex);
  if (is_broken_) throw_invalid("the recording was given up, because an update of it failed");
  for (Node& node : nodes_) {
    if (!write(node, patches_, values)) continue;
    const CUresult result = update(call.api(), box.executable, node);
    if (result != CUDA_SUCCESS) [[unlikely]] {
      is_broken_ = true;
      const bool is_kernel = node.params.type == CU_GRAPH_NODE_TYPE_KERNEL;
      call.check(result, is_kernel ? "cuGraphExecKernelNodeSetParams" : "cuGraphExecNodeSetParams",
                 [&] {
                   return std::string(box.interned_name) + " on " + owner::describe_stream(queue) +
                          ", a " + kind_name(node.params.type) + " node";
                 });
    }
  }
  std::shared_ptr<owner::Kept> kept = launch_held(box, call, stream);
  lock.unlock();
  keep_launched(stream, std::move(kept));
}

}  // namespace cudacore
