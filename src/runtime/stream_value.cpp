// SPDX-License-Identifier: Apache-2.0
#include "cudacore/stream_value.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

[[noreturn]] void refuse_word(const char* function, const std::string& why) {
  throw std::invalid_argument(std::string(function) + ": " + why);
}

/// The address of a word, once it and the value are known to be right.
CUdeviceptr word_address(const char* function, const StreamWord& word, std::uint64_t value) {
  if (word.size != 4 && word.size != 8) {
    refuse_word(function, "a word has 4 or 8 bytes, not " + std::to_string(word.size));
  }
  if (word.size == 4 && value >> 32U != 0) {
    throw std::overflow_error(std::string(function) + ": the value " + std::to_string(value) +
                              " does not fit a word of 4 bytes");
  }
  CUdeviceptr address = word.offset;
  if (const owner::BufferBox* box = word.buffer.box().get()) {
    box->throw_if_stale();
    if (word.offset > box->size || word.size > box->size - word.offset) {
      throw std::out_of_range(std::string(function) + ": a word of " + std::to_string(word.size) +
                              " bytes at offset " + std::to_string(word.offset) +
                              " reaches past the end of a buffer of " + std::to_string(box->size) +
                              " bytes");
    }
    address = box->pointer + word.offset;
  }
  if (address == 0) refuse_word(function, "the address is null");
  if (address % word.size != 0) {
    refuse_word(function, "a word of " + std::to_string(word.size) +
                              " bytes must be aligned to them, which " +
                              error::format_address(address) + " is not");
  }
  return address;
}

void require_property(const char* function, const ContextCall& call, CUdevice_attribute attribute,
                      const char* name) {
  const Device device = Device::from_known_ordinal(call.context()->device);
  if (device.attribute(attribute) != 0) return;
  throw NotSupportedError(std::string(function) + ": " + error::describe_device(device.id()) +
                          " can't do this: its property " + name + " is false");
}

void check_word(const StreamCall& call, const Stream& stream, CUdeviceptr address,
                const char* function, CUresult result) {
  call.check(result, function, [&] {
    return owner::describe_stream(*stream.box()) + ", a word at " + error::format_address(address) +
           (result == CUDA_ERROR_INVALID_VALUE
                ? ", which a driver may refuse in memory of a stream-ordered pool: take the word "
                  "from a SynchronousMemoryResource, a VirtualMemoryResource or a "
                  "LegacyPinnedMemoryResource"
                : "");
  });
}

void require_width(const char* function, const ContextCall& call, const StreamWord& word) {
  if (word.size == 4) return;
  require_property(function, call, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
                   "can_use_64_bit_stream_mem_ops");
}

unsigned flag_of(WaitCondition condition) {
  switch (condition) {
    case WaitCondition::equal:
      return CU_STREAM_WAIT_VALUE_EQ;
    case WaitCondition::any_bit:
      return CU_STREAM_WAIT_VALUE_AND;
    case WaitCondition::nor:
      return CU_STREAM_WAIT_VALUE_NOR;
    case WaitCondition::greater_or_equal:
      break;
  }
  return CU_STREAM_WAIT_VALUE_GEQ;
}

}  // namespace

StreamWord StreamWord::in(Buffer buffer, std::size_t offset, std::size_t size) {
  (void)require_open(buffer.box(), "Buffer");
  return {std::move(buffer), offset, size};
}

StreamWord StreamWord::at(CUdeviceptr address, std::size_t size) {
  return {Buffer(nullptr), address, size};
}

void write_value(const Stream& stream, const StreamWord& word, std::uint64_t value) {
  constexpr const char* function = "write_value";
  const CUdeviceptr address = word_address(function, word, value);
  const StreamCall call(require_open(stream.box(), "Stream"));
  require_width(function, call, word);
  constexpr unsigned flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  if (word.size == 4) {
    check_word(call, stream, address, "cuStreamWriteValue32",
               call.api().cuStreamWriteValue32(call.stream(), address,
                                               static_cast<cuuint32_t>(value), flags));
  } else {
    check_word(call, stream, address, "cuStreamWriteValue64",
               call.api().cuStreamWriteValue64(call.stream(), address, value, flags));
  }
  keep_if_captured(stream, {word.buffer});
}

void wait_value(const Stream& stream, const StreamWord& word, std::uint64_t value,
                WaitCondition condition, bool flush) {
  constexpr const char* function = "wait_value";
  const CUdeviceptr address = word_address(function, word, value);
  const StreamCall call(require_open(stream.box(), "Stream"));
  require_width(function, call, word);
  if (condition == WaitCondition::nor) {
    require_property(function, call, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
                     "can_use_stream_wait_value_nor");
  }
  if (flush) {
    require_property(function, call, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES,
                     "can_flush_remote_writes");
  }
  const unsigned flags =
      flag_of(condition) | (flush ? static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH) : 0U);
  if (word.size == 4) {
    check_word(call, stream, address, "cuStreamWaitValue32",
               call.api().cuStreamWaitValue32(call.stream(), address,
                                              static_cast<cuuint32_t>(value), flags));
  } else {
    check_word(call, stream, address, "cuStreamWaitValue64",
               call.api().cuStreamWaitValue64(call.stream(), address, value, flags));
  }
  keep_if_captured(stream, {word.buffer});
}

}  // namespace cudacore
