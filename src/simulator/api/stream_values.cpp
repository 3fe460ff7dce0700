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

#include "simulator/api/copy.hpp"
#include "simulator/api/stream.hpp"

namespace cudacore::simulator {

namespace {

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
std::optional<Range> find_word(CUdeviceptr address) {
  if (address % sizeof(T) == 0) return find_range(address, sizeof(T), Side::device);
  log_error("the address is not one of an aligned word");
  return std::nullopt;
}

template <class T>
CUresult wait_for_value(const Stream& stream, CUdeviceptr address, T value, unsigned flags) {
  if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "CU_STREAM_WAIT_VALUE_FLUSH is not simulated");
  }
  if (flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  auto word = find_word<T>(address);
  if (!word) return CUDA_ERROR_INVALID_VALUE;
  return stream.enqueue(std::make_unique<WaitForValue<T>>(std::move(*word), value, flags));
}

template <class T>
CUresult write_value(const Stream& stream, CUdeviceptr address, T value, unsigned flags) {
  if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) return CUDA_ERROR_INVALID_VALUE;
  auto word = find_word<T>(address);
  if (!word) return CUDA_ERROR_INVALID_VALUE;
  return stream.enqueue(std::make_unique<WriteValue<T>>(std::move(*word), value));
}

CUresult apply(const Stream& stream, const CUstreamBatchMemOpParams& operation) {
  const auto& wait = operation.waitValue;
  const auto& write = operation.writeValue;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_for_value<cuuint32_t>(stream, wait.address, wait.value, wait.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_for_value<cuuint64_t>(stream, wait.address, wait.value64, wait.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_value<cuuint32_t>(stream, write.address, write.value, write.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_value<cuuint64_t>(stream, write.address, write.value64, write.flags);
    case CU_STREAM_MEM_OP_BARRIER:  // a stream's work is ordered, and visible to all, anyway
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_SUCCESS;
    default:
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "this operation of cuStreamBatchMemOp is not simulated");
  }
}

CUresult apply_all(CUstream handle, unsigned count, const CUstreamBatchMemOpParams* operations,
                   unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    constexpr unsigned most = 256;
    if (flags != 0 || operations == nullptr || count > most) return CUDA_ERROR_INVALID_VALUE;
    for (const CUstreamBatchMemOpParams& operation : std::span(operations, count)) {
      if (const CUresult result = apply(*stream, operation); result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

template <class T>
CUresult wait_for(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return wait_for_value<T>(*stream, address, value, flags);
  });
}

template <class T>
CUresult write(CUstream handle, CUdeviceptr address, T value, unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return write_value<T>(*stream, address, value, flags);
  });
}

}  // namespace

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

/// The first version of a function does the same as the second.
#define CUDACORE_SIMULATOR_FIRST_VERSION(name) [[gnu::alias(#name "_v2")]] decltype(name##_v2) name;
#define CUDACORE_SIMULATOR_VALUE_FUNCTION(name, Value, function)                          \
  CUresult name##_v2(CUstream stream, CUdeviceptr address, Value value, unsigned flags) { \
    return function(stream, address, value, flags);                                       \
  }                                                                                       \
  CUDACORE_SIMULATOR_FIRST_VERSION(name)

extern "C" {

CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWaitValue32, cuuint32_t, wait_for)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWaitValue64, cuuint64_t, wait_for)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWriteValue32, cuuint32_t, write)
CUDACORE_SIMULATOR_VALUE_FUNCTION(cuStreamWriteValue64, cuuint64_t, write)

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return apply_all(stream, count, operations, flags);
}
CUDACORE_SIMULATOR_FIRST_VERSION(cuStreamBatchMemOp)

}  // extern "C"
