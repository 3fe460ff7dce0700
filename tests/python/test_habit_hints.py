# SPDX-License-Identifier: Apache-2.0
"""Habits from other libraries: what the errors say to write instead."""

import array
import os
import subprocess
import sys
from typing import Any

import cudacore
import cudacore.tile as ct
import pytest
from cudacore import Device, Program, Stream
from cudacore.graph import GraphDefinition
from cudacore.utils import StridedMemoryView

np = pytest.importorskip("numpy")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("get", "buffer.to_host(dtype, shape)"),
        ("free", "buffer.close()"),
        ("nbytes", "buffer.size"),
        ("shape", "buffer.view(dtype, shape).shape"),
        ("data_ptr", "buffer.handle"),
    ],
)
def test_members_of_arrays_on_buffers(device: Device, name: str, instead: str) -> None:
    with device.allocate(16) as buffer, pytest.raises(AttributeError) as caught:
        getattr(buffer, name)
    assert str(caught.value) == f"cudacore has no Buffer.{name}: write `{instead}`"


def test_the_hints_for_buffers_work(device: Device, stream: Stream) -> None:
    host = np.arange(6, dtype=np.float32)
    buffer = device.to_device(host, stream=stream)
    assert (buffer.to_host(np.float32, (2, 3), stream=stream) == host.reshape(2, 3)).all()
    view = buffer.view(np.float32, (2, 3))
    assert view.shape == (2, 3)
    for name in ("to_host", "get", "cpu", "numpy", "tolist"):
        with pytest.raises(AttributeError, match=r"np.from_dlpack\(view, device='cpu'\)"):
            getattr(view, name)
        assert not hasattr(buffer, "copy_to_host")


def test_a_device_has_no_constructors_of_arrays(device: Device) -> None:
    missing: Any = device
    for name, instead in (
        ("empty", "allocate"),
        ("zeros", "fill"),
        ("register_host", "cudacore.register_host"),
    ):
        with pytest.raises(AttributeError, match=instead):
            getattr(missing, name)


def test_options_that_are_given_as_arguments(device: Device) -> None:
    missing: Any = device
    with pytest.raises(TypeError, match=r"options are given as options=\{\"priority\": \.\.\.\}"):
        missing.create_stream(priority=-1)
    with pytest.raises(TypeError, match="did you mean 'options'"):
        missing.create_stream(option={})


def test_views_for_tensor_maps(device: Device, stream: Stream) -> None:
    source = """
    struct alignas(64) Map { unsigned char bytes[128]; };
    __global__ void load(const __grid_constant__ Map map) {}
    __global__ void plain(int n) {}
    """
    code = Program(source, "c++").compile()
    with device.allocate(1024, stream=stream) as buffer, stream:
        view = buffer.view(np.float32, (16, 16))
        with pytest.raises(TypeError, match=r"a tensor map is made by view.as_tensor_map\(box\)"):
            code.get_kernel("load")[1, 1](view)
        with pytest.raises(TypeError, match="pass one element"):
            code.get_kernel("plain")[1, 1](view)


def test_memory_of_the_host_in_graphs(device: Device) -> None:
    device.set_current()
    with (
        device.allocate(128) as buffer,
        pytest.raises(TypeError, match=r"by cudacore\.register_host\(array\)"),
    ):
        GraphDefinition().memcpy(buffer, np.ones(32, np.int32), 128)
    assert callable(cudacore.register_host)


def test_nodes_that_are_added_by_launch(device: Device) -> None:
    device.set_current()
    wrong: Any = GraphDefinition()
    with (
        device.allocate(16) as buffer,
        pytest.raises(TypeError, match=r"not Buffer; launch\(config, kernel, \*args\) adds a node"),
    ):
        wrong.launch({"grid": 1, "block": 1}, buffer, 1)
    node: Any = wrong.while_loop(wrong.create_condition(1))
    with pytest.raises((AttributeError, TypeError), match="node.body|context manager"), node:
        pass
    with pytest.raises(AttributeError, match=r"add nodes to node\.branches\[0\]"):
        _ = node.__enter__


def test_a_resource_that_rounds_sizes_up(device: Device) -> None:
    resource = cudacore.VirtualMemoryResource(device)
    before = device.memory_resource
    device.memory_resource = resource
    try:
        buffer = device.to_device(array.array("f", range(100)))
        device.sync()
        assert buffer.size == 400
        assert buffer.to_host(np.float32).tolist() == list(range(100))
        again = device.to_device(buffer)
        assert again.size == 400
        for each in (buffer, again):
            each.close()
    finally:
        device.memory_resource = before


