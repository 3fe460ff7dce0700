# SPDX-License-Identifier: Apache-2.0
"""The types and the documentation of the extension module, which takes its docstrings from here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSet, Sequence
from os import PathLike
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    Protocol,
    SupportsIndex,
    SupportsInt,
    TypeAlias,
    TypedDict,
    TypeVar,
    final,
    overload,
)
from uuid import UUID

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer as _HostBuffer
from typing_extensions import CapsuleType, Self, disjoint_base

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
from cudacore.graph import (
    ExecutableNode,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    GraphNode,
)
from cudacore.system import Device as SystemDevice
from cudacore.texture import (
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)
from cudacore.typing import (
    ArrayFormatType,
    CompilerBackendType,
    ManagedMemoryLocationType,
    ObjectCodeFormatType,
    PCHStatusType,
    SourceCodeType,
    WorkqueueSharingScopeType,
)
from cudacore.utils import ProgramCacheResource

_Function = TypeVar("_Function", bound=Callable[..., object])
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Ints: TypeAlias = Sequence[SupportsIndex]
_Dim: TypeAlias = SupportsIndex | float | Sequence[SupportsIndex | float]
_Macro: TypeAlias = str | tuple[str, str]
_Macros: TypeAlias = _Macro | Sequence[_Macro] | Mapping[str, str | int | None]
_Code: TypeAlias = _HostBuffer | str | PathLike[str]
_CodeType: TypeAlias = Literal["ptx", "cubin", "ltoir", "fatbin", "object", "library"]
_CompressMode: TypeAlias = Literal["none", "default", "size", "speed", "balance"]
_Path: TypeAlias = str | PathLike[str]
_Sources: TypeAlias = Mapping[str, str | bytes] | Sequence[tuple[str, str | bytes]]
_SourceType: TypeAlias = Literal["c++", "ptx", "ltoir"] | SourceCodeType
_CompileTarget: TypeAlias = Literal["ptx", "cubin", "ltoir"] | ObjectCodeFormatType
_LinkTarget: TypeAlias = Literal["cubin", "ptx"] | ObjectCodeFormatType
_CopyOptions: TypeAlias = CopyOptions | Mapping[str, Any]
_GraphicsFlag: TypeAlias = Literal[
    "none", "read_only", "write_discard", "surface_load_store", "texture_gather"
]
_GraphicsFlags: TypeAlias = _GraphicsFlag | list[_GraphicsFlag] | tuple[_GraphicsFlag, ...]
_LocationType: TypeAlias = Literal["device", "host", "host_numa"]

_ElementType: TypeAlias = DTypeLike | object

_StreamNumber: TypeAlias = int | _StreamLike | None

_Array: TypeAlias = _Dlpack | _CudaArray | _HostArray

_Destination = TypeVar("_Destination", bound=Buffer | _HostBuffer | _Array)

__version__: str

class CUDAError(RuntimeError):
    """Base class of all errors that CUDA reports, or that prevent a call to it.

    Attributes
    ----------
    code : int
        The library's result code; 0 if no library was reached.
    name : str
        The code's name, such as ``CUDA_ERROR_INVALID_VALUE``.
    function : str
        The function that failed, such as ``cuMemAllocAsync``.
    """
    def __init__(self, *args: object) -> None: ...
    code: int
    name: str
    function: str

class OutOfMemoryError(CUDAError, MemoryError):
    """The device or the host has too little free memory."""

class InvalidValueError(CUDAError, ValueError):
    """The driver refused a value or a handle."""

class NotSupportedError(CUDAError):
    """The device, the driver or the library lacks what was requested."""

class LaunchError(CUDAError):
    """A kernel failed while it ran, or could not be started."""

class ContextLostError(CUDAError):
    """An earlier failure, or a reset of the simulated device, ended the context."""

class ForkedProcessError(CUDAError):
    """The process was forked after CUDA was initialized."""

class LibraryNotFoundError(CUDAError):
    """A shared library was not found.

    Attributes
    ----------
    tried : list of str
        Every place searched, in order.
    """

    tried: list[str]

class DriverNotFoundError(LibraryNotFoundError):
    """libcuda could not be found, or it found no device."""

class CompileError(CUDAError):
    """NVRTC refused the source.

    Attributes
    ----------
    log : str
        The compiler's whole log.
    """

    log: str

class LinkError(CUDAError):
    """nvJitLink refused its inputs.

    Attributes
    ----------
    log : str
        The linker's whole log.
    """

    log: str

# Errors for which cuda.core raises a different class.
class TypeAndBufferError(TypeError, BufferError): ...
class TypeAndRuntimeError(TypeError, RuntimeError): ...
class TypeAndValueError(TypeError, ValueError): ...
class ValueAndRuntimeError(ValueError, RuntimeError): ...
class NotImplementedAndTypeError(NotImplementedError, TypeError): ...

class _Dlpack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...

class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

class _HostArray(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

class _Convertible(Protocol):
    def __array__(self) -> Any: ...

class _StreamLike(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

class _Resource(Protocol):
    @property
    def name(self) -> str: ...
    def read_bytes(self) -> bytes: ...

class ComputeCapability(NamedTuple):
    major: int
    minor: int

class MemoryInfo(NamedTuple):
    free: int
    total: int

@final
class DeviceProperties:
    """The attributes of a device (cuDeviceGetAttribute).

    0 or False for an attribute that the driver does not know.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def max_block_dim_x(self) -> int: ...
    @property
    def max_block_dim_y(self) -> int: ...
    @property
    def max_block_dim_z(self) -> int: ...
    @property
    def max_grid_dim_x(self) -> int: ...
    @property
    def max_grid_dim_y(self) -> int: ...
    @property
    def max_grid_dim_z(self) -> int: ...
    @property
    def max_shared_memory_per_block(self) -> int: ...
    @property
    def total_constant_memory(self) -> int: ...
    @property
    def warp_size(self) -> int: ...
    @property
    def max_pitch(self) -> int: ...
    @property
    def maximum_texture1d_width(self) -> int: ...
    @property
    def maximum_texture1d_linear_width(self) -> int: ...
    @property
    def maximum_texture1d_mipmapped_width(self) -> int: ...
    @property
    def maximum_texture2d_width(self) -> int: ...
    @property
    def maximum_texture2d_height(self) -> int: ...
    @property
    def maximum_texture2d_linear_width(self) -> int: ...
    @property
    def maximum_texture2d_linear_height(self) -> int: ...
    @property
    def maximum_texture2d_linear_pitch(self) -> int: ...
    @property
    def maximum_texture2d_mipmapped_width(self) -> int: ...
    @property
    def maximum_texture2d_mipmapped_height(self) -> int: ...
    @property
    def maximum_texture3d_width(self) -> int: ...
    @property
    def maximum_texture3d_height(self) -> int: ...
    @property
    def maximum_texture3d_depth(self) -> int: ...
    @property
    def maximum_texture3d_width_alternate(self) -> int: ...
    @property
    def maximum_texture3d_height_alternate(self) -> int: ...
    @property
    def maximum_texture3d_depth_alternate(self) -> int: ...
    @property
    def maximum_texturecubemap_width(self) -> int: ...
    @property
    def maximum_texture1d_layered_width(self) -> int: ...
    @property
    def maximum_texture1d_layered_layers(self) -> int: ...
    @property
    def maximum_texture2d_layered_width(self) -> int: ...
    @property
    def maximum_texture2d_layered_height(self) -> int: ...
    @property
    def maximum_texture2d_layered_layers(self) -> int: ...
    @property
    def maximum_texturecubemap_layered_width(self) -> int: ...
    @property
    def maximum_texturecubemap_layered_layers(self) -> int: ...
    @property
    def maximum_surface1d_width(self) -> int: ...
    @property
    def maximum_surface2d_width(self) -> int: ...
    @property
    def maximum_surface2d_height(self) -> int: ...
    @property
    def maximum_surface3d_width(self) -> int: ...
    @property
    def maximum_surface3d_height(self) -> int: ...
    @property
    def maximum_surface3d_depth(self) -> int: ...
    @property
    def maximum_surface1d_layered_width(self) -> int: ...
    @property
    def maximum_surface1d_layered_layers(self) -> int: ...
    @property
    def maximum_surface2d_layered_width(self) -> int: ...
    @property
    def maximum_surface2d_layered_height(self) -> int: ...
    @property
    def maximum_surface2d_layered_layers(self) -> int: ...
    @property
    def maximum_surfacecubemap_width(self) -> int: ...
    @property
    def maximum_surfacecubemap_layered_width(self) -> int: ...
    @property
    def maximum_surfacecubemap_layered_layers(self) -> int: ...
    @property
    def max_registers_per_block(self) -> int: ...
    @property
    def clock_rate(self) -> int: ...
    @property
    def texture_alignment(self) -> int: ...
    @property
    def texture_pitch_alignment(self) -> int: ...
    @property
    def gpu_overlap(self) -> bool: ...
    @property
    def multiprocessor_count(self) -> int: ...
    @property
    def kernel_exec_timeout(self) -> bool: ...
    @property
    def integrated(self) -> bool: ...
    @property
    def can_map_host_memory(self) -> bool: ...
    @property
    def compute_mode(self) -> int: ...
    @property
    def concurrent_kernels(self) -> bool: ...
    @property
    def ecc_enabled(self) -> bool: ...
    @property
    def pci_bus_id(self) -> int: ...
    @property
    def pci_device_id(self) -> int: ...
    @property
    def pci_domain_id(self) -> int: ...
    @property
    def tcc_driver(self) -> bool: ...
    @property
    def memory_clock_rate(self) -> int: ...
    @property
    def global_memory_bus_width(self) -> int: ...
    @property
    def l2_cache_size(self) -> int: ...
    @property
    def max_threads_per_multiprocessor(self) -> int: ...
    @property
    def unified_addressing(self) -> bool: ...
    @property
    def compute_capability_major(self) -> int: ...
    @property
    def compute_capability_minor(self) -> int: ...
    @property
    def global_l1_cache_supported(self) -> bool: ...
    @property
    def local_l1_cache_supported(self) -> bool: ...
    @property
    def max_shared_memory_per_multiprocessor(self) -> int: ...
    @property
    def max_registers_per_multiprocessor(self) -> int: ...
    @property
    def managed_memory(self) -> bool: ...
    @property
    def multi_gpu_board(self) -> bool: ...
    @property
    def multi_gpu_board_group_id(self) -> int: ...
    @property
    def host_native_atomic_supported(self) -> bool: ...
    @property
    def single_to_double_precision_perf_ratio(self) -> int: ...
    @property
    def pageable_memory_access(self) -> bool: ...
    @property
    def concurrent_managed_access(self) -> bool: ...
    @property
    def compute_preemption_supported(self) -> bool: ...
    @property
    def can_use_host_pointer_for_registered_mem(self) -> bool: ...
    @property
    def cooperative_launch(self) -> bool: ...
    @property
    def max_shared_memory_per_block_optin(self) -> int: ...
    @property
    def pageable_memory_access_uses_host_page_tables(self) -> bool: ...
    @property
    def direct_managed_mem_access_from_host(self) -> bool: ...
    @property
    def virtual_memory_management_supported(self) -> bool: ...
    @property
    def handle_type_posix_file_descriptor_supported(self) -> bool: ...
    @property
    def handle_type_win32_handle_supported(self) -> bool: ...
    @property
    def handle_type_win32_kmt_handle_supported(self) -> bool: ...
    @property
    def max_blocks_per_multiprocessor(self) -> int: ...
    @property
    def generic_compression_supported(self) -> bool: ...
    @property
    def max_persisting_l2_cache_size(self) -> int: ...
    @property
    def max_access_policy_window_size(self) -> int: ...
    @property
    def gpu_direct_rdma_with_cuda_vmm_supported(self) -> bool: ...
    @property
    def reserved_shared_memory_per_block(self) -> int: ...
    @property
    def sparse_cuda_array_supported(self) -> bool: ...
    @property
    def read_only_host_register_supported(self) -> bool: ...
    @property
    def memory_pools_supported(self) -> bool: ...
    @property
    def gpu_direct_rdma_supported(self) -> bool: ...
    @property
    def gpu_direct_rdma_flush_writes_options(self) -> int: ...
    @property
    def gpu_direct_rdma_writes_ordering(self) -> int: ...
    @property
    def mempool_supported_handle_types(self) -> int: ...
    @property
    def deferred_mapping_cuda_array_supported(self) -> bool: ...
    @property
    def numa_config(self) -> int: ...
    @property
    def numa_id(self) -> int: ...
    @property
    def multicast_supported(self) -> bool: ...
    @property
    def surface_alignment(self) -> int: ...
    @property
    def async_engine_count(self) -> int: ...
    @property
    def can_tex2d_gather(self) -> bool: ...
    @property
    def maximum_texture2d_gather_width(self) -> int: ...
    @property
    def maximum_texture2d_gather_height(self) -> int: ...
    @property
    def stream_priorities_supported(self) -> bool: ...
    @property
    def can_flush_remote_writes(self) -> bool: ...
    @property
    def host_register_supported(self) -> bool: ...
    @property
    def timeline_semaphore_interop_supported(self) -> bool: ...
    @property
    def cluster_launch(self) -> bool: ...
    @property
    def can_use_64_bit_stream_mem_ops(self) -> bool: ...
    @property
    def can_use_stream_wait_value_nor(self) -> bool: ...
    @property
    def dma_buf_supported(self) -> bool: ...
    @property
    def ipc_event_supported(self) -> bool: ...
    @property
    def mem_sync_domain_count(self) -> int: ...
    @property
    def tensor_map_access_supported(self) -> bool: ...
    @property
    def handle_type_fabric_supported(self) -> bool: ...
    @property
    def unified_function_pointers(self) -> bool: ...
    @property
    def mps_enabled(self) -> bool: ...
    @property
    def host_numa_id(self) -> int: ...
    @property
    def d3d12_cig_supported(self) -> bool: ...
    @property
    def mem_decompress_algorithm_mask(self) -> int: ...
    @property
    def mem_decompress_maximum_length(self) -> int: ...
    @property
    def vulkan_cig_supported(self) -> bool: ...
    @property
    def gpu_pci_device_id(self) -> int: ...
    @property
    def gpu_pci_subsystem_id(self) -> int: ...
    @property
    def host_numa_virtual_memory_management_supported(self) -> bool: ...
    @property
    def host_numa_memory_pools_supported(self) -> bool: ...
    @property
    def host_numa_multinode_ipc_supported(self) -> bool: ...
    @property
    def host_memory_pools_supported(self) -> bool: ...
    @property
    def host_virtual_memory_management_supported(self) -> bool: ...
    @property
    def host_alloc_dma_buf_supported(self) -> bool: ...
    @property
    def only_partial_host_native_atomic_supported(self) -> bool: ...

@final
class ExternalMemory:
    """Memory that Vulkan, or another API, allocated and exported, imported into a device.

    `from_fd` makes it. It supports ``with``, and lives as long as a buffer that was mapped from it.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def from_fd(
        fd: SupportsIndex, size: SupportsIndex, *, dedicated: bool = False
    ) -> ExternalMemory:
        """Imports memory into the current context (cuImportExternalMemory).

        Parameters
        ----------
        fd : int
            An opaque file descriptor, such as ``vkGetMemoryFdKHR`` gives. It stays yours: close it
            when you don't need it any more.
        size : int
            The bytes that were allocated.
        dedicated : bool
            Whether they are the own memory of one image or buffer
            (``VkMemoryDedicatedAllocateInfo``).

        Returns
        -------
        ExternalMemory

        Raises
        ------
        ValueError
            `fd` is not an open file, or `size` is 0 or negative.
        OverflowError
            A number is too large.
        CUDAError
            The driver can't import it.
        NotSupportedError
            On the simulated device.
        """
    @property
    def handle(self) -> int:
        """int: The address of the ``CUexternalMemory``."""
    @property
    def size(self) -> int:
        """int: Its bytes."""
    @property
    def device(self) -> Device:
        """Device: What it was imported into."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether `close` was called."""
    def map_buffer(self, offset: SupportsIndex = 0, size: SupportsIndex | None = None) -> Buffer:
        """Maps a part of it (cuExternalMemoryGetMappedBuffer).

        Parameters
        ----------
        offset : int
            Where the part begins, in bytes.
        size : int, optional
            Its bytes. None is all from `offset` on.

        Returns
        -------
        Buffer
            It keeps the import. When it is closed or collected, it is unmapped once the device has
            done its work (cuMemFree).

        Raises
        ------
        IndexError
            The part reaches past the end.
        ValueError
            This memory is closed, the part is empty, or a number is negative.
        OverflowError
            A number is too large.
        """
    def close(self) -> None:
        """Ends the import, once no buffer uses it (cuDestroyExternalMemory)."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ExternalSemaphore:
    """A semaphore of Vulkan's, or of another API.

    `from_fd` makes it. `Stream.signal` signals it, and `Stream.wait_signal` waits for it. It
    supports ``with``.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def from_fd(fd: SupportsIndex, *, timeline: bool = False) -> ExternalSemaphore:
        """Imports a semaphore into the current context (cuImportExternalSemaphore).

        Parameters
        ----------
        fd : int
            An opaque file descriptor, such as ``vkGetSemaphoreFdKHR`` gives. It stays yours: close
            it when you don't need it any more.
        timeline : bool
            Whether it counts, or is just signaled or not.

        Returns
        -------
        ExternalSemaphore

        Raises
        ------
        ValueError
            `fd` is not an open file.
        OverflowError
            `fd` is too large.
        CUDAError
            The driver can't import it.
        NotSupportedError
            The device has no timelines (``timeline_semaphore_interop_supported``), or it is the
            simulated device.
        """
    @property
    def handle(self) -> int:
        """int: The address of the ``CUexternalSemaphore``."""
    @property
    def is_timeline(self) -> bool:
        """bool: Whether it counts."""
    @property
    def device(self) -> Device:
        """Device: What it was imported into."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether `close` was called."""
    def close(self) -> None:
        """Ends the import, once all work that uses it is done (cuDestroyExternalSemaphore)."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class GraphicsResource:
    """A buffer or an image of OpenGL's that kernels use while it is mapped.

    `from_gl_buffer` and `from_gl_image` make it. It supports ``with``: the end closes it. The
    driver needs the OpenGL context to be current in the thread that registers, maps, unmaps and
    closes it.

    Examples
    --------
    A kernel writes the vertices that OpenGL draws::

        resource = cudacore.GraphicsResource.from_gl_buffer(vbo, flags="write_discard")
        with resource.map(stream=stream) as buffer:
            move[grid, block, stream](buffer, time)
        glDrawArrays(GL_POINTS, 0, count)
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @classmethod
    def from_gl_buffer(
        cls,
        gl_buffer: SupportsIndex,
        *,
        flags: _GraphicsFlags | None = None,
        stream: _StreamLike | None = None,
    ) -> GraphicsResource:
        """Registers a buffer object in the current CUDA context (cuGraphicsGLRegisterBuffer).

        Parameters
        ----------
        gl_buffer : int
            Its name, such as ``glGenBuffers`` gives.
        flags : str, or list or tuple of str, optional
            What kernels will do with it: ``"none"``, ``"read_only"``, ``"write_discard"`` (they
            write all of it, and read nothing). ``"surface_load_store"`` and ``"texture_gather"``
            are for images.
        stream : Stream, optional
            If given, ``with`` maps the buffer on it, and gives the `Buffer`. Otherwise, it gives
            the resource.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError
            An unknown flag.
        OverflowError
            A name that OpenGL can't have: it has 32 bits.
        CUDAError
            No OpenGL context is current in this thread, it is on another device, or it has no such
            buffer.
        NotSupportedError
            On the simulated device.
        """
    @classmethod
    def from_gl_image(
        cls,
        image: SupportsIndex,
        target: SupportsIndex,
        *,
        flags: _GraphicsFlags | None = None,
    ) -> GraphicsResource:
        """Registers a texture or a renderbuffer (cuGraphicsGLRegisterImage).

        Parameters
        ----------
        image : int
            Its name, such as ``glGenTextures`` gives.
        target : int
            What it is, such as ``GL_TEXTURE_2D``.
        flags : str, or list or tuple of str, optional
            As for `from_gl_buffer`. Kernels that write the image need ``"surface_load_store"``.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError, OverflowError, CUDAError, NotSupportedError
            As for `from_gl_buffer`; a CUDAError also for a format that CUDA doesn't know.
        """
    @property
    def handle(self) -> int:
        """int: The address of the ``CUgraphicsResource``; 0 once it is closed."""
    @property
    def resource_handle(self) -> int:
        """int: The same."""
    @property
    def device(self) -> Device:
        """Device: On which it was registered."""
    @property
    def is_mapped(self) -> bool:
        """bool: Whether something that it was mapped as is still open."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether `close` was called."""
    def map(self, *, stream: _StreamLike | None = None) -> Buffer:
        """Maps a buffer (cuGraphicsMapResources).

        OpenGL's work so far is done before what is queued on the stream from now on.

        Parameters
        ----------
        stream : Stream or None
            None is the current stream.

        Returns
        -------
        Buffer
            When it, with all its slices, is closed, the resource is unmapped, on this stream, or on
            the one that is given to its ``close``: OpenGL's next work begins after what was queued
            there.

        Raises
        ------
        ValueError
            It is mapped already, or closed (both are RuntimeErrors, too), or the stream is being
            captured or of another device.
        CUDAError
            The driver can't map it: it may be an image.
        """
    def map_array(
        self,
        layer: SupportsIndex = 0,
        level: SupportsIndex = 0,
        *,
        stream: _StreamLike | None = None,
    ) -> OpaqueArray:
        """Maps an image, and gives a part of it (cuGraphicsSubResourceGetMappedArray).

        Parameters
        ----------
        layer : int
            The layer of an image that has layers, or the face of a cube map.
        level : int
            The mipmap level.
        stream : Stream or None
            As for `map`.

        Returns
        -------
        OpaqueArray
            Of which textures and surfaces can be made. When it and these are closed, the resource
            is unmapped, on this stream.

        Raises
        ------
        ValueError, CUDAError
            As for `map`.
        NotSupportedError
            `OpaqueArray` doesn't know the format.
        """
    def map_mipmapped_array(self, *, stream: _StreamLike | None = None) -> MipmappedArray:
        """Maps an image with all its levels (cuGraphicsResourceGetMappedMipmappedArray).

        Parameters
        ----------
        stream : Stream or None
            As for `map`.

        Returns
        -------
        MipmappedArray
            When it, its levels and their textures and surfaces are closed, the resource is
            unmapped.

        Raises
        ------
        ValueError, CUDAError
            As for `map`.
        NotSupportedError
            `MipmappedArray` doesn't know the format, or the image has layers or faces.
        """
    def unmap(self, *, stream: _StreamLike | None = None) -> None:
        """Closes what it was mapped as, and unmaps it (cuGraphicsUnmapResources).

        Parameters
        ----------
        stream : Stream or None
            OpenGL's next work begins after what was queued there. None is the stream of `map`.

        Raises
        ------
        ValueError
            It is not mapped, or closed, or slices, levels, textures or surfaces are still open. It
            is a RuntimeError, too.
        """
    def close(self, stream: _StreamLike | None = None) -> None:
        """Unmaps and unregisters it (cuGraphicsUnregisterResource).

        What else uses it, such as slices of its buffer, delays both.

        Parameters
        ----------
        stream : Stream or None
            As for `unmap`.
        """
    def __enter__(self) -> GraphicsResource | Buffer: ...
    def __exit__(self, *args: object) -> None: ...

