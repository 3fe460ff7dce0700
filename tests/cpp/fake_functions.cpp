// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "fake_driver.hpp"

namespace cudacore::testing {

namespace {

int attribute_of(CUdevice_attribute attribute, int device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 232448;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return -1;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH:
      return 131072;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT:
      return 65000;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH:
      return 2097120;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH:
      return 268435456;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH:
      return 32768;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH:
      return 16384;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE:
      return 8192;
    case CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE:
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
      return device == 1 ? 0 : 1 << 27;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      return device == 1 ? 0 : 1;
    default:
      return 0;
  }
}

FakeKernel& kernel_of(CUfunction function) { return *reinterpret_cast<FakeKernel*>(function); }
FakeKernel& kernel_of(CUkernel kernel) { return *reinterpret_cast<FakeKernel*>(kernel); }

void* host(CUdeviceptr pointer) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
}

template <typename T>
CUresult fill(CUdeviceptr pointer, T value, std::size_t count) {
  std::fill_n(static_cast<T*>(host(pointer)), count, value);
  return CUDA_SUCCESS;
}

const char* name_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
      return "CUDA_ERROR_INVALID_VALUE";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case CUDA_ERROR_DEINITIALIZED:
      return "CUDA_ERROR_DEINITIALIZED";
    case CUDA_ERROR_INVALID_HANDLE:
      return "CUDA_ERROR_INVALID_HANDLE";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case CUDA_ERROR_NOT_SUPPORTED:
      return "CUDA_ERROR_NOT_SUPPORTED";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    default:
      return "CUDA_ERROR_OTHER";
  }
}

}  // namespace

/// The functions of the table. Those that destroy something do so even if they are told to fail,
/// like the real driver: their failures are those of earlier work.
struct FakeCalls {
  static FakeDriver& fake() { return FakeDriver::get(); }

  template <typename Handle>
  static CUresult make(const char* function, const char* kind, Handle* handle) {
    if (const CUresult fault = fake().enter(function)) return fault;
    {
      const std::scoped_lock lock(fake().mutex_);
      fake().next_handle_ += 16;
      *handle = reinterpret_cast<Handle>(fake().next_handle_);
    }
    fake().add(kind, *handle);
    return CUDA_SUCCESS;
  }

  template <typename Handle>
  static CUresult destroy(const char* function, const char* kind, Handle handle) {
    const CUresult fault = fake().enter(function);
    if (!fake().remove(kind, handle)) return CUDA_ERROR_INVALID_HANDLE;
    return fault;
  }

  static CUresult allocate(const char* function, const char* kind, CUdeviceptr* pointer,
                           std::size_t size) {
    if (const CUresult fault = fake().enter(function)) return fault;
    void* memory = std::malloc(size);
    *pointer = reinterpret_cast<std::uintptr_t>(memory);
    fake().add(kind, memory);
    return CUDA_SUCCESS;
  }

  static CUresult release(const char* function, const char* kind, CUdeviceptr pointer) {
    const CUresult fault = fake().enter(function);
    if (!fake().remove(kind, host(pointer))) return CUDA_ERROR_INVALID_VALUE;
    std::free(host(pointer));
    return fault;
  }

  static CUresult query(const char* function) {
    if (const CUresult fault = fake().enter(function)) return fault;
    if (fake().queries_until_ready.load() <= 0) return CUDA_SUCCESS;
    fake().queries_until_ready.fetch_sub(1);
    return CUDA_ERROR_NOT_READY;
  }

  static void fill_devices(driver::DriverApi& table);
  static void fill_contexts(driver::DriverApi& table);
  static void fill_streams(driver::DriverApi& table);
  static void fill_memory(driver::DriverApi& table);
  static void fill_pools(driver::DriverApi& table);
  static void fill_kernels(driver::DriverApi& table);
};

