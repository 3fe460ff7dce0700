# SPDX-License-Identifier: Apache-2.0
"""Descriptors of shared memory that are damaged, forged, old or of something else."""

import copy
import os
import pickle
import random
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    ManagedMemoryResource,
    NotSupportedError,
    PinnedMemoryResource,
    Stream,
    VirtualMemoryResource,
)
from cudacore._ipc import _buffers, _files, _handle
from sharing import (  # noqa: F401
    OPTIONS,
    Pool,
    a_buffer,
    a_pool,
    first_byte,
    import_pool,
    open_files,
)


def forged(data: bytes, size: int = 4096) -> cudacore.IPCBufferDescriptor:
    return _buffers.descriptor_from(((data, size),))


@pytest.mark.simulator_only(reason="a driver may not import pools of its own process")
class TestHostilePeers:
    @pytest.fixture
    def mapped(self, pool: Pool) -> Pool:
        return import_pool(pool)

    @pytest.fixture
    def data(self, buffer: Buffer) -> bytes:
        ((data, _),) = buffer.ipc_descriptor._parts
        assert isinstance(data, bytes)
        return data

    def test_random_bytes(self, mapped: Pool, stream: Stream) -> None:
        chance = random.Random(1)
        for _ in range(200):
            with pytest.raises(ValueError, match="cuMemPoolImportPointer"):
                Buffer.from_ipc_descriptor(mapped, forged(chance.randbytes(64)), stream=stream)

    def test_every_changed_byte(self, mapped: Pool, data: bytes, stream: Stream) -> None:
        for place in range(len(data)):
            for change in (1, 0x80):
                changed = bytearray(data)
                changed[place] ^= change
                with pytest.raises(ValueError, match="cuMemPoolImportPointer"):
                    Buffer.from_ipc_descriptor(mapped, forged(bytes(changed)), stream=stream)

    @pytest.mark.parametrize("size", [4097, 1 << 20, 1 << 45, 1 << 62])
    def test_larger_sizes(self, mapped: Pool, data: bytes, size: int, stream: Stream) -> None:
        with pytest.raises(ValueError, match="says that the memory has"):
            Buffer.from_ipc_descriptor(mapped, forged(data, size), stream=stream)
        with Buffer.from_ipc_descriptor(mapped, forged(data), stream=stream) as right:
            with pytest.raises(ValueError, match="says that the memory has"):
                Buffer.from_ipc_descriptor(mapped, forged(data, size), stream=stream)
            assert first_byte(right, stream) == 1

    def test_sizes_in_the_process_that_made_it(
        self, pool: Pool, data: bytes, stream: Stream
    ) -> None:
        with pytest.raises(ValueError, match="says that the memory has"):
            Buffer.from_ipc_descriptor(pool, forged(data, 4097), stream=stream)
        with pytest.raises(ValueError, match="is not one of a buffer"):
            Buffer.from_ipc_descriptor(pool, forged(bytes(64)), stream=stream)

    def test_a_replay(self, pool: Pool, mapped: Pool, stream: Stream) -> None:
        buffer = pool.allocate(512, stream=stream)
        old = buffer.ipc_descriptor
        buffer.close()
        stream.sync()
        for _ in range(2):
            with pytest.raises(ValueError, match="freed|not one of"):
                Buffer.from_ipc_descriptor(mapped, old, stream=stream)
            with pytest.raises(ValueError, match="not closed"):
                Buffer.from_ipc_descriptor(pool, old, stream=stream)
            buffer = pool.allocate(512, stream=stream)  # at the same place
            _ = buffer.ipc_descriptor

    def test_another_pool(self, mapped: Pool, device: Device, stream: Stream) -> None:
        other = DeviceMemoryResource(device, OPTIONS)
        theirs = other.allocate(64, stream=stream)
        with pytest.raises(ValueError, match="pool"):
            Buffer.from_ipc_descriptor(mapped, theirs.ipc_descriptor, stream=stream)
        theirs = VirtualMemoryResource(device).allocate(64)
        with pytest.raises(ValueError, match="VirtualMemoryResource"):
            Buffer.from_ipc_descriptor(mapped, theirs.ipc_descriptor, stream=stream)

    @pytest.mark.multi_gpu
    def test_another_device(self, device: Device, stream: Stream) -> None:
        pool = DeviceMemoryResource(1, OPTIONS)
        handle = pool.allocation_handle
        wrong = DeviceMemoryResource.from_allocation_handle(0, int(handle))
        with pool.allocate(64) as buffer:
            for _ in range(2):
                with pytest.raises(ValueError, match="memory of device 1.*resource is of device 0"):
                    Buffer.from_ipc_descriptor(wrong, buffer.ipc_descriptor, stream=stream)
        stream.sync()
        with pytest.raises(ValueError, match="not of a pool of device 0"):
            DeviceMemoryResource.from_allocation_handle(0, pool.allocation_handle)

    def test_another_kind_of_pool(self, device: Device, stream: Stream) -> None:
        pinned = PinnedMemoryResource(OPTIONS)
        handle = pinned.allocation_handle
        wrong = DeviceMemoryResource.from_allocation_handle(device, int(handle))
        buffer = pinned.allocate(64, stream=stream)
        with pytest.raises(ValueError, match="host memory, but the resource is of device"):
            Buffer.from_ipc_descriptor(wrong, buffer.ipc_descriptor, stream=stream)
        with pytest.raises(ValueError, match="not of a pool of device"):
            DeviceMemoryResource.from_allocation_handle(device, pinned.allocation_handle)
        of_device = DeviceMemoryResource(device, OPTIONS)
        with pytest.raises(ValueError, match="not of a pool of host memory"):
            PinnedMemoryResource.from_allocation_handle(of_device.allocation_handle)

    def test_foreign_files(self, device: Device, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(bytes(4 << 20))
        (memory, _), *_ = VirtualMemoryResource(device).allocate(1).ipc_descriptor._parts
        assert isinstance(memory, _files.SharedFile)
        numbers = [
            os.open(tmp_path / "file", os.O_RDWR),
            os.open(os.devnull, os.O_RDWR),
            os.memfd_create("cudacore memory", os.MFD_ALLOW_SEALING),
            *os.pipe(),
        ]
        before = open_files()
        for number in [*numbers, memory.number, 1 << 20]:
            with pytest.raises(CUDAError, match="cuMemPoolImportFromShareableHandle"):
                DeviceMemoryResource.from_allocation_handle(device, number)
            with pytest.raises(CUDAError, match="cuMemPoolImportFromShareableHandle"):
                PinnedMemoryResource.from_allocation_handle(number)
        assert open_files() == before
        for number in numbers:
            os.close(number)


class TestRefusals:
    @pytest.mark.parametrize("wrong", [None, "1", 1.0, True, b"1"])
    def test_handles_of_a_wrong_type(self, device: Device, wrong: Any) -> None:
        with pytest.raises(TypeError, match="alloc_handle"):
            DeviceMemoryResource.from_allocation_handle(device, wrong)
        with pytest.raises(TypeError, match="alloc_handle"):
            PinnedMemoryResource.from_allocation_handle(wrong)

    @pytest.mark.parametrize("wrong", [-1, 1 << 31, 1 << 70])
    def test_numbers_that_are_no_files(self, device: Device, wrong: int) -> None:
        with pytest.raises(ValueError, match="alloc_handle must lie in 0"):
            DeviceMemoryResource.from_allocation_handle(device, wrong)

    @pytest.mark.parametrize("data", [b"", bytes(63), bytes(65), "x" * 64, bytearray(64), None])
    def test_damaged_bytes(self, data: Any) -> None:
        with pytest.raises(ValueError, match="damaged"):
            forged(data)

    @pytest.mark.parametrize("size", [0, -1, (1 << 62) + 1, 1.0, True, None])
    def test_damaged_sizes(self, size: Any) -> None:
        with pytest.raises(ValueError, match="damaged"):
            forged(bytes(64), size)

    def test_damaged_lists(self) -> None:
        with pytest.raises(ValueError, match="one part"):
            _buffers.descriptor_from(((bytes(64), 1), (bytes(64), 1)))

    def test_damaged_handles(self) -> None:
        file = _files.SharedFile(os.open(os.devnull, os.O_RDONLY))
        for parts in ((None, None), (file, b""), (file, "x" * 16), (3, None)):
            with pytest.raises(ValueError, match="damaged"):
                _handle.handle_from(*parts)

    def test_memory_that_has_none(self, pool: Pool, stream: Stream) -> None:
        with pool.allocate(0, stream=stream) as empty, pytest.raises(ValueError, match="empty"):
            _ = empty.ipc_descriptor
        buffer = pool.allocate(64, stream=stream)
        with pytest.raises(ValueError, match="slice"):
            _ = buffer[:8].ipc_descriptor
        for make_copy in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="copy_from"):
                make_copy(buffer)
        buffer.close()
        with pytest.raises(ValueError, match="closed"):
            _ = buffer.ipc_descriptor
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(buffer)

    def test_resources_that_map_nothing(
        self, pool: Pool, buffer: Buffer, device: Device, stream: Stream
    ) -> None:
        descriptor = buffer.ipc_descriptor
        with pytest.raises(NotSupportedError, match="IPC-enabled"):
            Buffer.from_ipc_descriptor(DeviceMemoryResource(device), descriptor, stream=stream)
        with pytest.raises(NotSupportedError, match="IPC-enabled"):
            Buffer.from_ipc_descriptor(
                ManagedMemoryResource(),  # type: ignore[arg-type]
                descriptor,
                stream=stream,
            )
        with pytest.raises(ValueError, match="resource of that pool"):
            Buffer.from_ipc_descriptor(VirtualMemoryResource(device), descriptor, stream=stream)
