# SPDX-License-Identifier: Apache-2.0
"""Event: waiting and timing."""

import threading
import time
from typing import Any

import pytest
from cudacore import Device, Event, EventOptions, Stream
from harness import build

TIMED = EventOptions(timing_enabled=True)
SPIN = """
__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - start < nanoseconds);
}
"""


@pytest.mark.parametrize("timing", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("how", [EventOptions, dict])
def test_options(device: Device, timing: bool, blocking: bool, how: Any) -> None:
    event = device.create_event(how(timing_enabled=timing, blocking_sync=blocking))
    assert event.is_timing_enabled is timing
    assert event.is_blocking_sync is blocking
    assert event.is_ipc_enabled is False
    assert event.device == device
    assert event.context == device.context
    assert event.handle != 0


@pytest.mark.parametrize("field", ["timing_enabled", "blocking_sync", "ipc_enabled"])
def test_option_of_wrong_type_is_named(field: str) -> None:
    with pytest.raises(TypeError, match=field):
        EventOptions(**{field: "yes"})


def test_has_no_public_constructor() -> None:
    with pytest.raises(TypeError, match=r"create_event|record"):
        Event()


@pytest.mark.parametrize("milliseconds", [2, 20])
def test_difference_is_milliseconds(stream: Stream, milliseconds: int) -> None:
    spin = build(SPIN).get_kernel("spin")
    spin[1, 1, stream](0)
    start = stream.record(options=TIMED)
    spin[1, 1, stream](milliseconds * 1_000_000)
    end = stream.record(options=TIMED)
    end.sync()
    assert milliseconds <= end - start < milliseconds + 20
    assert start - start == 0
    assert start - end < 0


def test_difference_needs_timing(stream: Stream) -> None:
    timed, plain = stream.record(options=TIMED), stream.record()
    stream.sync()
    for left, right in ((timed, plain), (plain, timed)):
        with pytest.raises(ValueError, match=r"EventOptions\(timing_enabled=True\)"):
            left - right


def test_difference_needs_records(device: Device, stream: Stream) -> None:
    done, never = stream.record(options=TIMED), device.create_event(TIMED)
    stream.sync()
    with pytest.raises(ValueError, match="record"):
        done - never


def test_a_new_event_has_no_record_of_a_closed_one(device: Device, stream: Stream) -> None:
    with stream.record(options=TIMED) as closed:
        closed.sync()
    new, done = device.create_event(TIMED), stream.record(options=TIMED)
    done.sync()
    assert new.handle
    with pytest.raises(ValueError, match="record"):
        done - new


def test_difference_needs_finished_events(stream: Stream, gate: Any) -> None:
    start = stream.record(options=TIMED)
    gate.hold(stream)
    end = stream.record(options=TIMED)
    with pytest.raises(ValueError, match=r"sync\(\)|not (yet )?(done|finished)"):
        end - start


@pytest.mark.parametrize("other", [1, 1.0, None, "event"])
def test_difference_of_wrong_type(stream: Stream, other: Any) -> None:
    with pytest.raises(TypeError):
        stream.record(options=TIMED) - other


@pytest.mark.multi_gpu
def test_difference_across_devices(device: Device) -> None:
    events = [one.create_stream().record(options=TIMED) for one in (device, Device(1))]
    for event in events:
        event.sync()
    with pytest.raises(ValueError, match="device"):
        events[1] - events[0]


@pytest.mark.multi_gpu
def test_record_on_a_stream_of_another_device(device: Device) -> None:
    event = device.create_event()
    with pytest.raises(ValueError, match="device"):
        Device(1).create_stream().record(event)


def test_never_recorded_is_done(device: Device) -> None:
    event = device.create_event()
    assert event.is_done
    event.sync()


def test_is_done_after_its_work(stream: Stream, gate: Any) -> None:
    gate.hold(stream)
    event = stream.record()
    assert not event.is_done
    gate.open()
    event.sync()
    assert event.is_done


@pytest.mark.parametrize("blocking", [True, False])
def test_sync_waits_and_lets_python_run(stream: Stream, gate: Any, blocking: bool) -> None:
    gate.hold(stream)
    event = stream.record(options={"blocking_sync": blocking})
    threading.Timer(0.1, gate.open).start()
    start = time.perf_counter()
    event.sync()
    assert 0.05 < time.perf_counter() - start < 5


def test_may_be_recorded_again(stream: Stream) -> None:
    event = stream.record()
    event.sync()
    assert stream.record(event) is event
    event.sync()


def test_closed_event_raises(device: Device, stream: Stream) -> None:
    event = device.create_event(TIMED)
    event.close()
    event.close()
    assert event.is_closed
    uses = [event.sync, lambda: event.is_done, lambda: event.handle, lambda: event - event,
            lambda: stream.record(event), lambda: stream.wait(event)]  # fmt: skip
    for use in uses:
        with pytest.raises(ValueError, match="closed"):
            use()


def test_with_closes(device: Device) -> None:
    with device.create_event() as event:
        assert not event.is_closed
    assert event.is_closed


def test_outlives_its_stream(device: Device, gate: Any) -> None:
    stream = device.create_stream()
    gate.hold(stream)
    event = stream.record()
    stream.close()
    gate.open()
    event.sync()
    assert event.is_done


def test_equality_and_hash(stream: Stream) -> None:
    one, two = stream.record(), stream.record()
    assert one == one  # noqa: PLR0124
    assert one != two
    assert one != 1
    assert len({one, one, two}) == 2
    assert "Event" in repr(one)
