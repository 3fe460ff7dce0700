# SPDX-License-Identifier: Apache-2.0
"""Memory as programs written for cuda.core use it: resources of their own, and buffers."""

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryResource,
    PinnedMemoryResource,
    Stream,
)


class Borrowing(MemoryResource):
    """As cuda.core's users write them: no super().__init__(), and a required stream."""

    def __init__(self, inner: MemoryResource) -> None:
        self.inner = inner
        self.live: dict[int, Buffer] = {}
        self.streams: list[Stream] = []

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        buffer = self.inner.allocate(size, stream=stream)
        self.live[buffer.handle] = buffer
        return Buffer.from_handle(ptr=buffer.handle, size=size, mr=self)

    def deallocate(self, ptr: Any, size: int, *, stream: Any) -> None:
        self.streams.append(stream)
        assert self.live[int(ptr)].size == size
        self.live.pop(int(ptr)).close()

    @property
    def is_device_accessible(self) -> bool:
        return True

    @property
    def is_host_accessible(self) -> bool:
        return self.inner.is_host_accessible

    @property
    def device_id(self) -> int:
        return 0


class Unreachable(Borrowing):
    is_device_accessible = False  # type: ignore[assignment]
    is_host_accessible = False  # type: ignore[assignment]


class TestMemoryResources:
    def test_init_of_a_subclass_need_not_call_that_of_the_base(self, device: Device) -> None:
        resource = Borrowing(DeviceMemoryResource(device))
        with resource.allocate(64) as buffer:
            assert buffer.memory_resource is resource
            assert (buffer.device_id, buffer.is_host_accessible) == (0, False)
        assert resource.live == {}

    def test_init_of_the_base_may_be_called_all_the_same(self) -> None:
        class Calling(MemoryResource):
            def __init__(self) -> None:
                super().__init__()
                super().__init__()

        class Making(MemoryResource):
            def __new__(cls, *_: Any) -> Any:
                return super().__new__(cls)

            def __init__(self, number: int) -> None:
                self.number = number

        assert isinstance(Calling(), MemoryResource)
        assert Making(7).number == 7

    def test_deallocate_gets_a_stream(self, device: Device, stream: Stream) -> None:
        resource = Borrowing(DeviceMemoryResource(device))
        resource.allocate(64).close()
        resource.allocate(64).close(stream)
        assert resource.streams == [device.default_stream, stream]

    def test_base_raises_what_either_program_catches(self) -> None:
        for error in (NotImplementedError, TypeError, RuntimeError):
            with pytest.raises(error, match="must define allocate"):
                MemoryResource().allocate(1)

    @pytest.mark.parametrize("make", [
        lambda: DeviceMemoryResource(0, {"max_size": 1 << 20}),
        lambda: DeviceMemoryResource(0),
        PinnedMemoryResource,
        ManagedMemoryResource,
    ])  # fmt: skip
    def test_closed_pool_allocates_no_more(
        self, device: Device, stream: Stream, make: Callable[[], Any]
    ) -> None:
        pool = make()
        buffer = pool.allocate(64, stream=stream)
        attributes = pool.attributes
        assert not pool.is_closed
        pool.close()
        pool.close()
        assert pool.is_closed
        with pytest.raises(ValueError, match="closed"):
            pool.allocate(64, stream=stream)
        buffer.fill(1, stream=stream)
        buffer.close()
        stream.sync()
        assert attributes.used_mem_high >= 64
        assert device.allocate(64, stream=stream).size == 64

    def test_device_pool_can_be_subclassed(self, device: Device, stream: Stream) -> None:
        class Counting(DeviceMemoryResource):
            def __init__(self, device_id: int) -> None:
                super().__init__(device_id)
                self.sizes: list[int] = []

            def allocate(self, size: int, *, stream: Any = None) -> Buffer:
                self.sizes.append(size)
                return super().allocate(size, stream=stream)

        usual, pool = device.memory_resource, Counting(0)
        device.memory_resource = pool
        try:
            buffer = device.allocate(64, stream=stream)
            assert buffer.memory_resource is pool
            buffer.copy_to(None, stream=stream).close()
            buffer.close()
        finally:
            device.memory_resource = usual
        assert pool.sizes == [64, 64]
        stream.sync()

    @pytest.mark.parametrize(("options", "expected"), [
        ({"preferred_location": 0}, ("device", 0)),
        ({"preferred_location": -1}, ("host", None)),
        ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0)),
        ({}, None),
    ])  # fmt: skip
    def test_managed_location_without_a_type(
        self, device: Device, options: dict[str, Any], expected: tuple[str, int | None] | None
    ) -> None:
        if not device.properties.concurrent_managed_access:
            pytest.skip("the device has no pools of managed memory")
        chosen = ManagedMemoryResourceOptions(**options)
        assert ManagedMemoryResource(chosen).preferred_location == expected
        assert chosen == ManagedMemoryResourceOptions(**options)

    def test_numa_node_without_a_number(self, device: Device) -> None:
        options = ManagedMemoryResourceOptions(preferred_location_type="host_numa")
        node = device.properties.host_numa_id
        if node < 0:
            with pytest.raises(RuntimeError, match="host_numa_id"):
                ManagedMemoryResource(options)
        else:
            assert ManagedMemoryResource(options).preferred_location == ("host_numa", node)

    @pytest.mark.parametrize("options", [
        {"preferred_location": -2},
        {"preferred_location": -1, "preferred_location_type": "device"},
        {"preferred_location": -1, "preferred_location_type": "host_numa"},
        {"preferred_location_type": "device"},
        {"preferred_location": 0, "preferred_location_type": "host"},
    ])  # fmt: skip
    def test_places_that_are_none_are_refused(
        self, device: Device, options: dict[str, Any]
    ) -> None:
        with pytest.raises(ValueError, match="ManagedMemoryResourceOptions"):
            ManagedMemoryResource(options)


class TestBuffers:
    def test_closed_buffer_has_no_resource(self, device: Device) -> None:
        buffer = device.allocate(64)
        buffer.close()
        assert buffer.memory_resource is None

    def test_foreign_pinned_memory_knows_its_device(self, device: Device) -> None:
        pinned = LegacyPinnedMemoryResource().allocate(64)
        foreign = Buffer.from_handle(pinned.handle, 64, owner=pinned)
        assert (foreign.is_host_accessible, foreign.is_device_accessible) == (True, True)
        assert foreign.device_id == device.device_id

    def test_unknown_memory_knows_none(self, device: Device) -> None:
        memory = ctypes.create_string_buffer(64)
        foreign = Buffer.from_handle(ctypes.addressof(memory), 64, owner=memory)
        assert (foreign.device_id, foreign.is_device_accessible) == (-1, False)

    def test_managed_memory_exports_as_such(self, device: Device) -> None:
        if not device.properties.concurrent_managed_access:
            pytest.skip("the device has no pools of managed memory")
        buffer = ManagedMemoryResource().allocate(64)
        assert buffer.__dlpack_device__() == (13, 0)

    def test_memory_that_nobody_reaches_is_a_buffer_error(self, device: Device) -> None:
        buffer = Unreachable(DeviceMemoryResource(device)).allocate(64)
        for export in (buffer.__dlpack__, buffer.__dlpack_device__):
            with pytest.raises(BufferError, match="neither"):
                export()

    @pytest.mark.parametrize("version", [(), (9, 8, 7), "1.0", (1, "0"), [1, 0], 1])
    def test_versions_that_are_none_are_buffer_errors(self, device: Device, version: Any) -> None:
        with pytest.raises(BufferError, match="max_version"):
            device.allocate(64).__dlpack__(max_version=version)
