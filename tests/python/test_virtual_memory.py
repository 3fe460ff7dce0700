# SPDX-License-Identifier: Apache-2.0
"""VirtualMemoryResource: kernels through the mapping, growth, access, peers, refusals."""

import copy
import gc
import pickle
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    CachingMemoryResource,
    CUDAError,
    Device,
    Kernel,
    NotSupportedError,
    OutOfMemoryError,
    Stream,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    typing,
)
from harness import build, run

SOURCE = """
__global__ void write(unsigned char* to, size_t at, int value) { to[at] = value; }
__global__ void read(const unsigned char* from, size_t at, unsigned char* to) { *to = from[at]; }
"""


@pytest.fixture(scope="module")
def kernels(device: Device) -> dict[str, Kernel]:
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory")
    code = build(SOURCE)
    return {name: code.get_kernel(name) for name in ("write", "read")}


@pytest.fixture
def resource(device: Device, kernels: dict[str, Kernel]) -> VirtualMemoryResource:
    return VirtualMemoryResource(device)


@pytest.fixture
def stream(device: Device) -> Stream:
    return device.create_stream()


def at(buffer: Buffer, offset: int, stream: Stream) -> int:
    out = bytearray(buffer.size)
    buffer.copy_to(out, stream=stream)
    stream.sync()
    return out[offset]


def test_kernels_write_and_read_through_the_mapping(
    resource: VirtualMemoryResource, kernels: dict[str, Kernel], stream: Stream
) -> None:
    with resource.allocate(1, stream=stream) as buffer, resource.allocate(1, stream=stream) as to:
        last = buffer.size - 1
        kernels["write"][1, 1, stream](buffer, last, 7)
        kernels["read"][1, 1, stream](buffer, last, to)
        assert at(buffer, last, stream) == at(to, 0, stream) == 7


def test_a_buffer_is_as_large_as_its_memory(
    resource: VirtualMemoryResource, device: Device
) -> None:
    with resource.allocate(1) as buffer:
        assert buffer.size > 1
        assert buffer.memory_resource is resource
        assert buffer.device_id == resource.device_id == device.device_id
        assert (buffer.is_device_accessible, buffer.is_host_accessible) == (True, False)
    assert resource.allocate(0).size == 0
    assert repr(resource) == f"<VirtualMemoryResource of device {device.device_id}>"


def test_growth_keeps_the_contents(
    resource: VirtualMemoryResource, kernels: dict[str, Kernel], stream: Stream
) -> None:
    first = resource.allocate(1, stream=stream)
    first.fill(3, stream=stream)
    buffers = [first]
    for _ in range(5):
        before = buffers[-1]
        grown = resource.modify_allocation(before, before.size + 1)
        assert grown.size > before.size
        kernels["write"][1, 1, stream](grown, grown.size - 1, len(buffers))
        buffers.append(grown)
    grown = buffers[-1]
    assert at(grown, 0, stream) == at(grown, first.size - 1, stream) == 3
    for count, buffer in enumerate(buffers[1:], 1):
        assert at(grown, buffer.size - 1, stream) == count
        assert at(buffer, 0, stream) == 3  # all of them stay usable
    for buffer in buffers[:-1]:
        buffer.close()
    assert at(grown, 0, stream) == 3
    grown.close()


@pytest.mark.simulator_only(reason="a driver need not give the hinted address")
def test_growth_keeps_the_address(device: Device, stream: Stream) -> None:
    # What a closed buffer leaves has free addresses behind its start. Another thread may take
    # them first, so a few tries are allowed.
    for _ in range(20):
        hole = VirtualMemoryResource(device).allocate(64 << 20, stream=stream)
        start = hole.handle
        hole.close()
        resource = VirtualMemoryResource(device, {"addr_hint": start})
        buffer = resource.allocate(1, stream=stream)
        grown = resource.modify_allocation(buffer, 5 * buffer.size)
        if grown.handle == buffer.handle == start:
            break
    assert grown.handle == buffer.handle
    grown.fill(9, stream=stream)  # across both mappings
    assert at(grown, grown.size - 1, stream) == 9
    # The addresses behind the first buffer are taken now.
    other = resource.modify_allocation(buffer, 2 * buffer.size)
    assert other.handle != buffer.handle
    assert at(other, 0, stream) == 9


def test_growth_by_moving_copies_nothing(
    resource: VirtualMemoryResource, kernels: dict[str, Kernel], stream: Stream
) -> None:
    first = resource.allocate(1, stream=stream)
    obstacle = resource.modify_allocation(first, 2 * first.size)
    moved = resource.modify_allocation(first, 2 * first.size)
    assert moved.handle != first.handle
    kernels["write"][1, 1, stream](moved, 5, 77)
    stream.sync()
    assert at(first, 5, stream) == 77  # the same memory
    obstacle.close()
    first.close()
    assert at(moved, 5, stream) == 77
    again = resource.modify_allocation(moved, moved.size + 1)
    assert again.handle == moved.handle  # moving took addresses for the next growth


