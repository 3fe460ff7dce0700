// SPDX-License-Identifier: Apache-2.0
//
// Streams that wait for words of memory, and write them.
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/memory/copy.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/values_action.hpp"

namespace cudacore::simulator {

namespace {

/// How many operations one call takes.
constexpr unsigned most_operations = 256;

template <class T>
std::atomic_ref<T> word_in(const Range& range) noexcept {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(range.bytes));
}

template <class T>
class WaitForValue final : public Work {
 public:
  WaitForValue(Range range, T value, unsigned flags)
      : range_(std::move(range)), value_(value), flags_(flags) {}

  /// Polled by a worker, because anything may write the word.
  std::size_t cost() const noexcept override { return holds() ? 0 : ~std::size_t{0} >> 1U; }
  Progress run(const Turn&) noexcept override {
    if (holds()) return Progress::done;
    std::this_thread::yield();
    return Progress::again;
  }

 private:
  [[nodiscard]] bool holds() const noexcept {
    const T word = word_in<T>(range_).load(std::memory_order_acquire);
    switch (flags_) {
      case CU_STREAM_WAIT_VALUE_GEQ:
        return static_cast<std::make_signed_t<T>>(word - value_) >= 0;
      case CU_STREAM_WAIT_VALUE_EQ:
        return word == value_;
      case CU_STREAM_WAIT_VALUE_AND:
        return (word & value_) != 0;
      default:
        return (word | value_) != ~T{0};
    }
  }

  Range range_;
  T value_;
  unsigned flags_;
};

template <class T>
class WriteValue final : public Work {
 public:
  WriteValue(Range range, T value) : range_(std::move(range)), value_(value) {}
  Progress run(const Turn&) noexcept override {
    word_in<T>(range_).store(value_, std::memory_order_release);
    return Progress::done;
  }

 private:
  Range range_;
  T value_;
};

/// The word at an address that devices can access; nothing if there is none, with the reason in the
/// log.
template <class T>
std::optional<Range> find_word(CUdeviceptr address, decltype(&find_range) find) {
  if (address % sizeof(T) == 0) return find(address, sizeof(T), Side::device);
  log_error("the address is not one of an aligned word");
  return std::nullopt;
}

template <class T>
CUresult make_wait(CUdeviceptr address, T value, unsigned flags, std::unique_ptr<Work>& work) {
  if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "CU_STREAM_WAIT_VALUE_FLUSH is not simulated");
  }
  if (flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  auto word = find_word<T>(address, &find_range);
  if (!word) return CUDA_ERROR_INVALID_VALUE;
  work = std::make_unique<WaitForValue<T>>(std::move(*word), value, flags);
  return CUDA_SUCCESS;
}

template <class T>
CUresult make_write(CUdeviceptr address, T value, unsigned flags, std::unique_ptr<Work>& work) {
  if (flags == CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) {
    return refuse(
        CUDA_ERROR_INVALID_VALUE,
        "CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is one of cuStreamWriteValue32 before 11.7");
  }
  if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  auto word = find_word<T>(address, &find_target);
  if (!word) return CUDA_ERROR_INVALID_VALUE;
  work = std::make_unique<WriteValue<T>>(std::move(*word), value);
  return CUDA_SUCCESS;
}

/// The work of an operation; null if there is nothing to do.
CUresult make_work(const CUstreamBatchMemOpParams& operation, std::unique_ptr<Work>& work) {
  const auto& wait = operation.waitValue;
  const auto& write = operation.writeValue;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return make_wait<cuuint32_t>(wait.address, wait.value, wait.flags, work);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return make_wait<cuuint64_t>(wait.address, wait.value64, wait.flags, work);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return make_write<cuuint32_t>(write.address, write.value, write.flags, work);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return make_write<cuuint64_t>(write.address, write.value64, write.flags, work);
    case CU_STREAM_MEM_OP_BARRIER:  // a stream's work is ordered, and visible to all, anyway
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_SUCCESS;
    default:
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "this operation of cuStreamBatchMemOp is not simulated");
  }
}

