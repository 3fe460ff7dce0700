// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime on the simulated driver, called the way that nvcc's code calls it: a fat binary
// is registered with its kernels and variables, and their host addresses represent them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fat_binary_support.hpp"
#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

struct RegisteredKernel;

extern "C" {
void** __cudaRegisterFatBinary(const void* code);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const void* stub, const char* function, const char* name,
                            int thread_limit, void* thread, void* block, void* block_size,
                            void* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, const void* variable, const char* address, const char* name,
                       int is_external, std::size_t size, int is_constant, int is_global);
void __cudaRegisterManagedVar(void** handle, void** pointer, const char* address, const char* name,
                              int is_external, std::size_t size, int is_constant, int is_global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, CUstream stream);
cudaError_t __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared,
                                       CUstream* stream);
cudaError_t __cudaGetKernel(RegisteredKernel** kernel, const void* stub);
cudaError_t __cudaLaunchKernel(RegisteredKernel* kernel, Dim3 grid, Dim3 block, void** arguments,
                               std::size_t shared, CUstream stream);
cudaError_t cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                             std::size_t shared, CUstream stream);
cudaError_t cudaLaunchKernel_ptsz(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                                  std::size_t shared, CUstream stream);
cudaError_t cudaLaunchCooperativeKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                                        std::size_t shared, CUstream stream);
cudaError_t cudaLaunchKernelExC(const LaunchConfiguration* how, const void* stub, void** arguments);
cudaError_t cudaMalloc(void** pointer, std::size_t size);
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height);
cudaError_t cudaMalloc3D(PitchedPointer* to, Extent extent);
cudaError_t cudaMallocHost(void** pointer, std::size_t size);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, MemcpyKind kind);
cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t size, MemcpyKind kind);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, MemcpyKind kind);
cudaError_t cudaMemcpy3D(const Copy3D* what);
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                               std::size_t offset, MemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                                 MemcpyKind kind);
cudaError_t cudaMemset(void* to, int value, std::size_t size);
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemset3D(PitchedPointer to, int value, Extent extent);
cudaError_t cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
cudaError_t cudaGetSymbolAddress(void** to, const void* symbol);
cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol);
cudaError_t cudaFuncGetAttributes(FunctionAttributes* attributes, const void* stub);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* stub, int size,
                                                          std::size_t shared);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(void* properties, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(int code);
const char* cudaGetErrorString(int code);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaLogsDumpToMemory(CUlogIterator* from, char* to, std::size_t* size, unsigned flags);
cudaError_t cudaImportExternalMemory();
}

namespace {

constexpr const char* program_ptx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .const .align 4 .u32 factor = 2;
.visible .global .align 4 .u32 calls;
.visible .global .attribute(.managed) .align 4 .u32 seen = 7;
.visible .entry scale(.param .u64 data, .param .u32 count) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [data]; ld.param.u32 %r0, [count];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0; @%p ret;
  mul.wide.u32 %rd1, %r4, 4; add.u64 %rd2, %rd0, %rd1;
  ld.const.u32 %r5, [factor]; ld.u32 %r6, [%rd2]; mul.lo.u32 %r6, %r6, %r5; st.u32 [%rd2], %r6;
  red.global.add.u32 [calls], 1; red.global.add.u32 [seen], 1;
  ret;
}
)";

// What nvcc would generate on the host for the kernel and the variables.
char scale_stub;
char factor_shadow;
char calls_shadow;
void* seen_pointer = nullptr;

/// The descriptor that nvcc puts into the segment .nvFatBinSegment.
struct Descriptor {
  std::uint32_t magic = 0x466243b1;
  std::uint32_t version = 1;
  const void* code = nullptr;
  const void* linked = nullptr;
};

