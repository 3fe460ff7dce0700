// SPDX-License-Identifier: Apache-2.0
#include "runtime/recorded_graph.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "runtime/graph_work.hpp"

namespace cudacore {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);

[[noreturn]] void refuse_use(const std::string& what) {
  throw NotSupportedError("an argument's memory is used by " + what +
                          ", where a recording cannot replace it");
}

}  // namespace

/// Looks for the stand-ins in a captured graph.
class RecordedGraph::Scan {
 public:
  Scan(RecordedGraph& recorded, const GraphCall& call, std::span<const StandInRange> stand_ins,
       std::span<const CapturedLaunch> launches)
      : recorded_(&recorded), call_(&call), stand_ins_(stand_ins) {
    for (const CapturedLaunch& launch : launches) launches_.emplace(launch.node, &launch);
  }

  void scan() {
    const std::vector<CUgraphNode> nodes = all_nodes();
    recorded_->node_count_ = nodes.size();
    for (CUgraphNode node : nodes) {
      Node scanned;
      scanned.node = node;
      scanned.params.type = type_of(node);
      const std::size_t before = recorded_->patches_.size();
      scan(scanned);
      scanned.patches_end = recorded_->patches_.size();
      if (scanned.patches_end == before) continue;
      // The places of a copy or a fill lie in the node itself: they move with it.
      recorded_->nodes_.push_back(std::move(scanned));
    }
    place_patches();
  }

 private:
  std::vector<CUgraphNode> all_nodes() const {
    std::size_t count = 0;
    call_->check(call_->api().cuGraphGetNodes(call_->graph(), nullptr, &count), "cuGraphGetNodes");
    std::vector<CUgraphNode> nodes(count);
    if (count != 0) {
      call_->check(call_->api().cuGraphGetNodes(call_->graph(), nodes.data(), &count),
                   "cuGraphGetNodes");
    }
    return nodes;
  }

