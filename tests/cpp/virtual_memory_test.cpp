// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "cudacore/error.hpp"
#include "cudacore/system.hpp"
#include "cudacore/virtual_memory_resource.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using Options = VirtualMemoryResourceOptions;

constexpr std::size_t mib = std::size_t{1} << 20U;

class VirtualMemory : public testing::ReportsTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake.live(), 0);
    EXPECT_EQ(fake.misuses(), 0);
    ReportsTest::TearDown();
  }
  static std::shared_ptr<VirtualMemoryResource> make(const Options& options = {}) {
    return std::make_shared<VirtualMemoryResource>(Device(0), options);
  }

  FakeDriver& fake = FakeDriver::fresh();
};

TEST_F(VirtualMemory, SizesAreRoundedUp) {
  const auto resource = make();
  const Buffer buffer = resource->allocate(1, std::nullopt);
  EXPECT_EQ(buffer.size(), 2 * mib);
  EXPECT_EQ(buffer.memory_resource(), resource);
  EXPECT_EQ(buffer.device_id(), 0);
  EXPECT_EQ(fake.live("mapping"), 1);
  EXPECT_EQ(resource->allocate(0, std::nullopt).size(), 0U);
  EXPECT_THROW((void)resource->allocate(std::numeric_limits<std::size_t>::max(), std::nullopt),
               std::overflow_error);
}

TEST_F(VirtualMemory, MemoryIsUnmappedAfterTheStream) {
  const auto resource = make();
  const Stream stream = Device(0).create_stream();
  Buffer buffer = resource->allocate(1, stream);
  fake.forget_calls();
  buffer.close();
  EXPECT_EQ(fake.calls(),
            (std::vector<std::string>{"cuCtxGetCurrent", "cuStreamSynchronize", "cuMemUnmap",
                                      "cuMemRelease", "cuMemAddressFree"}));
}

TEST_F(VirtualMemory, WithoutAStreamTheDeviceIsWaitedFor) {
  const auto resource = make();
  Buffer buffer = resource->allocate(1, std::nullopt);
  fake.forget_calls();
  buffer.close();
  EXPECT_EQ(fake.count("cuCtxSynchronize"), 1);
}

TEST_F(VirtualMemory, GrowsInPlace) {
  const auto resource = make();
  Buffer buffer = resource->allocate(2 * mib, std::nullopt);
  Buffer grown = resource->modify_allocation(buffer, 5 * mib);
  EXPECT_EQ(grown.handle(), buffer.handle());
  EXPECT_EQ(grown.size(), 6 * mib);
  EXPECT_EQ(buffer.size(), 2 * mib);
  EXPECT_EQ(fake.live("physical memory"), 2);
  EXPECT_EQ(fake.live("mapping"), 2);
  buffer.close();
  EXPECT_EQ(fake.live("mapping"), 2);
  grown.close();
}

TEST_F(VirtualMemory, MovesIfTheAddressesBehindAreTaken) {
  fake.heeds_hints = false;
  const auto resource = make();
  Buffer buffer = resource->allocate(2 * mib, std::nullopt);
  const Buffer grown = resource->modify_allocation(buffer, 4 * mib);
  EXPECT_NE(grown.handle(), buffer.handle());
  EXPECT_EQ(fake.live("physical memory"), 2);  // nothing is copied
  EXPECT_EQ(fake.live("mapping"), 3);
  buffer.close();
  EXPECT_EQ(fake.live("mapping"), 2);
  fake.forget_calls();
  const Buffer again = resource->modify_allocation(grown, 8 * mib);  // there is room now
  EXPECT_EQ(again.handle(), grown.handle());
  EXPECT_EQ(fake.count("cuMemAddressReserve"), 0);
  const Buffer other = resource->modify_allocation(grown, 8 * mib);  // not any more
  EXPECT_NE(other.handle(), grown.handle());
}

TEST_F(VirtualMemory, RoomIsFreeAgainOnceTheGrownBufferIsClosed) {
  fake.heeds_hints = false;
  const auto resource = make();
  const Buffer moved = resource->modify_allocation(resource->allocate(1, std::nullopt), 4 * mib);
  resource->modify_allocation(moved, 6 * mib).close();
  EXPECT_EQ(resource->modify_allocation(moved, 8 * mib).handle(), moved.handle());
}

