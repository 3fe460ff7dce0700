// SPDX-License-Identifier: Apache-2.0
#include "cudacore/external_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/external_semaphore.hpp"
#include "cudacore/multicast.hpp"
#include "fake_driver.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::FakeDriver;
using testing::message_of;

/// What the driver was given, and what it returns.
struct Seen {
  CUresult result = CUDA_SUCCESS;
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory{};
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore{};
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
  unsigned long long signaled = 0;
  unsigned long long awaited = 0;
  int memories = 0;
  std::atomic<int> semaphores{0};
  int mapped = 0;
};
Seen seen;

/// The driver owns the file once it has imported something.
CUresult import_memory(CUexternalMemory* memory,
                       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  if (seen.result != CUDA_SUCCESS) return seen.result;
  seen.memory = *description;
  *memory = reinterpret_cast<CUexternalMemory>(0x100);
  ++seen.memories;
  return close(description->handle.fd) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
CUresult map_part(CUdeviceptr* pointer, CUexternalMemory /*memory*/,
                  const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  if (seen.result != CUDA_SUCCESS) return seen.result;
  seen.part = *description;
  *pointer = 0x7000 + description->offset;
  ++seen.mapped;
  return CUDA_SUCCESS;
}
CUresult unmap(CUdeviceptr /*pointer*/) {
  EXPECT_EQ(seen.memories, 1) << "memory ends after what was mapped from it";
  --seen.mapped;
  return CUDA_SUCCESS;
}
CUresult end_memory(CUexternalMemory /*memory*/) {
  EXPECT_EQ(seen.mapped, 0);
  --seen.memories;
  return CUDA_SUCCESS;
}
CUresult import_semaphore(CUexternalSemaphore* semaphore,
                          const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  if (seen.result != CUDA_SUCCESS) return seen.result;
  seen.semaphore = *description;
  *semaphore = reinterpret_cast<CUexternalSemaphore>(0x200);
  ++seen.semaphores;
  return close(description->handle.fd) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
CUresult signal(const CUexternalSemaphore* /*semaphore*/,
                const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                CUstream /*stream*/) {
  EXPECT_EQ(count, 1U);
  seen.signaled = parameters->params.fence.value;
  return seen.result;
}
CUresult wait(const CUexternalSemaphore* /*semaphore*/,
              const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
              CUstream /*stream*/) {
  EXPECT_EQ(count, 1U);
  seen.awaited = parameters->params.fence.value;
  return seen.result;
}
CUresult end_semaphore(CUexternalSemaphore /*semaphore*/) {
  --seen.semaphores;
  return CUDA_SUCCESS;
}

class External : public ::testing::Test {
 protected:
  void SetUp() override {
    seen.result = CUDA_SUCCESS;
    driver::DriverApi& table = fake.table();
    free_before = table.cuMemFree;
    table.cuImportExternalMemory = &import_memory;
    table.cuExternalMemoryGetMappedBuffer = &map_part;
    table.cuMemFree = &unmap;
    table.cuDestroyExternalMemory = &end_memory;
    table.cuImportExternalSemaphore = &import_semaphore;
    table.cuSignalExternalSemaphoresAsync = &signal;
    table.cuWaitExternalSemaphoresAsync = &wait;
    table.cuDestroyExternalSemaphore = &end_semaphore;
    Device(0).set_current();
    file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
  }
  void TearDown() override {
    fake.table().cuMemFree = free_before;
    EXPECT_EQ(close(file), 0) << "the file is still the caller's";
    EXPECT_EQ(seen.memories, 0);
    EXPECT_EQ(seen.semaphores, 0);
  }
  /// The lowest number that a new file gets: it grows if a file is leaked.
  static int next_file() {
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(close(next), 0);
    return next;
  }

  FakeDriver& fake = FakeDriver::fresh();
  decltype(driver::DriverApi::cuMemFree) free_before = nullptr;
  int file = -1;
};

TEST_F(External, MemoryIsImportedAndMapped) {
  const int next = next_file();
  auto memory = ExternalMemory::from_fd(file, 4096, true);
  EXPECT_EQ(next_file(), next);
  EXPECT_EQ(seen.memory.type, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);
  EXPECT_EQ(seen.memory.size, 4096U);
  EXPECT_EQ(seen.memory.flags, unsigned{CUDA_EXTERNAL_MEMORY_DEDICATED});
  EXPECT_NE(seen.memory.handle.fd, file);
  EXPECT_EQ(memory.size(), 4096U);
  EXPECT_EQ(memory.device(), Device(0));
  Buffer part = memory.map_buffer(1024, 3072);
  EXPECT_EQ(seen.part.offset, 1024U);
  EXPECT_EQ(seen.part.size, 3072U);
  EXPECT_EQ(part.handle(), 0x7400U);
  EXPECT_EQ(part.size(), 3072U);
  memory.close();
  EXPECT_EQ(seen.memories, 1) << "the buffer keeps the import";
  EXPECT_THROW((void)memory.size(), std::invalid_argument);
  part.close();
  EXPECT_EQ(seen.mapped, 0);
}

TEST_F(External, PartsLieInside) {
  const auto memory = ExternalMemory::from_fd(file, 4096);
  EXPECT_EQ(seen.memory.flags, 0U);
  EXPECT_THROW((void)memory.map_buffer(4097, 0), std::out_of_range);
  EXPECT_THROW((void)memory.map_buffer(1, 4096), std::out_of_range);
  EXPECT_THROW((void)memory.map_buffer(1, ~std::size_t{0}), std::out_of_range);
  EXPECT_THROW((void)memory.map_buffer(0, 0), std::invalid_argument);
  seen.result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_TRUE(contains(message_of<Error>([&] { (void)memory.map_buffer(8, 16); }),
                       "cuExternalMemoryGetMappedBuffer"));
}

TEST_F(External, AFailedImportLeavesTheFileAlone) {
  const int next = next_file();
  seen.result = CUDA_ERROR_INVALID_HANDLE;
  EXPECT_TRUE(contains(message_of<Error>([&] { (void)ExternalMemory::from_fd(file, 1); }),
                       "cuImportExternalMemory"));
  EXPECT_TRUE(contains(message_of<Error>([&] { (void)ExternalSemaphore::from_fd(file); }),
                       "cuImportExternalSemaphore"));
  EXPECT_EQ(next_file(), next);
}

TEST_F(External, WhatIsNoFileReachesNoDriver) {
  EXPECT_THROW((void)ExternalMemory::from_fd(-1, 1), std::invalid_argument);
  EXPECT_THROW((void)ExternalMemory::from_fd(next_file(), 1), std::invalid_argument);
  EXPECT_THROW((void)ExternalMemory::from_fd(file, 0), std::invalid_argument);
  EXPECT_THROW((void)ExternalSemaphore::from_fd(-1), std::invalid_argument);
  EXPECT_EQ(seen.memories, 0);
}

TEST_F(External, SemaphoresAreSignaledAndAwaited) {
  const auto semaphore = ExternalSemaphore::from_fd(file);
  EXPECT_EQ(seen.semaphore.type, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
  EXPECT_FALSE(semaphore.is_timeline());
  const Stream stream;
  semaphore.signal(stream);
  semaphore.wait(stream);
  EXPECT_THROW(semaphore.signal(stream, 1), std::invalid_argument);
  EXPECT_THROW(semaphore.wait(stream, 1), std::invalid_argument);
  seen.result = CUDA_ERROR_INVALID_HANDLE;
  EXPECT_TRUE(contains(message_of<Error>([&] { semaphore.signal(stream); }),
                       "cuSignalExternalSemaphoresAsync"));
  EXPECT_TRUE(contains(message_of<Error>([&] { semaphore.wait(stream); }),
                       "cuWaitExternalSemaphoresAsync"));
}

TEST_F(External, TimelinesNeedADeviceThatHasThem) {
  EXPECT_TRUE(
      contains(message_of<NotSupportedError>([&] { (void)ExternalSemaphore::from_fd(file, true); }),
               "timeline_semaphore_interop_supported"));
}

TEST_F(External, ASemaphoreOutlivesItsWork) {
  auto semaphore = ExternalSemaphore::from_fd(file);
  const Stream stream;
  semaphore.wait(stream);
  semaphore.close();  // the event behind the wait has been reached: it ends at once
  EXPECT_EQ(seen.semaphores, 0);
}

TEST_F(External, ASemaphoreThatIsWaitedForEndsLater) {
  auto semaphore = ExternalSemaphore::from_fd(file);
  const Stream stream;
  semaphore.wait(stream);
  fake.queries_until_ready = 1;
  semaphore.close();
  for (int i = 0; i < 1000 && seen.semaphores != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(seen.semaphores, 0);
}

TEST_F(External, CapturedStreamsAreRefused) {
  const auto semaphore = ExternalSemaphore::from_fd(file);
  const Stream stream;
  fake.captured = stream.handle();
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { semaphore.wait(stream); }),
                       "being captured"));
  fake.captured = nullptr;
}

TEST_F(External, MulticastIsAskedOnlyWhereThereIsAny) {
  fake.table().cuMulticastGetGranularity = [](std::size_t* /*granularity*/,
                                              const CUmulticastObjectProp* /*properties*/,
                                              CUmulticastGranularity_flags /*option*/) {
    ADD_FAILURE() << "the device has none";
    return CUDA_ERROR_NOT_SUPPORTED;
  };
  EXPECT_THROW((void)multicast_granularity(Device(0), 2), NotSupportedError);
  EXPECT_THROW((void)multicast_granularity(Device(0), 0), std::invalid_argument);
}

}  // namespace
}  // namespace cudacore
