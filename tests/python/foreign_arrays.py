# SPDX-License-Identifier: Apache-2.0
"""Arrays of a library that tests make up, by each protocol, over memory that cudacore allocated,
and kernels that take them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from harness import host_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cudacore import Buffer, Kernel

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

#: DLPack's codes of NumPy's kinds.
CODES = {"i": 0, "u": 1, "f": 2, "V": 3, "c": 5, "b": 6}
BFLOAT, FLOAT8_E4M3FN = 4, 10


class DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("ordinal", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", DlTensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def describe(tensor: DlTensor) -> tuple[Any, ...]:
    """Address, device, type, shape, strides and offset."""
    rank = tensor.dimensions
    return (
        tensor.data, (tensor.device_type, tensor.ordinal), (tensor.code, tensor.bits, tensor.lanes),
        tuple(tensor.shape[:rank]), tuple(tensor.strides[:rank]), tensor.byte_offset,
    )  # fmt: skip


def extents(values: Sequence[int] | None) -> Any:
    return None if values is None else (ctypes.c_int64 * max(len(values), 1))(*values)


class Array:
    """What all fakes have: memory, and how they describe it. Everything can be a lie."""

    def __init__(
        self,
        address: int,
        shape: Sequence[int],
        dtype: Any = np.float32,
        *,
        strides: Sequence[int] | None = None,
        device: tuple[int, int] = (CUDA, 0),
        stream: int | None = None,
        read_only: bool = False,
        **lies: Any,
    ) -> None:
        self.address = address
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.strides = strides  # in elements
        self.device = device
        self.stream = stream
        self.read_only = read_only
        self.lies = lies

    def tensor(self) -> DlTensor:
        code = self.lies.get("code", CODES[self.dtype.kind])
        bits = self.lies.get("bits", 8 * self.dtype.itemsize)
        tensor = DlTensor(
            self.address, *self.device, len(self.shape), code, bits, 1,
            extents(self.shape), extents(self.strides), 0,
        )  # fmt: skip
        for name in ("dimensions", "lanes", "shape", "byte_offset"):
            if name in self.lies:
                setattr(tensor, name, self.lies[name])
        return tensor


class CudaArray(Array):
    """__cuda_array_interface__"""

    @property
    def __cuda_array_interface__(self) -> Any:
        strides = self.strides and tuple(self.dtype.itemsize * stride for stride in self.strides)
        description = {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, self.read_only),
            "strides": strides,
            "version": 3,
            "stream": self.stream,
            **self.lies,
        }
        return {key: value for key, value in description.items() if value is not KeyError}


class CapsuleArray(Array):
    """__dlpack__; counts how often each managed tensor is released."""

    versioned = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.released = 0
        self.streams: list[Any] = []
        self._kept: list[Any] = []

    def _release(self, _managed: int) -> None:
        self.released += 1

    def __dlpack_device__(self) -> Any:
        return self.lies.get("dlpack_device", self.device)

    def managed(self) -> Any:
        deleter = Deleter(self._release)
        made: Managed | ManagedVersioned
        if self.versioned:
            version = self.lies.get("version", (1, 0))
            made = ManagedVersioned(*version, None, deleter, int(self.read_only), self.tensor())
        else:
            made = Managed(self.tensor(), None, deleter)
        self._kept.append(made)
        return made

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        self.streams.append(stream)
        made = self.managed()
        default = b"dltensor_versioned" if self.versioned else b"dltensor"
        return new_capsule(ctypes.addressof(made), self.lies.get("capsule", default), None)


class OldCapsuleArray(CapsuleArray):
    """__dlpack__ as before DLPack 1.0."""

    versioned = False

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        return super().__dlpack__(stream=stream)


FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", FromObject),
        ("to_object", ctypes.c_void_p),
        ("borrow_from_object", FromObject),
        ("current_stream", CurrentStream),
    ]


@FromObject
def _share(array: Any, made: int) -> int:
    managed = array.managed()
    ctypes.c_void_p.from_address(made).value = ctypes.addressof(managed)
    return 0


@FromObject
def _borrow(array: Any, filled: int) -> int:
    array.borrowed += 1
    array.kept = array.tensor()
    ctypes.memmove(filled, ctypes.addressof(array.kept), ctypes.sizeof(DlTensor))
    return array.lies.get("result", 0)  # type: ignore[no-any-return]


@CurrentStream
def _current_stream(_type: int, _ordinal: int, stream: int) -> int:
    ctypes.c_void_p.from_address(stream).value = ExchangeArray.current_stream
    return 0


def exchange_api(**changes: Any) -> ExchangeApi:
    """A table like that of a library; the caller keeps it for the life of the process."""
    api = ExchangeApi(
        major=1, minor=3, from_object=_share, borrow_from_object=_borrow,
        current_stream=_current_stream,
    )  # fmt: skip
    for name, value in changes.items():
        setattr(api, name, value)
    _kept.append(api)
    return api


def exchange_capsule(api: Any, name: bytes = b"dlpack_exchange_api") -> Any:
    return new_capsule(ctypes.addressof(api), name, None)


_kept: list[Any] = []


class ExchangeArray(CapsuleArray):
    """DLPack's C exchange API, whose current stream is `current_stream` (None: the default)."""

    current_stream: ClassVar[int | None] = None
    __dlpack_c_exchange_api__ = exchange_capsule(exchange_api())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.borrowed = 0


class HostArray(Array):
    """__array_interface__"""

    @property
    def __array_interface__(self) -> Any:
        return CudaArray.__cuda_array_interface__.fget(self)  # type: ignore[attr-defined]


#: Each way in which libraries show memory of a device.
DEVICE_ARRAYS: tuple[Callable[..., Any], ...] = (
    ExchangeArray, CudaArray, CapsuleArray, OldCapsuleArray,
)  # fmt: skip

#: `scale` and kernels for pointers and values of any type.
KERNELS = """
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


def floats(buffer: Buffer) -> list[float]:
    return np.frombuffer(host_bytes(buffer), np.float32).tolist()


def refused(scale: Kernel, array: Any, *, position: int = 2, count: Any = 1) -> str:
    """The message of the TypeError for an array in place of x; nothing may be launched."""
    out = [0, 0]
    out[position - 1] = array
    with pytest.raises(TypeError) as caught:
        scale[1, 1](*out, 1.0, count)
    message = str(caught.value)
    name = {1: "'y' (float*)", 2: "'x' (float const*)"}[position]
    assert message.startswith(f"scale: argument {position} {name} cannot take a"), message
    return message
