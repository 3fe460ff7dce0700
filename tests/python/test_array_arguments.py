# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as arguments of kernels."""

import contextlib
import ctypes
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode, Stream, launch
from foreign_arrays import (
    BFLOAT,
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    DEVICE_ARRAYS,
    FLOAT8_E4M3FN,
    CapsuleArray,
    CudaArray,
    CurrentStream,
    ExchangeArray,
    FromObject,
    HostArray,
    OldCapsuleArray,
    exchange_api,
    exchange_capsule,
)
from harness import build, host_bytes, ptx

SOURCE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda/std/complex>
#include <cuda/std/cstddef>

__global__ void scale(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

struct Particle { float x, y, z; int id; };
enum class Color : unsigned { red };

template <typename T>
__global__ void take(unsigned long long* out, T pointer) {
  *out = reinterpret_cast<unsigned long long>(pointer);
}
template <typename T>
__global__ void take_value(T value) {}
"""

#: Pointees with the types of the elements that they take, as (NumPy's dtype, DLPack's own code).
TAKEN: dict[str, list[Any]] = {
    "bool": [np.bool_],
    "char": [np.int8, np.uint8, np.bool_],
    "signed char": [np.int8, np.uint8],
    "unsigned char": [np.uint8, np.int8, np.bool_],
    "short": [np.int16],
    "unsigned short": [np.uint16],
    "int": [np.int32],
    "unsigned int": [np.uint32],
    "long": [np.int64],
    "long long": [np.int64],
    "unsigned long": [np.uint64],
    "unsigned long long": [np.uint64],
    "__half": [np.float16],
    "__nv_bfloat16": [(np.float16, BFLOAT), "V2"],
    "__nv_fp8_e4m3": [(np.int8, FLOAT8_E4M3FN), "V1"],
    "float": [np.float32, "V4"],
    "double": [np.float64],
    "cuda::std::complex<float>": [np.complex64],
    "cuda::std::complex<double>": [np.complex128],
    "float2": [np.complex64, np.float32, "V8"],
    "float4": [np.float32, "V16"],
    "int3": [np.int32],
    "uchar4": [np.uint8],
    "__half2": [np.float16],
    "float*": [np.uint64, np.int64],
    "cuda::std::byte": [np.uint8, np.float64, np.complex128, "V12"],
    "void": [np.uint8, np.float64, np.complex128, "V12"],
    "Particle": [np.uint8, np.float32, "V16"],
    "Color": [np.uint32],
}

#: Elements that a pointee doesn't take.
REFUSED: dict[str, list[Any]] = {
    "bool": [np.uint8, np.int32],
    "char": [np.int16, np.float32],
    "unsigned char": [np.float32, "V4"],
    "int": [np.uint32, np.int64, np.float32, "V8"],
    "unsigned int": [np.int32],
    "long long": [np.uint64, np.float64, np.int32],
    "__half": [np.float32, np.int16, (np.float16, BFLOAT)],
    "__nv_bfloat16": [np.float16],
    "__nv_fp8_e4m3": [np.int8, (np.int8, 12)],
    "float": [np.float64, np.float16, np.int32, np.complex64],
    "double": [np.float32, np.int64, np.complex64],
    "cuda::std::complex<float>": [np.complex128, np.float64],
    "float4": [np.float64, np.int32, "V8"],
    "float*": [np.float64, np.uint32],
}


def argument_type(pointee: str) -> str:
    return f"take<{pointee}*>"


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    pointers = [argument_type(pointee) for pointee in TAKEN]
    return build(SOURCE, *pointers, "take<const float*>", "take_value<float>")


@pytest.fixture
def scale(code: ObjectCode) -> Kernel:
    return code.get_kernel("scale")


@pytest.fixture
def memory(pinned: Callable[[int], Buffer]) -> Buffer:
    """Sixteen floats, 0 to 15, that the host can see too."""
    buffer = pinned(64)
    ctypes.memmove(buffer.handle, np.arange(16, dtype=np.float32).ctypes.data, 64)
    return buffer


@pytest.fixture
def block(device: Device, scale: Kernel) -> Iterator[Buffer]:
    """Memory of the device, 4 KiB. A launch has asked its resource where it is."""
    with device.allocate(4096) as buffer:
        scale[1, 1](buffer, buffer, 1.0, 0)
        yield buffer
        device.sync()


@pytest.fixture(autouse=True)
def default_current_stream() -> Iterator[None]:
    yield
    ExchangeArray.current_stream = None


def floats(buffer: Buffer) -> list[float]:
    return np.frombuffer(host_bytes(buffer), np.float32).tolist()


def refused(scale: Kernel, array: Any, *, position: int = 2) -> str:
    """The message of the TypeError for an array in place of x; nothing may be launched."""
    out = [0, 0]
    out[position - 1] = array
    with pytest.raises(TypeError) as caught:
        scale[1, 1](*out, 1.0, 1)
    message = str(caught.value)
    name = {1: "'y' (float*)", 2: "'x' (float const*)"}[position]
    assert message.startswith(f"scale: argument {position} {name} cannot take a "), message
    return message


class TestEveryProtocol:
    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_kernel_reads_and_writes(
        self, scale: Kernel, stream: Stream, memory: Buffer, pinned: Any, array: Any
    ) -> None:
        out = pinned(64)
        kind = (CUDA_HOST, 0)
        x = array(memory.handle, (4, 4), device=kind)
        y = array(out.handle, (16,), device=kind)
        scale[1, 32, stream](y, x, 2.0, 16)
        stream.sync()
        assert floats(out) == [2.0 * i for i in range(16)]

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_memory_of_the_device(
        self, code: ObjectCode, block: Buffer, pinned: Any, array: Any
    ) -> None:
        out = pinned(8)
        code.get_kernel("take<float*>")[1, 1](out, array(block.handle, (2, 3)))
        Device(0).sync()
        assert int.from_bytes(host_bytes(out), "little") == block.handle

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_launch_function(
        self, scale: Kernel, stream: Stream, block: Buffer, array: Any
    ) -> None:
        launch(stream, {"grid": 1, "block": 1}, scale, block, array(block.handle, (16,)), 1.0, 16)

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    @pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (2**40, 0)])
    def test_empty_array_has_no_memory(self, scale: Kernel, array: Any, shape: Any) -> None:
        scale[1, 1](array(0, shape), array(0, shape, strides=[1] * len(shape)), 1.0, 0)

    def test_byte_offset_is_added(self, code: ObjectCode, block: Buffer, pinned: Any) -> None:
        out = pinned(8)
        array = ExchangeArray(block.handle, (2,), byte_offset=256)
        code.get_kernel("take<float*>")[1, 1](out, array)
        Device(0).sync()
        assert int.from_bytes(host_bytes(out), "little") == block.handle + 256

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_strides_of_single_elements_mean_nothing(
        self, scale: Kernel, block: Buffer, array: Any
    ) -> None:
        one = array(block.handle, (1, 4, 1), strides=(77, 1, -5))
        scale[1, 1](one, one, 1.0, 4)

    def test_exchange_api_is_used_before_the_others(self, scale: Kernel, block: Buffer) -> None:
        class Both(ExchangeArray, CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                raise AssertionError

        both = Both(block.handle, (16,))
        scale[1, 1](block, both, 1.0, 16)
        assert (both.borrowed, both.streams) == (1, [])

    def test_library_without_borrowing(self, scale: Kernel, block: Buffer) -> None:
        class Sharing(ExchangeArray):
            __dlpack_c_exchange_api__ = exchange_capsule(
                exchange_api(borrow_from_object=FromObject())
            )

        array = Sharing(block.handle, (16,))
        scale[1, 1](block, array, 1.0, 16)
        assert (array.borrowed, array.released) == (0, 1)

    def test_attribute_of_the_object_alone(self, scale: Kernel, block: Buffer) -> None:
        class Holder:
            pass

        holder = Holder()
        holder.__cuda_array_interface__ = CudaArray(  # type: ignore[attr-defined]
            block.handle, (16,)
        ).__cuda_array_interface__
        scale[1, 1](block, holder, 1.0, 16)

    def test_attribute_error_means_none(self, scale: Kernel) -> None:
        class Off:
            @property
            def __cuda_array_interface__(self) -> Any:
                raise AttributeError("on the CPU")

        refused(scale, Off())

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_parameters_of_which_only_the_bytes_are_known(
        self, device: Device, block: Buffer, array: Any, pinned: Any
    ) -> None:
        out = pinned(8)
        source = """.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .u64 value) {
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [value];
  st.u64 [%rd1], %rd2;
  ret;
}
"""
        store = ObjectCode.from_ptx(source).get_kernel("store")
        store[1, 1](out, array(block.handle, (3,), np.float64))
        device.sync()
        assert int.from_bytes(host_bytes(out), "little") == block.handle


def fake(dtype: Any, address: int, shape: tuple[int, ...] = (12,)) -> Any:
    """An array of NumPy's type, or of (a type of the same size, DLPack's code)."""
    if isinstance(dtype, tuple):
        return ExchangeArray(address, shape, dtype[0], code=dtype[1])
    dtype = np.dtype(dtype)
    if dtype.kind == "V":
        return CudaArray(address, shape, dtype)
    return ExchangeArray(address, shape, dtype)


class TestElements:
    @pytest.mark.parametrize(
        ("pointee", "dtype"), [(name, dtype) for name in TAKEN for dtype in TAKEN[name]]
    )
    def test_taken(
        self, code: ObjectCode, block: Buffer, pinned: Any, pointee: str, dtype: Any
    ) -> None:
        out = pinned(8)
        code.get_kernel(argument_type(pointee))[1, 1](out, fake(dtype, block.handle))
        Device(0).sync()
        assert int.from_bytes(host_bytes(out), "little") == block.handle

    @pytest.mark.parametrize(
        ("pointee", "dtype"), [(name, dtype) for name in REFUSED for dtype in REFUSED[name]]
    )
    def test_refused(self, code: ObjectCode, block: Buffer, pointee: str, dtype: Any) -> None:
        with pytest.raises(TypeError, match=r"its elements are .*, not ") as caught:
            code.get_kernel(argument_type(pointee))[1, 1](0, fake(dtype, block.handle))
        assert "argument 2 'pointer'" in str(caught.value)

    def test_message_names_both_types(self, scale: Kernel, block: Buffer) -> None:
        message = refused(scale, ExchangeArray(block.handle, (4,), np.float64))
        assert "cannot take a ExchangeArray: its elements are float64, not float;" in message

    @pytest.mark.parametrize(("shape", "offset"), [((6,), 0), ((16,), 4), ((2, 3), 0)])
    def test_vectors_must_be_whole_and_aligned(
        self, code: ObjectCode, block: Buffer, shape: Any, offset: int
    ) -> None:
        array = ExchangeArray(block.handle + offset, shape)
        with pytest.raises(TypeError, match="its elements are float32, not float4"):
            code.get_kernel("take<float4*>")[1, 1](0, array)

    def test_array_for_a_number(self, code: ObjectCode, block: Buffer) -> None:
        for array in DEVICE_ARRAYS:
            with pytest.raises(TypeError, match=r"pass one element, such as array.item\(\)"):
                code.get_kernel("take_value<float>")[1, 1](array(block.handle, ()))

    @pytest.mark.parametrize("array", [ExchangeArray, CudaArray, CapsuleArray])
    def test_read_only(self, scale: Kernel, block: Buffer, array: Any) -> None:
        if array is ExchangeArray:  # the C exchange API can't say so without a managed tensor

            class Sharing(ExchangeArray):
                __dlpack_c_exchange_api__ = exchange_capsule(
                    exchange_api(borrow_from_object=FromObject())
                )

            array = Sharing
        constant = array(block.handle, (16,), read_only=True)
        scale[1, 1](block, constant, 1.0, 16)
        assert "it is read-only" in refused(scale, constant, position=1)

    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    @pytest.mark.parametrize(
        ("shape", "strides"), [((4, 4), (1, 4)), ((4,), (2,)), ((4,), (-1,)), ((4, 4), (0, 1))]
    )
    def test_strided(
        self, scale: Kernel, block: Buffer, array: Any, shape: Any, strides: Any
    ) -> None:
        strided = array(block.handle + 2048, shape, strides=strides)
        message = refused(scale, strided)
        assert "it is not C-contiguous" in message
        assert "ascontiguousarray" in message


class TestWhereTheMemoryIs:
    @pytest.mark.multi_gpu
    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    def test_another_device(self, scale: Kernel, array: Any) -> None:
        with Device(1).allocate(64) as buffer:
            message = refused(scale, array(buffer.handle, (16,), device=(CUDA, 1)))
            assert "its memory is on device 1, and the launch is on device 0" in message

    @pytest.mark.multi_gpu
    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, HostArray])
    def test_memory_of_a_device_that_is_called_the_hosts(self, scale: Kernel, array: Any) -> None:
        with Device(1).allocate(64) as buffer:
            message = refused(scale, array(buffer.handle, (16,), device=(CPU, 0)))
            assert "its memory is on device 1" in message

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray])
    def test_device_of_no_cuda(self, scale: Kernel, block: Buffer, array: Any) -> None:
        message = refused(scale, array(block.handle, (16,), device=(10, 0)))
        assert "on DLPack's device type 10, which CUDA does not reach" in message

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, HostArray])
    def test_pageable_memory(self, device: Device, scale: Kernel, array: Any) -> None:
        if device.properties.pageable_memory_access:
            pytest.skip("this device reads it")
        host = np.zeros(16, np.float32)
        message = refused(scale, array(host.ctypes.data, (16,), device=(CPU, 0)))
        assert "it lives on the host; device.to_device(array) copies it into a Buffer" in message

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, HostArray])
    def test_pinned_memory(
        self, scale: Kernel, stream: Stream, memory: Buffer, pinned: Any, array: Any
    ) -> None:
        out = pinned(64)
        x = array(memory.handle, (16,), device=(CPU, 0))
        scale[1, 32, stream](array(out.handle, (16,), device=(CPU, 0)), x, 3.0, 16)
        stream.sync()
        assert floats(out) == [3.0 * i for i in range(16)]

    def test_numpy_over_pinned_memory(
        self, scale: Kernel, stream: Stream, memory: Buffer, pinned: Any
    ) -> None:
        out = pinned(64)
        y = np.frombuffer((ctypes.c_char * 64).from_address(out.handle), np.float32)
        x = np.frombuffer((ctypes.c_char * 64).from_address(memory.handle), np.float32)
        x.flags.writeable = False
        scale[1, 32, stream](y, x, 2.0, 16)
        stream.sync()
        assert y.tolist() == [2.0 * i for i in range(16)]
        assert "it is read-only" in refused(scale, x, position=1)

    def test_cuda_array_interface_of_memory_that_cuda_does_not_know(
        self, device: Device, scale: Kernel
    ) -> None:
        host = np.zeros(16, np.float32)
        message = refused(scale, CudaArray(host.ctypes.data, (16,)))
        assert "which CUDA does not know: was the memory freed?" in message


class TestStreams:
    def held(self, gate: Any, device: Device) -> Stream:
        stream = device.create_stream()
        gate.hold(stream)
        return stream

    def arrays(self, address: int, producer: Stream) -> list[Any]:
        ExchangeArray.current_stream = int(producer.handle)
        return [
            ExchangeArray(address, (16,)),
            CudaArray(address, (16,), stream=int(producer.handle)),
        ]

    @pytest.mark.parametrize("protocol", [0, 1])
    def test_launch_waits_for_the_producer(
        self, scale: Kernel, stream: Stream, block: Buffer, gate: Any, protocol: int
    ) -> None:
        producer = self.held(gate, Device(0))
        array = self.arrays(block.handle, producer)[protocol]
        scale[1, 1, stream](block, array, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()
        producer.sync()

    @pytest.mark.parametrize("protocol", [0, 1])
    def test_producer_waits_for_the_launch(
        self, device: Device, scale: Kernel, block: Buffer, gate: Any, protocol: int
    ) -> None:
        producer = device.create_stream()
        stream = self.held(gate, device)
        array = self.arrays(block.handle, producer)[protocol]
        scale[1, 1, stream](block, array, 1.0, 16)
        after = producer.record()
        assert not after.is_done
        gate.open()
        after.sync()
        stream.sync()

    def test_capsule_is_asked_for_on_the_launchs_stream(
        self, scale: Kernel, stream: Stream, block: Buffer
    ) -> None:
        for kind in (CapsuleArray, OldCapsuleArray):
            array = kind(block.handle, (16,))
            scale[1, 1, stream](block, array, 1.0, 16)
            scale[1, 1](block, array, 1.0, 16)
            assert array.streams == [int(stream.handle), 1]

    def test_host_has_no_stream(self, scale: Kernel, memory: Buffer) -> None:
        array = CapsuleArray(memory.handle, (16,), device=(CUDA_HOST, 0))
        scale[1, 1](0, array, 1.0, 0)
        assert array.streams == [None]

    @pytest.mark.parametrize("number", [1, 2])
    def test_default_streams_of_the_interface(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, number: int
    ) -> None:
        scale[1, 1, stream](block, CudaArray(block.handle, (16,), stream=number), 1.0, 16)
        scale[1, 1](block, CudaArray(block.handle, (16,), stream=number), 1.0, 16)
        device.sync()

    def test_version_2_is_on_the_default_stream(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        gate.hold(device.default_stream)
        array = CudaArray(block.handle, (16,), version=2)
        scale[1, 1, stream](block, array, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()

    def test_interface_without_a_stream_is_not_ordered(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        gate.hold(device.default_stream)
        scale[1, 1, stream](block, CudaArray(block.handle, (16,)), 1.0, 16)
        stream.sync()

    @pytest.mark.simulator_only(reason="a real driver may crash on such a handle")
    def test_number_that_is_no_stream(self, scale: Kernel, block: Buffer) -> None:
        message = refused(scale, CudaArray(block.handle, (16,), stream=12345))
        assert "its stream is none: cuStreamGetCtx failed" in message

    def test_several_producers(
        self, device: Device, scale: Kernel, stream: Stream, block: Buffer, gate: Any
    ) -> None:
        producers = [device.create_stream() for _ in range(3)]
        gate.hold(producers[2])
        ExchangeArray.current_stream = int(producers[0].handle)
        y = ExchangeArray(block.handle, (16,))
        for producer in producers[1:]:
            x = CudaArray(block.handle, (16,), stream=int(producer.handle))
            scale[1, 1, stream](y, x, 1.0, 16)
        launched = stream.record()
        assert not launched.is_done
        gate.open()
        launched.sync()


class TestLies:
    """What a protocol says is checked before it is used."""

    @pytest.mark.parametrize(
        ("lies", "expected"),
        [
            ({"shape": KeyError}, "lacks 'shape'"),
            ({"typestr": KeyError}, "lacks 'typestr'"),
            ({"data": KeyError}, "lacks 'data'"),
            ({"version": KeyError}, "lacks 'version'"),
            ({"version": 1}, "has version 1; cudacore knows 2 and 3"),
            ({"version": 4}, "has version 4"),
            ({"version": "3"}, "has 'version', which must be an int, not '3'"),
            ({"version": 2**70}, "has 'version'"),
            ({"shape": [16]}, "has 'shape', which must be a tuple"),
            ({"shape": 16}, "has 'shape', which must be a tuple"),
            ({"shape": ("16",)}, "has 'shape', which must be a tuple of ints"),
            ({"shape": (4.0,)}, "has 'shape', which must be a tuple of ints"),
            ({"shape": (-1,)}, "has a negative extent, -1"),
            ({"shape": (2**63,)}, "has 'shape'"),
            ({"shape": (2**62,)}, "has more elements than the address space holds"),
            ({"shape": (2**32, 2**32)}, "has more elements than the address space holds"),
            ({"shape": (1,) * 65}, "has 65 dimensions"),
            ({"strides": (4, 4)}, "has 'strides', which must be one for each dimension"),
            ({"strides": "4"}, "has 'strides', which must be a tuple"),
            ({"strides": (6,)}, "has a stride of 6 bytes"),
            ({"strides": (2**60,)}, "has strides that lead out of the address space"),
            ({"strides": (-(2**60),)}, "has strides that lead out of the address space"),
            ({"data": 16}, "has 'data', which must be (address, read_only)"),
            ({"data": (16,)}, "has 'data', which must be (address, read_only)"),
            ({"data": (None, False)}, "has a null address, but 16 elements"),
            ({"data": (0, False)}, "has a null address, but 16 elements"),
            ({"data": (-1, False)}, "has 'data', which must be (address, read_only)"),
            ({"data": (2**64, False)}, "has 'data', which must be (address, read_only)"),
            ({"data": (2**64 - 4, False)}, "has more elements than the address space holds"),
            ({"data": (1.5, False)}, "has 'data', which must be (address, read_only)"),
            ({"typestr": 4}, "has 'typestr', which must be such as '<f4', not 4"),
            ({"typestr": "f4"}, "has 'typestr'"),
            ({"typestr": "<f"}, "has 'typestr'"),
            ({"typestr": "<f-4"}, "has 'typestr'"),
            ({"typestr": "<f0"}, "has 'typestr'"),
            ({"typestr": "<f99999"}, "has 'typestr'"),
            ({"typestr": "?f4"}, "has 'typestr'"),
            ({"typestr": "\udc80f4"}, "has 'typestr'"),
            ({"typestr": ">f4"}, "has big-endian elements"),
            ({"typestr": "|O8"}, "has elements of type '|O8', which no device has"),
            ({"typestr": "<M8"}, "has elements of type '<M8', which no device has; view them"),
            ({"typestr": "<f3"}, "has elements of type '<f3'"),
            ({"mask": True}, "has a mask"),
            ({"stream": 0}, "has 'stream', which must be None, 1, 2 or a CUstream, not 0"),
            ({"stream": -1}, "has 'stream'"),
            ({"stream": "1"}, "has 'stream'"),
            ({"stream": True}, "has 'stream'"),
        ],
        ids=str,
    )  # fmt: skip
    def test_dict(self, scale: Kernel, block: Buffer, lies: Any, expected: str) -> None:
        liar = CudaArray(block.handle, (16,))
        liar.lies.update(lies)
        message = refused(scale, liar)
        assert f"its __cuda_array_interface__ {expected}" in message

    @pytest.mark.parametrize("value", [1, "dict", (), []])
    def test_no_dict(self, scale: Kernel, value: Any) -> None:
        class Liar:
            __cuda_array_interface__ = value

        assert "must be a dict" in refused(scale, Liar())

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, OldCapsuleArray])
    @pytest.mark.parametrize(
        ("lies", "expected"),
        [
            ({"dimensions": -1}, "has -1 dimensions"),
            ({"dimensions": 65}, "has 65 dimensions"),
            ({"dimensions": 2**31 - 1}, "dimensions"),
            ({"bits": 0}, "has elements of 0 bits"),
            ({"lanes": 0}, "has elements of 0 bits"),
            ({"shape": None}, "has dimensions, but no shape"),
            ({"byte_offset": 2**64 - 1}, "has more elements than the address space holds"),
            ({"code": 200}, "its elements are DLPack's type 200"),
            ({"lanes": 2}, "its elements are float32 x 2"),
        ],
        ids=str,
    )
    def test_tensor(
        self, scale: Kernel, block: Buffer, array: Any, lies: Any, expected: str
    ) -> None:
        liar = array(block.handle, (16,))
        liar.lies.update(lies)
        assert expected in refused(scale, liar)
        assert liar.released == len(liar.streams)

    @pytest.mark.parametrize("array", [ExchangeArray, CapsuleArray, OldCapsuleArray])
    @pytest.mark.parametrize(
        ("address", "layout", "expected"),
        [
            (0, ((4,), None), "has a null address, but 4 elements"),
            (4096, ((-1,), None), "has a negative extent, -1"),
            (4096, ((2**62, 2**62), None), "has more elements than the address space holds"),
            (4096, ((16,), (2**61,)), "has strides that lead out of the address space"),
            (4096, ((16,), (-(2**61),)), "has strides that lead out of the address space"),
            (4096, ((16,), (-512,)), "has strides that lead out of the address space"),
        ],
    )
    def test_extents(
        self, scale: Kernel, array: Any, address: int, layout: Any, expected: str
    ) -> None:
        shape, strides = layout
        liar = array(address, shape, strides=strides)
        assert expected in refused(scale, liar)
        assert liar.released == len(liar.streams)

    @pytest.mark.parametrize(
        ("lies", "expected", "released"),
        [
            ({"capsule": b"other"}, "returned a capsule named 'other'", 0),
            ({"capsule": b"used_dltensor"}, "returned a capsule that was consumed before", 0),
            ({"capsule": b"used_dltensor_versioned"}, "that was consumed before", 0),
            ({"version": (2, 0)}, "it speaks version 2 of DLPack; cudacore knows version 1", 1),
            ({"dlpack_device": (CUDA,)}, "its __dlpack_device__() must return (type, ordinal)", 0),
            ({"dlpack_device": [CUDA, 0]}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, "0")}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, 2**40)}, "its __dlpack_device__() must return", 0),
            ({"dlpack_device": (CUDA, -1)}, "its __dlpack_device__() must return", 0),
        ],
        ids=str,
    )
    def test_capsule(
        self, scale: Kernel, block: Buffer, lies: Any, expected: str, released: int
    ) -> None:
        array = CapsuleArray(block.handle, (16,), **lies)
        assert expected in refused(scale, array)
        assert array.released == released

    def test_no_capsule(self, scale: Kernel) -> None:
        class Liar(CapsuleArray):
            def __dlpack__(self, **_: Any) -> Any:
                return 42

        assert "its __dlpack__() must return a capsule, not 42" in refused(scale, Liar(0, (0,)))

    def test_no_device(self, scale: Kernel) -> None:
        class Liar:
            def __dlpack__(self, **_: Any) -> Any:
                raise AssertionError

        assert "it has __dlpack__, but no __dlpack_device__" in refused(scale, Liar())

    @pytest.mark.parametrize("array", [CapsuleArray, OldCapsuleArray])
    def test_managed_tensor_is_released_once(
        self, scale: Kernel, block: Buffer, array: Any
    ) -> None:
        x = array(block.handle, (16,))
        scale[1, 1](block, x, 1.0, 16)
        assert (x.released, len(x.streams)) == (1, 1)
        with pytest.raises(TypeError, match="argument 4"):
            scale[1, 1](block, x, 1.0, "n")
        with pytest.raises(TypeError, match="float64"):
            scale[1, 1](block, y := array(block.handle, (16,), np.float64), 1.0, 16)
        assert (x.released, y.released) == (2, 1)


class TestExchangeApi:
    def array(self, block: Buffer, capsule: Any, **lies: Any) -> Any:
        kind = type("Other", (ExchangeArray,), {"__dlpack_c_exchange_api__": capsule})
        return kind(block.handle, (16,), **lies)

    @pytest.mark.parametrize("name", [b"other", b"dltensor", None])
    def test_capsule_of_another_name(self, scale: Kernel, block: Buffer, name: Any) -> None:
        capsule = exchange_capsule(exchange_api(), name)
        assert "must be a capsule named 'dlpack_exchange_api'" in refused(
            scale, self.array(block, capsule)
        )

    @pytest.mark.parametrize("capsule", [1, "dlpack_exchange_api", object()])
    def test_no_capsule(self, scale: Kernel, block: Buffer, capsule: Any) -> None:
        assert "must be a capsule named" in refused(scale, self.array(block, capsule))

    @pytest.mark.parametrize("capsule", [None, exchange_capsule(exchange_api(major=2))])
    def test_unknown_version_is_as_none(self, scale: Kernel, block: Buffer, capsule: Any) -> None:
        array = self.array(block, capsule)
        scale[1, 1](block, array, 1.0, 16)
        assert (array.borrowed, array.released) == (0, 1)  # by __dlpack__

    def test_older_version_of_a_newer_library(self, scale: Kernel, block: Buffer) -> None:
        older = exchange_api()
        newer = exchange_api(major=3, previous=ctypes.addressof(older))
        array = self.array(block, exchange_capsule(newer))
        scale[1, 1](block, array, 1.0, 16)
        assert array.borrowed == 1

    def test_versions_in_a_circle(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(major=2)
        api.previous = ctypes.addressof(api)
        array = self.array(block, exchange_capsule(api))
        scale[1, 1](block, array, 1.0, 16)
        assert array.released == 1

    def test_null_function(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(from_object=FromObject())
        assert "has a null function" in refused(scale, self.array(block, exchange_capsule(api)))

    def test_library_without_streams(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(current_stream=CurrentStream())
        scale[1, 1](block, self.array(block, exchange_capsule(api)), 1.0, 16)

    def test_failure_without_an_error(self, scale: Kernel, block: Buffer) -> None:
        array = ExchangeArray(block.handle, (16,), result=-1)
        assert "its DLPack exchange API failed, and said nothing" in refused(scale, array)

    def test_failure_with_an_error(self, scale: Kernel, block: Buffer) -> None:
        # A function of CPython that takes the object, and raises TypeError.
        raising = ctypes.cast(ctypes.pythonapi.PyObject_AsFileDescriptor, FromObject)
        api = exchange_api(borrow_from_object=raising)
        array = self.array(block, exchange_capsule(api))
        with pytest.raises(TypeError, match="argument 2 'x'.*fileno") as caught:
            scale[1, 1](block, array, 1.0, 16)
        assert isinstance(caught.value.__cause__, TypeError)

    def test_types_are_not_kept_for_ever(self, scale: Kernel, block: Buffer) -> None:
        types = []
        for i in range(500):
            kind = type(f"Type{i}", (ExchangeArray,), {})
            types.append(weakref.ref(kind))
            scale[1, 1](block, kind(block.handle, (16,)), 1.0, 16)
        del kind
        gc.collect()
        assert sum(kept() is not None for kept in types) <= 128

    def test_type_at_the_address_of_another(self, scale: Kernel, block: Buffer) -> None:
        for i in range(300):
            base = ExchangeArray if i % 2 else CudaArray
            kind = type("Same", (base,), {})
            scale[1, 1](block, kind(block.handle, (16,)), 1.0, 16)
            del kind
            gc.collect(0)


class TestHostilePython:
    @pytest.mark.parametrize("error", [ValueError("boom"), RuntimeError("boom"), KeyError("boom")])
    @pytest.mark.parametrize(
        "name", ["__cuda_array_interface__", "__array_interface__", "__dlpack__"]
    )
    def test_exception_is_the_cause(self, scale: Kernel, name: str, error: Exception) -> None:
        def fail(self: Any) -> Any:
            raise error

        liar = type("Liar", (), {name: property(fail)})()
        with pytest.raises(TypeError, match="argument 2 'x'.*Liar: it raised .*boom") as caught:
            scale[1, 1](0, liar, 1.0, 16)
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
    def test_what_ends_a_program_goes_through(self, scale: Kernel, error: Any) -> None:
        class Liar:
            @property
            def __cuda_array_interface__(self) -> Any:
                raise error

        with pytest.raises(error):
            scale[1, 1](0, Liar(), 1.0, 16)

    def test_type_error_in_dlpack_is_asked_again_without_a_version(self, scale: Kernel) -> None:
        class Liar(CapsuleArray):
            def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
                self.streams.append(max_version)
                raise TypeError("no")

        liar = Liar(0, (0,))
        assert "it raised TypeError: no" in refused(scale, liar)
        assert liar.streams == [(1, 3), None]

    def test_buffer_closed_by_an_array(self, device: Device, scale: Kernel) -> None:
        buffer = device.allocate(64)

        class Closer(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                buffer.close()
                return CudaArray(0, (0,)).__cuda_array_interface__

        with pytest.raises(ValueError, match="argument 1 'y'.*closed Buffer"):
            scale[1, 1](buffer, Closer(0, (0,)), 1.0, 0)

    def test_array_moved_by_another(
        self, code: ObjectCode, scale: Kernel, memory: Buffer, pinned: Any, stream: Stream
    ) -> None:
        out = pinned(64)
        y = ExchangeArray(memory.handle, (16,))

        class Mover(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                y.address = out.handle
                return super().__cuda_array_interface__

        scale[1, 32, stream](y, Mover(memory.handle, (16,)), 2.0, 16)
        stream.sync()
        assert floats(out) == [2.0 * i for i in range(16)]

    def test_stream_closed_by_an_array(self, device: Device, scale: Kernel, block: Buffer) -> None:
        stream = device.create_stream()

        class Closer(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                stream.close()
                return super().__cuda_array_interface__

        scale[1, 1, stream](block, Closer(block.handle, (16,)), 1.0, 16)
        device.sync()
        assert stream.is_closed

    def test_array_that_launches(self, scale: Kernel, block: Buffer) -> None:
        class Launcher(CudaArray):
            depth = 0

            @property
            def __cuda_array_interface__(self) -> Any:
                if self.depth < 3:
                    self.depth += 1
                    scale[1, 1](block, self, 1.0, 16)
                return super().__cuda_array_interface__

        scale[1, 1](block, Launcher(block.handle, (16,)), 1.0, 16)

    def test_dict_that_changes_while_it_is_read(self, scale: Kernel, block: Buffer) -> None:
        description: dict[str, Any] = {}

        class Extent:
            def __index__(self) -> int:
                description.clear()
                gc.collect()
                return 16

        description.update(CudaArray(block.handle, (Extent(),)).__cuda_array_interface__)
        liar = type("Liar", (), {"__cuda_array_interface__": description})()
        scale[1, 1](block, liar, 1.0, 16)
        assert not description

    def test_keys_that_are_not_interned(self, scale: Kernel, block: Buffer) -> None:
        class Text(str):
            __slots__ = ()

        described = CudaArray(block.handle, (16,)).__cuda_array_interface__
        copied = {Text(key): value for key, value in described.items()}
        scale[1, 1](block, type("Holder", (), {"__cuda_array_interface__": copied})(), 1.0, 16)

    def test_objects_are_not_leaked(self, scale: Kernel, block: Buffer) -> None:
        kept = []
        for kind in (*DEVICE_ARRAYS, HostArray):
            for dtype in (np.float32, np.float64):
                array = kind(block.handle, (16,), dtype)
                kept.append(weakref.ref(array))
                with contextlib.suppress(TypeError):
                    scale[1, 1](block, array, 1.0, 16)
                del array
        gc.collect()
        assert [made() for made in kept] == [None] * len(kept)


def test_managed_memory(device: Device, scale: Kernel, stream: Stream) -> None:
    from cudacore import ManagedMemoryResource

    with ManagedMemoryResource().allocate(64, stream=stream) as buffer:
        for array in DEVICE_ARRAYS:
            x = array(buffer.handle, (16,), device=(CUDA_MANAGED, 0))
            scale[1, 1, stream](x, x, 1.0, 16)
        stream.sync()


def test_ptx_alone_takes_any_element(device: Device, block: Buffer) -> None:
    code = ptx('extern "C" __global__ void f(float* p) { *p = 0; }')
    kernel = ObjectCode.from_ptx(code.code).get_kernel("f")
    for array in DEVICE_ARRAYS:
        kernel[1, 1](array(block.handle, (16,)))
