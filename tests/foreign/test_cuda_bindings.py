# SPDX-License-Identifier: Apache-2.0
"""The driver API through cuda.bindings from PyPI."""

import ctypes
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda.bindings import nvrtc

VECTOR_ADD = pathlib.Path(__file__).with_name("vector_add.ptx").read_bytes() + b"\0"
CALLER = b""".version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 out) twice (.param .b32 in);
.visible .entry k(.param .u64 to) {
  .reg .b32 %r<3>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [to];
  cvta.to.global.u64 %d1, %d1;
  ld.global.u32 %r1, [%d1];
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    ld.param.b32 %r2, [b]; }
  st.global.u32 [%d1], %r2;
  ret;
}
\0"""
CALLEE = b""".version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 out) twice (.param .b32 in) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [in];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [out], %r2;
  ret;
}
\0"""
WILD = r"""
__device__ int counter = 7;
extern "C" __global__ void wild(int* x) {
  if (blockIdx.x == 1 && threadIdx.x == 3) {
    x[1 << 28] = 1;
  }
}
extern "C" __global__ void count() { atomicAdd(&counter, 1); }
"""


def ok(answer):
    """Return the result of a call without its code, which must be success."""
    result, *values = answer
    assert result == type(result)(0), result
    return values[0] if len(values) == 1 else tuple(values)


def ptx_of(source, *options):
    program = ok(nvrtc.nvrtcCreateProgram(source.encode(), b"wild.cu", 0, None, None))
    ok(nvrtc.nvrtcCompileProgram(program, len(options), list(options)))
    text = bytes(ok(nvrtc.nvrtcGetPTXSize(program)))
    ok(nvrtc.nvrtcGetPTX(program, text))
    return text


@pytest.fixture
def context():
    ok(cu.cuInit(0))
    context = ok(cu.cuCtxCreate(None, 0, ok(cu.cuDeviceGet(0))))
    yield context
    ok(cu.cuCtxDestroy(context))


@pytest.fixture
def stream(context):
    stream = ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield stream
    ok(cu.cuStreamDestroy(stream))


@pytest.fixture
def module(context):
    module = ok(cu.cuModuleLoadData(VECTOR_ADD))
    yield module
    ok(cu.cuModuleUnload(module))


@pytest.fixture
def arrays(context):
    """Three arrays of 1000 numbers on the device: 0 to 999, halves, and uninitialized."""
    left, right = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32)
    pointers = [ok(cu.cuMemAlloc(4000)) for _ in range(3)]
    ok(cu.cuMemcpyHtoD(pointers[0], left.ctypes.data, 4000))
    ok(cu.cuMemcpyHtoD(pointers[1], right.ctypes.data, 4000))
    yield pointers
    for pointer in pointers:
        ok(cu.cuMemFree(pointer))


def host_copy(pointer, count, dtype=np.float32):
    values = np.empty(count, dtype)
    ok(cu.cuMemcpyDtoH(values.ctypes.data, pointer, values.nbytes))
    return values


def test_the_driver_and_its_devices():
    ok(cu.cuInit(0))

    assert ok(cu.cuDriverGetVersion()) >= 12000
    assert ok(cu.cuDeviceGetCount()) == 2
    device = ok(cu.cuDeviceGet(0))
    assert b"simulated" in ok(cu.cuDeviceGetName(64, device))
    assert ok(cu.cuDeviceTotalMem(device)) == 1 << 30
    attributes = cu.CUdevice_attribute
    major = attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    assert ok(cu.cuDeviceGetAttribute(major, device)) == 9
    assert len(ok(cu.cuDeviceGetUuid(device)).bytes) == 16
    assert ok(cu.cuDeviceGetPCIBusId(16, device))
    assert ok(cu.cuDeviceCanAccessPeer(0, 1)) == 1
    assert cu.cuDeviceGet(2)[0] == cu.CUresult.CUDA_ERROR_INVALID_DEVICE


def test_every_attribute_of_a_device_is_known():
    device = ok(cu.cuDeviceGet(0))
    last = int(cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED)
    unknown = [
        attribute.name
        for attribute in cu.CUdevice_attribute
        if int(attribute) <= last and cu.cuDeviceGetAttribute(attribute, device)[0] != 0
    ]

    assert not unknown


def test_contexts_are_a_stack(context):
    inner = ok(cu.cuCtxCreate(None, 0, ok(cu.cuDeviceGet(1))))
    assert ok(cu.cuCtxGetCurrent()) == inner
    assert int(ok(cu.cuCtxGetDevice())) == 1
    assert ok(cu.cuCtxPopCurrent()) == inner
    assert ok(cu.cuCtxGetCurrent()) == context
    ok(cu.cuCtxPushCurrent(inner))
    ok(cu.cuCtxDestroy(inner))
    ok(cu.cuCtxSetCurrent(context))
    assert ok(cu.cuCtxGetStreamPriorityRange()) == (0, -5)
    ok(cu.cuCtxSynchronize())


