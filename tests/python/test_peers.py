# SPDX-License-Identifier: Apache-2.0
"""Several devices: copies between them, and which of them may access a pool's memory."""

from typing import Any

import pytest
from cudacore import Buffer, CachingMemoryResource, Device, DeviceMemoryResource, Kernel
from harness import build, run_cleanly

pytestmark = pytest.mark.multi_gpu

SOURCE = "__global__ void put(unsigned char* p, int n) { p[0] = n; }"


@pytest.fixture
def pool(device: Device) -> DeviceMemoryResource:
    if not Device(1).can_access_peer(device):
        pytest.skip("device 1 cannot access memory of device 0")
    return DeviceMemoryResource(device, {"max_size": 32 << 20})


@pytest.fixture
def put(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("put")


def first_byte(buffer: Buffer) -> int:
    stream = Device(buffer.device_id).create_stream()
    data = bytearray(buffer.size)
    buffer.copy_to(data, stream=stream)
    stream.sync()
    return data[0]


class TestSet:
    def test_it_is_a_set(self, pool: DeviceMemoryResource) -> None:
        peers = pool.peer_accessible_by
        assert len(peers) == 0
        assert peers == set()
        assert 1 not in peers
        peers.add(1)
        assert list(peers) == [Device(1)]
        assert Device(1) in peers
        assert 1 in peers
        assert "1" not in peers
        assert True not in peers
        assert peers == {1}
        assert peers == [Device(1)]
        assert peers != {0}
        assert peers != 1
        assert repr(peers) == f"{{{Device(1)!r}}}"
        assert pool.peer_accessible_by == {Device(1)}
        peers.discard(Device(1))
        peers.discard(1)
        assert peers == set()
        with pytest.raises(KeyError):
            peers.remove(1)

    def test_assignments(self, pool: DeviceMemoryResource) -> None:
        pool.peer_accessible_by = [1]
        assert pool.peer_accessible_by == {1}
        pool.peer_accessible_by = (Device(0), Device(1))  # its own is left out
        assert pool.peer_accessible_by == {1}
        pool.peer_accessible_by -= {1}
        assert pool.peer_accessible_by == set()
        pool.peer_accessible_by |= {Device(1)}
        assert pool.peer_accessible_by == {1}
        pool.peer_accessible_by &= {0}
        assert pool.peer_accessible_by == set()
        pool.peer_accessible_by = [1]
        pool.peer_accessible_by.clear()
        assert pool.peer_accessible_by == set()

    def test_algebra_gives_sets(self, pool: DeviceMemoryResource) -> None:
        pool.peer_accessible_by = [1]
        assert pool.peer_accessible_by & {Device(1)} == {Device(1)}
        assert pool.peer_accessible_by - {Device(1)} == set()
        assert pool.peer_accessible_by == {1}

    def test_two_views_are_one(self, pool: DeviceMemoryResource) -> None:
        first, second = pool.peer_accessible_by, pool.peer_accessible_by
        first.add(1)
        assert second == {1}


class TestPeersThatCannotBe:
    @pytest.mark.parametrize("wrong", [99, -1, 1 << 40])
    def test_no_such_device(self, pool: DeviceMemoryResource, wrong: int) -> None:
        with pytest.raises((ValueError, OverflowError)):
            pool.peer_accessible_by = [1, wrong]
        with pytest.raises((ValueError, OverflowError)):
            pool.peer_accessible_by.add(wrong)
        assert pool.peer_accessible_by == set()
        assert wrong not in pool.peer_accessible_by

    @pytest.mark.parametrize("wrong", ["1", None, 1.0, True, b"", object()])
    def test_no_device_at_all(self, pool: DeviceMemoryResource, wrong: Any) -> None:
        with pytest.raises(TypeError, match="stands for a device"):
            pool.peer_accessible_by.add(wrong)
        with pytest.raises(TypeError, match="stands for a device"):
            pool.peer_accessible_by = [1, wrong]
        assert pool.peer_accessible_by == set()

    @pytest.mark.parametrize("wrong", [1, Device, None, "1"])
    def test_no_sequence(self, pool: DeviceMemoryResource, wrong: Any) -> None:
        with pytest.raises(TypeError):
            pool.peer_accessible_by = wrong

    def test_its_own_device(self, pool: DeviceMemoryResource) -> None:
        pool.peer_accessible_by.add(0)
        pool.peer_accessible_by.discard(0)
        assert 0 not in pool.peer_accessible_by


class TestMemory:
    def test_a_kernel_of_a_peer(self, pool: DeviceMemoryResource, put: Kernel) -> None:
        buffer = pool.allocate(64)
        stream = Device(1).create_stream()
        with pytest.raises(TypeError, match="peer_accessible_by"):
            put[1, 1, stream](buffer, 7)
        pool.peer_accessible_by = [1]
        for memory in (buffer, buffer[:16], pool.allocate(64)):
            put[1, 1, stream](memory, 7)
            stream.sync()
            assert first_byte(memory) == 7
        pool.peer_accessible_by = []
        with pytest.raises(TypeError, match="peer_accessible_by"):
            put[1, 1, stream](buffer, 7)

    def test_cached_memory(self, pool: DeviceMemoryResource, put: Kernel) -> None:
        buffer = CachingMemoryResource(pool).allocate(64)
        Device(0).sync()
        stream = Device(1).create_stream()
        with pytest.raises(TypeError, match="peer_accessible_by"):
            put[1, 1, stream](buffer, 7)
        pool.peer_accessible_by = [1]
        for memory in (buffer, buffer[:16]):
            put[1, 1, stream](memory, 7)
            stream.sync()
            assert first_byte(memory) == 7

    @pytest.mark.parametrize("there", [0, 1])
    def test_copies_between_devices(self, pool: DeviceMemoryResource, there: int) -> None:
        pool.peer_accessible_by = [1]
        other = DeviceMemoryResource(1, {"max_size": 32 << 20})
        other.peer_accessible_by = [0]
        here, far = pool.allocate(4096), other.allocate(4096)
        stream = Device(there).create_stream()
        here.fill(5, stream=Device(0).default_stream)
        far.fill(6, stream=Device(1).default_stream)
        Device(0).sync()
        Device(1).sync()
        far.copy_from(here, stream=stream)
        stream.sync()
        assert first_byte(far) == 5
        far.fill(9, stream=Device(1).default_stream)
        Device(1).sync()
        assert far.copy_to(here, stream=stream) is here
        stream.sync()
        assert first_byte(here) == 9

    def test_copies_of_different_sizes(self, pool: DeviceMemoryResource) -> None:
        far = DeviceMemoryResource(1, {"max_size": 32 << 20}).allocate(10)
        with pytest.raises(ValueError, match="same size"):
            far.copy_from(pool.allocate(11))


@pytest.mark.simulator_only(reason="takes two devices that are peers")
def test_access_may_be_given_before_the_peer_is_used() -> None:
    said = run_cleanly(
        f"""
        from cudacore import Device, DeviceMemoryResource, Program

        here, peer = Device(0), Device(1)
        here.set_current()
        put = Program({SOURCE!r}, "c++").compile().get_kernel("put")
        pool = DeviceMemoryResource(here, {{"max_size": 32 << 20}})
        pool.peer_accessible_by = [peer]
        buffer = pool.allocate(4)
        here.sync()
        peer.set_current()
        stream = peer.create_stream()
        put[1, 1, stream](buffer, 7)
        stream.sync()
        print(buffer.to_host(stream=stream)[0])
        """,
        env={"CUDACORE_SIMULATOR_DEVICES": "2"},
    )
    assert said == "7\n"
