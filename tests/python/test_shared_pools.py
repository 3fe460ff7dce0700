# SPDX-License-Identifier: Apache-2.0
"""Pools that processes share: their memory, handles and names, and what is not trusted."""

import copy
import multiprocessing.reduction
import pickle
import uuid
from pathlib import Path

import cudacore
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    IPCAllocationHandle,
    NotSupportedError,
    Stream,
)
from cudacore._ipc import _buffers
from sharing import (  # noqa: F401
    OPTIONS,
    Pool,
    a_buffer,
    a_pool,
    first_byte,
    import_pool,
    open_files,
    run_program,
)


@pytest.mark.usefixtures("pool")
class TestProcesses:
    def test_a_buffer_is_sent(self, tmp_path: Path) -> None:
        text = """
def work(buffer):
    Device().set_current()
    assert buffer.is_mapped and buffer.memory_resource.is_mapped
    assert value(buffer, 7) == 1
    add(buffer, 7, 41)

def main():
    pool, buffer = make_pool()
    in_child(work, buffer)
    assert value(buffer, 7) == 42
    assert not buffer.is_mapped and not pool.is_mapped
"""
        run_program(tmp_path, text)

    def test_pinned_memory_is_sent(self, tmp_path: Path) -> None:
        text = """
def work(queue):
    Device().set_current()
    buffer = queue.get(timeout=60)
    assert type(buffer.memory_resource) is PinnedMemoryResource
    memoryview(buffer)[3] = 9
    add(buffer, 5, 1)

def main():
    Device().set_current()
    pool = PinnedMemoryResource({"ipc_enabled": True})
    buffer = pool.allocate(100)
    Device().sync()
    memoryview(buffer)[:] = bytes(100)
    queue = multiprocessing.get_context("spawn").Queue()
    queue.put(buffer)
    in_child(work, queue)
    assert memoryview(buffer)[3] == 9 and memoryview(buffer)[5] == 1
"""
        run_program(tmp_path, text)

    def test_a_pool_is_sent_once_and_then_found(self, tmp_path: Path) -> None:
        text = """
def work(queue):
    pool = queue.get(timeout=60)
    assert pool.is_ipc_enabled and pool.is_mapped and pool.uuid is not None
    buffer = pickle.loads(queue.get(timeout=60))
    assert buffer.memory_resource is pool
    again = queue.get(timeout=60)
    assert again.memory_resource is pool and again.handle == buffer.handle
    handle = queue.get(timeout=60)
    assert DeviceMemoryResource.from_allocation_handle(0, handle) is pool
    add(buffer, 0, 1)

def main():
    pool, buffer = make_pool()
    queue = multiprocessing.get_context("spawn").Queue()
    for thing in (pool, pickle.dumps(buffer), buffer, pool.allocation_handle):
        queue.put(thing)
    in_child(work, queue)
    assert value(buffer, 0) == 2
"""
        run_program(tmp_path, text)

    def test_a_pool_that_was_not_sent_is_not_found(self, tmp_path: Path) -> None:
        text = """
def work(pickled):
    try:
        pickle.loads(pickled)
    except RuntimeError as error:
        assert "was not found" in str(error)
    else:
        raise AssertionError

def main():
    pool, buffer = make_pool()
    in_child(work, pickle.dumps(buffer))
"""
        run_program(tmp_path, text)

    def test_a_buffer_comes_back(self, tmp_path: Path) -> None:
        text = """
def work(connection):
    Device().set_current()
    buffer = connection.recv()
    add(buffer, 0, 4)
    connection.send(buffer)
    connection.recv()

def main():
    pool, buffer = make_pool()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    here.send(buffer)
    same = here.recv()
    assert same == buffer and same.memory_resource is pool
    here.send(None)
    process.join(60)
    assert process.exitcode == 0
    buffer.close()
    assert value(same, 0) == 5
"""
        run_program(tmp_path, text)

    def test_many_processes_share_one_buffer(self, tmp_path: Path) -> None:
        text = """
def work(buffer, place):
    for i in range(10):
        add(buffer, place, 1)

def main():
    pool, buffer = make_pool()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(buffer, i)) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert [value(buffer, i) for i in range(4)] == [11, 11, 11, 1]
"""
        run_program(tmp_path, text)

    def test_the_maker_frees_it_first(self, tmp_path: Path) -> None:
        text = """
def work(connection):
    Device().set_current()
    pool, descriptor = connection.recv()
    buffer = Buffer.from_ipc_descriptor(pool, descriptor)
    buffer.close()
    connection.send("closed")
    connection.recv()
    try:
        Buffer.from_ipc_descriptor(pool, descriptor)
    except ValueError as error:
        assert cudacore.unraisable_errors() == 0
        connection.send("refused")
    else:
        connection.send("taken")  # a driver may not notice, and map what is there now

def main():
    pool, buffer = make_pool()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    here.send((pool, buffer.ipc_descriptor))
    assert here.recv() == "closed"
    buffer.close()
    Device().sync()
    here.send(None)
    assert here.recv() == "refused" or not cudacore.simulator.is_enabled()
    process.join(60)
    assert process.exitcode == 0
"""
        run_program(tmp_path, text)

    def test_a_forked_child_is_refused(self, tmp_path: Path) -> None:
        text = """
import os
import warnings

def main():
    warnings.simplefilter("ignore")
    pool, buffer = make_pool()
    descriptor, handle = buffer.ipc_descriptor, pool.allocation_handle
    uses = [
        lambda: buffer.ipc_descriptor,
        lambda: pool.allocation_handle,
        lambda: Buffer.from_ipc_descriptor(pool, descriptor),
        lambda: DeviceMemoryResource.from_allocation_handle(0, int(handle)),
        lambda: DeviceMemoryResource(0, {"ipc_enabled": True}),
    ]
    for use in uses:
        child = os.fork()
        if child == 0:
            try:
                use()
            except cudacore.ForkedProcessError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, uses.index(use)
"""
        run_program(tmp_path, text)


