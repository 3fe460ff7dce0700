# SPDX-License-Identifier: Apache-2.0
"""RMM's resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore import Buffer, Device, MemoryResource, OutOfMemoryError
from cudacore._other_library import import_library
from cudacore._public import public
from cudacore.allocators._foreign_resource import ForeignMemoryResource
from cudacore.allocators._own_resources import by_device_of

if TYPE_CHECKING:
    import rmm.mr

    from cudacore import Stream


@public("cudacore.allocators")
def rmm_resource(resource: MemoryResource) -> rmm.mr.CallbackMemoryResource:
    """Make a memory resource one of RMM, which cuDF, cuML and others allocate from.

    Pass the result to ``rmm.mr.set_current_device_resource``, while the resource's device is
    current.

    Parameters
    ----------
    resource : MemoryResource

    Returns
    -------
    rmm.mr.CallbackMemoryResource

    Raises
    ------
    ImportError
        RMM is missing.
    TypeError, ValueError
        It is not a MemoryResource, is closed, or kernels can't reach its memory.
    """
    by_device_of("rmm_resource", (resource,))
    mr = _import("rmm_resource")
    live: dict[int, Buffer] = {}

    def allocate(size: int, stream: Any) -> int:
        if size == 0:
            return 0
        buffer = resource.allocate(size, stream=stream)
        live[buffer.handle] = buffer
        return buffer.handle

    def deallocate(pointer: int, size: int, stream: Any) -> None:
        if size == 0:
            return
        live.pop(pointer).close(stream)

    return mr.CallbackMemoryResource(allocate, deallocate)


@public("cudacore.allocators")
class RmmMemoryResource(ForeignMemoryResource):
    """A memory resource of RMM as one of cudacore.

    Parameters
    ----------
    resource : rmm.mr.DeviceMemoryResource, optional
        RMM's current resource of the device by default.
    device_id : Device or int, optional
        The current device by default; `resource` must belong to it.

    Raises
    ------
    ImportError
        RMM is missing.
    """

    def __init__(
        self,
        resource: rmm.mr.DeviceMemoryResource | None = None,
        device_id: Device | int | None = None,
    ) -> None:
        mr = _import("RmmMemoryResource")
        super().__init__(device_id)
        self._resource = (
            mr.get_per_device_resource(self.device_id) if resource is None else resource
        )

    def _take(self, size: int, stream: Stream) -> tuple[int, Any]:
        from rmm.pylibrmm.stream import Stream as TheirStream  # noqa: PLC0415

        try:
            pointer = self._resource.allocate(size, TheirStream(stream))
        except MemoryError as error:
            raise OutOfMemoryError(str(error)) from error
        return pointer, pointer

    def _give_back(self, memory: Any, size: int, stream: Stream) -> None:
        from rmm.pylibrmm.stream import Stream as TheirStream  # noqa: PLC0415

        self._resource.deallocate(memory, size, TheirStream(stream))


def _import(user: str) -> Any:
    return import_library("rmm.mr", f"cudacore.allocators.{user}", "RMM", "rmm-cu13")
