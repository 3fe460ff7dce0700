# SPDX-License-Identifier: Apache-2.0
"""A Pythonic CUDA runtime: devices, streams, memory, compilation and checked launches.

The names and call signatures are those of ``cuda.core``. Importing this package loads no CUDA
library and needs neither a driver nor a GPU; each library is opened on first use.

Examples
--------
>>> import cudacore as cc
>>> device = cc.Device()
>>> device.set_current()
>>> program = cc.Program("__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }", "c++")
>>> kernel = program.compile().get_kernel("fill")
>>> with device.create_stream() as stream, device.allocate(4 * 32) as buffer:
...     kernel[1, 32](buffer, 7)
...     stream.sync()
"""

from __future__ import annotations

from cudacore import _core, _later, _missing
from cudacore import simulator as simulator
from cudacore import system as system
from cudacore._core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CachingMemoryResource,
    CompileError,
    Context,
    ContextLostError,
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    DeviceProperties,
    DriverNotFoundError,
    Event,
    EventOptions,
    ExternalMemory,
    ExternalSemaphore,
    ForkedProcessError,
    GraphicsResource,
    GraphMemoryResource,
    GraphMemoryResourceAttributes,
    Host,
    InvalidValueError,
    Kernel,
    KernelAttributes,
    KernelOccupancy,
    LaunchConfig,
    Launcher,
    LaunchError,
    LegacyPinnedMemoryResource,
    LibraryNotFoundError,
    Linker,
    LinkerOptions,
    LinkError,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryPoolAttributes,
    MemoryResource,
    NotSupportedError,
    ObjectCode,
    OutOfMemoryError,
    ParamInfo,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    Program,
    ProgramOptions,
    Signature,
    Stream,
    StreamOptions,
    SynchronousMemoryResource,
    TensorMapDescriptor,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    __version__,
    current_stream,
    driver_library,
    include_directories,
    launch,
    make_fatbin,
    num_devices,
    nvfatbin_library,
    nvjitlink_library,
    nvrtc_architectures,
    nvrtc_library,
    register_host,
    unraisable_errors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cudacore import allocators as allocators
    from cudacore import cache as cache
    from cudacore import checkpoint as checkpoint
    from cudacore import graph as graph
    from cudacore import texture as texture
    from cudacore import typing as typing
    from cudacore import utils as utils
    from cudacore._benchmark import (
        BenchmarkClocks,
        BenchmarkComparison,
        BenchmarkResult,
        BenchmarkTimes,
        benchmark,
    )
    from cudacore._core import (
        AccessPolicyWindow,
        CachingStatistics,
        ComputeCapability,
        ContextLimits,
        DeviceResources,
        MaxPotentialBlockSizeOccupancyResult,
        MemoryInfo,
        SMResource,
        StreamAttributes,
        WorkqueueResource,
    )
    from cudacore._device_resources import (
        ContextOptions,
        SMResourceOptions,
        WorkqueueResourceOptions,
    )
    from cudacore._ipc import IPCAllocationHandle, IPCBufferDescriptor, IPCEventDescriptor
    from cudacore._tensor_map import (
        TensorMapDataType,
        TensorMapDescriptorOptions,
        TensorMapIm2ColWideMode,
        TensorMapInterleave,
        TensorMapL2Promotion,
        TensorMapOOBFill,
        TensorMapSwizzle,
    )
    from cudacore._torch_op import torch_op

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "AccessPolicyWindow",
    "BenchmarkClocks",
    "BenchmarkComparison",
    "BenchmarkResult",
    "BenchmarkTimes",
    "Buffer",
    "CUDAError",
    "CachingMemoryResource",
    "CachingStatistics",
    "CompileError",
    "ComputeCapability",
    "Context",
    "ContextLimits",
    "ContextLostError",
    "ContextOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceProperties",
    "DeviceResources",
    "DriverNotFoundError",
    "Event",
    "EventOptions",
    "ExternalMemory",
    "ExternalSemaphore",
    "ForkedProcessError",
    "GraphMemoryResource",
    "GraphMemoryResourceAttributes",
    "GraphicsResource",
    "Host",
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "IPCEventDescriptor",
    "InvalidValueError",
    "Kernel",
    "KernelAttributes",
    "KernelOccupancy",
    "LaunchConfig",
    "LaunchError",
    "Launcher",
    "LegacyPinnedMemoryResource",
    "LibraryNotFoundError",
    "LinkError",
    "Linker",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MaxPotentialBlockSizeOccupancyResult",
    "MemoryInfo",
    "MemoryPoolAttributes",
    "MemoryResource",
    "NotSupportedError",
    "ObjectCode",
    "OutOfMemoryError",
    "ParamInfo",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "Signature",
    "Stream",
    "StreamAttributes",
    "StreamOptions",
    "SynchronousMemoryResource",
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "__version__",
    "benchmark",
    "current_stream",
    "driver_library",
    "include_directories",
    "launch",
    "make_fatbin",
    "num_devices",
    "nvfatbin_library",
    "nvjitlink_library",
    "nvrtc_architectures",
    "nvrtc_library",
    "register_host",
    "torch_op",
    "unraisable_errors",
]

