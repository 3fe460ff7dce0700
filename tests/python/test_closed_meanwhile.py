# SPDX-License-Identifier: Apache-2.0
"""Memory that is closed while a call uses it, or while a graph does."""

import contextlib
from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import (
    Buffer,
    Device,
    Kernel,
    LaunchConfig,
    Stream,
    VirtualMemoryResource,
    launch,
)
from cudacore.graph import GraphBuilder, GraphDefinition
from cudacore.utils import StridedMemoryView
from harness import build, run_cleanly

SIZE = 1 << 21
COUNT = 32
ONE = LaunchConfig(grid=1, block=COUNT)
Action = Callable[[], object]
STORE_BOX = """
struct alignas(64) Map { char bytes[128]; };
__global__ void store(const __grid_constant__ Map map) {
  __shared__ __align__(128) int box[32];
  box[threadIdx.x] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];"
                 ::"l"(&map), "r"(0), "r"((unsigned)__cvta_generic_to_shared(box)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
"""


@pytest.fixture(scope="module")
def store(device: Device) -> Kernel:
    device.set_current()
    return build("__global__ void store(int* p, int v) { p[threadIdx.x] = v; }").get_kernel("store")


@pytest.fixture
def memory(device: Device) -> Buffer:
    """Memory that is unmapped when it ends: work that still uses it faults."""
    device.set_current()
    return VirtualMemoryResource(device).allocate(SIZE)


@pytest.fixture
def builder(device: Device) -> GraphBuilder:
    return device.create_stream().create_graph_builder()


def view_of(buffer: Buffer) -> StridedMemoryView:
    return StridedMemoryView.from_buffer(buffer, shape=(COUNT,), dtype=np.int32)


class Closing:
    """A source of zeros that runs an action when it is read."""

    def __init__(self, action: Action, size: int) -> None:
        self.action = action
        self.size = size

    def __array__(self) -> Any:
        self.action()
        return np.zeros(self.size, np.uint8)


def replay(builder: GraphBuilder, stream: Stream) -> None:
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()


class TestGraphs:
    """A graph keeps the memory that it uses, however it was given."""

    def test_captured_launch_of_a_view(
        self, memory: Buffer, builder: GraphBuilder, store: Kernel, stream: Stream
    ) -> None:
        builder.begin_building()
        launch(builder, ONE, store, view_of(memory), 1)
        memory.close()
        replay(builder, stream)

    def test_launch_node_of_a_view(self, memory: Buffer, store: Kernel, stream: Stream) -> None:
        definition = GraphDefinition()
        definition.launch(ONE, store, view_of(memory), 1)
        memory.close()
        definition.instantiate().launch(stream)
        stream.sync()

    def test_view_that_a_recorded_function_finds(
        self, memory: Buffer, device: Device, store: Kernel, stream: Stream
    ) -> None:
        view = view_of(memory)
        other = device.allocate(4 * COUNT)

        @cudacore.graph
        def step(x: Any) -> None:
            store[1, COUNT](view, 1)
            store[1, COUNT](x, 1)

        with stream:
            step(other)
            memory.close()  # before the graph has run
            stream.sync()

    def test_tensor_map(
        self, memory: Buffer, device: Device, builder: GraphBuilder, stream: Stream
    ) -> None:
        if not device.properties.tensor_map_access_supported:
            pytest.skip("the device has no Tensor Memory Accelerator")
        kernel = build(STORE_BOX).get_kernel("store")
        view = StridedMemoryView.from_buffer(memory, shape=(64,), dtype=np.int32)
        tensor = view.as_tensor_map((COUNT,))
        builder.begin_building()
        launch(builder, ONE, kernel, tensor)
        memory.close()
        replay(builder, stream)

    @pytest.mark.filterwarnings("ignore:this capture has no nodes")
    @pytest.mark.parametrize("direction", ["copy_from", "copy_to", "fill"])
    def test_closed_by_what_is_converted(
        self, memory: Buffer, builder: GraphBuilder, stream: Stream, direction: str
    ) -> None:
        builder.begin_building()
        if direction == "copy_from":
            with pytest.raises(ValueError, match="was closed while"):
                memory.copy_from(Closing(memory.close, memory.size), stream=builder)
        elif direction == "copy_to":
            other = VirtualMemoryResource(Device()).allocate(SIZE)
            memory.copy_to(other, stream=builder)
            other.close()
        else:
            memory.fill(1, stream=builder)
        memory.close()
        replay(builder, stream)

    def test_array_closed_by_what_is_converted(
        self, device: Device, builder: GraphBuilder, stream: Stream
    ) -> None:
        array = device.create_opaque_array(
            {"shape": (COUNT,), "format": "float32", "num_channels": 1}
        )
        builder.begin_building()
        array.copy_from(Closing(array.close, 4 * COUNT), stream=builder)
        replay(builder, stream)

    def test_operand_of_a_node_is_kept_with_its_address(self, memory: Buffer) -> None:
        definition = GraphDefinition()
        definition.memset(memory, 0, 16)
        memory.close()
        with pytest.raises(ValueError, match="dst: this Buffer is closed"):
            definition.memset(memory, 0, 16)
        with pytest.raises(OverflowError, match="dst must be an address"):
            definition.memset(-1, 0, 16)
        with pytest.raises(OverflowError, match="src must be an address"):
            definition.memcpy(memory.handle or 1, 2**64, 16)


