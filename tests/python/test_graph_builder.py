# SPDX-License-Identifier: Apache-2.0
"""Graphs that are captured from streams."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, CUDAError, Device, Kernel, Stream, current_stream
from cudacore.graph import GraphBuilder, GraphDefinition, HostCallbackNode, KernelNode
from graph_kernels import is_dropped
from harness import build, run_cleanly

SOURCE = "__global__ void add(int* p, int v) { atomicAdd(p, v); }"
Allocate = Callable[[int], Buffer]


@pytest.fixture(scope="module")
def add(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("add")


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def value(buffer: Buffer) -> int:
    return int.from_bytes(bytes(memoryview(buffer).cast("B")[:4]), "little")


def test_with_captures_launches(
    device: Device, stream: Stream, pinned: Allocate, add: Kernel
) -> None:
    buffer = pinned(4)
    with stream.create_graph_builder() as builder:
        assert builder.is_building
        assert current_stream() == stream == builder.stream
        add[1, 1](buffer, 2)
        add[1, 1, builder](buffer, 3)
    assert not builder.is_building
    assert value(buffer) == 0
    nodes = list(builder.graph_definition.nodes())
    assert [type(node) for node in nodes] == [KernelNode, KernelNode]
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert value(buffer) == 15
    builder.graph_definition.join(*nodes)
    graph = builder.complete()
    graph.update(builder)


def test_split_and_join(device: Device, stream: Stream, pinned: Allocate, add: Kernel) -> None:
    buffer = pinned(4)
    builder = device.create_graph_builder().begin_building()
    add[1, 1, builder](buffer, 1)
    first, second, third = builder.split(3)
    assert first is builder
    assert (first.is_join_required, second.is_join_required) == (False, True)
    for one in (first, second, third):
        add[1, 1, one](buffer, 10)
    assert GraphBuilder.join(third, second, first) is builder
    called: list[int] = []
    builder.callback(lambda: called.append(1))
    graph = builder.end_building().complete()
    (last,) = (node for node in builder.graph_definition.nodes() if not node.succ)
    assert isinstance(last, HostCallbackNode)
    assert len(last.pred) == 3
    graph.launch(stream)
    stream.sync()
    assert (value(buffer), called) == (31, [1])
    with pytest.raises(RuntimeError, match="joined"):
        _ = second.stream


def test_embed(device: Device, stream: Stream, pinned: Allocate, add: Kernel) -> None:
    buffer = pinned(4)
    with device.create_graph_builder() as child:
        add[1, 1](buffer, 2)
    with device.create_graph_builder() as parent:
        add[1, 1](buffer, 1)
        parent.embed(child)
        parent.embed(child.graph_definition)
    graph = parent.complete()
    del child, parent
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert value(buffer) == 5


def test_arguments_of_captured_launches_live(
    device: Device, stream: Stream, pinned: Allocate, add: Kernel
) -> None:
    target = pinned(4)
    source = device.memory_resource.allocate(4, stream=stream)
    source.fill(5, stream=stream)
    with stream.create_graph_builder() as builder:
        add[1, 1](source, 1)
    builder.graph_definition.memcpy(target, source, 4).pred = builder.graph_definition.nodes() - {
        *[n for n in builder.graph_definition.nodes() if not isinstance(n, KernelNode)]
    }
    graph = builder.complete()
    source.close()
    del builder
    gc.collect()
    with device.memory_resource.allocate(4, stream=stream) as other:
        other.fill(9, stream=stream)
        graph.launch(stream)
        stream.sync()
    assert value(target) == 0x05050506


class TestWrongUse:
    def test_two_captures_at_once(self, stream: Stream) -> None:
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(RuntimeError, match="captured already"):
            stream.create_graph_builder().begin_building()
        with pytest.raises(RuntimeError, match="building already"):
            builder.begin_building()
        assert builder.is_building
        builder.end_building()

    def test_after_its_end(self, device: Device) -> None:
        builder = device.create_graph_builder()
        for early in (builder.end_building, builder.complete, lambda: builder.split(2)):
            with pytest.raises(RuntimeError, match=r"building"):
                early()
        builder.begin_building().end_building()
        with pytest.raises(RuntimeError, match="begun building before"):
            builder.begin_building()
        with pytest.raises(RuntimeError, match="not building"):
            builder.callback(print)
        definition = builder.graph_definition
        builder.close()
        builder.close()
        for late in (builder.begin_building, builder.complete, lambda: builder.stream):
            with pytest.raises(RuntimeError, match="closed"):
                late()
        assert definition.is_valid

    def test_while_it_is_building(self, device: Device) -> None:
        with device.create_graph_builder() as builder:
            for early in (builder.complete, lambda: builder.graph_definition):
                with pytest.raises(RuntimeError, match="end_building"):
                    early()

    def test_builders_that_are_not_joined(
        self, device: Device, pinned: Allocate, add: Kernel
    ) -> None:
        builder = device.create_graph_builder().begin_building()
        _, other = builder.split(2)
        with pytest.raises(RuntimeError, match="comes from split"):
            other.end_building()
        with pytest.raises(RuntimeError, match="no graph of its own"):
            _ = other.graph_definition
        add[1, 1, other](pinned(4), 1)
        with pytest.raises(CUDAError, match="cuStreamEndCapture"):
            builder.end_building()
        with pytest.raises(RuntimeError, match="failed; make a new one"):
            _ = builder.is_building

    def test_streams_that_are_not_joined_are_named(self, device: Device, pinned: Allocate) -> None:
        stream, other, third = (device.create_stream() for _ in range(3))
        builder = stream.create_graph_builder().begin_building()
        other.wait(stream)
        third.wait(other.record())
        pinned(4).fill(0, stream=third)
        with pytest.raises(CUDAError) as raised:
            builder.end_building()
        message = str(raised.value)
        addresses = ", ".join(f"stream 0x{int(one.handle):x}" for one in (other, third))
        assert f"; streams that have waited for it: {addresses}: CUDA_ERROR" in message
        assert "stream.wait(other)" in message
        assert "GraphBuilder.join()" in message
        stream.sync()

    def test_waits_for_what_is_not_captured(self, device: Device) -> None:
        stream, other = device.create_stream(), device.create_stream()
        event = other.record()
        with stream.create_graph_builder() as builder:
            with pytest.raises(CUDAError) as raised:
                stream.wait(event)
            assert f", to wait for event 0x{int(event.handle):x}: CUDA_ERROR" in str(raised.value)
            assert "let the other stream wait for this one first" in str(raised.value)
            with pytest.raises(CUDAError, match="to wait for stream 0x") as raised:
                stream.wait(other)
            builder.close()

    def test_waits_for_another_capture(self, device: Device) -> None:
        streams = device.create_stream(), device.create_stream()
        builders = [one.create_graph_builder().begin_building() for one in streams]
        with pytest.raises(CUDAError, match=r"end one.*GraphBuilder.embed"):
            streams[0].wait(streams[1])
        for builder in builders:
            builder.close()

    def test_results_of_captured_events(self, device: Device) -> None:
        stream = device.create_stream()
        builder = stream.create_graph_builder().begin_building()
        event = stream.record()
        with pytest.raises(CUDAError, match="recorded in a capture, and so is part of a graph"):
            event.sync()
        builder.close()

    @pytest.mark.filterwarnings("ignore:this capture has no nodes")
    def test_of_the_default_stream(self, device: Device) -> None:
        for stream in (device.default_stream, cudacore.LEGACY_DEFAULT_STREAM):
            builder = stream.create_graph_builder()
            with pytest.raises(ValueError, match="legacy default stream can't be captured") as said:
                builder.begin_building()
            assert isinstance(said.value, CUDAError)
            assert "device.create_graph_builder()" in str(said.value)
        with cudacore.PER_THREAD_DEFAULT_STREAM.create_graph_builder() as builder:
            pass
        builder.complete()

    def test_joins(self, device: Device) -> None:
        builder = device.create_graph_builder().begin_building()
        stranger = device.create_graph_builder().begin_building()
        for builders in ((builder,), (builder, builder), (builder, stranger)):
            with pytest.raises(ValueError, match="join takes"):
                GraphBuilder.join(*builders)
        with pytest.raises(TypeError, match="GraphBuilder"):
            GraphBuilder.join(builder, device.default_stream)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="at least 2"):
            builder.split(1)
        stranger.close()
        builder.close()

    def test_invalidated_capture_says_by_which_call(self, stream: Stream) -> None:
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(CUDAError):
            stream.sync()
        with pytest.raises(RuntimeError, match=r"invalidated, by this call: cuStream"):
            _ = builder.is_building
        with pytest.raises(RuntimeError, match=r"invalidated, by this call: cuStream"):
            builder.callback(print)
        with pytest.raises(CUDAError, match=r"cuStreamEndCapture.*by this call: cuStream"):
            builder.end_building()
        stream.sync()

    def test_capture_of_another_thread(self, stream: Stream) -> None:
        builder = stream.create_graph_builder()
        worker = threading.Thread(target=lambda: builder.begin_building("thread_local"))
        worker.start()
        worker.join()
        with pytest.raises(CUDAError, match="WRONG_THREAD"):
            builder.end_building()
        stream.sync()

    def test_arguments(self, device: Device) -> None:
        with pytest.raises(ValueError, match="relaxed"):
            device.create_graph_builder().begin_building("loose")
        with pytest.raises(TypeError, match="create_graph_builder"):
            GraphBuilder()
        with device.create_graph_builder() as builder:
            with pytest.raises(TypeError, match="GraphBuilder"):
                builder.embed(3)  # type: ignore[arg-type]
            builder.embed(GraphDefinition())

    def test_error_in_the_block_drops_the_capture(self, stream: Stream) -> None:
        with pytest.raises(KeyError), stream.create_graph_builder():
            raise KeyError
        stream.sync()
        builder = stream.create_graph_builder().begin_building()
        with pytest.warns(ResourceWarning, match="dropped while building"):
            del builder
        gc.collect()
        stream.sync()


def test_captured_copies_keep_their_buffers(
    device: Device, stream: Stream, pinned: Allocate
) -> None:
    target = pinned(4)
    source = device.memory_resource.allocate(4, stream=stream)
    with stream.create_graph_builder() as builder:
        source.fill(6)
        target.copy_from(source)
    graph = builder.complete()
    address = source.handle
    source.close()
    del builder
    with device.memory_resource.allocate(4, stream=stream) as other:
        assert other.handle != address
        graph.launch(stream)
        stream.sync()
    assert value(target) == 0x06060606


def test_blocks_end_what_was_begun(device: Device, pinned: Allocate, add: Kernel) -> None:
    buffer = pinned(4)
    with device.create_graph_builder().begin_building("global") as builder:
        first, second = builder.split(2)
        with second:
            add[1, 1](buffer, 1)
        assert second.is_building
        GraphBuilder.join(first, second)
    assert len(builder.graph_definition.nodes()) == 1


def test_builders_are_streams_of_their_own(device: Device, stream: Stream) -> None:
    with stream.create_graph_builder() as builder:
        assert builder.__cuda_stream__() == stream.__cuda_stream__()
        assert builder == builder  # noqa: PLR0124
        assert builder != stream.create_graph_builder()
        assert len({builder, stream.create_graph_builder()}) == 2
    assert repr(builder).startswith("<GraphBuilder")


def test_priorities_become_those_of_nodes(device: Device, pinned: Allocate, add: Kernel) -> None:
    urgent = device.create_stream(options={"priority": -2})
    buffer = pinned(4)
    with urgent.create_graph_builder() as builder:
        add[1, 1](buffer, 1)
        first, second = builder.split(2)
        assert second.stream.priority == -2
        GraphBuilder.join(first, second)
    (node,) = builder.graph_definition.nodes()
    assert isinstance(node, KernelNode)
    assert node.config.priority == -2


@pytest.mark.parametrize("maker", ["device", "device.create_stream()"])
def test_builders_of_a_process_that_names_no_class(maker: str) -> None:
    script = f"""
        import cudacore
        device = cudacore.Device()
        device.set_current()
        print({maker}.create_graph_builder().is_building)
    """
    assert run_cleanly(script) == "False\n"


class Series:
    """As those of pandas: the array is made when it is asked for."""

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        return np.full(64, 5, np.uint8)


class TestHostMemoryOfCapturedCopies:
    def test_of_arrays_made_for_the_copy(self, device: Device, stream: Stream) -> None:
        target = device.allocate(64, stream=stream)
        with stream.create_graph_builder() as builder:
            target.copy_from(Series(), stream=builder)
        graph = builder.complete()
        others = [np.full(64, 238, np.uint8) for _ in range(1000)]
        graph.launch(stream)
        assert target.to_host(stream=stream).tolist() == [5] * 64
        assert len(others) == 1000

    @pytest.mark.parametrize("is_source", [True, False])
    def test_stays_where_it_is(self, device: Device, stream: Stream, is_source: bool) -> None:
        buffer, memory = device.allocate(64, stream=stream), bytearray(b"\5" * 64)
        buffer.fill(7, stream=stream)
        with stream.create_graph_builder() as builder:
            if is_source:
                buffer.copy_from(memory, stream=builder)
            else:
                buffer.copy_to(memory, stream=builder)
        graph = builder.complete()
        builder.close()
        with pytest.raises(BufferError):
            memory.clear()
        graph.launch(stream)
        stream.sync()
        assert memory == bytes([5 if is_source else 7]) * 64
        graph.close()
        del graph, builder
        gc.collect()
        assert is_dropped(lambda: None if is_resizable(memory) else memory)


def is_resizable(memory: bytearray) -> bool:
    try:
        memory.clear()
    except BufferError:
        return False
    return True
