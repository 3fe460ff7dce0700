# SPDX-License-Identifier: Apache-2.0
"""What graphs say to the habits of other libraries, and about captures that lose their work."""

import gc
from typing import Any

import cudacore
import pytest
from cudacore import CachingMemoryResource, CUDAError, Device, GraphMemoryResource, Kernel, Stream
from cudacore.graph import GraphCompleteOptions, GraphDefinition
from graph_kernels import SHAPE, Allocate, add, current, kernels

__all__ = ["add", "current", "kernels"]  # fixtures


class TestCaptureOfNothing:
    def test_warns(self, device: Device, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        buffer = pinned(16)
        with device.create_graph_builder() as builder:
            cudacore.launch(stream, SHAPE, add, buffer, 1)
        with pytest.warns(RuntimeWarning, match="no nodes: nothing was queued on its") as seen:
            graph = builder.complete()
        assert [one.filename for one in seen] == [__file__]
        graph.launch(stream)
        stream.sync()

    def test_raises_if_warnings_are_errors(self, device: Device) -> None:
        builder = device.create_graph_builder().begin_building().end_building()
        with pytest.raises(RuntimeWarning, match=r"launch\(builder"):
            builder.complete()
        assert not builder.graph_definition.nodes()

    def test_work_on_the_builder_is_captured(
        self, device: Device, pinned: Allocate, add: Kernel
    ) -> None:
        builder = device.create_graph_builder().begin_building()
        cudacore.launch(builder, SHAPE, add, pinned(16), 1)
        assert len(builder.end_building().graph_definition.nodes()) == 1


class TestDroppedBuilder:
    def test_warns_while_it_builds(self, device: Device, pinned: Allocate) -> None:
        buffer = pinned(16)
        builder = device.create_graph_builder().begin_building()
        buffer.fill(0, stream=builder.stream)
        with pytest.warns(ResourceWarning, match="dropped while building") as seen:
            del builder
        assert len(seen) == 1

    def test_is_silent_otherwise(self, device: Device, pinned: Allocate) -> None:
        buffer = pinned(16)
        builder = device.create_graph_builder()
        del builder
        builder = device.create_graph_builder().begin_building()
        builder.close()
        del builder
        builder = device.create_graph_builder().begin_building()
        buffer.fill(0, stream=builder.stream)
        builder, other = builder.split(2)
        del other
        builder.close()
        del builder
        gc.collect()


def test_a_block_of_a_graph_closes_it(device: Device, pinned: Allocate) -> None:
    definition = GraphDefinition()
    definition.memset(pinned(16), 0, 16)
    graph = definition.instantiate()
    with graph:
        pass
    with pytest.raises(ValueError, match=r"Graph is closed.*create_graph_builder\(\) as builder"):
        graph.launch(device.default_stream)


def test_blocks_of_what_takes_none_say_how_to_capture(device: Device) -> None:
    @cudacore.graph
    def nothing() -> None: ...

    made: Any
    for made in (GraphDefinition(), nothing):
        with pytest.raises(AttributeError, match=r"create_graph_builder\(\) as builder"), made:
            pass


class TestMemory:
    def test_that_is_not_freed_says_what_to_do(self, device: Device, stream: Stream) -> None:
        definition = GraphDefinition()
        node = definition.allocate(1 << 20)
        graph = definition.instantiate()
        graph.launch(stream)
        with pytest.raises(CUDAError, match="auto_free_on_launch=True"):
            graph.launch(stream)
        with pytest.raises(CUDAError, match="close the first Graph"):
            definition.instantiate()
        graph.close()
        freeing = definition.instantiate(GraphCompleteOptions(auto_free_on_launch=True))
        freeing.launch(stream)
        freeing.launch(stream)
        stream.sync()
        assert node.dptr

    def test_of_other_errors_is_not_spoken_of(self, device: Device, pinned: Allocate) -> None:
        definition = GraphDefinition()
        definition.memset(pinned(16), 0, 16)
        graph = definition.instantiate()
        other = GraphDefinition()
        first = other.memset(pinned(16), 0, 16)
        first.memset(pinned(16), 0, 16)
        with pytest.raises(CUDAError, match=r"make a new Graph with instantiate\(\)") as raised:
            graph.update(other)
        assert "allocates" not in str(raised.value)

    def test_of_the_host_says_how_to_copy_it(self, device: Device, pinned: Allocate) -> None:
        numpy = pytest.importorskip("numpy")
        with pytest.raises(TypeError, match=r"src must be a Buffer.*register_host\(array\)"):
            GraphDefinition().memcpy(pinned(16), numpy.zeros(4, "f4"), 16)


def test_an_edge_that_differs_is_told(device: Device, pinned: Allocate) -> None:
    definitions = []
    for has_edge in (True, False):
        definition = GraphDefinition()
        first = definition.memset(pinned(16), 0, 16)
        (first if has_edge else definition).memset(pinned(16), 1, 16)
        definitions.append(definition)
    graph = definitions[0].instantiate()
    with pytest.raises(CUDAError, match="its nodes or edges differ") as raised:
        graph.update(definitions[1])
    assert "a node changed" not in str(raised.value)


def test_options_given_as_arguments_are_told(device: Device) -> None:
    maker: Any = cudacore.DeviceMemoryResource
    with pytest.raises(TypeError, match=r'it is an option: options=\{"ipc_enabled": \.\.\.\}$'):
        maker(device, ipc_enabled=True)
    maker = cudacore.PinnedMemoryResource
    with pytest.raises(TypeError, match=r'it is an option: options=\{"numa_id": \.\.\.\}$'):
        maker(numa_id=0)
    maker = cudacore.VirtualMemoryResource
    with pytest.raises(TypeError, match=r'it is an option: config=\{"self_access": \.\.\.\}$'):
        maker(device, self_access="r")
    with pytest.raises(TypeError, match="has no argument 'nonsense'$"):
        maker(device, nonsense=1)


def test_a_definition_is_no_stream(device: Device, pinned: Allocate, add: Kernel) -> None:
    shape: Any = (1, 32, GraphDefinition())
    with pytest.raises(TypeError, match=r"definition.launch\(config, kernel, \*args\) adds"):
        add[shape](pinned(16), 1)


def test_a_device_is_no_upstream(device: Device) -> None:
    maker: Any = CachingMemoryResource
    with pytest.raises(TypeError, match=r"such as DeviceMemoryResource\(device\), not .*Device"):
        maker(device)


def test_captured_allocations_of_two_launches(device: Device) -> None:
    with device.create_graph_builder() as builder:
        buffer = GraphMemoryResource(device).allocate(1024)
        buffer.fill(0)
    graph = builder.complete()
    graph.launch(device.default_stream)
    with pytest.raises(CUDAError, match="close the buffer"):
        graph.launch(device.default_stream)
    buffer.close(device.default_stream)
    graph.launch(device.default_stream)
    device.sync()