def test_the_primary_context_is_shared():
    device = ok(cu.cuDeviceGet(1))
    context = ok(cu.cuDevicePrimaryCtxRetain(device))
    assert ok(cu.cuDevicePrimaryCtxRetain(device)) == context
    assert ok(cu.cuDevicePrimaryCtxGetState(device))[1] == 1
    ok(cu.cuDevicePrimaryCtxRelease(device))
    ok(cu.cuDevicePrimaryCtxRelease(device))


def test_a_launch_with_parameters(module, stream, arrays):
    function = ok(cu.cuModuleGetFunction(module, b"vector_add"))
    values = (*arrays, 1000)
    types = (None, None, None, ctypes.c_uint32)
    ok(cu.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, stream, (values, types), 0))
    ok(cu.cuStreamSynchronize(stream))

    np.testing.assert_array_equal(host_copy(arrays[2], 1000), np.arange(1000) + 0.5)


def test_a_launch_with_packed_parameters(module, stream, arrays):
    function = ok(cu.cuModuleGetFunction(module, b"vector_add"))

    class Parameters(ctypes.Structure):
        _fields_ = (
            ("left", ctypes.c_uint64),
            ("right", ctypes.c_uint64),
            ("sum", ctypes.c_uint64),
            ("count", ctypes.c_uint32),
        )

    packed = Parameters(*map(int, arrays), 1000)
    size = ctypes.c_size_t(28)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
    ok(cu.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, stream, 0, ctypes.addressof(extra)))
    ok(cu.cuStreamSynchronize(stream))

    np.testing.assert_array_equal(host_copy(arrays[2], 1000), np.arange(1000) + 0.5)


def test_a_function_tells_about_itself(module):
    function = ok(cu.cuModuleGetFunction(module, b"vector_add"))
    attributes = cu.CUfunction_attribute

    assert ok(cu.cuFuncGetName(function)) == b"vector_add"
    assert ok(cu.cuFuncGetModule(function)) == module
    assert [ok(cu.cuFuncGetParamInfo(function, i)) for i in range(4)] == [
        (0, 8),
        (8, 8),
        (16, 8),
        (24, 4),
    ]
    limit = attributes.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    assert ok(cu.cuFuncGetAttribute(limit, function)) == 1024
    shared = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    ok(cu.cuFuncSetAttribute(function, shared, 100_000))
    assert ok(cu.cuFuncGetAttribute(shared, function)) == 100_000
    assert ok(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 128, 0)) >= 1
    grid, block = ok(cu.cuOccupancyMaxPotentialBlockSize(function, None, 0, 0))
    assert grid > 0
    assert 0 < block <= 1024
    assert ok(cu.cuOccupancyAvailableDynamicSMemPerBlock(function, 1, 128)) > 0


def test_a_library_has_kernels(context, stream, arrays):
    library = ok(cu.cuLibraryLoadData(VECTOR_ADD, None, None, 0, None, None, 0))
    kernel = ok(cu.cuLibraryGetKernel(library, b"vector_add"))
    assert ok(cu.cuKernelGetName(kernel)) == b"vector_add"
    assert ok(cu.cuLibraryGetKernelCount(library)) == 1
    function = ok(cu.cuKernelGetFunction(kernel))
    values = ((*arrays, 1000), (None, None, None, ctypes.c_uint32))
    for callee in (function, cu.CUfunction(int(kernel))):
        ok(cu.cuMemsetD8(arrays[2], 0, 4000))
        ok(cu.cuLaunchKernel(callee, 8, 1, 1, 128, 1, 1, 0, stream, values, 0))
        ok(cu.cuStreamSynchronize(stream))
        np.testing.assert_array_equal(host_copy(arrays[2], 1000), np.arange(1000) + 0.5)
    ok(cu.cuLibraryUnload(library))


def test_a_global_of_a_module(context):
    module = ok(cu.cuModuleLoadData(ptx_of(WILD, b"-arch=sm_90")))
    pointer, size = ok(cu.cuModuleGetGlobal(module, b"counter"))
    assert size == 4
    assert host_copy(pointer, 1, np.int32)[0] == 7
    function = ok(cu.cuModuleGetFunction(module, b"count"))
    ok(cu.cuLaunchKernel(function, 3, 1, 1, 5, 1, 1, 0, 0, 0, 0))
    assert host_copy(pointer, 1, np.int32)[0] == 22
    ok(cu.cuModuleUnload(module))