@final
class Device:
    """A GPU.

    Each thread has one Device object for each GPU. No call is needed before it is used: the primary
    context is retained and made current when a call needs it.

    Parameters
    ----------
    device_id : int, Device or None
        The ordinal. None is the device of the thread's current context, or device 0 if there is
        none.

    Raises
    ------
    ValueError
        There is no such device.
    DriverNotFoundError
        There is no driver, or no GPU.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> dev.compute_capability >= (7, 5)
    True
    """
    def __new__(cls, device_id: int | Device | None = None) -> Self: ...
    def __init__(self, device_id: int | Device | None = None) -> None: ...
    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """All devices the driver shows (cuDeviceGetCount).

        Returns
        -------
        tuple of Device
        """
    def get_multicast_granularity(
        self, num_devices: SupportsIndex, granularity: str = "recommended"
    ) -> int:
        """What the sizes of memory that several devices write at once are multiples of.

        The driver's cuMulticastGetGranularity, which is not called unless `properties` has
        ``multicast_supported``.

        Parameters
        ----------
        num_devices : int
            How many devices take part.
        granularity : str
            ``"recommended"`` or ``"minimum"``.

        Returns
        -------
        int
            Bytes.

        Raises
        ------
        ValueError
            No device takes part, or there is no such granularity.
        NotSupportedError
            The device doesn't support multicast.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> dev.properties.multicast_supported and dev.get_multicast_granularity(2)
        False
        """
    def to_system_device(self) -> SystemDevice:
        """The same device as seen by NVML, the driver's management library. It is found by its
        uuid (nvmlDeviceGetHandleByUUID).

        Returns
        -------
        cudacore.system.Device

        Raises
        ------
        LibraryNotFoundError
            There is no NVML.
        cudacore.system.NvmlError
            NVML doesn't show the device.

        Examples
        --------
        >>> cudacore.Device().to_system_device().memory_info.used > 0
        True
        """
    @property
    def device_id(self) -> int:
        """int: The ordinal."""
    @property
    def name(self) -> str:
        """str: Such as ``NVIDIA H200`` (cuDeviceGetName)."""
    @property
    def uuid(self) -> str:
        """str: 8-4-4-4-12 hexadecimal digits (cuDeviceGetUuid)."""
    @property
    def pci_bus_id(self) -> str:
        """str: Such as ``0000:41:00.0`` (cuDeviceGetPCIBusId)."""
    @property
    def compute_capability(self) -> ComputeCapability:
        """ComputeCapability: (major, minor)."""
    @property
    def arch(self) -> str:
        """str: The digits of the compute capability, such as ``90``."""
    @property
    def properties(self) -> DeviceProperties:
        """DeviceProperties: All attributes of the device."""
    @property
    def mem_info(self) -> MemoryInfo:
        """MemoryInfo: (free, total) bytes of device memory (cuMemGetInfo)."""
    @property
    def context(self) -> Context:
        """Context: The primary context, retained on first use (cuDevicePrimaryCtxRetain)."""
    @property
    def memory_resource(self) -> MemoryResource:
        """MemoryResource: What `allocate` uses, for this thread. By default the device's current
        memory pool, or cuMemAlloc on a device without pools. A closed one can't be set
        (ValueError).
        """
    @memory_resource.setter
    def memory_resource(self, mr: MemoryResource) -> None: ...
    @property
    def default_stream(self) -> Stream:
        """Stream: The legacy default stream of this device."""
    def can_access_peer(self, peer: int | Device) -> bool:
        """Whether kernels here can reach another device's memory (cuDeviceCanAccessPeer).

        Parameters
        ----------
        peer : Device or int

        Returns
        -------
        bool
        """
    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Makes this device the calling thread's current one (cuCtxSetCurrent).

        Parameters
        ----------
        ctx : Context or None
            If None, the primary context.

        Returns
        -------
        Context or None
            The context that was current before, if ctx was given.
        """
    def create_stream(
        self,
        obj: _StreamLike | None = None,
        options: StreamOptions | Mapping[str, Any] | None = None,
    ) -> Stream:
        """Makes a stream of this device (cuStreamCreateWithPriority), or wraps one.

        Parameters
        ----------
        obj : anything with ``__cuda_stream__``, or None
            A stream to wrap.
        options : StreamOptions, dict or None

        Returns
        -------
        Stream
        """
    @property
    def resources(self) -> DeviceResources:
        """DeviceResources: What work on it may use: its multiprocessors and its queues."""
    def create_context(self, options: ContextOptions | Mapping[str, Any] | None = None) -> Context:
        """Makes a green context, whose work runs on some multiprocessors alone (cuGreenCtxCreate).

        Parameters
        ----------
        options : ContextOptions or dict
            The resources: multiprocessors from one `SMResource.split`, and perhaps queues.

        Returns
        -------
        Context

        Raises
        ------
        ValueError
            There are no resources, they are of another device, or of a dry run.
        TypeError
            Something is no resource.
        NotSupportedError
            The driver has no green contexts, which came with CUDA 12.4.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> groups, rest = dev.resources.sm.split(cudacore.SMResourceOptions(count=8))
        >>> context = dev.create_context(cudacore.ContextOptions(resources=groups))
        >>> context.is_green, context.create_stream().resources.sm.sm_count
        (True, 8)
        """
    def create_graph_builder(self) -> GraphBuilder:
        """Makes a builder that captures a new stream of this device.

        Returns
        -------
        cudacore.graph.GraphBuilder
        """
    def create_opaque_array(self, options: OpaqueArrayOptions | Mapping[str, Any]) -> OpaqueArray:
        """Allocates an array of this device, for textures and surfaces (cuArray3DCreate).

        Parameters
        ----------
        options : cudacore.texture.OpaqueArrayOptions or dict

        Returns
        -------
        cudacore.texture.OpaqueArray

        Raises
        ------
        ValueError
            The device has no arrays of this size, or the options are wrong.
        OutOfMemoryError

        Examples
        --------
        >>> device = cudacore.Device()
        >>> device.set_current()
        >>> options = {"shape": (64, 32), "format": "uint8", "num_channels": 4}
        >>> with device.create_opaque_array(options) as array:
        ...     array
        OpaqueArray(shape=(64, 32), format=UINT8, num_channels=4)
        """
    def create_mipmapped_array(
        self, options: MipmappedArrayOptions | Mapping[str, Any]
    ) -> MipmappedArray:
        """Allocates an image in several sizes, for textures (cuMipmappedArrayCreate).

        Parameters
        ----------
        options : cudacore.texture.MipmappedArrayOptions or dict

        Returns
        -------
        cudacore.texture.MipmappedArray

        Raises
        ------
        ValueError
            The device has no arrays of this size, there are more levels than down to one element,
            or the options are wrong.
        OutOfMemoryError
        """
    def create_texture_object(
        self,
        *,
        resource: ResourceDescriptor,
        options: TextureObjectOptions | Mapping[str, Any] | None = None,
    ) -> TextureObject:
        """Makes what kernels of this device take to read an array or memory with filters
        (cuTexObjectCreate).

        Parameters
        ----------
        resource : cudacore.texture.ResourceDescriptor
        options : cudacore.texture.TextureObjectOptions, dict or None

        Returns
        -------
        cudacore.texture.TextureObject

        Raises
        ------
        TypeError
            The resource is something else.
        ValueError
            The device can't read the resource in this way: it is of another device, closed or not
            aligned, or its elements are integers that a linear filter can't take.
        """
    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """Makes what kernels of this device take to write an array (cuSurfObjectCreate).

        Parameters
        ----------
        resource : cudacore.texture.ResourceDescriptor
            Of an array that was made with ``is_surface_load_store``.

        Returns
        -------
        cudacore.texture.SurfaceObject

        Raises
        ------
        TypeError
            The resource is something else.
        ValueError
            It is no such array, or it is of another device or closed.
        """
    def create_event(self, options: EventOptions | Mapping[str, Any] | None = None) -> Event:
        """Makes an event of this device (cuEventCreate), or reuses one that was closed.

        Parameters
        ----------
        options : EventOptions, dict or None

        Returns
        -------
        Event
        """
    def allocate(self, size: int, *, stream: _StreamLike | None = None) -> Buffer:
        """Allocates from `memory_resource`, ordered on a stream.

        Parameters
        ----------
        size : int
            Bytes.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
        """
    def to_device(
        self, host: _HostBuffer | _Array | _Convertible, *, stream: _StreamLike | None = None
    ) -> Buffer:
        """Copies a host object or an array into a new buffer of `memory_resource` (cuMemcpyAsync).

        Parameters
        ----------
        host : object with the buffer protocol, array, or Buffer
            bytes, an array of any library, on the host or on a device; C-contiguous. Pinned memory
            must not change until the stream has passed the copy.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        Buffer

        Raises
        ------
        TypeError
            The object does not expose its memory, or is not contiguous.
        OutOfMemoryError

        Examples
        --------
        >>> buffer = cudacore.Device().to_device(b"abcd")
        >>> len(buffer)
        4
        """
    def sync(self) -> None:
        """Waits for this process's work on the device (cuCtxSynchronize); responds to Ctrl-C."""
    def __enter__(self) -> Self:
        """Makes the device the thread's current one until the end of the ``with``."""
    def __exit__(self, *args: object) -> None: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Context:
    """A CUDA context: the state of one device in this process.

    The primary context of a device is retained once, on first use, and shared with
    every library that uses the CUDA runtime. A green context, of `Device.create_context`, has a
    part of the device's multiprocessors. It lives as long as any stream, event or `Context` of it.
    A context of another library is borrowed, never destroyed.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def handle(self) -> int:
        """int: The CUcontext."""
    @property
    def device(self) -> Device:
        """Device: The device it belongs to."""
    @property
    def is_green(self) -> bool:
        """bool: Whether it has only part of the device's multiprocessors."""
    @property
    def is_lost(self) -> bool:
        """bool: Whether a kernel's failure has made it unusable; see `ContextLostError`."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed; only a green context can be."""
    @property
    def limits(self) -> ContextLimits:
        """ContextLimits: What its kernels may use; the fields can be set."""
    @property
    def resources(self) -> DeviceResources:
        """DeviceResources: What its work may use: all of the device, or a green context's part.

        Raises
        ------
        ValueError
            The context is closed.
        """
    def reset_persisting_l2_cache(self) -> None:
        """Makes all persisting lines of the L2 cache normal again (cuCtxResetPersistingL2Cache)."""
    def create_stream(self, options: StreamOptions | Mapping[str, Any] | None = None) -> Stream:
        """Makes a stream of this context (cuStreamCreateWithPriority, cuGreenCtxStreamCreate).

        Parameters
        ----------
        options : StreamOptions, dict or None

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            The context is closed, or the options ask for a blocking stream of a green context.
        """
    def close(self) -> None:
        """Lets go of a green context. It ends (cuGreenCtxDestroy) once no stream, event or other
        Context of it is left. Does nothing for other contexts, which this object does not own.

        Raises
        ------
        RuntimeError
            It is the calling thread's current context.
        """
    def sync(self) -> None:
        """Waits for all work of the context (cuCtxSynchronize); responds to Ctrl-C."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ContextLimits:
    """What the kernels of a context may use (cuCtxGetLimit, cuCtxSetLimit).

    Setting a field is a request: the driver may round it up, or clamp it. Reading tells what it is
    now. A field that the device doesn't have raises `NotSupportedError`.

    Raises
    ------
    ValueError
        A value is negative, or the driver refuses it.
    TypeError
        A value is not an int.

    Examples
    --------
    >>> limits = cudacore.Device().context.limits
    >>> before = limits.stack_size
    >>> limits.stack_size = 4096
    >>> limits.stack_size
    4096
    >>> limits.stack_size = before
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    stack_size: int
    """int: Bytes of the stack of each thread."""
    printf_fifo_size: int
    """int: Bytes for what ``printf`` in kernels writes until it is shown."""
    malloc_heap_size: int
    """int: Bytes for ``malloc`` and ``new`` in kernels."""
    dev_runtime_sync_depth: int
    """int: How deep kernels may wait for those that they launch; up to compute capability 8.9."""
    dev_runtime_pending_launch_count: int
    """int: How many launches by kernels may wait at once."""
    max_l2_fetch_granularity: int
    """int: The most bytes that the L2 cache fetches at once, 0 to 128; a hint."""
    persisting_l2_cache_size: int
    """int: Bytes of the L2 cache that are set aside for persisting accesses, at most the device's
    ``max_persisting_l2_cache_size``.
    """