class Registered {
 public:
  explicit Registered(std::uint16_t kind = simulator::ptx_kind,
                      const std::string& code = program_ptx)
      : bytes_(simulator::FatBinary().add(kind, 75, code).bytes()) {
    descriptor_.code = bytes_.data();
    handle_ = __cudaRegisterFatBinary(&descriptor_);
    __cudaRegisterFunction(handle_, &scale_stub, "scale", "scale", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &factor_shadow, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterVar(handle_, &calls_shadow, "calls", "calls", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle_, &seen_pointer, "seen", "seen", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Registered() { __cudaUnregisterFatBinary(handle_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  [[nodiscard]] void** handle() const { return handle_; }

 private:
  std::string bytes_;
  Descriptor descriptor_;
  void** handle_;
};

std::string log_text() {
  std::array<char, 25600> text{};
  std::size_t size = text.size();
  EXPECT_EQ(cudaLogsDumpToMemory(nullptr, text.data(), &size, 0), cudaSuccess);
  return {text.data(), size};
}

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    (void)cudaGetLastError();
    ASSERT_EQ(cudaMalloc(&data_, count * sizeof(unsigned)), cudaSuccess);
    std::vector<unsigned> values(count);
    std::iota(values.begin(), values.end(), 0U);
    ASSERT_EQ(
        cudaMemcpy(data_, values.data(), count * sizeof(unsigned), MemcpyKind::host_to_device),
        cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaDeviceReset(), cudaSuccess); }

  /// Whether each value is its index times a factor.
  void expect_scaled(unsigned by) {
    std::vector<unsigned> values(count);
    ASSERT_EQ(
        cudaMemcpy(values.data(), data_, count * sizeof(unsigned), MemcpyKind::device_to_host),
        cudaSuccess);
    for (unsigned i = 0; i < count; ++i) ASSERT_EQ(values[i], i * by) << i;
  }
  cudaError_t launch(Dim3 grid = {8, 1, 1}, Dim3 block = {128, 1, 1}) {
    return cudaLaunchKernel(&scale_stub, grid, block, arguments_.data(), 0, nullptr);
  }

  static constexpr unsigned count = 1000;
  void* data_ = nullptr;
  unsigned count_ = count;
  std::array<void*, 2> arguments_{&data_, &count_};
};

TEST_F(Runtime, AKernelIsLaunchedByItsStub) {
  const Registered program;
  ASSERT_EQ(__cudaPushCallConfiguration({8, 1, 1}, {128, 1, 1}, 0, nullptr), 0U);
  Dim3 grid;
  Dim3 block;
  std::size_t shared = 1;
  CUstream stream = nullptr;
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  RegisteredKernel* kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &scale_stub), cudaSuccess);
  ASSERT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments_.data(), shared, stream),
            cudaSuccess);
  expect_scaled(2);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
            cudaErrorMissingConfiguration);
}

TEST_F(Runtime, EveryWayToLaunch) {
  const Registered program;
  EXPECT_EQ(launch(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(
      cudaLaunchKernel_ptsz(&scale_stub, {8, 1, 1}, {128, 1, 1}, arguments_.data(), 0, nullptr),
      cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&scale_stub, {8, 1, 1}, {128, 1, 1}, arguments_.data(), 0,
                                        nullptr),
            cudaSuccess);
  const LaunchConfiguration how{{8, 1, 1}, {128, 1, 1}, 0, nullptr, nullptr, 0};
  EXPECT_EQ(cudaLaunchKernelExC(&how, &scale_stub, arguments_.data()), cudaSuccess);
  expect_scaled(16);
}

TEST_F(Runtime, SymbolsStandForVariables) {
  const Registered program;
  const unsigned factor = 5;
  unsigned calls = 0;
  ASSERT_EQ(cudaMemcpyToSymbol(&factor_shadow, &factor, 4, 0, MemcpyKind::host_to_device),
            cudaSuccess);
  ASSERT_EQ(launch(), cudaSuccess);
  expect_scaled(5);
  ASSERT_EQ(cudaMemcpyFromSymbol(&calls, &calls_shadow, 4, 0, MemcpyKind::device_to_host),
            cudaSuccess);
  EXPECT_EQ(calls, count);
  void* address = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &calls_shadow), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolSize(&size, &calls_shadow), cudaSuccess);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(size, 4U);
  EXPECT_EQ(cudaMemcpyFromSymbol(&calls, &calls_shadow, 4, 1, MemcpyKind::device_to_host),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetSymbolSize(&size, &scale_stub), cudaErrorInvalidSymbol);
}