# Classes say so themselves.
for _name in __all__:
    if isinstance(_function := globals().get(_name), type(launch)):
        _function.__module__ = __name__
del _name, _function

_missing.add_members(_core)

# Names that most programs never use, and the modules that load when they are used first.
_LATER = {
    "AccessPolicyWindow": "_core",
    "BenchmarkClocks": "_benchmark",
    "BenchmarkComparison": "_benchmark",
    "BenchmarkResult": "_benchmark",
    "BenchmarkTimes": "_benchmark",
    "CachingStatistics": "_core",
    "ComputeCapability": "_core",
    "ContextLimits": "_core",
    "ContextOptions": "_device_resources",
    "DeviceResources": "_core",
    "IPCAllocationHandle": "_ipc",
    "IPCBufferDescriptor": "_ipc",
    "IPCEventDescriptor": "_ipc",
    "MaxPotentialBlockSizeOccupancyResult": "_core",
    "MemoryInfo": "_core",
    "SMResource": "_core",
    "SMResourceOptions": "_device_resources",
    "StreamAttributes": "_core",
    "TensorMapDataType": "_tensor_map",
    "TensorMapDescriptorOptions": "_tensor_map",
    "TensorMapIm2ColWideMode": "_tensor_map",
    "TensorMapInterleave": "_tensor_map",
    "TensorMapL2Promotion": "_tensor_map",
    "TensorMapOOBFill": "_tensor_map",
    "TensorMapSwizzle": "_tensor_map",
    "WorkqueueResource": "_core",
    "WorkqueueResourceOptions": "_device_resources",
    "allocators": "allocators",
    "benchmark": "_benchmark",
    "cache": "cache",
    "checkpoint": "checkpoint",
    "graph": "graph",
    "texture": "texture",
    "torch_op": "_torch_op",
    "typing": "typing",
    "utils": "utils",
}

if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, _LATER)


def _repr_html_(self: object) -> str:
    """Return what notebooks show for an object at the end of a cell."""
    from cudacore import _html  # noqa: PLC0415

    return _html.show(self)


for _shown in (
    Buffer,
    CachingMemoryResource,
    CompileError,
    Device,
    DeviceProperties,
    Kernel,
    LinkError,
    ObjectCode,
    Signature,
    _core.StridedMemoryView,
):
    setattr(_shown, "_repr_html_", _repr_html_)  # noqa: B010
del _shown


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add ``%%cuda`` to IPython or Jupyter: what ``%load_ext cudacore`` calls."""
    from cudacore import _notebook  # noqa: PLC0415

    _notebook.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Undo `load_ipython_extension`: what ``%unload_ext cudacore`` calls."""
    from cudacore import _notebook  # noqa: PLC0415

    _notebook.unload_ipython_extension(shell)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, "simulator", "system"})
