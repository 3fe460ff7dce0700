# SPDX-License-Identifier: Apache-2.0
"""Out of memory is an error like any other: the message is clear, and the program can continue."""

from collections.abc import Callable

import cudacore
import pytest
from cudacore import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    MemoryResource,
    OutOfMemoryError,
    Stream,
    SynchronousMemoryResource,
)

RESOURCES: dict[str, Callable[[], MemoryResource]] = {
    "pool": lambda: DeviceMemoryResource(0, {"max_size": 64 << 20}),
    "device": lambda: DeviceMemoryResource(0),
    "synchronous": lambda: SynchronousMemoryResource(0),
}


@pytest.mark.parametrize("kind", RESOURCES)
def test_is_a_memory_error_that_says_how_much(device: Device, stream: Stream, kind: str) -> None:
    size = device.mem_info.total * 2
    with pytest.raises(MemoryError) as caught:
        RESOURCES[kind]().allocate(size, stream=stream)
    error = caught.value
    assert isinstance(error, OutOfMemoryError)
    assert isinstance(error, CUDAError)
    assert error.name == "CUDA_ERROR_OUT_OF_MEMORY"
    assert error.code == 2
    assert error.function.startswith("cuMem")
    assert f"{size / 2**30:.4g} GiB" in str(error)
    assert error.function in str(error)


@pytest.mark.parametrize("kind", RESOURCES)
def test_everything_goes_on(device: Device, stream: Stream, kind: str) -> None:
    resource = RESOURCES[kind]()
    for _ in range(20):
        with pytest.raises(OutOfMemoryError):
            resource.allocate(device.mem_info.total * 2, stream=stream)
        with resource.allocate(1 << 20, stream=stream) as buffer:
            buffer.fill(1, stream=stream)
    stream.sync()
    assert not device.context.is_lost
    assert cudacore.unraisable_errors() == 0


def test_full_pool_empties_again(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(0, {"max_size": 64 << 20})
    for _ in range(3):
        held: list[cudacore.Buffer] = []
        with pytest.raises(OutOfMemoryError):
            held.extend(pool.allocate(8 << 20, stream=stream) for _ in range(1000))
        assert len(held) >= 4
        for buffer in held:
            buffer.close()
        stream.sync()
        assert pool.attributes.used_mem_current == 0


def test_copy_that_cannot_allocate_leaves_the_source(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(0, {"max_size": 64 << 20})
    buffer = pool.allocate(40 << 20, stream=stream)
    buffer.fill(7, stream=stream)
    with pytest.raises(OutOfMemoryError):
        buffer.copy_to(stream=stream)
    host = bytearray(buffer.size)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert host[0] == host[-1] == 7
