# SPDX-License-Identifier: Apache-2.0
"""Host callbacks: Python functions in stream order."""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, DeviceMemoryResource, MemoryResource, Stream
from harness import build, run, run_cleanly


def test_runs_with_its_arguments(stream: Stream) -> None:
    seen: list[tuple[Any, ...]] = []
    stream.add_callback(lambda *args: seen.append(args), 1, "two", None)
    stream.add_callback(seen.append, ())
    stream.sync()
    assert seen == [(1, "two", None), ()]


def test_keeps_the_streams_order(stream: Stream) -> None:
    seen: list[int] = []
    for number in range(100):
        stream.add_callback(seen.append, number)
    stream.sync()
    assert seen == list(range(100))


def test_runs_after_what_is_queued(stream: Stream, gate: Any) -> None:
    done = threading.Event()
    gate.hold(stream)
    stream.add_callback(done.set)
    assert not done.wait(0.1)
    gate.open()
    assert done.wait(10)


def test_later_work_waits_for_it(stream: Stream) -> None:
    held = threading.Event()
    stream.add_callback(held.wait, 20)
    event = stream.record()
    assert not event.is_done
    held.set()
    event.sync()


def test_runs_on_another_thread(stream: Stream) -> None:
    seen: list[int] = []
    stream.add_callback(lambda: seen.append(threading.get_ident()))
    stream.sync()
    assert seen != [threading.get_ident()]


def test_lets_go_of_function_and_arguments(stream: Stream) -> None:
    class Thing:
        def __call__(self, _other: object) -> None:
            pass

    function, argument = Thing(), Thing()
    alive = [weakref.ref(function), weakref.ref(argument)]
    stream.add_callback(function, argument)
    del function, argument
    stream.sync()
    for _ in range(100):
        gc.collect()
        if not any(one() for one in alive):
            break
        threading.Event().wait(0.01)
    assert [one() for one in alive] == [None, None]


def test_returned_value_is_dropped(stream: Stream) -> None:
    stream.add_callback(object)
    stream.sync()


@pytest.mark.parametrize("function", [None, 1, "print"])
def test_what_cannot_be_called_is_refused(stream: Stream, function: Any) -> None:
    with pytest.raises(TypeError, match="call"):
        stream.add_callback(function)


def test_exception_is_reported_and_dropped(device: Device) -> None:
    script = """
        import cudacore
        stream = cudacore.Device().create_stream()
        def bad():
            raise LookupError("mine")
        stream.add_callback(bad)
        stream.sync()
        stream.record().sync()
        print(cudacore.unraisable_errors())
    """
    result = run(script)
    assert (result.returncode, result.stdout) == (0, "1\n")
    assert "LookupError: mine" in result.stderr
    assert "bad" in result.stderr


def test_exception_in_a_graph_is_reported_and_dropped() -> None:
    script = """
        import sys
        import cudacore
        from cudacore.graph import GraphDefinition
        stream = cudacore.Device().create_stream()
        reported, seen = [], []
        sys.unraisablehook = lambda args: reported.append((args.exc_type, args.object))
        def bad():
            raise LookupError
        definition = GraphDefinition()
        definition.callback(bad).succ.add(definition.callback(lambda: seen.append(1)))
        graph = definition.instantiate()
        with stream.create_graph_builder() as builder:
            builder.callback(bad)
            stream.add_callback(bad)
        captured = builder.complete()
        for one in (graph, graph, captured):
            one.launch(stream)
        stream.sync()
        assert reported == [(LookupError, bad)] * 4, reported
        assert seen == [1, 1], seen
        print(cudacore.unraisable_errors())
    """
    result = run(script)
    assert (result.returncode, result.stdout) == (0, "4\n"), result.stderr


def test_cuda_calls_inside_are_refused_in_words(device: Device) -> None:
    script = """
        import cudacore
        device = cudacore.Device()
        stream = device.create_stream()
        def bad():
            try:
                device.create_stream()
            except cudacore.CUDAError as error:
                print(error.name)
        stream.add_callback(bad)
        stream.sync()
    """
    assert run_cleanly(script) == "CUDA_ERROR_NOT_PERMITTED\n"


