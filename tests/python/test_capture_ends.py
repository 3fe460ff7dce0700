# SPDX-License-Identifier: Apache-2.0
"""What ends while a stream is captured, and what other threads and graphs hold back meanwhile."""

import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    CachingMemoryResource,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    Stream,
    SynchronousMemoryResource,
    VirtualMemoryResource,
)
from cudacore.graph import GraphDefinition
from cudacore.texture import OpaqueArrayOptions, ResourceDescriptor
from harness import run_cleanly
from recorded_kernels import COUNT, Kernels, current, kernels, new, record

__all__ = ["current", "kernels"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore:this capture has no nodes")


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait until another thread has done something."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.01)
    return False


class TestRelease:
    """Memory whose release would be part of a capture is released behind it."""

    @pytest.fixture
    def pool(self, device: Device) -> DeviceMemoryResource:
        return DeviceMemoryResource(device, {"max_size": 1 << 24})

    @pytest.mark.parametrize("how", ["close", "close on the stream", "collect"])
    def test_of_a_pool(self, pool: DeviceMemoryResource, stream: Stream, how: str) -> None:
        errors = cudacore.unraisable_errors()
        buffer = pool.allocate(1 << 20, stream=stream)
        used = pool.attributes.used_mem_current
        builder = stream.create_graph_builder()
        builder.begin_building()
        if how == "collect":
            del buffer
            gc.collect()
        else:
            buffer.close(stream if how != "close" else None)
        assert pool.attributes.used_mem_current == used
        graph = builder.end_building().complete()
        graph.launch(stream)
        assert comes_true(lambda: stream.sync() is None and pool.attributes.used_mem_current < used)
        assert cudacore.unraisable_errors() == errors

    @pytest.mark.parametrize("captured", [0, 1])
    def test_of_shared_memory(
        self, pool: DeviceMemoryResource, device: Device, captured: int
    ) -> None:
        errors = cudacore.unraisable_errors()
        streams = device.create_stream(), device.create_stream()
        whole = pool.allocate(1 << 20, stream=streams[0])
        part = whole[:64]
        used = pool.attributes.used_mem_current
        builder = streams[captured].create_graph_builder()
        builder.begin_building()
        part.close(streams[1])
        whole.close()
        assert pool.attributes.used_mem_current == used
        builder.end_building().complete()
        assert comes_true(lambda: device.sync() is None and pool.attributes.used_mem_current < used)
        assert cudacore.unraisable_errors() == errors


def unpooled(device: Device) -> list[object]:
    resources = (
        SynchronousMemoryResource(device),
        LegacyPinnedMemoryResource(),
        VirtualMemoryResource(device),
    )
    return [resource.allocate(4096) for resource in resources]


def cached(device: Device) -> object:
    """A pool whose free memory was used on a stream that has ended."""
    pool = CachingMemoryResource(SynchronousMemoryResource(device))
    with device.create_stream() as stream:
        buffer = pool.allocate(4096, stream=stream)
        buffer.fill(1, stream=stream)
        buffer.close()
    return pool


def objects(device: Device) -> list[object]:
    definition = GraphDefinition()
    definition.callback(print)
    stream = device.create_stream()
    array = device.create_opaque_array(OpaqueArrayOptions((8, 4), "uint32", 1))
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array))
    return [definition.instantiate(), definition, stream.record(), stream, texture, array]


@pytest.mark.parametrize("make", [unpooled, cached, objects])
@pytest.mark.parametrize("where", ["in the thread", "in another thread"])
def test_what_is_collected_leaves_captures_alone(
    device: Device, make: Callable[[Device], object], where: str
) -> None:
    errors = cudacore.unraisable_errors()
    garbage = [make(device)]
    device.sync()

    def collect() -> None:
        garbage.clear()
        gc.collect()

    builder = device.create_stream().create_graph_builder()
    builder.begin_building("global")
    if where == "in the thread":
        collect()
    else:
        thread = threading.Thread(target=collect)
        thread.start()
        thread.join()
    builder.end_building().complete()
    assert cudacore.unraisable_errors() == errors