TEST_F(Runtime, AManagedVariableIsAPointerOnTheHost) {
  const Registered program;
  ASSERT_EQ(__cudaInitModule(program.handle()), 1);
  ASSERT_NE(seen_pointer, nullptr);
  EXPECT_EQ(*static_cast<unsigned*>(seen_pointer), 7U);
  ASSERT_EQ(launch(), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*static_cast<unsigned*>(seen_pointer), 7U + count);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, seen_pointer), cudaSuccess);
  EXPECT_EQ(address, seen_pointer);
}

TEST_F(Runtime, CodeIsLoadedWhenItIsUsed) {
  const Registered machine_code(simulator::elf_kind, "\177ELF");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(launch(), cudaErrorNoKernelImageForDevice);
  EXPECT_NE(log_text().find("no PTX for sm_90"), std::string::npos);
}

TEST_F(Runtime, RelocatableCodeIsLinkedWhenItIsLoaded) {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string kernel = head + R"(.extern .global .align 4 .u32 wanted;
.visible .entry tell(.param .u64 to) {
  .reg .b32 %r; .reg .b64 %rd;
  ld.param.u64 %rd, [to]; ld.global.u32 %r, [wanted]; st.u32 [%rd], %r; ret;
}
)";
  const std::string variable = head + ".visible .global .align 4 .u32 wanted = 41;\n";
  const auto of = [](std::uint16_t kind, const std::string& code) {
    return simulator::FatBinary().add(kind, 75, code).bytes();
  };
  const std::array parts{of(simulator::ptx_kind, kernel), of(simulator::ptx_kind, variable),
                         of(simulator::elf_kind, "\177ELF")};
  const std::array<const void*, 4> pieces{parts[0].data(), parts[1].data(), parts[2].data(),
                                          nullptr};
  const std::string nothing = simulator::FatBinary().bytes();
  Descriptor descriptor;
  descriptor.version = 2;
  descriptor.code = nothing.data();
  descriptor.linked = pieces.data();
  char stub = 0;
  void** const handle = __cudaRegisterFatBinary(&descriptor);
  __cudaRegisterFunction(handle, &stub, "tell", "tell", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  unsigned told = 0;
  EXPECT_EQ(cudaLaunchKernel(&stub, {}, {}, arguments_.data(), 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&told, data_, 4, MemcpyKind::device_to_host), cudaSuccess);
  EXPECT_EQ(told, 41U);
  __cudaUnregisterFatBinary(handle);
}

