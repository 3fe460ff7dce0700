# SPDX-License-Identifier: Apache-2.0
"""What graphs, their nodes and builders show of themselves, and say about wrong calls."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import Device, GraphMemoryResource, Kernel, Stream, launch
from cudacore.graph import (
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    GraphDefinition,
    MemsetNode,
)
from graph_kernels import SHAPE, Allocate, add, current, kernels, values

__all__ = ["add", "current", "kernels"]  # fixtures


def message(call: Callable[[], object], error: type[BaseException] = TypeError) -> str:
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


class TestLaunch:
    def test_on_the_current_stream(
        self, device: Device, stream: Stream, pinned: Allocate, add: Kernel
    ) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        definition.launch(SHAPE, add, buffer, 1)
        graph = definition.instantiate()
        graph.upload()
        graph.launch()
        device.sync()
        with stream:
            graph.upload()
            graph.launch()
            graph.launch(None)
            stream.sync()
        assert values(buffer) == [3] * 4

    def test_what_is_missing_is_named(self, device: Device) -> None:
        with device.allocate(16) as buffer:
            assert message(buffer.fill) == "Buffer.fill needs the argument 'value'"  # type: ignore[arg-type]
            assert message(buffer.copy_from) == "Buffer.copy_from needs the argument 'src'"  # type: ignore[arg-type]
            call: Any = buffer.fill
            assert message(lambda: call(stream=None)) == "Buffer.fill needs the argument 'value'"
        allocate: Any = device.memory_resource.allocate
        assert message(allocate) == "MemoryResource.allocate needs the argument 'size'"


class TestBuilder:
    def test_that_is_not_building_queues_nothing(
        self, device: Device, stream: Stream, pinned: Allocate, add: Kernel
    ) -> None:
        buffer = pinned(16)
        builder = stream.create_graph_builder()

        def uses() -> list[Callable[[], object]]:
            return [
                lambda: launch(builder, SHAPE, add, buffer, 1),
                lambda: add[1, 4, builder],
                lambda: buffer.fill(1, stream=builder),
            ]

        for use in uses():
            assert "not building: begin_building()" in message(use, RuntimeError)
        with builder:
            launch(builder, SHAPE, add, buffer, 1)
        for use in uses():
            assert "not building: its graph is complete" in message(use, RuntimeError)
        stream.sync()
        assert values(buffer) == [0] * 4
        builder.complete().launch(stream)
        stream.sync()
        assert values(buffer) == [1] * 4

    def test_whose_capture_failed(self, stream: Stream) -> None:
        builder = stream.create_graph_builder().begin_building()
        assert "building, at" in repr(builder)
        with pytest.raises(cudacore.CUDAError, match="after its `with` block"):
            stream.sync()
        with pytest.raises(cudacore.CUDAError, match=r"by this call: cuStream"):
            builder.end_building()
        assert repr(builder).startswith("<GraphBuilder, failed, at 0x")
        for late in (builder.complete, builder.begin_building, lambda: builder.stream):
            text = message(late, RuntimeError)
            assert text == "the capture of this GraphBuilder failed; make a new one"
        builder.close()
        assert "closed" in repr(builder)

    def test_shows_its_state(self, device: Device) -> None:
        builder = device.create_graph_builder()
        assert repr(builder).startswith("<GraphBuilder, not begun, at 0x")
        with builder:
            assert repr(builder).startswith("<GraphBuilder, building, at 0x")
        assert repr(builder).startswith("<GraphBuilder, built, at 0x")


class TestOptions:
    def test_are_mappings_too(self, device: Device, stream: Stream, tmp_path: Any) -> None:
        definition = GraphDefinition()
        memory = definition.allocate(64)
        assert memory.dptr
        graph = definition.instantiate({"auto_free_on_launch": True, "upload_stream": stream})
        graph.launch(stream)
        graph.launch(stream)
        stream.sync()
        definition.debug_dot_print(tmp_path / "graph.dot", {"verbose": True})
        assert "digraph" in definition.to_dot({"handles": True})
        with device.create_graph_builder() as builder:
            builder.callback(lambda: None)
        builder.complete({"use_node_priority": True}).close()

    def test_have_no_other_fields(self, device: Device) -> None:
        definition = GraphDefinition()
        text = message(lambda: definition.instantiate({"auto_free": True}))
        assert text == (
            "GraphCompleteOptions has no field 'auto_free'; did you mean 'auto_free_on_launch'?"
        )
        text = message(lambda: definition.to_dot({"xyz": True}))
        assert text == "GraphDebugPrintOptions has no field 'xyz'"
        with device.create_graph_builder() as builder:
            builder.callback(lambda: None)
        text = message(lambda: builder.complete({"device_launsh": True}))
        assert text.endswith("did you mean 'device_launch'?")
        array = device.create_opaque_array({"shape": (4,), "format": "float32", "num_channels": 1})
        create: Any = device.create_texture_object
        resource = cudacore.texture.ResourceDescriptor.from_opaque_array(array)
        text = message(lambda: create(resource=resource, options={"adress_mode": "wrap"}))
        assert text == (
            "TextureObjectOptions has no field 'adress_mode'; did you mean 'address_mode'?"
        )

    def test_are_of_their_types(self) -> None:
        definition = GraphDefinition()
        wrong: Any = GraphCompleteOptions(device_launch=1)  # type: ignore[arg-type]
        text = message(lambda: definition.instantiate(wrong))
        assert text == "GraphCompleteOptions.device_launch must be a bool, not int"
        wrong = GraphDebugPrintOptions(handles="no")  # type: ignore[arg-type]
        text = message(lambda: definition.to_dot(wrong))
        assert text == "GraphDebugPrintOptions.handles must be a bool, not str"
        wrong = GraphDebugPrintOptions()
        text = message(lambda: definition.instantiate(wrong))
        assert "must be GraphCompleteOptions, a mapping of its fields, or None" in text


class TestWrongCalls:
    def test_updates_take_names(self, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        definition = GraphDefinition()
        node = definition.launch(SHAPE, add, buffer, 1)
        view: Any = definition.instantiate()[node]
        assert message(lambda: view.update(args=buffer)) == (
            "args must be a tuple of the kernel's arguments, not Buffer"
        )
        assert message(lambda: view.update(SHAPE)).startswith("KernelNode.update() takes 1 pos")
        assert "KernelNode.update() got an unex" in message(lambda: view.update(argument=1))
        fill = definition.memset(buffer, 0, 16)
        again: Any = definition.instantiate()[fill]
        assert "MemsetNode.update() got an unex" in message(lambda: again.update(size=1))

    def test_private_names_are_not_said(self, device: Device) -> None:
        definition: Any = GraphDefinition()
        node: Any = definition.empty()
        graph: Any = cudacore.graph
        assert "GraphDefinition.launch() missing" in message(definition.launch)
        assert "GraphNode.launch() missing" in message(node.launch)
        assert message(lambda: graph(1, 2)).startswith("cudacore.graph() takes from 1 to 2")
        resource: Any = GraphMemoryResource
        assert message(resource) == "GraphMemoryResource needs the argument 'device_id'"
        for shown in (definition, node):
            for change in (pickle.dumps, copy.copy, copy.deepcopy):
                text = message(lambda change=change, shown=shown: change(shown))  # type: ignore[misc]
                assert text.startswith(f"a {type(shown).__name__} can be neither pickled nor")

    def test_neighbors_are_sets(self) -> None:
        definition = GraphDefinition()
        first: Any = definition.empty()
        second: Any = definition.empty()
        for name in ("pred", "succ"):
            text = message(lambda name=name: setattr(second, name, first))  # type: ignore[misc]
            assert text == f"{name} is a set of nodes: node.{name} = [other]"
        second.pred = [first]
        assert definition.edges() == {(first, second)}


def test_graphs_show_what_they_have(device: Device, pinned: Allocate, add: Kernel) -> None:
    definition = GraphDefinition()
    assert repr(definition).startswith("<GraphDefinition of 0 nodes at 0x")
    node = definition.launch(SHAPE, add, pinned(16), 1)
    assert repr(node) == f"<KernelNode add at 0x{node.handle:x}>"
    assert repr(definition).startswith("<GraphDefinition of 1 node at 0x")
    assert repr(definition.nodes()) == f"{{{node!r}}}"
    assert repr(definition.instantiate()) == "<Graph: graph of 1 node>"
    other = node.empty() if hasattr(node, "empty") else node.join()
    assert repr(definition.edges()) == f"{{({node!r}, {other!r})}}"
    assert definition.nodes() == {node, other}
    assert {node, other} == definition.nodes()
    assert definition.nodes() - {node} == {other}
    assert definition.nodes() | {node} == {node, other}
    assert list(definition.nodes()) == [node, other]
    node.destroy()
    assert repr(node) == "<KernelNode, destroyed>"
    child = definition.embed(GraphDefinition()).child_graph
    assert "of 0 nodes" in repr(child)
    next(iter(node for node in definition.nodes() if node.type == 4)).destroy()
    assert "destroyed" in repr(child)


def test_captured_nodes_are_updated(device: Device, stream: Stream, pinned: Allocate) -> None:
    source, target = pinned(16), pinned(16)
    source.copy_from(bytes(range(16)))
    with stream.create_graph_builder() as builder:
        target.fill(7)
        target.copy_from(source)
    definition = builder.graph_definition
    fill, copied = definition.nodes()
    assert isinstance(fill, MemsetNode)
    fill.update(width=4)
    copied.update(size=2)  # type: ignore[attr-defined]
    graph = builder.complete()
    memoryview(target)[:] = bytes(16)
    graph.launch(stream)
    stream.sync()
    assert bytes(memoryview(target)) == bytes([0, 1, 7, 7]) + bytes(12)
    graph[fill].update(value=9)
    graph[copied].update(size=1)
    graph.launch(stream)
    stream.sync()
    assert bytes(memoryview(target))[:5] == bytes([0, 9, 9, 9, 0])
