# SPDX-License-Identifier: Apache-2.0
"""What the memory resources over other libraries share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore import Buffer, Device, MemoryResource, _core
from cudacore._integers import to_int

if TYPE_CHECKING:
    from cudacore import Stream
    from cudacore.typing import IsStreamType

#: The handle of the legacy default stream; other libraries call it 0.
LEGACY = 1


class ForeignMemoryResource(MemoryResource):
    """Memory of another library, of one device."""

    is_device_accessible = True
    is_host_accessible = False

    def __init__(self, device_id: Device | int | None) -> None:
        super().__init__()
        self._device = Device() if device_id is None else Device(device_id)
        self._live: dict[int, tuple[Any, Stream]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of device {self.device_id}>"

    @property
    def device_id(self) -> int:
        return self._device.device_id

    def allocate(self, size: int, *, stream: IsStreamType | None = None) -> Buffer:
        """Allocate memory, ordered on a stream; see `MemoryResource.allocate`."""
        size = to_int(size, "MemoryResource.allocate: size", least=0)
        ordered_on = self._stream(_core.current_stream() if stream is None else stream)
        if size == 0:
            return Buffer.from_handle(0, 0, self, stream=ordered_on)
        with self._device:
            pointer, memory = self._take(size, ordered_on)
        self._live[pointer] = memory, ordered_on
        try:
            return Buffer.from_handle(pointer, size, self, stream=ordered_on)
        except BaseException:
            self.deallocate(pointer, size)
            raise

    def deallocate(self, ptr: Any, size: int, *, stream: IsStreamType | None = None) -> None:
        """Take memory back, ordered on a stream; see `MemoryResource.deallocate`."""
        if size == 0:
            return
        pointer = int(ptr)
        # It is taken out first, because another thread may get the address again at once.
        live = self._live.pop(pointer, None)
        if live is None:
            raise ValueError(
                f"MemoryResource.deallocate: {pointer:#x} is not allocated from {self!r}"
            )
        try:
            memory, allocated_on = live
            ordered_on = allocated_on if stream is None else self._stream(stream)
            with self._device:
                # It may be reused at once by later work on the stream of the allocation.
                if ordered_on != allocated_on:
                    allocated_on.wait(ordered_on)
                self._give_back(memory, size, allocated_on)
        except BaseException:
            self._live[pointer] = live
            raise

    def _stream(self, stream: IsStreamType) -> Stream:
        wrapped = self._device.create_stream(stream)
        return self._device.default_stream if wrapped.handle == LEGACY else wrapped

    def _take(self, size: int, stream: Stream) -> tuple[int, Any]:
        """Return the address, and what keeps the memory."""
        raise NotImplementedError

    def _give_back(self, memory: Any, size: int, stream: Stream) -> None:
        """Give back memory that nothing uses after the work on a stream."""
        raise NotImplementedError
