# SPDX-License-Identifier: Apache-2.0
"""How long graphs keep what they use: as long as they, or anything made from them, may run."""

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable

import cudacore
import pytest
from cudacore import Device, Stream
from cudacore.graph import GraphDefinition
from graph_kernels import SHAPE, SOURCE, Allocate, current, is_dropped, values
from harness import build

__all__ = ["current"]  # a fixture


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Collecting what earlier tests left may wait for the device, and so for a callback."""
    gc.collect()


class Call:
    """What a callback does: it waits until it may go on. Graphs keep it."""

    def __init__(self) -> None:
        self.started, self.go = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.started.set()
        assert self.go.wait(30)


def go_on(call: Call) -> tuple[Callable[[], object], threading.Event, threading.Event]:
    """Return what is left of a call whose last reference the caller drops."""
    return weakref.ref(call), call.started, call.go


def test_arguments_live_as_long_as_a_graph_uses_them(
    stream: Stream, device: Device, pinned: Allocate
) -> None:
    target = pinned(16)
    source = device.memory_resource.allocate(16)
    source.fill(5)
    kernel = build(SOURCE).get_kernel("add")
    definition = GraphDefinition()
    definition.launch(SHAPE, kernel, source, 1).memcpy(target, source, 16)
    outer = GraphDefinition()
    outer.embed(definition)
    graph = outer.instantiate()
    source.close()
    del definition, outer, kernel
    gc.collect()
    with device.memory_resource.allocate(16) as other:
        other.fill(9)
        graph.launch(stream)
        stream.sync()
    assert values(target) == [0x05050506] * 4


def test_callbacks_live_until_the_last_graph_has_run(stream: Stream) -> None:
    started, go = threading.Event(), threading.Event()
    done: list[int] = []

    def call() -> None:
        started.set()
        go.wait(30)
        done.append(1)

    ended = weakref.ref(call)
    definition = GraphDefinition()
    definition.callback(call)
    graph = definition.instantiate()
    del definition, call
    graph.launch(stream)
    assert started.wait(30)
    graph.close()
    gc.collect()
    assert ended() is not None
    go.set()
    stream.sync()
    assert done == [1]
    assert is_dropped(ended)


def test_other_objects_are_kept(pinned: Allocate) -> None:
    class Owner:
        pass

    owner = Owner()
    ended = weakref.ref(owner)
    buffer = pinned(16)
    definition = GraphDefinition()
    definition.memset(buffer.handle, 0, 16, dst_owner=owner)
    graph = definition.instantiate()
    del owner, definition
    gc.collect()
    assert ended() is not None
    graph.close()
    assert is_dropped(ended)


def test_child_graphs_keep_what_they_were_made_with() -> None:
    call = Call()
    ended, _, go = go_on(call)
    go.set()
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.callback(call)
    node = outer.embed(inner)
    del call, inner
    gc.collect()
    graph = outer.instantiate()
    node.destroy()
    del node, outer
    gc.collect()
    assert ended() is not None
    graph.close()
    assert is_dropped(ended)


def test_branches_let_go_of_what_they_used_with_their_node() -> None:
    call = Call()
    ended, _, _ = go_on(call)
    definition = GraphDefinition()
    node = definition.if_then(definition.create_condition(1))
    node.then.callback(call)
    del call
    gc.collect()
    assert ended() is not None
    node.destroy()
    assert is_dropped(ended)


@pytest.mark.parametrize("whole", [False, True])
def test_what_an_update_replaces_is_kept_while_it_runs(stream: Stream, whole: bool) -> None:
    """Two updates, since the first replaces what the definition keeps."""
    first, second, third = Call(), Call(), Call()
    third.go.set()
    ended, started, go = go_on(second)
    definitions = [GraphDefinition() for _ in range(3)]
    nodes = [
        definition.callback(call)
        for definition, call in zip(definitions, (first, second, third), strict=True)
    ]
    graph = definitions[0].instantiate()

    def update(definition: GraphDefinition, call: Call) -> None:
        if whole:
            graph.update(definition)
        else:
            graph[nodes[0]].update(call)

    update(definitions[1], second)
    graph.launch(stream)
    assert started.wait(30)
    update(definitions[-1], third)
    del second, nodes[1], definitions[1]
    gc.collect()
    assert ended() is not None
    go.set()
    graph.launch(stream)
    stream.sync()
    assert third.started.is_set()
    update(definitions[-1], third)
    assert is_dropped(ended)


def test_a_graph_outlives_its_stream(device: Device) -> None:
    call = Call()
    ended, started, go = go_on(call)
    definition = GraphDefinition()
    definition.callback(call)
    graph = definition.instantiate()
    del call, definition
    stream = device.create_stream()
    graph.launch(stream)
    assert started.wait(30)
    stream.close()
    graph.close()
    gc.collect()
    assert ended() is not None
    go.set()
    assert is_dropped(ended)


def test_streams_of_others_may_end_before_the_graph(device: Device) -> None:
    call = Call()
    ended, started, go = go_on(call)
    definition = GraphDefinition()
    definition.callback(call)
    graph = definition.instantiate()
    del call, definition
    owner = device.create_stream()
    graph.launch(Stream.from_handle(int(owner.handle)))
    assert started.wait(30)
    owner.close()
    graph.close()
    gc.collect()
    assert ended() is not None
    go.set()
    assert is_dropped(ended)


def test_a_graph_is_closed_while_its_stream_is_captured(device: Device, stream: Stream) -> None:
    call = Call()
    ended, started, go = go_on(call)
    definition = GraphDefinition()
    definition.callback(call)
    graph = definition.instantiate()
    del call, definition
    graph.launch(stream)
    assert started.wait(30)
    with stream.create_graph_builder() as builder:
        graph.close()
        gc.collect()
        assert ended() is not None
        go.set()
    assert is_dropped(ended)
    assert len(builder.graph_definition.nodes()) == 0


def test_other_code_may_work_with_a_definition(device: Device, stream: Stream) -> None:
    device.sync()
    simulated = cudacore.simulator.is_enabled()
    driver = ctypes.CDLL(cudacore.simulator.library() if simulated else "libcuda.so.1")
    calls = [Call(), Call()]
    for call in calls:
        call.go.set()
    ended = [weakref.ref(call) for call in calls]
    started = [call.started for call in calls]
    definition = GraphDefinition()
    definition.callback(calls[0])
    handle = ctypes.c_void_p(int(definition.handle))
    definition.callback(calls[1])
    theirs = ctypes.c_void_p()
    instantiate = driver.cuGraphInstantiateWithFlags
    assert instantiate(ctypes.byref(theirs), handle, ctypes.c_ulonglong(0)) == 0
    del definition, calls, call
    gc.collect()
    assert driver.cuGraphLaunch(theirs, ctypes.c_void_p(int(stream.handle))) == 0
    stream.sync()
    assert all(event.is_set() for event in started)
    assert all(reference() is not None for reference in ended)
    assert driver.cuGraphExecDestroy(theirs) == 0
    assert all(is_dropped(reference) for reference in ended)
