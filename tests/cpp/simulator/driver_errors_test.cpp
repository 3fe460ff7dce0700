// SPDX-License-Identifier: Apache-2.0
//
// Error names, the error log, cuGetProcAddress, and what is not simulated.
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "driver_test_support.hpp"
#include "simulator/api/proc_address.hpp"
#include "simulator/api/system/logs.hpp"

namespace cudacore::simulator {
namespace {

class DriverErrors : public DriverTest {};

void* find(const char* name, int version, cuuint64_t flags = 0,
           CUdriverProcAddressQueryResult expected = CU_GET_PROC_ADDRESS_SUCCESS) {
  void* address = &address;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(cuGetProcAddress_v2(name, &address, version, flags, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, expected) << name;
  return address;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

TEST(DriverErrorNames, AllHaveNameAndText) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(77), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cuGetErrorName(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverProcAddress, VersionsChooseTheForm) {
  EXPECT_EQ(find("cuMemAlloc", 3020), address_of(cuMemAlloc_v2));
  EXPECT_EQ(find("cuMemAlloc", 13000), address_of(cuMemAlloc_v2));
  EXPECT_EQ(find("cuCtxCreate", 3020), address_of(cuCtxCreate_v2));
  EXPECT_EQ(find("cuCtxCreate", 11040), address_of(cuCtxCreate_v3));
  EXPECT_EQ(find("cuCtxCreate", 13000), address_of(cuCtxCreate_v4));
  EXPECT_EQ(find("cuEventElapsedTime", 12070), address_of(cuEventElapsedTime));
  EXPECT_EQ(find("cuEventElapsedTime", 12080), address_of(cuEventElapsedTime_v2));
  EXPECT_EQ(find("cuGetProcAddress", 11030), address_of(cuGetProcAddress));
  EXPECT_EQ(find("cuGetProcAddress", 12000), address_of(cuGetProcAddress_v2));
  EXPECT_EQ(find("cuGetProcAddress", 99000), address_of(cuGetProcAddress_v2));
}

TEST(DriverProcAddress, DefaultStreams) {
  constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_EQ(find("cuLaunchKernel", 13000), address_of(cuLaunchKernel));
  EXPECT_EQ(find("cuLaunchKernel", 13000, per_thread), address_of(cuLaunchKernel_ptsz));
  EXPECT_EQ(find("cuMemcpyHtoD", 13000, per_thread), address_of(cuMemcpyHtoD_v2_ptds));
  EXPECT_EQ(find("cuInit", 13000, per_thread), address_of(cuInit));
}

TEST(DriverProcAddress, WhatIsNotThere) {
  EXPECT_EQ(find("cuNothing", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr);
  EXPECT_EQ(find("cuMemAlloc_v2", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr);
  EXPECT_EQ(find("", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr);
  EXPECT_EQ(find("cuMemAllocAsync", 10000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT), nullptr);
  void* address = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &address, 13000, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2(nullptr, &address, 13000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", nullptr, 13000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverProcAddress, EveryFunctionIsThere) {
  EXPECT_GE(symbols().size(), 500U);
  for (const Symbol& symbol : symbols()) {
    EXPECT_NE(symbol.legacy, nullptr) << symbol.name;
    EXPECT_EQ(find(symbol.name, symbol.since), symbol.legacy) << symbol.name;
  }
}

TEST_F(DriverErrors, WhatIsNotSimulatedSaysSo) {
  EXPECT_EQ(cuCtxRecordEvent(context, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  const void* table = nullptr;
  const CUuuid id{};
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST(DriverLogs, EntriesAreReadFromWhereOneIs) {
  CUlogIterator place = 0;
  std::array<char, 1024> text{};
  std::size_t size = text.size();
  ASSERT_EQ(cuLogsCurrent(&place, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuLogsDumpToMemory(&place, text.data(), &size, 0), CUDA_SUCCESS);
  EXPECT_EQ(size, 0U);
  log_error("first\nline");
  log_warning("second");
  size = text.size();
  EXPECT_EQ(cuLogsDumpToMemory(&place, text.data(), &size, 0), CUDA_SUCCESS);
  const std::string log(text.data(), size);
  EXPECT_NE(log.find("][CUDA][E] first line\n["), std::string::npos) << log;
  EXPECT_NE(log.find("][CUDA][W] second\n"), std::string::npos) << log;
  size = text.size();
  EXPECT_EQ(cuLogsDumpToMemory(&place, text.data(), &size, 0), CUDA_SUCCESS);
  EXPECT_EQ(size, 0U);
}

TEST(DriverLogs, TheNewestStay) {
  for (int i = 0; i < 150; ++i) log_error("entry " + std::to_string(i) + ".");
  std::array<char, 25600> text{};
  std::size_t size = text.size();
  ASSERT_EQ(cuLogsDumpToMemory(nullptr, text.data(), &size, 0), CUDA_SUCCESS);
  const std::string log(text.data(), size);
  EXPECT_EQ(log.find("entry 49."), std::string::npos);
  EXPECT_NE(log.find("entry 50."), std::string::npos);
  EXPECT_NE(log.find("entry 149."), std::string::npos);
  EXPECT_TRUE(log.starts_with("Log truncated")) << log.substr(0, 80);
  size = 200;
  ASSERT_EQ(cuLogsDumpToMemory(nullptr, text.data(), &size, 0), CUDA_SUCCESS);
  EXPECT_LE(size, 199U);
  EXPECT_NE(std::string(text.data(), size).find("entry 149."), std::string::npos);
  size = 10;
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, text.data(), &size, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(size, 0U);
}

TEST(DriverLogs, CallbacksAndFiles) {
  static std::string heard;
  heard.clear();
  CUlogsCallbackHandle handle = nullptr;
  const auto hear = [](void*, CUlogLevel level, char* message, std::size_t length) {
    if (level == CU_LOG_LEVEL_ERROR) heard.append(message, length);
  };
  CUlogIterator place = 0;
  ASSERT_EQ(cuLogsCurrent(&place, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLogsRegisterCallback(hear, nullptr, &handle), CUDA_SUCCESS);
  log_error("said");
  EXPECT_EQ(cuLogsUnregisterCallback(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
  log_error("unheard");
  EXPECT_NE(heard.find("said"), std::string::npos);
  EXPECT_EQ(heard.find("unheard"), std::string::npos);
  const std::string path = testing::TempDir() + "driver_log.txt";
  ASSERT_EQ(cuLogsDumpToFile(&place, path.c_str(), 0), CUDA_SUCCESS);
  std::ifstream file(path);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(content.find("unheard"), std::string::npos);
  std::remove(path.c_str());
}

TEST(DriverHandles, AreToldApart) {
  // Tables never free their memory: old handles must stay readable.
  static HandleTable<CUstream, int> table{12};
  const CUstream first = table.insert(std::make_shared<int>(1));
  const CUstream second = table.insert(std::make_shared<int>(2));
  EXPECT_NE(first, second);
  EXPECT_EQ(*table.find(first), 1);
  EXPECT_EQ(*table.erase(first), 1);
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_EQ(table.erase(first), nullptr);
  EXPECT_TRUE(table.is_known(first));
  EXPECT_TRUE(table.is_known(second));
  EXPECT_FALSE(table.is_known(nullptr));
  EXPECT_FALSE(table.is_known(reinterpret_cast<CUstream>(&table)));
}

TEST(DriverHandles, AnOldHandleStaysWrong) {
  // Tables never free their memory: old handles must stay readable.
  static HandleTable<CUstream, int> table{12};
  const CUstream old = table.insert(std::make_shared<int>(0));
  (void)table.erase(old);
  for (int i = 0; i < 100000; ++i) {
    const CUstream handle = table.insert(std::make_shared<int>(i));
    ASSERT_NE(handle, old);
    ASSERT_EQ(*table.erase(handle), i);
  }
  EXPECT_EQ(table.find(old), nullptr);
}

TEST(DriverHandles, ManyThreads) {
  // Tables never free their memory: old handles must stay readable.
  static HandleTable<CUstream, int> table{12};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5000; ++i) {
        const CUstream handle = table.insert(std::make_shared<int>(i));
        const auto found = table.find(handle);
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(*found, i);
        EXPECT_NE(table.erase(handle), nullptr);
        EXPECT_EQ(table.find(handle), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cudacore::simulator
