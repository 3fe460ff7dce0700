# SPDX-License-Identifier: Apache-2.0
"""cudacore's memory for CuPy and RMM, and theirs for cudacore."""

import gc

import pytest
from cudacore import OutOfMemoryError, allocators
from resources import MIB, Own, small_pool


def test_wrong_resource_for_rmm():
    with pytest.raises(TypeError, match="rmm_resource: expected a MemoryResource, not NoneType"):
        allocators.rmm_resource(None)


def test_closed_resource_for_rmm():
    pool = small_pool()
    pool.close()
    with pytest.raises(ValueError, match="rmm_resource: <DeviceMemoryResource .*> is closed"):
        allocators.rmm_resource(pool)


def test_rmm(stream):
    rmm = pytest.importorskip("rmm")
    own = Own()
    resource = allocators.rmm_resource(own)
    memory = rmm.DeviceBuffer(size=100, mr=resource)
    assert list(own.live) == [memory.ptr]
    del memory
    assert own.live == {}
    own.error = OutOfMemoryError("no more")
    with pytest.raises(MemoryError, match="no more"):
        rmm.DeviceBuffer(size=100, mr=resource)


def test_rmms_memory(device, stream, gate):
    pytest.importorskip("rmm")
    own = Own()
    resource = allocators.RmmMemoryResource(allocators.rmm_resource(own))
    assert repr(resource) == "<RmmMemoryResource of device 0>"
    with resource.allocate(100, stream=stream) as buffer:
        assert buffer.handle in own.live
        buffer.fill(1, stream=stream)
    assert own.live == {}
    other = device.create_stream()
    buffer = resource.allocate(100, stream=stream)
    gate.hold(other)
    buffer.close(other)
    assert not stream.is_done
    gate.open()
    stream.sync()
    other.close()
    own.error = OutOfMemoryError("no more")
    with pytest.raises(OutOfMemoryError, match="no more"):
        resource.allocate(100)


@pytest.mark.gpu_only(
    reason="CuPy's CUDA runtime is inside of it, and asks for what is not simulated"
)
class TestCupy:
    def test_allocator(self):
        cupy = pytest.importorskip("cupy")
        own = Own()
        with (
            cupy.cuda.using_allocator(allocators.cupy_allocator(own)),
            cupy.cuda.Stream() as stream,
        ):
            x = cupy.arange(1000)
            assert len(own.live) == 1
            assert int(x.sum()) == 499500
            empty = cupy.empty(0)
            assert empty.size == 0
            del x, empty
            stream.synchronize()
        gc.collect()
        assert own.live == {}

    def test_memory_is_short(self):
        cupy = pytest.importorskip("cupy")
        own = Own()
        own.error = OutOfMemoryError("no more")
        with (
            cupy.cuda.using_allocator(allocators.cupy_allocator(own)),
            pytest.raises(OutOfMemoryError, match="no more"),
        ):
            cupy.empty(100)

    def test_pool(self, device, stream, gate):
        cupy = pytest.importorskip("cupy")
        pool = cupy.cuda.MemoryPool()
        resource = allocators.CupyMemoryResource(pool=pool)
        assert repr(resource) == "<CupyMemoryResource of device 0>"
        with resource.allocate(1000, stream=stream) as buffer:
            assert pool.used_bytes() >= 1000
            buffer.fill(7, stream=stream)
            assert set(buffer.to_host(stream=stream).tolist()) == {7}
        assert pool.used_bytes() == 0
        resource.allocate(1000).close()
        other = device.create_stream()
        buffer = resource.allocate(100, stream=stream)
        gate.hold(other)
        buffer.close(other)
        assert not stream.is_done
        gate.open()
        stream.sync()
        other.close()
        pool.set_limit(size=MIB)
        with pytest.raises(OutOfMemoryError):
            resource.allocate(2 * MIB)
        assert allocators.CupyMemoryResource()._pool is cupy.get_default_memory_pool()
