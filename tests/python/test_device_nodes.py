# SPDX-License-Identifier: Apache-2.0
"""Kernel nodes that kernels update: on a stand-in driver, and on a real GPU."""

from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import (
    Device,
    LaunchConfig,
    Linker,
    LinkerOptions,
    NotSupportedError,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
)
from cudacore.graph import GraphDefinition, KernelNode
from harness import build, host_bytes, layered_driver, run_cleanly

FAKE = Path(__file__).with_name("fake_device_nodes.c")
UPDATABLE = LaunchConfig(grid=1, block=1, device_updatable_kernel_node=True)

PLAN = """
__global__ void plan(cudaGraphDeviceNode_t node, int value, unsigned grid) {
  cudaGraphKernelNodeSetParam(node, 8, value);
  cudaGraphKernelNodeSetGridDim(node, dim3(grid));
}
"""
WORK = """
__global__ void work(int* out, int value) {
  out[blockIdx.x] = value;
}
"""


def test_node_has_a_handle(tmp_path: Path) -> None:
    script = """
        import cudacore
        from cudacore import Device, LaunchConfig, Program
        from cudacore.graph import GraphDefinition
        Device().set_current()
        work = Program("__global__ void work(int* out, int value) {}", "c++").compile()
        work = work.get_kernel("work")
        definition = GraphDefinition()
        config = LaunchConfig(grid=1, block=1, device_updatable_kernel_node=True)
        plain = definition.launch(LaunchConfig(grid=1, block=1), work, None, 1)
        node = definition.launch(config, work, None, 1)
        assert node.device_node == node.handle + 1
        assert node.config.device_updatable_kernel_node
        assert not plain.config.device_updatable_kernel_node
        found = {each.handle: each for each in definition.nodes()}
        assert found[node.handle].device_node == node.device_node
        try:
            plain.device_node
        except ValueError as error:
            assert "launch it with device_updatable_kernel_node" in str(error), error
        else:
            raise AssertionError("a plain node has a handle")
        plain.update(config=config)
        assert plain.device_node == plain.handle + 1
        node.destroy()
        try:
            node.device_node
        except ValueError as error:
            assert "destroyed" in str(error), error
        else:
            raise AssertionError("a destroyed node has a handle")
    """
    run_cleanly(script, env=layered_driver(tmp_path, FAKE.read_text()))


@pytest.mark.simulator_only(reason="a GPU has such nodes")
def test_simulated_device_has_none(device: Device) -> None:
    device.set_current()
    work = build(WORK).get_kernel("work")
    definition = GraphDefinition()
    with pytest.raises(NotSupportedError, match="kernels that update the nodes of graphs"):
        definition.launch(UPDATABLE, work, device.allocate(4), 1)
    plain = definition.launch(LaunchConfig(grid=1, block=1), work, device.allocate(4), 1)
    with pytest.raises(ValueError, match="kernels can't update this node"):
        _ = plain.device_node


def test_is_a_kernels_argument(device: Device, stream: Stream, pinned: Any) -> None:
    device.set_current()
    kept = build("""
    __global__ void keep(cudaGraphDeviceNode_t node, unsigned long long* out) {
      *out = reinterpret_cast<unsigned long long>(node);
    }
    """).get_kernel("keep")
    out = pinned(8)
    kept[1, 1, stream](0x7FFF12345678, out)
    stream.sync()
    assert int.from_bytes(host_bytes(out), "little") == 0x7FFF12345678


def test_functions_are_linked(device: Device) -> None:
    assert isinstance(link_plan(device), ObjectCode)


def link_plan(device: Device) -> ObjectCode:
    options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
    code = Program(PLAN, "c++", options).compile("ptx")
    for folder in cudacore.include_directories():
        library = Path(folder).parent / "lib" / "libcudadevrt.a"
        if library.exists():
            break
    else:
        pytest.skip("needs libcudadevrt.a")
    linker = Linker(
        code, ObjectCode.from_library(library), options=LinkerOptions(arch=options.arch)
    )
    return linker.link("cubin")


@pytest.mark.gpu_only(reason="the simulated device has no such nodes")
class TestOnGpu:
    def check(self, graph: Any, stream: Stream, out: Any, expected: list[int]) -> None:
        graph.upload(stream)
        graph.launch(stream)
        stream.sync()
        assert list(memoryview(host_bytes(out)).cast("i")) == expected

    def test_kernel_updates_a_node(self, device: Device, stream: Stream, pinned: Any) -> None:
        device.set_current()
        plan = link_plan(device).get_kernel("plan")
        work = build(WORK).get_kernel("work")
        out = pinned(12)
        out.fill(0, stream=stream)
        definition = GraphDefinition()
        node = definition.launch(UPDATABLE, work, out, 1)
        planner = definition.launch(LaunchConfig(grid=1, block=1), plan, node.device_node, 7, 3)
        node.pred.add(planner)
        self.check(definition.instantiate(), stream, out, [7, 7, 7])

    def test_of_a_capture(self, device: Device, stream: Stream, pinned: Any) -> None:
        device.set_current()
        work = build(WORK).get_kernel("work")
        out = pinned(12)
        builder = device.create_graph_builder()
        with builder:
            cudacore.launch(builder, UPDATABLE, work, out, 5)
        nodes = [each for each in builder.graph_definition.nodes() if isinstance(each, KernelNode)]
        assert nodes[0].device_node != 0
        self.check(builder.complete(), stream, out, [5, 0, 0])