class TestSources:
    """What a recorded function has queued copies from, which it must not change later."""

    @pytest.mark.parametrize("target", ["buffer", "array", "view"])
    def test_copies_that_fail_leave_nothing(
        self, device: Device, stream: Stream, target: str
    ) -> None:
        device.set_current()
        array = device.create_opaque_array({"shape": (9,), "format": "uint8", "num_channels": 1})

        @cudacore.graph
        def step(x: Any) -> None:
            with contextlib.suppress(ValueError):
                if target == "buffer":
                    x.copy_from(bytes(200_000_000))
                elif target == "array":
                    array.copy_from(bytes(200_000_000)[: -(10**8)], stream=stream)
                else:
                    source = np.zeros(50_000_000, np.int32)
                    view_of(x).copy_from(StridedMemoryView.from_any_interface(source, -1))
            x.fill(1)

        buffer = device.allocate(4 * COUNT)
        with stream, contextlib.suppress(cudacore.NotSupportedError):
            step(buffer)

    def test_copies_of_another_capture_are_left_alone(
        self, device: Device, stream: Stream, builder: GraphBuilder
    ) -> None:
        device.set_current()
        other = device.allocate(4 * COUNT)
        builder.begin_building()

        @cudacore.graph
        def step(x: Any) -> None:
            source = bytearray(other.size)
            other.copy_from(source, stream=builder)
            source[:] = b"x" * other.size
            del source
            x.fill(1)

        with stream:
            step(device.allocate(4 * COUNT))
        builder.end_building()

    def test_sources_live_until_they_are_compared(self, device: Device, stream: Stream) -> None:
        @cudacore.graph
        def step(x: Any) -> None:
            x.copy_from(bytes(x.size))
            x.fill(1)

        with stream:
            step(device.allocate(100_000_000))


THREADS = """
import contextlib, threading
import cudacore
from cudacore import Device, LaunchConfig, Program, VirtualMemoryResource, launch
from cudacore.utils import StridedMemoryView

device = Device()
device.set_current()
source = "__global__ void store(int* p) { *p = 1; }"
store = Program(source, "c++").compile().get_kernel("store")
memory = VirtualMemoryResource(device)
stream = device.create_stream()
config = LaunchConfig(grid=1, block=1)
@cudacore.graph
def step(x):
    store[1, 1](x)
class Derived(cudacore.Buffer):
    pass
current, is_over = [None], threading.Event()
def close_all():
    while not is_over.is_set():
        buffer = current[0]
        if buffer is not None:
            buffer.close()
closer = threading.Thread(target=close_all, daemon=True)
closer.start()
for i in range(400):
    buffer = memory.allocate(1 << 21, stream=stream)  # which its release waits for
    view = StridedMemoryView.from_buffer(buffer, shape=(4,), dtype="int32")
    with contextlib.suppress(ValueError, RuntimeError), stream:
        if i % 4 == 0:
            current[0] = buffer
            launch(stream, config, store, buffer)
        elif i % 4 == 1:
            current[0] = buffer
            launch(stream, config, store, view)
        elif i % 4 == 2:
            builder = device.create_stream().create_graph_builder()
            builder.begin_building()
            current[0] = buffer
            launch(builder, config, store, buffer)
            buffer.copy_from(bytes(1 << 21), stream=builder)
            buffer.fill(1, stream=builder)
        else:
            current[0] = buffer
            step(buffer)
    current[0] = None
    if i % 4 == 2:
        builder.end_building().complete().launch(stream)
    stream.sync()
is_over.set()
closer.join()
"""


def test_closed_by_another_thread() -> None:
    run_cleanly(THREADS, timeout=300)
