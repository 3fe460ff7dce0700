# SPDX-License-Identifier: Apache-2.0
"""Memory that graphs allocate and free."""

import gc
from collections.abc import Callable

import pytest
from cudacore import (
    Buffer,
    CachingMemoryResource,
    CUDAError,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    NotSupportedError,
    Stream,
    unraisable_errors,
)
from cudacore.graph import AllocNode, FreeNode, GraphCompleteOptions, GraphDefinition
from cudacore.typing import GraphMemoryType
from harness import build

SOURCE = "__global__ void add(int* p, int v) { p[threadIdx.x] += v; }"
Allocate = Callable[[int], Buffer]
CONFIG = LaunchConfig(grid=1, block=4)


@pytest.fixture(scope="module")
def add(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("add")


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def value(buffer: Buffer) -> int:
    return memoryview(buffer).cast("B").cast("i")[0]


class TestNodes:
    def test_allocate_use_and_free(self, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        out = pinned(16)
        definition = GraphDefinition()
        memory = definition.allocate(16)
        added = memory.memset(memory.dptr, 0, 16).launch(CONFIG, add, memory.dptr, 5)
        copied = added.memcpy(out, memory.dptr, 16)
        freed = copied.deallocate(memory.dptr)
        assert isinstance(memory, AllocNode)
        assert isinstance(freed, FreeNode)
        assert (memory.bytesize, memory.device_id, memory.peer_access) == (16, 0, ())
        assert memory.memory_type == GraphMemoryType.DEVICE == "device"
        assert freed.dptr == memory.dptr
        graph = definition.instantiate()
        for _ in range(2):
            graph.launch(stream)
            stream.sync()
        assert value(out) == 5

    @pytest.mark.parametrize("memory_type", ["host", "managed"])
    def test_of_other_types(self, stream: Stream, pinned: Allocate, memory_type: str) -> None:
        out = pinned(8)
        definition = GraphDefinition()
        try:
            memory = definition.allocate(8, memory_type=memory_type)
        except NotSupportedError:
            pytest.skip("this driver has no memory of the host in graphs")
        assert memory.memory_type == memory_type
        copied = memory.memset(memory.dptr, 3, 8).memcpy(out, memory.dptr, 8)
        copied.deallocate(memory.dptr)
        definition.instantiate().launch(stream)
        stream.sync()
        assert value(out) == 0x03030303

    def test_another_graph_frees(self, stream: Stream) -> None:
        first, second = GraphDefinition(), GraphDefinition()
        memory = first.allocate(64)
        second.deallocate(memory.dptr)
        allocating, freeing = first.instantiate(), second.instantiate()
        for _ in range(2):
            allocating.launch(stream)
            freeing.launch(stream)
        stream.sync()
        # Nothing is allocated now.
        with pytest.raises(ValueError, match="cuGraphLaunch"):
            freeing.launch(stream)

    def test_a_launch_needs_the_memory_of_the_last(self, stream: Stream) -> None:
        definition = GraphDefinition()
        definition.allocate(64)
        graph = definition.instantiate()
        graph.launch(stream)
        with pytest.raises(ValueError, match="cuGraphLaunch"):
            graph.launch(stream)
        graph.close()
        definition.instantiate(GraphCompleteOptions(auto_free_on_launch=True)).close()

    def test_arguments(self, device: Device) -> None:
        definition = GraphDefinition()
        with pytest.raises(ValueError, match="needs a size"):
            definition.allocate(0)
        with pytest.raises(ValueError, match="memory_type must be one of device, host, managed"):
            definition.allocate(8, memory_type="shared")
        with pytest.raises(ValueError, match="99"):
            definition.allocate(8, device=99)
        node = GraphDefinition().allocate(16)
        with pytest.raises(
            TypeError, match="dst must be .* not AllocNode; its address is node.dptr"
        ):
            definition.memset(node, 0, 16)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="size"):
            definition.allocate("8")  # type: ignore[arg-type]
        memory = definition.allocate(8)
        memory.deallocate(memory.dptr)
        with pytest.raises(ValueError, match="cuGraphAddNode"):
            memory.deallocate(memory.dptr)  # freed twice
        with device.allocate(8) as other, pytest.raises(ValueError, match="cuGraphAddNode"):
            definition.deallocate(other.handle)
        assert len(definition.nodes()) == 2
        with pytest.raises(TypeError, match="nothing to update"):
            definition.instantiate()[memory].update()


class TestResource:
    def test_there_is_one_for_each_device(self, device: Device) -> None:
        resource = GraphMemoryResource(device)
        assert resource is GraphMemoryResource(device.device_id)
        assert resource.device_id == device.device_id
        assert resource.is_device_accessible
        assert not resource.is_host_accessible
        resource.close()

    def test_captured(self, device: Device, stream: Stream, pinned: Allocate, add: Kernel) -> None:
        out = pinned(16)
        resource = GraphMemoryResource(device)
        with stream.create_graph_builder() as builder:
            scratch = resource.allocate(16)
            scratch.fill(0)
            add[1, 4](scratch, 8)
            out.copy_from(scratch)
            scratch.close()
        last = [*builder.graph_definition.nodes()][-1]
        assert isinstance(last, FreeNode)
        graph = builder.complete()
        for _ in range(2):
            graph.launch(stream)
        stream.sync()
        assert value(out) == 8

    def test_memory_that_outlives_the_launch(
        self, device: Device, stream: Stream, pinned: Allocate, add: Kernel
    ) -> None:
        out = pinned(16)
        with stream.create_graph_builder() as builder:
            made = GraphMemoryResource(device).allocate(16)
            made.fill(1)
        graph = builder.complete(GraphCompleteOptions(auto_free_on_launch=True))
        for _ in range(3):
            graph.launch(stream)
        out.copy_from(made, stream=stream)
        stream.sync()
        assert value(out) == 0x01010101
        made.close(stream=stream)
        stream.sync()

    def test_memory_that_was_never_allocated_needs_no_release(self, device: Device) -> None:
        before = unraisable_errors()
        with device.create_graph_builder() as builder:
            made = GraphMemoryResource(device).allocate(16)
        del made, builder
        gc.collect()
        assert unraisable_errors() == before

    def test_empty(self, device: Device) -> None:
        with device.create_graph_builder() as builder:
            empty = GraphMemoryResource(device).allocate(0)
        assert empty.size == 0
        assert len(builder.graph_definition.nodes()) == 0

    def test_counters(self, device: Device, stream: Stream) -> None:
        resource = GraphMemoryResource(device)
        with stream.create_graph_builder() as builder:
            made = resource.allocate(1 << 20)
        graph = builder.complete()
        graph.launch(stream)
        attributes = resource.attributes
        assert attributes.used_mem_current >= 1 << 20
        assert attributes.reserved_mem_current >= attributes.used_mem_current
        assert attributes.used_mem_high >= 1 << 20
        assert "used_mem_current=" in repr(attributes)
        made.close(stream=stream)
        stream.sync()
        resource.trim()
        attributes.used_mem_high = attributes.reserved_mem_high = 0
        with pytest.raises(AttributeError, match="zero"):
            attributes.used_mem_high = 1
        with pytest.raises(AttributeError):
            attributes.used_mem_current = 0  # type: ignore[misc]

    def test_is_for_captures_alone(self, device: Device, stream: Stream) -> None:
        resource = GraphMemoryResource(device)
        with pytest.raises(RuntimeError, match="only on a stream that is being captured"):
            resource.allocate(16, stream=stream)
        with stream.create_graph_builder() as builder:
            with pytest.raises(RuntimeError, match="GraphMemoryResource"):
                device.allocate(16)
            assert builder.is_building
        with pytest.raises(CUDAError), stream.create_graph_builder():
            device.sync()
        with pytest.raises(TypeError, match="GraphMemoryResourceAttributes"):
            type(resource.attributes)()

    @pytest.mark.skipif("len(Device.get_all_devices()) < 2")
    def test_of_another_device(self, device: Device) -> None:
        with (
            device.create_graph_builder(),
            pytest.raises(ValueError, match="of device 1, and the stream of device 0"),
        ):
            GraphMemoryResource(1).allocate(16)


def test_a_caching_pool_allocates_before_and_after_captures_alone(
    device: Device, stream: Stream
) -> None:
    pool = CachingMemoryResource(DeviceMemoryResource(device))
    pool.allocate(1024, stream=stream).close()
    kept = pool.allocate(64, stream=stream)
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(
        NotSupportedError,
        match=r"a CachingMemoryResource allocates no memory",
    ):
        pool.allocate(1024, stream=stream)
    builder.end_building()
    assert pool.allocate(1024, stream=stream).size == 1024
    kept.close()