void FakeCalls::fill_devices(driver::DriverApi& table) {
  table.version = 13000;
  table.path = "fake";
  table.cuInit = [](unsigned) { return CUDA_SUCCESS; };
  table.cuDriverGetVersion = [](int* version) { return *version = 13000, CUDA_SUCCESS; };
  table.cuGetErrorName = [](CUresult result, const char** name) {
    return *name = name_of(result), CUDA_SUCCESS;
  };
  table.cuGetErrorString = [](CUresult, const char** text) {
    return *text = "what the driver says", CUDA_SUCCESS;
  };
  table.cuDeviceGetCount = [](int* count) {
    if (const CUresult fault = fake().enter("cuDeviceGetCount")) return fault;
    return *count = FakeDriver::devices, CUDA_SUCCESS;
  };
  table.cuDeviceGetName = [](char* name, int size, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  table.cuDeviceGetUuid = [](CUuuid* uuid, CUdevice) {
    for (std::size_t i = 0; i < sizeof(uuid->bytes); ++i) {
      uuid->bytes[i] = static_cast<char>(0xF0 + i);
    }
    return CUDA_SUCCESS;
  };
  table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
    if (const CUresult fault = fake().enter("cuDeviceGetAttribute")) return fault;
    return *value = attribute_of(attribute, device), CUDA_SUCCESS;
  };
  table.cuDeviceGetPCIBusId = [](char* id, int size, CUdevice) {
    std::strncpy(id, "0000:41:00.0", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  table.cuDeviceCanAccessPeer = [](int* can, CUdevice, CUdevice) { return *can = 1, CUDA_SUCCESS; };
  table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice device) {
    if (const CUresult fault = fake().enter("cuDevicePrimaryCtxRetain")) return fault;
    CUcontext& primary = fake().primary_[static_cast<std::size_t>(device)];
    if (primary == nullptr) primary = fake().create_context(device);
    return *context = primary, CUDA_SUCCESS;
  };
}

void FakeCalls::fill_contexts(driver::DriverApi& table) {
  table.cuCtxGetCurrent = [](CUcontext* context) {
    if (const CUresult fault = fake().enter("cuCtxGetCurrent")) return fault;
    return *context = FakeDriver::current(), CUDA_SUCCESS;
  };
  table.cuCtxSetCurrent = [](CUcontext context) {
    const CUresult fault = fake().enter("cuCtxSetCurrent");
    if (fault == CUDA_SUCCESS) FakeDriver::set_current(context);
    return fault;
  };
  table.cuCtxGetDevice = [](CUdevice* device) {
    if (const CUresult fault = fake().enter("cuCtxGetDevice")) return fault;
    if (FakeDriver::current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const std::scoped_lock lock(fake().mutex_);
    return *device = fake().context_device_.at(FakeDriver::current()), CUDA_SUCCESS;
  };
  table.cuCtxGetId = [](CUcontext context, unsigned long long* id) {
    if (const CUresult fault = fake().enter("cuCtxGetId")) return fault;
    const std::scoped_lock lock(fake().mutex_);
    return *id = fake().context_id_.at(context), CUDA_SUCCESS;
  };
  table.cuCtxSynchronize = [] {
    if (const CUresult fault = fake().enter("cuCtxSynchronize")) return fault;
    while (fake().busy.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return CUDA_SUCCESS;
  };
  table.cuCtxGetStreamPriorityRange = [](int* least, int* greatest) {
    if (const CUresult fault = fake().enter("cuCtxGetStreamPriorityRange")) return fault;
    return *least = 0, *greatest = -5, CUDA_SUCCESS;
  };
  table.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
    if (const CUresult fault = fake().enter("cuMemGetInfo")) return fault;
    return *free = std::size_t{1} << 30, *total = std::size_t{2} << 30, CUDA_SUCCESS;
  };
}

void FakeCalls::fill_streams(driver::DriverApi& table) {
  table.cuStreamCreateWithPriority = [](CUstream* stream, unsigned, int) {
    if (FakeDriver::current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return make("cuStreamCreateWithPriority", "stream", stream);
  };
  table.cuStreamDestroy = [](CUstream stream) {
    return destroy("cuStreamDestroy", "stream", stream);
  };
  table.cuStreamGetCtx = [](CUstream, CUcontext* context) {
    if (const CUresult fault = fake().enter("cuStreamGetCtx")) return fault;
    return *context = FakeDriver::current(), CUDA_SUCCESS;
  };
  table.cuStreamGetId = [](CUstream stream, unsigned long long* id) {
    if (const CUresult fault = fake().enter("cuStreamGetId")) return fault;
    return *id = reinterpret_cast<std::uintptr_t>(stream), CUDA_SUCCESS;
  };
  table.cuStreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    if (const CUresult fault = fake().enter("cuStreamIsCapturing")) return fault;
    const CUstream captured = fake().captured.load();
    if (captured != nullptr && stream == CU_STREAM_LEGACY) {
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    *status = captured != nullptr && stream == captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                        : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  table.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  table.cuStreamGetFlags = [](CUstream, unsigned* flags) {
    if (const CUresult fault = fake().enter("cuStreamGetFlags")) return fault;
    return *flags = CU_STREAM_NON_BLOCKING, CUDA_SUCCESS;
  };
  table.cuStreamGetPriority = [](CUstream, int* priority) {
    if (const CUresult fault = fake().enter("cuStreamGetPriority")) return fault;
    return *priority = -1, CUDA_SUCCESS;
  };
  table.cuStreamSynchronize = [](CUstream) { return fake().enter("cuStreamSynchronize"); };
  table.cuStreamQuery = [](CUstream) { return query("cuStreamQuery"); };
  table.cuStreamWaitEvent = [](CUstream, CUevent, unsigned) {
    return fake().enter("cuStreamWaitEvent");
  };
  table.cuLaunchHostFunc = [](CUstream, CUhostFn function, void* argument) {
    if (const CUresult fault = fake().enter("cuLaunchHostFunc")) return fault;
    function(argument);
    return CUDA_SUCCESS;
  };
  table.cuEventCreate = [](CUevent* event, unsigned) {
    if (FakeDriver::current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return make("cuEventCreate", "event", event);
  };
  table.cuEventDestroy = [](CUevent event) { return destroy("cuEventDestroy", "event", event); };
  table.cuEventRecord = [](CUevent, CUstream) { return fake().enter("cuEventRecord"); };
  table.cuEventQuery = [](CUevent) { return query("cuEventQuery"); };
  table.cuEventSynchronize = [](CUevent) { return fake().enter("cuEventSynchronize"); };
  table.cuEventElapsedTime = [](float* milliseconds, CUevent, CUevent) {
    if (const CUresult fault = fake().enter("cuEventElapsedTime")) return fault;
    return *milliseconds = 1.5F, CUDA_SUCCESS;
  };
}

void FakeCalls::fill_memory(driver::DriverApi& table) {
  table.cuMemAlloc = [](CUdeviceptr* pointer, std::size_t size) {
    return allocate("cuMemAlloc", "memory", pointer, size);
  };
  table.cuMemFree = [](CUdeviceptr pointer) { return release("cuMemFree", "memory", pointer); };
  table.cuMemAllocHost = [](void** pointer, std::size_t size) {
    CUdeviceptr address = 0;
    const CUresult result = allocate("cuMemAllocHost", "host memory", &address, size);
    *pointer = host(address);
    return result;
  };
  table.cuMemFreeHost = [](void* pointer) {
    return release("cuMemFreeHost", "host memory", reinterpret_cast<std::uintptr_t>(pointer));
  };
  table.cuPointerGetAttributes = [](unsigned count, CUpointer_attribute* attributes, void** values,
                                    CUdeviceptr) {
    if (const CUresult fault = fake().enter("cuPointerGetAttributes")) return fault;
    for (unsigned i = 0; i < count; ++i) {
      const int answer =
          attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? CU_MEMORYTYPE_DEVICE : 0;
      std::memcpy(values[i], &answer, sizeof(answer));
    }
    return CUDA_SUCCESS;
  };
  table.cuMemcpyAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream) {
    if (const CUresult fault = fake().enter("cuMemcpyAsync")) return fault;
    std::memcpy(host(to), host(from), size);
    return CUDA_SUCCESS;
  };
  table.cuMemsetD8Async = [](CUdeviceptr pointer, unsigned char value, std::size_t count,
                             CUstream) {
    const CUresult fault = fake().enter("cuMemsetD8Async");
    return fault != CUDA_SUCCESS ? fault : fill(pointer, value, count);
  };
  table.cuMemsetD16Async = [](CUdeviceptr pointer, unsigned short value, std::size_t count,
                              CUstream) {
    const CUresult fault = fake().enter("cuMemsetD16Async");
    return fault != CUDA_SUCCESS ? fault : fill(pointer, value, count);
  };
  table.cuMemsetD32Async = [](CUdeviceptr pointer, unsigned value, std::size_t count, CUstream) {
    const CUresult fault = fake().enter("cuMemsetD32Async");
    return fault != CUDA_SUCCESS ? fault : fill(pointer, value, count);
  };
}

void FakeCalls::fill_pools(driver::DriverApi& table) {
  table.cuMemAllocFromPoolAsync = [](CUdeviceptr* pointer, std::size_t size, CUmemoryPool,
                                     CUstream) {
    return allocate("cuMemAllocFromPoolAsync", "pool memory", pointer, size);
  };
  table.cuMemFreeAsync = [](CUdeviceptr pointer, CUstream stream) {
    {
      const std::scoped_lock lock(fake().mutex_);
      fake().free_streams.push_back(stream);
    }
    return release("cuMemFreeAsync", "pool memory", pointer);
  };
  table.cuMemPoolCreate = [](CUmemoryPool* pool, const CUmemPoolProps*) {
    return make("cuMemPoolCreate", "pool", pool);
  };
  table.cuMemPoolDestroy = [](CUmemoryPool pool) {
    return destroy("cuMemPoolDestroy", "pool", pool);
  };
  table.cuMemPoolGetAttribute = [](CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    if (const CUresult fault = fake().enter("cuMemPoolGetAttribute")) return fault;
    const std::uint64_t known = fake().pool_attributes_[{pool, attribute}];
    const bool narrow = attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    std::memcpy(value, &known, narrow ? sizeof(int) : sizeof(known));
    return CUDA_SUCCESS;
  };
  table.cuMemPoolSetAttribute = [](CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
    if (const CUresult fault = fake().enter("cuMemPoolSetAttribute")) return fault;
    const bool narrow = attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    std::uint64_t given = 0;
    std::memcpy(&given, value, narrow ? sizeof(int) : sizeof(given));
    fake().pool_attributes_[{pool, attribute}] = given;
    return CUDA_SUCCESS;
  };
  table.cuMemPoolSetAccess = [](CUmemoryPool, const CUmemAccessDesc*, std::size_t) {
    return fake().enter("cuMemPoolSetAccess");
  };
  table.cuMemPoolTrimTo = [](CUmemoryPool, std::size_t) { return fake().enter("cuMemPoolTrimTo"); };
  table.cuDeviceGetMemPool = [](CUmemoryPool* pool, CUdevice device) {
    if (const CUresult fault = fake().enter("cuDeviceGetMemPool")) return fault;
    *pool = reinterpret_cast<CUmemoryPool>(std::uintptr_t{0x100} + static_cast<unsigned>(device));
    return CUDA_SUCCESS;
  };
  table.cuMemGetMemPool = [](CUmemoryPool* pool, CUmemLocation*, CUmemAllocationType) {
    if (const CUresult fault = fake().enter("cuMemGetMemPool")) return fault;
    return *pool = reinterpret_cast<CUmemoryPool>(std::uintptr_t{0x200}), CUDA_SUCCESS;
  };
}

void FakeCalls::fill_kernels(driver::DriverApi& table) {
  table.cuLibraryUnload = [](CUlibrary library) {
    return destroy("cuLibraryUnload", "library", library);
  };
  table.cuLibraryLoadData = [](CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**,
                               unsigned) { return make("cuLibraryLoadData", "library", library); };
  table.cuLibraryGetModule = [](CUmodule* module, CUlibrary) {
    if (const CUresult fault = fake().enter("cuLibraryGetModule")) return fault;
    return *module = nullptr, CUDA_SUCCESS;
  };
  table.cuKernelGetName = [](const char** name, CUkernel kernel) {
    if (const CUresult fault = fake().enter("cuKernelGetName")) return fault;
    return *name = kernel_of(kernel).symbol.c_str(), CUDA_SUCCESS;
  };
  table.cuKernelGetParamInfo = [](CUkernel kernel, std::size_t index, std::size_t* offset,
                                  std::size_t* size) {
    if (const CUresult fault = fake().enter("cuKernelGetParamInfo")) return fault;
    const std::vector<std::size_t>& sizes = kernel_of(kernel).parameter_sizes;
    if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    return *size = sizes[index], CUDA_SUCCESS;
  };
  table.cuKernelGetFunction = [](CUfunction* function, CUkernel kernel) {
    if (const CUresult fault = fake().enter("cuKernelGetFunction")) return fault;
    return *function = reinterpret_cast<CUfunction>(kernel), CUDA_SUCCESS;
  };
  table.cuKernelGetAttribute = [](int* value, CUfunction_attribute attribute, CUkernel kernel,
                                  CUdevice) {
    if (const CUresult fault = fake().enter("cuKernelGetAttribute")) return fault;
    const FakeKernel& known = kernel_of(kernel);
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK           ? known.max_threads
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES             ? known.static_shmem
             : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? known.dynamic_shmem
                                                                            : 40;
    return CUDA_SUCCESS;
  };
  table.cuKernelSetAttribute = [](CUfunction_attribute attribute, int value, CUkernel kernel,
                                  CUdevice) {
    if (const CUresult fault = fake().enter("cuKernelSetAttribute")) return fault;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      kernel_of(kernel).dynamic_shmem = value;
    }
    return CUDA_SUCCESS;
  };
  table.cuLaunchKernelEx = [](const CUlaunchConfig* config, CUfunction function, void** parameters,
                              void**) {
    if (const CUresult fault = fake().enter("cuLaunchKernelEx")) return fault;
    if (FakeDriver::current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const std::scoped_lock lock(fake().mutex_);
    FakeLaunch& launch = fake().last_launch;
    launch.config = *config;
    launch.attributes.assign(config->attrs, config->attrs + config->numAttrs);
    launch.function = function;
    launch.parameters.clear();
    const std::vector<std::size_t>& sizes = kernel_of(function).parameter_sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto* bytes = static_cast<const unsigned char*>(parameters[i]);
      launch.parameters.emplace_back(bytes, bytes + sizes[i]);
    }
    return CUDA_SUCCESS;
  };
  table.cuOccupancyMaxActiveBlocksPerMultiprocessor =
      [](int* blocks, CUfunction, int, std::size_t) { return *blocks = 2, CUDA_SUCCESS; };
  table.cuOccupancyMaxPotentialBlockSize = [](int* grid, int* block, CUfunction,
                                              CUoccupancyB2DSize shared_memory, std::size_t bytes,
                                              int) {
    *grid = static_cast<int>(shared_memory != nullptr ? shared_memory(128) : bytes);
    return *block = 128, CUDA_SUCCESS;
  };
  table.cuOccupancyAvailableDynamicSMemPerBlock = [](std::size_t* bytes, CUfunction, int, int) {
    return *bytes = 4096, CUDA_SUCCESS;
  };
  table.cuOccupancyMaxPotentialClusterSize = [](int* size, CUfunction, const CUlaunchConfig*) {
    return *size = 8, CUDA_SUCCESS;
  };
  table.cuOccupancyMaxActiveClusters = [](int* clusters, CUfunction, const CUlaunchConfig*) {
    return *clusters = 16, CUDA_SUCCESS;
  };
}

void fill_table(driver::DriverApi& table) {
  FakeCalls::fill_devices(table);
  FakeCalls::fill_contexts(table);
  FakeCalls::fill_streams(table);
  FakeCalls::fill_memory(table);
  FakeCalls::fill_pools(table);
  FakeCalls::fill_kernels(table);
  fill_arrays(table);
  fill_virtual_memory(table);
  fill_green_contexts(table);
}

}  // namespace cudacore::testing