@final
class AccessPolicyWindow:
    base_ptr: int
    num_bytes: int
    hit_ratio: float
    hit_prop: str
    miss_prop: str
    def __init__(
        self,
        base_ptr: int | Buffer = 0,
        num_bytes: int = 0,
        hit_ratio: float = 1.0,
        hit_prop: str = "normal",
        miss_prop: str = "normal",
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class StreamAttributes:
    """What can be set of a stream after it was made, for work that is queued later
    (cuStreamGetAttribute, cuStreamSetAttribute).

    Examples
    --------
    >>> stream = cudacore.Device().create_stream()
    >>> stream.attributes.priority = -1
    >>> stream.priority
    -1
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def access_policy_window(self) -> AccessPolicyWindow:
        """AccessPolicyWindow: The memory that the L2 cache keeps, or doesn't keep, in kernels.

        Set it to an AccessPolicyWindow, a dict of its fields, or None for no window, which is one
        of 0 bytes.

        Raises
        ------
        ValueError
            The window is larger than the device's ``max_access_policy_window_size``, is not memory
            that its kernels can use, or has a value out of range.
        NotSupportedError
            The device has no such windows, or no persisting accesses.
        """
    @access_policy_window.setter
    def access_policy_window(
        self, value: AccessPolicyWindow | Mapping[str, Any] | None, /
    ) -> None: ...
    sync_policy: str
    """str: How threads wait for the stream: ``"auto"``, ``"spin"``, ``"yield"`` or
    ``"blocking_sync"``; see `SyncPolicyType`.
    """
    priority: int
    """int: Lower is more urgent. A ValueError if it is outside the device's range."""
    mem_sync_domain: str
    """str: ``"default"`` or ``"remote"``. A memory fence of a kernel waits only for the writes of
    kernels of the same domain.
    """
    mem_sync_domain_map: tuple[int, int]
    """tuple of int: Which of the device's domains ``"default"`` and ``"remote"`` are. A ValueError
    if the device has fewer (``mem_sync_domain_count``).
    """
    def copy_from(self, source: _StreamLike) -> None:
        """Takes over all attributes of another stream (cuStreamCopyAttributes).

        Parameters
        ----------
        source : Stream, or anything with ``__cuda_stream__``

        Raises
        ------
        ValueError
            A stream is closed, or the source is of another device.
        """

@final
class DeviceResources:
    """What work may use: of a device, a context or a stream.

    Examples
    --------
    >>> resources = cudacore.Device().resources
    >>> resources.sm.sm_count == cudacore.Device().properties.multiprocessor_count
    True
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def sm(self) -> SMResource:
        """SMResource: The multiprocessors (cuDeviceGetDevResource, cuCtxGetDevResource,
        cuStreamGetDevResource).

        Raises
        ------
        NotSupportedError
            The driver has no green contexts, which came with CUDA 12.4.
        """
    @property
    def workqueue(self) -> WorkqueueResource:
        """WorkqueueResource: The queues to the device; of a stream, those of its context.

        Raises
        ------
        NotSupportedError, InvalidValueError
            The driver doesn't tell; it does since CUDA 13.1.
        """

@final
class SMResource:
    """Multiprocessors of a device."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def handle(self) -> int:
        """int: The address of the CUdevResource."""
    @property
    def sm_count(self) -> int:
        """int: How many there are."""
    @property
    def min_partition_size(self) -> int:
        """int: The fewest that a part of them can have."""
    @property
    def coscheduled_alignment(self) -> int:
        """int: How many are neighbors; the size of a part is a multiple of it."""
    @property
    def flags(self) -> int:
        """int: The driver's CUdevSmResourceGroup_flags."""
    def split(
        self, options: SMResourceOptions | Mapping[str, Any], *, dry_run: bool = False
    ) -> tuple[list[SMResource], SMResource]:
        """Splits them into groups that have none in common (cuDevSmResourceSplit; on drivers before
        CUDA 13.1, cuDevSmResourceSplitByCount, which makes groups of one size alone).

        Parameters
        ----------
        options : SMResourceOptions or dict
            How large the groups are.
        dry_run : bool
            Whether only to find out their sizes: no context can be made of them.

        Returns
        -------
        tuple of list of SMResource, and SMResource
            The groups, and what is left, which may have no multiprocessors.

        Raises
        ------
        ValueError
            There are fewer multiprocessors, or they can't be grouped like this.
        NotSupportedError
            The driver is too old for these options.

        Examples
        --------
        >>> whole = cudacore.Device().resources.sm
        >>> groups, rest = whole.split(cudacore.SMResourceOptions(count=whole.min_partition_size))
        >>> groups[0].sm_count + rest.sm_count == whole.sm_count
        True
        """

@final
class WorkqueueResource:
    """The queues by which work gets to a device."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def handle(self) -> int:
        """int: The address of the CUdevResource."""
    @property
    def sharing_scope(self) -> WorkqueueSharingScopeType:
        """WorkqueueSharingScopeType: Which contexts share the queues."""
    @property
    def concurrency_limit(self) -> int:
        """int: How many streams are expected to have work at once."""
    @property
    def device(self) -> Device:
        """Device: The device that they lead to."""
    def configure(self, options: WorkqueueResourceOptions | Mapping[str, Any]) -> None:
        """Changes what is set, for contexts that are made of this object later.

        Parameters
        ----------
        options : WorkqueueResourceOptions or dict
            What is None stays as it is.
        """

@final
class StreamOptions:
    nonblocking: bool
    priority: int | None
    def __init__(self, nonblocking: bool = True, priority: int | None = None) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@disjoint_base
class Stream:
    """An ordered queue of work on one device.

    Made by `Device.create_stream`. ``with stream:`` makes it the thread's current stream, which
    every function that takes a stream uses by default.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> with stream:
    ...     buffer = dev.allocate(1024)
    >>> stream.sync()
    >>> stream.is_done
    True
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @classmethod
    def from_handle(cls, handle: SupportsInt, owner: object = None) -> Self:
        """Wraps a CUstream that someone else owns; it is never destroyed here.

        Parameters
        ----------
        handle : int
            The CUstream.
        owner : object
            Kept alive as long as the stream.

        Returns
        -------
        Stream
            An instance of the class that it is called on.
        """
    def close(self) -> None:
        """Releases the stream (cuStreamDestroy); the driver finishes what is queued. Using it later
        raises ValueError; closing it again does nothing, nor does closing a default stream.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream protocol: (0, address)."""
    @property
    def handle(self) -> int:
        """int: The CUstream."""
    @property
    def is_nonblocking(self) -> bool:
        """bool: Whether it does not wait for the legacy default stream."""
    @property
    def priority(self) -> int:
        """int: The priority in force; lower is more urgent."""
    @property
    def device(self) -> Device:
        """Device: The device its work runs on."""
    @property
    def context(self) -> Context:
        """Context: The context its work runs in."""
    @property
    def attributes(self) -> StreamAttributes:
        """StreamAttributes: What can be set of the stream; the fields can be set."""
    @property
    def resources(self) -> DeviceResources:
        """DeviceResources: What its work may use: the whole device, or a green context's part."""
    @property
    def is_done(self) -> bool:
        """bool: Whether all queued work has finished (cuStreamQuery)."""
    def sync(self) -> None:
        """Waits until all queued work has finished (cuStreamSynchronize); responds to Ctrl-C.

        Raises
        ------
        LaunchError
            A kernel failed; the message names those launched since the last successful wait.
        """
    def record(
        self,
        event: Event | None = None,
        options: EventOptions | Mapping[str, Any] | None = None,
    ) -> Event:
        """Records an event after all work queued so far (cuEventRecord).

        Parameters
        ----------
        event : Event or None
            The event to record again; if None, a new one.
        options : EventOptions, dict or None
            How to make a new event.

        Returns
        -------
        Event
            The event that was recorded.
        """
    def wait(self, event_or_stream: Event | _StreamLike) -> None:
        """Makes later work of this stream wait for an event's last record, or for all that is now
        queued on another stream (cuStreamWaitEvent). The host does not wait.

        Parameters
        ----------
        event_or_stream : Event, Stream or anything with ``__cuda_stream__``
        """
    def create_graph_builder(self) -> GraphBuilder:
        """Makes a builder that captures this stream.

        Returns
        -------
        cudacore.graph.GraphBuilder

        Raises
        ------
        ValueError
            The stream is closed.
        """
    def signal(self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None) -> None:
        """Signals a semaphore of another API once all work queued so far is done.

        The driver's cuSignalExternalSemaphoresAsync.

        Parameters
        ----------
        semaphore : ExternalSemaphore
            The semaphore, which is kept until then.
        value : int, optional
            What a timeline counts then. Other semaphores have none.

        Raises
        ------
        ValueError
            The semaphore or the stream is closed, the stream is being captured, a timeline gets no
            value, or another semaphore does.
        """
    def wait_signal(self, semaphore: ExternalSemaphore, value: SupportsIndex | None = None) -> None:
        """Lets the work queued from now on wait until a semaphore of another API is signaled.

        The driver's cuWaitExternalSemaphoresAsync. If nobody signals it, the stream waits forever.

        Parameters
        ----------
        semaphore : ExternalSemaphore
            The semaphore, which is kept until then.
        value : int, optional
            What a timeline counts at least then. Other semaphores have none.

        Raises
        ------
        ValueError
            As for `signal`.
        """
    def write_value(
        self,
        word: Buffer | SupportsInt,
        value: SupportsIndex,
        *,
        size: Literal[4, 8] = 4,
        offset: int = 0,
    ) -> None:
        """Writes a word of memory once all work queued so far is done.

        Whoever sees the value also sees all that the stream has written before. The driver's
        cuStreamWriteValue32 and cuStreamWriteValue64. A driver may refuse memory of a
        stream-ordered pool, such as ``Device.allocate`` gives; that of a
        `SynchronousMemoryResource`, a `VirtualMemoryResource` or a `LegacyPinnedMemoryResource` is
        taken.

        Parameters
        ----------
        word : Buffer or int
            The buffer that the word is in, or an address.
        value : int
            Not negative.
        size : int
            The bytes of the word, 4 or 8. It is aligned to them.
        offset : int
            Bytes from `word` on.

        Raises
        ------
        ValueError
            The stream or the buffer is closed, the address is null or not aligned, or the size is
            another one.
        IndexError
            The word lies outside of the buffer.
        OverflowError
            The value does not fit the word.
        NotSupportedError
            The device has no words of 8 bytes (``can_use_64_bit_stream_mem_ops``).

        Examples
        --------
        >>> stream = cudacore.Device().create_stream()
        >>> flags = cudacore.LegacyPinnedMemoryResource().allocate(8)
        >>> stream.write_value(flags, 7)
        >>> stream.sync()
        >>> memoryview(flags)[0]
        7
        """
    def wait_value(
        self,
        word: Buffer | SupportsInt,
        value: SupportsIndex,
        *,
        condition: Literal[">=", "==", "&", "nor"] = ">=",
        size: Literal[4, 8] = 4,
        offset: int = 0,
        flush: bool = False,
    ) -> None:
        """Makes later work wait until a word of memory, `w`, meets a condition.

        The driver's cuStreamWaitValue32 and cuStreamWaitValue64. Only the word ends the wait:
        another stream, a kernel that runs already, or the host must write it, and nothing that is
        queued behind the wait can.

        Parameters
        ----------
        word, value, size, offset
            As for `write_value`.
        condition : str
            ``">="``: `w` has reached the value, in cyclic order, so that counters may wrap around;
            ``"=="``: it is the value; ``"&"``: it has a bit of the value, ``w & value``; ``"nor"``:
            there is a bit that neither has.
        flush : bool
            Whether later work sees what other devices have written over the bus.

        Raises
        ------
        ValueError, IndexError, OverflowError
            As for `write_value`; or there is no such condition.
        NotSupportedError
            The device can't do this: see its properties ``can_use_64_bit_stream_mem_ops``,
            ``can_use_stream_wait_value_nor`` and ``can_flush_remote_writes``.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> producer, consumer = dev.create_stream(), dev.create_stream()
        >>> counter = cudacore.SynchronousMemoryResource(dev).allocate(4)
        >>> counter.fill(0, stream=producer)
        >>> producer.sync()
        >>> consumer.wait_value(counter, 1)
        >>> producer.write_value(counter, 1)
        >>> consumer.sync()
        """
    def add_callback(self, callback: Callable[..., object], *args: Any) -> None:
        """Calls a Python function on a driver thread after all work queued so far
        (cuLaunchHostFunc). It must not call CUDA. An exception that leaves it is reported by
        `sys.unraisablehook`, with the callback as the ``object``, and counted by
        `unraisable_errors`; the stream goes on.

        Parameters
        ----------
        callback : callable
        *args
            Given to the callback.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

LEGACY_DEFAULT_STREAM: Stream
PER_THREAD_DEFAULT_STREAM: Stream

def current_stream() -> Stream:
    """The thread's current stream: set by ``with stream:``, else the legacy default stream.

    Returns
    -------
    Stream
    """

@final
class EventOptions:
    timing_enabled: bool
    blocking_sync: bool
    ipc_enabled: bool
    def __init__(
        self,
        timing_enabled: bool = False,
        blocking_sync: bool = False,
        ipc_enabled: bool = False,
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Event:
    """A point in a stream's work that can be waited for and timed.

    Made by `Device.create_event` or `Stream.record`. The difference of two events
    with ``timing_enabled`` is the time between them in milliseconds.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> start = stream.record(options={"timing_enabled": True})
    >>> end = stream.record(options={"timing_enabled": True})
    >>> end.sync()
    >>> end - start >= 0.0
    True
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def close(self) -> None:
        """Releases the event (cuEventDestroy), or keeps it for the next one that is made.
        Using it later raises ValueError; closing it again does nothing.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def handle(self) -> int:
        """int: The CUevent."""
    @property
    def is_timing_enabled(self) -> bool:
        """bool: Whether it can be subtracted from another."""
    @property
    def is_blocking_sync(self) -> bool:
        """bool: Whether a waiting thread sleeps at once instead of spinning first."""
    @property
    def is_ipc_enabled(self) -> bool:
        """bool: Whether other processes may open it."""
    @property
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """IPCEventDescriptor: What another process needs to open the event (cuIpcGetEventHandle).

        It can be pickled. `NotSupportedError` unless the event was created with ``ipc_enabled``.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> event = dev.create_event(cudacore.EventOptions(ipc_enabled=True))
        >>> event.ipc_descriptor
        <IPCEventDescriptor>
        """
    @staticmethod
    def from_ipc_descriptor(ipc_descriptor: IPCEventDescriptor) -> Event:
        """Open an event of another process, in the current context (cuIpcOpenEventHandle).

        Each process sees what the others record. The process that created the event must still have
        it. An event that this process has already is not opened again: it is returned.

        Parameters
        ----------
        ipc_descriptor : IPCEventDescriptor

        Returns
        -------
        Event

        Raises
        ------
        CUDAError
            No process that runs has the event, or it is of another device.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> event = dev.create_event(cudacore.EventOptions(ipc_enabled=True))
        >>> cudacore.Event.from_ipc_descriptor(event.ipc_descriptor) == event
        True
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _share(self) -> tuple[bytes, bool]:
        """Return the driver's handle, and whether waiting threads sleep."""
    @staticmethod
    def _open_shared(handle: bytes, blocking_sync: bool) -> Event:
        """Open an event by the driver's handle."""
    @property
    def is_done(self) -> bool:
        """bool: Whether the work before the last record has finished (cuEventQuery)."""
    @property
    def device(self) -> Device:
        """Device: The device it belongs to."""
    @property
    def context(self) -> Context:
        """Context: The context it belongs to."""
    def sync(self) -> None:
        """Waits for the work before the last record; responds to Ctrl-C."""
    def __sub__(self, other: Event, /) -> float:
        """Milliseconds from the other event to this one (cuEventElapsedTime).

        Raises
        ------
        ValueError
            (and RuntimeError) If either has no timing, was never recorded, or is not done.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Buffer:
    """A range of memory that a device, the host, or both can reach.

    It is returned to its memory resource when the last reference is dropped, ordered on the stream
    of the allocation. ``len(buf)`` is its size in bytes. ``buf[256:512]`` is a part of
    the same memory, as a buffer of its own; the memory lives until the last part is gone,
    whether or not the whole is closed. ``memoryview(buf)`` shows what the host can read.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> with dev.allocate(4, stream=stream) as buffer:
    ...     buffer.copy_from(b"abcd", stream=stream)
    ...     back = buffer.copy_to(bytearray(4), stream=stream)
    >>> stream.sync()
    >>> back
    bytearray(b'abcd')
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @classmethod
    def from_handle(
        cls,
        ptr: SupportsInt | None,
        size: int,
        mr: MemoryResource | None = None,
        owner: object = None,
        *,
        stream: _StreamLike | None = None,
    ) -> Self:
        """Wraps memory that someone else allocated.

        Parameters
        ----------
        ptr : int or None
            The address.
        size : int
            Bytes.
        mr : MemoryResource or None
            Its ``deallocate`` is called when the buffer is released.
        owner : object
            Kept alive as long as the buffer, which frees nothing. Cannot be combined with `mr`.
        stream : Stream or None
            The stream that the release is ordered on.

        Returns
        -------
        Buffer
            An instance of the class that it is called on.
        """
    def close(self, stream: _StreamLike | None = None) -> None:
        """Returns the memory to its resource, ordered on a stream (cuMemFreeAsync).
        Using the buffer later raises ValueError; closing it again does nothing.

        Parameters
        ----------
        stream : Stream or None
            If None, the stream of the allocation.

        Raises
        ------
        NotSupportedError
            The memory is of a CachingMemoryResource, and the stream is another library's that is
            being captured. The buffer stays open.
        """
    def set_deallocation_stream(self, stream: _StreamLike) -> None:
        """Sets the stream that the memory's release will be ordered on."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def handle(self) -> int:
        """int: The address; 0 once closed."""
    @property
    def size(self) -> int:
        """int: Bytes; 0 once closed."""
    @property
    def device_id(self) -> int:
        """int: The device that owns the memory; -1 if none does."""
    @property
    def is_device_accessible(self) -> bool:
        """bool: Whether a kernel can reach it."""
    @property
    def is_host_accessible(self) -> bool:
        """bool: Whether the host can reach it."""
    @property
    def is_managed(self) -> bool:
        """bool: Whether it moves between host and device automatically."""
    @property
    def is_mapped(self) -> bool:
        """bool: Whether another process shared it, or this one: see `from_ipc_descriptor`."""
    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """IPCBufferDescriptor: What another process needs to map the memory.

        Send it with multiprocessing. That takes memory of a `DeviceMemoryResource` or
        `PinnedMemoryResource` with ``ipc_enabled`` (cuMemPoolExportPointer), or of a
        `VirtualMemoryResource` whose ``handle_type`` is ``"posix_fd"``. For all other memory, it
        raises `NotSupportedError`.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> buffer = cudacore.VirtualMemoryResource(dev).allocate(1)
        >>> buffer.ipc_descriptor
        <IPCBufferDescriptor of 2097152 bytes>
        """
    @staticmethod
    def from_ipc_descriptor(
        mr: DeviceMemoryResource | PinnedMemoryResource | VirtualMemoryResource,
        ipc_descriptor: IPCBufferDescriptor,
        *,
        stream: _StreamLike | None = None,
    ) -> Buffer:
        """Map the memory of a buffer of another process, or of this one.

        Nothing is copied. Work of one process is not ordered after that of another: synchronize
        before you send. Virtual memory lives until all processes have closed their buffers; memory
        of a pool (cuMemPoolImportPointer) only as long as in the process that allocated it, which
        must close it last.

        Parameters
        ----------
        mr : DeviceMemoryResource, PinnedMemoryResource or VirtualMemoryResource
            The same pool as in the other process: see ``DeviceMemoryResource.from_registry``. The
            options of a `VirtualMemoryResource` say who may access the memory in this process.
        ipc_descriptor : IPCBufferDescriptor
        stream : Stream or None
            What the release waits for; if None, the current stream.

        Returns
        -------
        Buffer
            ``is_mapped`` is true. In the process that allocated memory of a pool, it is the buffer
            that was shared. Elsewhere, buffers of the same memory of a pool have the same address.

        Raises
        ------
        ValueError
            The descriptor is damaged, not one of a driver, of another pool or device, or of memory
            that has been freed.
        NotSupportedError
            The resource's memory can't be shared.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> resource = cudacore.VirtualMemoryResource(dev)
        >>> buffer = resource.allocate(1)
        >>> same = cudacore.Buffer.from_ipc_descriptor(resource, buffer.ipc_descriptor)
        >>> same.is_mapped
        True
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __copy__(self) -> NoReturn: ...
    def __deepcopy__(self, memo: object) -> NoReturn: ...
    @property
    def memory_resource(self) -> MemoryResource | None:
        """MemoryResource or None: Where the memory returns to; None once closed."""
    @property
    def owner(self) -> object:
        """object: What `from_handle` was given to keep alive."""
    @overload
    def copy_to(
        self,
        dst: None = None,
        *,
        stream: _StreamLike | None = None,
        options: _CopyOptions | None = None,
    ) -> Buffer:
        """Copies the whole buffer into another, or into a writable host object
        (cuMemcpyAsync). Sizes must agree.

        Parameters
        ----------
        dst : Buffer, writable object with the buffer protocol, array, or None
            Arrays of other libraries must be C-contiguous; the copy is ordered with the stream of
            one on a device. If None, a new buffer from the same memory resource.
        stream : Stream or None
            If None, the current stream.
        options : cudacore.utils.CopyOptions, dict or None
            For copies between buffers alone. With options, the copy is a batch of one: see
            `cudacore.utils.copy_batch`.

        Returns
        -------
        object
            dst, or the new buffer.

        Raises
        ------
        TypeError
            The object shows no memory, or it is read-only or not contiguous. Or options are given
            with a host object, or for a stream that takes no batches.
        ValueError
            The sizes differ, or a buffer is closed.
        NotSupportedError
            Options are given, and the driver is older than 13.0.
        """
    @overload
    def copy_to(
        self,
        dst: _Destination,
        *,
        stream: _StreamLike | None = None,
        options: _CopyOptions | None = None,
    ) -> _Destination: ...
    def copy_from(
        self,
        src: Buffer | _HostBuffer | _Array | _Convertible,
        *,
        stream: _StreamLike | None = None,
        options: _CopyOptions | None = None,
    ) -> None:
        """Copies the whole of another buffer, of a host object, or of an array into this one
        (cuMemcpyAsync). Sizes must agree.

        Parameters
        ----------
        src : Buffer, object with the buffer protocol, or array
            Pageable host memory is staged before the call returns; pinned memory must not change
            until the copy on the stream is done. Arrays of other libraries, also those that have
            only ``__array__``, must be C-contiguous; the copy is ordered with the stream of one on
            a device.
        stream : Stream or None
            If None, the current stream.
        options : cudacore.utils.CopyOptions, dict or None
            As for `copy_to`.

        Raises
        ------
        TypeError
            The object shows no memory, or it is not contiguous. Or options are given with a host
            object, or for a stream that takes no batches.
        ValueError
            The sizes differ, or a buffer is closed.
        NotSupportedError
            Options are given, and the driver is older than 13.0.
        """
    @overload
    def to_host(
        self,
        dtype: None = None,
        shape: _Shape | None = None,
        *,
        stream: _StreamLike | None = None,
    ) -> NDArray[np.uint8]:
        """Copies the whole buffer into a new NumPy array, and waits for it to arrive
        (cuMemcpyAsync, cuStreamSynchronize).

        Parameters
        ----------
        dtype : anything that numpy.dtype() takes, optional
            The type of the elements; if None, ``uint8``.
        shape : int or tuple of int, optional
            As numpy.reshape() takes it, with -1 for what is left; if None, one dimension.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        ImportError
            NumPy is not installed.
        ValueError
            The size is not a whole number of elements, or doesn't match the shape; or the buffer is
            closed.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> buffer = dev.to_device(bytes([1, 0, 2, 0]))
        >>> buffer.to_host("int16").tolist()
        [1, 2]
        """
    @overload
    def to_host(
        self,
        dtype: type[_Scalar] | np.dtype[_Scalar],
        shape: _Shape | None = None,
        *,
        stream: _StreamLike | None = None,
    ) -> NDArray[_Scalar]: ...
    @overload
    def to_host(
        self,
        dtype: DTypeLike,
        shape: _Shape | None = None,
        *,
        stream: _StreamLike | None = None,
    ) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
    def view(
        self,
        dtype: _ElementType,
        shape: _Shape = -1,
        strides: _Shape | None = None,
    ) -> StridedMemoryView:
        """Shows the memory as an array of typed elements, which shares it.

        Parameters
        ----------
        dtype : numpy.dtype, class or str
            The type of the elements: a dtype of NumPy or PyTorch, a class of NumPy, ml_dtypes or
            ctypes, or a name such as ``"float32"``, ``"f4"``, ``"<f4"``, ``"bfloat16"``,
            ``"float8_e4m3fn"``. NumPy is not imported.
        shape : int or tuple of int
            The length of each dimension. One may be -1, for all elements that are left. They may
            take less than the whole buffer.
        strides : int or tuple of int, optional
            How many elements apart neighbors are, for each dimension; if None, in C order.

        Returns
        -------
        StridedMemoryView
            It keeps the buffer; once the buffer is closed, the view can't be used.

        Raises
        ------
        TypeError
            `dtype` is not an element type, or its elements are Python objects.
        ValueError
            The elements don't fit into the buffer, or are not aligned; the dtype is big-endian; or
            the buffer is closed.

        Examples
        --------
        >>> buffer = cudacore.Device().allocate(24)
        >>> view = buffer.view("float32", (2, -1))
        >>> view.shape, view[1].ptr - buffer.handle
        ((2, 3), 12)
        """
    def __getitem__(self, index: slice, /) -> Buffer:
        """A part of the memory: ``buf[start:stop]``, in bytes."""
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __release_buffer__(self, buffer: memoryview, /) -> None: ...
    def fill(self, value: int | _HostBuffer, *, stream: _StreamLike | None = None) -> None:
        """Fills the buffer with a repeated pattern (cuMemsetD8Async, D16, D32).

        Parameters
        ----------
        value : int or object with the buffer protocol
            An int in 0 .. 255 for each byte, or 1, 2 or 4 bytes.
        stream : Stream or None
            If None, the current stream.

        Raises
        ------
        ValueError
            The buffer's size is not a multiple of the pattern's.
        """
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A DLPack capsule that shows the memory as a 1-D array of int8.

        Parameters
        ----------
        stream : int or None
            The consumer's stream, in DLPack's numbers. It is made to wait for the buffer's own
            stream and for the current one; -1 leaves that out.
        max_version : (int, int) or None
            The newest version that the consumer knows: from (1, 0) on, the capsule has a version.
        dl_device : (int, int) or None
            Where the consumer wants the memory: where it is, or on the host, ``(1, 0)``.
        copy : bool or None
            True for a copy, False for none; if None, only what the host cannot reach is copied.

        Raises
        ------
        BufferError
            The memory can't be shown there, or not without a copy.
        """
    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, ordinal) in DLPack's codes."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """dict: The memory as a 1-D array of int8, for CuPy, Numba and others. Its stream is the
        current one, which is first made to wait for the buffer's own."""
    __dlpack_c_exchange_api__: ClassVar[CapsuleType]
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Host:
    """The host, as a place for managed memory, where a `Device` is another.

    There is one object for each place: ``Host() is Host()``.

    Parameters
    ----------
    numa_id : int or None
        The number of a NUMA node; if None, the host as a whole.
    is_numa_current : bool
        Whether it is the NUMA node of the thread that uses it. Cannot be combined with `numa_id`.

    Raises
    ------
    ValueError
        `numa_id` is negative or above 1023, the most that Linux has, or both are given.

    Examples
    --------
    >>> cudacore.Host(numa_id=0)
    Host(numa_id=0)
    """
    def __init__(self, numa_id: int | None = None, *, is_numa_current: bool = False) -> None: ...
    @classmethod
    def numa_current(cls) -> Host:
        """The NUMA node of the thread that uses it.

        Returns
        -------
        Host
        """
    @property
    def numa_id(self) -> int | None:
        """int or None: The NUMA node; None for the host as a whole, or the current node."""
    @property
    def is_numa_current(self) -> bool:
        """bool: Whether it is the NUMA node of the thread that uses it."""
    def __reduce__(self) -> tuple[Any, ...]: ...

class ManagedBuffer(Buffer):
    """A buffer of managed memory, with advice to the driver on where its pages should be.

    `ManagedMemoryResource.allocate` returns one, and ``ManagedBuffer.from_handle`` wraps managed
    memory from elsewhere. A part, ``buf[a:b]``, is a ManagedBuffer too. Advice is the driver's, for
    whole pages: reading a property asks the driver. A driver may take no advice on memory of a
    pool, such as ``allocate`` gives, and then raises `NotSupportedError`.

    All its members raise ValueError for a buffer that is closed or empty, or whose memory is not
    managed, and `NotSupportedError` if the driver lacks the function.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> buffer = cudacore.ManagedMemoryResource().allocate(1 << 20, stream=stream)
    >>> buffer.prefetch(cudacore.Host(), stream=stream)
    >>> buffer.last_prefetch_location
    Host()
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def read_mostly(self) -> bool:
        """bool: Whether the memory is mostly read, so that devices get copies of its pages.

        Settable (cuMemAdvise, cuMemRangeGetAttributes).
        """
    @read_mostly.setter
    def read_mostly(self, on: bool) -> None: ...
    @property
    def preferred_location(self) -> Device | Host | None:
        """Device, Host or None: Where the pages should stay; None for nowhere, or if they differ.

        Settable (cuMemAdvise, cuMemRangeGetAttributes).
        """
    @preferred_location.setter
    def preferred_location(self, location: Device | Host | None) -> None: ...
    @property
    def accessed_by(self) -> MutableSet[Device | Host]:
        """set of Device and Host: For whom the pages stay mapped, wherever they are.

        Changing the set changes the advice, and so does assigning another one (cuMemAdvise,
        cuMemRangeGetAttributes). It holds ``Host()``, but none of its NUMA nodes.
        """
    @accessed_by.setter
    def accessed_by(self, locations: Iterable[Device | Host]) -> None: ...
    def _accessed_by(self) -> list[Device | Host]: ...
    def _set_accessed_by(self, location: Device | Host, on: bool) -> None: ...
    @property
    def last_prefetch_location(self) -> Device | Host | None:
        """Device, Host or None: Where the last prefetch was to.

        None if there was none, or if it differs between the pages. The pages may be elsewhere since
        (cuMemRangeGetAttributes).
        """
    def prefetch(self, location: Device | Host, *, stream: _StreamLike | None = None) -> None:
        """Moves the pages, in the order of a stream (cuMemPrefetchAsync).

        Parameters
        ----------
        location : Device or Host
        stream : Stream or None
            If None, the current stream. Not one that is being captured: graphs can't prefetch.
        """
    def discard(self, *, stream: _StreamLike | None = None) -> None:
        """Drops the contents, so that moving the pages need not copy them (cuMemDiscardBatchAsync).

        Until it is written, or prefetched, reading the memory gives no particular values.

        Parameters
        ----------
        stream : Stream or None
            If None, the current stream. Neither one that is being captured nor the legacy default
            stream.

        Raises
        ------
        NotSupportedError
            The driver is older than 13.0.
        """
    def discard_prefetch(
        self, location: Device | Host, *, stream: _StreamLike | None = None
    ) -> None:
        """Drops the contents and moves the pages (cuMemDiscardAndPrefetchBatchAsync).

        Parameters
        ----------
        location : Device or Host
        stream : Stream or None
            As for `discard`.

        Raises
        ------
        NotSupportedError
            The driver is older than 13.0.
        """

def register_host(
    array: _HostBuffer | _Array,
    *,
    portable: bool = True,
    mapped: bool = True,
    io_memory: bool = False,
    read_only: bool | None = None,
) -> Buffer:
    """Page-locks the memory of an array of the host, and shows it as a buffer (cuMemHostRegister).

    Copies from and to it are then asynchronous, and kernels reach it. Closing the buffer, or the
    last part of it, ends that (cuMemHostUnregister), once the work on its deallocation stream is
    done. Until then, it keeps the array's memory.

    Parameters
    ----------
    array : object with the buffer protocol, or array
        Without gaps between its elements. Such as a NumPy array, a bytearray, an mmap, or a tensor
        of PyTorch on the CPU.
    portable : bool
        Whether it is page-locked for all devices, not just for the current one.
    mapped : bool
        Whether kernels reach it.
    io_memory : bool
        Whether it is memory of an I/O device.
    read_only : bool or None
        Whether devices only read it, and the buffer is read-only; if None, whether the array is.

    Returns
    -------
    Buffer
        Its ``owner`` is a memoryview, or a view, of the array.

    Raises
    ------
    TypeError
        The object shows no memory, or is a Buffer.
    ValueError
        It is empty, has gaps, is not on the host, or is read-only although `read_only` is False.
    CUDAError
        Some of the memory is registered already.
    NotSupportedError
        The device can't do this.

    Examples
    --------
    >>> import numpy as np
    >>> dev = cudacore.Device()
    >>> dev.set_current()
    >>> stream = dev.create_stream()
    >>> array = np.zeros(1024, "float32")
    >>> with cudacore.register_host(array) as registered:
    ...     registered.fill(1, stream=stream)
    ...     stream.sync()
    >>> hex(array.view("uint32")[0])
    '0x1010101'
    """

def copy_batch(
    stream: _StreamLike | None,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: _CopyOptions | Sequence[_CopyOptions] | None = None,
) -> None:
    """Copies several buffers by one call of the driver (cuMemcpyBatchAsync).

    The batch is in the order of the stream. Its copies are in no particular order, so no source may
    overlap a destination.

    Parameters
    ----------
    stream : Stream or None
        If None, the current stream. Neither one that is being captured nor the legacy default
        stream.
    srcs, dsts : sequence of Buffer
        Each source, and the destination of the same size at the same place.
    options : CopyOptions, dict, sequence of them, or None
        One for all copies, or one for each.

    Raises
    ------
    NotSupportedError
        The driver is older than 13.0.
    ValueError
        A buffer is closed, or numbers or sizes differ.
    TypeError
        The stream is being captured, or is the legacy default stream.

    Examples
    --------
    >>> from cudacore.utils import copy_batch
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> pinned = cudacore.LegacyPinnedMemoryResource()
    >>> sources = [pinned.allocate(4) for _ in range(2)]
    >>> for source in sources:
    ...     memoryview(source)[:] = b"abcd"
    >>> copies = [dev.allocate(4, stream=stream) for _ in sources]
    >>> copy_batch(stream, sources, copies, options={"src_access_order": "any"})
    >>> copies[1].to_host(stream=stream).tobytes()
    b'abcd'
    """

def prefetch_batch(
    stream: _StreamLike | None,
    buffers: Sequence[Buffer],
    locations: Device | Host | Sequence[Device | Host],
) -> None:
    """Moves the pages of several buffers of managed memory (cuMemPrefetchBatchAsync).

    Parameters
    ----------
    stream : Stream or None
        If None, the current stream. Neither one that is being captured nor the legacy default
        stream.
    buffers : sequence of Buffer
        They are moved in no particular order.
    locations : Device, Host or sequence of them
        One for all buffers, or one for each.

    Raises
    ------
    NotSupportedError
        The driver is older than 13.0.
    ValueError
        A buffer is closed or empty, or its memory is not managed; there is no buffer; or the number
        of locations is another one.
    TypeError
        The stream is being captured, or is the legacy default stream.

    Examples
    --------
    >>> from cudacore.utils import prefetch_batch
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> pool = cudacore.ManagedMemoryResource()
    >>> buffers = [pool.allocate(4096, stream=stream) for _ in range(2)]
    >>> prefetch_batch(stream, buffers, [dev, cudacore.Host()])
    >>> buffers[1].last_prefetch_location
    Host()
    """

def discard_batch(stream: _StreamLike | None, buffers: Sequence[Buffer]) -> None:
    """Drops the contents of several buffers of managed memory (cuMemDiscardBatchAsync).

    Until it is written, or prefetched, reading the memory gives no particular values.

    Parameters
    ----------
    stream : Stream or None
        As for `prefetch_batch`.
    buffers : sequence of Buffer

    Raises
    ------
    NotSupportedError, ValueError, TypeError
        As for `prefetch_batch`.

    Examples
    --------
    >>> from cudacore.utils import discard_batch
    >>> stream = cudacore.Device().create_stream()
    >>> buffer = cudacore.ManagedMemoryResource().allocate(4096, stream=stream)
    >>> discard_batch(stream, [buffer])
    """

def discard_prefetch_batch(
    stream: _StreamLike | None,
    buffers: Sequence[Buffer],
    locations: Device | Host | Sequence[Device | Host],
) -> None:
    """Drops the contents of several buffers and moves their pages.

    The driver's cuMemDiscardAndPrefetchBatchAsync does both at once: no contents are moved.

    Parameters
    ----------
    stream : Stream or None
        As for `prefetch_batch`.
    buffers : sequence of Buffer
    locations : Device, Host or sequence of them
        One for all buffers, or one for each.

    Raises
    ------
    NotSupportedError, ValueError, TypeError
        As for `prefetch_batch`.

    Examples
    --------
    >>> from cudacore.utils import discard_prefetch_batch
    >>> stream = cudacore.Device().create_stream()
    >>> buffer = cudacore.ManagedMemoryResource().allocate(4096, stream=stream)
    >>> discard_prefetch_batch(stream, [buffer], cudacore.Host())
    >>> buffer.last_prefetch_location
    Host()
    """

@final
class StridedMemoryView:
    """An array in memory that is not copied: its address, shape, strides and type of elements.

    `Buffer.view` makes one, and the class methods make one from an array of any library. Indexing
    by ints and slices, `reshape` and `transpose` give views of the same memory. It is a kernel
    argument, and other libraries take it by DLPack or ``__cuda_array_interface__``. Once the Buffer
    that it shows is closed, using it raises ValueError.

    Calling the class itself is deprecated, as in cuda.core: use `from_any_interface`.

    Examples
    --------
    >>> import numpy as np
    >>> from cudacore.utils import StridedMemoryView
    >>> view = StridedMemoryView.from_any_interface(np.zeros((4, 6), "f4")[:, ::2], -1)
    >>> view.shape, view.strides, view.dtype
    ((4, 3), (6, 2), dtype('float32'))
    """
    def __new__(cls, obj: object = None, stream_ptr: _StreamNumber = None) -> Self: ...
    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: _StreamNumber = None) -> StridedMemoryView:
        """Views an array by DLPack: its C exchange API, or ``__dlpack__``.

        Parameters
        ----------
        obj : object
            The array.
        stream_ptr : int, Stream or None
            Where the view will be used: a handle, or a Stream. It is made to wait for the array's
            work; -1 leaves that out. If None, the current stream.

        Raises
        ------
        BufferError
            The object lacks the protocol, breaks it, or is on a device that CUDA doesn't know.
        ValueError
            Its strides, in bytes, are not a whole number of elements.
        """
    @classmethod
    def from_cuda_array_interface(
        cls, obj: object, stream_ptr: _StreamNumber = None
    ) -> StridedMemoryView:
        """Views an array by its ``__cuda_array_interface__``; see `from_dlpack`."""
    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """Views an array of the host by its ``__array_interface__``; see `from_dlpack`."""
    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: _StreamNumber = None) -> StridedMemoryView:
        """Views an array by the first protocol that it has: DLPack, ``__cuda_array_interface__``,
        ``__array_interface__``; see `from_dlpack`."""
    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: _Shape,
        strides: _Shape | None = None,
        *,
        itemsize: int | None = None,
        dtype: _ElementType | None = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """Views a buffer; `Buffer.view` does so with less to write.

        Parameters
        ----------
        buffer : Buffer
            What the view keeps.
        shape : int or tuple of int
            The length of each dimension.
        strides : int or tuple of int, optional
            In elements; if None, in C order.
        itemsize : int, optional
            The size of an element in bytes; needed without a dtype.
        dtype : numpy.dtype, class or str, optional
            The type of the elements; see `Buffer.view`. Other libraries can't take a view without.
        is_readonly : bool
            Whether others may only read it.

        Raises
        ------
        ValueError
            As for `Buffer.view`; or neither `itemsize` nor `dtype` is given, or they disagree.
        """
    def view(self, layout: None = None, dtype: _ElementType | None = None) -> StridedMemoryView:
        """Shows the same bytes as elements of another type; the view itself if None is given.

        Parameters
        ----------
        layout : None
            Layouts are private classes of cuda.core.
        dtype : numpy.dtype, class or str
            The type; see `Buffer.view`. If its size differs, the last dimension must be contiguous
            and a whole number of elements.

        Raises
        ------
        ValueError
            The dtype doesn't fit.
        NotSupportedError
            A layout is given.
        """
    def reshape(self, *shape: _Shape) -> StridedMemoryView:
        """Shows the elements, in C order, under another shape: ints, or one tuple, with at most one
        -1.

        Raises
        ------
        ValueError
            The number of elements differs, or they would have to be copied.
        """
    def transpose(self, *axes: _Shape | None) -> StridedMemoryView:
        """Shows the dimensions in another order: ints, or one tuple; by default reversed."""
    @property
    def T(self) -> StridedMemoryView:  # noqa: N802
        """StridedMemoryView: With the dimensions reversed."""
    def __getitem__(self, index: Any, /) -> StridedMemoryView:
        """A part: ``view[0]``, ``view[:, ::2]``, ``view[..., None]``. A view without dimensions is
        one element."""
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """A NumPy array that shares memory that the host can reach, as ``numpy.asarray(view)`` asks
        for it.

        Raises
        ------
        TypeError
            The memory is on a device.
        """
    def copy_from(
        self,
        other: StridedMemoryView,
        stream: _StreamLike | None = None,
        allocator: object = None,
        blocking: bool | None = None,
    ) -> None:
        """Copies another view of the same shape and dtype into this one.

        One call of the driver copies everything (cuMemcpyAsync, cuMemcpy3DAsync). Dimensions become
        one where they can. What is left may be rows, at equal distances, and planes of rows that
        are a whole number of rows apart, in any order of the dimensions. Rows of one element, as of
        ``view[:, 0]``, are slow.

        Parameters
        ----------
        other : StridedMemoryView
        stream : Stream or None
            If None, the current stream.
        allocator : object
            Not needed: nothing is allocated.
        blocking : bool or None
            Whether to wait for the copy; if None, only if either memory is the host's alone.

        Raises
        ------
        ValueError
            The shapes or dtypes differ, this view is read-only, or several of its elements share
            memory.
        NotSupportedError
            The driver can't copy all elements by one call, as when one view is transposed, or
            reversed, and the other isn't.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> stream = dev.create_stream()
        >>> tiles = dev.allocate(4 * 64, stream=stream).view("float32", (8, 8))
        >>> tile = dev.allocate(4 * 16, stream=stream).view("float32", (4, 4))
        >>> tile.fill(1.5, stream=stream)
        >>> tiles[2:6, 4:].copy_from(tile, stream)
        """
    def copy_to(
        self,
        other: StridedMemoryView,
        stream: _StreamLike | None = None,
        allocator: object = None,
        blocking: bool | None = None,
    ) -> None:
        """Copies this view into another; see `copy_from`."""
    def fill(self, value: object, *, stream: _StreamLike | None = None) -> None:
        """Sets all elements to a value (cuMemsetD8Async, cuMemsetD2D8Async and the like).

        Parameters
        ----------
        value : number or bytes
            A number of the view's dtype, which needs NumPy; the bytes of an element if it has none.
        stream : Stream or None
            If None, the current stream.

        Raises
        ------
        TypeError
            The value is of another kind, such as a float for ints.
        OverflowError
            The value does not fit the dtype.
        ValueError
            The view is read-only, or its memory is the host's alone.
        NotSupportedError
            The elements are not rows at equal distances; or they have more than 4 bytes that
            differ, and lie in rows.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> stream = dev.create_stream()
        >>> matrix = dev.allocate(4 * 64, stream=stream).view("int32", (8, 8))
        >>> matrix.fill(-1, stream=stream)
        >>> matrix[:, 0].fill(7, stream=stream)
        """
    def as_tensor_map(
        self,
        box_dim: _Ints | None = None,
        *,
        options: TensorMapDescriptorOptions | Mapping[str, Any] | None = None,
        element_strides: _Ints | None = None,
        data_type: TensorMapDataType | _ElementType | None = None,
        interleave: TensorMapInterleave | str | None = None,
        swizzle: TensorMapSwizzle | str | None = None,
        l2_promotion: TensorMapL2Promotion | str | None = None,
        oob_fill: TensorMapOOBFill | str | None = None,
    ) -> TensorMapDescriptor:
        """Describes the array to the Tensor Memory Accelerator (TMA), which copies boxes of it to
        and from shared memory (``cuTensorMapEncodeTiled``).

        The view must have 1 to 5 dimensions, lie at a multiple of 16 bytes on the current device
        or in host memory that it can read, and be contiguous in its last dimension; its other
        strides must be multiples of 16 bytes. All sequences are in the order of its shape; PTX
        counts coordinates from the other end.

        Parameters
        ----------
        box_dim : sequence of int
            The shape of the box that one copy moves: 1 to 256 elements in each dimension, and in
            the last one a multiple of 16 bytes.
        options : TensorMapDescriptorOptions or mapping, optional
            All the arguments at once, instead of the others.
        element_strides : sequence of int, optional
            Steps between the elements that a copy moves, 1 to 8: it moves ``ceil(box_dim / step)``
            of them. Without interleaving, the last step has no effect. Default: 1.
        data_type : TensorMapDataType or dtype, optional
            The type of the elements. One of another size takes the bytes as elements of that type,
            as `view` does. Default: the view's.
        interleave : TensorMapInterleave, optional
            Default: ``NONE``.
        swizzle : TensorMapSwizzle, optional
            Its span must hold the last dimension of the box. Default: ``NONE``.
        l2_promotion : TensorMapL2Promotion, optional
            Default: ``NONE``.
        oob_fill : TensorMapOOBFill, optional
            What is read outside of the array. Default: ``NONE``, which means zeros.

        Returns
        -------
        TensorMapDescriptor
            An argument for kernels. It keeps the array's memory.

        Raises
        ------
        ValueError
            TMA can't describe the array or the box, which the message explains; or the memory is
            closed, on another device, or out of the device's reach.
        TypeError
            An argument has a wrong type, or `options` and other arguments are both given.
        NotSupportedError
            The device has a compute capability below 9.0.

        Examples
        --------
        >>> import cudacore
        >>> device = cudacore.Device()
        >>> device.set_current()
        >>> view = device.allocate(64 * 64 * 4).view("f4", (64, 64))
        >>> view.as_tensor_map((8, 32), swizzle=cudacore.TensorMapSwizzle.SWIZZLE_128B)
        TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)
        """
    @property
    def ptr(self) -> int:
        """int: The address of the first element."""
    @property
    def device_id(self) -> int:
        """int: The device that owns the memory. For memory of the host, -1, or the device that its
        exporter named; by ``__array_interface__``, as in cuda.core, the device that was current in
        the calling thread, -1 if none was."""
    @property
    def is_device_accessible(self) -> bool:
        """bool: Whether a kernel can reach it."""
    @property
    def readonly(self) -> bool:
        """bool: Whether it may only be read."""
    @property
    def exporting_obj(self) -> Any:
        """object: The buffer, or the array, that it views."""
    @property
    def shape(self) -> tuple[int, ...]:
        """tuple of int: The length of each dimension."""
    @property
    def strides(self) -> tuple[int, ...] | None:
        """tuple of int or None: In elements, not bytes; None if it is in C order and its exporter
        gave none."""
    @property
    def dtype(self) -> np.dtype[Any] | None:
        """numpy.dtype or None: The type of the elements; None if only their size is known. NumPy is
        imported when this is first read."""
    @property
    def size(self) -> int:
        """int: The number of elements."""
    @property
    def ndim(self) -> int:
        """int: The number of dimensions."""
    @property
    def itemsize(self) -> int:
        """int: Bytes of an element."""
    @property
    def nbytes(self) -> int:
        """int: Bytes of all elements."""
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A DLPack capsule that shows the view; see `Buffer.__dlpack__`."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, ordinal) in DLPack's codes."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """dict: The view for CuPy, Numba and others; see `Buffer.__cuda_array_interface__`."""
    __dlpack_c_exchange_api__: ClassVar[CapsuleType]
    __c_dlpack_exchange_api__: ClassVar[CapsuleType]

@final
class TensorMapDescriptor:
    """Describes an array to the Tensor Memory Accelerator of compute capability 9.0 and newer.

    `StridedMemoryView.as_tensor_map` makes one. It is the argument for a kernel's parameter
    ``const __grid_constant__ CUtensorMap``, or any struct of 128 bytes aligned to 64. It keeps the
    array's memory as long as it lives. Once the Buffer that it describes is closed, launches refuse
    it with ValueError.

    Examples
    --------
    >>> import cudacore
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> device.allocate(4096).view("u1").as_tensor_map([256])
    TensorMapDescriptor(tiled, rank=1, dtype=UINT8, swizzle=NONE)
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @classmethod
    def from_im2col(
        cls,
        view: StridedMemoryView,
        pixel_box_lower_corner: _Ints,
        pixel_box_upper_corner: _Ints,
        channels_per_pixel: SupportsIndex,
        pixels_per_column: SupportsIndex,
        *,
        element_strides: _Ints | None = None,
        data_type: TensorMapDataType | _ElementType | None = None,
        interleave: TensorMapInterleave | str | None = None,
        swizzle: TensorMapSwizzle | str | None = None,
        l2_promotion: TensorMapL2Promotion | str | None = None,
        oob_fill: TensorMapOOBFill | str | None = None,
    ) -> TensorMapDescriptor:
        """Describes an array of shape (N, ..., C) whose copies load columns of pixels, as
        convolutions need them (``cuTensorMapEncodeIm2col``).

        Parameters
        ----------
        view : StridedMemoryView
            The array, of 3 to 5 dimensions; see `StridedMemoryView.as_tensor_map`.
        pixel_box_lower_corner, pixel_box_upper_corner : sequence of int
            Where the box of pixels begins, counted from the first pixel, and ends, counted from
            the last; one for each dimension but N and C, in the order of the shape.
        channels_per_pixel : int
            How many elements of C are loaded, 1 to 256.
        pixels_per_column : int
            How many pixels are loaded, 1 to 1024.
        element_strides : sequence of int, optional
            As for `StridedMemoryView.as_tensor_map`, and so are the following.
        data_type : TensorMapDataType or dtype, optional
        interleave : TensorMapInterleave, optional
        swizzle : TensorMapSwizzle, optional
        l2_promotion : TensorMapL2Promotion, optional
        oob_fill : TensorMapOOBFill, optional

        Raises
        ------
        ValueError
            TMA can't describe the array or the pixels, which the message explains.
        TypeError
            An argument has a wrong type.
        NotSupportedError
            The device has a compute capability below 9.0.

        Examples
        --------
        >>> import cudacore
        >>> device = cudacore.Device()
        >>> device.set_current()
        >>> images = device.allocate(8 * 8 * 32 * 4).view("f4", (1, 8, 8, 32))
        >>> cudacore.TensorMapDescriptor.from_im2col(images, (-1, -1), (-1, -1), 32, 64)
        TensorMapDescriptor(im2col, rank=4, dtype=FLOAT32, swizzle=NONE)
        """
    @classmethod
    def from_im2col_wide(
        cls,
        view: StridedMemoryView,
        pixel_box_lower_corner_width: SupportsIndex,
        pixel_box_upper_corner_width: SupportsIndex,
        channels_per_pixel: SupportsIndex,
        pixels_per_column: SupportsIndex,
        *,
        element_strides: _Ints | None = None,
        data_type: TensorMapDataType | _ElementType | None = None,
        interleave: TensorMapInterleave | str | None = None,
        mode: TensorMapIm2ColWideMode | str | None = None,
        swizzle: TensorMapSwizzle | str | None = None,
        l2_promotion: TensorMapL2Promotion | str | None = None,
        oob_fill: TensorMapOOBFill | str | None = None,
    ) -> TensorMapDescriptor:
        """Describes an array whose copies load pixels along the dimension before the last, the
        width (``cuTensorMapEncodeIm2colWide``, of a driver for CUDA 12.8).

        Parameters
        ----------
        view : StridedMemoryView
            The array, of 3 to 5 dimensions; see `StridedMemoryView.as_tensor_map`.
        pixel_box_lower_corner_width, pixel_box_upper_corner_width : int
            Where the pixels begin, counted from the first pixel, and end, counted from the last.
        channels_per_pixel : int
            How many elements of C are loaded, 1 to 256.
        pixels_per_column : int
            How many pixels are loaded, 1 to 1024.
        element_strides : sequence of int, optional
            As for `StridedMemoryView.as_tensor_map`, and so are the following.
        data_type : TensorMapDataType or dtype, optional
        interleave : TensorMapInterleave, optional
        mode : TensorMapIm2ColWideMode, optional
            Default: ``W``. ``W128`` loads 128 pixels.
        swizzle : TensorMapSwizzle, optional
            ``SWIZZLE_64B`` or ``SWIZZLE_128B``, which is the default.
        l2_promotion : TensorMapL2Promotion, optional
        oob_fill : TensorMapOOBFill, optional

        Raises
        ------
        ValueError
            TMA can't describe the array or the pixels, which the message explains.
        TypeError
            An argument has a wrong type.
        NotSupportedError
            The device has a compute capability below 10.0, or the driver is too old.
        """
    @property
    def device(self) -> Device:
        """Device: The one that was current when this was made."""
    def replace_address(self, tensor: StridedMemoryView | _Array) -> None:
        """Describes other memory with the same layout (``cuTensorMapReplaceAddress``).

        Launches that were queued before keep the old address. Nothing waits: their memory must
        live until they end, as with any argument.

        Parameters
        ----------
        tensor : StridedMemoryView, Buffer or array
            At least as many bytes, at a multiple of 16 bytes, or of 32 with ``INTERLEAVE_32B``.

        Raises
        ------
        ValueError
            The memory is smaller, not aligned, closed, on another device, or out of its reach.
        """

