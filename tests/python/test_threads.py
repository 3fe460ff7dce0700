# SPDX-License-Identifier: Apache-2.0
"""Any object from any thread, without any set_current."""

import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import cudacore
import pytest
from cudacore import Device, Kernel, LaunchConfig, Stream, launch
from harness import build, run_cleanly

THREADS = 16
ROUNDS = 200


@pytest.fixture(scope="module")
def add(device: Device) -> Kernel:
    return build("__global__ void add(int* p, int n) { atomicAdd(p, n); }").get_kernel("add")


def in_threads(work: Callable[[int], object], count: int = THREADS) -> None:
    """Run work(0) … work(count - 1) at once; any exception fails the test."""
    barrier = threading.Barrier(count)

    def run_one(index: int) -> None:
        barrier.wait()
        work(index)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run_one, range(count)))


def total(buffer: cudacore.Buffer, stream: Stream) -> int:
    host = bytearray(4)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return int.from_bytes(host, "little", signed=True)


def test_one_kernel_on_one_stream(device: Device, stream: Stream, add: Kernel) -> None:
    buffer = device.allocate(4, stream=stream)
    buffer.fill(0, stream=stream)
    stream.sync()
    in_threads(lambda index: [add[1, 1, stream](buffer, index) for _ in range(ROUNDS)])
    assert total(buffer, stream) == ROUNDS * sum(range(THREADS))


def test_one_bound_launcher(device: Device, stream: Stream, add: Kernel) -> None:
    buffer = device.allocate(4, stream=stream)
    buffer.fill(0, stream=stream)
    stream.sync()
    bound = add[1, 1, stream]
    in_threads(lambda _: [bound(buffer, 1) for _ in range(ROUNDS)])
    assert total(buffer, stream) == ROUNDS * THREADS


def test_everything_of_ones_own(device: Device, add: Kernel) -> None:
    def work(index: int) -> None:
        for _ in range(20):
            stream = device.create_stream()
            with device.allocate(4, stream=stream) as buffer:
                buffer.fill(0, stream=stream)
                launch(stream, LaunchConfig(grid=2, block=32), add, buffer, index)
                assert total(buffer, stream) == 64 * index
            stream.record().sync()

    in_threads(work)


def test_objects_made_here_die_there(device: Device) -> None:
    streams = [device.create_stream() for _ in range(THREADS)]
    buffers = [device.allocate(1024, stream=stream) for stream in streams]
    events = [stream.record() for stream in streams]

    def work(index: int) -> None:
        buffers[index].close()
        events[index].close()
        streams[index].close()

    in_threads(work)
    device.sync()
    assert cudacore.unraisable_errors() == 0


def test_closing_one_object_from_all_threads(device: Device) -> None:
    for _ in range(50):
        buffer, stream = device.allocate(64), device.create_stream()
        in_threads(lambda _, b=buffer, s=stream: (b.close(), s.close()), 4)  # type: ignore[misc]
        assert buffer.is_closed
        assert stream.is_closed


def test_use_and_close_race_to_a_value_error_at_worst(device: Device, stream: Stream) -> None:
    for _ in range(50):
        buffer = device.allocate(1024, stream=stream)

        def work(index: int, buffer: cudacore.Buffer = buffer) -> None:
            try:
                buffer.close() if index == 0 else buffer.fill(index, stream=stream)
            except ValueError as error:
                assert "closed" in str(error)  # noqa: PT017

        in_threads(work, 4)
    stream.sync()


def test_compile_load_and_launch(device: Device) -> None:
    def work(index: int) -> None:
        kernel = build(f"__global__ void k(int* p) {{ *p = {index}; }}").get_kernel("k")
        stream = device.create_stream()
        with device.allocate(4, stream=stream) as buffer:
            kernel[1, 1, stream](buffer)
            assert total(buffer, stream) == index

    in_threads(work, 8)


def test_first_use_of_one_kernel_from_all_threads(device: Device, stream: Stream) -> None:
    for _ in range(5):
        code = build("__global__ void k(int* p) { atomicAdd(p, 1); }")
        buffer = device.allocate(4, stream=stream)
        buffer.fill(0, stream=stream)
        stream.sync()

        def work(_index: int, code: cudacore.ObjectCode = code,
                 buffer: cudacore.Buffer = buffer) -> None:  # fmt: skip
            code.get_kernel("k")[1, 1, stream](buffer)

        in_threads(work)
        assert total(buffer, stream) == THREADS


def test_waiting_lets_other_threads_run(stream: Stream, gate: object) -> None:
    # If sync() held the GIL, the thread that opens the gate could never run.
    gate.hold(stream)  # type: ignore[attr-defined]
    threading.Timer(0.05, gate.open).start()  # type: ignore[attr-defined]
    stream.sync()
    assert stream.is_done


def test_full_queue_behind_a_callback_is_no_deadlock(device: Device, add: Kernel) -> None:
    stream = device.create_stream()
    buffer = device.allocate(4, stream=stream)
    buffer.fill(0, stream=stream)
    opened = threading.Event()
    stream.add_callback(opened.wait, 20)
    threading.Timer(0.5, opened.set).start()
    for _ in range(5000):
        add[1, 1, stream](buffer, 1)
    assert total(buffer, stream) == 5000


def test_collector_may_run_anywhere(device: Device) -> None:
    before = cudacore.unraisable_errors()

    def work(index: int) -> None:
        for _ in range(50):
            ring: list[object] = [device.allocate(64), device.create_stream()]
            ring.append(ring)
            if index == 0:
                gc.collect()

    in_threads(work)
    gc.collect()
    assert cudacore.unraisable_errors() == before


@pytest.mark.multi_gpu
def test_threads_on_two_devices(device: Device, add: Kernel) -> None:
    devices = [device, Device(1)]

    def work(index: int) -> None:
        own = devices[index % 2]
        stream = own.create_stream()
        with own.allocate(4, stream=stream) as buffer:
            for _ in range(50):
                buffer.fill(0, stream=stream)
                add[1, 1, stream](buffer, index)
                assert total(buffer, stream) == index

    in_threads(work)


def test_first_call_of_a_process_from_many_threads(device: Device) -> None:
    script = """
        import threading, cudacore
        barrier, seen = threading.Barrier(8), []
        def work():
            barrier.wait()
            seen.append(cudacore.Device().create_stream().device.device_id)
        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(seen)
    """
    assert run_cleanly(script) == f"{[0] * 8}\n"