TEST_F(Runtime, AKernelThatIsNotThere) {
  EXPECT_EQ(launch(),
            cudaErrorInvalidDeviceFunction);  // unregistered with the other tests' programs
  const Registered other(simulator::ptx_kind, simulator::ptx_for("sm_75"));
  EXPECT_EQ(launch(), cudaErrorInvalidDeviceFunction);
  EXPECT_NE(log_text().find("no kernel scale"), std::string::npos);
  RegisteredKernel* kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &count_), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(__cudaLaunchKernel(kernel, {}, {}, nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(Runtime, TheLastErrorIsTheThreadsOwn) {
  const Registered program;
  EXPECT_EQ(launch({1, 1, 1}, {2048, 1, 1}), cudaErrorInvalidConfiguration);
  std::thread([] { EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess); }).join();
  EXPECT_EQ(launch(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(9), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(9), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorName(700), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(700), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(12345), "unrecognized error code");
}

TEST_F(Runtime, AnErrorOfAKernelStaysUntilTheDeviceIsReset) {
  const Registered program;
  count_ = 2 * count;
  ASSERT_EQ(launch({16, 1, 1}), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMalloc(&data_, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  std::thread([&] { EXPECT_EQ(cudaMalloc(&data_, 4 * count), cudaSuccess); }).join();
  EXPECT_EQ(cudaMemset(data_, 0, 4 * count), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&count_, data_, 4, MemcpyKind::any), cudaSuccess);
  EXPECT_EQ(count_, 0U);
  count_ = count;
  EXPECT_EQ(launch(), cudaSuccess);
  expect_scaled(0);
}

TEST_F(Runtime, RectanglesAndBoxes) {
  void* image = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&image, &pitch, 10, 4), cudaSuccess);
  ASSERT_GE(pitch, 10U);
  ASSERT_EQ(cudaMemset2D(image, pitch, 3, 10, 4), cudaSuccess);
  std::array<unsigned char, 40> there{};
  ASSERT_EQ(cudaMemcpy2D(there.data(), 10, image, pitch, 10, 4, MemcpyKind::device_to_host),
            cudaSuccess);
  for (const unsigned char value : there) EXPECT_EQ(value, 3);
  EXPECT_EQ(cudaMemcpy2D(there.data(), 5, image, pitch, 10, 4, MemcpyKind::device_to_host),
            cudaErrorInvalidPitchValue);

  PitchedPointer box{};
  const Extent extent{6, 3, 2};
  ASSERT_EQ(cudaMalloc3D(&box, extent), cudaSuccess);
  ASSERT_EQ(cudaMemset3D(box, 9, extent), cudaSuccess);
  std::array<unsigned char, 36> slices{};
  Copy3D copy{};
  copy.source = box;
  copy.target = {slices.data(), 6, 6, 3};
  copy.extent = extent;
  copy.kind = MemcpyKind::device_to_host;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  for (const unsigned char value : slices) EXPECT_EQ(value, 9);
}

TEST_F(Runtime, CopiesHaveADirection) {
  unsigned value = 0;
  EXPECT_EQ(cudaMemcpy(&value, data_, 0, MemcpyKind::device_to_host), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&value, static_cast<unsigned*>(data_) + 3, 4, MemcpyKind::any), cudaSuccess);
  EXPECT_EQ(value, 3U);
  EXPECT_EQ(cudaMemcpy_ptds(&value, static_cast<unsigned*>(data_) + 4, 4, MemcpyKind::any),
            cudaSuccess);
  EXPECT_EQ(value, 4U);
  EXPECT_EQ(cudaMemcpy(&value, data_, 4, static_cast<MemcpyKind>(5)),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(Runtime, PointersTellWhatTheyAre) {
  PointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, data_), cudaSuccess);
  EXPECT_EQ(attributes.type, MemoryType::device);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.device_pointer, data_);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, MemoryType::unregistered);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, MemoryType::host);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Runtime, NothingIsAllocatedAtNull) {
  void* nothing = &nothing;
  EXPECT_EQ(cudaMalloc(&nothing, 0), cudaSuccess);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(cudaFree(nothing), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&nothing, std::size_t{1} << 50U), cudaErrorMemoryAllocation);
}

TEST_F(Runtime, DevicesAndKernelsTellWhatTheyAre) {
  const Registered program;
  int device = -1;
  int devices = 0;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  EXPECT_GE(devices, 1);
  EXPECT_EQ(cudaSetDevice(devices), cudaErrorInvalidDevice);
  std::array<char, 1008> properties{};  // the size in CUDA 13
  EXPECT_EQ(cudaGetDeviceProperties(properties.data(), 0), cudaSuccess);
  EXPECT_NE(std::string_view(properties.data()).find("simulated"), std::string_view::npos);
  FunctionAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &scale_stub), cudaSuccess);
  EXPECT_EQ(attributes.max_threads_per_block, 1024);
  EXPECT_EQ(attributes.constant_size, 4U);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 128, 0),
            cudaSuccess);
  EXPECT_GE(blocks, 1);
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
}

TEST_F(Runtime, WhatIsNotSimulatedSaysSo) {
  EXPECT_EQ(cudaImportExternalMemory(), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_NE(log_text().find("cudaImportExternalMemory is not simulated"), std::string::npos);
}

}  // namespace
}  // namespace cudacore::runtime