class TestPools:
    def test_what_they_are(self, pool: Pool) -> None:
        assert pool.is_ipc_enabled
        assert not pool.is_mapped
        assert pool.uuid is not None
        assert pool.uuid == pool.uuid
        assert type(pool).from_registry(pool.uuid) is pool
        assert pool.register(pool.uuid) is pool

    def test_handles(self, pool: Pool) -> None:
        handle = pool.allocation_handle
        assert int(handle) == handle.handle >= 0
        assert handle.uuid == pool.uuid
        assert repr(handle) == f"<IPCAllocationHandle {handle.handle}>"
        handle.close()
        handle.close()
        assert handle.handle == -1
        assert repr(handle) == "<IPCAllocationHandle, closed>"
        with pytest.raises(ValueError, match="closed"):
            int(handle)
        with pytest.raises(ValueError, match="closed"):
            pickle.dumps(handle)
        with pytest.raises(RuntimeError, match="allocation_handle"):
            IPCAllocationHandle()

    def test_only_multiprocessing_sends_handles(self, pool: Pool) -> None:
        with pytest.raises(TypeError, match="multiprocessing"):
            pickle.dumps(pool.allocation_handle)
        with pytest.raises(TypeError, match="multiprocessing"):
            copy.deepcopy(pool.allocation_handle)

    def test_pickles_of_this_process_are_what_they_stand_for(
        self, pool: Pool, buffer: Buffer
    ) -> None:
        assert pickle.loads(pickle.dumps(pool)) is pool
        same = pickle.loads(pickle.dumps(buffer))
        assert same == buffer
        assert not same.is_mapped
        size = buffer.ipc_descriptor.size
        assert pickle.loads(pickle.dumps(buffer.ipc_descriptor)).size == size == 4096

    def test_names_last_as_long_as_the_pool(self, device: Device) -> None:
        pool = DeviceMemoryResource(device, OPTIONS)
        name = pool.uuid
        assert name is not None
        held = pool.allocate(16)
        del pool
        assert DeviceMemoryResource.from_registry(name).uuid == name
        held.close()
        device.sync()
        with pytest.raises(RuntimeError, match="was not found"):
            DeviceMemoryResource.from_registry(name)

    def test_classes_in_python_are_found(self, device: Device) -> None:
        class Mine(DeviceMemoryResource):
            pass

        mine = Mine(device, OPTIONS)
        assert mine.uuid is not None
        assert Mine.from_registry(mine.uuid) is mine

    def test_wrong_names(self, pool: Pool) -> None:
        with pytest.raises(RuntimeError, match="was not found"):
            type(pool).from_registry(uuid.uuid4())
        with pytest.raises(TypeError, match=r"uuid.UUID"):
            type(pool).from_registry("name")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"uuid.UUID"):
            pool.register(b"")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="is registered as"):
            pool.register(uuid.uuid4())

    def test_pools_of_one_process(self, device: Device) -> None:
        pool = DeviceMemoryResource(device, {"max_size": 1 << 20})
        assert not pool.is_ipc_enabled
        assert pool.uuid is None
        with pytest.raises(NotSupportedError, match="ipc_enabled"):
            _ = pool.allocation_handle
        with pytest.raises(NotSupportedError, match="ipc_enabled"):
            pool.register(uuid.uuid4())
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(pool)
        with pytest.raises(TypeError, match="pickled"):
            multiprocessing.reduction.ForkingPickler.dumps(pool)
        with pool.allocate(16) as buffer:
            with pytest.raises(NotSupportedError, match="ipc_enabled"):
                _ = buffer.ipc_descriptor
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(buffer)

    def test_files_are_closed(self, device: Device, stream: Stream) -> None:
        def share() -> None:
            pool = DeviceMemoryResource(device, OPTIONS)
            buffer = pool.allocate(16, stream=stream)
            for _ in range(3):
                pool.allocation_handle.close()
                _ = pool.allocation_handle
                pickle.loads(pickle.dumps(buffer)).close()
            with pytest.raises(ValueError, match="closed"):
                DeviceMemoryResource.from_allocation_handle(device, _closed(pool))
            buffer.close()
            stream.sync()

        share()
        before = open_files()
        for _ in range(5):
            share()
        assert open_files() == before

    def test_the_limit_holds(self, device: Device, stream: Stream) -> None:
        pool = DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 32 << 20})
        with pool.allocate(8 << 20, stream=stream), pytest.raises(cudacore.OutOfMemoryError):
            pool.allocate(1 << 30, stream=stream)


