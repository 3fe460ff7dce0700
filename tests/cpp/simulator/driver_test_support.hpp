// SPDX-License-Identifier: Apache-2.0
//
// A context in which to call the driver's functions, and work that lasts until it is told to end.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "simulator/api/objects.hpp"

namespace cudacore::simulator {

/// A new context, current to the thread of the test.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS); }

  CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
  }
  CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, flags), CUDA_SUCCESS);
    return event;
  }
  /// Breaks it as a failing kernel would.
  void break_context(CUresult error) {
    registry().contexts.find(context)->fail(error, "broken by a test");
  }

  CUcontext context = nullptr;
};

/// The last line of the driver's log.
inline std::string newest_log() {
  std::array<char, 25600> text{};
  std::size_t size = text.size();
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, text.data(), &size, 0), CUDA_SUCCESS);
  std::string log(text.data(), size);
  if (!log.empty()) log.pop_back();
  return log.substr(log.rfind('\n') + 1);
}

/// How many file descriptors the process has.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

/// Blocks a stream until it is opened, or destroyed.
class Gate {
 public:
  explicit Gate(CUstream stream) {
    void* word = nullptr;
    EXPECT_EQ(cuMemAllocHost_v2(&word, sizeof(*word_)), CUDA_SUCCESS);
    word_ = static_cast<cuuint32_t*>(word);
    EXPECT_EQ(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1,
                                  CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  }
  // The word is not freed, because that would wait for all work. It is freed with the context.
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (word_ != nullptr) std::atomic_ref(*std::exchange(word_, nullptr)).store(1);
  }

 private:
  cuuint32_t* word_ = nullptr;
};

}  // namespace cudacore::simulator