class MemoryResource:
    """Where buffers come from and return to.

    Derive from it to bring your own allocator: define ``allocate``, which returns
    ``Buffer.from_handle(ptr, size, mr=self, stream=stream)``, ``deallocate``,
    ``is_device_accessible``, ``is_host_accessible`` and ``device_id``.
    """
    def __init__(self) -> None: ...
    def allocate(self, size: int, *, stream: _StreamLike | None = None) -> Buffer:
        """Allocates memory, usable on the stream from now on.

        Parameters
        ----------
        size : int
            Bytes.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
        """
    def deallocate(self, ptr: SupportsInt, size: int, *, stream: _StreamLike | None = None) -> None:
        """Takes memory back; `Buffer.close` calls it.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            Bytes.
        stream : Stream or None
            The stream that the release is ordered on.
        """
    @property
    def is_device_accessible(self) -> bool:
        """bool: Whether kernels can reach the memory."""
    @property
    def is_host_accessible(self) -> bool:
        """bool: Whether the host can reach the memory."""
    @property
    def is_managed(self) -> bool:
        """bool: Whether the memory moves automatically."""
    @property
    def device_id(self) -> int:
        """int: The device that owns the memory; -1 if none does."""

@final
class MemoryPoolAttributes:
    """The counters and settings of a memory pool
    (cuMemPoolGetAttribute, cuMemPoolSetAttribute). Sizes are in bytes.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    reuse_follow_event_dependencies: bool
    """bool: Whether freed memory may be used again on a stream that waits for the free."""
    reuse_allow_opportunistic: bool
    """bool: Whether freed memory may be reused on any stream once the free has completed."""
    reuse_allow_internal_dependencies: bool
    """bool: Whether the driver may add waits in order to use memory again."""
    release_threshold: int
    """int: How much unused memory is kept at a synchronization."""
    @property
    def reserved_mem_current(self) -> int:
        """int: What the pool holds now."""
    reserved_mem_high: int
    """int: The most it has held; set it to 0 to start over."""
    @property
    def used_mem_current(self) -> int:
        """int: What is in use now."""
    used_mem_high: int
    """int: The most that was in use; set it to 0 to start over."""

class _PoolMemoryResource(MemoryResource):
    """A resource based on a stream-ordered memory pool."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def attributes(self) -> MemoryPoolAttributes:
        """MemoryPoolAttributes: The pool's counters and settings."""
    @property
    def handle(self) -> int:
        """int: The CUmemoryPool."""
    @property
    def is_handle_owned(self) -> bool:
        """bool: Whether the pool is destroyed with this object."""
    @property
    def is_ipc_enabled(self) -> bool:
        """bool: Whether other processes may map the memory."""
    @property
    def is_mapped(self) -> bool:
        """bool: Whether another process has made the pool, which alone allocates from it."""
    @property
    def uuid(self) -> UUID | None:
        """uuid.UUID or None: What the pool is called in all processes; None for one that other
        processes may not map.
        """
    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """IPCAllocationHandle: What stands for the pool in other processes
        (cuMemPoolExportToShareableHandle), a new one each time.

        multiprocessing sends it, or the resource itself. `NotSupportedError` unless the resource
        was made with ``ipc_enabled``, by this process.
        """
    def register(self, uuid: UUID) -> Self:
        """Name the pool, so that what is pickled with that name finds it in this process.

        multiprocessing does so when it sends a resource or a handle.

        Parameters
        ----------
        uuid : uuid.UUID
            The `uuid` of the resource in the process that made it.

        Returns
        -------
        DeviceMemoryResource or PinnedMemoryResource
            This one, or the one that is registered with that name already.

        Raises
        ------
        ValueError
            It has another name.
        NotSupportedError
            Other processes may not map its memory.
        """
    @staticmethod
    def from_registry(uuid: UUID) -> _PoolMemoryResource:
        """Find the pool of a name in this process: its own, or one that was sent to it.

        Parameters
        ----------
        uuid : uuid.UUID

        Returns
        -------
        DeviceMemoryResource or PinnedMemoryResource

        Raises
        ------
        RuntimeError
            There is none, or nothing uses it any more.

        Examples
        --------
        >>> pool = cudacore.DeviceMemoryResource(0, {"ipc_enabled": True})
        >>> cudacore.DeviceMemoryResource.from_registry(pool.uuid) is pool
        True
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _share_pool(self) -> int:
        """Return a file descriptor for the caller to close."""
    def _share(self, buf: Buffer) -> tuple[bytes, int]:
        """Return what the driver says of a buffer, and its size."""
    def _map_shared(self, data: bytes, size: int, stream: _StreamLike | None = None) -> Buffer:
        """Map memory by what the driver of another process says of it."""
    @property
    def _uuid(self) -> bytes | None:
        """bytes or None: What it is registered as."""
    def _register(self, uuid: bytes) -> Self:
        """Name it; return the pool that has the name."""
    @staticmethod
    def _registered(uuid: bytes) -> _PoolMemoryResource | None:
        """Find the pool of a name."""
    def close(self) -> None:
        """Ends allocation: `allocate` raises ValueError from now on. A pool of its own returns its
        free memory to the system; buffers stay usable. Closing it again does nothing.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    def trim(self, min_bytes_to_keep: int = 0) -> None:
        """Returns unused memory to the system (cuMemPoolTrimTo).

        Parameters
        ----------
        min_bytes_to_keep : int
            Bytes that the pool may keep.
        """

