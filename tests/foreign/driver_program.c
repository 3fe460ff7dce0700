// SPDX-License-Identifier: Apache-2.0
//
// A plain C program of the driver API: it loads PTX from a file, adds two vectors and checks the
// sum. It declares what it calls, so that it needs no CUDA toolkit to be built.
#include <stdio.h>
#include <stdlib.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;

CUresult cuInit(unsigned int flags);
CUresult cuDeviceGet(CUdevice* device, int ordinal);
CUresult cuDeviceGetName(char* name, int length, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuModuleLoad(CUmodule* module, const char* path);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t size);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t size);
CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t size);
CUresult cuStreamCreate(CUstream* stream, unsigned int flags);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuEventCreate(CUevent* event, unsigned int flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream, void** params,
                        void** extra);
CUresult cuGetErrorName(CUresult error, const char** name);

static void check(CUresult result, const char* what) {
  if (result == 0) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %s\n", what, name);
  exit(1);
}

enum { count = 100000, threads = 256 };
static float left[count], right[count], sum[count];

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s PTX\n", argv[0]);
    return 2;
  }
  check(cuInit(0), "cuInit");
  CUdevice device;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  char name[256];
  check(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  CUcontext context;
  check(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
  CUmodule module;
  check(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
  CUfunction function;
  check(cuModuleGetFunction(&function, module, "vector_add"), "cuModuleGetFunction");

  for (int i = 0; i < count; ++i) {
    left[i] = (float)i;
    right[i] = 0.5f;
  }
  CUdeviceptr left_there, right_there, sum_there;
  check(cuMemAlloc_v2(&left_there, sizeof left), "cuMemAlloc");
  check(cuMemAlloc_v2(&right_there, sizeof right), "cuMemAlloc");
  check(cuMemAlloc_v2(&sum_there, sizeof sum), "cuMemAlloc");
  check(cuMemcpyHtoD_v2(left_there, left, sizeof left), "cuMemcpyHtoD");
  check(cuMemcpyHtoD_v2(right_there, right, sizeof right), "cuMemcpyHtoD");

  CUstream stream;
  CUevent start, end;
  check(cuStreamCreate(&stream, 1), "cuStreamCreate");
  check(cuEventCreate(&start, 0), "cuEventCreate");
  check(cuEventCreate(&end, 0), "cuEventCreate");
  unsigned int n = count;
  void* params[] = {&left_there, &right_there, &sum_there, &n};
  check(cuEventRecord(start, stream), "cuEventRecord");
  check(cuLaunchKernel(function, (count + threads - 1) / threads, 1, 1, threads, 1, 1, 0, stream,
                       params, NULL),
        "cuLaunchKernel");
  check(cuEventRecord(end, stream), "cuEventRecord");
  check(cuStreamSynchronize(stream), "cuStreamSynchronize");
  float milliseconds;
  check(cuEventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
  check(cuMemcpyDtoH_v2(sum, sum_there, sizeof sum), "cuMemcpyDtoH");
  for (int i = 0; i < count; ++i) {
    if (sum[i] != left[i] + 0.5f) {
      fprintf(stderr, "sum[%d] is %f\n", i, (double)sum[i]);
      return 1;
    }
  }

  check(cuEventDestroy_v2(start), "cuEventDestroy");
  check(cuEventDestroy_v2(end), "cuEventDestroy");
  check(cuStreamDestroy_v2(stream), "cuStreamDestroy");
  check(cuMemFree_v2(left_there), "cuMemFree");
  check(cuMemFree_v2(right_there), "cuMemFree");
  check(cuMemFree_v2(sum_there), "cuMemFree");
  check(cuModuleUnload(module), "cuModuleUnload");
  check(cuCtxDestroy_v2(context), "cuCtxDestroy");
  printf("%s: added %d numbers in %.3f ms\n", name, count, (double)milliseconds);
  return 0;
}