TEST_F(VirtualMemory, ASmallerSizeChangesNothing) {
  const auto resource = make();
  const Buffer buffer = resource->allocate(2 * mib, std::nullopt);
  const Buffer same = resource->modify_allocation(buffer, 1);
  EXPECT_EQ(same.box(), buffer.box());
  const Buffer empty = resource->allocate(0, std::nullopt);
  EXPECT_EQ(resource->modify_allocation(empty, 0).size(), 0U);
  EXPECT_EQ(resource->modify_allocation(empty, 1).size(), 2 * mib);
}

TEST_F(VirtualMemory, AccessIsThatOfTheOptions) {
  const auto resource = make({.peers = {2, 3}, .peer_access = VirtualAccess::read});
  const Buffer buffer = resource->allocate(1, std::nullopt);
  ASSERT_EQ(fake.last_access.size(), 3U);
  EXPECT_EQ(fake.last_access[0].flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(fake.last_access[2].location.id, 3);
  EXPECT_EQ(fake.last_access[2].flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
  Options fewer = resource->options();
  fewer.peers = {2};
  (void)resource->modify_allocation(buffer, 1, fewer);
  EXPECT_EQ(resource->options(), fewer);
  ASSERT_EQ(fake.last_access.size(), 3U);
  EXPECT_EQ(fake.last_access[2].location.id, 3);
  EXPECT_EQ(fake.last_access[2].flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_F(VirtualMemory, AFailedChangeOfAccessIsTakenBack) {
  const auto resource = make();
  const Buffer buffer = resource->allocate(1, std::nullopt);
  const Options before = resource->options();
  fake.fail_function("cuMemSetAccess", CUDA_ERROR_OUT_OF_MEMORY);
  fake.forget_calls();
  EXPECT_THROW((void)resource->modify_allocation(buffer, 1, Options{.peers = {2}}),
               OutOfMemoryError);
  EXPECT_EQ(fake.count("cuMemSetAccess"), 2);
  EXPECT_EQ(resource->options(), before);
}

TEST_F(VirtualMemory, ForeignBuffersAreRefused) {
  const auto resource = make();
  const auto other = make();
  const Buffer buffer = resource->allocate(1, std::nullopt);
  EXPECT_THROW((void)other->modify_allocation(buffer, 4 * mib), std::invalid_argument);
  EXPECT_THROW((void)resource->modify_allocation(buffer.slice(0, 64), 4 * mib),
               std::invalid_argument);
  EXPECT_THROW((void)resource->modify_allocation(buffer, 4 * mib,
                                                 Options{.location_type = VirtualLocation::host}),
               std::invalid_argument);
  EXPECT_THROW(resource->deallocate(buffer.handle() + 1, buffer.size(), std::nullopt),
               std::invalid_argument);
  Buffer closed = resource->allocate(1, std::nullopt);
  closed.close();
  EXPECT_THROW((void)resource->modify_allocation(closed, 4 * mib), std::invalid_argument);
}

TEST_F(VirtualMemory, ImpossibleOptionsAreRefused) {
  EXPECT_THROW(VirtualMemoryResource(Device(1)), NotSupportedError);
  EXPECT_THROW(make({.handle_type = VirtualHandle::fabric}), NotSupportedError);
  EXPECT_THROW(make({.handle_type = VirtualHandle::win32_kmt}), NotSupportedError);
  EXPECT_THROW(make({.gpu_direct_rdma = true}), NotSupportedError);
  EXPECT_THROW(make({.location_type = VirtualLocation::host_numa}), NotSupportedError);
  EXPECT_THROW(make({.addr_align = 3}), std::invalid_argument);
  EXPECT_THROW(make({.peers = {0}}), std::invalid_argument);
  EXPECT_THROW(make({.peers = {2, 2}}), std::invalid_argument);
  EXPECT_THROW(make({.peers = {99}}), std::invalid_argument);
}

TEST_F(VirtualMemory, SharedMemoryIsMappedAsItIs) {
  const auto resource = make();
  const Buffer buffer = resource->allocate(1, std::nullopt);
  const Buffer grown = resource->modify_allocation(buffer, 6 * mib);
  const std::vector<MemoryShare> parts = resource->share(grown);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].size, 2 * mib);
  EXPECT_EQ(parts[1].size, 4 * mib);
  const Buffer mapped = make()->map_shared(parts, std::nullopt);
  EXPECT_EQ(mapped.size(), 6 * mib);
  EXPECT_FALSE(resource->is_mapped(grown));
  fake.fail_function("cuMemExportToShareableHandle", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THROW((void)resource->share(grown), InvalidValueError);
  for (const MemoryShare& part : parts) close(part.descriptor);
}

TEST_F(VirtualMemory, DescriptorsAreNotTrusted) {
  const auto resource = make();
  const auto map = [&](const std::vector<MemoryShare>& parts) {
    return resource->map_shared(parts, std::nullopt);
  };
  EXPECT_THROW((void)map({}), std::invalid_argument);
  EXPECT_THROW((void)map({{3, 0}}), std::invalid_argument);
  EXPECT_THROW((void)map({{3, 2 * mib}, {4, 1}}), std::invalid_argument);
  EXPECT_THROW((void)map({{3, ~std::size_t{0} / (2 * mib) * (2 * mib)}}), std::invalid_argument);
  const auto host = make({.location_type = VirtualLocation::host});
  EXPECT_THROW((void)host->map_shared({{3, 2 * mib}}, std::nullopt), std::invalid_argument);
}

TEST_F(VirtualMemory, HostMemoryBelongsToNoDevice) {
  const auto resource = make({.location_type = VirtualLocation::host, .peers = {0}});
  const Buffer buffer = resource->allocate(1, std::nullopt);
  EXPECT_EQ(buffer.device_id(), -1);
  EXPECT_TRUE(buffer.is_host_accessible());
  EXPECT_TRUE(buffer.is_device_accessible());
  EXPECT_EQ(fake.last_access[0].location.type, CU_MEM_LOCATION_TYPE_HOST);
}

struct Step {
  const char* name;
  std::function<void(const std::shared_ptr<VirtualMemoryResource>&)> run;
};

class VirtualMemoryFails : public ::testing::TestWithParam<CUresult> {};

/// Fails the first call, then the second, and so on, until none is left to fail.
TEST_P(VirtualMemoryFails, NothingIsLostOrLeaks) {
  const std::vector<Step> steps{
      {"allocate", [](const auto& resource) { (void)resource->allocate(1, std::nullopt); }},
      {"map what is shared",
       [](const auto& resource) {
         (void)resource->map_shared({{3, 2 * mib}, {4, 2 * mib}}, std::nullopt);
       }},
      {"grow",
       [](const auto& resource) {
         Buffer first = resource->allocate(1, std::nullopt);
         const CUdeviceptr address = first.handle();
         try {
           (void)resource->modify_allocation(first, 8 * mib, Options{.peers = {2}});
         } catch (...) {
           EXPECT_EQ(first.handle(), address);
           EXPECT_EQ(first.size(), 2 * mib);
           EXPECT_TRUE(resource->options().peers.empty());
           throw;
         }
       }},
  };
  system::set_log_hook([](const char*) {});
  FakeDriver& fake = FakeDriver::fresh();
  const auto fails = [&](const Step& step, int k, bool heeds_hints) {
    FakeDriver::fresh();
    fake.heeds_hints = heeds_hints;
    const auto resource = std::make_shared<VirtualMemoryResource>(Device(0));
    fake.fail_call(k, GetParam());
    try {
      step.run(resource);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), static_cast<int>(GetParam())) << error.what();
    }
    const std::string where = std::string(step.name) + ", " + fake.fired_function();
    EXPECT_EQ(fake.live(), 0) << where;
    EXPECT_EQ(fake.misuses(), 0) << where;
    return fake.fired();
  };
  for (const Step& step : steps) {
    for (const bool heeds_hints : {true, false}) {
      int calls = 0;
      while (fails(step, calls + 1, heeds_hints)) ASSERT_LT(++calls, 200) << step.name;
      EXPECT_GT(calls, 5) << step.name;
    }
  }
  FakeDriver::fresh();
  system::set_log_hook(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Codes, VirtualMemoryFails,
                         ::testing::Values(CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE));

}  // namespace
}  // namespace cudacore