/// Operations in a graph.
class ValuesAction final : public GraphAction {
 public:
  using Operations = std::vector<CUstreamBatchMemOpParams>;

  ValuesAction(Operations operations, CUcontext context) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP),
        operations_(std::move(operations)),
        context_(context) {}

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.memOp.ctx = context_;
    parameters.memOp.count = static_cast<unsigned>(operations_.size());
    // NOLINTNEXTLINE: cuda.h has no const here
    parameters.memOp.paramArray = const_cast<CUstreamBatchMemOpParams*>(operations_.data());
  }
  CUresult start(GraphRun& run) const override {
    for (const CUstreamBatchMemOpParams& operation : operations_) {
      std::unique_ptr<Work> work;
      CUresult result = make_work(operation, work);
      if (result != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
      if (work != nullptr) result = run.enqueue(std::move(work));
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  }
  [[nodiscard]] CUgraphExecUpdateResult can_become(const GraphAction& next) const override {
    return static_cast<const ValuesAction&>(next).operations_.size() == operations_.size()
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }

 private:
  Operations operations_;
  CUcontext context_;
};

CUresult apply_all(CUstream handle, unsigned count, const CUstreamBatchMemOpParams* operations,
                   unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (stream->is_capturing()) {
      SharedAction action;
      const CUresult result = make_values_action(
          {stream->context.handle, count,
           const_cast<CUstreamBatchMemOpParams*>(operations),  // NOLINT: no const in cuda.h
           flags},
          action);
      return result == CUDA_SUCCESS ? capture(*stream, std::move(action)) : result;
    }
    if (flags != 0 || operations == nullptr || count > most_operations) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (const CUstreamBatchMemOpParams& operation : std::span(operations, count)) {
      std::unique_ptr<Work> work;
      CUresult result = make_work(operation, work);
      if (result == CUDA_SUCCESS && work != nullptr) result = stream->enqueue(std::move(work));
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

/// How the two widths of a value are passed.
void set(CUstreamBatchMemOpParams& operation, cuuint32_t value) {
  operation.waitValue.value = value;
}
void set(CUstreamBatchMemOpParams& operation, cuuint64_t value) {
  operation.waitValue.value64 = value;
}

/// The members of waitValue and writeValue are at the same places.
template <class T>
CUresult apply_one(CUstreamBatchMemOpType type, CUstream stream, CUdeviceptr address, T value,
                   unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = type;
  operation.waitValue.address = address;
  operation.waitValue.flags = flags;
  set(operation, value);
  return apply_all(stream, 1, &operation, 0);
}

}  // namespace

CUresult make_values_action(const CUDA_BATCH_MEM_OP_NODE_PARAMS& parameters, SharedAction& action) {
  if (parameters.flags != 0 || parameters.paramArray == nullptr || parameters.count == 0 ||
      parameters.count > most_operations) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::span operations(parameters.paramArray, parameters.count);
  for (const CUstreamBatchMemOpParams& operation : operations) {
    std::unique_ptr<Work> work;
    if (const CUresult result = make_work(operation, work); result != CUDA_SUCCESS) return result;
  }
  action = std::make_shared<ValuesAction>(
      ValuesAction::Operations(operations.begin(), operations.end()), parameters.ctx);
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

/// The first version of a function does the same as the second.
#define CUDACORE_SIMULATOR_FIRST_VERSION(name) [[gnu::alias(#name "_v2")]] decltype(name##_v2) name;
#define CUDACORE_SIMULATOR_VALUE_FUNCTION(name, Value, type)                              \
  CUresult name##_v2(CUstream stream, CUdeviceptr address, Value value, unsigned flags) { \
    return apply_one(type, stream, address, value, flags);                                \
  }                                                                                       \
  CUDACORE_SIMULATOR_FIRST_VERSION(name)

extern "C" {

CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWaitValue32, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWaitValue64, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWriteValue32, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWriteValue64, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return apply_all(stream, count, operations, flags);
}
CUDACORE_SIMULATOR_FIRST_VERSION(cuStreamBatchMemOp)

}  // extern "C"
