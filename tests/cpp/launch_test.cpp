// SPDX-License-Identifier: Apache-2.0
#include "cudacore/launch.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/sticky.hpp"
#include "fake_driver.hpp"
#include "launch/kernel_box.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::FakeDriver;
using testing::FakeKernel;
using testing::message_of;

/// Sets a variable for a scope.
template <typename T>
class ScopedValue {
 public:
  ScopedValue(T& variable, std::type_identity_t<T> value)
      : variable_(&variable), before_(std::exchange(variable, value)) {}
  ~ScopedValue() { *variable_ = before_; }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T* variable_;
  T before_;
};

class Launch : public ::testing::Test {
 protected:
  Kernel make(const std::string& signature, std::vector<std::size_t> sizes) {
    fake_kernel.parameter_sizes = std::move(sizes);
    Kernel kernel = Kernel::from_handle(reinterpret_cast<CUkernel>(&fake_kernel));
    return kernel.with_signature(parse_signature(signature));
  }
  template <typename T>
  T parameter(std::size_t index) {
    T value{};
    const auto& bytes = fake.last_launch.parameters.at(index);
    EXPECT_EQ(bytes.size(), sizeof(value));
    std::memcpy(&value, bytes.data(), std::min(sizeof(value), bytes.size()));
    return value;
  }
  template <typename Exception>
  std::string refused(const LaunchConfig& config) {
    fake.forget_calls();
    const std::string message = message_of<Exception>([&] { launch(stream, config, plain); });
    EXPECT_EQ(fake.count("cuLaunchKernelEx"), 0);
    return message;
  }

  FakeDriver& fake = FakeDriver::fresh();
  FakeKernel fake_kernel{.symbol = "axpy"};
  FakeKernel fake_plain{.symbol = "_Z5plainv"};
  Device device{0};
  Stream stream = device.create_stream();
  Kernel plain = Kernel::from_handle(reinterpret_cast<CUkernel>(&fake_plain));
};

TEST_F(Launch, PacksEachArgumentAsItsParameter) {
  const Kernel axpy = make("(float a, const float* x, float* y, unsigned long n)", {4, 8, 8, 8});
  const Buffer buffer = device.allocate(64, stream);
  launch(stream, {.grid = {2, 3, 4}, .block = {32, 1, 1}, .shmem_size = 16}, axpy, 1.5F, buffer,
         nullptr, 7UL);
  EXPECT_EQ(parameter<float>(0), 1.5F);
  EXPECT_EQ(parameter<CUdeviceptr>(1), buffer.handle());
  EXPECT_EQ(parameter<CUdeviceptr>(2), 0U);
  EXPECT_EQ(parameter<unsigned long>(3), 7U);
  const CUlaunchConfig& config = fake.last_launch.config;
  EXPECT_EQ(config.gridDimX, 2U);
  EXPECT_EQ(config.gridDimY, 3U);
  EXPECT_EQ(config.gridDimZ, 4U);
  EXPECT_EQ(config.blockDimX, 32U);
  EXPECT_EQ(config.sharedMemBytes, 16U);
  EXPECT_EQ(config.hStream, stream.handle());
  EXPECT_EQ(config.numAttrs, 0U);
}

TEST_F(Launch, WeakNumbersBecomeWhatIsDeclared) {
  const Kernel kernel = make("(double, short, bool, float)", {8, 2, 1, 4});
  launch(stream, {}, kernel, Argument::weak(3), Argument::weak(-4), Argument::weak(true),
         Argument::weak(0.1));
  EXPECT_EQ(parameter<double>(0), 3.0);
  EXPECT_EQ(parameter<short>(1), -4);
  EXPECT_EQ(parameter<bool>(2), true);
  EXPECT_EQ(parameter<float>(3), 0.1F);
}

TEST_F(Launch, StructsGoByTheirSize) {
  struct Pair {
    float a;
    int b;
  };
  const Kernel kernel = make("(Pair)", {8});
  launch(stream, {}, kernel, Pair{2.0F, 3});
  EXPECT_EQ(parameter<Pair>(0).b, 3);
  const std::string message = message_of<TypeMismatchError>(
      [&] { launch(stream, {}, kernel, std::complex<double>(1, 2)); });
  EXPECT_NE(message.find("cannot take a struct of 16 bytes"), std::string::npos) << message;
}

TEST_F(Launch, ParametersOfManyKilobytesLeaveTheStack) {
  struct Large {
    std::array<unsigned char, 30000> bytes;
  };
  Large large{};
  large.bytes.back() = 9;
  const Kernel kernel = make("(Large, int)", {sizeof(Large), 4});
  launch(stream, {}, kernel, large, 5);
  EXPECT_EQ(parameter<Large>(0).bytes.back(), 9);
  EXPECT_EQ(parameter<int>(1), 5);
}

