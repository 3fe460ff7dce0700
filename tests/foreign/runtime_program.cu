// SPDX-License-Identifier: Apache-2.0
//
// A CUDA runtime program, as nvcc builds it: registration, launches, copies, queries and errors. Prints
// every wrong result; the exit status says whether there were any.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

namespace cg = cooperative_groups;

__constant__ float factor;
__device__ int calls;
__managed__ int shared_count = 5;

template <class T>
__global__ void scale(T* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  data[i] *= factor;
  atomicAdd(&calls, 1);
  if (i == 0) shared_count += 10;
}

__global__ void sum(const float* data, float* total, int count) {
  extern __shared__ float part[];
  part[threadIdx.x] = threadIdx.x < count ? data[threadIdx.x] : 0;
  cg::this_thread_block().sync();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = part[0];
}

__global__ void meet(int* arrived, int* seen) {
  atomicAdd(arrived, 1);
  cg::this_grid().sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

static int faults = 0;

static void check(bool is_right, const char* what, int line) {
  if (is_right) return;
  std::printf("line %d: %s\n", line, what);
  ++faults;
}
#define CHECK(what) check((what), #what, __LINE__)
#define SUCCEEDS(call) check((call) == cudaSuccess, #call ": not cudaSuccess", __LINE__)

static void kernels_and_symbols() {
  constexpr int count = 1000;
  std::vector<float> host(count);
  std::iota(host.begin(), host.end(), 0.F);
  float* data = nullptr;
  const float three = 3;
  SUCCEEDS(cudaMalloc(&data, count * sizeof(float)));
  SUCCEEDS(cudaMemcpy(data, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  SUCCEEDS(cudaMemcpyToSymbol(factor, &three, sizeof(three)));
  CHECK(shared_count == 5);
  scale<<<(count + 127) / 128, 128>>>(data, count);
  SUCCEEDS(cudaGetLastError());
  SUCCEEDS(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(host[999] == 2997);
  CHECK(shared_count == 15);
  int called = 0;
  SUCCEEDS(cudaMemcpyFromSymbol(&called, calls, sizeof(called)));
  CHECK(called == count);
  float* total = nullptr;
  SUCCEEDS(cudaMallocManaged(&total, sizeof(float)));
  sum<<<1, 64, 64 * sizeof(float)>>>(data, total, 10);
  SUCCEEDS(cudaDeviceSynchronize());
  CHECK(*total == 135);
  SUCCEEDS(cudaFree(total));
  SUCCEEDS(cudaFree(data));
}

static void streams_and_events() {
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr, end = nullptr;
  SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SUCCEEDS(cudaEventCreate(&start));
  SUCCEEDS(cudaEventCreate(&end));
  int* numbers = nullptr;
  SUCCEEDS(cudaMallocAsync(&numbers, 5 * sizeof(int), stream));
  SUCCEEDS(cudaMemsetAsync(numbers, 0, 5 * sizeof(int), stream));
  SUCCEEDS(cudaEventRecord(start, stream));
  int* seen = numbers + 1;
  void* arguments[] = {&numbers, &seen};
  SUCCEEDS(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meet), dim3(4), dim3(32), arguments,
                                       0, stream));
  SUCCEEDS(cudaEventRecord(end, stream));
  int host[5] = {};
  SUCCEEDS(cudaMemcpyAsync(host, numbers, sizeof(host), cudaMemcpyDeviceToHost, stream));
  bool is_called = false;
  SUCCEEDS(cudaLaunchHostFunc(stream, [](void* flag) { *static_cast<bool*>(flag) = true; },
                              &is_called));
  SUCCEEDS(cudaStreamSynchronize(stream));
  CHECK(host[0] == 128 && host[1] == 128 && host[4] == 128);
  CHECK(is_called);
  float milliseconds = -1;
  SUCCEEDS(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  SUCCEEDS(cudaFreeAsync(numbers, stream));
  SUCCEEDS(cudaEventDestroy(start));
  SUCCEEDS(cudaEventDestroy(end));
  SUCCEEDS(cudaStreamDestroy(stream));
}

static void questions() {
  cudaDeviceProp properties{};
  SUCCEEDS(cudaGetDeviceProperties(&properties, 1));
  CHECK(properties.major == 9 && properties.warpSize == 32 && properties.clusterLaunch == 1);
  CHECK(properties.totalGlobalMem == std::size_t{1} << 30);
  int blocks = 0, size = 0, runtime = 0, driver = 0;
  SUCCEEDS(cudaOccupancyMaxPotentialBlockSize(&blocks, &size, scale<double>, 0, 0));
  CHECK(blocks > 0 && size == 1024);
  cudaFuncAttributes attributes{};
  SUCCEEDS(cudaFuncGetAttributes(&attributes, sum));
  CHECK(attributes.ptxVersion == 80 && attributes.maxThreadsPerBlock == 1024);
  SUCCEEDS(cudaRuntimeGetVersion(&runtime));
  SUCCEEDS(cudaDriverGetVersion(&driver));
  CHECK(runtime / 1000 == CUDART_VERSION / 1000 && driver >= runtime);
}

static void two_devices() {
  int* there = nullptr;
  int value = 7, device = -1;
  SUCCEEDS(cudaSetDevice(1));
  std::thread([] {
    int mine = -1;
    SUCCEEDS(cudaGetDevice(&mine));
    CHECK(mine == 0);
  }).join();
  SUCCEEDS(cudaMalloc(&there, sizeof(int)));
  SUCCEEDS(cudaMemcpy(there, &value, sizeof(int), cudaMemcpyHostToDevice));
  cudaPointerAttributes attributes{};
  SUCCEEDS(cudaPointerGetAttributes(&attributes, there));
  CHECK(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
  SUCCEEDS(cudaSetDevice(0));
  int* here = nullptr;
  SUCCEEDS(cudaMalloc(&here, sizeof(int)));
  SUCCEEDS(cudaDeviceEnablePeerAccess(1, 0));
  SUCCEEDS(cudaMemcpyPeer(here, 0, there, 1, sizeof(int)));
  value = 0;
  SUCCEEDS(cudaMemcpy(&value, here, sizeof(int), cudaMemcpyDefault));
  CHECK(value == 7);
  SUCCEEDS(cudaGetDevice(&device));
  CHECK(device == 0);
}

static void errors() {
  scale<<<1, 2048>>>(static_cast<float*>(nullptr), 0);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  SUCCEEDS(cudaGetLastError());
  cudaExternalMemory_t memory = nullptr;
  const cudaExternalMemoryHandleDesc description{};
  CHECK(cudaImportExternalMemory(&memory, &description) == cudaErrorNotSupported);
  scale<<<1, 32>>>(static_cast<float*>(nullptr), 1);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  SUCCEEDS(cudaDeviceReset());
}

int main() {
  kernels_and_symbols();
  streams_and_events();
  questions();
  two_devices();
  errors();
  std::printf("%d faults\n", faults);
  return faults != 0;
}
