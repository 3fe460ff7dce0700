// SPDX-License-Identifier: Apache-2.0
#pragma once

// The driver's opaque handle types, declared exactly as in cuda.h, so that a program may include
// either header, or both, in any order.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUmod_st;
struct CUmemPoolHandle_st;
struct CUarray_st;
struct CUmipmappedArray_st;
struct CUextMemory_st;
struct CUextSemaphore_st;
struct CUgraphicsResource_st;

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUlibrary = CUlib_st*;
using CUkernel = CUkern_st*;
using CUfunction = CUfunc_st*;
using CUmodule = CUmod_st*;
using CUmemoryPool = CUmemPoolHandle_st*;
using CUarray = CUarray_st*;
using CUmipmappedArray = CUmipmappedArray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUexternalMemory = CUextMemory_st*;
using CUexternalSemaphore = CUextSemaphore_st*;
using CUgraphicsResource = CUgraphicsResource_st*;
