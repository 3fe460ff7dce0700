# SPDX-License-Identifier: Apache-2.0
"""The elements of arrays, against the types that kernels point to."""

from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode
from foreign_arrays import (
    BFLOAT,
    DEVICE_ARRAYS,
    FLOAT8_E4M3FN,
    KERNELS,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    FromObject,
    exchange_api,
    exchange_capsule,
    refused,
)
from harness import build, host_bytes

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
    return build(KERNELS, *pointers, "take<const float*>", "take_value<float>")


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
        assert "cannot take an ExchangeArray: its elements are float64, not float;" in message

    @pytest.mark.parametrize(("shape", "offset"), [((6,), 0), ((16,), 4), ((2, 3), 0)])
    def test_vectors_must_be_whole_and_aligned(
        self, code: ObjectCode, block: Buffer, shape: Any, offset: int
    ) -> None:
        array = ExchangeArray(block.handle + offset, shape)
        message = "must be aligned to 16" if offset else "its 24 bytes are not a whole number of"
        with pytest.raises(TypeError, match=message):
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
