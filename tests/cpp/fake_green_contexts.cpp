// SPDX-License-Identifier: Apache-2.0
//
// Limits of contexts, attributes of streams, and green contexts of a device of 132 multiprocessors.
#include <algorithm>
#include <cstring>

#include "fake_driver.hpp"

namespace cudacore::testing {

struct FakeGreenContexts {
  struct Fields {
    unsigned count, smallest, alignment, flags;
  };

  static FakeDriver& fake() { return FakeDriver::get(); }

  static CUdevResource resource_of(unsigned count) {
    CUdevResource resource{};
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    const Fields fields{count, 8, 8, 0};
    std::memcpy(&resource.sm, &fields, sizeof(fields));
    return resource;
  }
  static unsigned count_of(const CUdevResource& resource) {
    Fields fields{};
    std::memcpy(&fields, &resource.sm, sizeof(fields));
    return fields.count;
  }
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

  static void fill_settings(driver::DriverApi& table) {
    table.cuCtxGetLimit = [](std::size_t* value, CUlimit limit) {
      if (const CUresult fault = fake().enter("cuCtxGetLimit")) return fault;
      return *value = fake().limits[static_cast<int>(limit)], CUDA_SUCCESS;
    };
    table.cuCtxSetLimit = [](CUlimit limit, std::size_t value) {
      if (const CUresult fault = fake().enter("cuCtxSetLimit")) return fault;
      return fake().limits[static_cast<int>(limit)] = value, CUDA_SUCCESS;
    };
    table.cuCtxResetPersistingL2Cache = [] { return fake().enter("cuCtxResetPersistingL2Cache"); };
    table.cuStreamGetAttribute = [](CUstream, CUstreamAttrID id, CUstreamAttrValue* value) {
      if (const CUresult fault = fake().enter("cuStreamGetAttribute")) return fault;
      return *value = fake().stream_attributes[id], CUDA_SUCCESS;
    };
    table.cuStreamSetAttribute = [](CUstream, CUstreamAttrID id, const CUstreamAttrValue* value) {
      if (const CUresult fault = fake().enter("cuStreamSetAttribute")) return fault;
      return fake().stream_attributes[id] = *value, CUDA_SUCCESS;
    };
    table.cuStreamCopyAttributes = [](CUstream, CUstream) {
      return fake().enter("cuStreamCopyAttributes");
    };
  }

  static void fill_resources(driver::DriverApi& table) {
    table.cuDeviceGetDevResource = [](CUdevice, CUdevResource* resource, CUdevResourceType) {
      if (const CUresult fault = fake().enter("cuDeviceGetDevResource")) return fault;
      return *resource = resource_of(132), CUDA_SUCCESS;
    };
    table.cuCtxGetDevResource = [](CUcontext, CUdevResource* resource, CUdevResourceType) {
      if (const CUresult fault = fake().enter("cuCtxGetDevResource")) return fault;
      return *resource = resource_of(16), CUDA_SUCCESS;
    };
    table.cuStreamGetDevResource = [](CUstream, CUdevResource* resource, CUdevResourceType) {
      if (const CUresult fault = fake().enter("cuStreamGetDevResource")) return fault;
      return *resource = resource_of(16), CUDA_SUCCESS;
    };
    table.cuDevSmResourceSplitByCount = [](CUdevResource* result, unsigned* groups,
                                           const CUdevResource* input, CUdevResource* remainder,
                                           unsigned, unsigned least) {
      if (const CUresult fault = fake().enter("cuDevSmResourceSplitByCount")) return fault;
      const unsigned size = (std::max(least, 8U) + 7) / 8 * 8;
      *groups = std::min(*groups, count_of(*input) / size);
      std::fill_n(result, *groups, resource_of(size));
      return *remainder = resource_of(count_of(*input) - *groups * size), CUDA_SUCCESS;
    };
    table.cuDevSmResourceSplit = [](CUdevResource* result, unsigned groups,
                                    const CUdevResource* input, CUdevResource* remainder, unsigned,
                                    CU_DEV_SM_RESOURCE_GROUP_PARAMS* wanted) {
      if (const CUresult fault = fake().enter("cuDevSmResourceSplit")) return fault;
      unsigned left = count_of(*input);
      for (unsigned i = 0; i < groups; ++i) {
        if (wanted[i].smCount == 0) wanted[i].smCount = left / 8 * 8;
        left -= wanted[i].smCount;
        if (result != nullptr) result[i] = resource_of(wanted[i].smCount);
      }
      return *remainder = resource_of(left), CUDA_SUCCESS;
    };
    table.cuDevResourceGenerateDesc = [](CUdevResourceDesc* descriptor, CUdevResource*, unsigned) {
      if (const CUresult fault = fake().enter("cuDevResourceGenerateDesc")) return fault;
      return *descriptor = reinterpret_cast<CUdevResourceDesc>(16), CUDA_SUCCESS;
    };
    table.cuGreenCtxCreate = [](CUgreenCtx* green, CUdevResourceDesc, CUdevice, unsigned) {
      return make("cuGreenCtxCreate", "green context", green);
    };
    table.cuGreenCtxDestroy = [](CUgreenCtx green) {
      const CUresult fault = fake().enter("cuGreenCtxDestroy");
      return fake().remove("green context", green) ? fault : CUDA_ERROR_INVALID_CONTEXT;
    };
    table.cuCtxFromGreenCtx = [](CUcontext* context, CUgreenCtx) {
      if (const CUresult fault = fake().enter("cuCtxFromGreenCtx")) return fault;
      return *context = fake().create_context(0), CUDA_SUCCESS;
    };
    table.cuGreenCtxStreamCreate = [](CUstream* stream, CUgreenCtx, unsigned, int) {
      return make("cuGreenCtxStreamCreate", "stream", stream);
    };
  }
};

void fill_green_contexts(driver::DriverApi& table) {
  FakeGreenContexts::fill_settings(table);
  FakeGreenContexts::fill_resources(table);
}

}  // namespace cudacore::testing
