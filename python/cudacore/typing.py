# SPDX-License-Identifier: Apache-2.0
"""Types for annotations, and the names that strings of the API may take.

Every enumeration here is a ``str``: its members may be given wherever the API takes the string, and
compare equal to it.
"""

import enum
from typing import Protocol, TypeAlias, runtime_checkable

__all__ = [
    "CompilerBackendType",
    "DevicePointerType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "SourceCodeType",
]


def __dir__() -> list[str]:
    return __all__


DevicePointerType: TypeAlias = int | None
"""What ``Buffer.handle`` gives and ``Buffer.from_handle`` takes."""


@runtime_checkable
class IsStreamType(Protocol):
    """Anything that stands for a CUDA stream.

    Streams of this package, of PyTorch, CuPy and Numba have the method; a class of your own needs
    nothing else to be taken wherever a stream is asked for.
    """

    def __cuda_stream__(self) -> tuple[int, int]:
        """Version of the protocol, 0, and the address of the ``cudaStream_t``."""
        ...


class _StrEnum(str, enum.Enum):
    """A str whose ``str()`` and ``format()`` are its value; ``enum.StrEnum`` is newer than 3.10."""

    __str__ = str.__str__


class SourceCodeType(_StrEnum):
    """What a :class:`~cudacore.Program` is written in."""

    CXX = "c++"
    PTX = "ptx"
    LTOIR = "ltoir"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """What an :class:`~cudacore.ObjectCode` is made of."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(_StrEnum):
    """The library that compiles or links."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(_StrEnum):
    """What became of a precompiled header in the last compilation."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class ManagedMemoryLocationType(_StrEnum):
    """Where managed memory prefers to live."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
