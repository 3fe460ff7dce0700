// SPDX-License-Identifier: Apache-2.0
//
// Loading code: modules, libraries, linking, and the errors for code that cannot be loaded.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "driver_test_support.hpp"
#include "simulator/api/system/configuration.hpp"

namespace cudacore::simulator {
namespace {

class DriverModule : public DriverTest {};
class DriverLibrary : public DriverTest {
 protected:
  static CUlibrary load(const char* code) {
    CUlibrary library = nullptr;
    EXPECT_EQ(cuLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
    return library;
  }
};
class DriverLinker : public DriverTest {};

constexpr const char* program = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry store(.param .u64 to, .param .u32 value) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
)";

constexpr const char* callee = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) seven() {
  st.param.b32 [result], 7;
  ret;
}
)";

constexpr const char* caller = R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) seven();
.visible .entry call_it() {
  .reg .b32 %r<2>;
  {
    .param .b32 got;
    call.uni (got), seven, ();
    ld.param.b32 %r1, [got];
  }
  ret;
}
)";

/// A value that an enumeration doesn't have.
template <class Enum>
Enum no_such(int value) {
  return static_cast<Enum>(value);
}

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = -7;
  EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
  return value;
}

TEST_F(DriverModule, LoadsAndFinds) {
  CUmodule module = nullptr;
  CUmodule its = nullptr;
  CUfunction function = nullptr;
  CUfunction again = nullptr;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  unsigned count = 0;
  const char* name = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, program), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "store"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&again, module, "store"), CUDA_SUCCESS);
  EXPECT_EQ(function, again);
  EXPECT_EQ(cuModuleGetFunction(&again, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "store");
  EXPECT_EQ(cuFuncGetModule(&its, function), CUDA_SUCCESS);
  EXPECT_EQ(its, module);
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  std::vector<CUfunction> functions(count);
  EXPECT_EQ(cuModuleEnumerateFunctions(functions.data(), count, module), CUDA_SUCCESS);
  EXPECT_EQ(functions[0], function);
  ASSERT_EQ(cuModuleGetGlobal_v2(&address, &size, module, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(size, 4U);
  EXPECT_NE(address, 0U);
  EXPECT_EQ(cuModuleGetGlobal_v2(nullptr, nullptr, module, "counter"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, &size, module, "no"), CUDA_ERROR_NOT_FOUND);
  std::uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address, sizeof(value)), CUDA_SUCCESS);
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address, sizeof(value)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverModule, FunctionAttributes) {
  CUmodule module = nullptr;
  CUfunction store = nullptr;
  CUfunction bounded = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, program), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&store, module, "store"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&bounded, module, "bounded"), CUDA_SUCCESS);
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
  EXPECT_EQ(attribute(store, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
  constexpr auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuFuncSetAttribute(store, dynamic, 200000), CUDA_SUCCESS);
  EXPECT_EQ(attribute(store, dynamic), 200000);
  EXPECT_EQ(cuFuncSetAttribute(store, dynamic, 300000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(store, dynamic, -1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(store, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
  std::size_t offset = 0;
  std::size_t size = 0;
  EXPECT_EQ(cuFuncGetParamInfo(store, 1, &offset, &size), CUDA_SUCCESS);
  EXPECT_EQ(offset, 8U);
  EXPECT_EQ(size, 4U);
  EXPECT_EQ(cuFuncGetParamInfo(store, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(DriverModule, MalformedCodeIsTold) {
  CUmodule module = nullptr;
  std::array<char, 512> log{};
  std::array<CUjit_option, 3> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_TARGET};
  std::array<void*, 3> values{log.data(), reinterpret_cast<void*>(log.size()),
                              reinterpret_cast<void*>(std::uintptr_t{90})};
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_75\n.address_size 64\nfoo", 3,
                               options.data(), values.data()),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log.data(), "4"), nullptr) << log.data();
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), std::strlen(log.data()) + 1);
  EXPECT_NE(newest_log().find("foo"), std::string::npos) << newest_log();
  values[1] = reinterpret_cast<void*>(std::uintptr_t{8});
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_75\n.address_size 64\nfoo", 3,
                               options.data(), values.data()),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(std::strlen(log.data()), 7U);
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), 8U);
}

constexpr const char* half_simulated = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry samples() {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  sured.b.add.1d.u32.trap [%rd1, {%r1}], %r1;
  ret;
}
.visible .entry runs() { ret; }
)";
constexpr const char* why_refused =
    "line 8, column 3: instruction 'sured.b.add.1d.u32.trap' is not simulated in kernel 'samples'";