@final
class DeviceMemoryResourceOptions:
    ipc_enabled: bool
    max_size: int
    def __init__(self, ipc_enabled: bool = False, max_size: int = 0) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

class DeviceMemoryResource(_PoolMemoryResource):
    """A pool of device memory (cuMemAllocFromPoolAsync).

    Parameters
    ----------
    device_id : Device or int
    options : DeviceMemoryResourceOptions, dict or None
        With options, a pool of its own (cuMemPoolCreate). Without them, the device's current
        pool, set to keep what is freed.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> pool = cudacore.DeviceMemoryResource(dev, {"max_size": 1 << 20})
    >>> buffer = pool.allocate(4096, stream=dev.create_stream())
    >>> pool.attributes.used_mem_current >= 4096
    True
    """
    def __init__(
        self,
        device_id: int | Device,
        options: DeviceMemoryResourceOptions | Mapping[str, Any] | None = None,
    ) -> None: ...
    @staticmethod
    def from_allocation_handle(
        device_id: int | Device, alloc_handle: int | IPCAllocationHandle
    ) -> DeviceMemoryResource:
        """Import a pool of another process (cuMemPoolImportFromShareableHandle).

        It allocates nothing: `Buffer.from_ipc_descriptor` maps what the other process shares. A
        pool that this process has already is not imported again: it is returned.

        Parameters
        ----------
        device_id : Device or int
            Where the memory is.
        alloc_handle : IPCAllocationHandle or int
            A handle, or a file descriptor; it stays the caller's.

        Returns
        -------
        DeviceMemoryResource

        Raises
        ------
        ValueError
            The handle is closed, or not one of a pool of that device.
        """
    @property
    def peer_accessible_by(self) -> MutableSet[Device | int]:
        """MutableSet of Device: The other devices that may access the memory.

        A live view: it asks the driver each time (cuMemPoolGetAccess). It can be changed and
        assigned, with devices or ordinals; that holds for existing buffers, too, and is one call of
        the driver (cuMemPoolSetAccess). The pool's own device is left out.

        Raises
        ------
        ValueError
            There is no such device.
        NotSupportedError
            The device cannot access memory of the pool's: see `Device.can_access_peer`. Nothing is
            changed then.

        Examples
        --------
        >>> pool = cudacore.DeviceMemoryResource(0, {"max_size": 1 << 20})
        >>> pool.peer_accessible_by = []
        >>> len(pool.peer_accessible_by)
        0
        """
    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: Iterable[Device | int]) -> None: ...
    def _peers(self) -> list[int]:
        """Return the ordinals of the devices that may access the memory."""
    def _change_peers(self, allowed: Sequence[int], denied: Sequence[int]) -> None:
        """Change them in one call."""
    @staticmethod
    def _import(device_id: int | Device, descriptor: int) -> DeviceMemoryResource:
        """Import a pool by a file descriptor, which stays the caller's."""

