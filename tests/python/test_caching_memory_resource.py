# SPDX-License-Identifier: Apache-2.0
"""The caching pool: what it reuses, when, and what it says."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Buffer,
    CachingMemoryResource,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    MemoryResource,
    OutOfMemoryError,
    Stream,
)
from harness import build, run, run_cleanly

MIB = 1 << 20


@pytest.fixture
def pool(device: Device) -> CachingMemoryResource:
    return CachingMemoryResource(DeviceMemoryResource(device))


@pytest.fixture
def short(device: Device) -> CachingMemoryResource:
    """A pool of one segment, with two blocks of 1 MiB."""
    return CachingMemoryResource(DeviceMemoryResource(device), max_size=2 * MIB)


@pytest.fixture
def other(device: Device) -> Iterator[Stream]:
    stream = device.create_stream()
    yield stream
    if not stream.is_closed:
        stream.sync()
        stream.close()


@pytest.fixture
def hold() -> Iterator[Callable[[Stream], threading.Event]]:
    """Keeps a stream from going on until the event is set."""
    events: list[threading.Event] = []

    def hold(stream: Stream) -> threading.Event:
        event = threading.Event()
        events.append(event)
        stream.add_callback(event.wait, 20)
        return event

    yield hold
    for event in events:
        event.set()


class Upstream(MemoryResource):
    """Memory of another resource; raises `error` in place of allocating, if it is set."""

    def __init__(self, inner: MemoryResource) -> None:
        super().__init__()
        self.inner = inner
        self.error: BaseException | None = None
        self.asked: list[int] = []
        self.live: dict[int, Buffer] = {}

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        self.asked.append(size)
        if self.error is not None:
            raise self.error
        buffer = self.inner.allocate(size, stream=stream)
        self.live[buffer.handle] = buffer
        return Buffer.from_handle(buffer.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
        self.live.pop(int(ptr)).close(stream)

    @property
    def is_device_accessible(self) -> bool:
        return self.inner.is_device_accessible

    @property
    def is_host_accessible(self) -> bool:
        return self.inner.is_host_accessible

    @property
    def device_id(self) -> int:
        return self.inner.device_id


def test_freed_memory_is_used_again(pool: CachingMemoryResource, stream: Stream) -> None:
    first = pool.allocate(1000, stream=stream)
    address = first.handle
    assert first.size == 1000
    assert address % 256 == 0
    first.close()
    second = pool.allocate(900, stream=stream)
    assert second.handle == address
    del second
    assert pool.allocate(1000, stream=stream).handle == address
    assert pool.statistics.num_device_alloc == 1


def test_it_says_what_its_upstream_says(device: Device) -> None:
    pool = CachingMemoryResource(DeviceMemoryResource(device))
    assert (pool.device_id, pool.is_device_accessible) == (device.device_id, True)
    assert not pool.is_host_accessible
    assert not pool.is_managed
    upstream = LegacyPinnedMemoryResource()
    pinned = CachingMemoryResource(upstream, max_size=4 * MIB)
    assert pinned.upstream is upstream
    assert (pinned.device_id, pinned.is_host_accessible, pinned.max_size) == (-1, True, 4 * MIB)
    buffer = pinned.allocate(16)
    memoryview(buffer)[:4] = b"abcd"
    assert buffer.memory_resource is pinned


def test_nothing_needs_no_memory(pool: CachingMemoryResource, stream: Stream) -> None:
    assert (pool.allocate(0, stream=stream).handle, pool.statistics.num_segments) == (0, 0)


def test_the_devices_own(device: Device, pool: CachingMemoryResource, stream: Stream) -> None:
    before = device.memory_resource
    device.memory_resource = pool
    try:
        with device.allocate(64, stream=stream) as one, device.allocate(64) as default:
            assert one.memory_resource is pool
            assert default.memory_resource is pool
        with stream, device.allocate(64) as entered:
            entered.fill(1)
            assert entered.to_host().tolist() == [1] * 64
    finally:
        device.memory_resource = before
    assert pool.statistics.current_count == 0


def test_a_held_stream_keeps_its_memory(
    pool: CachingMemoryResource, stream: Stream, other: Stream, hold: Any
) -> None:
    first = pool.allocate(MIB, stream=stream)
    address = first.handle
    release = hold(stream)
    first.fill(1, stream=stream)
    first.close()
    second = pool.allocate(MIB, stream=other)
    assert second.handle != address  # new memory, as long as there is some
    assert pool.allocate(MIB, stream=stream).handle == address
    release.set()


def test_another_stream_waits_on_the_device(
    short: CachingMemoryResource, stream: Stream, other: Stream, hold: Any
) -> None:
    kernel = build(
        "__global__ void fill(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }"
    ).get_kernel("fill")
    first = short.allocate(MIB, stream=stream)
    address = first.handle
    kernel[1, 1, stream](first, 0)  # loaded before the stream is held
    stream.sync()
    release = hold(stream)
    kernel[MIB // 1024, 256, stream](first, 1)
    first.close()
    second = short.allocate(MIB, stream=other)
    assert second.handle == address
    kernel[MIB // 1024, 256, other](second, 2)
    assert not other.is_done
    release.set()
    assert set(second.to_host(np.int32, stream=other).tolist()) == {2}
    stream.sync()
    assert set(second.to_host(np.int32, stream=other).tolist()) == {2}
    assert short.statistics.num_stream_waits == 1


def test_a_closed_stream_leaves_its_memory_behind_an_event(
    short: CachingMemoryResource, device: Device, other: Stream, hold: Any
) -> None:
    stream = device.create_stream()
    halves = [short.allocate(MIB, stream=stream) for _ in range(2)]
    address = halves[0].handle
    release = hold(stream)
    for half in halves:
        half.fill(1, stream=stream)
        half.close()
    stream.close()  # returns at once
    second = short.allocate(MIB, stream=other)
    second.fill(2, stream=other)
    assert second.handle == address
    assert not other.is_done
    release.set()
    assert set(second.to_host(stream=other).tolist()) == {2}


def test_memory_is_ordered_on_the_stream_that_frees_it(
    short: CachingMemoryResource, stream: Stream, other: Stream
) -> None:
    kept = short.allocate(MIB, stream=stream)
    second = short.allocate(MIB, stream=stream)
    address = second.handle
    other.wait(stream)
    second.close(other)
    assert [block["stream"] for block in short.snapshot()[0]["blocks"]] == [
        stream.handle,
        other.handle,
    ]
    assert short.allocate(MIB, stream=other).handle == address
    assert kept.handle != address


def test_borrowed_and_default_streams(
    pool: CachingMemoryResource, device: Device, stream: Stream
) -> None:
    borrowed = Stream.from_handle(stream.handle)
    for chosen in (borrowed, cudacore.LEGACY_DEFAULT_STREAM, cudacore.PER_THREAD_DEFAULT_STREAM):
        for _ in range(3):
            with pool.allocate(5000, stream=chosen) as buffer:
                buffer.fill(7, stream=chosen)
                assert set(buffer.to_host(stream=chosen).tolist()) == {7}
    with pool.allocate(5000) as buffer:
        assert buffer.size == 5000
    device.sync()
    assert pool.statistics.num_device_alloc == 1


def test_short_of_memory(short: CachingMemoryResource, stream: Stream) -> None:
    kept = short.allocate(MIB, stream=stream)
    with pytest.raises(OutOfMemoryError, match="cannot allocate 3 MiB: 1 buffers have 1 MiB") as e:
        short.allocate(3 * MIB, stream=stream)
    assert "max_size is 2 MiB" in str(e.value)
    assert (short.statistics.num_ooms, short.statistics.num_alloc_retries) == (1, 1)
    kept.close()
    with pytest.raises(OutOfMemoryError):
        short.allocate((1 << 63) - 1, stream=stream)


def test_cached_memory_goes_back_before_it_is_short(device: Device, stream: Stream) -> None:
    upstream = Upstream(DeviceMemoryResource(device))
    pool = CachingMemoryResource(upstream)
    pool.allocate(64 * MIB, stream=stream).close()
    upstream.error = MemoryError("none left")
    with pytest.raises(OutOfMemoryError, match="none left"):
        pool.allocate(3 * MIB, stream=stream)
    assert upstream.asked == [64 * MIB, 20 * MIB, 3 * MIB, 20 * MIB, 3 * MIB]
    assert upstream.live == {}
    upstream.error = KeyError("something else")
    with pytest.raises(KeyError, match="something else"):
        pool.allocate(3 * MIB, stream=stream)
    assert pool.statistics.reserved_bytes == 0
    upstream.error = None
    pool.allocate(3 * MIB, stream=stream).close()
    pool.trim()
    assert upstream.live == {}


def test_an_upstream_that_lies(device: Device, stream: Stream) -> None:
    class Liar(Upstream):
        def allocate(self, size: int, *, stream: Any = None) -> Buffer:
            return Buffer.from_handle(0, 0)

    pool = CachingMemoryResource(Liar(DeviceMemoryResource(device)))
    with pytest.raises(RuntimeError, match="was asked for 2 MiB, and returned a Buffer of 0 bytes"):
        pool.allocate(1, stream=stream)
    assert pool.statistics.reserved_bytes == 0


def test_trim(pool: CachingMemoryResource, stream: Stream) -> None:
    pool.allocate(32 * MIB, stream=stream).close()
    kept = pool.allocate(1, stream=stream)
    pool.trim(40 * MIB)
    assert pool.statistics.reserved_bytes == 34 * MIB
    pool.trim()
    assert pool.statistics.reserved_bytes == 2 * MIB
    kept.close()
    pool.trim()
    assert pool.snapshot() == []
    with pytest.raises(ValueError, match=r"trim: min_bytes_to_keep must lie in 0 .. 2\*\*63 - 1"):
        pool.trim(-1)


def test_close(pool: CachingMemoryResource, stream: Stream) -> None:
    kept = pool.allocate(MIB, stream=stream)
    pool.close()
    pool.close()
    assert pool.is_closed
    with pytest.raises(ValueError, match="this CachingMemoryResource is closed"):
        pool.allocate(1, stream=stream)
    kept.fill(3, stream=stream)
    assert set(kept.to_host(stream=stream).tolist()) == {3}
    kept.close()
    assert pool.statistics.reserved_bytes == 0


def test_a_buffer_keeps_the_pool(device: Device, stream: Stream) -> None:
    upstream = Upstream(DeviceMemoryResource(device))
    pool = CachingMemoryResource(upstream)
    gone = weakref.ref(pool)
    buffer = pool.allocate(MIB, stream=stream)
    del pool
    gc.collect()
    assert gone() is None  # the Python object; the pool itself lives on
    assert len(upstream.live) == 1
    buffer.fill(5, stream=stream)
    assert set(buffer.to_host(stream=stream).tolist()) == {5}
    buffer.close()
    assert upstream.live == {}


def test_deallocate(pool: CachingMemoryResource, stream: Stream) -> None:
    buffer = pool.allocate(MIB, stream=stream)
    pool.deallocate(buffer.handle, buffer.size, stream=stream)
    with pytest.raises(ValueError, match="no buffer of this CachingMemoryResource is at 0x"):
        pool.deallocate(buffer.handle, buffer.size)
    again = pool.allocate(MIB, stream=stream)
    buffer.close()  # has nothing left to release
    assert again.handle != 0
    assert pool.statistics.current_count == 1


def test_statistics(pool: CachingMemoryResource, stream: Stream) -> None:
    assert set(pool.statistics) == {0}
    buffers = [pool.allocate(1000, stream=stream) for _ in range(10)]
    has = pool.statistics
    assert (has.current_bytes, has.current_count, has.used_bytes) == (10_000, 10, 10_240)
    assert has.free_bytes + has.used_bytes == has.reserved_bytes == 2 * MIB
    del buffers[4:]
    has = pool.statistics
    assert (has.current_count, has.peak_count, has.total_count) == (4, 10, 10)
    pool.reset_peak_statistics()
    assert pool.statistics.peak_bytes == 4000


def test_snapshot(pool: CachingMemoryResource, stream: Stream) -> None:
    buffer = pool.allocate(1000, stream=stream)
    (segment,) = pool.snapshot()
    assert segment == {
        "device": pool.device_id,
        "address": buffer.handle,
        "total_size": 2 * MIB,
        "allocated_size": 1024,
        "segment_type": "small",
        "blocks": [
            {
                "address": buffer.handle,
                "size": 1024,
                "requested_size": 1000,
                "state": "active_allocated",
                "stream": stream.handle,
            },
            {
                "address": buffer.handle + 1024,
                "size": 2 * MIB - 1024,
                "requested_size": 0,
                "state": "inactive",
                "stream": stream.handle,
            },
        ],
    }


def test_drawing(pool: CachingMemoryResource, stream: Stream) -> None:
    assert "<svg" not in pool._repr_html_()
    kept = [pool.allocate(size, stream=stream) for size in (1000, 3 * MIB, 20 * MIB)]
    html = pool._repr_html_()
    assert html.count("<rect") == 5
    assert "1.0 KiB at" in html
    assert f"stream {stream.handle:#x}" in html
    assert len(kept) == 3


@pytest.mark.parametrize(
    ("arguments", "named", "error", "message"),
    [
        ((), {}, TypeError, "upstream"),
        ((None,), {}, TypeError, "must be a MemoryResource, such as .*, not NoneType"),
        (("pool",), {"max_size": 0}, ValueError, "max_size must be positive"),
        (("pool",), {"max_size": -1}, ValueError, "max_size must lie in 0 .."),
        (("pool",), {"max_size": "1"}, TypeError, "max_size"),
        (("pool",), {"max_size": 1 << 64}, OverflowError, "max_size must lie in 0 .."),
        (("pool", 1), {}, TypeError, "CachingMemoryResource"),
    ],
)
def test_wrong_arguments(
    pool: CachingMemoryResource, arguments: Any, named: Any, error: Any, message: str
) -> None:
    given = [pool.upstream if argument == "pool" else argument for argument in arguments]
    with pytest.raises(error, match=message):
        CachingMemoryResource(*given, **named)


def test_wrong_calls(pool: CachingMemoryResource, stream: Stream) -> None:
    for size, error in ((-1, ValueError), ("1", TypeError), (1 << 64, OverflowError)):
        with pytest.raises(error):
            pool.allocate(size, stream=stream)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pool.allocate(1, stream=5)  # type: ignore[arg-type]
    stream.close()
    with pytest.raises(ValueError, match="Stream is closed"):
        pool.allocate(1, stream=stream)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Derived", (CachingMemoryResource,), {})
    assert set(pool.statistics) == {0}


def test_threads(pool: CachingMemoryResource, device: Device) -> None:
    failed: list[str] = []

    def work(number: int) -> None:
        stream = device.create_stream()
        kept: list[tuple[Buffer, int]] = []
        for i in range(150):
            value = (number * 50 + i) % 256
            buffer = pool.allocate(1 + i * 997 % 40_000, stream=stream)
            buffer.fill(value, stream=stream)
            kept.append((buffer, value))
            if len(kept) > 5:
                old, expected = kept.pop(i % 5)
                if set(old.to_host(stream=stream).tolist()) != {expected}:
                    failed.append(f"thread {number}, round {i}")
                old.close()
            if i % 50 == 49:
                stream.sync()
                stream = device.create_stream()
                for buffer, _ in kept:
                    buffer.set_deallocation_stream(stream)
                pool.trim()
        stream.sync()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert pool.statistics.current_count == 0


def test_a_callback_may_free(pool: CachingMemoryResource, stream: Stream) -> None:
    kept = [pool.allocate(MIB, stream=stream)]
    stream.add_callback(kept.clear)
    stream.sync()
    assert pool.statistics.current_count == 0


SETUP = """
    import os
    import cudacore
    device = cudacore.Device()
    device.set_current()
    pool = cudacore.CachingMemoryResource(cudacore.DeviceMemoryResource(device))
    stream = device.create_stream()
    kept = pool.allocate(1 << 20, stream=stream)
    pool.allocate(1 << 20, stream=stream).close()
