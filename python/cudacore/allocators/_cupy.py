# SPDX-License-Identifier: Apache-2.0
"""CuPy's allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore import Device, MemoryResource, OutOfMemoryError, Stream
from cudacore._other_library import cupy_stream, import_library
from cudacore._public import public
from cudacore.allocators._foreign_resource import LEGACY, ForeignMemoryResource
from cudacore.allocators._own_resources import by_device_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import cupy


@public("cudacore.allocators")
def cupy_allocator(*resources: MemoryResource) -> Callable[[int], cupy.cuda.MemoryPointer]:
    """Make memory resources CuPy's allocator.

    Pass the result to ``cupy.cuda.set_allocator`` or ``cupy.cuda.using_allocator``.

    Parameters
    ----------
    *resources : MemoryResource
        One for each device that CuPy is to use. One that belongs to no device is for all.

    Returns
    -------
    callable
        Allocates bytes on CuPy's current device and stream. The memory is released on that stream.

    Raises
    ------
    ImportError
        CuPy is missing.
    TypeError, ValueError
        There is no resource, two are for one device, one is closed, or kernels can't reach the
        memory. When it is
        called: the current device has no resource.
    """
    by_device = by_device_of("cupy_allocator", resources)
    cupy = _import("cupy_allocator")

    def allocate(size: int) -> Any:
        device = cupy.cuda.runtime.getDevice()
        resource = by_device.get(device, by_device.get(-1))
        if resource is None:
            raise ValueError(f"cupy_allocator: it has no resource for device {device}")
        # The stream must live until the memory is released on it.
        stream = cupy.cuda.get_current_stream()
        ordered_on = Stream.from_handle(stream.ptr, stream)
        if stream.ptr in {0, LEGACY}:
            ordered_on = Device(device).default_stream
        buffer = resource.allocate(size, stream=ordered_on)
        memory = cupy.cuda.UnownedMemory(buffer.handle, size, buffer, device)
        return cupy.cuda.MemoryPointer(memory, 0)

    return allocate


@public("cudacore.allocators")
class CupyMemoryResource(ForeignMemoryResource):
    """A memory pool of CuPy as a memory resource, so that both use one pool.

    Parameters
    ----------
    device_id : Device or int, optional
        The current device by default.
    pool : cupy.cuda.MemoryPool, optional
        CuPy's default pool by default.

    Raises
    ------
    ImportError
        CuPy is missing.
    """

    def __init__(
        self, device_id: Device | int | None = None, pool: cupy.cuda.MemoryPool | None = None
    ) -> None:
        self._cupy = _import("CupyMemoryResource")
        super().__init__(device_id)
        self._pool = self._cupy.get_default_memory_pool() if pool is None else pool

    def _take(self, size: int, stream: Stream) -> tuple[int, Any]:
        cupy = self._cupy
        if stream.handle == LEGACY:
            theirs = cupy.cuda.Stream.null
        else:
            theirs = cupy_stream(cupy, stream, self.device_id)
        try:
            with cupy.cuda.Device(self.device_id), theirs:
                memory = self._pool.malloc(size)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise OutOfMemoryError(str(error)) from error
        # It returns to the pool when it is dropped.
        return memory.ptr, memory

    def _give_back(self, memory: Any, *_: Any) -> None:
        """Do nothing: the caller drops the memory now, which returns it to the pool."""


def _import(user: str) -> Any:
    return import_library("cupy", f"cudacore.allocators.{user}", "CuPy", "cupy-cuda13x")