def test_ptx_is_linked(context):
    state = ok(cu.cuLinkCreate(0, [], []))
    kind = cu.CUjitInputType.CU_JIT_INPUT_PTX
    for name, text in ((b"caller", CALLER), (b"callee", CALLEE)):
        ok(cu.cuLinkAddData(state, kind, text, len(text), name, 0, [], []))
    image, size = ok(cu.cuLinkComplete(state))
    assert size > 0
    module = ok(cu.cuModuleLoadData(image))
    ok(cu.cuLinkDestroy(state))
    function = ok(cu.cuModuleGetFunction(module, b"k"))
    pointer = ok(cu.cuMemAlloc(4))
    ok(cu.cuMemsetD32(pointer, 21, 1))
    ok(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ((pointer,), (None,)), 0))

    assert host_copy(pointer, 1, np.int32)[0] == 42
    ok(cu.cuMemFree(pointer))


def test_malformed_ptx_says_where(context):
    log = bytes(1024)
    options = cu.CUjit_option
    names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    text = VECTOR_ADD.replace(b"add.f32", b"odd.f32")
    result, _ = cu.cuModuleLoadDataEx(text, 2, names, [log, len(log)])

    assert result == cu.CUresult.CUDA_ERROR_INVALID_PTX
    line = text[: text.index(b"odd.f32")].count(b"\n") + 1
    assert str(line).encode() in log
    assert b"odd.f32" in log


def test_memory_is_set_and_copied(context, stream):
    one, other = (ok(cu.cuMemAlloc(64)) for _ in range(2))
    ok(cu.cuMemsetD8Async(one, 0xAB, 64, stream))
    ok(cu.cuMemsetD16Async(one, 0x1234, 4, stream))
    ok(cu.cuMemsetD32Async(int(one) + 32, 7, 2, stream))
    ok(cu.cuMemcpyDtoDAsync(other, one, 64, stream))
    host = ok(cu.cuMemHostAlloc(64, 0))
    ok(cu.cuMemcpyAsync(int(host), other, 64, stream))
    ok(cu.cuStreamSynchronize(stream))

    expected = bytearray(b"\xab" * 64)
    expected[:8] = b"\x34\x12" * 4
    expected[32:40] = b"\7\0\0\0" * 2
    assert ctypes.string_at(int(host), 64) == bytes(expected)
    ok(cu.cuMemFreeHost(host))
    ok(cu.cuMemFree(one))
    ok(cu.cuMemFree(other))
    assert cu.cuMemFree(other)[0] == cu.CUresult.CUDA_ERROR_INVALID_VALUE


def test_an_allocation_of_no_bytes(context, stream):
    invalid = cu.CUresult.CUDA_ERROR_INVALID_VALUE
    assert cu.cuMemAlloc(0)[0] == invalid
    nothing = ok(cu.cuMemAllocAsync(0, stream))
    assert int(nothing) == 0
    ok(cu.cuMemFreeAsync(nothing, stream))


