# SPDX-License-Identifier: Apache-2.0
"""Fixtures for all tests; only the `device` fixture determines what needs a device."""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, Kernel, LegacyPinnedMemoryResource, ObjectCode, Stream

pytest.register_assert_rewrite("harness", "foreign_arrays", "sharing")

from harness import build  # noqa: E402

# JAX would take three quarters of the device's memory, in each worker.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

_devices = pytest.StashKey[int]()
_simulated = pytest.StashKey[bool]()
_left_out = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        choices=("gpu", "simulator"),
        help="what tests that need a device run on (default: gpu where there is one, else the "
        "simulator)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu_only(reason): no stand-in for a real GPU will do")
    config.addinivalue_line("markers", "simulator_only(reason): no real GPU does this")
    config.addinivalue_line("markers", "multi_gpu: needs two devices at least")
    config.stash[_left_out] = []
    # The user's own program cache is left alone. Workers of pytest-xdist share a folder.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        cache = tempfile.TemporaryDirectory(prefix="cudacore-tests-")
        config.add_cleanup(cache.cleanup)
        os.environ["CUDACORE_CACHE_DIR"] = cache.name
    choice = config.getoption("--device") or ("gpu" if has_gpu() else "simulator")
    if choice == "simulator":
        # In the environment, so that programs that tests start get it too.
        os.environ["CUDACORE_DRIVER"] = "simulator"
        os.environ["CUDACORE_SIMULATOR_DEVICES"] = "2"
    else:
        os.environ["CUDACORE_DRIVER"] = "native"
    try:
        config.stash[_devices] = cudacore.system.get_num_devices()
    except cudacore.CUDAError as error:
        raise pytest.UsageError(f"--device={choice}: {error}") from None
    config.stash[_simulated] = choice == "simulator"


def has_gpu() -> bool:
    """Return whether NVIDIA's driver shows a GPU; asks another process, since this one uses one
    driver."""
    script = "import cudacore; cudacore.system.get_num_devices() or exit(1)"
    environment = os.environ | {"CUDACORE_DRIVER": "native"}
    return not subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, env=environment
    ).returncode


def pytest_report_header(config: pytest.Config) -> str:
    return f"device: {config.stash[_devices]} x {cudacore.Device(0).name}"


def has_reasoned_marker(item: pytest.Item, name: str) -> bool:
    marker = item.get_closest_marker(name)
    if marker is None:
        return False
    if not (marker.args or marker.kwargs.get("reason")):
        raise pytest.UsageError(f"{item.nodeid}: {name} needs a reason")
    return True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    devices = config.stash[_devices]
    simulated = config.stash[_simulated]
    other_kind: list[pytest.Item] = []
    too_few: list[pytest.Item] = []
    kept: list[pytest.Item] = []
    for item in items:
        for_gpu = has_reasoned_marker(item, "gpu_only")
        for_simulator = has_reasoned_marker(item, "simulator_only")
        if (simulated and for_gpu) or (not simulated and for_simulator):
            other_kind.append(item)
        elif devices < 2 and item.get_closest_marker("multi_gpu") is not None:
            too_few.append(item)
        else:
            kept.append(item)
    other = "a real GPU" if simulated else "the simulated device"
    for left_out, why in ((other_kind, f"need {other}"), (too_few, "need two devices")):
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            config.stash[_left_out].append(f"{len(left_out)} tests left out that {why}")
    items[:] = kept


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = session.config.stash[_left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """With pytest-xdist: each worker says the same, unless it crashed."""
    if hasattr(node, "workeroutput"):
        node.config.stash[_left_out] = node.workeroutput.get("left out", [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[_left_out]:
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def device() -> Device:
    """The device that tests run on."""
    return Device(0)


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    """A new stream, which is idle and closed at the end."""
    stream = device.create_stream()
    yield stream
    if not stream.is_closed:
        stream.sync()
        stream.close()


@pytest.fixture
def pinned(device: Device) -> Iterator[Callable[[int], Buffer]]:
    """Allocates zeroed host memory that kernels can write and the test can read at once."""
    resource = LegacyPinnedMemoryResource()
    buffers: list[Buffer] = []

    def allocate(size: int) -> Buffer:
        buffer = resource.allocate(size)
        ctypes.memset(buffer.handle, 0, size)
        buffers.append(buffer)
        return buffer

    yield allocate
    for buffer in buffers:
        buffer.close()


@pytest.fixture
def numbers(pinned: Callable[[int], Buffer]) -> Buffer:
    """The float32 numbers from 0 to 23, which the host can read."""
    import numpy as np

    buffer = pinned(96)
    np.frombuffer(buffer, "f4")[:] = np.arange(24)
    return buffer


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    """Kernels that take arrays."""
    from foreign_arrays import KERNELS

    return build(KERNELS, "take<float*>", "take_value<float>")


@pytest.fixture
def scale(code: ObjectCode) -> Kernel:
    """Scales x into y."""
    return code.get_kernel("scale")


@pytest.fixture
def memory(pinned: Callable[[int], Buffer]) -> Buffer:
    """Sixteen floats, 0 to 15, that the host can see too."""
    import numpy as np

    buffer = pinned(64)
    ctypes.memmove(buffer.handle, np.arange(16, dtype=np.float32).ctypes.data, 64)
    return buffer


@pytest.fixture
def block(device: Device, scale: Kernel) -> Iterator[Buffer]:
    """Memory of the device, 4 KiB. A launch has asked its resource where it is."""
    with device.allocate(4096) as buffer:
        scale[1, 1](buffer, buffer, 1.0, 0)
        yield buffer
        device.sync()


GATE = """
__global__ void gate(volatile int* flag) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  while (*flag == 0) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now - start > 10000000000ull) *flag = 2;
  }
}
"""


class Gate:
    """Blocks a stream until it is opened; after 10 s it gives up and fails the test."""

    def __init__(self, kernel: Kernel, flag: Buffer) -> None:
        self._kernel = kernel
        self._flag = flag
        self._word = ctypes.c_int.from_address(flag.handle)

    def hold(self, stream: Stream) -> None:
        self._kernel[1, 1, stream](self._flag)

    def open(self) -> None:
        if self._word.value == 0:
            self._word.value = 1

    @property
    def gave_up(self) -> bool:
        return self._word.value == 2


@pytest.fixture(scope="session")
def gate_kernel(device: Device) -> Kernel:
    """Loaded, like the driver's own fill, before any gate closes: loading waits for the device."""
    kernel = build(GATE).get_kernel("gate")
    with device.allocate(64) as buffer:
        buffer.fill(1)
        kernel[1, 1](buffer)
        device.sync()
    return kernel


@pytest.fixture
def gate(gate_kernel: Kernel, pinned: Callable[[int], Buffer], device: Device) -> Iterator[Gate]:
    """Always opened at the end, so that a failed test doesn't hang the next one."""
    gc.collect()  # modules left by earlier tests: unloading one waits for the device
    gate = Gate(gate_kernel, pinned(4))
    yield gate
    gate.open()
    device.sync()
    assert not gate.gave_up, "something waited for the device that should not have"
