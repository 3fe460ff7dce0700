// SPDX-License-Identifier: Apache-2.0
//
// Compiles a kernel, prints what is in it and, if there is a device, launches it and checks the
// sum. Succeeds with and without a device.

#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <cudacore/cudacore.hpp>

namespace {

constexpr const char* source = R"(
template <typename T>
__global__ void scale_and_sum(const T* values, int count, T factor, T* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(sum, factor * values[i]);
}
)";

constexpr const char* kernel_name = "scale_and_sum<float>";

/// All devices; none if the driver is missing.
std::vector<cudacore::Device> find_devices() {
  try {
    return cudacore::Device::all();
  } catch (const cudacore::DriverNotFoundError& error) {
    std::cout << "no driver: " << error.what() << '\n';
    return {};
  }
}

cudacore::ObjectCode compile(const std::string& arch) {
  cudacore::ProgramOptions options;
  options.name = "consumer.cu";
  options.arch = arch;
  cudacore::Program program(source, cudacore::SourceType::cxx, options);
  const std::array<std::string, 1> names{kernel_name};
  return program.compile(cudacore::CodeType::cubin, names);
}

void describe(const cudacore::ObjectCode& code) {
  std::cout << code.code().size() << " bytes of " << cudacore::to_string(code.code_type()) << '\n';
  for (const cudacore::KernelEntry& entry : code.kernels()) {
    std::cout << "kernel " << entry.name << '\n';
  }
  std::cout << "signature " << code.signature(kernel_name).str() << '\n';
}

float sum_on(const cudacore::Device& device, const cudacore::ObjectCode& code,
             std::span<const float> values, float factor) {
  device.set_current();
  const cudacore::Stream stream = device.create_stream();
  const cudacore::Buffer input = device.allocate(values.size_bytes(), stream);
  const cudacore::Buffer total = device.allocate(sizeof(float), stream);
  input.copy_from(std::as_bytes(values), stream);
  total.fill(0, 4, stream);

  cudacore::LaunchConfig config;
  config.block = {128, 1, 1};
  config.grid = {(static_cast<unsigned>(values.size()) + 127) / 128, 1, 1};
  cudacore::launch(stream, config, code.get_kernel(kernel_name), input,
                   static_cast<int>(values.size()), factor, total);

  float sum = 0;
  total.copy_to(std::as_writable_bytes(std::span(&sum, 1)), stream);
  stream.sync();
  return sum;
}

int run() {
  const std::vector<cudacore::Device> devices = find_devices();
  const cudacore::ObjectCode code =
      compile(devices.empty() ? "sm_90" : "sm_" + devices.front().arch());
  describe(code);
  if (devices.empty()) {
    std::cout << "compiled only: there is no device\n";
    return EXIT_SUCCESS;
  }

  // Small integers, so that sums of floats are exact in any order.
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0F);
  const float expected = 2 * 500500.0F;
  const float sum = sum_on(devices.front(), code, values, 2.0F);
  std::cout << "launched on " << devices.front().name() << ": sum " << sum << ", expected "
            << expected << '\n';
  return sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
