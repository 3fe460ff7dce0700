// SPDX-License-Identifier: Apache-2.0
#include "cudacore/device.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

#include "context_test_support.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::ContextTest;
using testing::message_of;

TEST_F(ContextTest, DevicesTellOfThemselves) {
  const Device device(0);
  EXPECT_EQ(Device::all().size(), 4U);
  EXPECT_EQ(device.name(), "Fake GPU");
  EXPECT_EQ(device.uuid(), "f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  EXPECT_EQ(device.pci_bus_id(), "0000:41:00.0");
  EXPECT_EQ(device.arch(), "90");
  EXPECT_EQ(device.memory_info().free, std::size_t{1} << 30);
  EXPECT_EQ(device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), -1);
  fake.forget_calls();
  EXPECT_EQ(device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), -1);
  EXPECT_EQ(fake.count("cuDeviceGetAttribute"), 0);
  EXPECT_EQ(message_of<std::invalid_argument>([] { Device{4}; }),
            "there is no device 4: the driver shows 4 devices, 0 to 3");
  EXPECT_THROW(Device{-1}, std::invalid_argument);
}

TEST_F(ContextTest, AttributesAreThoseOfCudaCore) {
  const auto attributes = device_attributes();
  EXPECT_EQ(attributes.size(), 143U);
  for (std::size_t i = 1; i < attributes.size(); ++i) {
    EXPECT_LT(attributes[i - 1].attribute, attributes[i].attribute);
  }
  EXPECT_EQ(attributes[0].name, "max_threads_per_block");
  EXPECT_EQ(attributes[0].attribute, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_FALSE(attributes[0].is_bool);
}

}  // namespace
}  // namespace cudacore