def test_what_is_large_enough_stays(resource: VirtualMemoryResource) -> None:
    buffer = resource.allocate(1)
    same = resource.modify_allocation(buffer, 1)
    assert (same.handle, same.size) == (buffer.handle, buffer.size)
    buffer.close()
    assert same.size > 0
    same.close()


def test_slices_outlive_growth(resource: VirtualMemoryResource, stream: Stream) -> None:
    buffer = resource.allocate(1, stream=stream)
    part = buffer[16:32]
    buffer.fill(1, stream=stream)
    grown = resource.modify_allocation(buffer, 2 * buffer.size)
    buffer.close()
    grown.close()
    assert at(part, 0, stream) == 1


@pytest.mark.simulator_only(reason="other processes use a GPU's memory, too")
def test_memory_comes_back(
    device: Device, resource: VirtualMemoryResource, kernels: dict[str, Kernel]
) -> None:
    gc.collect()
    device.sync()
    before = device.mem_info.free
    buffer = resource.allocate(8 << 20)
    grown = resource.modify_allocation(buffer, 64 << 20)
    assert device.mem_info.free <= before - (64 << 20)
    buffer.close()
    grown.close()
    device.sync()
    assert device.mem_info.free >= before


def test_growth_that_fails_loses_nothing(
    device: Device, resource: VirtualMemoryResource, stream: Stream
) -> None:
    buffer = resource.allocate(1, stream=stream)
    buffer.fill(4, stream=stream)
    free = device.mem_info.free
    with pytest.raises(OutOfMemoryError):
        resource.modify_allocation(buffer, 1 << 45)
    with pytest.raises(OverflowError):
        resource.modify_allocation(buffer, (1 << 64) - 1)
    if cudacore.simulator.is_enabled():  # other processes use a GPU's memory, too
        assert device.mem_info.free == free
    assert at(buffer, 0, stream) == 4
    assert at(resource.modify_allocation(buffer, buffer.size + 1), 0, stream) == 4


@pytest.mark.simulator_only(reason="faults end the process's use of a GPU")
def test_memory_is_protected() -> None:
    script = f"""
    import cudacore
    from cudacore import Device, Program, VirtualMemoryResource

    device = Device(); device.set_current()
    code = Program({SOURCE!r}, "c++").compile()
    write, read = code.get_kernel("write"), code.get_kernel("read")
    stream = device.create_stream()
    out = device.allocate(4, stream=stream)

    def fails(work):
        try:
            work()
            stream.sync()
        except cudacore.CUDAError as error:
            print(error.name, "cuMemSetAccess" in str(error))
        global out
        cudacore.simulator.reset()

    resource = VirtualMemoryResource(device, {{"self_access": "r"}})
    buffer = resource.allocate(1)
    read[1, 1, stream](buffer, 0, out)
    stream.sync()
    fails(lambda: write[1, 1, stream](buffer, 0, 1))

    stream = device.create_stream(); out = device.allocate(4, stream=stream)
    buffer = VirtualMemoryResource(device, {{"self_access": None}}).allocate(1)
    fails(lambda: read[1, 1, stream](buffer, 0, out))

    stream = device.create_stream()
    buffer = VirtualMemoryResource(device).allocate(1)
    address, size = buffer.handle, buffer.size
    buffer.close()
    fails(lambda: write[1, 1, stream](address, 0, 1))
    """
    result = run(script)
    assert result.stdout.split("\n")[:3] == [
        "CUDA_ERROR_ILLEGAL_ADDRESS True",
        "CUDA_ERROR_ILLEGAL_ADDRESS True",
        "CUDA_ERROR_ILLEGAL_ADDRESS False",
    ], result.stderr


def test_a_release_waits_for_its_stream(
    resource: VirtualMemoryResource, kernels: dict[str, Kernel], stream: Stream
) -> None:
    buffer = resource.allocate(1, stream=stream)
    for _ in range(50):
        kernels["write"][1, 1, stream](buffer, 0, 1)
    buffer.close()
    stream.sync()  # no kernel has lost its memory


