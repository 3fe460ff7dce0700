# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as arguments of kernels: their protocols, and where they are."""

import ctypes
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode, Stream, launch
from foreign_arrays import (
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    DEVICE_ARRAYS,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    FromObject,
    HostArray,
    exchange_api,
    exchange_capsule,
    floats,
    refused,
)
from harness import host_bytes, ptx


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
        assert both.borrowed  # twice, since the look-up of a new type may run Python code
        assert both.streams == []

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
