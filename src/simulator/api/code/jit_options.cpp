// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

namespace {

/// The last option in CUDA 13.0: the header used for this build may have more.
constexpr int last_option = 34;

std::size_t as_size(void* value) noexcept {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

void store_size(void** value, std::size_t size) noexcept {
  *value = reinterpret_cast<void*>(static_cast<std::uintptr_t>(size));
}

}  // namespace

void JitOptions::LogBuffer::add(std::string_view message) noexcept {
  if (text == nullptr || capacity == 0) return;
  const std::size_t begin = used > 0 ? used - 1 : 0;  // overwrites the null byte
  const std::size_t size = std::min(message.size(), capacity - 1 - begin);
  std::memcpy(text + begin, message.data(), size);
  std::size_t end = begin + size;
  if (end < capacity - 1) text[end++] = '\n';
  text[end] = '\0';
  used = end + 1;
}

void JitOptions::LogBuffer::finish() const noexcept {
  if (text != nullptr && capacity != 0 && used == 0) *text = '\0';
  if (size_value != nullptr) store_size(size_value, used);
}

CUresult JitOptions::read(unsigned count, const CUjit_option* options, void** values) {
  if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (const CUresult result = read_option(options[i], values + i); result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult JitOptions::read_option(CUjit_option option, void** value) {
  switch (option) {
    case CU_JIT_INFO_LOG_BUFFER:
      info_.text = static_cast<char*>(*value);
      return CUDA_SUCCESS;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      info_.capacity = as_size(*value);
      info_.size_value = value;
      return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER:
      error_.text = static_cast<char*>(*value);
      return CUDA_SUCCESS;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      error_.capacity = as_size(*value);
      error_.size_value = value;
      return CUDA_SUCCESS;
    case CU_JIT_WALL_TIME:
      wall_time_ = value;
      return CUDA_SUCCESS;
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
    case CU_JIT_REFERENCED_KERNEL_COUNT:
    case CU_JIT_REFERENCED_VARIABLE_COUNT:
      if (as_size(*value) == 0) return CUDA_SUCCESS;
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "JIT options that bind or select symbols are not simulated");
    default:
      break;
  }
  if (static_cast<int>(option) < 0 || static_cast<int>(option) > last_option) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "there is no JIT option " + std::to_string(static_cast<int>(option)));
  }
  return CUDA_SUCCESS;
}

void JitOptions::add_error(std::string_view message) noexcept { error_.add(message); }

void JitOptions::finish() noexcept {
  info_.finish();
  error_.finish();
  if (wall_time_ != nullptr) {
    const std::chrono::duration<float, std::milli> time = std::chrono::steady_clock::now() - begin_;
    const float milliseconds = time.count();
    std::memcpy(wall_time_, &milliseconds, sizeof(milliseconds));
  }
}

}  // namespace cudacore::simulator