def test_a_long_graph_holds_back_nothing_else(device: Device) -> None:
    ended: list[str] = []

    class Callback:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self) -> None: ...

        def __del__(self) -> None:
            ended.append(self.name)

    def run(name: str, stream: Stream) -> None:
        definition = GraphDefinition()
        definition.callback(Callback(name))
        graph = definition.instantiate()
        graph.launch(stream)
        graph.close()

    long, short = device.create_stream(), device.create_stream()
    word = LegacyPinnedMemoryResource().allocate(4)
    word.fill(0, stream=short)
    short.sync()
    long.wait_value(word, 1)
    run("long", long)
    run("short", short)
    gc.collect()
    assert comes_true(lambda: "short" in ended)
    assert "long" not in ended
    short.write_value(word, 1)
    assert comes_true(lambda: "long" in ended)


def test_a_builder_is_looked_at_while_it_ends() -> None:
    """What a failed capture kept ends with the GIL, for which another thread must not wait."""
    run_cleanly("""
import sys, threading
import cudacore
device = cudacore.Device()
device.set_current()
sys.setswitchinterval(1e-6)
buffer = device.allocate(64)
looked_at = None
is_over = False
class Callback:
    def __call__(self): pass
    def __del__(self): sum(range(100))
def look():
    while not is_over:
        repr(looked_at)
threads = [threading.Thread(target=look) for _ in range(2)]
for thread in threads:
    thread.start()
failed = 0
for i in range(300):
    stream, other = device.create_stream(), device.create_stream()
    looked_at = builder = stream.create_graph_builder().begin_building()
    for _ in range(5):
        stream.add_callback(Callback())
    other.wait(stream)
    buffer.fill(0, stream=other)
    if i % 2:
        builder.close()
        continue
    try:
        builder.end_building()
    except cudacore.CUDAError:  # nothing waits for the other stream
        failed += 1
is_over = True
for thread in threads:
    thread.join()
assert failed == 150
""")


def test_the_collector_waits_for_a_recording(device: Device, kernels: Kernels) -> None:
    x, other = new(device), new(device)

    class Garbage:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            kernels["add"][1, COUNT](other, 1)

    @record
    def step(x: Any) -> None:
        for _ in range(5000):  # the collector would run
            [[]].append([])
        kernels["add"][1, COUNT](x, 1)

    before = gc.get_threshold()
    Garbage()
    gc.set_threshold(1)
    try:
        step(x)
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
    assert step.recordings[0].nodes == 1


@pytest.mark.parametrize("how", ["launch", "fill", "copy"])
def test_other_threads_use_no_stand_ins(device: Device, kernels: Kernels, how: str) -> None:
    other = new(device)
    said = SimpleNamespace(text="")

    def work(x: Buffer) -> None:
        device.set_current()
        try:
            if how == "launch":
                kernels["add"][1, COUNT](x, 1)
            elif how == "fill":
                x.fill(1)
            else:
                other.copy_from(x)
        except cudacore.NotSupportedError as error:
            said.text += str(error)

    with ThreadPoolExecutor(1) as pool:

        @record
        def step(x: Buffer) -> None:
            pool.submit(work, x).result()
            x.fill(0)

        step(new(device))
    assert said.text.count("step is being recorded, and an argument of it is used on") == 1


def test_stand_ins_are_not_compared(device: Device) -> None:
    other = new(device)

    @record
    def compares(x: Buffer) -> None:
        if x == other:
            x.fill(0)

    @record
    def looks_up(x: Buffer) -> None:
        {other: 1}.get(x)

    @record
    def the_same(x: Buffer) -> None:
        assert x == x  # noqa: PLR0124
        x.fill(0)

    @record
    def both(x: Buffer, y: Buffer) -> None:
        assert x != y
        y.fill(0)

    for function in (compares, looks_up):
        with pytest.raises(cudacore.NotSupportedError, match="compared or hashed"):
            function(other)
    the_same(other)
    both(new(device), other)