"""


@pytest.mark.parametrize("nonblocking", [False, True])
def test_a_trim_leaves_captures_alone(device: Device, nonblocking: bool) -> None:
    pool = CachingMemoryResource(DeviceMemoryResource(device))
    with device.create_stream() as ended:
        pool.allocate(MIB, stream=ended).close()
        ended.sync()
    captured = device.create_stream(options={"nonblocking": nonblocking})
    builder = captured.create_graph_builder()
    builder.begin_building()
    pool.trim()
    assert pool.statistics.num_segments == 0
    builder.end_building()


def test_memory_of_a_captured_stream_waits_for_the_capture() -> None:
    script = """
        import cudacore
        device = cudacore.Device()
        device.set_current()
        stream, captured = device.create_stream(), device.create_stream()
        upstream = cudacore.DeviceMemoryResource(device)
        pool = cudacore.CachingMemoryResource(upstream, max_size=2 << 20)
        buffer, kept = (pool.allocate(1 << 20, stream=stream) for _ in range(2))
        builder = captured.create_graph_builder()
        builder.begin_building()
        buffer.close(captured)
        print(cudacore.unraisable_errors())
        pool.trim()
        try:
            pool.allocate(1 << 20, stream=stream)
        except cudacore.OutOfMemoryError:
            print("full")
        builder.end_building()
        pool.allocate(1 << 20, stream=stream).close()
        kept.close()
    """
    result = run(script)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0\nfull\n", "")


def test_a_foreign_stream_that_is_captured_is_refused() -> None:
    script = """
        import threading
        import cudacore
        device = cudacore.Device()
        device.set_current()
        owner, busy = device.create_stream(), device.create_stream()
        foreign = cudacore.Stream.from_handle(owner.handle)
        pool = cudacore.CachingMemoryResource(cudacore.DeviceMemoryResource(device))
        buffer, held = pool.allocate(1 << 10, stream=busy), pool.allocate(1 << 10, stream=busy)
        dropped = pool.allocate(1 << 10, stream=foreign)
        with owner.create_graph_builder():
            try:
                buffer.close(foreign)
            except cudacore.NotSupportedError:
                print(buffer.is_closed)
            del dropped
        print(cudacore.unraisable_errors())
        buffer.close()
        # The pool waits for the context, but not if another thread captures meanwhile.
        gate = threading.Event()
        busy.add_callback(gate.wait)
        held.close()
        trimming = threading.Thread(target=pool.trim)
        trimming.start()
        trimming.join(0.2)
        with owner.create_graph_builder() as builder:
            gate.set()
            trimming.join()
        print(pool.statistics.num_segments)
        pool.trim()
        print(pool.statistics.num_segments)
    """
    result = run(script)
    assert (result.returncode, result.stdout) == (0, "False\n1\n1\n0\n")
    assert "is being captured, and belongs to other code" in result.stderr


@pytest.mark.parametrize("is_out_of_memory", [False, True])
def test_a_wait_leaves_captures_alone_that_begin_meanwhile(
    device: Device, hold: Callable[[Stream], threading.Event], is_out_of_memory: bool
) -> None:
    pool = CachingMemoryResource(DeviceMemoryResource(device), max_size=2 * MIB)
    busy, other, captured = (device.create_stream() for _ in range(3))
    held, freed = pool.allocate(MIB, stream=busy), pool.allocate(MIB, stream=other)
    with captured.create_graph_builder():
        freed.close(captured)
    gate = hold(busy)
    held.close(busy)
    wait = (lambda: pool.allocate(2 * MIB, stream=other)) if is_out_of_memory else pool.trim
    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(0.2)
    with device.create_graph_builder() as builder:
        gate.set()
        waiting.join()
    builder.close()
    assert pool.statistics.num_segments == is_out_of_memory


def test_parts_that_are_closed_on_several_streams(
    pool: CachingMemoryResource, device: Device, hold: Callable[[Stream], threading.Event]
) -> None:
    first, second, third = (device.create_stream() for _ in range(3))
    whole = pool.allocate(MIB, stream=first)
    address = whole.handle
    left, right = whole[: MIB // 2], whole[MIB // 2 :]
    whole.close()
    gate = hold(second)
    left.fill(0xEE, stream=second)
    left.close(second)
    right.close(third)
    buffer = pool.allocate(MIB, stream=third)
    assert buffer.handle == address
    buffer.fill(7, stream=third)
    assert not third.is_done  # it waits for the second
    gate.set()
    assert set(buffer.to_host(stream=third).tolist()) == {7}


def test_a_forked_child_is_refused(device: Device) -> None:
    said = run_cleanly(
        SETUP
        + """
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # the driver has threads
    child = os.fork()
    if child == 0:
        calls = (lambda: pool.allocate(1, stream=stream), lambda: pool.statistics, pool.snapshot)
        refused = 0
        for call in (*calls, pool.trim, pool.close):
            try:
                call()
            except cudacore.ForkedProcessError:
                refused += 1
        kept.close()
        os._exit(refused)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pool.statistics.current_count)
    """
    )
    assert said.split() == ["5", "1"]


@pytest.mark.simulator_only(reason="only the simulated device can be reset")
def test_a_reset_leaves_nothing() -> None:
    said = run_cleanly(
        SETUP
        + """
    cudacore.simulator.reset()
    device.set_current()
    pool = cudacore.CachingMemoryResource(cudacore.DeviceMemoryResource(device))
    with device.create_stream() as stream, pool.allocate(1 << 20, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        print(sum(buffer.to_host(stream=stream).tolist()) == 1 << 20)
    kept.close()
    """
    )
    assert said.split() == ["True"]


@pytest.mark.simulator_only(reason="only the simulated device can be reset")
def test_a_reset_during_an_allocation() -> None:
    said = run_cleanly("""
    import cudacore
    from cudacore import *

    device = Device()
    device.set_current()

    class Resets(DeviceMemoryResource):
        once = True

        def allocate(self, size, *, stream=None):
            if self.once:
                self.once = False
                cudacore.simulator.reset()
                device.set_current()
                pool.trim()
                raise MemoryError
            return super().allocate(size, stream=stream)

    pool = CachingMemoryResource(Resets(device, {}), max_size=64 << 20)
    try:
        pool.allocate(1 << 20, stream=device.create_stream())
    except Exception as error:
        print(isinstance(error, MemoryError) or type(error).__name__)
    print(pool.statistics.reserved_bytes)
    with pool.allocate(1 << 20, stream=device.create_stream()) as buffer:
        print(pool.statistics.reserved_bytes == 2 << 20)
    """)
    assert said.split()[1:] == ["0", "True"]