def test_rows_are_copied(context):
    pointer, pitch = ok(cu.cuMemAllocPitch(12, 4, 4))
    values = np.arange(12, dtype=np.int32).reshape(4, 3)
    copy = cu.CUDA_MEMCPY2D()
    copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost = values.ctypes.data
    copy.srcPitch = 12
    copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstDevice = pointer
    copy.dstPitch = pitch
    copy.WidthInBytes = 12
    copy.Height = 4
    ok(cu.cuMemcpy2D(copy))

    assert pitch % 4 == 0
    rows = host_copy(pointer, pitch * 3 // 4 + 3, np.int32)
    for row in range(4):
        np.testing.assert_array_equal(rows[row * pitch // 4 :][:3], values[row])
    ok(cu.cuMemFree(pointer))


def test_a_pool_is_ordered_by_its_stream(context, stream):
    properties = cu.CUmemPoolProps()
    properties.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    pool = ok(cu.cuMemPoolCreate(properties))
    attributes = cu.CUmemPool_attribute
    threshold = attributes.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    ok(cu.cuMemPoolSetAttribute(pool, threshold, cu.cuuint64_t(1 << 20)))
    assert int(ok(cu.cuMemPoolGetAttribute(pool, threshold))) == 1 << 20
    pointer = ok(cu.cuMemAllocFromPoolAsync(4096, pool, stream))
    ok(cu.cuMemsetD32Async(pointer, 5, 1024, stream))
    ok(cu.cuStreamSynchronize(stream))
    assert (host_copy(pointer, 1024, np.int32) == 5).all()
    used = attributes.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    assert int(ok(cu.cuMemPoolGetAttribute(pool, used))) >= 4096
    ok(cu.cuMemFreeAsync(pointer, stream))
    ok(cu.cuStreamSynchronize(stream))
    assert int(ok(cu.cuMemPoolGetAttribute(pool, used))) == 0
    ok(cu.cuMemPoolTrimTo(pool, 0))
    ok(cu.cuMemPoolDestroy(pool))
    default = ok(cu.cuDeviceGetDefaultMemPool(0))
    assert ok(cu.cuDeviceGetMemPool(0)) == default


def test_a_pointer_tells_what_it_points_to(context):
    attribute = cu.CUpointer_attribute
    device, managed = ok(cu.cuMemAlloc(256)), ok(cu.cuMemAllocManaged(256, 1))
    asked = [
        attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    ]
    kind, ordinal, size, is_managed = ok(cu.cuPointerGetAttributes(4, asked, int(device) + 16))
    assert (int(kind), ordinal, size, bool(is_managed)) == (2, 0, 256, False)
    assert ok(cu.cuPointerGetAttributes(4, asked, managed))[3]
    base, whole = ok(cu.cuMemGetAddressRange(int(device) + 16))
    assert (int(base), whole) == (int(device), 256)
    wrong = cu.cuPointerGetAttribute(attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 64)
    assert wrong[0] == cu.CUresult.CUDA_ERROR_INVALID_VALUE
    ok(cu.cuMemFree(device))
    ok(cu.cuMemFree(managed))


def test_streams_and_events(stream):
    other = ok(cu.cuStreamCreateWithPriority(0, -1))
    start, end = (ok(cu.cuEventCreate(0)) for _ in range(2))
    ok(cu.cuEventRecord(start, stream))
    ok(cu.cuEventRecord(end, stream))
    ok(cu.cuStreamWaitEvent(other, end, 0))
    ok(cu.cuEventSynchronize(end))

    assert ok(cu.cuEventElapsedTime(start, end)) >= 0
    assert cu.cuEventQuery(end)[0] == cu.CUresult.CUDA_SUCCESS
    ok(cu.cuStreamSynchronize(other))
    assert cu.cuStreamQuery(other)[0] == cu.CUresult.CUDA_SUCCESS
    assert ok(cu.cuStreamGetPriority(other)) == -1
    assert ok(cu.cuStreamGetFlags(stream)) == 1
    for event in (start, end):
        ok(cu.cuEventDestroy(event))
    ok(cu.cuStreamDestroy(other))


def test_a_function_of_the_host_runs_in_its_turn(stream):
    seen = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    ok(cu.cuLaunchHostFunc(stream, cu.CUhostFn(_ptr=ctypes.addressof(callback)), 42))
    ok(cu.cuStreamSynchronize(stream))

    assert seen == [42]


def test_errors_have_names():
    error = cu.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS

    assert ok(cu.cuGetErrorName(error)) == b"CUDA_ERROR_ILLEGAL_ADDRESS"
    assert b"illegal" in ok(cu.cuGetErrorString(error))


@pytest.mark.parametrize(
    "call",
    [
        lambda: cu.cuImportExternalMemory(cu.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()),
    ],
    ids=["external memory"],
)
def test_what_is_not_simulated_says_so(context, call):
    assert call()[0] == cu.CUresult.CUDA_ERROR_NOT_SUPPORTED


def test_an_illegal_address_sticks_and_names_its_place(context):
    """In a separate process, which alone writes to its driver's log."""
    finished = subprocess.run(
        [sys.executable, __file__], check=False, capture_output=True, text=True, timeout=60
    )

    assert finished.returncode == 0, finished.stderr
    for part in ("wild", "block (1,0,0)", "thread (3,0,0)", "PTX line", "wild.cu:5"):
        assert part in finished.stdout


def go_astray():
    ok(cu.cuInit(0))
    ok(cu.cuCtxCreate(None, 0, ok(cu.cuDeviceGet(0))))
    module = ok(cu.cuModuleLoadData(ptx_of(WILD, b"-arch=sm_90", b"-lineinfo")))
    function = ok(cu.cuModuleGetFunction(module, b"wild"))
    pointer = ok(cu.cuMemAlloc(64))
    ok(cu.cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, 0, ((pointer,), (None,)), 0))
    error = cu.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert cu.cuCtxSynchronize()[0] == error
    assert cu.cuMemAlloc(64)[0] == error
    assert cu.cuStreamCreate(0)[0] == error
    text = bytes(20000)
    _, size = ok(cu.cuLogsDumpToMemory(None, text, len(text), 0))
    print(text[:size].decode())


if __name__ == "__main__":
    go_astray()
