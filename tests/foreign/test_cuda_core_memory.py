# SPDX-License-Identifier: Apache-2.0
"""Memory of cuda.core from PyPI."""

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    launch,
)
from cuda.core.utils import StridedMemoryView
from programs import SCALE, pinned


def test_a_pool_counts_and_bounds_its_memory(device, stream):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 20))
    buffer = pool.allocate(1 << 16, stream=stream)

    assert pool.device_id == device.device_id
    assert pool.is_device_accessible
    assert not pool.is_host_accessible
    assert buffer.memory_resource is pool
    assert pool.attributes.used_mem_current >= 1 << 16
    with pytest.raises(Exception, match="OUT_OF_MEMORY"):
        pool.allocate(1 << 24, stream=stream)
    buffer.close(stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 0
    assert pool.attributes.used_mem_high >= 1 << 16


def test_a_buffer_of_no_bytes(device, stream):
    buffer = device.memory_resource.allocate(0, stream=stream)

    assert buffer.size == 0
    buffer.close(stream)
    stream.sync()


@pytest.mark.parametrize(
    "resource", [LegacyPinnedMemoryResource, PinnedMemoryResource, ManagedMemoryResource]
)
def test_memory_that_host_and_device_share(stream, compile_ptx, resource):
    buffer = resource().allocate(128, stream=stream)
    stream.sync()
    values = np.from_dlpack(buffer).view(np.float32)
    values[:] = np.arange(32)
    kernel = compile_ptx(SCALE).get_kernel("scale")
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, np.float32(2))
    stream.sync()

    assert buffer.is_host_accessible
    assert buffer.is_device_accessible
    assert buffer.is_managed is (resource is ManagedMemoryResource)
    np.testing.assert_array_equal(values, np.arange(32, dtype=np.float32) * 2)
    del values
    buffer.close(stream)


@pytest.mark.parametrize("pattern", [0x5A, b"\x5a", b"\x01\x02", b"\x01\x02\x03\x04"])
def test_fill_and_copy(device, stream, pattern):
    buffer = device.allocate(64, stream=stream)
    buffer.fill(pattern, stream=stream)
    again = buffer.copy_to(stream=stream)
    target, values = pinned(64, np.uint8)
    target.copy_from(again, stream=stream)
    stream.sync()

    expected = bytes([pattern]) if isinstance(pattern, int) else pattern
    assert values.tobytes() == expected * (64 // len(expected))


def test_a_view_of_a_buffer_on_the_device(device, stream):
    buffer = device.allocate(96, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, shape=(4, 6), dtype=np.dtype(np.int32))

    assert view.ptr == int(buffer.handle)
    assert view.shape == (4, 6)
    assert view.is_device_accessible
    assert buffer.__dlpack_device__()[0] == 2
    handle = Buffer.from_handle(int(buffer.handle), 96)
    assert handle.is_device_accessible
    assert not handle.is_host_accessible