@final
class PinnedMemoryResourceOptions:
    ipc_enabled: bool
    max_size: int
    numa_id: int | None
    def __init__(
        self, ipc_enabled: bool = False, max_size: int = 0, numa_id: int | None = None
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class PinnedMemoryResource(_PoolMemoryResource):
    """A pool of page-locked host memory that every device reaches.

    Parameters
    ----------
    options : PinnedMemoryResourceOptions, dict or None

    Raises
    ------
    NotSupportedError
        The driver has no host pools; use `LegacyPinnedMemoryResource`.
    """
    def __init__(
        self, options: PinnedMemoryResourceOptions | Mapping[str, Any] | None = None
    ) -> None: ...
    @staticmethod
    def from_allocation_handle(alloc_handle: int | IPCAllocationHandle) -> PinnedMemoryResource:
        """Import a pool of another process; see `DeviceMemoryResource.from_allocation_handle`.

        Parameters
        ----------
        alloc_handle : IPCAllocationHandle or int
            A handle, or a file descriptor; it stays the caller's.

        Returns
        -------
        PinnedMemoryResource

        Raises
        ------
        ValueError
            The handle is closed, or not one of a pool of host memory.
        """
    @staticmethod
    def _import(descriptor: int) -> PinnedMemoryResource:
        """Import a pool by a file descriptor, which stays the caller's."""
    @property
    def numa_id(self) -> int:
        """int: The host NUMA node; -1 if none was requested."""

@final
class ManagedMemoryResourceOptions:
    preferred_location: int | None
    @property
    def preferred_location_type(self) -> _LocationType | None: ...
    @preferred_location_type.setter
    def preferred_location_type(
        self, value: _LocationType | ManagedMemoryLocationType | None
    ) -> None: ...
    def __init__(
        self,
        preferred_location: int | None = None,
        preferred_location_type: _LocationType | ManagedMemoryLocationType | None = None,
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class ManagedMemoryResource(_PoolMemoryResource):
    """A pool of managed memory, which moves between host and devices automatically.

    Parameters
    ----------
    options : ManagedMemoryResourceOptions, dict or None

    Raises
    ------
    NotSupportedError
        The driver is older than 13.0.
    """
    def __init__(
        self, options: ManagedMemoryResourceOptions | Mapping[str, Any] | None = None
    ) -> None: ...
    def allocate(self, size: int, *, stream: _StreamLike | None = None) -> ManagedBuffer:
        """Allocates memory, usable on the stream from now on.

        Parameters
        ----------
        size : int
            Bytes.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        ManagedBuffer

        Raises
        ------
        OutOfMemoryError
        """
    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """tuple or None: The preferred location: (kind, device or NUMA node)."""

@final
class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked host memory straight from cuMemAllocHost; not stream-ordered."""
    def __init__(self) -> None: ...

@final
class SynchronousMemoryResource(MemoryResource):
    """Device memory straight from cuMemAlloc, for devices without pools.

    Parameters
    ----------
    device_id : Device or int
    """
    def __init__(self, device_id: int | Device) -> None: ...

class CachingStatistics(NamedTuple):
    current_bytes: int
    current_count: int
    peak_bytes: int
    peak_count: int
    total_bytes: int
    total_count: int
    used_bytes: int
    free_bytes: int
    reserved_bytes: int
    peak_reserved_bytes: int
    num_free_blocks: int
    num_segments: int
    num_device_alloc: int
    num_device_free: int
    num_stream_waits: int
    num_alloc_retries: int
    num_ooms: int

class _CachedBlock(TypedDict):
    address: int
    size: int
    requested_size: int
    state: Literal["active_allocated", "inactive"]
    stream: int | None

class _CachedSegment(TypedDict):
    device: int
    address: int
    total_size: int
    allocated_size: int
    segment_type: Literal["small", "medium", "large"]
    blocks: list[_CachedBlock]

@final
class CachingMemoryResource(MemoryResource):
    """A pool that keeps what is freed for what is allocated next, above any other resource.

    Memory that was freed on a stream serves the next allocation on that stream, without a call of
    the driver. Other streams get it once the work that may use it is done, or, if there is no other
    memory left, wait for that work on the device. Every buffer keeps the pool alive.

    Parameters
    ----------
    upstream : MemoryResource
        Where the memory comes from, in segments of 2 MiB or more.
    max_size : int or None
        The most to take from it, in bytes; None for no limit.

    Raises
    ------
    TypeError
        The upstream is no memory resource.
    ValueError, OverflowError
        The limit is 0 or negative, or is more than any memory has.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> pool = cudacore.CachingMemoryResource(cudacore.DeviceMemoryResource(dev))
    >>> stream = dev.create_stream()
    >>> pool.allocate(4096, stream=stream).close()
    >>> buffer = pool.allocate(4096, stream=stream)  # the same memory again
    >>> pool.statistics.num_device_alloc
    1
    """
    def __init__(self, upstream: MemoryResource, *, max_size: int | None = None) -> None: ...
    def allocate(self, size: int, *, stream: _StreamLike | None = None) -> Buffer:
        """Allocates memory, usable on the stream from now on, and aligned to 512 bytes.

        Parameters
        ----------
        size : int
            Bytes. Sizes are rounded up: by 3 % at most, to multiples of 512 bytes up to 1 MiB, and
            of 2 MiB from 10 MiB.
        stream : Stream or None
            If None, the current stream.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            The upstream has no memory, or the limit is reached. Everything that is cached has been
            returned to the upstream then. The message has the statistics.
        NotSupportedError
            The stream is being captured into a graph.
        ValueError
            The pool is closed.
        """
    def deallocate(self, ptr: SupportsInt, size: int, *, stream: _StreamLike | None = None) -> None:
        """Takes the memory of a buffer back before the buffer does.

        Parameters
        ----------
        ptr : int
            The address of the buffer.
        size : int
            Not used: the pool knows it.
        stream : Stream or None
            The stream that the release is ordered on.

        Raises
        ------
        ValueError
            No buffer of this pool is at the address.
        """
    @property
    def upstream(self) -> MemoryResource:
        """MemoryResource: Where the memory comes from."""
    @property
    def max_size(self) -> int | None:
        """int or None: The most to take from the upstream, in bytes."""
    @property
    def statistics(self) -> CachingStatistics:
        """CachingStatistics: What the pool has and has done."""
    def reset_peak_statistics(self) -> None:
        """Makes the peaks what there is now."""
    def snapshot(self) -> list[_CachedSegment]:
        """Lists the segments and their blocks, by address.

        Returns
        -------
        list of dict
            For each segment ``device``, ``address``, ``total_size``, ``allocated_size``,
            ``segment_type`` (``"small"``, ``"medium"`` or ``"large"``) and ``blocks``. For each
            block ``address``, ``size``, ``requested_size`` (0 if it is free), ``state``
            (``"active_allocated"`` or ``"inactive"``) and ``stream``: the handle of the stream that
            it was allocated on or, if it is free, whose work may still use it; None if none does.
        """
    def close(self) -> None:
        """Ends allocation: `allocate` raises ValueError from now on. Free memory returns to the
        upstream now, that of buffers when they are closed. Closing it again does nothing.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    def trim(self, min_bytes_to_keep: int = 0) -> None:
        """Returns free memory to the upstream, in whole segments.

        Waits for the work that may still use it.

        Parameters
        ----------
        min_bytes_to_keep : int
            Bytes that the pool may keep reserved.
        """

@final
class CopyOptions:
    @property
    def src_access_order(self) -> Literal["stream", "during_api_call", "any"]: ...
    @src_access_order.setter
    def src_access_order(self, value: str) -> None: ...
    src_location_hint: Device | Host | None
    dst_location_hint: Device | Host | None
    @property
    def overlap_mode(self) -> Literal["default", "prefer_overlap_with_compute"]: ...
    @overlap_mode.setter
    def overlap_mode(self, value: str) -> None: ...
    def __init__(
        self,
        src_access_order: str = "stream",
        src_location_hint: Device | Host | None = None,
        dst_location_hint: Device | Host | None = None,
        overlap_mode: str = "default",
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class VirtualMemoryResourceOptions:
    @property
    def allocation_type(self) -> Literal["pinned", "managed"]: ...
    @allocation_type.setter
    def allocation_type(self, value: str) -> None: ...
    @property
    def location_type(self) -> Literal["device", "host", "host_numa", "host_numa_current"]: ...
    @location_type.setter
    def location_type(self, value: str) -> None: ...
    @property
    def handle_type(self) -> Literal["posix_fd", "win32_kmt", "fabric"] | None: ...
    @handle_type.setter
    def handle_type(self, value: str | None) -> None: ...
    @property
    def granularity(self) -> Literal["minimum", "recommended"]: ...
    @granularity.setter
    def granularity(self, value: str) -> None: ...
    gpu_direct_rdma: bool
    addr_hint: int | None
    addr_align: int | None
    @property
    def peers(self) -> list[int]: ...
    @peers.setter
    def peers(self, value: int | Sequence[int] | None) -> None: ...
    @property
    def self_access(self) -> Literal["r", "rw"] | None: ...
    @self_access.setter
    def self_access(self, value: str | None) -> None: ...
    @property
    def peer_access(self) -> Literal["r", "rw"] | None: ...
    @peer_access.setter
    def peer_access(self, value: str | None) -> None: ...
    def __init__(
        self,
        allocation_type: str = "pinned",
        location_type: str = "device",
        handle_type: str | None = "posix_fd",
        granularity: str = "recommended",
        gpu_direct_rdma: bool = False,
        addr_hint: int | None = 0,
        addr_align: int | None = None,
        peers: int | Sequence[int] | None = [],
        self_access: str | None = "rw",
        peer_access: str | None = "rw",
    ) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class VirtualMemoryResource(MemoryResource):
    """Memory that can grow: its addresses and its bytes are managed apart from each other.

    Sizes are rounded up to a multiple of the granularity, 2 MiB on most devices. Allocating and
    releasing are not ordered on streams, and take longer than with a pool. Before memory is
    released, its deallocation stream is waited for.

    Parameters
    ----------
    device_id : Device or int
        The device whose memory it is. Memory of the host is reached by the ``peers``.
    config : VirtualMemoryResourceOptions, dict or None

    Raises
    ------
    NotSupportedError
        The device has no virtual memory, or not what the options ask for: an attribute of the
        device, which the message names, is 0.
    ValueError
        ``addr_align`` is not a power of two; ``peers`` names a device twice, or the device itself.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> resource = cudacore.VirtualMemoryResource(dev, {"handle_type": None})
    >>> buffer = resource.allocate(1)
    >>> buffer.size
    2097152
    >>> resource.modify_allocation(buffer, buffer.size + 1).size
    4194304
    """
    def __init__(
        self,
        device_id: int | Device,
        config: VirtualMemoryResourceOptions | Mapping[str, Any] | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def is_ipc_enabled(self) -> bool:
        """bool: Whether buffers can be shared: whether ``handle_type`` is ``"posix_fd"``."""
    def _share(self, buf: Buffer) -> list[tuple[int, int]]:
        """Return file descriptors for the caller to close, and sizes."""
    def _map_shared(
        self, parts: Sequence[tuple[int, int]], stream: _StreamLike | None = None
    ) -> Buffer:
        """Map memory by its file descriptors, which stay the caller's."""
    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """VirtualMemoryResourceOptions: A copy of the options in use."""
    def modify_allocation(
        self,
        buf: Buffer,
        new_size: int,
        config: VirtualMemoryResourceOptions | Mapping[str, Any] | None = None,
    ) -> Buffer:
        """Make a buffer that begins with the memory of another, and is larger.

        Nothing is copied: both buffers share the memory (cuMemMap). The new one is at the same
        address if the addresses behind are free, and otherwise at a new one. Both stay usable, and
        the memory is released when both are closed. If anything fails, everything is as before.

        If a kernel uses both buffers, and they are at different addresses, it may not see through
        one what it has written through the other.

        Parameters
        ----------
        buf : Buffer
            A buffer of this resource, and no view or slice of one.
        new_size : int
            In bytes; rounded up. Memory never shrinks: a buffer that is large enough is returned
            with its size as it is, and only the options are applied.
        config : VirtualMemoryResourceOptions, dict or None
            Replaces this resource's options. Access to the whole buffer becomes what they say.

        Returns
        -------
        Buffer
            At least ``new_size`` bytes, and at least as many as ``buf``.

        Raises
        ------
        ValueError
            The buffer is closed or not from this resource, or ``location_type`` differs.
        OutOfMemoryError
            There is too little memory for the growth.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> resource = cudacore.VirtualMemoryResource(dev)
        >>> buffer = resource.allocate(1 << 20)
        >>> buffer = resource.modify_allocation(buffer, 1 << 22)
        >>> buffer.size
        4194304
        """

@final
class GraphMemoryResourceAttributes:
    """The counters of a device's memory in graphs (cuDeviceGetGraphMemAttribute), in bytes."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def reserved_mem_current(self) -> int:
        """int: What is reserved for graphs now."""
    reserved_mem_high: int
    """int: The most that was reserved; set it to 0 to start over."""
    @property
    def used_mem_current(self) -> int:
        """int: What is in use now."""
    used_mem_high: int
    """int: The most that was in use; set it to 0 to start over."""

@final
class GraphMemoryResource(MemoryResource):
    """Memory of graphs that are being captured. There is one object for each device.

    `allocate` becomes a node that allocates, and closing the buffer while its stream is captured a
    node that frees. Each launch uses the same address. What the graph doesn't free can be used
    after the launch; closing the buffer frees it then. If the graph was made with
    ``auto_free_on_launch``, its next launch does.

    The memory belongs to the graph: closing the buffer ends it, even if other nodes use it.

    Parameters
    ----------
    device_id : Device or int

    Examples
    --------
    >>> import cudacore as cc
    >>> device = cc.Device()
    >>> device.set_current()
    >>> out = device.allocate(16)
    >>> with device.create_graph_builder() as builder:
    ...     scratch = cc.GraphMemoryResource(device).allocate(16)
    ...     scratch.fill(7)
    ...     out.copy_from(scratch)
    ...     scratch.close()
    >>> builder.complete().launch(device.default_stream)
    >>> device.sync()
    >>> bytes(out.to_host())[:3]
    b'\\x07\\x07\\x07'
    """
    def __new__(cls, device_id: int | Device) -> Self: ...
    def __init__(self, device_id: int | Device) -> None: ...
    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """GraphMemoryResourceAttributes: The device's counters."""
    def trim(self) -> None:
        """Return memory that no graph uses to the system (cuDeviceGraphMemTrim)."""
    def close(self) -> None:
        """Do nothing: the memory belongs to graphs."""

@final
class ProgramOptions:
    name: str | None
    arch: str | None
    relocatable_device_code: bool | None
    extensible_whole_program: bool | None
    debug: bool | None
    lineinfo: bool | None
    device_code_optimize: bool | None
    ptxas_options: str | Sequence[str] | None
    max_register_count: int | None
    ftz: bool | None
    prec_sqrt: bool | None
    prec_div: bool | None
    fma: bool | None
    use_fast_math: bool | None
    extra_device_vectorization: bool | None
    link_time_optimization: bool | None
    gen_opt_lto: bool | None
    define_macro: _Macros | None
    undefine_macro: str | Sequence[str] | None
    include_path: str | Sequence[str] | None
    use_bundled_headers: bool | None
    pre_include: str | Sequence[str] | None
    no_source_include: bool | None
    std: str | None
    builtin_move_forward: bool | None
    builtin_initializer_list: bool | None
    disable_warnings: bool | None
    restrict: bool | None
    device_as_default_execution_space: bool | None
    device_int128: bool | None
    optimization_info: str | None
    no_display_error_number: bool | None
    diag_error: int | Sequence[int] | None
    diag_suppress: int | Sequence[int] | None
    diag_warn: int | Sequence[int] | None
    brief_diagnostics: bool | None
    time: str | None
    split_compile: int | None
    fdevice_syntax_only: bool | None
    minimal: bool | None
    no_cache: bool | None
    fdevice_time_trace: str | None
    device_float128: bool | None
    frandom_seed: str | None
    ofast_compile: str | None
    pch: bool | None
    create_pch: str | None
    use_pch: str | None
    pch_dir: str | None
    pch_verbose: bool | None
    pch_messages: bool | None
    instantiate_templates_in_pch: bool | None
    extra_sources: Mapping[str, str] | None
    use_libdevice: bool | None
    numba_debug: bool | None
    headers: Mapping[str, str] | None
    options: str | Sequence[str] | None
    def __init__(
        self,
        *,
        name: str | None = "default_program",
        arch: str | None = None,
        relocatable_device_code: bool | None = None,
        extensible_whole_program: bool | None = None,
        debug: bool | None = None,
        lineinfo: bool | None = None,
        device_code_optimize: bool | None = None,
        ptxas_options: str | Sequence[str] | None = None,
        max_register_count: int | None = None,
        ftz: bool | None = None,
        prec_sqrt: bool | None = None,
        prec_div: bool | None = None,
        fma: bool | None = None,
        use_fast_math: bool | None = None,
        extra_device_vectorization: bool | None = None,
        link_time_optimization: bool | None = None,
        gen_opt_lto: bool | None = None,
        define_macro: _Macros | None = None,
        undefine_macro: str | Sequence[str] | None = None,
        include_path: _Path | Sequence[_Path] | None = None,
        use_bundled_headers: bool | None = None,
        pre_include: _Path | Sequence[_Path] | None = None,
        no_source_include: bool | None = None,
        std: str | None = None,
        builtin_move_forward: bool | None = None,
        builtin_initializer_list: bool | None = None,
        disable_warnings: bool | None = None,
        restrict: bool | None = None,
        device_as_default_execution_space: bool | None = None,
        device_int128: bool | None = None,
        optimization_info: str | None = None,
        no_display_error_number: bool | None = None,
        diag_error: int | Sequence[int] | None = None,
        diag_suppress: int | Sequence[int] | None = None,
        diag_warn: int | Sequence[int] | None = None,
        brief_diagnostics: bool | None = None,
        time: str | PathLike[str] | bool | None = None,
        split_compile: int | bool | None = None,
        fdevice_syntax_only: bool | None = None,
        minimal: bool | None = None,
        no_cache: bool | None = None,
        fdevice_time_trace: str | PathLike[str] | None = None,
        device_float128: bool | None = None,
        frandom_seed: str | None = None,
        ofast_compile: str | None = None,
        pch: bool | None = None,
        create_pch: str | PathLike[str] | None = None,
        use_pch: str | PathLike[str] | None = None,
        pch_dir: str | PathLike[str] | None = None,
        pch_verbose: bool | None = None,
        pch_messages: bool | None = None,
        instantiate_templates_in_pch: bool | None = None,
        extra_sources: _Sources | None = None,
        use_libdevice: bool | None = None,
        numba_debug: bool | None = None,
        headers: _Sources | None = None,
        options: str | Sequence[str] | None = None,
    ) -> None: ...
    def as_bytes(
        self, backend: str, target_type: Literal["ptx", "cubin", "ltoir"] | None = None
    ) -> list[bytes]:
        """The command line that the options become.

        Parameters
        ----------
        backend : {"nvrtc"}
            The compiler.
        target_type : {"cubin", "ptx", "ltoir"}, optional
            What is made.

        Returns
        -------
        list of bytes
            Without the folders of CUDA's headers; without an architecture if ``arch`` is None.

        Examples
        --------
        >>> cudacore.ProgramOptions(arch="sm_90", fma=False).as_bytes("nvrtc")
        [b'-arch=sm_90', b'--fmad=false']
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Program:
    """Source text that can be compiled, several times and for several targets.

    C++ is compiled in this process by NVRTC, PTX and LTO IR by nvJitLink. Kernels are found by
    their plain C++ names: ``extern "C"`` is not needed. Several threads may use one program.

    Parameters
    ----------
    code : str, bytes or bytearray
        The source; text is UTF-8.
    code_type : {"c++", "ptx", "ltoir"}
        What it is written in.
    options : ProgramOptions or mapping, optional
        How it is compiled.

    Raises
    ------
    TypeError
        An argument has the wrong type.
    ValueError
        There is no such code_type, or the source has a null character inside.
    NotSupportedError
        The code_type is "nvvm".

    Examples
    --------
    >>> source = \"\"\"
    ... template <typename T>
    ... __global__ void axpy(T a, const T* x, T* y) { y[threadIdx.x] += a * x[threadIdx.x]; }
    ... \"\"\"
    >>> program = cudacore.Program(source, "c++", {"arch": "sm_90"})
    >>> code = program.compile("cubin", name_expressions=["axpy<float>"])
    >>> code.kernels
    ('axpy<float>',)
    """
    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: _SourceType,
        options: ProgramOptions | Mapping[str, Any] | None = None,
    ) -> None: ...
    def compile(
        self,
        target_type: _CompileTarget | None = None,
        name_expressions: str | Sequence[str | bytes] = (),
        logs: object = None,
        *,
        cache: bool | ProgramCacheResource | None = None,
    ) -> ObjectCode:
        """Compiles (nvrtcCompileProgram, or nvJitLinkComplete for PTX and LTO IR), or takes the
        result of an earlier process from the program cache, with the log of that compilation.

        If ``options.arch`` is set, neither a driver nor a device is needed.

        Parameters
        ----------
        target_type : {"cubin", "ptx", "ltoir"}, optional
            What to make; if None, what the current device runs best. A cubin made from C++ also
            keeps its PTX.
        name_expressions : str or sequence of str or bytes, default ()
            Templates to instantiate, and names to keep: ``"axpy<float>"``. A str is one name.
        logs : object, optional
            Its ``write()`` is called with the compiler's log, if there is any.
        cache : bool or utils.ProgramCacheResource, optional
            False leaves the program cache alone; None and True use it, unless it is off
            (:mod:`cudacore.cache`). An object is used instead of it: that is where to look for the
            result first, and where to leave it. It doesn't go with `name_expressions`, nor with
            options that read or write files: see :func:`utils.make_program_cache_key`.

        Returns
        -------
        ObjectCode

        Raises
        ------
        CompileError
            The compiler refused the source; ``.log`` contains everything it said.
        LinkError
            nvJitLink refused the PTX or LTO IR.
        ValueError
            The program is closed, or cannot be compiled to this target.
        NotSupportedError
            An option or the architecture is unknown to the compiler.
        LibraryNotFoundError
            NVRTC or nvJitLink is not installed.
        DriverNotFoundError
            ``options.arch`` is None, and there is no driver.

        Examples
        --------
        >>> source = "__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }"
        >>> program = cudacore.Program(source, "c++", {"arch": "sm_90"})
        >>> program.compile("ptx").code_type
        'ptx'
        """
    def __reduce__(self) -> NoReturn: ...
    @property
    def handle(self) -> int:
        """int: An nvrtcProgram or nvJitLinkHandle of the source, for code that speaks to the
        compiler itself; it lives as long as the program. compile() makes its own.
        """
    def close(self) -> None:
        """Releases the source. Using the program later raises ValueError; closing it again does
        nothing. Code compiled from it stays.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def backend(self) -> CompilerBackendType:
        """typing.CompilerBackendType: What compiles it: ``NVRTC`` or ``nvJitLink``."""
    @property
    def log(self) -> str:
        """str: What the last compile() said: warnings, times, notes; empty if nothing."""
    @property
    def pch_status(self) -> PCHStatusType | None:
        """typing.PCHStatusType or None: What happened to the precompiled header in the last
        compile(): ``created``, ``not_attempted`` or ``failed``; None if none was requested.
        """

@final
class LinkerOptions:
    name: str | None
    arch: str | None
    max_register_count: int | None
    time: bool | None
    verbose: bool | None
    link_time_optimization: bool | None
    ptx: bool | None
    optimization_level: int | None
    debug: bool | None
    lineinfo: bool | None
    ftz: bool | None
    prec_div: bool | None
    prec_sqrt: bool | None
    fma: bool | None
    kernels_used: str | Sequence[str] | None
    variables_used: str | Sequence[str] | None
    optimize_unused_variables: bool | None
    ptxas_options: str | Sequence[str] | None
    split_compile: int | None
    split_compile_extended: int | None
    no_cache: bool | None
    numba_debug: bool | None
    def __init__(
        self,
        *,
        name: str | None = "default_linker",
        arch: str | None = None,
        max_register_count: int | None = None,
        time: bool | None = None,
        verbose: bool | None = None,
        link_time_optimization: bool | None = None,
        ptx: bool | None = None,
        optimization_level: int | None = None,
        debug: bool | None = None,
        lineinfo: bool | None = None,
        ftz: bool | None = None,
        prec_div: bool | None = None,
        prec_sqrt: bool | None = None,
        fma: bool | None = None,
        kernels_used: str | Sequence[str] | None = None,
        variables_used: str | Sequence[str] | None = None,
        optimize_unused_variables: bool | None = None,
        ptxas_options: str | Sequence[str] | None = None,
        split_compile: int | bool | None = None,
        split_compile_extended: int | None = None,
        no_cache: bool | None = None,
        numba_debug: bool | None = None,
    ) -> None: ...
    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """The command line that the options become.

        Parameters
        ----------
        backend : {"nvjitlink"}
            The linker.

        Returns
        -------
        list of bytes
            Without an architecture if ``arch`` is None.

        Examples
        --------
        >>> cudacore.LinkerOptions(arch="sm_90", fma=False).as_bytes()
        [b'-arch=sm_90', b'-fma=0']
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

@final
class Linker:
    """Links object codes into one with nvJitLink, optimizing across LTO IR.

    If ``options.arch`` is set, neither a driver nor a device is needed.

    Parameters
    ----------
    *object_codes : ObjectCode
        One or more; those that refer to one another must have been compiled with
        ``relocatable_device_code`` or to LTO IR.
    options : LinkerOptions or mapping, optional
        How they are linked.

    Raises
    ------
    TypeError
        An argument has the wrong type.
    ValueError
        There are no object codes.

    Examples
    --------
    >>> options = {"arch": "sm_90", "relocatable_device_code": True}
    >>> one = cudacore.Program("__device__ int f() { return 7; }", "c++", options)
    >>> source = "extern __device__ int f(); __global__ void g(int* p) { *p = f(); }"
    >>> two = cudacore.Program(source, "c++", options)
    >>> codes = [program.compile("cubin") for program in (one, two)]
    >>> linker = cudacore.Linker(*codes, options={"arch": "sm_90"})
    >>> linker.link().kernels
    ('g',)
    """
    def __init__(
        self,
        *object_codes: ObjectCode,
        options: LinkerOptions | Mapping[str, Any] | None = None,
    ) -> None: ...
    def link(self, target_type: _LinkTarget = "cubin", *, cache: bool | None = None) -> ObjectCode:
        """Links (nvJitLinkComplete), or takes the result of an earlier process from the program
        cache, with its logs.

        Parameters
        ----------
        target_type : {"cubin", "ptx"}, default "cubin"
            What to make; PTX only from LTO IR.
        cache : bool, optional
            As for :meth:`Program.compile`.

        Returns
        -------
        ObjectCode

        Raises
        ------
        LinkError
            nvJitLink refused the inputs; ``.log`` contains everything it said.
        ValueError
            The linker is closed, or the inputs cannot be linked to this target.
        LibraryNotFoundError
            nvJitLink is not installed.
        DriverNotFoundError
            ``options.arch`` is None, and there is no driver.
        """
    def get_error_log(self) -> str:
        """The errors of the last link(), a str (nvJitLinkGetErrorLog)."""
    def get_info_log(self) -> str:
        """The other messages of the last link(), a str (nvJitLinkGetInfoLog)."""
    @property
    def handle(self) -> int:
        """int: An nvJitLinkHandle with the inputs added, for code that speaks to nvJitLink itself;
        it lives as long as the linker. link() makes its own.
        """
    def close(self) -> None:
        """Releases the inputs. Using the linker later raises ValueError; closing it again does
        nothing. Code linked by it stays.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """The library that links, a typing.CompilerBackendType: always ``nvJitLink``."""

@final
class ParamInfo:
    """One parameter of a kernel."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def name(self) -> str:
        """str: The name in the source; empty if unknown."""
    @property
    def type(self) -> str:
        """str: The C++ type, such as ``float const*``; or the PTX type, such as ``.u32``, if only
        that is known; or empty.
        """
    @property
    def kind(self) -> str:
        """str: ``boolean``, ``integer`` (of unknown sign), ``sint``, ``uint``, ``float16``,
        ``bfloat16``, ``float32``, ``float64``, ``complex64``, ``complex128``, ``pointer``,
        ``structure``, or ``opaque`` if only the size is known.
        """
    @property
    def offset(self) -> int:
        """int: Bytes from the start of the parameter buffer; right only if the size of every
        parameter before it is known.
        """
    @property
    def size(self) -> int:
        """int: Bytes; 0 if unknown."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Signature:
    """The parameters of a kernel, as a sequence of ParamInfo.

    Every kernel has one, from the best source there is: its C++ name, its PTX, its cubin, the
    driver. A declared one adds what those lack, such as the element types behind the pointers of an
    ``extern "C"`` kernel. ``str()`` gives the readable declaration.

    Parameters
    ----------
    declaration : str
        A C++ parameter list, with or without names and the kernel's name: ``"(float*, int)"``,
        ``"axpy(float a, float const* x)"``.

    Raises
    ------
    ValueError
        A part of the declaration is not a type; the message names it.

    Examples
    --------
    >>> signature = cudacore.Signature("axpy(float a, float const* x, int n)")
    >>> len(signature)
    3
    >>> signature[0]
    ParamInfo(name='a', type='float', kind='float32', offset=0, size=4)
    >>> [parameter.offset for parameter in signature]
    [0, 8, 16]
    """
    def __init__(self, declaration: str) -> None: ...
    @property
    def name(self) -> str:
        """str: The kernel's readable name, ``axpy<float>``; empty if none was declared."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: SupportsIndex, /) -> ParamInfo: ...
    def __iter__(self) -> Iterator[ParamInfo]: ...
    def __contains__(self, item: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ObjectCode:
    """Compiled code: the bytes, the names in them, and the library loaded from them.

    Made by `Program.compile`, `Linker.link`, or from code made elsewhere by `from_cubin` and
    similar functions. The code is loaded into the driver when a kernel or a variable is first
    requested (cuLibraryLoadData), and unloaded when the object, its kernels and its variables are
    gone; everything else works without a driver. Objects can be pickled, without the source unless
    `pickle_source` is set; equal objects share one library.

    Examples
    --------
    >>> source = "__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }"
    >>> options = cudacore.ProgramOptions(arch="sm_90", name="scale")
    >>> code = cudacore.Program(source, "c++", options).compile("cubin")
    >>> code
    <ObjectCode 'scale' cubin, 1 kernel>
    >>> code.kernels
    ('scale',)
    >>> print(code.signature("scale"))
    scale(float* x, float a)
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def from_cubin(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps a cubin made elsewhere.

        Parameters
        ----------
        module : bytes, str or os.PathLike
            The code, in bytes or another buffer, or the path of a file that holds it.
        name : str, default ""
            Its name in messages; if empty, the file's name.
        symbol_mapping : mapping of str to str, optional
            Other names for symbols: `get_kernel` and `get_global` look here first.

        Returns
        -------
        ObjectCode

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            It contains no code.
        TypeError
            An argument has the wrong type.
        """
    @staticmethod
    def from_ptx(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps PTX made elsewhere.

        A str that contains a line break is the PTX itself; any other str is a path.

        The arguments and errors are those of `from_cubin`.
        """
    @staticmethod
    def from_ltoir(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps LTO IR made elsewhere, which only a Linker accepts.

        The arguments and errors are those of `from_cubin`.
        """
    @staticmethod
    def from_fatbin(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps a fat binary made elsewhere.

        The arguments and errors are those of `from_cubin`.
        """
    @staticmethod
    def from_object(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps a host object with device code made elsewhere, for a Linker.

        The arguments and errors are those of `from_cubin`.
        """
    @staticmethod
    def from_library(
        module: _Code, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """Wraps a host library with device code made elsewhere, for a Linker.

        The arguments and errors are those of `from_cubin`.
        """
    @property
    def code(self) -> bytes:
        """bytes: The code; a copy."""
    @property
    def code_type(self) -> _CodeType:
        """str: ``ptx``, ``cubin``, ``ltoir``, ``fatbin``, ``object`` or ``library``."""
    @property
    def name(self) -> str:
        """str: Its name in messages."""
    @property
    def symbol_mapping(self) -> dict[str, str]:
        """dict of str to str: The symbol of each name expression; a copy."""
    @property
    def ptx(self) -> str | None:
        """str or None: The PTX that a cubin was made from, or the code itself if it is PTX."""
    @property
    def kernels(self) -> tuple[str, ...]:
        """tuple of str: The kernels inside, by readable name; an overloaded one is listed with
        its parameters. NotSupportedError for LTO IR, compressed fat binaries, host objects and
        libraries, whose names cannot be read without the driver.
        """
    @staticmethod
    def load(
        path: str | PathLike[str] | _Resource,
        *,
        name: str | bytes = "",
        symbol_mapping: Mapping[str, str] | None = None,
    ) -> ObjectCode:
        """Reads a file of PTX, a cubin, a fat binary, LTO IR, a host object or a library; the
        content tells which it is.

        Parameters
        ----------
        path : str, os.PathLike or importlib.resources.abc.Traversable
            The file. What `importlib.resources.files` returns works as well if the package is in
            an archive.
        name : str, default ""
            Its name in messages; if empty, the file's name.
        symbol_mapping : mapping of str to str, optional
            Other names for symbols: `get_kernel` and `get_global` look here first.

        Returns
        -------
        ObjectCode

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            It contains no such code.
        """
    def save(self, path: str | PathLike[str]) -> None:
        """Writes `code` to a file, which other tools can read too. A process that opens it during
        the save sees either the whole old file or the whole new one. A link is followed; a pipe or
        a device is written into.

        The names in the code stay, so kernels are found by their plain C++ names. What the
        object holds besides the code does not: `symbol_mapping`, `ptx` and `name`. A pickle holds
        those too.

        Parameters
        ----------
        path : str or os.PathLike

        Raises
        ------
        OSError
            The file cannot be written; an older one stays as it was.

        Examples
        --------
        >>> import os, tempfile
        >>> options = cudacore.ProgramOptions(arch="sm_90")
        >>> code = cudacore.Program("__global__ void f() {}", "c++", options).compile("cubin")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "f.cubin")
        ...     code.save(path)
        ...     cudacore.ObjectCode.load(path)
        <ObjectCode 'f.cubin' cubin, 1 kernel>
        """
    pickle_source: bool
    """bool: Whether a pickle holds the CUDA C++ text too, False by default. Without it,
    the names of parameters stay; only those of LTO IR are lost.
    """
    @property
    def handle(self) -> int:
        """int: The CUlibrary; loads the code on first use (cuLibraryLoadData)."""
    def signature(self, name: str | bytes) -> Signature:
        """The parameters of a kernel; needs no driver.

        Parameters
        ----------
        name : str
            As in `get_kernel`.

        Returns
        -------
        Signature

        Raises
        ------
        ValueError
            There is no such kernel, or there are several; the message lists them.
        NotSupportedError
            The code is not PTX, a cubin or a fat binary that is not compressed.
        """
    def get_kernel(self, name: str | bytes, *, signature: str | Signature | None = None) -> Kernel:
        """A kernel that can be launched (cuLibraryGetKernel).

        Parameters
        ----------
        name : str or bytes
            Its plain C++ name, with template arguments if it has any (``"axpy<float>"``), its name
            expression, or its mangled symbol. Parameters tell overloads apart: ``"f(int)"``.
        signature : str or Signature, optional
            What its parameters are, if neither its name nor its code says: ``"(float*, int)"``.

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            There is no such kernel, or there are several; the message lists them. Or the signature
            contradicts the sizes that the driver knows.
        NotSupportedError
            The code cannot be loaded by this driver or on this device.
        DriverNotFoundError
            There is no driver.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> dev.set_current()
        >>> code = cudacore.Program("__global__ void fill(int* p) { *p = 7; }", "c++").compile()
        >>> code.get_kernel("fill").name
        'fill'
        """
    def get_global(self, name: str | bytes) -> Buffer:
        """The memory of a ``__device__``, ``__constant__`` or ``__managed__`` variable, on the
        current context's device (cuLibraryGetGlobal).

        Parameters
        ----------
        name : str
            Its plain C++ name, its name expression, or its mangled symbol.

        Returns
        -------
        Buffer
            Keeps the code loaded.

        Raises
        ------
        ValueError
            There is no such variable; NVRTC leaves out those that nothing uses.
        DriverNotFoundError
            There is no driver.

        Examples
        --------
        >>> dev = cudacore.Device()
        >>> dev.set_current()
        >>> source = "__device__ int n[4]; __global__ void f() { n[0] = 1; }"
        >>> cudacore.Program(source, "c++").compile().get_global("n").size
        16
        """
    def get_module(self) -> int:
        """The loaded code as a module of the current context (cuLibraryGetModule).

        Returns
        -------
        int
            The CUmodule, for code that calls the driver directly.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class KernelAttributes:
    """Attributes of a kernel; some can be set on the current device
    (cuKernelGetAttribute, cuKernelSetAttribute). ``kernel.attributes[device]`` is for another.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getitem__(self, device: int | Device, /) -> KernelAttributes:
        """The attributes on a device, by its ordinal."""
    @property
    def max_threads_per_block(self) -> int:
        """int: The most threads a block of this kernel can have, by its registers."""
    @property
    def shared_size_bytes(self) -> int:
        """int: Static shared memory of a block, in bytes."""
    @property
    def const_size_bytes(self) -> int:
        """int: The user's constant memory, in bytes."""
    @property
    def local_size_bytes(self) -> int:
        """int: Local memory of a thread, in bytes; more than 0 may mean spilled registers."""
    @property
    def num_regs(self) -> int:
        """int: Registers of a thread."""
    @property
    def ptx_version(self) -> int:
        """int: The virtual architecture it was compiled for, 10 * major + minor."""
    @property
    def binary_version(self) -> int:
        """int: The real architecture it was compiled for, 10 * major + minor."""
    @property
    def cache_mode_ca(self) -> bool:
        """bool: Whether it was compiled to cache global loads in L1."""
    max_dynamic_shared_size_bytes: int
    """int: The most dynamic shared memory a launch may ask for, in bytes. Settable; a launch that
    needs more than 48 KiB raises it automatically.
    """
    preferred_shared_memory_carveout: int
    """int: Preferred share of L1 for shared memory, in percent; -1 for the default. Settable."""
    @property
    def cluster_size_must_be_set(self) -> bool:
        """bool: Whether a launch must give a cluster size."""
    required_cluster_width: int
    """int: Blocks of a cluster in x; 0 if any is allowed. Settable."""
    required_cluster_height: int
    """int: Blocks of a cluster in y; 0 if any is allowed. Settable."""
    required_cluster_depth: int
    """int: Blocks of a cluster in z; 0 if any is allowed. Settable."""
    non_portable_cluster_size_allowed: bool
    """bool: Whether clusters of more than 8 blocks are allowed. Settable."""
    cluster_scheduling_policy_preference: int
    """int: 0 default, 1 spread, 2 load balancing. Settable."""

class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    min_grid_size: int
    max_block_size: int

@final
class KernelOccupancy:
    """How many blocks of a kernel the current device runs at once."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int
    ) -> int:
        """Blocks that one multiprocessor runs at once
        (cuOccupancyMaxActiveBlocksPerMultiprocessor).

        Parameters
        ----------
        block_size : int
            Threads in a block.
        dynamic_shared_memory_size : int
            Bytes for each block.

        Returns
        -------
        int
        """
    def max_potential_block_size(
        self, dynamic_shared_memory_needed: int | Callable[[int], int], block_size_limit: int
    ) -> MaxPotentialBlockSizeOccupancyResult:
        """The block size with the best occupancy (cuOccupancyMaxPotentialBlockSize).

        Parameters
        ----------
        dynamic_shared_memory_needed : int, callable or cuda.bindings' CUoccupancyB2DSize
            Bytes for each block, or a function that returns them for a block size.
        block_size_limit : int
            The largest block to consider; 0 for the most that the kernel allows.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            (min_grid_size, max_block_size)
        """
    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: int
    ) -> int:
        """Bytes of dynamic shared memory that each of this many blocks could have
        (cuOccupancyAvailableDynamicSMemPerBlock).

        Returns
        -------
        int
        """
    def max_potential_cluster_size(
        self, config: LaunchConfig, *, stream: _StreamLike | None = None
    ) -> int:
        """The most blocks a cluster can have (cuOccupancyMaxPotentialClusterSize).

        Returns
        -------
        int
        """
    def max_active_clusters(
        self, config: LaunchConfig, *, stream: _StreamLike | None = None
    ) -> int:
        """The most clusters the device runs at once (cuOccupancyMaxActiveClusters).

        Returns
        -------
        int
        """

@final
class Kernel:
    """A compiled function that can be launched.

    ``kernel[grid, block](*args)`` queues it on the current stream,
    ``kernel[grid, block, stream, shmem_size](*args)`` on another.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> code = "__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }"
    >>> kernel = cudacore.Program(code, "c++").compile().get_kernel("scale")
    >>> str(kernel.signature)
    'scale(float* x, float a)'
    >>> x = dev.allocate(128)
    >>> kernel[1, 32](x, 2)
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def from_handle(handle: SupportsInt, mod: ObjectCode | None = None) -> Kernel:
        """Wraps a CUkernel that someone else loaded.

        Parameters
        ----------
        handle : int
            The CUkernel.
        mod : ObjectCode or None
            The code that it comes from, kept loaded as long as the kernel. If the kernel comes from
            other code, a warning says so. Code that cudacore loaded stays loaded without this, if
            the driver is of CUDA 12.5 or later.

        Returns
        -------
        Kernel
        """
    @property
    def name(self) -> str:
        """str: The readable name, such as ``axpy<float>``."""
    @property
    def handle(self) -> int:
        """int: The CUkernel."""
    @property
    def signature(self) -> Signature:
        """Signature: The parameters, from the best source there was."""
    @property
    def attributes(self) -> KernelAttributes:
        """KernelAttributes: Registers, shared memory and so on."""
    @property
    def num_arguments(self) -> int:
        """int: How many parameters it has."""
    @property
    def arguments_info(self) -> list[ParamInfo]:
        """list of ParamInfo: Each parameter's type, offset and size."""
    @property
    def occupancy(self) -> KernelOccupancy:
        """KernelOccupancy: How many blocks the device runs at once."""
    def with_signature(self, signature: str | Signature) -> Kernel:
        """The same kernel with a declared signature, for code that says too little.

        Parameters
        ----------
        signature : str or Signature
            Such as ``(float* x, int n)``.

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            It contradicts the sizes in the code.
        """
    def __getitem__(
        self,
        shape: LaunchConfig
        | tuple[_Dim, _Dim]
        | tuple[_Dim, _Dim, _StreamLike | None]
        | tuple[_Dim, _Dim, _StreamLike | None, int],
        /,
    ) -> Launcher:
        """A launcher: ``kernel[grid, block, stream, shmem_size]`` or ``kernel[config]``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Launcher:
    """A kernel bound to a shape and, perhaps, a stream: ``kernel[grid, block]``.

    Calling it with the kernel's arguments queues the kernel; it may be kept and called often.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any) -> None:
        """Queues the kernel (cuLaunchKernelEx)."""
    @property
    def kernel(self) -> Kernel:
        """Kernel: What it launches."""
    @property
    def config(self) -> LaunchConfig:
        """LaunchConfig: The shape it launches with."""
    @property
    def stream(self) -> Stream | None:
        """Stream or None: Where it launches; if None, the current stream."""

@final
class GraphCondition:
    """A number of a graph that kernels set, and by which a conditional node runs its branches.

    It comes from `create_condition` of a `cudacore.graph.GraphDefinition` or `GraphBuilder`. A
    kernel takes it as a ``cudaGraphConditionalHandle``, and calls ``cudaGraphSetConditional``.
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def handle(self) -> int:
        """int: The CUgraphConditionalHandle."""
    def __index__(self) -> int: ...
    def __bool__(self) -> NoReturn: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class GraphBuilder:
    """Captures what is queued on a stream: it becomes a graph instead of running.

    It comes from `Device.create_graph_builder` or `Stream.create_graph_builder`. In a ``with``
    block, its stream is the current one. Building begins at the block, unless it has begun, and
    ends with it, except for a builder of `split`. While it builds, a builder is
    accepted wherever a stream is.

    Examples
    --------
    >>> import cudacore as cc
    >>> device = cc.Device()
    >>> device.set_current()
    >>> source = "__global__ void add(int* p, int v) { *p += v; }"
    >>> add = cc.Program(source, "c++").compile().get_kernel("add")
    >>> buffer = device.allocate(4)
    >>> buffer.fill(0)
    >>> with device.create_graph_builder() as builder:
    ...     add[1, 1](buffer, 2)
    ...     add[1, 1](buffer, 3)
    >>> graph = builder.complete()
    >>> graph.launch(device.default_stream)
    >>> graph.launch(device.default_stream)
    >>> device.sync()
    >>> bytes(buffer.to_host())[0]
    10
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def stream(self) -> Stream:
        """Stream: What is captured."""
    @property
    def is_building(self) -> bool:
        """bool: Whether the stream is being captured (cuStreamGetCaptureInfo).

        Raises
        ------
        RuntimeError
            The capture was invalidated, by a call that the message names. It must be ended.
        """
    @property
    def is_join_required(self) -> bool:
        """bool: Whether it comes from `split`, and must be joined before building ends."""
    @property
    def graph_definition(self) -> GraphDefinition:
        """GraphDefinition: What was captured; it may be edited.

        The graph of a branch is there before building begins, and may be built without a capture.

        Raises
        ------
        RuntimeError
            It is still building, or comes from `split`, or nothing is built yet.
        """
    @property
    def _definition(self) -> _GraphDefinition:
        """_GraphDefinition: The same, as the extension has it."""
    def begin_building(self, mode: str = "relaxed") -> GraphBuilder:
        """Begin to capture (cuStreamBeginCapture; for a branch, cuStreamBeginCaptureToGraph).

        Parameters
        ----------
        mode : {"relaxed", "thread_local", "global"}
            Which unsafe calls are forbidden meanwhile: none, those of this thread, or all.

        Returns
        -------
        GraphBuilder
            Itself.

        Raises
        ------
        RuntimeError
            The stream is being captured already, or this builder has built a graph.
        """
    def end_building(self) -> GraphBuilder:
        """End the capture (cuStreamEndCapture).

        Returns
        -------
        GraphBuilder
            Itself.

        Raises
        ------
        RuntimeError
            It isn't building, or comes from `split`.
        CUDAError
            The capture was invalidated, by a call that the message names, or a builder of `split`
            was not joined. The capture has ended, and the builder is closed.
        """
    def complete(self, options: GraphCompleteOptions | Mapping[str, Any] | None = None) -> Graph:
        """Make an executable graph of what was captured.

        If that is nothing, it warns: what was meant to be captured ran on another stream.

        Parameters
        ----------
        options : cudacore.graph.GraphCompleteOptions or mapping of its fields
            See `cudacore.graph.GraphDefinition.instantiate`.

        Returns
        -------
        Graph
        """
    def debug_dot_print(
        self, path: _Path, options: GraphDebugPrintOptions | Mapping[str, Any] | None = None
    ) -> None:
        """Write what was captured as Graphviz text (cuGraphDebugDotPrint).

        Parameters
        ----------
        path : path
        options : cudacore.graph.GraphDebugPrintOptions or mapping of its fields
        """
    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """Make builders whose work may run at the same time, after what was captured so far.

        Parameters
        ----------
        count : int
            At least 2, and at most 2**20.

        Returns
        -------
        tuple of GraphBuilder
            This one is the first.
        """
    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Let later work run after that of all the given builders, which come from one split.

        Returns
        -------
        GraphBuilder
            The one that is not from `split`, or the first; the others are closed.
        """
    def embed(self, child: GraphBuilder | GraphDefinition) -> None:
        """Add a copy of another graph, whose building has ended, as one node."""
    def callback(self, fn: Callable[..., object], *, user_data: object = None) -> None:
        """Call a function on the host; see `cudacore.graph.GraphNode.callback`."""
    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Create a condition for one conditional node (cuGraphConditionalHandleCreate).

        Parameters
        ----------
        default_value : int
            What it is at the start of each launch; without one, it keeps its value.

        Returns
        -------
        GraphCondition
        """
    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """Add a node that runs its branch if the condition is not 0.

        Returns
        -------
        GraphBuilder
            Of the branch: ``with builder.if_then(condition): ...``.
        """
    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Add a node that runs its first branch if the condition is not 0, otherwise its second.

        Returns
        -------
        tuple of GraphBuilder
            Of the branches.
        """
    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """Add a node that repeats its branch as long as the condition is not 0.

        Returns
        -------
        GraphBuilder
            Of the branch.
        """
    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """Add a node that runs the branch with the condition's number, if there is one.

        Parameters
        ----------
        condition : GraphCondition
        count : int
            How many branches there are.

        Returns
        -------
        tuple of GraphBuilder
            Of the branches.
        """
    def close(self) -> None:
        """Give up the builder; what is being captured is dropped. Graphs that it made stay."""
    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the stream, foreverything that takes one."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class _GraphWork:
    """What a node of a graph does."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def kernel(
        config: LaunchConfig | Mapping[str, Any], kernel: Kernel, args: tuple[Any, ...]
    ) -> _GraphWork:
        """Make the work of a kernel node, which keeps its arguments."""
    @staticmethod
    def copy(dst: int, src: int, size: int) -> _GraphWork:
        """Make the work of a memcpy node."""
    @staticmethod
    def fill(
        dst: int, value: int, element_size: int, width: int, height: int, pitch: int
    ) -> _GraphWork:
        """Make the work of a memset node."""
    @staticmethod
    def empty() -> _GraphWork:
        """Make the work of an empty node."""
    @staticmethod
    def record(event: Event) -> _GraphWork:
        """Make the work of an event record node."""
    @staticmethod
    def wait(event: Event) -> _GraphWork:
        """Make the work of an event wait node."""
    @staticmethod
    def callback(function: Callable[[], object]) -> _GraphWork:
        """Make the work of a host node that calls Python."""
    @staticmethod
    def host_function(function: int, data: int) -> _GraphWork:
        """Make the work of a host node that calls a C function."""
    @staticmethod
    def child(graph: _GraphDefinition) -> _GraphWork:
        """Make the work of a node that contains a copy of a graph."""
    @staticmethod
    def allocate(
        size: int, device: Device | int | None, memory_type: int, peers: Sequence[Device | int]
    ) -> _GraphWork:
        """Make the work of a node that allocates memory."""
    @staticmethod
    def deallocate(address: int) -> _GraphWork:
        """Make the work of a node that frees memory."""
    @staticmethod
    def conditional(condition: GraphCondition, kind: int, branches: int) -> _GraphWork:
        """Make the work of a conditional node."""
    def keep(self, used: object) -> None:
        """Keep an object, or the memory of a Buffer, as long as graphs use the work."""
    def keep_buffer(self, buffer: Buffer) -> tuple[int, int] | tuple[()]:
        """Keep the memory of a Buffer; return its address and size, nothing if it is closed."""
    def keep_operands(self, operands: object) -> None:
        """Keep what the work was made from, for `_GraphNode.operands`."""

@final
class _GraphNode:
    """A node, as `cudacore.graph.GraphNode` shows it."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def handle(self) -> int:
        """int: The CUgraphNode; 0 once it is destroyed."""
    @property
    def kind(self) -> int:
        """int: The CUgraphNodeType."""
    @property
    def identity(self) -> int:
        """int: What equal nodes have in common."""
    @property
    def graph(self) -> _GraphDefinition:
        """_GraphDefinition: Its graph."""
    @property
    def is_valid(self) -> bool:
        """bool: Whether its graph has it."""
    @property
    def predecessors(self) -> list[_GraphNode]:
        """list of _GraphNode: The nodes that it runs after."""
    @property
    def successors(self) -> list[_GraphNode]:
        """list of _GraphNode: The nodes that run after it."""
    @property
    def kernel(self) -> Kernel:
        """Kernel: What a kernel node launches."""
    @property
    def config(self) -> LaunchConfig:
        """LaunchConfig: The shape of a kernel node."""
    @property
    def device_node(self) -> int:
        """int: The CUgraphDeviceNode of a kernel node that kernels may update."""
    @property
    def event(self) -> Event:
        """Event: What a node records or waits for."""
    @property
    def child_graph(self) -> _GraphDefinition:
        """_GraphDefinition: What a child graph node contains."""
    @property
    def copy(self) -> tuple[int, int, int]:
        """tuple of int: The destination, source and bytes of a memcpy node."""
    @property
    def fill(self) -> tuple[int, int, int, int, int, int]:
        """tuple of int: The destination, value, element size, width, height and pitch of a fill."""
    @property
    def allocation(self) -> tuple[int, int, int, int, tuple[int, ...]]:
        """tuple: The address, bytes, device, memory type and peers of an allocation."""
    @property
    def released(self) -> int:
        """int: The address that a node frees."""
    @property
    def branches(self) -> list[_GraphDefinition]:
        """list of _GraphDefinition: What a conditional node runs."""
    @property
    def condition(self) -> GraphCondition | None:
        """GraphCondition or None: What a conditional node reads."""
    @property
    def condition_kind(self) -> int | None:
        """int or None: The CUgraphConditionalNodeType."""
    @property
    def operands(self) -> Any:
        """object: What `_GraphWork.describe` was given; None if there is nothing."""
    def destroy(self) -> None:
        """Remove it from its graph."""
    def update(self, work: _GraphWork) -> None:
        """Give it other work of its kind."""

@final
class _GraphDefinition:
    """A graph, as `cudacore.graph.GraphDefinition` shows it."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def create() -> _GraphDefinition:
        """Create an empty graph."""
    @property
    def handle(self) -> int:
        """int: The CUgraph; 0 once the node that contains it is destroyed."""
    @property
    def identity(self) -> int:
        """int: What equal graphs have in common."""
    @property
    def is_valid(self) -> bool:
        """bool: Whether the node that contains it, if any, exists."""
    def add(self, work: _GraphWork, after: Sequence[_GraphNode]) -> _GraphNode:
        """Add a node after others."""
    def create_condition(self, default_value: int | None) -> GraphCondition:
        """Create a condition."""
    def node_count(self) -> int:
        """Return how many nodes there are."""
    def nodes(self) -> list[_GraphNode]:
        """List the nodes in order."""
    def edges(self) -> list[tuple[_GraphNode, _GraphNode]]:
        """List the edges."""
    def add_edge(self, from_: _GraphNode, to: _GraphNode) -> None:
        """Add an edge."""
    def remove_edge(self, from_: _GraphNode, to: _GraphNode) -> None:
        """Remove an edge."""
    def instantiate(
        self,
        auto_free_on_launch: bool,
        upload_stream: Stream | None,
        device_launch: bool,
        use_node_priority: bool,
    ) -> Graph:
        """Make an executable graph."""
    def write_dot(self, path: _Path, flags: int) -> None:
        """Write the graph as Graphviz text."""

def _set_profiler(profiler: Any) -> None: ...

@final
class _Recorder:
    """A call of a function that is being recorded, with stand-ins for its arguments."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def stand_ins(self) -> tuple[Any, ...]:
        """tuple: What the function gets instead of its arguments."""
    def builder(self) -> GraphBuilder:
        """Make a builder on a stream of its own, in the context of the current stream."""
    def begin(self) -> None:
        """Record what this thread launches, on the current stream, which is being captured."""
    def end(self) -> None:
        """Record no more."""
    def close(self) -> None:
        """End it, and the memory of the stand-ins."""
    def has_foreign_kernels(self, definition: _GraphDefinition) -> bool:
        """Tell whether other libraries launched kernels that were captured."""
    def keep(self, used: object) -> None:
        """Keep what the work uses as long as the recording."""
    def finish(
        self,
        definition: _GraphDefinition,
        result: object,
        guards: Sequence[tuple[Any, ...]],
        second: _Recorder | None,
        second_definition: _GraphDefinition | None,
    ) -> tuple[bool, int, object]:
        """Add the recording to the function's, and launch it.

        Return whether another one was dropped, how many were that no call could fit any more, if
        there are many, and what the function returns.
        """

@final
class _RecordedFunction:
    """The recordings of a function, as `cudacore.graph.RecordedFunction` shows them."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def create(function: Callable[..., Any], name: str, max_recordings: int) -> _RecordedFunction:
        """Make one without recordings."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Replay what fits the arguments; return NotImplemented if nothing does."""
    def recorder(
        self,
        args: tuple[Any, ...],
        keywords: tuple[str, ...],
        labels: tuple[str, ...],
        make_number: Callable[[float], Any] | None,
        make_array: Callable[[Any, StridedMemoryView], Any],
    ) -> _Recorder:
        """Make what records a call."""
    @property
    def recordings(self) -> list[tuple[tuple[str, ...], int, int, int]]:
        """list of tuple: The arguments, the nodes, those that change, and the launches of each."""
    def clear(self) -> None:
        """Drop all recordings."""

@final
class _TileLaunches:
    """The launches of a tile kernel, as `cudacore.tile.launch` makes them."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def create(parameters: bytes) -> _TileLaunches:
        """Make one for a kernel, each of whose parameters is described by the bits of a byte.

        1: it is a constant; 2: extents or strides of an array are; 4: an int has 64 bits; 8: so do
        extents and strides.
        """
    @staticmethod
    def is_captured(stream: Stream) -> bool:
        """Return whether work queued on a stream would become part of a graph."""
    @staticmethod
    def fast_launch(function: _Function, kernel: type) -> _Function:
        """Return a function that makes known launches itself, and calls another for the rest."""
    def try_launch(self, stream: object, grid: object, args: object, is_dependent: bool, /) -> bool:
        """Launch what is like a launch that was added; return whether it is."""
    def add(
        self,
        stream: Stream,
        args: tuple[Any, ...],
        is_dependent: bool,
        config: LaunchConfig,
        kernel: Kernel,
        watched: tuple[tuple[dict[str, Any], str, object], ...],
        /,
    ) -> None:
        """Add what launches on a device with such arguments are, while names stand for the same."""
    @staticmethod
    def launch_once(
        stream: Stream,
        config: LaunchConfig,
        kernel: Kernel,
        passed: tuple[Any, ...],
        used: tuple[Any, ...],
        /,
    ) -> None:
        """Launch a compiled kernel; `used` has the arrays whose addresses are passed."""

@final
class Graph:
    """An executable graph: work that is launched as a whole, as often as you like.

    It comes from `cudacore.graph.GraphDefinition.instantiate`. It keeps the kernels, buffers,
    events and callbacks that it uses, also while it runs. Its launches run one after another.

    ``graph[node]``, of a node of the definition that it was made from, is that node's work in this
    Graph: ``graph[node].update(...)``, ``.enable()``, ``.disable()`` and ``.is_enabled``.

    Examples
    --------
    >>> import cudacore as cc
    >>> from cudacore.graph import GraphDefinition
    >>> device = cc.Device()
    >>> device.set_current()
    >>> definition = GraphDefinition()
    >>> with device.create_stream() as stream, device.allocate(16) as buffer:
    ...     fill = definition.memset(buffer, 7, 16)
    ...     graph = definition.instantiate()
    ...     graph.launch(stream)
    ...     stream.sync()
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def launch(self, stream: Stream | _StreamLike | None = None) -> None:
        """Queue all its work on a stream (cuGraphLaunch).

        Parameters
        ----------
        stream : Stream, anything with __cuda_stream__, or None
            None is the current stream.

        Raises
        ------
        ValueError
            The graph or the stream is closed.
        """
    def upload(self, stream: Stream | _StreamLike | None = None) -> None:
        """Copy what the device needs of it there, so that the first launch needn't (cuGraphUpload).

        Parameters
        ----------
        stream : Stream, anything with __cuda_stream__, or None
            None is the current stream.
        """
    def update(self, source: GraphDefinition | GraphBuilder) -> None:
        """Take over the work of a definition that has the same nodes and edges (cuGraphExecUpdate).

        Launches that are queued already are not affected.

        Parameters
        ----------
        source : GraphDefinition or GraphBuilder

        Raises
        ------
        CUDAError
            Nodes or edges differ, or a node can't be changed like this; the message says which. The
            graph stays as it was.
        """
    def close(self) -> None:
        """Drop it; what it uses is released once its launches have ended (cuGraphExecDestroy)."""
    @property
    def is_closed(self) -> bool:
        """bool: Whether it was closed."""
    @property
    def handle(self) -> int:
        """int: The CUgraphExec. Keep this object until launches by it have ended."""
    def __getitem__(self, node: GraphNode) -> ExecutableNode: ...
    def _update_node(self, node: _GraphNode, work: _GraphWork) -> None: ...
    def _set_enabled(self, node: _GraphNode, enabled: bool) -> None: ...
    def _is_enabled(self, node: _GraphNode) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

@final
class LaunchConfig:
    """The shape of a launch; it never changes.

    Extents are an int for x alone, or a sequence of one to three ints; the rest are 1.
    A float that is a whole number counts as an int.
    With `cluster`, the grid counts clusters.

    Parameters
    ----------
    grid, cluster, block : int or sequence of int
        At least 1. The device's limits are checked at the launch.
    shmem_size : int
        Bytes of dynamic shared memory for each block, 0 by default.
    is_cooperative : bool
    programmatic_stream_serialization : bool
    priority : int or None
    cluster_scheduling_policy_preference : str or None
        ``"default"``, ``"spread"`` or ``"load_balancing"``; see `ClusterSchedulingPolicyType`.
    preferred_cluster : int, sequence of int, or None
        A multiple of `cluster`, which divides the grid.
    access_policy_window : AccessPolicyWindow, dict or None
    programmatic_event, launch_completion_event : Event or None
        Events without timing, and not shared between processes. The config keeps them alive.
    trigger_at_block_start : bool
    mem_sync_domain : str or None
        ``"default"`` or ``"remote"``; see `MemSyncDomainType`.
    mem_sync_domain_map : tuple of two ints, or None
    shared_memory_carveout : int or None
        Percent, 0 to 100.
    shared_memory_mode : str or None
        See `SharedMemoryModeType`.
    portable_cluster_size_mode : str or None
        See `PortableClusterSizeModeType`.
    nvlink_util_centric_scheduling : bool
    device_updatable_kernel_node : bool

    Raises
    ------
    ValueError
        An extent is zero, negative or above 2**32 - 1, or another value is out of range.

    Examples
    --------
    >>> cudacore.LaunchConfig(grid=(4, 2), block=256).grid
    (4, 2, 1)
    """
    @property
    def grid(self) -> tuple[int, int, int]:
        """tuple of int: Blocks (clusters, if `cluster` is given) in x, y and z."""
    @property
    def block(self) -> tuple[int, int, int]:
        """tuple of int: Threads in a block, in x, y and z."""
    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """tuple of int or None: Blocks in a cluster; needs compute capability 9.0."""
    @property
    def shmem_size(self) -> int:
        """int: Bytes of dynamic shared memory for each block. More than 48 KiB is enabled
        automatically.
        """
    @property
    def is_cooperative(self) -> bool:
        """bool: Whether all blocks run at once and can synchronize the grid."""
    @property
    def programmatic_stream_serialization(self) -> bool:
        """bool: Whether the kernel may start before its predecessor on the stream ends."""
    @property
    def priority(self) -> int | None:
        """int or None: Overrides the stream's priority for this launch."""
    @property
    def cluster_scheduling_policy_preference(self) -> str | None:
        """str or None: How clusters should be spread over the device."""
    @property
    def preferred_cluster(self) -> tuple[int, int, int] | None:
        """tuple of int or None: The cluster that the device should use where it has room for it
        (compute capability 10.0).
        """
    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """AccessPolicyWindow or None: What the L2 cache keeps; overrides the stream's."""
    @property
    def programmatic_event(self) -> Event | None:
        """Event or None: Recorded once all blocks have triggered it, or ended."""
    @property
    def trigger_at_block_start(self) -> bool:
        """bool: Whether the start of a block triggers `programmatic_event`."""
    @property
    def launch_completion_event(self) -> Event | None:
        """Event or None: Recorded once all blocks have started."""
    @property
    def mem_sync_domain(self) -> str | None:
        """str or None: The domain whose writes memory fences wait for; overrides the stream's."""
    @property
    def mem_sync_domain_map(self) -> tuple[int, int] | None:
        """tuple of int or None: The device's domains that ``"default"`` and ``"remote"`` are."""
    @property
    def shared_memory_carveout(self) -> int | None:
        """int or None: How much of the L1 cache should be shared memory, in percent of the most
        that is possible.
        """
    @property
    def shared_memory_mode(self) -> str | None:
        """str or None: Whether blocks may have more shared memory than every device has."""
    @property
    def portable_cluster_size_mode(self) -> str | None:
        """str or None: Whether a cluster may be larger than the 8 blocks that every device has."""
    @property
    def nvlink_util_centric_scheduling(self) -> bool:
        """bool: Whether blocks should be placed so that NVLink is used evenly; a hint."""
    @property
    def device_updatable_kernel_node(self) -> bool:
        """bool: Whether kernels may update the node of a graph that the launch becomes."""
    def __init__(
        self,
        grid: _Dim | None = None,
        cluster: _Dim | None = None,
        block: _Dim | None = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        priority: int | None = None,
        cluster_scheduling_policy_preference: str | None = None,
        preferred_cluster: _Dim | None = None,
        access_policy_window: AccessPolicyWindow | Mapping[str, Any] | None = None,
        programmatic_event: Event | None = None,
        trigger_at_block_start: bool = False,
        launch_completion_event: Event | None = None,
        mem_sync_domain: str | None = None,
        mem_sync_domain_map: tuple[int, int] | None = None,
        shared_memory_carveout: int | None = None,
        shared_memory_mode: str | None = None,
        portable_cluster_size_mode: str | None = None,
        nvlink_util_centric_scheduling: bool = False,
        device_updatable_kernel_node: bool = False,
    ) -> None: ...
    def __replace__(self, **kwargs: Any) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def launch(
    stream: _StreamLike | None,
    config: LaunchConfig | Mapping[str, Any],
    kernel: Kernel,
    /,
    *kernel_args: Any,
) -> None:
    """Queues a kernel on a stream (cuLaunchKernelEx).

    Each argument is checked against the kernel's own signature; plain Python numbers become
    exactly the type that the kernel declares.

    Parameters
    ----------
    stream : Stream, anything with ``__cuda_stream__``, or None
        If None, the current stream.
    config : LaunchConfig or dict
    kernel : Kernel
    *kernel_args
        Buffers, arrays of other libraries, numbers, NumPy and ctypes scalars, None, structs as
        bytes.

    Raises
    ------
    TypeError
        An argument does not fit; the message names the parameter and both types.
    OverflowError
        An int is outside the parameter's range.
    ValueError
        A buffer or the stream is closed, or the shape exceeds the device's limits.

    Examples
    --------
    >>> dev = cudacore.Device()
    >>> stream = dev.create_stream()
    >>> code = "__global__ void set(int* out, int value) { *out = value; }"
    >>> kernel = cudacore.Program(code, "c++").compile().get_kernel("set")
    >>> out = dev.allocate(4, stream=stream)
    >>> cudacore.launch(stream, cudacore.LaunchConfig(grid=1, block=1), kernel, out, 42)
    >>> int.from_bytes(out.copy_to(bytearray(4), stream=stream), "little")
    42
    """

def driver_library() -> tuple[tuple[int, int], str]:
    """The CUDA version that the driver speaks (cuDriverGetVersion), and the path of libcuda.

    Returns
    -------
    tuple
        ``((major, minor), path)``.

    Raises
    ------
    DriverNotFoundError
        There is no driver; the message lists every place searched.
    """

def cache_info() -> tuple[bool, str, int, int, int, int, int, int, str, str, str]:
    """The fields of :class:`cudacore.cache.Info`, in their order."""

def cache_usage() -> tuple[int, int]:
    """The fields of :class:`cudacore.cache.Usage`."""

def cache_check(entries: int, size: int) -> tuple[int, list[str]]:
    """Reads the entries that were used last: at most so many, and so many bytes.

    Returns
    -------
    tuple
        How many were read, and what is wrong with each of them that can't be used.
    """

def cache_default_folder() -> tuple[str, str]:
    """The user's folder for what cudacore caches; empty if there is none, and why."""

def header_mentions(
    text: bytes,
) -> tuple[list[tuple[bytes, bool, bool]], list[bytes], list[bytes], str]:
    """What a C++ text says about headers, even in groups that the preprocessor skips.

    Returns
    -------
    tuple
        ``(headers, macros, queries, trouble)``: the names of headers that it may include or ask
        for, whether each is quoted, and whether macros in it are replaced; macros that it includes;
        macros of its own that ask for headers; and why what it includes cannot be known, or its
        meaning changes.
    """

def flag_effects(flags: Sequence[str]) -> tuple[bool, bool, str]:
    """What flags of NVRTC make the result depend on.

    Returns
    -------
    tuple
        Whether files are read; whether the code shows the current folder; and why it may depend on
        more, or files are written, if that is so.
    """

def ptxas_trouble(flag: str) -> str:
    """Why what a flag of ptxas does can't be known; empty if it can."""

def cache_find(key: bytes) -> bytes | None:
    """What :func:`cache_store` has stored under a key, also in another process.

    None if there is nothing, or the program cache is off; a damaged entry is removed.
    """

def cache_store(key: bytes, content: bytes) -> bool:
    """Stores bytes, one at least, in the program cache, among the compiled programs.

    Returns
    -------
    bool
        Whether they were stored: the cache may be off, or its folder not writable.
    """

def cache_clear() -> int:
    """What :func:`cudacore.cache.clear` does."""

def cache_enable(enabled: bool) -> None:
    """Switches the program cache on or off, for this process."""

def cache_set_folder(folder: _Path) -> None:
    """What :func:`cudacore.cache.set_folder` does."""

def cache_set_max_size(size: int) -> None:
    """What :func:`cudacore.cache.set_max_size` does."""

def nvrtc_library() -> tuple[tuple[int, int], str]:
    """The version of NVRTC (nvrtcVersion), and its path.

    Returns
    -------
    tuple
        ``((major, minor), path)``.

    Raises
    ------
    LibraryNotFoundError
        NVRTC is not installed; the message lists every place searched.

    Examples
    --------
    >>> (major, minor), path = cudacore.nvrtc_library()
    >>> major >= 12
    True
    """

def nvjitlink_library() -> tuple[tuple[int, int], str]:
    """The version of nvJitLink (nvJitLinkVersion), and its path.

    Returns
    -------
    tuple
        ``((major, minor), path)``.

    Raises
    ------
    LibraryNotFoundError
        nvJitLink is not installed; the message lists every place searched.

    Examples
    --------
    >>> (major, minor), path = cudacore.nvjitlink_library()
    >>> major >= 12
    True
    """

def nvfatbin_library() -> tuple[tuple[int, int], str]:
    """The version of nvFatbin (nvFatbinVersion), and its path.

    Returns
    -------
    tuple
        ``((major, minor), path)``.

    Raises
    ------
    LibraryNotFoundError
        nvFatbin is not installed; the message lists every place searched.

    Examples
    --------
    >>> (major, minor), path = cudacore.nvfatbin_library()
    >>> major >= 12
    True
    """

def make_fatbin(
    *object_codes: ObjectCode, name: str = "", compress_mode: _CompressMode = "none"
) -> ObjectCode:
    """Puts cubins and PTX for several architectures into one fat binary, with NVIDIA's nvFatbin.

    When it is loaded, the driver takes the best for the device: a cubin of its architecture, or
    PTX, which it compiles. The simulated device takes PTX. Needs no driver. ``python -m cudacore
    compile`` does this for a source file.

    Parameters
    ----------
    *object_codes : ObjectCode
        Cubins and PTX, at most one of each for an architecture.
    name : str, default ""
        Its name in messages.
    compress_mode : {"none", "default", "size", "speed", "balance"}, default "none"
        How nvFatbin compresses. Only the driver can read code that is compressed: `kernels` and
        `signature` don't work, and parameters of ``extern "C"`` kernels have sizes but no types.

    Returns
    -------
    ObjectCode
        Of type ``fatbin``.

    Raises
    ------
    ValueError
        There are no object codes, one is neither a cubin nor PTX or is damaged, two are of the same
        type and architecture, or the mode doesn't exist.
    TypeError
        An argument has the wrong type.
    LibraryNotFoundError
        nvFatbin is not installed.
    CUDAError
        nvFatbin refused the code.

    Examples
    --------
    >>> source = "template <typename T> __global__ void fill(T* p, T v) { p[threadIdx.x] = v; }"
    >>> def compile(arch, target):
    ...     program = cudacore.Program(source, "c++", {"arch": arch})
    ...     return program.compile(target, ["fill<int>"])
    >>> codes = [compile("sm_80", "cubin"), compile("sm_90", "cubin"), compile("sm_90", "ptx")]
    >>> fatbin = cudacore.make_fatbin(*codes, name="fill")
    >>> fatbin
    <ObjectCode 'fill' fatbin, 1 kernel>
    >>> print(fatbin.signature("fill<int>"))
    fill<int>(int* p, int v)
    """

def nvrtc_architectures() -> list[int]:
    """The architectures that NVRTC compiles for (nvrtcGetSupportedArchs).

    Returns
    -------
    list of int
        Such as 75, 80, 90.

    Raises
    ------
    LibraryNotFoundError
        NVRTC is not installed.

    Examples
    --------
    >>> 90 in cudacore.nvrtc_architectures()
    True
    """

def include_directories() -> list[str]:
    """The folders with CUDA's own headers that programs see, in search order.

    Returns
    -------
    list of str
        Empty if there are none.

    Raises
    ------
    LibraryNotFoundError
        NVRTC, whose version the headers must match, is not installed.

    Examples
    --------
    >>> all(isinstance(folder, str) for folder in cudacore.include_directories())
    True
    """

def library_places(library: str) -> list[tuple[str, str]]:
    """All places where a library is looked for, in order: why it may be there, and its name.

    Parameters
    ----------
    library : str
        ``"NVRTC"``, ``"nvJitLink"`` or ``"nvFatbin"``.

    Returns
    -------
    list of tuple of str
        The first is ``"loaded"``, ``"wheel"``, ``"conda"``, ``"loader"`` or ``"toolkit"``. The
        second is a file that may not exist; for ``"loaded"`` and ``"loader"``, the loader's name.

    Raises
    ------
    ValueError
        For another name.
    """

def header_places() -> list[tuple[str, tuple[int, int]]]:
    """The folders with CUDA's headers, of any version, in all places where they are looked for.

    Returns
    -------
    list of tuple
        A folder and the version of its headers, which is (0, 0) if they don't say.

    Raises
    ------
    LibraryNotFoundError
        NVRTC, next to which they are looked for first, is not installed.
    """

def clocks(pci_bus_id: str) -> tuple[int, int, int]:
    """The clocks of a device now, and what holds them down (nvmlDeviceGetClockInfo).

    Returns
    -------
    tuple of int
        The clocks of the multiprocessors and of the memory in MHz, and the bits of
        nvmlClocksEventReasons.

    Raises
    ------
    LibraryNotFoundError
        There is no NVML.
    NvmlError
        NVML doesn't know the device, or not its clocks.
    """

def nvml(function: str, *arguments: int | str) -> Any:
    """Call a function of NVML, such as nvmlDeviceGetName; see cudacore.system.

    Parameters
    ----------
    function : str
        Its name.
    *arguments : int or str
        What it takes, without the places for its answers and their sizes. Of a structure, the
        fields that the caller sets.

    Returns
    -------
    int, float, str or tuple
        What it answers. Several answers, none, and the fields of a structure are a tuple.

    Raises
    ------
    NvmlError
        NVML refused the call, or the driver is too old to have the function.
    LibraryNotFoundError
        There is no NVML.
    ValueError
        There is no such function, or it takes other arguments.
    """

def checkpoint_state(pid: int) -> int:
    """What has been done to a process; see cudacore.checkpoint.Process."""

def checkpoint_restore_thread_id(pid: int) -> int:
    """The thread that restores a process; see cudacore.checkpoint.Process."""

def checkpoint_lock(pid: int, timeout_ms: int) -> None:
    """Make CUDA calls of a process wait; see cudacore.checkpoint.Process."""

def checkpoint_checkpoint(pid: int) -> None:
    """Take a process off its devices; see cudacore.checkpoint.Process."""

def checkpoint_restore(pid: int, pairs: bytes) -> None:
    """Put a process back on devices, given by pairs of uuids; see cudacore.checkpoint.Process."""

def checkpoint_unlock(pid: int) -> None:
    """Let CUDA calls of a process go on; see cudacore.checkpoint.Process."""

def num_devices() -> int:
    """How many devices the driver shows (cuDeviceGetCount).

    Returns
    -------
    int
        0 if the driver finds none.

    Raises
    ------
    DriverNotFoundError
        There is no driver.
    """

def known_contexts() -> list[Context]:
    """The contexts that this process has used through cudacore, without making any.

    Returns
    -------
    list of Context
        Empty if nothing has been done on a device yet. Lost contexts are included, but not those
        that were destroyed.
    """

def simulator_enable(devices: int, major: int, minor: int, memory: int) -> None:
    """Make the simulated device this process's driver; see cudacore.simulator.enable."""

def simulator_reset() -> None:
    """End all contexts of the simulated device; see cudacore.simulator.reset."""

def simulator_is_enabled() -> bool:
    """Whether the driver in use is the simulated device; see cudacore.simulator.is_enabled."""

def simulator_library() -> str:
    """The path of libcudacore_sim.so; see cudacore.simulator.library."""

def unraisable_errors() -> int:
    """How many failures could not be raised: those in a callback, or while a buffer or a stream was
    destroyed. Each was reported to standard error.

    Returns
    -------
    int

    Examples
    --------
    >>> cudacore.unraisable_errors()
    0
    """

def _trace_launches(on: bool) -> bool:
    """Leave out this thread's launches, or stop doing so; return what was in effect."""

def _traced_launcher(*args: Any) -> None:
    """What kernel[...] is while launches are left out; raises an error at any other time."""

def _torch_slot(resources: list[MemoryResource], is_pool: bool) -> int:
    """Which of the exported functions cudacore_torch_allocate_<slot> takes memory from these."""

@final
class OpaqueArray:
    """Memory in an order of the driver's, in which neighbors in all dimensions are close
    (``CUarray``).

    Made by `Device.create_opaque_array`, or a level of a `MipmappedArray`. It has no address:
    kernels reach it through a `TextureObject` or a `SurfaceObject`, and all else by copies.

    Closing it waits for the work of its device that may use it. What was made from it keeps it.

    Examples
    --------
    >>> import cudacore
    >>> from cudacore.texture import OpaqueArrayOptions
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> with device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1)) as array:
    ...     array.copy_from(b"abcd")
    ...     host = array.copy_to(bytearray(4))
    ...     device.sync()
    >>> host
    bytearray(b'abcd')
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def _create(
        device: Device,
        shape: _Ints,
        form: int,
        num_channels: int,
        is_surface_load_store: bool,
    ) -> OpaqueArray:
        """Makes one; the Python part has checked the options."""
    @property
    def handle(self) -> int:
        """int: The CUarray; 0 once it is closed.

        Nobody knows what uses it once it was read: closing then waits for all work of the context.
        Launches take the object itself, and closing waits for them alone.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def device(self) -> Device:
        """Device: The device that has it."""
    @property
    def shape(self) -> tuple[int, ...]:
        """tuple of int: The width, or the width and the height, or these and the depth, in
        elements.
        """
    @property
    def format(self) -> ArrayFormatType:
        """cudacore.typing.ArrayFormatType: The type of a channel."""
    @property
    def num_channels(self) -> int:
        """int: How many values an element has."""
    @property
    def is_surface_load_store(self) -> bool:
        """bool: Whether kernels may write it, through a `SurfaceObject`."""
    @property
    def element_bytes(self) -> int:
        """int: The size of an element, with all its channels."""
    @property
    def size_bytes(self) -> int:
        """int: The size of all elements, which is what copies move."""
    def copy_from(
        self,
        src: Buffer | _HostBuffer | _Array | _Convertible,
        *,
        stream: _StreamLike | None = None,
    ) -> None:
        """Copies all elements from a buffer, a host object or an array of another library
        (cuMemcpy3DAsync).

        Parameters
        ----------
        src : Buffer, object with the buffer protocol, or array
            C-contiguous: elements of a row follow each other, and so do rows, and planes of rows.
            An array has the type of the channels as its dtype, and the shape (height, width), or
            (depth, height, width), with the channels as a last dimension if there are several; or
            it has one dimension. Bytes and a Buffer have `size_bytes` bytes of any type. Pageable
            host memory is staged before the call returns; pinned memory must not change until the
            copy on the stream is done.
        stream : Stream, GraphBuilder or None
            If None, the current stream.

        Raises
        ------
        TypeError
            The object shows no memory, it is not contiguous, or its elements are of another type.
        ValueError
            Its size or shape is another one, something is closed, or the stream is of another
            device.

        Examples
        --------
        >>> import numpy as np
        >>> device = cudacore.Device()
        >>> device.set_current()
        >>> options = cudacore.texture.OpaqueArrayOptions((8, 4), "float32", 1)
        >>> with device.create_opaque_array(options) as array:
        ...     array.copy_from(np.ones((4, 8), np.float32))  # 4 rows of 8 elements
        """
    def copy_to(self, dst: _Destination, *, stream: _StreamLike | None = None) -> _Destination:
        """Copies all elements to a buffer, a host object or an array of another library
        (cuMemcpy3DAsync), in the order of `copy_from`.

        Parameters
        ----------
        dst : Buffer, writable object with the buffer protocol, or array
            As for `copy_from`. It has the elements once the stream has passed the copy.
        stream : Stream, GraphBuilder or None
            If None, the current stream.

        Returns
        -------
        The destination.

        Raises
        ------
        TypeError
            The object shows no memory, it is not contiguous or not writable, or its elements are of
            another type.
        ValueError
            As for `copy_from`.
        """
    def close(self) -> None:
        """Gives the array up; the last one that keeps it waits for work that uses it, and destroys
        it (cuArrayDestroy). Using it later raises ValueError; closing it again does nothing.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class MipmappedArray:
    """An image in several sizes, of which each level halves all dimensions of the one before
    (``CUmipmappedArray``).

    Made by `Device.create_mipmapped_array`. Its levels and textures keep it.

    Examples
    --------
    >>> import cudacore
    >>> from cudacore.texture import MipmappedArrayOptions
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> options = MipmappedArrayOptions((64, 16), "float32", 1, num_levels=3)
    >>> with device.create_mipmapped_array(options) as mipmaps:
    ...     [mipmaps.get_level(i).shape for i in range(mipmaps.num_levels)]
    [(64, 16), (32, 8), (16, 4)]
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def _create(
        device: Device,
        shape: _Ints,
        form: int,
        num_channels: int,
        num_levels: int,
        is_surface_load_store: bool,
    ) -> MipmappedArray:
        """Makes one; the Python part has checked the options."""
    def get_level(self, level: int) -> OpaqueArray:
        """Returns a level as an array, which keeps all levels (cuMipmappedArrayGetLevel).

        Parameters
        ----------
        level : int
            From 0, which has all elements.

        Returns
        -------
        OpaqueArray

        Raises
        ------
        ValueError
            There is no such level, or it is closed.
        """
    @property
    def handle(self) -> int:
        """int: The CUmipmappedArray; 0 once it is closed.

        Nobody knows what uses it once it was read: closing then waits for all work of the context.
        Launches take the object itself, and closing waits for them alone.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def device(self) -> Device:
        """Device: The device that has it."""
    @property
    def shape(self) -> tuple[int, ...]:
        """tuple of int: The shape of level 0, in elements."""
    @property
    def format(self) -> ArrayFormatType:
        """cudacore.typing.ArrayFormatType: The type of a channel."""
    @property
    def num_channels(self) -> int:
        """int: How many values an element has."""
    @property
    def num_levels(self) -> int:
        """int: How many levels there are."""
    @property
    def is_surface_load_store(self) -> bool:
        """bool: Whether kernels may write the levels, through a `SurfaceObject` of each."""
    def close(self) -> None:
        """Gives the array up; the last one that keeps it waits for work that uses it, and destroys
        it (cuMipmappedArrayDestroy). Using it later raises ValueError; closing it again does
        nothing.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class TextureObject:
    """What a kernel takes as ``cudaTextureObject_t``, to read an array or memory with filters.

    Made by `Device.create_texture_object`. It keeps what it reads. Graphs keep it, even if it is
    closed. Closing it waits for the work of its device that may use it.

    Examples
    --------
    >>> import cudacore
    >>> from cudacore.texture import ResourceDescriptor
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> buffer = device.allocate(1024)
    >>> resource = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
    >>> with device.create_texture_object(resource=resource) as texture:
    ...     texture.resource is resource
    True
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def _create(
        device: Device,
        resource: ResourceDescriptor,
        options: TextureObjectOptions,
        values: tuple[Any, ...],
    ) -> TextureObject:
        """Makes one; the Python part has checked the options."""
    @property
    def handle(self) -> int:
        """int: The CUtexObject, the cudaTextureObject_t of kernels; 0 once it is closed.

        Nobody knows what uses it once it was read: closing then waits for all work of the context.
        Launches take the object itself, and closing waits for them alone.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def device(self) -> Device:
        """Device: The device whose kernels take it."""
    @property
    def resource(self) -> ResourceDescriptor | None:
        """cudacore.texture.ResourceDescriptor or None: What it reads; None once it is closed."""
    @property
    def options(self) -> TextureObjectOptions:
        """cudacore.texture.TextureObjectOptions: How it was made. Changing them has no effect."""
    def close(self) -> None:
        """Gives the texture up; the last one that keeps it waits for work that uses it, and
        destroys it (cuTexObjectDestroy). Using it later raises ValueError; closing it again does
        nothing.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

@final
class SurfaceObject:
    """What a kernel takes as ``cudaSurfaceObject_t``, to read and write the elements of an array.

    Made by `Device.create_surface_object`. It keeps the array. Graphs keep it, even if it is
    closed. Closing it waits for the work of its device that may use it.

    Examples
    --------
    >>> import cudacore
    >>> from cudacore.texture import OpaqueArrayOptions, ResourceDescriptor
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> array = device.create_opaque_array(
    ...     OpaqueArrayOptions((8, 8), "uint32", 1, is_surface_load_store=True)
    ... )
    >>> resource = ResourceDescriptor.from_opaque_array(array)
    >>> with device.create_surface_object(resource=resource) as surface:
    ...     surface.resource.source is array
    True
    """
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @staticmethod
    def _create(device: Device, resource: ResourceDescriptor, source: OpaqueArray) -> SurfaceObject:
        """Makes one; the Python part has checked the resource."""
    @property
    def handle(self) -> int:
        """int: The CUsurfObject, the cudaSurfaceObject_t of kernels; 0 once it is closed.

        Nobody knows what uses it once it was read: closing then waits for all work of the context.
        Launches take the object itself, and closing waits for them alone.
        """
    @property
    def is_closed(self) -> bool:
        """bool: Whether closed."""
    @property
    def device(self) -> Device:
        """Device: The device whose kernels take it."""
    @property
    def resource(self) -> ResourceDescriptor | None:
        """cudacore.texture.ResourceDescriptor or None: What it reaches; None once it is closed."""
    def close(self) -> None:
        """Gives the surface up; the last one that keeps it waits for work that uses it, and
        destroys it (cuSurfObjectDestroy). Using it later raises ValueError; closing it again does
        nothing.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