  CUgraphNodeType type_of(CUgraphNode node) const {
    CUgraphNodeType type{};
    call_->check(call_->api().cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
    return type;
  }

  const StandInRange* find(CUdeviceptr address) const noexcept {
    const auto found = std::find_if(
        stand_ins_.begin(), stand_ins_.end(),
        [&](const StandInRange& range) { return address >= range.begin && address < range.end; });
    return found == stand_ins_.end() ? nullptr : &*found;
  }

  void add(std::size_t offset, std::uint64_t addend, std::uint32_t value) {
    recorded_->patches_.push_back({.place = nullptr, .offset = addend, .value = value});
    offsets_.push_back(offset);
  }

  /// Notes the word at `offset` of `bytes` if it is an address of a stand-in.
  void look_at(const void* bytes, std::size_t offset) {
    std::uint64_t address = 0;
    std::memcpy(&address, static_cast<const unsigned char*>(bytes) + offset, word_size);
    if (const StandInRange* range = find(address)) {
      add(offset, address - range->address, range->value);
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
  const std::vector<std::size_t>& sizes_of(CUkernel kernel) {
    const auto [known, is_new] = sizes_.try_emplace(kernel);
    for (std::size_t i = 0; is_new; ++i) {
      std::size_t offset = 0;
      std::size_t size = 0;
      const CUresult result = call_->api().cuKernelGetParamInfo(kernel, i, &offset, &size);
      if (result == CUDA_ERROR_INVALID_VALUE) break;
      call_->check(result, "cuKernelGetParamInfo");
      known->second.push_back(size);
    }
    return known->second;
  }

  void scan_kernel(Node& node) {
    CUDA_KERNEL_NODE_PARAMS params{};
    call_->check(call_->api().cuGraphKernelNodeGetParams(node.node, &params),
                 "cuGraphKernelNodeGetParams");
    const auto launched = launches_.find(node.node);
    if (launched == launches_.end()) {
      throw NotSupportedError(
          "a recorded function launches kernels by cudacore alone: in those of other libraries, "
          "which arguments they use cannot be found out");
    }
    const CapturedLaunch& launch = *launched->second;
    const std::vector<std::size_t>& sizes = sizes_of(launch.kernel.box()->kernel);
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
      node.places.push_back(bytes + begins[i]);
      for (std::size_t at = 0; at + word_size <= sizes[i]; ++at) look_at(bytes, begins[i] + at);
    }
    for (const CapturedLaunch::Number& number : launch.numbers) {
      add(begins.at(number.parameter), 0, number.value);
    }
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
    set.kernelParams = node.places.data();
  }

  void scan_copy(Node& node) {
    CUDA_MEMCPY3D& params = node.params.memcpy.copyParams;
    call_->check(call_->api().cuGraphMemcpyNodeGetParams(node.node, &params),
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
    call_->check(call_->api().cuGraphMemsetNodeGetParams(node.node, &params),
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

  /// Now that no node moves any more.
  void place_patches() {
    std::size_t i = 0;
    for (Node& node : recorded_->nodes_) {
      auto* bytes = node.params.type == CU_GRAPH_NODE_TYPE_KERNEL
                        ? reinterpret_cast<unsigned char*>(node.bytes.data())
                        : reinterpret_cast<unsigned char*>(&node.params);
      for (; i < node.patches_end; ++i) {
        recorded_->patches_[i].place = bytes + offsets_[i];
      }
    }
  }

  RecordedGraph* recorded_;
  const GraphCall* call_;
  std::span<const StandInRange> stand_ins_;
  std::unordered_map<CUgraphNode, const CapturedLaunch*> launches_;
  std::unordered_map<CUkernel, std::vector<std::size_t>> sizes_;
  std::vector<std::size_t> offsets_;  ///< of each patch, from where its node's bytes begin
};

RecordedGraph::RecordedGraph(GraphDefinition definition, std::span<const StandInRange> stand_ins,
                             std::span<const CapturedLaunch> launches,
                             std::span<const std::uint64_t> values,
                             std::vector<std::shared_ptr<void>> kept)
    : definition_(std::move(definition)) {
  if (graph_api().cuKernelGetParamInfo == nullptr) {
    driver::throw_missing_symbol("cuKernelGetParamInfo", 12040);
  }
  {
    const GraphCall call(definition_.box());
    Scan(*this, call, stand_ins, launches).scan();
    std::size_t patch = 0;
    for (Node& node : nodes_) {
      write(node, patch, values);
      call.check(call.api().cuGraphNodeSetParams(node.node, &node.params), "cuGraphNodeSetParams");
    }
  }
  graph_ = definition_.instantiate();
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  owner::ExecutableBox& box = *graph_.box();
  box.outdated.push_back(std::make_shared<owner::Kept>());
  box.outdated.back()->shares = std::move(kept);
  box.last_launch = make_event(box.context, EventOptions{}, true);
}

/// Writes a node's values; returns whether any of them changed.
bool RecordedGraph::write(Node& node, std::size_t& patch,
                          std::span<const std::uint64_t> values) noexcept {
  std::uint64_t changes = 0;
  for (; patch < node.patches_end; ++patch) {
    const Patch& one = patches_[patch];
    const std::uint64_t value = values[one.value] + one.offset;
    std::uint64_t before = 0;
    std::memcpy(&before, one.place, word_size);
    changes |= before ^ value;
    std::memcpy(one.place, &value, word_size);
  }
  return changes != 0;
}

void RecordedGraph::launch(const Stream& stream, std::span<const std::uint64_t> values) {
  owner::ExecutableBox& box = *graph_.box();
  const owner::StreamBox& queue = require_open(stream.box(), "Stream");
  const StreamCall call(queue);
  const auto describe = [&] {
    return std::string(box.interned_name) + " on " + owner::describe_stream(queue);
  };
  const std::scoped_lock lock(box.mutex);
  if (is_broken_) throw_invalid("the recording was given up, because an update of it failed");
  std::size_t patch = 0;
  for (Node& node : nodes_) {
    if (!write(node, patch, values)) continue;
    const CUresult result =
        call.api().cuGraphExecNodeSetParams(box.executable, node.node, &node.params);
    if (result != CUDA_SUCCESS) [[unlikely]] {
      is_broken_ = true;
      call.check(result, "cuGraphExecNodeSetParams",
                 [&] { return describe() + ", a " + kind_name(node.params.type) + " node"; });
    }
  }
  call.check(call.api().cuGraphLaunch(box.executable, call.stream()), "cuGraphLaunch", describe);
  call.context()->history.add(box.interned_name, call.stream());
  owner::EventBox& event = *box.last_launch;
  call.check(call.api().cuEventRecord(event.event, call.stream()), "cuEventRecord");
  event.recorded.store(true, std::memory_order_relaxed);
  event.in_flight.store(true, std::memory_order_release);
}

}  // namespace cudacore
