# SPDX-License-Identifier: Apache-2.0
"""Managed memory: advice, prefetches, discards, and where memory may be."""

import copy
import ctypes
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import cudacore
import pytest
from cudacore import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CachingMemoryResource,
    CUDAError,
    Device,
    Host,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    Stream,
)
from cudacore.graph import GraphBuilder
from cudacore.utils import discard_batch, discard_prefetch_batch, prefetch_batch

SIZE = 1 << 16


@pytest.fixture
def pool(device: Device) -> ManagedMemoryResource:
    if not device.properties.concurrent_managed_access:
        pytest.skip("the device has no pools of managed memory")
    return ManagedMemoryResource()


@pytest.fixture
def buffer(pool: ManagedMemoryResource, stream: Stream) -> Iterator[ManagedBuffer]:
    made = pool.allocate(SIZE, stream=stream)
    yield made
    made.close()


@pytest.fixture
def captured(stream: Stream) -> Iterator[GraphBuilder]:
    builder = stream.create_graph_builder()
    builder.begin_building()
    yield builder
    builder.end_building()


class TestHost:
    def test_is_one_object_for_each_place(self) -> None:
        assert Host() is Host()
        assert Host(numa_id=1) is Host(1)
        assert Host.numa_current() is Host(is_numa_current=True)
        assert len({Host(), Host(0), Host(1), Host.numa_current()}) == 4
        assert Host() != Host(0)

    def test_says_what_it_is(self) -> None:
        for host, node, is_current, text in (
            (Host(), None, False, "Host()"),
            (Host(3), 3, False, "Host(numa_id=3)"),
            (Host.numa_current(), None, True, "Host.numa_current()"),
        ):
            assert (host.numa_id, host.is_numa_current, repr(host)) == (node, is_current, text)

    @pytest.mark.parametrize("host", [Host(), Host(2), Host.numa_current()], ids=repr)
    def test_copies_are_the_same_object(self, host: Host) -> None:
        assert pickle.loads(pickle.dumps(host)) is host
        assert copy.copy(host) is host
        assert copy.deepcopy(host) is host

    @pytest.mark.parametrize(("arguments", "error", "match"), [
        ({"numa_id": -1}, ValueError, "0 .. 1023"),
        ({"numa_id": 1024}, ValueError, "0 .. 1023, not 1024"),
        ({"numa_id": 1.0}, TypeError, "int or None, not float"),
        ({"numa_id": "0"}, ValueError, "int or None, not str"),
        ({"numa_id": True}, TypeError, "not bool"),
        ({"numa_id": 0, "is_numa_current": True}, ValueError, "not both"),
        ({"node": 0}, TypeError, "no argument 'node'"),
    ])  # fmt: skip
    def test_wrong_arguments(self, arguments: Any, error: type[Exception], match: str) -> None:
        with pytest.raises(error, match=match):
            Host(**arguments)