def test_a_forked_child_is_told_by_is_mapped() -> None:
    program = """
import os, warnings, cudacore
warnings.simplefilter("ignore")
device = cudacore.Device(); device.set_current()
buffer = device.allocate(16)
if os.fork() == 0:
    try:
        buffer.is_mapped
    except cudacore.ForkedProcessError:
        os._exit(0)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "0\n"


class TestTiles:
    @pytest.mark.parametrize(
        ("name", "instead"),
        [
            ("jit", "; write ct.kernel"),
            ("autotune", "; write ct.tune.exhaustive_search"),
            ("constexpr", "; write n: ct.Constant"),
            ("laod", "; did you mean 'load'?"),
        ],
    )
    def test_names_of_triton(self, name: str, instead: str) -> None:
        with pytest.raises(AttributeError) as caught:
            getattr(ct, name)
        assert f"has no attribute '{name}'{instead}" in str(caught.value)

    def numbers(self, device: Device, stream: Stream) -> StridedMemoryView:
        return device.to_device(np.ones(64, np.float32), stream=stream).view(np.float32)

    def refused(self, device: Device, stream: Stream, kernel: Any) -> str:
        x = self.numbers(device, stream)
        with pytest.raises(ct.TileTypeError) as caught:
            ct.launch(stream, (1,), ct.kernel(kernel), ([x, x], x))
        return str(caught.value)

    def test_loops_over_lists(self, device: Device, stream: Stream) -> None:
        def plain(xs, y):
            for x in xs:
                ct.store(y, 0, ct.load(x, 0, 64))

        def unrolled(xs, y):
            for x in ct.static_iter(xs):
                ct.store(y, 0, ct.load(x, 0, 64))

        for kernel in (plain, unrolled):
            assert "write `for i in range(len(xs)): x = xs[i]`, or pass a tuple" in self.refused(
                device, stream, kernel
            )

        @ct.kernel
        def total(xs, y):
            found = ct.zeros((64,), ct.float32)
            for i in range(len(xs)):
                x = xs[i]
                found += ct.load(x, 0, 64)
            ct.store(y, 0, found)

        x, y = self.numbers(device, stream), self.numbers(device, stream)
        ct.launch(stream, (1,), total, ([x, x, x], y))
        assert (np.from_dlpack(y, device="cpu") == 3).all()

    def test_unpacked_lists(self, device: Device, stream: Stream) -> None:
        def unpacked(xs, y):
            first, _ = xs
            ct.store(y, 0, ct.load(first, 0, 64))

        assert "; write xs[0] and so on, or pass a tuple" in self.refused(device, stream, unpacked)

    def test_items_from_the_end_of_lists(self, device: Device, stream: Stream) -> None:
        def last(xs, y):
            ct.store(y, 0, ct.load(xs[-1], 0, 64))

        assert "Index -1 of a list of arrays must not be negative" in self.refused(
            device, stream, last
        )

    @pytest.mark.parametrize(
        ("value", "instead"),
        [
            (np.ones(4), "Pass it to the kernel as an argument."),
            ([1, 2], "Write a tuple."),
        ],
    )
    def test_globals_that_are_no_constants(
        self, device: Device, stream: Stream, value: Any, instead: str
    ) -> None:
        def kernel(xs, y):
            ct.store(y, 0, ct.load(xs[0], 0, 64) * value)

        assert instead in self.refused(device, stream, kernel)

    def test_from_an_array_of_the_host_to_a_kernel(self, device: Device, stream: Stream) -> None:
        @ct.kernel
        def double(x):
            ct.store(x, (0, 0), 2 * ct.load(x, (0, 0), (8, 8)))

        host = np.ones((8, 8), np.float32)
        with pytest.raises(ValueError, match=r"device.to_device\(array\).view\(array.dtype, arr"):
            ct.launch(stream, (1,), double, (host,))
        buffer = device.to_device(host, stream=stream)
        with pytest.raises(TypeError, match=r"such as buffer.view\(np.float32, shape\)"):
            ct.launch(stream, (1,), double, (buffer,))
        ct.launch(stream, (1,), double, (buffer.view(host.dtype, host.shape),))
        assert (buffer.to_host(np.float32, stream=stream) == 2).all()


def test_a_kernel_that_a_recorded_function_compiles(
    device: Device, stream: Stream, tmp_path: Any
) -> None:
    program = f"""
import numpy as np, cudacore, cudacore.tile as ct
device = cudacore.Device({device.device_id}); device.set_current(); stream = device.create_stream()
@ct.kernel
def scale(x, y, n):
    ct.store(y, 0, n * ct.load(x, 0, 64))
@cudacore.graph
def step(x, y, n):
    print("runs")
    ct.launch(cudacore.current_stream(), (1,), scale, (x, y, n))
x, y = (device.to_device(np.ones(64, np.float32), stream=stream).view(np.float32) for _ in "xy")
with stream:
    for n in (1.5, 2.5, 3.5):
        step(x, y, n)
        print(np.from_dlpack(y, device="cpu")[0])
print(len(step.recordings))
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = {**os.environ, "CUDACORE_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, path],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env=environment,
        )
        assert done.stdout == "runs\n1.5\n2.5\n3.5\n1\n"
