// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "simulator/api/entry.hpp"
#include "simulator/api/not_simulated.hpp"

namespace cudacore::simulator {

namespace {

struct ErrorText {
  int value;
  const char* name;
  const char* text;
};

constexpr std::array error_texts{
#define CUDACORE_SIMULATOR_ERROR(value, name, text) ErrorText{value, name, text},
#include "simulator/api/system/errors.def"
#undef CUDACORE_SIMULATOR_ERROR
};

const ErrorText* find_text(CUresult error) noexcept {
  const auto* found = std::ranges::find(error_texts, static_cast<int>(error), &ErrorText::value);
  return found != error_texts.end() ? found : nullptr;
}

}  // namespace

CUresult result_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::system_error& error) {
    return refuse(CUDA_ERROR_OPERATING_SYSTEM, error.what());
  } catch (const std::exception& error) {
    return refuse(CUDA_ERROR_UNKNOWN, error.what());
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

int refuse_not_simulated(const char* function, std::atomic<bool>& is_said) noexcept {
  if (const CUresult status = driver_status(); status != CUDA_SUCCESS) return status;
  if (!is_said.exchange(true, std::memory_order_relaxed)) {
    try {
      log_error(std::string(function) + " is not simulated");
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the code says it
    }
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cudacore::simulator

using cudacore::simulator::find_text;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = find_text(error);
  *name = found != nullptr ? found->name : nullptr;
  return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = find_text(error);
  *text = found != nullptr ? found->text : nullptr;
  return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