class TestAdvice:
    @pytest.fixture
    def buffer(self, device: Device) -> Iterator[ManagedBuffer]:
        """Memory of no pool, on whose memory some drivers take no advice."""
        if not device.properties.concurrent_managed_access:
            pytest.skip("the device takes no advice on managed memory")
        device.set_current()
        driver = ctypes.CDLL(cudacore.driver_library()[1])
        address = ctypes.c_uint64()
        assert driver.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(SIZE), 1) == 0
        yield ManagedBuffer.from_handle(address.value, SIZE)
        assert driver.cuMemFree_v2(address) == 0

    def test_pools_of_managed_memory_return_managed_buffers(
        self, device: Device, pool: ManagedMemoryResource, stream: Stream
    ) -> None:
        buffer = pool.allocate(SIZE, stream=stream)
        assert type(buffer) is ManagedBuffer
        assert repr(buffer) == f"<ManagedBuffer of {SIZE} bytes at {buffer.handle:#x}>"
        assert isinstance(buffer, Buffer)
        assert buffer.is_managed
        assert type(buffer[16:32]) is ManagedBuffer
        assert type(buffer.copy_to(stream=stream)) is ManagedBuffer
        usual, device.memory_resource = device.memory_resource, pool
        try:
            assert type(device.allocate(SIZE, stream=stream)) is ManagedBuffer
        finally:
            device.memory_resource = usual
        assert type(device.allocate(SIZE, stream=stream)) is Buffer

    def test_read_mostly(self, buffer: ManagedBuffer) -> None:
        assert buffer.read_mostly is False
        buffer.read_mostly = True
        assert buffer.read_mostly is True
        buffer.read_mostly = False
        assert buffer.read_mostly is False

    def test_preferred_location(self, device: Device, buffer: ManagedBuffer) -> None:
        assert buffer.preferred_location is None
        for location in (device, Host(), Host(numa_id=0), Host.numa_current(), None):
            buffer.preferred_location = location
            found = buffer.preferred_location
            if isinstance(location, Host) and not cudacore.simulator.is_enabled():
                assert isinstance(found, Host)  # a driver may name the host for one of its nodes
            else:
                assert found == location

    def test_parts_take_advice_of_their_own(self, buffer: ManagedBuffer) -> None:
        half = buffer[: SIZE // 2]
        assert isinstance(half, ManagedBuffer)
        half.read_mostly = True
        half.preferred_location = Host()
        assert half.read_mostly
        assert not buffer.read_mostly
        assert buffer.preferred_location is None

    def test_accessed_by_is_a_set(self, device: Device, buffer: ManagedBuffer) -> None:
        accessed = buffer.accessed_by
        assert (len(accessed), set(accessed)) == (0, set())
        accessed.add(device)
        accessed.add(device)
        accessed.add(Host())
        assert accessed == {device, Host()}
        assert device in buffer.accessed_by
        assert accessed & {device} == {device}
        assert type(accessed | {Host()}) is set
        assert repr(Host()) in repr(accessed)
        accessed.discard(device)
        accessed.discard(Host(0))
        accessed.remove(Host())
        assert not buffer.accessed_by
        with pytest.raises(KeyError):
            accessed.remove(device)

    def test_accessed_by_can_be_assigned(self, device: Device, buffer: ManagedBuffer) -> None:
        buffer.accessed_by = {device, Host()}
        assert set(buffer.accessed_by) == {device, Host()}
        buffer.accessed_by = [Host()]
        assert set(buffer.accessed_by) == {Host()}
        buffer.accessed_by |= {device}
        assert set(buffer.accessed_by) == {device, Host()}
        for wrong, error in (({Host(), 1}, TypeError), ([Host(0)], ValueError), (1, TypeError)):
            with pytest.raises(error):
                buffer.accessed_by = wrong  # type: ignore[assignment]
        assert set(buffer.accessed_by) == {device, Host()}
        buffer.accessed_by = ()
        assert set(buffer.accessed_by) == set()

    @pytest.mark.parametrize("host", [Host(0), Host.numa_current()], ids=repr)
    def test_accessed_by_takes_no_numa_node(self, buffer: ManagedBuffer, host: Host) -> None:
        with pytest.raises(ValueError, match="the host as a whole"):
            buffer.accessed_by.add(host)

    @pytest.mark.parametrize("wrong", [0, "host", None, ("device", 0)])
    def test_wrong_locations(self, buffer: ManagedBuffer, stream: Stream, wrong: Any) -> None:
        expected = pytest.raises(TypeError, match="a Device or a Host, not")
        with expected:
            buffer.accessed_by.add(wrong)
        with expected:
            buffer.prefetch(wrong, stream=stream)
        with expected:
            buffer.discard_prefetch(wrong, stream=stream)
        if wrong is None:
            with pytest.raises(ValueError, match="a Device or a Host, not None"):
                buffer.prefetch(wrong, stream=stream)
        if wrong is not None:
            with expected:
                buffer.preferred_location = wrong

    def test_read_mostly_is_a_bool(self, buffer: ManagedBuffer) -> None:
        with pytest.raises(TypeError, match="a bool, not int"):
            buffer.read_mostly = 1  # type: ignore[assignment]


USES: list[Callable[[ManagedBuffer, Stream], Any]] = [
    lambda buffer, _: buffer.read_mostly,
    lambda buffer, _: setattr(buffer, "read_mostly", True),
    lambda buffer, _: buffer.preferred_location,
    lambda buffer, _: setattr(buffer, "preferred_location", None),
    lambda buffer, _: buffer.last_prefetch_location,
    lambda buffer, _: set(buffer.accessed_by),
    lambda buffer, _: buffer.accessed_by.add(Host()),
    lambda buffer, stream: buffer.prefetch(Host(), stream=stream),
    lambda buffer, stream: buffer.discard(stream=stream),
    lambda buffer, stream: buffer.discard_prefetch(Host(), stream=stream),
    lambda buffer, stream: prefetch_batch(stream, [buffer], Host()),
    lambda buffer, stream: discard_batch(stream, [buffer]),
    lambda buffer, stream: discard_prefetch_batch(stream, [buffer], Host()),
]


@pytest.mark.parametrize("use", USES, ids=range(len(USES)))
class TestWrongMemory:
    def test_closed(self, buffer: ManagedBuffer, stream: Stream, use: Callable[..., Any]) -> None:
        buffer.close()
        with pytest.raises(ValueError, match="closed"):
            use(buffer, stream)

    def test_empty(
        self, pool: ManagedMemoryResource, stream: Stream, use: Callable[..., Any]
    ) -> None:
        with pytest.raises(ValueError, match="empty"):
            use(pool.allocate(0, stream=stream), stream)

    def test_not_managed(self, device: Device, stream: Stream, use: Callable[..., Any]) -> None:
        for memory in (
            device.allocate(SIZE, stream=stream),
            LegacyPinnedMemoryResource().allocate(SIZE),
        ):
            wrapped = ManagedBuffer.from_handle(memory.handle, SIZE, owner=memory)
            with pytest.raises(ValueError, match="is not managed"):
                use(wrapped, stream)


class TestPrefetch:
    def test_prefetch(self, device: Device, buffer: ManagedBuffer, stream: Stream) -> None:
        assert buffer.last_prefetch_location is None
        for location in (device, Host(), Host(numa_id=0), Host.numa_current()):
            buffer.prefetch(location, stream=stream)
            stream.sync()
            assert buffer.last_prefetch_location == location
        buffer[: SIZE // 2].prefetch(device, stream=stream)  # type: ignore[attr-defined]
        assert buffer.last_prefetch_location is None

    def test_discards(self, device: Device, buffer: ManagedBuffer, stream: Stream) -> None:
        buffer.fill(1, stream=stream)
        buffer.discard(stream=stream)
        buffer.fill(2, stream=stream)
        stream.sync()
        assert set(memoryview(buffer)) == {2}
        buffer.discard_prefetch(device, stream=stream)
        assert buffer.last_prefetch_location == device
        with stream:
            buffer.discard()
            buffer.prefetch(Host())
            buffer.discard_prefetch(Host())
        assert buffer.last_prefetch_location is Host()

    def test_wraps_memory_from_elsewhere(
        self, device: Device, pool: ManagedMemoryResource, stream: Stream
    ) -> None:
        cached = CachingMemoryResource(pool).allocate(SIZE, stream=stream)
        buffer = ManagedBuffer.from_handle(cached.handle, cached.size, owner=cached)
        buffer.prefetch(device, stream=stream)
        assert buffer.last_prefetch_location == device
        prefetch_batch(stream, [cached], Host())
        assert buffer.last_prefetch_location is Host()

    def test_one_place_for_all_or_one_for_each(
        self, device: Device, pool: ManagedMemoryResource, stream: Stream
    ) -> None:
        buffers = [pool.allocate(SIZE, stream=stream) for _ in range(4)]
        for prefetch in (prefetch_batch, discard_prefetch_batch):
            prefetch(stream, buffers, Host())
            assert {buffer.last_prefetch_location for buffer in buffers} == {Host()}
            places = [device, device, Host(numa_id=0), device]
            prefetch(stream, tuple(buffers), tuple(places))
            assert [buffer.last_prefetch_location for buffer in buffers] == places
        discard_batch(stream, buffers)

    @pytest.mark.parametrize("batch", [
        lambda stream, buffers: prefetch_batch(stream, buffers, Host()),
        lambda stream, buffers: discard_prefetch_batch(stream, buffers, Host()),
        discard_batch,
    ])  # fmt: skip
    def test_wrong_batches(
        self, buffer: ManagedBuffer, stream: Stream, batch: Callable[..., None]
    ) -> None:
        with pytest.raises(TypeError, match=r"takes a single one"):
            batch(stream, buffer)
        for wrong in (None, 1, "buffers", [buffer, 1], iter([buffer])):
            with pytest.raises(TypeError, match="must be a sequence of Buffers"):
                batch(stream, wrong)
        with pytest.raises(ValueError, match="no buffers"):
            batch(stream, [])
        with pytest.raises(TypeError, match="stream"):
            batch("stream", [buffer])

    def test_wrong_number_of_locations(
        self, device: Device, buffer: ManagedBuffer, stream: Stream
    ) -> None:
        for prefetch in (prefetch_batch, discard_prefetch_batch):
            with pytest.raises(ValueError, match="2 locations are given for 3 buffers"):
                prefetch(stream, [buffer] * 3, [device, Host()])
            with pytest.raises(ValueError, match="1 locations are given for 3 buffers"):
                prefetch(stream, [buffer] * 3, [Host()])
            with pytest.raises(ValueError, match="0 locations are given for 1 buffers"):
                prefetch(stream, [buffer], [])
            with pytest.raises(TypeError, match="a Device or a Host, not int"):
                prefetch(stream, [buffer], [0])  # type: ignore[list-item]
            with pytest.raises(TypeError, match="a sequence of them, not NoneType"):
                prefetch(stream, [buffer], None)  # type: ignore[arg-type]

    @pytest.mark.parametrize("use", USES[8:], ids=range(5))
    def test_batches_take_no_legacy_stream(
        self, buffer: ManagedBuffer, use: Callable[..., Any]
    ) -> None:
        for error in (TypeError, ValueError):
            with pytest.raises(error, match="on the legacy default stream"):
                use(buffer, LEGACY_DEFAULT_STREAM)

    @pytest.mark.parametrize("use", USES[7:], ids=range(6))
    def test_captures_go_on(
        self, buffer: ManagedBuffer, captured: GraphBuilder, use: Callable[..., Any]
    ) -> None:
        for stream in (captured, captured.stream):
            with pytest.raises(ValueError, match="is being captured"):
                use(buffer, stream)
        assert captured.is_building

    def test_closed_stream(self, device: Device, buffer: ManagedBuffer) -> None:
        stream = device.create_stream()
        stream.close()
        for use in USES[7:]:
            with pytest.raises(ValueError, match="Stream is closed"):
                use(buffer, stream)

    def test_buffers_that_are_closed_meanwhile(self, buffer: ManagedBuffer, stream: Stream) -> None:
        class Closing:
            def __cuda_stream__(self) -> tuple[int, int]:
                buffer.close()
                return (0, stream.handle)

        with pytest.raises(ValueError, match="closed"):
            prefetch_batch(Closing(), [buffer], Host())

    def test_driver_errors_are_passed_on(self, buffer: ManagedBuffer, stream: Stream) -> None:
        with pytest.raises(CUDAError, match="cuMemPrefetchAsync"):
            buffer.prefetch(Host(numa_id=1023), stream=stream)
