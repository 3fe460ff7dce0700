// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver_api.hpp"

namespace cudacore::testing {

/// The arguments of the last cuLaunchKernelEx.
struct FakeLaunch {
  CUlaunchConfig config{};
  std::vector<CUlaunchAttribute> attributes;
  CUfunction function = nullptr;
  std::vector<std::vector<unsigned char>> parameters;  ///< as many and as large as the kernel's
};

struct FakeKernel {
  std::string symbol = "kernel";
  int max_threads = 1024;
  int static_shmem = 0;
  int dynamic_shmem = 48 * 1024;
  std::vector<std::size_t> parameter_sizes{};
};

/// A driver that is a table of functions. They keep track of live handles, record every call, and
/// fail calls on request. Device 0 has all features; device 1 has no pools, clusters or cooperative
/// launches; both have the limits of an H200.
///
/// There is one per process, as with the real driver: contexts survive from test to test.
class FakeDriver {
 public:
  static constexpr int devices = 4;

  /// Installs the driver, checks that no handles are left, removes faults, and leaves no context
  /// current.
  static FakeDriver& fresh();
  static FakeDriver& get();

  [[nodiscard]] const driver::DriverApi& table() const { return table_; }
  [[nodiscard]] driver::DriverApi& table() { return table_; }

  /// Makes the k-th call from now on (counted from 1) fail, or every call from the k-th on.
  void fail_call(int k, CUresult code, bool sticky = false);
  /// Makes every call of a function fail; the name is the one in the driver's documentation.
  void fail_function(const std::string& name, CUresult code);
  void clear_faults();
  /// Whether a fault has occurred since fail_call() or fail_function().
  [[nodiscard]] bool fired() const;
  /// Where it occurred first.
  [[nodiscard]] std::string fired_function() const;

  /// Ends all contexts, like a reset of the simulated device: primary contexts are then created
  /// anew.
  void end_contexts();

  /// How many handles exist, not counting primary contexts.
  [[nodiscard]] int live();
  [[nodiscard]] int live(const std::string& kind) const;
  /// How many handles were destroyed twice, or never existed.
  [[nodiscard]] int misuses() const;
  [[nodiscard]] std::vector<std::string> calls() const;
  [[nodiscard]] int count(const std::string& function) const;
  void forget_calls();

  /// Creates a context the way another library would.
  [[nodiscard]] CUcontext create_context(int device);
  [[nodiscard]] static CUcontext current();
  static void set_current(CUcontext context);

  /// How many more queries return CUDA_ERROR_NOT_READY.
  std::atomic<int> queries_until_ready{0};
  /// A stream that is being captured, for which the legacy stream waits.
  std::atomic<CUstream> captured{nullptr};
  /// Keeps cuCtxSynchronize from returning.
  std::atomic<bool> busy{false};
  /// Whether addresses can be had where cuMemAddressReserve is asked for them.
  std::atomic<bool> heeds_hints{true};
  /// What the last cuMemSetAccess allowed.
  std::vector<CUmemAccessDesc> last_access;
  FakeLaunch last_launch;
  /// What the last array, texture or surface was made of, and the last copy of one.
  CUDA_ARRAY3D_DESCRIPTOR last_array{};
  CUDA_RESOURCE_DESC last_resource{};
  CUDA_TEXTURE_DESC last_texture{};
  CUDA_MEMCPY3D last_copy{};
  /// The context in which the last of them was destroyed.
  std::atomic<CUcontext> ended_in{nullptr};
  std::map<int, std::size_t> limits;
  std::map<CUstreamAttrID, CUstreamAttrValue> stream_attributes;
  /// The streams on which memory was released, in order.
  std::vector<CUstream> free_streams;

 private:
  FakeDriver();
  friend struct FakeArrays;
  friend struct FakeCalls;
  friend struct FakeVirtualMemory;
  friend struct FakeGreenContexts;

  struct Fault {
    int countdown = 0;
    CUresult code = CUDA_SUCCESS;
    bool sticky = false;
    std::string function;
  };

  /// Called at the start of each call: records it and returns whether it fails.
  CUresult enter(const char* function);
  void add(const std::string& kind, const void* handle);
  bool remove(const std::string& kind, const void* handle);

  mutable std::mutex mutex_;
  driver::DriverApi table_;
  Fault fault_;
  bool fired_ = false;
  std::string fired_function_;
  std::vector<std::string> calls_;
  std::map<const void*, std::string> ledger_;
  int misuses_ = 0;
  std::uintptr_t next_handle_ = 0x1000;
  std::map<CUcontext, int> context_device_;
  std::map<CUcontext, unsigned long long> context_id_;
  std::array<CUcontext, devices> primary_{};
  std::map<int, CUmemoryPool> default_pool_;
  std::map<std::pair<CUmemoryPool, int>, std::uint64_t> pool_attributes_;
};

/// Points the table at functions that use FakeDriver::get().
void fill_table(driver::DriverApi& table);
void fill_arrays(driver::DriverApi& table);
void fill_virtual_memory(driver::DriverApi& table);
void fill_green_contexts(driver::DriverApi& table);

}  // namespace cudacore::testing
