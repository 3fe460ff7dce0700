# SPDX-License-Identifier: Apache-2.0
"""Stream: order, waiting, and being the current one."""

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import cudacore
import pytest
from cudacore import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Device,
    Event,
    Stream,
    StreamOptions,
    current_stream,
)
from harness import build, host_bytes, run_cleanly


class Foreign:
    """A stream of another library."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.stream.handle)


def test_describes_itself(device: Device, stream: Stream) -> None:
    assert stream.handle not in (0, 1, 2)
    assert stream.device == device
    assert stream.context == device.context
    assert stream.is_nonblocking
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert "Stream" in repr(stream)


@pytest.mark.parametrize("nonblocking", [True, False])
@pytest.mark.parametrize("how", [StreamOptions, dict])
def test_options(device: Device, nonblocking: bool, how: Any) -> None:
    stream = device.create_stream(options=how(nonblocking=nonblocking, priority=0))
    assert stream.is_nonblocking is nonblocking
    assert stream.priority == 0


def test_priority_in_range(device: Device) -> None:
    assert device.create_stream(options=StreamOptions(priority=-1)).priority == -1


@pytest.mark.parametrize("priority", [-1000, 1000])
def test_priority_out_of_range_names_the_range(device: Device, priority: int) -> None:
    with pytest.raises(ValueError, match=rf"{priority}.*-?\d+.*-?\d+"):
        device.create_stream(options={"priority": priority})


@pytest.mark.parametrize(
    ("options", "named"),
    [({"priority": "high"}, "priority"), ({"nonblocking": "no"}, "nonblocking"),
     ({"no_such_option": 1}, "no_such_option")],
)  # fmt: skip
def test_option_of_wrong_type_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(TypeError, match=named):
        StreamOptions(**options)


def test_options_compare() -> None:
    assert StreamOptions() == StreamOptions(nonblocking=True, priority=None)
    assert StreamOptions() != StreamOptions(priority=0)


def test_has_no_public_constructor() -> None:
    with pytest.raises(TypeError, match=r"create_stream|from_handle"):
        Stream()


def test_foreign_stream_is_borrowed(device: Device, stream: Stream) -> None:
    borrowed = device.create_stream(Foreign(stream))
    assert borrowed.handle == stream.handle
    assert borrowed == stream
    borrowed.close()
    stream.sync()


def test_from_handle_keeps_its_owner(device: Device, stream: Stream) -> None:
    owner = Foreign(stream)
    alive = weakref.ref(owner)
    borrowed = Stream.from_handle(stream.handle, owner)
    del owner
    gc.collect()
    assert alive() is not None
    assert borrowed.device == device
    borrowed.sync()
    del borrowed
    gc.collect()
    assert alive() is None
    stream.sync()


@pytest.mark.parametrize(
    ("value", "error"),
    [(object(), TypeError), (3, TypeError), ("0", TypeError), (None, TypeError)],
)
def test_wait_for_what_is_no_stream(stream: Stream, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        stream.wait(value)


@pytest.mark.parametrize("answer", [None, 1, (0,), (0, "x"), (0, 1, 2), ("0", 1)])
def test_broken_stream_protocol_is_a_type_error(stream: Stream, answer: Any) -> None:
    class Broken:
        def __cuda_stream__(self) -> Any:
            return answer

    with pytest.raises(TypeError, match="__cuda_stream__"):
        stream.wait(Broken())


def test_error_of_the_protocol_goes_through(stream: Stream) -> None:
    class Failing:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        stream.wait(Failing())


def test_default_streams(device: Device) -> None:
    assert (LEGACY_DEFAULT_STREAM.handle, PER_THREAD_DEFAULT_STREAM.handle) == (1, 2)
    for stream in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM):
        stream.sync()
        assert stream.device == device
        assert stream.is_done
        with device.allocate(4, stream=stream) as buffer:
            buffer.fill(1, stream=stream)


def test_equality_and_hash(device: Device, stream: Stream) -> None:
    assert stream == Stream.from_handle(stream.handle)
    assert hash(stream) == hash(Stream.from_handle(stream.handle))
    assert stream != device.create_stream()
    assert stream != stream.handle


def test_is_done_and_sync(stream: Stream, gate: Any) -> None:
    assert stream.is_done
    gate.hold(stream)
    assert not stream.is_done
    gate.open()
    stream.sync()
    assert stream.is_done


def test_streams_do_not_wait_for_each_other(device: Device, stream: Stream, gate: Any) -> None:
    gate.hold(stream)
    other = device.create_stream()
    other.record().sync()
    assert not stream.is_done


@pytest.mark.parametrize("what", ["event", "stream", "foreign"])
def test_wait_orders_two_streams(device: Device, stream: Stream, gate: Any, what: str) -> None:
    gate.hold(stream)
    later = device.create_stream()
    target = {"event": stream.record, "stream": lambda: stream, "foreign": lambda: Foreign(stream)}
    later.wait(target[what]())
    mark = later.record()
    assert not mark.is_done
    gate.open()
    mark.sync()
    assert stream.is_done


def test_record_into_a_given_event(device: Device, stream: Stream) -> None:
    event = device.create_event()
    assert stream.record(event) is event
    event.sync()


def test_record_makes_an_event(stream: Stream) -> None:
    event = stream.record(options={"timing_enabled": True})
    assert isinstance(event, Event)
    assert event.is_timing_enabled
    assert not stream.record().is_timing_enabled


@pytest.mark.parametrize("event", [1, "event", object()])
def test_record_into_wrong_type(stream: Stream, event: Any) -> None:
    with pytest.raises(TypeError):
        stream.record(event)


def test_closed_stream_raises(device: Device) -> None:
    stream = device.create_stream()
    stream.close()
    stream.close()
    assert stream.is_closed
    uses = [
        stream.sync, stream.record, stream.__cuda_stream__, stream.__enter__,
        lambda: stream.is_done, lambda: stream.device, lambda: stream.handle,
        lambda: stream.wait(LEGACY_DEFAULT_STREAM), lambda: stream.add_callback(print),
        lambda: device.allocate(4, stream=stream), lambda: LEGACY_DEFAULT_STREAM.wait(stream),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("default", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM])
def test_closing_a_default_stream_does_nothing(default: Stream) -> None:
    default.close()
    assert not default.is_closed
    default.sync()


def test_closing_lets_queued_work_finish(device: Device, pinned: Any, gate: Any) -> None:
    kernel = build("__global__ void set(int* p) { *p = 42; }").get_kernel("set")
    stream, result = device.create_stream(), pinned(4)
    kernel[1, 1, stream](pinned(4))
    stream.sync()
    gate.hold(stream)
    kernel[1, 1, stream](result)
    stream.close()
    gate.open()
    device.sync()
    assert host_bytes(result) == b"\x2a\0\0\0"


class TestCurrent:
    def test_none_is_the_default_stream(self, device: Device) -> None:
        assert current_stream().device == device
        assert current_stream() in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)

    def test_with_nests_and_goes_back(self, device: Device, stream: Stream) -> None:
        before = current_stream()
        inner = device.create_stream()
        with stream as entered:
            assert entered is stream
            assert current_stream() == stream
            with inner, stream:
                assert current_stream() == stream
            assert current_stream() == stream
        assert current_stream() == before

    def test_goes_back_after_an_exception(self, stream: Stream) -> None:
        before = current_stream()
        with pytest.raises(LookupError), stream:
            raise LookupError
        assert current_stream() == before

    def test_is_each_threads_own(self, stream: Stream) -> None:
        seen: list[Stream] = []
        with stream:
            thread = threading.Thread(target=lambda: seen.append(current_stream()))
            thread.start()
            thread.join()
        assert seen != [stream]

    def test_is_used_where_none_is_given(self, device: Device, gate: Any, stream: Stream) -> None:
        with stream:
            gate.hold(stream)
            buffer = device.allocate(64)
            buffer.fill(0)
        assert not stream.is_done
        gate.open()
        buffer.close()
        stream.sync()

    def test_lives_on_while_current(self, device: Device) -> None:
        with device.create_stream():
            gc.collect()
            current_stream().sync()

    def test_closed_inside_it_is_left(self, device: Device) -> None:
        before = current_stream()
        stream = device.create_stream()
        with stream:
            stream.close()
            with pytest.raises(ValueError, match="closed"):
                device.allocate(64)
        assert current_stream() == before
        device.allocate(64).close()

    def test_thread_may_end_inside(self, device: Device) -> None:
        stream = device.create_stream()
        alive = weakref.ref(stream)
        thread = threading.Thread(target=stream.__enter__)
        thread.start()
        thread.join()
        del stream, thread
        for _ in range(100):
            if alive() is None:
                break
            time.sleep(0.01)
        assert alive() is None

    def test_package_function_and_method_agree(self, stream: Stream) -> None:
        with stream:
            assert cudacore.current_stream().handle == stream.handle


class Derived(Stream):
    """Has an attribute of its own."""

    label = "unset"


def test_can_be_derived_from(device: Device, stream: Stream) -> None:
    derived = Derived.from_handle(stream.handle)
    derived.label = "mine"
    assert type(derived) is Derived
    assert derived == stream
    assert hash(derived) == hash(stream)
    with derived:
        assert current_stream() is derived
        buffer = device.allocate(64)
    buffer.fill(0, stream=derived)
    derived.wait(stream)
    derived.record(derived.record()).sync()
    derived.sync()
    with pytest.raises(TypeError, match="not made directly"):
        Derived()
    alive = weakref.ref(derived)
    del derived
    assert alive() is None


def test_what_the_protocol_raises_comes_through(device: Device) -> None:
    class Property:
        @property
        def __cuda_stream__(self) -> tuple[int, int]:
            raise LookupError("mine")

    class Missing:
        @property
        def __cuda_stream__(self) -> tuple[int, int]:
            return self.no_such_attribute  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(LookupError, match="mine"):
        device.allocate(64, stream=Property())
    with pytest.raises(AttributeError, match="no_such_attribute"):
        device.allocate(64, stream=Missing())


def test_leaving_on_another_thread(device: Device) -> None:
    stream = device.create_stream()

    def entered() -> Iterator[None]:
        with stream:
            yield

    generator = entered()
    next(generator)
    raised: list[RuntimeError] = []

    def close() -> None:
        try:
            generator.close()  # type: ignore[attr-defined]
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=close)
    thread.start()
    thread.join()
    assert "leave it on the thread that entered" in str(raised[0])
    assert current_stream() is stream
    stream.__exit__(None, None, None)
    assert current_stream() == LEGACY_DEFAULT_STREAM
    with pytest.raises(RuntimeError, match="has not entered the stream"):
        stream.__exit__(None, None, None)


def test_thread_that_ends_inside_of_streams_that_enter_others() -> None:
    script = """
        import threading, time
        from cudacore import LEGACY_DEFAULT_STREAM as legacy, Stream
        ended = []
        class Entering(Stream):
            def __del__(self):
                with legacy, legacy, legacy:
                    pass
                legacy.__enter__()
                ended.append(1)
        def enter():
            for _ in range(4):
                Entering.from_handle(0).__enter__()
        for _ in range(5):
            thread = threading.Thread(target=enter)
            thread.start()
            thread.join()
        for _ in range(1000):  # a thread's own objects end after it was joined
            if len(ended) == 20:
                break
            time.sleep(0.01)
        print(len(ended))
    """
    assert run_cleanly(script) == "20\n"
