# SPDX-License-Identifier: Apache-2.0
"""Streams that write words of memory, and wait for them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import (
    Buffer,
    Device,
    LegacyPinnedMemoryResource,
    NotSupportedError,
    Stream,
    SynchronousMemoryResource,
    VirtualMemoryResource,
)

Allocate = Callable[[int], Buffer]
Use = Callable[..., None]


def word(buffer: Buffer, offset: int = 0, size: int = 4) -> int:
    return int.from_bytes(bytes(memoryview(buffer)[offset : offset + size]), "little")


class TestWrite:
    @pytest.mark.parametrize(("value", "size"), [
        (0, 4), (7, 4), (2**32 - 1, 4), (7, 8), (2**64 - 1, 8), (np.int64(5), 4),
    ])  # fmt: skip
    def test_writes_a_word(self, pinned: Allocate, stream: Stream, value: int, size: Any) -> None:
        buffer = pinned(32)
        stream.write_value(buffer, value, size=size, offset=16)
        stream.write_value(buffer[24:], value, size=size)
        stream.write_value(buffer.handle, value, size=size)
        stream.sync()
        for offset in (0, 16, 24):
            assert word(buffer, offset, size) == int(value)
        assert word(buffer, 8, 8) == 0

    def test_in_the_order_of_the_stream(self, pinned: Allocate, stream: Stream, gate: Any) -> None:
        buffer = pinned(4)
        gate.hold(stream)
        stream.write_value(buffer, 1)
        assert word(buffer) == 0
        gate.open()
        stream.sync()
        assert word(buffer) == 1


class TestWait:
    @pytest.mark.parametrize(("condition", "value", "before", "after"), [
        (">=", 5, 4, 6),
        (">=", 1, -1, 1),
        ("==", 5, 6, 5),
        ("&", 6, 1, 2),
        ("nor", -2, 1, -2),
    ])  # fmt: skip
    @pytest.mark.parametrize("size", [4, 8])
    def test_waits_for_a_word(  # noqa: PLR0917
        self,
        pinned: Allocate,
        stream: Stream,
        condition: Any,
        value: int,
        before: int,
        after: int,
        size: Any,
    ) -> None:
        value, before, after = (number % 2 ** (8 * size) for number in (value, before, after))
        words = pinned(16)
        memoryview(words)[:size] = before.to_bytes(size, "little")
        stream.wait_value(words, value, condition=condition, size=size)
        stream.write_value(words, 1, offset=8)
        assert not stream.is_done
        assert word(words, 8) == 0
        Device().create_stream().write_value(words, after, size=size)
        stream.sync()
        assert word(words, 8) == 1

    @pytest.mark.parametrize("resource", [SynchronousMemoryResource, VirtualMemoryResource])
    def test_words_of_the_device(self, device: Device, stream: Stream, resource: Any) -> None:
        with device.create_stream() as other:
            counter = resource(device).allocate(16)
            counter.fill(0, stream=stream)
            stream.sync()
            other.wait_value(counter, 2, size=8, offset=8)
            stream.write_value(counter, 2, size=8, offset=8)
            other.sync()
            assert counter[:16].to_host("u8", stream=stream).tolist() == [0, 2]


def test_captured(pinned: Allocate, stream: Stream) -> None:
    buffer = pinned(8)
    counter = LegacyPinnedMemoryResource().allocate(4)
    counter.fill(0, stream=stream)
    stream.sync()
    with stream.create_graph_builder() as builder:
        builder.stream.write_value(counter, 3)
        builder.stream.wait_value(counter, 3)
        builder.stream.write_value(buffer, 9)
    assert word(buffer) == 0
    graph = builder.complete()
    counter.close()  # the graph keeps it
    graph.launch(stream)
    stream.sync()
    assert word(buffer) == 9


USES = [
    lambda stream, *args, **kwargs: stream.write_value(*args, **kwargs),
    lambda stream, *args, **kwargs: stream.wait_value(*args, **kwargs),
]


@pytest.mark.parametrize("use", USES, ids=["write", "wait"])
class TestWrong:
    @pytest.mark.parametrize(("arguments", "error", "match"), [
        ({"size": 2}, ValueError, "4 or 8 bytes, not 2"),
        ({"size": -4}, ValueError, "size must lie in 0 .."),
        ({"size": "4"}, TypeError, "size must be an int"),
        ({"offset": 2}, ValueError, "aligned"),
        ({"offset": 4, "size": 8}, ValueError, "aligned"),
        ({"offset": 16}, IndexError, "reaches past the end of a buffer of 16 bytes"),
        ({"offset": 2**63 - 4}, IndexError, "reaches past the end"),
        ({"offset": -4}, ValueError, "offset must lie in 0 .."),
        ({"value": -1}, OverflowError, "0 .. 2"),
        ({"value": 2**32}, OverflowError, "4294967296 does not fit a word of 4 bytes"),
        ({"value": 2**64, "size": 8}, OverflowError, "0 .. 2"),
        ({"value": 1.0}, TypeError, "value must be an int, not float"),
        ({"value": True}, TypeError, "value must be an int, not bool"),
        ({"word": None}, TypeError, "a Buffer or an address, not NoneType"),
        ({"word": "word"}, TypeError, "str"),
        ({"word": 0}, ValueError, "null"),
        ({"word": 2**64 - 2, "offset": 4}, OverflowError, "last address"),
        ({"word": 6}, ValueError, "aligned"),
        ({"width": 4}, TypeError, "no argument 'width'"),
    ])  # fmt: skip
    def test_arguments(  # noqa: PLR0917
        self,
        pinned: Allocate,
        stream: Stream,
        use: Use,
        arguments: dict[str, Any],
        error: type[Exception],
        match: str,
    ) -> None:
        given = {"word": pinned(16), "value": 1, **arguments}
        with pytest.raises(error, match=match):
            use(stream, given.pop("word"), given.pop("value"), **given)

    def test_closed(self, device: Device, pinned: Allocate, stream: Stream, use: Use) -> None:
        buffer, ended = pinned(4), device.create_stream()
        ended.close()
        with pytest.raises(ValueError, match="Stream is closed"):
            use(ended, buffer, 1)
        buffer.close()
        with pytest.raises(ValueError, match="Buffer is closed"):
            use(stream, buffer, 1)

    def test_closed_meanwhile(self, pinned: Allocate, stream: Stream, use: Use) -> None:
        buffer = pinned(4)

        class Closing:
            def __index__(self) -> int:
                buffer.close()
                return 0

        with pytest.raises(ValueError, match="Buffer is closed"):
            use(stream, buffer, 1, offset=Closing())


def test_conditions_and_flags(pinned: Allocate, stream: Stream) -> None:
    buffer = pinned(4)
    for wrong in (">", "", None, 1):
        with pytest.raises(ValueError, match="'>=', '==', '&' or 'nor'"):
            stream.wait_value(buffer, 0, condition=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="flush must be a bool"):
        stream.wait_value(buffer, 0, flush=1)  # type: ignore[arg-type]


@pytest.mark.simulator_only(reason="a GPU may support it")
def test_flush_needs_the_device(pinned: Allocate, stream: Stream) -> None:
    with pytest.raises(NotSupportedError, match="can_flush_remote_writes"):
        stream.wait_value(pinned(4), 0, flush=True)