def test_peers_reach_the_memory(device: Device, kernels: dict[str, Kernel]) -> None:
    if cudacore.num_devices() < 2 or not Device(1).can_access_peer(0):
        pytest.skip("needs two devices that are peers")
    peer = Device(1)
    shared = VirtualMemoryResource(0, {"peers": [1]})
    buffer = shared.allocate(1)
    grown = shared.modify_allocation(buffer, buffer.size + 1)
    try:
        peer.set_current()
        stream = peer.create_stream()
        write = build(SOURCE).get_kernel("write")
        for memory in (buffer, grown):
            write[1, 1, stream](memory, memory.size - 1, 21)
            stream.sync()
        private = VirtualMemoryResource(0).allocate(1)
        with pytest.raises(TypeError, match="its memory is on device 0"):
            write[1, 1, stream](private, 0, 1)
    finally:
        device.set_current()
    assert at(grown, grown.size - 1, device.default_stream) == 21
    assert at(grown, buffer.size - 1, device.default_stream) == 21


@pytest.mark.simulator_only(reason="faults end the process's use of a GPU")
def test_what_peers_may_do_follows_the_options() -> None:
    script = f"""
    import cudacore
    from cudacore import Device, Program, VirtualMemoryResource

    Device(1).set_current()
    stream = Device(1).create_stream()
    write = Program({SOURCE!r}, "c++").compile().get_kernel("write")
    resource = VirtualMemoryResource(0, {{"peers": [1]}})
    buffer = resource.allocate(1)
    write[1, 1, stream](buffer, 0, 1)
    stream.sync()
    resource.modify_allocation(buffer, 1, {{"peers": []}})
    address = buffer.handle
    try:
        write[1, 1, stream](buffer, 0, 1)
    except TypeError as error:
        print("its memory is on device 0" in str(error))
    try:
        write[1, 1, stream](address, 0, 1)
        stream.sync()
    except cudacore.CUDAError as error:
        print(error.name)
    """
    result = run(script, env={"CUDACORE_SIMULATOR_DEVICES": "2"})
    assert result.stdout.split() == ["True", "CUDA_ERROR_ILLEGAL_ADDRESS"], result.stderr


@pytest.mark.simulator_only(reason="faults end the process's use of a GPU")
def test_access_is_taken_from_memory_that_older_options_made() -> None:
    script = f"""
    import cudacore
    from cudacore import Device, Program, VirtualMemoryResource

    Device(1).set_current()
    stream = Device(1).create_stream()
    write = Program({SOURCE!r}, "c++").compile().get_kernel("write")
    resource = VirtualMemoryResource(0, {{"peers": [1]}})
    buffer, other = resource.allocate(1), resource.allocate(1)
    for changed in (other, buffer):
        resource.modify_allocation(changed, 1, {{"peers": []}})
    try:
        write[1, 1, stream](buffer.handle, 0, 1)
        stream.sync()
    except cudacore.CUDAError as error:
        print(error.name)
    """
    result = run(script, env={"CUDACORE_SIMULATOR_DEVICES": "2"})
    assert result.stdout.strip() == "CUDA_ERROR_ILLEGAL_ADDRESS", result.stderr


def test_peers_are_asked_about_each_address(device: Device) -> None:
    if cudacore.num_devices() < 2 or not Device(1).can_access_peer(0):
        pytest.skip("needs two devices that are peers")
    peer = Device(1)
    resource = VirtualMemoryResource(0)
    private, changed = resource.allocate(1), resource.allocate(1)
    resource.modify_allocation(changed, 1, {"peers": [1]})
    cached = CachingMemoryResource(resource).allocate(4096)
    device.sync()
    try:
        peer.set_current()
        stream = peer.create_stream()
        write = build(SOURCE).get_kernel("write")
        for memory in (changed, changed[:4096], resource.allocate(1), cached):
            write[1, 1, stream](memory, 1, 21)
            stream.sync()
            assert at(memory, 1, device.default_stream) == 21
        for memory in (private, private[:4096]):
            with pytest.raises(TypeError, match="its memory is on device 0"):
                write[1, 1, stream](memory, 0, 1)
    finally:
        device.set_current()


