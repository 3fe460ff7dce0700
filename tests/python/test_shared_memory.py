# SPDX-License-Identifier: Apache-2.0
"""Virtual memory that processes share: descriptors, multiprocessing, and what is not trusted."""

import copy
import os
import pickle
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    IPCBufferDescriptor,
    LegacyPinnedMemoryResource,
    NotSupportedError,
    Stream,
    VirtualMemoryResource,
)
from cudacore._ipc import _buffers
from cudacore._ipc._files import SharedFile
from sharing import open_files, run_program


@pytest.fixture
def resource(device: Device) -> VirtualMemoryResource:
    if not device.properties.handle_type_posix_file_descriptor_supported:
        pytest.skip("the device shares no memory by file descriptors")
    return VirtualMemoryResource(device)


class TestProcesses:
    def test_a_descriptor_is_sent(self, resource: VirtualMemoryResource, tmp_path: Path) -> None:
        text = """
def work(descriptor):
    buffer = Buffer.from_ipc_descriptor(VirtualMemoryResource(0), descriptor)
    assert buffer.is_mapped
    assert value(buffer, 7) == 1
    add(buffer, 7, 41)

def main():
    resource, buffer = make()
    in_child(work, buffer.ipc_descriptor)
    assert value(buffer, 7) == 42
    assert not buffer.is_mapped
"""
        run_program(tmp_path, text)

    def test_a_buffer_is_sent(self, resource: VirtualMemoryResource, tmp_path: Path) -> None:
        text = """
def work(buffer):
    assert buffer.is_mapped
    add(buffer, 7, 41)

def main():
    resource, buffer = make()
    in_child(work, buffer)
    assert value(buffer, 7) == 42
"""
        run_program(tmp_path, text)

    def test_a_grown_buffer_goes_through_a_queue(
        self, resource: VirtualMemoryResource, tmp_path: Path
    ) -> None:
        text = """
def work(queue, size):
    buffer = Buffer.from_ipc_descriptor(VirtualMemoryResource(0), queue.get(timeout=60))
    assert buffer.size == size
    add(buffer, 0, 1)
    add(buffer, size - 1, 2)

def main():
    resource, buffer = make()
    grown = resource.modify_allocation(buffer, 3 * buffer.size)
    grown.fill(1)
    Device().sync()
    buffer.close()
    queue = multiprocessing.get_context("spawn").Queue()
    queue.put(grown.ipc_descriptor)
    in_child(work, queue, grown.size)
    assert (value(grown, 0), value(grown, grown.size - 1)) == (2, 3)
"""
        run_program(tmp_path, text)

    def test_memory_outlives_the_process_that_made_it(
        self, resource: VirtualMemoryResource, tmp_path: Path
    ) -> None:
        text = """
def work(connection):
    resource, buffer = make()
    connection.send(buffer.ipc_descriptor)
    connection.recv()

def main():
    Device().set_current()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    buffer = Buffer.from_ipc_descriptor(VirtualMemoryResource(0), here.recv())
    here.send(None)
    process.join(60)
    assert process.exitcode == 0
    assert value(buffer, 3) == 1
    add(buffer, 3, 4)
    assert value(buffer, 3) == 5
"""
        run_program(tmp_path, text)


class TestDescriptors:
    def test_the_same_process_maps_it_again(
        self, resource: VirtualMemoryResource, stream: Stream
    ) -> None:
        buffer = resource.allocate(1, stream=stream)
        same = Buffer.from_ipc_descriptor(resource, buffer.ipc_descriptor, stream=stream)
        assert same.size == buffer.size
        assert same.handle != buffer.handle
        assert (same.is_mapped, buffer.is_mapped) == (True, False)
        same.fill(6, stream=stream)
        data = bytearray(buffer.size)
        buffer.copy_to(data, stream=stream)
        stream.sync()
        assert data[0] == 6
        buffer.close()
        same.close()
        assert same.is_mapped is False

    def test_they_keep_the_memory(self, resource: VirtualMemoryResource, stream: Stream) -> None:
        buffer = resource.allocate(1, stream=stream)
        buffer.fill(3, stream=stream)
        descriptor = buffer.ipc_descriptor
        buffer.close()
        again = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
        data = bytearray(again.size)
        again.copy_to(data, stream=stream)
        stream.sync()
        assert data[-1] == 3

    def test_their_files_are_closed(self, resource: VirtualMemoryResource) -> None:
        buffer = resource.allocate(1)
        before = open_files()
        for _ in range(10):
            descriptor = buffer.ipc_descriptor
            Buffer.from_ipc_descriptor(resource, descriptor).close()
            del descriptor
        assert open_files() == before

    def test_only_multiprocessing_sends_them(self, resource: VirtualMemoryResource) -> None:
        buffer = resource.allocate(1)
        for unsendable in (buffer, buffer.ipc_descriptor):
            with pytest.raises(TypeError, match="multiprocessing"):
                pickle.dumps(unsendable)
        for make_copy in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="copy_from"):
                make_copy(buffer)
        with pytest.raises(RuntimeError, match="buffer.ipc_descriptor"):
            IPCBufferDescriptor()

    def test_resources_are_pickled(self, resource: VirtualMemoryResource) -> None:
        shared = VirtualMemoryResource(0, {"self_access": "r"})
        same = pickle.loads(pickle.dumps(shared))
        assert same.config == shared.config
        assert same.is_ipc_enabled


