# SPDX-License-Identifier: Apache-2.0
"""Context."""

import threading

import pytest
from cudacore import Context, Device, Stream
from harness import run_cleanly


def test_describes_itself(device: Device) -> None:
    context = device.context
    assert context.handle != 0
    assert context.device == device
    assert (context.is_green, context.is_lost, context.is_closed) == (False, False, False)
    assert "Context" in repr(context)


def test_equality_and_hash(device: Device) -> None:
    assert device.context == device.context
    assert hash(device.context) == hash(device.context)
    assert device.context != 1
    assert len({device.context, device.context}) == 1


def test_is_the_streams_and_the_events(device: Device, stream: Stream) -> None:
    assert stream.context == device.context
    assert stream.record().context == device.context


def test_is_the_same_in_every_thread(device: Device) -> None:
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(device.context.handle)) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [device.context.handle] * 2


def test_sync_waits_for_all_streams(device: Device, gate: object, stream: Stream) -> None:
    gate.hold(stream)  # type: ignore[attr-defined]
    threading.Timer(0.05, gate.open).start()  # type: ignore[attr-defined]
    device.context.sync()
    assert stream.is_done


def test_makes_streams(device: Device) -> None:
    stream = device.context.create_stream({"nonblocking": False})
    assert stream.context == device.context
    assert not stream.is_nonblocking


def test_closing_a_primary_context_changes_nothing(device: Device, stream: Stream) -> None:
    # It belongs to the process: other libraries use it too.
    context = device.context
    context.close()
    assert not context.is_closed
    context.sync()
    stream.sync()
    assert device.context == context


def test_has_no_public_constructor() -> None:
    with pytest.raises(TypeError):
        Context()


def test_known_contexts_are_those_that_were_used() -> None:
    said = run_cleanly("""
        import cudacore
        device = cudacore.Device()
        print(cudacore._core.known_contexts())
        device.allocate(4)
        print(cudacore._core.known_contexts() == [device.context])
    """)
    assert said == "[]\nTrue\n"