def test_the_host_has_memory_too(device: Device, kernels: dict[str, Kernel]) -> None:
    if not device.properties.host_virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory of the host")
    options: dict[str, Any] = {"location_type": "host", "handle_type": None, "peers": [0]}
    with VirtualMemoryResource(device, options).allocate(1) as buffer:
        assert (buffer.device_id, buffer.is_host_accessible) == (-1, True)
        kernels["write"][1, 1](buffer, 3, 11)
        device.sync()
        assert memoryview(buffer)[3] == 11


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"addr_align": 3}, ValueError, "power of two"),
        ({"peers": [0]}, ValueError, "self_access"),
        ({"peers": [1, 1]}, ValueError, "twice"),
        ({"peers": [99]}, ValueError, "no device 99"),
        ({"peers": ["1"]}, TypeError, r"peers\[0\]"),
        ({"handle_type": "win32_kmt"}, NotSupportedError, "posix_fd"),
        (
            {"handle_type": "carrier pigeon"},
            ValueError,
            "'posix_fd', 'win32_kmt', 'fabric' or None",
        ),
        ({"allocation_type": None}, TypeError, "'pinned' or 'managed'"),
        ({"self_access": "w"}, ValueError, "'r', 'rw' or None"),
        ({"addr_hint": -1}, ValueError, "addr_hint must lie in 0 .."),
        ({"color": "red"}, TypeError, "no field 'color'"),
    ],
)
def test_impossible_options_are_refused(
    device: Device, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        VirtualMemoryResource(0, options)


@pytest.mark.simulator_only(reason="some GPUs can")
@pytest.mark.parametrize(
    ("options", "attribute"),
    [
        ({"handle_type": "fabric"}, "handle_type_fabric_supported"),
        ({"gpu_direct_rdma": True}, "GPU Direct RDMA is not supported on this device"),
    ],
)
def test_what_a_device_lacks_is_said(
    device: Device, options: dict[str, Any], attribute: str
) -> None:
    with pytest.raises(NotSupportedError, match=attribute):
        VirtualMemoryResource(device, options)


@pytest.mark.simulator_only(reason="the driver decides")
def test_managed_memory_is_refused_by_the_driver(resource: VirtualMemoryResource) -> None:
    managed = VirtualMemoryResource(0, {"allocation_type": "managed"})
    with pytest.raises(NotSupportedError, match="cuMemGetAllocationGranularity"):
        managed.allocate(1)


class TestWrongCalls:
    def test_foreign_buffers(self, resource: VirtualMemoryResource, device: Device) -> None:
        mine = resource.allocate(1)
        for buffer in (device.allocate(16), mine[0:16], VirtualMemoryResource(device).allocate(1)):
            with pytest.raises(ValueError, match="this resource allocated"):
                resource.modify_allocation(buffer, 1 << 24)
        with pytest.raises(TypeError, match="a Buffer"):
            resource.modify_allocation(bytearray(3), 1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="location_type"):
            resource.modify_allocation(mine, 1, {"location_type": "host"})

    def test_closed_buffers(self, resource: VirtualMemoryResource) -> None:
        buffer = resource.allocate(1)
        buffer.close()
        with pytest.raises(ValueError, match="closed"):
            resource.modify_allocation(buffer, 1 << 24)

    def test_memory_that_is_not_there(self, resource: VirtualMemoryResource) -> None:
        with resource.allocate(1) as buffer, pytest.raises(ValueError, match="has no buffer"):
            resource.deallocate(buffer.handle, 16)

    def test_sizes(self, resource: VirtualMemoryResource) -> None:
        with pytest.raises(
            ValueError, match=r"allocate: size must lie in 0 .. 2\*\*63 - 1, not -1"
        ):
            resource.allocate(-1)
        with pytest.raises(OutOfMemoryError):
            resource.allocate(1 << 45)
        with pytest.raises(CUDAError), resource.allocate(1 << 62):
            pass


class TestOptions:
    def test_defaults_are_those_of_cuda_core(self) -> None:
        options = VirtualMemoryResourceOptions()
        assert options.allocation_type == typing.VirtualMemoryAllocationType.PINNED
        assert options.location_type == typing.VirtualMemoryLocationType.DEVICE
        assert options.handle_type == typing.VirtualMemoryHandleType.POSIX_FD
        assert options.granularity == typing.VirtualMemoryGranularityType.RECOMMENDED
        assert options.self_access == typing.VirtualMemoryAccessType.READ_WRITE
        assert options.peer_access == typing.VirtualMemoryAccessType.READ_WRITE
        assert (options.addr_hint, options.addr_align, options.peers) == (0, None, [])

    def test_config_is_a_copy_and_follows_modify_allocation(
        self, resource: VirtualMemoryResource
    ) -> None:
        before = resource.config
        before.self_access = "r"
        assert resource.config == VirtualMemoryResourceOptions()
        with resource.allocate(1) as buffer:
            resource.modify_allocation(buffer, 1, before).close()
            assert resource.config == before
            with pytest.raises(NotSupportedError):
                resource.modify_allocation(buffer, 1, {"handle_type": "win32_kmt"})
        assert resource.config == before

    def test_they_are_copied_and_pickled(self) -> None:
        options = VirtualMemoryResourceOptions(handle_type=None, peers=[1, 2], peer_access="r")
        assert copy.copy(options) == pickle.loads(pickle.dumps(options)) == options
        assert eval(repr(options), vars(cudacore)) == options