TEST_F(Launch, MessagesNameTheParameter) {
  const Kernel axpy = make("(float a, const float* x, int n)", {4, 8, 4});
  EXPECT_EQ(message_of<TypeMismatchError>([&] { launch(stream, {}, axpy, 1.0F, 2.0, 3); }),
            "axpy: argument 2 'x' (float const*) cannot take a double");
  EXPECT_EQ(message_of<TypeMismatchError>([&] { launch(stream, {}, axpy, 1.0, nullptr, 3); }),
            "axpy: argument 1 'a' (float) cannot take a double");
  double* wrong = nullptr;
  EXPECT_EQ(message_of<TypeMismatchError>([&] { launch(stream, {}, axpy, 1.0F, wrong, 3); }),
            "axpy: argument 2 'x' (float const*) cannot take a double*");
  EXPECT_EQ(
      message_of<std::overflow_error>(
          [&] { launch(stream, {}, axpy, 1.0F, nullptr, Argument::weak(std::int64_t{1} << 32)); }),
      "axpy: argument 3 'n' (int) cannot hold 4294967296: it takes -2147483648 to 2147483647");
  EXPECT_EQ(message_of<TypeMismatchError>([&] { launch(stream, {}, axpy, 1.0F); }),
            "axpy takes 3 arguments, but 1 was given: axpy(float a, float const* x, int n)");
  EXPECT_EQ(fake.count("cuLaunchKernelEx"), 0);
}

TEST_F(Launch, AKernelOfUnknownParametersTakesExactTypesOnly) {
  const ScopedValue without(fake.table().cuKernelGetParamInfo, nullptr);
  const Kernel kernel = Kernel::from_handle(reinterpret_cast<CUkernel>(&fake_kernel));
  EXPECT_FALSE(kernel.box()->has_signature);
  fake_kernel.parameter_sizes = {4, 8};
  launch(stream, {}, kernel, 3, 4.0);
  EXPECT_EQ(parameter<int>(0), 3);
  EXPECT_EQ(parameter<double>(1), 4.0);
  EXPECT_THROW(launch(stream, {}, kernel, Argument::weak(3)), TypeMismatchError);
  const Kernel declared = kernel.with_signature(parse_signature("(int, double)"));
  launch(stream, {}, declared, Argument::weak(3), Argument::weak(4));
  EXPECT_EQ(parameter<double>(1), 4.0);
  EXPECT_THROW((void)kernel.with_signature(parse_signature("(Unheard)")), std::invalid_argument);
}

TEST_F(Launch, ADeclaredSignatureMustAgreeWithTheDriver) {
  EXPECT_THROW((void)make("(int)", {4, 4}), std::invalid_argument);
  EXPECT_THROW((void)make("(int)", {8}), std::invalid_argument);
  EXPECT_EQ(make("(long n)", {8}).signature().str(), "axpy(long n)");
}

TEST_F(Launch, ShapesAreCheckedAgainstTheDevice) {
  EXPECT_EQ(refused<std::invalid_argument>({.block = {2048, 1, 1}}),
            "plain: a block of 2048 x 1 x 1 is too large: device 0 (Fake GPU) allows "
            "1024 x 1024 x 64");
  EXPECT_EQ(refused<std::invalid_argument>({.block = {64, 32, 1}}),
            "plain: a block of 64 x 32 x 1 has 2048 threads; device 0 (Fake GPU) allows 1024");
  EXPECT_EQ(refused<std::invalid_argument>({.grid = {1, 65536, 1}}),
            "plain: a grid of 1 x 65536 x 1 is too large: device 0 (Fake GPU) allows "
            "2147483647 x 65535 x 65535");
  EXPECT_EQ(refused<std::invalid_argument>({.grid = {0, 1, 1}}),
            "plain: a grid of 0 x 1 x 1 has no work: every extent must be at least 1");
  EXPECT_THROW(launch(stream, {.block = {1, 0, 1}}, plain), std::invalid_argument);
  // Each extent is allowed, but the product overflows 32 bits.
  EXPECT_NE(refused<std::invalid_argument>({.block = {1024, 1024, 64}}).find("67108864 threads"),
            std::string::npos);
}

TEST_F(Launch, TheKernelsOwnLimitsCount) {
  fake_plain.max_threads = 256;
  EXPECT_NE(refused<std::invalid_argument>({.block = {512, 1, 1}}).find("this kernel allows 256"),
            std::string::npos);
  launch(stream, {.block = {256, 1, 1}}, plain);
}