def _closed(pool: Pool) -> IPCAllocationHandle:
    handle = pool.allocation_handle
    handle.close()
    return handle


@pytest.mark.simulator_only(reason="a driver may not import pools of its own process")
class TestImportedPools:
    def test_memory_is_the_same(self, pool: Pool, buffer: Buffer, stream: Stream) -> None:
        mapped = import_pool(pool)
        assert mapped.is_mapped
        assert mapped.is_ipc_enabled
        assert mapped.uuid is None
        same = Buffer.from_ipc_descriptor(mapped, buffer.ipc_descriptor, stream=stream)
        assert same.is_mapped
        assert same.handle != buffer.handle
        assert same.device_id == buffer.device_id
        same.fill(6, stream=stream)
        assert first_byte(buffer, stream) == 6
        same.close()
        assert first_byte(buffer, stream) == 6

    def test_one_mapping_for_each_pointer(
        self, pool: Pool, buffer: Buffer, device: Device, stream: Stream
    ) -> None:
        mapped = import_pool(pool)
        descriptor = buffer.ipc_descriptor
        other_stream = device.create_stream()
        first = Buffer.from_ipc_descriptor(mapped, descriptor, stream=stream)
        second = Buffer.from_ipc_descriptor(mapped, descriptor, stream=other_stream)
        assert first.handle == second.handle
        first.fill(3, stream=stream)
        first.close()
        assert first_byte(second, other_stream) == 3
        second.close()
        stream.sync()
        other_stream.sync()
        third = Buffer.from_ipc_descriptor(mapped, descriptor, stream=stream)
        assert first_byte(third, stream) == 3
        third.close()
        assert cudacore.unraisable_errors() == 0

    def test_they_allocate_nothing(self, pool: Pool, stream: Stream) -> None:
        mapped = import_pool(pool)
        with pytest.raises(ValueError, match="another process"):
            mapped.allocate(16, stream=stream)
        with pytest.raises(NotSupportedError, match="another process"):
            _ = mapped.allocation_handle

    def test_they_can_be_named(self, pool: Pool) -> None:
        mapped = import_pool(pool)
        with pytest.raises(TypeError, match="UUID"):
            pickle.dumps(mapped)
        name = uuid.uuid4()
        assert mapped.register(name) is mapped
        assert mapped.uuid == name
        assert pickle.loads(pickle.dumps(mapped)) is mapped

    def test_a_name_that_is_taken(self, pool: Pool) -> None:
        assert pool.uuid is not None
        assert import_pool(pool).register(pool.uuid) is pool

    def test_descriptors_are_sent_on(self, pool: Pool, buffer: Buffer, stream: Stream) -> None:
        mapped = import_pool(pool)
        same = Buffer.from_ipc_descriptor(mapped, buffer.ipc_descriptor, stream=stream)
        back = Buffer.from_ipc_descriptor(pool, same.ipc_descriptor, stream=stream)
        assert back == buffer

    def test_memory_outlives_the_pools_object(
        self, pool: Pool, buffer: Buffer, stream: Stream
    ) -> None:
        same = Buffer.from_ipc_descriptor(import_pool(pool), buffer.ipc_descriptor, stream=stream)
        assert first_byte(same, stream) == 1

    def test_nothing_is_leaked(self, pool: Pool, buffer: Buffer, stream: Stream) -> None:
        def share() -> None:
            mapped = import_pool(pool)
            Buffer.from_ipc_descriptor(mapped, buffer.ipc_descriptor, stream=stream).close()
            with pytest.raises(ValueError, match="cuMemPoolImportPointer"):
                Buffer.from_ipc_descriptor(
                    mapped, _buffers.descriptor_from(((bytes(64), 16),)), stream=stream
                )
            stream.sync()

        share()
        before = open_files()
        for _ in range(5):
            share()
        assert open_files() == before