class TestRefusals:
    def test_memory_that_cannot_be_shared(
        self, resource: VirtualMemoryResource, device: Device
    ) -> None:
        private = VirtualMemoryResource(device, {"handle_type": None})
        assert not private.is_ipc_enabled
        with private.allocate(1) as buffer, pytest.raises(NotSupportedError, match="posix_fd"):
            _ = buffer.ipc_descriptor
        with device.allocate(16) as buffer:
            with pytest.raises(NotSupportedError, match="ipc_enabled"):
                _ = buffer.ipc_descriptor
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(buffer)
        with resource.allocate(1) as buffer:
            with pytest.raises(ValueError, match="slice"):
                _ = buffer[0:8].ipc_descriptor
            descriptor = buffer.ipc_descriptor
        with pytest.raises(ValueError, match="closed"):
            _ = buffer.ipc_descriptor
        with pytest.raises(NotSupportedError, match="IPC-enabled"):
            Buffer.from_ipc_descriptor(private, descriptor)
        with pytest.raises(ValueError, match="VirtualMemoryResource"):
            Buffer.from_ipc_descriptor(DeviceMemoryResource(device), descriptor)
        with pytest.raises(TypeError, match="VirtualMemoryResource"):
            Buffer.from_ipc_descriptor(LegacyPinnedMemoryResource(), descriptor)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="IPCBufferDescriptor"):
            Buffer.from_ipc_descriptor(resource, b"forged")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "parts",
        [None, (), [], (1,), ((1, 2),), ((None, 2 << 20),), (("x", 1, 2),), ((b"", -1),)],
    )
    def test_damaged_descriptors(self, parts: Any) -> None:
        with pytest.raises(ValueError, match="damaged"):
            _buffers.descriptor_from(parts)

    @pytest.mark.parametrize("size", [0, -1, 1 << 63, 1.0, True, "1"])
    def test_damaged_sizes(self, size: Any) -> None:
        file = SharedFile(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(ValueError, match="damaged"):
            _buffers.descriptor_from(((file, size),))

    def test_forged_sizes(self, resource: VirtualMemoryResource, device: Device) -> None:
        buffer = resource.allocate(1)
        free = device.mem_info.free
        for size in (buffer.size + 1, 2 * buffer.size, 1 << 45, 1 << 62):
            ((file, _),) = buffer.ipc_descriptor._parts
            forged = _buffers.descriptor_from(((file, size),))
            with pytest.raises((ValueError, CUDAError)):
                Buffer.from_ipc_descriptor(resource, forged)
        # Other processes may use a GPU meanwhile.
        assert not cudacore.simulator.is_enabled() or device.mem_info.free == free

    def test_foreign_files(self, resource: VirtualMemoryResource, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(bytes(4 << 20))
        numbers = [
            os.open(tmp_path / "file", os.O_RDWR),
            os.open(os.devnull, os.O_RDWR),
            os.memfd_create("cudacore memory"),
            *os.pipe(),
        ]
        for number in numbers:
            forged = _buffers.descriptor_from(((SharedFile(number), 2 << 20),))
            with pytest.raises(CUDAError):
                Buffer.from_ipc_descriptor(resource, forged)

    @pytest.mark.multi_gpu
    def test_another_device(self, resource: VirtualMemoryResource, device: Device) -> None:
        other = VirtualMemoryResource(1)
        free = device.mem_info.free
        for theirs, mine in ((resource, other), (other, resource)):
            with theirs.allocate(1) as buffer:
                descriptor = buffer.ipc_descriptor
                with pytest.raises(ValueError, match="memory of device . .*resource is of device"):
                    Buffer.from_ipc_descriptor(mine, descriptor)
            del descriptor
        assert device.mem_info.free == free

    def test_nothing_is_not_shared(self, resource: VirtualMemoryResource) -> None:
        with resource.allocate(0) as buffer, pytest.raises(ValueError, match="empty"):
            _ = buffer.ipc_descriptor

    def test_descriptors_are_mapped_as_often_as_one_likes(
        self, resource: VirtualMemoryResource
    ) -> None:
        buffer = resource.allocate(1)
        descriptor = buffer.ipc_descriptor
        mapped = [Buffer.from_ipc_descriptor(resource, descriptor) for _ in range(5)]
        assert len({each.handle for each in mapped}) == 5
