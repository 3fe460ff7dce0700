// SPDX-License-Identifier: Apache-2.0
//
// What a driver of CUDA 12 lacks. The fake driver has none of it.
#include <gtest/gtest.h>

#include <array>

#include "cudacore/copy_options.hpp"
#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "cudacore/managed_buffer.hpp"
#include "cudacore/memory_resource.hpp"
#include "fake_driver.hpp"
#include "log_reports.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;

class ManagedResource final : public MemoryResource {
 public:
  Buffer allocate(std::size_t size, const std::optional<Stream>& /*stream*/) override {
    return Buffer::from_handle(4096, size, shared_from_this());
  }
  void deallocate(CUdeviceptr /*pointer*/, std::size_t /*size*/,
                  const std::optional<Stream>& /*stream*/) override {}
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] bool is_managed() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
};

class OlderDriver : public testing::ReportsTest {
 protected:
  FakeDriver& fake = FakeDriver::fresh();
};

TEST_F(OlderDriver, LacksAdviceAndBatches) {
  const Stream stream = Device(0).create_stream();
  const ManagedBuffer buffer(std::make_shared<ManagedResource>()->allocate(64, stream));
  const std::array buffers{buffer};
  const std::array<Buffer, 1> plain{buffer};
  const MemoryLocation host = MemoryLocation::host();
  EXPECT_THROW(buffer.set_read_mostly(true), NotSupportedError);
  EXPECT_THROW(buffer.set_accessed_by(host, true), NotSupportedError);
  EXPECT_THROW(buffer.prefetch(host, stream), NotSupportedError);
  EXPECT_THROW(prefetch_batch(buffers, {&host, 1}, stream), NotSupportedError);
  EXPECT_THROW(buffer.discard(stream), NotSupportedError);
  EXPECT_THROW(buffer.discard_prefetch(host, stream), NotSupportedError);
  EXPECT_THROW(copy_batch(plain, plain, {}, stream), NotSupportedError);
  EXPECT_THROW(buffer.copy_from(buffer, stream, CopyOptions{}), NotSupportedError);
}

}  // namespace
}  // namespace cudacore