TEST_F(Launch, SharedMemoryIsOptedInToOnce) {
  fake_plain.static_shmem = 1024;
  launch(stream, {.shmem_size = 40000}, plain);
  EXPECT_EQ(fake.count("cuKernelSetAttribute"), 0);
  launch(stream, {.shmem_size = 100000}, plain);
  launch(stream, {.shmem_size = 200000}, plain);
  EXPECT_EQ(fake.count("cuKernelSetAttribute"), 1);
  EXPECT_EQ(fake_plain.dynamic_shmem, 232448 - 1024);
  EXPECT_EQ(fake.last_launch.config.sharedMemBytes, 200000U);
  EXPECT_EQ(
      refused<std::invalid_argument>({.shmem_size = 232448}),
      "plain: 232448 bytes of dynamic and 1024 of static shared memory for each block are too "
      "much: device 0 (Fake GPU) allows 232448 together");
  EXPECT_THROW(launch(stream, {.shmem_size = std::size_t{1} << 32}, plain), std::invalid_argument);
  // If the user lowers a limit, a launch opts in again.
  plain.set_attribute(KernelAttribute::max_dynamic_shared_size_bytes, 1000, device);
  launch(stream, {.shmem_size = 2000}, plain);
  EXPECT_EQ(fake_plain.dynamic_shmem, 232448 - 1024);
}

TEST_F(Launch, AttributesAreHandedOn) {
  launch(stream,
         {.grid = {3, 2, 1},
          .cluster = Dim3{2, 1, 1},
          .is_cooperative = true,
          .programmatic_stream_serialization = true,
          .priority = -2},
         plain);
  ASSERT_EQ(fake.last_launch.attributes.size(), 4U);
  EXPECT_EQ(fake.last_launch.config.gridDimX, 6U);  // the grid counts clusters
  EXPECT_EQ(fake.last_launch.config.gridDimY, 2U);
  EXPECT_EQ(fake.last_launch.attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(fake.last_launch.attributes[0].value.clusterDim.x, 2U);
  EXPECT_EQ(fake.last_launch.attributes[1].value.cooperative, 1);
  EXPECT_EQ(fake.last_launch.attributes[2].value.programmaticStreamSerializationAllowed, 1);
  EXPECT_EQ(fake.last_launch.attributes[3].value.priority, -2);
}

TEST_F(Launch, ClustersAndCooperationNeedTheDevice) {
  const Stream plain_stream = Device(1).create_stream();
  EXPECT_THROW(launch(plain_stream, {.cluster = Dim3{1, 1, 1}}, plain), NotSupportedError);
  EXPECT_THROW(launch(plain_stream, {.is_cooperative = true}, plain), NotSupportedError);
  EXPECT_THROW(launch(stream, {.cluster = Dim3{0, 1, 1}}, plain), std::invalid_argument);
  EXPECT_THROW(launch(stream, {.grid = {1U << 31, 1, 1}, .cluster = Dim3{2, 1, 1}}, plain),
               std::invalid_argument);
}

TEST_F(Launch, RunsInTheStreamsContext) {
  const Device other(2);
  const Stream theirs = other.create_stream();
  FakeDriver::set_current(device.context().handle());
  launch(theirs, {}, plain);
  EXPECT_EQ(FakeDriver::current(), device.context().handle());
  EXPECT_NE(plain.box()->on_device[2].load(), nullptr);
  EXPECT_EQ(fake.last_launch.config.hStream, theirs.handle());
}

TEST_F(Launch, FailuresSayWhatWasLaunched) {
  fake.fail_function("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  const std::string message = message_of<LaunchError>([&] {
    launch(stream, {.block = {64, 1, 1}}, plain);
  });
  EXPECT_NE(message.find("kernel plain, grid 1 x 1 x 1, block 64 x 1 x 1, 40 registers for each "
                         "thread: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"),
            std::string::npos)
      << message;
}

TEST_F(Launch, OccupancyCallsBackTheGivenFunction) {
  device.set_current();
  EXPECT_EQ(plain.max_active_blocks_per_multiprocessor(128, 0), 2);
  const auto bytes = [](int block) { return static_cast<std::size_t>(2 * block); };
  EXPECT_EQ(plain.max_potential_block_size(bytes, 0).min_grid_size, 256);
  EXPECT_EQ(plain.max_potential_block_size(std::size_t{64}, 0).min_grid_size, 64);
  const auto failing = [](int) -> std::size_t { throw std::out_of_range("no"); };
  EXPECT_THROW((void)plain.max_potential_block_size(failing, 0), std::out_of_range);
  EXPECT_EQ(plain.max_active_clusters({.cluster = Dim3{2, 1, 1}}, stream), 16);
}

}  // namespace
}  // namespace cudacore
