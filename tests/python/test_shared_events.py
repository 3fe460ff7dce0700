# SPDX-License-Identifier: Apache-2.0
"""Events that processes share, and what is not trusted."""

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from cudacore import (
    CUDAError,
    Device,
    Event,
    EventOptions,
    IPCEventDescriptor,
    NotSupportedError,
    Stream,
)
from cudacore._ipc import _events
from sharing import open_files, run_program


@pytest.fixture
def event(device: Device) -> Event:
    if not device.properties.ipc_event_supported:
        pytest.skip("the device shares no events")
    return device.create_event(EventOptions(ipc_enabled=True))


# Holds a stream back. Loading a kernel may wait for it.
HOLD = """
def hold(stream, go):
    load()
    stream.add_callback(go.wait, 60)

"""


@pytest.mark.usefixtures("event")
class TestProcesses:
    def test_another_process_waits(self, tmp_path: Path) -> None:
        text = """
def work(connection):
    Device().set_current()
    event, buffer = connection.recv()
    assert event.is_ipc_enabled and not event.is_timing_enabled
    assert not event.is_done
    load()
    stream = Device().create_stream()
    stream.wait(event)
    add(buffer, 0, 1, stream)
    assert not stream.is_done
    connection.send("waiting")
    event.sync()
    assert event.is_done
    stream.sync()

def main():
    pool, buffer = make_pool()
    stream = Device().create_stream()
    go = threading.Event()
    hold(stream, go)
    add(buffer, 0, 40, stream)
    event = Device().create_event({"ipc_enabled": True})
    stream.record(event)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    here.send((event, buffer))
    assert here.recv() == "waiting"
    go.set()
    process.join(60)
    assert process.exitcode == 0
    assert value(buffer, 0) == 42
"""
        run_program(tmp_path, HOLD + text)

    def test_another_process_records(self, tmp_path: Path) -> None:
        text = """
def work(event, buffer, connection):
    Device().set_current()
    stream = Device().create_stream()
    go = threading.Event()
    hold(stream, go)
    add(buffer, 0, 1, stream)
    stream.record(event)
    connection.send("recorded")
    connection.recv()
    go.set()
    stream.sync()

def main():
    pool, buffer = make_pool()
    event = Device().create_event(EventOptions(ipc_enabled=True, blocking_sync=True))
    assert event.is_done
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(event, buffer, there))
    process.start()
    assert here.recv() == "recorded"
    assert not event.is_done
    load()
    stream = Device().create_stream()
    stream.wait(event)
    add(buffer, 0, 2, stream)
    here.send(None)
    stream.sync()
    assert event.is_done
    process.join(60)
    assert process.exitcode == 0
    assert value(buffer, 0) == 4
"""
        run_program(tmp_path, HOLD + text)

    @pytest.mark.simulator_only(reason="a driver may end otherwise")
    def test_a_process_that_ends_holds_nobody_back(self, tmp_path: Path) -> None:
        text = """
import os

def work(event, connection):
    Device().set_current()
    stream = Device().create_stream()
    hold(stream, threading.Event())
    stream.record(event)
    connection.send("recorded")
    connection.recv()
    os._exit(0)

def main():
    Device().set_current()
    event = Device().create_event(EventOptions(ipc_enabled=True))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(event, there))
    process.start()
    assert here.recv() == "recorded"
    assert not event.is_done
    stream = Device().create_stream()
    stream.wait(event)
    here.send(None)
    event.sync()
    stream.sync()
"""
        run_program(tmp_path, HOLD + text)

    @pytest.mark.simulator_only(reason="a driver may still open it")
    def test_an_event_of_a_process_that_has_ended(self, tmp_path: Path) -> None:
        text = """
def work(connection):
    Device().set_current()
    event = Device().create_event(EventOptions(ipc_enabled=True))
    connection.send(pickle.dumps(event))

def main():
    Device().set_current()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    pickled = here.recv()
    process.join(60)
    try:
        pickle.loads(pickled)
    except cudacore.CUDAError as error:
        assert "cuIpcOpenEventHandle" in str(error)
    else:
        raise AssertionError
"""
        run_program(tmp_path, text)

    def test_a_forked_child_is_refused(self, tmp_path: Path) -> None:
        text = """
import os
import warnings

def main():
    warnings.simplefilter("ignore")
    Device().set_current()
    event = Device().create_event(EventOptions(ipc_enabled=True))
    descriptor = event.ipc_descriptor
    uses = [lambda: event.ipc_descriptor, lambda: Event.from_ipc_descriptor(descriptor)]
    for use in uses:
        child = os.fork()
        if child == 0:
            try:
                use()
            except cudacore.ForkedProcessError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
        run_program(tmp_path, text)


class TestEvents:
    def test_what_they_are(self, event: Event, stream: Stream) -> None:
        assert event.is_ipc_enabled
        assert not event.is_timing_enabled
        assert event.is_done
        stream.record(event)
        event.sync()
        assert event.is_done
        stream.wait(event)
        stream.sync()

    def test_the_same_process_has_it_already(self, event: Event) -> None:
        descriptor = event.ipc_descriptor
        assert repr(descriptor) == "<IPCEventDescriptor>"
        assert Event.from_ipc_descriptor(descriptor) == event
        assert pickle.loads(pickle.dumps(event)) == event
        assert pickle.loads(pickle.dumps(descriptor)) == descriptor
        assert hash(descriptor) == hash(event.ipc_descriptor)
        assert descriptor != object()

    def test_descriptors_differ(self, event: Event, device: Device) -> None:
        other = device.create_event(EventOptions(ipc_enabled=True))
        assert other.ipc_descriptor != event.ipc_descriptor

    def test_they_are_never_used_again(self, event: Event, device: Device) -> None:
        descriptor = event.ipc_descriptor
        event.close()
        assert not device.create_event().is_ipc_enabled
        with pytest.raises(CUDAError, match="cuIpcOpenEventHandle"):
            Event.from_ipc_descriptor(descriptor)

    def test_files_are_closed(self, event: Event, device: Device) -> None:
        before = open_files()
        for _ in range(10):
            made = device.create_event(EventOptions(ipc_enabled=True))
            assert Event.from_ipc_descriptor(made.ipc_descriptor) == made
            del made
        assert open_files() == before


class TestRefusals:
    def test_timing(self, device: Device) -> None:
        with pytest.raises(ValueError, match="no timing"):
            device.create_event(EventOptions(ipc_enabled=True, timing_enabled=True))

    def test_events_of_one_process(self, device: Device, event: Event) -> None:
        other = device.create_event()
        with pytest.raises(NotSupportedError, match="IPC-enabled"):
            _ = other.ipc_descriptor
        for make_copy in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="ipc_enabled"):
                make_copy(other)
        event.close()
        with pytest.raises(ValueError, match="closed"):
            _ = event.ipc_descriptor
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(event)

    def test_descriptors_that_are_none(self) -> None:
        with pytest.raises(TypeError, match="IPCEventDescriptor, not bytes"):
            Event.from_ipc_descriptor(bytes(64))  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match=r"event\.ipc_descriptor"):
            IPCEventDescriptor()

    @pytest.mark.parametrize(
        "parts", [(b"", False), (bytes(63), False), ("x" * 64, False), (bytes(64), 1), (None, None)]
    )
    def test_damaged_descriptors(self, parts: Any) -> None:
        with pytest.raises(ValueError, match="damaged"):
            _events.descriptor_from(*parts)

    @pytest.mark.simulator_only(reason="a driver may not notice")
    def test_forged_descriptors(self, event: Event) -> None:
        right = event.ipc_descriptor._handle
        before = open_files()
        chance = random.Random(1)
        wrong = [chance.randbytes(64) for _ in range(100)]
        for place in range(64):
            changed = bytearray(right)
            changed[place] ^= 1
            wrong.append(bytes(changed))
        for handle in wrong:
            with pytest.raises(CUDAError, match="cuIpcOpenEventHandle"):
                Event.from_ipc_descriptor(_events.descriptor_from(handle, False))
        assert open_files() == before

    @pytest.mark.multi_gpu
    @pytest.mark.simulator_only(reason="a driver opens it for a process alone")
    def test_another_device(self, event: Event) -> None:
        Device(1).set_current()
        theirs = Device(1).create_event(EventOptions(ipc_enabled=True))
        assert theirs.device == Device(1)
        assert Event.from_ipc_descriptor(event.ipc_descriptor).device == Device(0)
        Device(0).set_current()