TEST_F(DriverModule, RefusesOnlyWhatIsNotSimulated) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, half_simulated), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "samples"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(function, nullptr);
  EXPECT_NE(newest_log().find(why_refused), std::string::npos) << newest_log();
  ASSERT_EQ(cuModuleGetFunction(&function, module, "runs"), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  std::array<CUfunction, 2> all{};
  ASSERT_EQ(cuModuleEnumerateFunctions(all.data(), 2, module), CUDA_SUCCESS);
  EXPECT_EQ(all[1], function);
  EXPECT_EQ(cuLaunchKernel(all[0], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(newest_log().find(why_refused), std::string::npos) << newest_log();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverLibrary, RefusesOnlyWhatIsNotSimulated) {
  const CUlibrary library = load(half_simulated);
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "samples"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(newest_log().find(why_refused), std::string::npos) << newest_log();
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "runs"), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  std::array<CUkernel, 2> all{};
  ASSERT_EQ(cuLibraryEnumerateKernels(all.data(), 2, library), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, all[0]), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(all[0]), 1, 1, 1, 1, 1, 1, 0, nullptr,
                           nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(DriverModule, WhatIsNoPtx) {
  CUmodule module = nullptr;
  constexpr const char* newer = ".version 99.0\n.target sm_75\n.address_size 64\n";
  constexpr const char* other =
      ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry a() { ret; }";
  EXPECT_EQ(cuModuleLoadData(&module, "hello world"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(&module, newer), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(cuModuleLoadData(&module, other), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, caller), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, "\177ELF\2\1\1"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(newest_log().find("SASS"), std::string::npos);
  EXPECT_EQ(cuModuleLoad(&module, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  auto unknown = no_such<CUjit_option>(777);
  void* value = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, program, 1, &unknown, &value), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverModule, HandlesThatAreNone) {
  CUfunction function = nullptr;
  int on_stack = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, nullptr, "store"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&function, reinterpret_cast<CUmodule>(&on_stack), "store"),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(context)), CUDA_ERROR_INVALID_HANDLE);
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverLibrary, ServesEveryContext) {
  const CUlibrary library = load(program);
  CUlibrary its = nullptr;
  CUkernel kernel = nullptr;
  CUfunction here = nullptr;
  CUfunction there = nullptr;
  CUdeviceptr global_here = 0;
  CUdeviceptr global_there = 0;
  unsigned count = 0;
  const char* name = nullptr;
  EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
  EXPECT_STREQ(name, "store");
  EXPECT_EQ(cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::size_t offset = 0;
  EXPECT_EQ(cuKernelGetParamInfo(kernel, 1, &offset, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(offset, 8U);
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetParamInfo(kernel, 1, &offset, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent_v2(current), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetLibrary(&its, kernel), CUDA_SUCCESS);
  EXPECT_EQ(its, library);
  ASSERT_EQ(cuKernelGetFunction(&here, kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetGlobal(&global_here, nullptr, library, "counter"), CUDA_SUCCESS);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuKernelGetFunction(&there, kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetGlobal(&global_there, nullptr, library, "counter"), CUDA_SUCCESS);
  EXPECT_NE(here, there);
  EXPECT_NE(global_here, global_there);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetName(&name, there), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryGetManaged(&global_here, nullptr, library, "counter"), CUDA_ERROR_NOT_FOUND);
  CUmodule module = nullptr;
  EXPECT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuKernelGetName(&name, kernel), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncGetName(&name, here), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverLibrary, AttributesAreOfTheDevice) {
  const CUlibrary library = load(program);
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  constexpr auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuKernelSetAttribute(dynamic, 100000, kernel, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelSetAttribute(dynamic, 100000, kernel, 9), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  EXPECT_EQ(attribute(function, dynamic), 100000);
  int value = 0;
  EXPECT_EQ(cuKernelGetAttribute(&value, dynamic, kernel, 1), CUDA_SUCCESS);
  EXPECT_EQ(value, 49152);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(DriverLibrary, LoadsWithoutContext) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryLoadData(&library, ".version 8.0 nonsense", nullptr, nullptr, 0, nullptr,
                              nullptr, 0),
            CUDA_ERROR_INVALID_PTX);
  library = load(program);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(DriverLinker, LinksPtx) {
  CUlinkState link = nullptr;
  void* code = nullptr;
  std::size_t size = 0;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (const char* text : {caller, callee}) {
    EXPECT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(text),
                               std::strlen(text) + 1, "input", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  }
  ASSERT_EQ(cuLinkComplete(link, &code, &size), CUDA_SUCCESS);
  EXPECT_EQ(size, std::strlen(static_cast<const char*>(code)) + 1);
  ASSERT_EQ(cuModuleLoadData(&module, code), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "call_it"), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(DriverLinker, UnresolvedNamesAreTold) {
  CUlinkState link = nullptr;
  void* code = nullptr;
  std::array<char, 512> log{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  ASSERT_EQ(cuLinkCreate_v2(2, options.data(), values.data(), &link), CUDA_SUCCESS);
  ASSERT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(caller), std::strlen(caller),
                             nullptr, 0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkComplete(link, &code, nullptr), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log.data(), "seven"), nullptr) << log.data();
  EXPECT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, log.data(), 9, nullptr, 0, nullptr, nullptr),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cudacore::simulator