def test_survives_the_streams_close(device: Device, gate: Any) -> None:
    done = threading.Event()
    stream = device.create_stream()
    gate.hold(stream)
    stream.add_callback(done.set)
    stream.close()
    del stream
    gate.open()
    assert done.wait(10)


def test_many_threads_add(device: Device) -> None:
    seen: list[int] = []
    streams = [device.create_stream() for _ in range(8)]

    def work(stream: Stream, number: int) -> None:
        for _ in range(50):
            stream.add_callback(seen.append, number)
        stream.sync()

    threads = [threading.Thread(target=work, args=(s, n)) for n, s in enumerate(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted(list(range(8)) * 50)


def wait_until(is_so: Callable[[], bool]) -> bool:
    for _ in range(500):
        if is_so():
            return True
        threading.Event().wait(0.01)
    return False


class Counting(MemoryResource):
    """Counts how many buffers are in use."""

    def __init__(self, inner: MemoryResource) -> None:
        super().__init__()
        self.inner = inner
        self.out: dict[int, Buffer] = {}

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        memory = self.inner.allocate(size, stream=stream)
        self.out[memory.handle] = memory
        return Buffer.from_handle(memory.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        assert size
        self.out.pop(ptr).close(stream)

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0


SOURCE = "__global__ void k() {}"

LAST_REFERENCES: dict[str, Callable[[Device, MemoryResource, Stream], Any]] = {
    "buffer": lambda _device, pool, stream: pool.allocate(64, stream=stream),
    "buffer of a resource in Python": lambda _device, pool, stream: Counting(pool).allocate(
        64, stream=stream
    ),
    "stream": lambda device, _pool, _stream: device.create_stream(),
    "event": lambda _device, _pool, stream: stream.record(),
    "kernel": lambda _device, _pool, _stream: build(SOURCE).get_kernel("k"),
    "pool": lambda device, _pool, _stream: DeviceMemoryResource(device, {}),
}


@pytest.mark.parametrize("how", ["drop", "close"])
@pytest.mark.parametrize("kind", LAST_REFERENCES)
def test_lets_go_of_the_last_reference(
    device: Device, stream: Stream, kind: str, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    pool = DeviceMemoryResource(device, {})
    before = cudacore.unraisable_errors()
    held = [LAST_REFERENCES[kind](device, pool, stream)]
    started = threading.Event()

    def callback() -> None:
        started.wait(10)
        one = held.pop()
        if how == "close" and hasattr(one, "close"):
            one.close()

    stream.add_callback(callback)
    started.set()
    stream.sync()
    assert wait_until(lambda: not held and pool.attributes.used_mem_current == 0)
    stream.sync()
    assert cudacore.unraisable_errors() == before
    assert capfd.readouterr().err == ""


def test_many_last_references(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(device, {})
    before = cudacore.unraisable_errors()
    for _ in range(200):
        buffer = pool.allocate(64, stream=stream)
        stream.add_callback(id, buffer)
        del buffer
    stream.sync()
    assert wait_until(lambda: pool.attributes.used_mem_current == 0)
    assert cudacore.unraisable_errors() == before


def test_process_ends_while_things_end(device: Device) -> None:
    script = """
        import cudacore
        device = cudacore.Device()
        stream = device.create_stream()
        for _ in range(50):
            buffer = device.allocate(64, stream=stream)
            stream.add_callback(lambda b=buffer: None)
            del buffer
        stream.sync()
    """
    run_cleanly(script)


@pytest.mark.parametrize("where", ["stream", "graph"])
def test_exceptions_while_the_process_ends(device: Device, where: str) -> None:
    script = """
        import sys
        import cudacore
        device = cudacore.Device()
        device.set_current()
        stream = device.create_stream()
        def divide():
            1 / 0
        if sys.argv[1] == "graph":
            with stream.create_graph_builder() as builder:
                builder.callback(divide)
            graph = builder.complete()
            for i in range(100):
                graph.launch(stream)
        else:
            for i in range(100):
                stream.add_callback(divide)
        print("end", flush=True)
    """
    for _ in range(3):
        result = run(script, where)
        assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr[-2000:]
