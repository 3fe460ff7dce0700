# SPDX-License-Identifier: Apache-2.0
"""What tests of several processes have in common."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cudacore import Buffer, Device, DeviceMemoryResource, PinnedMemoryResource, Stream

Pool = DeviceMemoryResource | PinnedMemoryResource
OPTIONS = {"ipc_enabled": True, "max_size": 64 << 20}


# What the processes of a test run.
PROGRAM = """
import multiprocessing
import pickle
import sys
import threading
import cudacore
from cudacore import Buffer, Device, DeviceMemoryResource, Event, EventOptions, Program
from cudacore import PinnedMemoryResource, VirtualMemoryResource

SOURCE = "__global__ void add(unsigned char* p, size_t at, int n) { p[at] += n; }"


kernels = []


def load():
    Device().set_current()
    if not kernels:
        kernels.append(Program(SOURCE, "c++").compile().get_kernel("add"))
        kernels[0].handle
    return kernels[0]


def add(buffer, at, n, stream=None):
    kernel = load()
    if stream is None:
        kernel[1, 1](buffer, at, n)
        Device().sync()
    else:
        kernel[1, 1, stream](buffer, at, n)


def value(buffer, at):
    data = bytearray(buffer.size)
    stream = Device().create_stream()
    buffer.copy_to(data, stream=stream)
    stream.sync()
    return data[at]


def make(size=1):
    Device().set_current()
    resource = VirtualMemoryResource(0)
    stream = Device().create_stream()
    buffer = resource.allocate(size, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    return resource, buffer


def make_pool(size=4096):
    Device().set_current()
    pool = DeviceMemoryResource(0, {"ipc_enabled": True, "max_size": 64 << 20})
    stream = Device().create_stream()
    buffer = pool.allocate(size, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    return pool, buffer


def in_child(work, *arguments):
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=work, args=arguments)
    process.start()
    process.join(60)
    assert process.exitcode == 0, process.exitcode
"""


def run_program(folder: Path, text: str) -> None:
    """Run a program, whose main() starts other processes; nothing may be printed as an error."""
    path = folder / "main.py"
    path.write_text(PROGRAM + text + "\nif __name__ == '__main__':\n    main()\n")
    result = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True, timeout=120
    )
    assert (result.returncode, result.stderr) == (0, "")


def open_files() -> int:
    """Count the file descriptors of this process."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(name="pool", params=["device", "pinned"])
def a_pool(request: pytest.FixtureRequest, device: Device) -> Pool:
    if not device.properties.mempool_supported_handle_types & 1:
        pytest.skip("the device shares no pools by file descriptors")
    if request.param == "device":
        return DeviceMemoryResource(device, OPTIONS)
    return PinnedMemoryResource(OPTIONS)


@pytest.fixture(name="buffer")
def a_buffer(pool: Pool, stream: Stream) -> Iterator[Buffer]:
    buffer = pool.allocate(4096, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    yield buffer
    buffer.close()
    stream.sync()


def import_pool(pool: Pool) -> Pool:
    """Import a pool of this process, as if it were another's."""
    handle = pool.allocation_handle
    if isinstance(pool, PinnedMemoryResource):
        return PinnedMemoryResource.from_allocation_handle(int(handle))
    return DeviceMemoryResource.from_allocation_handle(pool.device_id, int(handle))


def first_byte(buffer: Buffer, stream: Stream) -> int:
    data = bytearray(buffer.size)
    buffer.copy_to(data, stream=stream)
    stream.sync()
    return data[0]
