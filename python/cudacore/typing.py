# SPDX-License-Identifier: Apache-2.0
"""Types for annotations, and enumerations of the strings that the API accepts.

Every enumeration here is a ``str``: you can pass its members wherever the API accepts the string,
and they compare equal to it.
"""

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union, runtime_checkable

if TYPE_CHECKING:
    from cudacore._core import SMResource, WorkqueueResource

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "ClusterSchedulingPolicyType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "MemSyncDomainType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "PortableClusterSizeModeType",
    "ProcessStateType",
    "ReadModeType",
    "SharedMemoryModeType",
    "SourceCodeType",
    "SyncPolicyType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]


def __dir__() -> list[str]:
    return __all__


DevicePointerType: TypeAlias = int | None
"""What ``Buffer.handle`` gives and ``Buffer.from_handle`` takes."""


DeviceResourcesType: TypeAlias = Sequence[Union["SMResource", "WorkqueueResource"]]
"""What a green context is made of."""


@runtime_checkable
class IsStreamType(Protocol):
    """Anything that represents a CUDA stream.

    The streams of this package, PyTorch, CuPy and Numba have this method. Your own class needs
    nothing else to be accepted wherever a stream is expected.
    """

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the protocol version, 0, and the address of the ``cudaStream_t``."""
        ...


class _StrEnum(str, enum.Enum):
    """A str whose ``str()`` and ``format()`` are its value; ``enum.StrEnum`` is newer than 3.10."""

    __str__ = str.__str__


class SourceCodeType(_StrEnum):
    """The language of a :class:`~cudacore.Program`."""

    CXX = "c++"
    PTX = "ptx"
    LTOIR = "ltoir"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """The format of an :class:`~cudacore.ObjectCode`."""

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
    """What happened to a precompiled header in the last compilation."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class ProcessStateType(_StrEnum):
    """What has been done to a :class:`~cudacore.checkpoint.Process`."""

    RUNNING = "running"
    LOCKED = "locked"
    CHECKPOINTED = "checkpointed"
    FAILED = "failed"
    CHECKPOINTING = "checkpointing"
    RESTORING = "restoring"


class ManagedMemoryLocationType(_StrEnum):
    """The preferred location of managed memory."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class AccessPropertyType(_StrEnum):
    """How long lines of the L2 cache stay there."""

    NORMAL = "normal"
    STREAMING = "streaming"
    PERSISTING = "persisting"


class SyncPolicyType(_StrEnum):
    """How threads wait for a stream."""

    AUTO = "auto"
    SPIN = "spin"
    YIELD = "yield"
    BLOCKING_SYNC = "blocking_sync"


class MemSyncDomainType(_StrEnum):
    """The kernels whose writes the memory fences of a kernel wait for."""

    DEFAULT = "default"
    REMOTE = "remote"


class ClusterSchedulingPolicyType(_StrEnum):
    """How clusters are spread over a device."""

    DEFAULT = "default"
    SPREAD = "spread"
    LOAD_BALANCING = "load_balancing"


class PortableClusterSizeModeType(_StrEnum):
    """Whether a cluster may be larger than the 8 blocks that every device has."""

    DEFAULT = "default"
    REQUIRE_PORTABLE = "require_portable"
    ALLOW_NON_PORTABLE = "allow_non_portable"


class SharedMemoryModeType(_StrEnum):
    """Whether blocks may have more shared memory than every device has."""

    DEFAULT = "default"
    REQUIRE_PORTABLE = "require_portable"
    ALLOW_NON_PORTABLE = "allow_non_portable"
    ALLOW_OVERSIZED = "allow_oversized"
    PREFER_OVERSIZED = "prefer_oversized"


class WorkqueueSharingScopeType(_StrEnum):
    """Which contexts share the queues to a device: all, or, if possible, not those that balance."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


class GraphConditionalType(_StrEnum):
    """How a conditional node of a graph runs its branches."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(_StrEnum):
    """Where the memory is that a node of a graph allocates."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class VirtualMemoryAccessType(_StrEnum):
    """What a device, or the host, may do with virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(_StrEnum):
    """The kind of virtual memory."""

    PINNED = "pinned"
    MANAGED = "managed"


class VirtualMemoryGranularityType(_StrEnum):
    """What the sizes of virtual memory are multiples of."""

    RECOMMENDED = "recommended"
    MINIMUM = "minimum"


class VirtualMemoryHandleType(_StrEnum):
    """How virtual memory can be shared with other processes."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(_StrEnum):
    """Where virtual memory is."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class ArrayFormatType(_StrEnum):
    """The type of the values in an array or a texture."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(_StrEnum):
    """What a texture reads at coordinates outside of it."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(_StrEnum):
    """Whether a texture reads the nearest element, or a mean of those around."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(_StrEnum):
    """Whether a texture reads integers as they are, or as floats."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"
