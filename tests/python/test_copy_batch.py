# SPDX-License-Identifier: Apache-2.0
"""Copies of many buffers at once, and what copies may assume."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from cudacore import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Buffer, Device, Host, Stream
from cudacore.utils import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder, copy_batch

Allocate = Callable[[int], Buffer]


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def filled(pinned: Allocate, *values: int) -> list[Buffer]:
    buffers = [pinned(64) for _ in values]
    for buffer, value in zip(buffers, values, strict=True):
        memoryview(buffer)[:] = bytes([value]) * 64
    return buffers


def contents(buffers: list[Buffer]) -> list[set[int]]:
    return [set(memoryview(buffer)) for buffer in buffers]


class TestCopyBatch:
    @pytest.mark.parametrize("options", [
        None,
        CopyOptions(),
        {"src_access_order": "any"},
        CopyOptions(overlap_mode="prefer_overlap_with_compute"),
        [CopyOptions(), {"src_access_order": "during_api_call"}, CopyOptions()],
        [CopyOptions(src_location_hint=Host()), CopyOptions(dst_location_hint=Device(0)), {}],
    ], ids=repr)  # fmt: skip
    def test_copies_all(
        self, device: Device, pinned: Allocate, stream: Stream, options: Any
    ) -> None:
        sources, targets = filled(pinned, 1, 2, 3), filled(pinned, 0, 0, 0)
        between = [device.allocate(64, stream=stream) for _ in sources]
        copy_batch(stream, sources, between, options=options)
        copy_batch(stream, tuple(between), tuple(targets), options=options)
        stream.sync()
        assert contents(targets) == [{1}, {2}, {3}]

    def test_takes_the_current_stream(self, pinned: Allocate, stream: Stream) -> None:
        sources, targets = filled(pinned, 1), filled(pinned, 0)
        with stream:
            copy_batch(None, sources, targets)
        stream.sync()
        assert contents(targets) == [{1}]
        copy_batch(PER_THREAD_DEFAULT_STREAM, filled(pinned, 2), targets)
        PER_THREAD_DEFAULT_STREAM.sync()
        assert contents(targets) == [{2}]

    def test_copies_of_no_bytes_are_left_out(
        self, device: Device, pinned: Allocate, stream: Stream
    ) -> None:
        empty = device.allocate(0, stream=stream)
        copy_batch(stream, [empty], [empty])
        sources, targets = filled(pinned, 1, 2), filled(pinned, 0, 0)
        options = [CopyOptions(src_access_order="any"), CopyOptions(), CopyOptions()]
        copy_batch(stream, [empty, *sources], [empty, *targets], options=options)
        stream.sync()
        assert contents(targets) == [{1}, {2}]

    def test_numbers_and_sizes_must_agree(self, pinned: Allocate, stream: Stream) -> None:
        buffers = filled(pinned, 1, 2)
        with pytest.raises(ValueError, match="1 destinations for 2 sources"):
            copy_batch(stream, buffers, buffers[:1])
        with pytest.raises(ValueError, match="3 options for 2 sources"):
            copy_batch(stream, buffers, buffers, options=[CopyOptions()] * 3)
        with pytest.raises(ValueError, match="source 1 has 64 bytes, but its destination 32"):
            copy_batch(stream, buffers, [pinned(64), pinned(32)])
        with pytest.raises(ValueError, match="no buffers"):
            copy_batch(stream, [], [])

    def test_wrong_arguments(self, pinned: Allocate, stream: Stream) -> None:
        buffers = filled(pinned, 1)
        for wrong in (None, buffers[0], [1], "buffers", 3):
            with pytest.raises(TypeError, match="srcs must be a sequence of Buffers"):
                copy_batch(stream, wrong, buffers)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="dsts must be a sequence of Buffers"):
                copy_batch(stream, buffers, wrong)  # type: ignore[arg-type]
        for options in (1, "any", [1]):
            with pytest.raises(TypeError, match="options must be"):
                copy_batch(stream, buffers, buffers, options=options)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="empty"):
            copy_batch(stream, buffers, buffers, options=[])
        with pytest.raises(TypeError, match="stream"):
            copy_batch(1, buffers, buffers)  # type: ignore[arg-type]

    def test_closed(self, device: Device, pinned: Allocate, stream: Stream) -> None:
        open_ones, closed = filled(pinned, 1), filled(pinned, 1)
        closed[0].close()
        for sources, targets in ((open_ones, closed), (closed, open_ones)):
            with pytest.raises(ValueError, match="Buffer is closed"):
                copy_batch(stream, sources, targets)
        other = device.create_stream()
        other.close()
        with pytest.raises(ValueError, match="Stream is closed"):
            copy_batch(other, open_ones, open_ones)

    def test_closed_while_options_are_read(self, pinned: Allocate, stream: Stream) -> None:
        buffers = filled(pinned, 1)

        class Closing(dict[str, Any]):
            def keys(self) -> Any:
                buffers[0].close()
                return super().keys()

            def __iter__(self) -> Any:
                buffers[0].close()
                return super().__iter__()

        class Sequence(list[Any]):
            def __iter__(self) -> Any:
                buffers[0].close()
                return super().__iter__()

        with pytest.raises(ValueError, match="Buffer is closed"):
            copy_batch(stream, list(buffers), filled(pinned, 1), options=Sequence([Closing()]))

    def test_streams_without_batches(self, pinned: Allocate, stream: Stream) -> None:
        sources, targets = filled(pinned, 1), filled(pinned, 0)
        for error in (TypeError, ValueError):
            with pytest.raises(error, match="on the legacy default stream"):
                copy_batch(LEGACY_DEFAULT_STREAM, sources, targets)
            with pytest.raises(error, match="on the legacy default stream"):
                sources[0].copy_to(targets[0], stream=LEGACY_DEFAULT_STREAM, options={})
        with stream.create_graph_builder() as builder:
            for captured in (builder, builder.stream):
                with pytest.raises(TypeError, match="is being captured"):
                    copy_batch(captured, sources, targets)
                with pytest.raises(TypeError, match=r"Buffer.copy_from: .* being captured"):
                    targets[0].copy_from(sources[0], stream=captured, options={})
            targets[0].copy_from(sources[0], stream=builder)
        builder.complete().launch(stream)
        stream.sync()
        assert contents(targets) == [{1}]


class TestOptionsOfOneCopy:
    def test_copies(self, pinned: Allocate, stream: Stream) -> None:
        (source,), (target,) = filled(pinned, 1), filled(pinned, 0)
        assert source.copy_to(target, stream=stream, options=CopyOptions()) is target
        stream.sync()
        assert contents([target]) == [{1}]
        memoryview(source)[:] = bytes(64)
        target.copy_from(source, stream=stream, options={"src_access_order": "any"})
        stream.sync()
        assert contents([target]) == [{0}]
        made = source.copy_to(stream=stream, options=CopyOptions())
        stream.sync()
        assert made.size == 64

    def test_only_between_buffers(self, pinned: Allocate, stream: Stream) -> None:
        (buffer,) = filled(pinned, 1)
        with pytest.raises(TypeError, match="with options must be given a Buffer, not bytes"):
            buffer.copy_from(bytes(64), stream=stream, options={})
        with pytest.raises(TypeError, match="with options must be given a Buffer, not bytearray"):
            buffer.copy_to(bytearray(64), stream=stream, options={})
        with pytest.raises(TypeError, match="options must be CopyOptions"):
            buffer.copy_from(buffer, stream=stream, options=1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="32"):
            buffer.copy_from(pinned(32), stream=stream, options={})

    def test_closed(self, pinned: Allocate, stream: Stream) -> None:
        (buffer,), (closed,) = filled(pinned, 1), filled(pinned, 1)
        closed.close()
        for target, source in ((buffer, closed), (closed, buffer)):
            with pytest.raises(ValueError, match="Buffer is closed"):
                target.copy_from(source, stream=stream, options={})


class TestCopyOptions:
    def test_defaults(self) -> None:
        options = CopyOptions()
        assert options.src_access_order == MemcpySrcAccessOrder.STREAM == "stream"
        assert options.overlap_mode == MemcpyOverlapMode.DEFAULT == "default"
        assert (options.src_location_hint, options.dst_location_hint) == (None, None)
        assert options == CopyOptions()

    def test_values(self) -> None:
        options = CopyOptions(
            MemcpySrcAccessOrder.ANY,
            Host(numa_id=0),
            Host(),
            MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE,
        )
        assert options.src_access_order == "any"
        assert options.src_location_hint is Host(0)
        assert options != CopyOptions()
        for same in (copy.copy(options), pickle.loads(pickle.dumps(options))):
            assert same == options
        assert repr(CopyOptions("any")) == "CopyOptions(src_access_order='any')"
        assert CopyOptions.__module__ == "cudacore.utils"

    @pytest.mark.parametrize(("arguments", "error", "match"), [
        ({"src_access_order": "always"}, ValueError, "'stream', 'during_api_call' or 'any'"),
        ({"src_access_order": 1}, TypeError, "not int"),
        ({"overlap_mode": "prefer"}, ValueError, "prefer_overlap_with_compute"),
        ({"src_location_hint": 0}, TypeError, "a Device or a Host, not int"),
        ({"dst_location_hint": "host"}, TypeError, "a Device or a Host, not str"),
        ({"order": "any"}, TypeError, "no field 'order'"),
    ])  # fmt: skip
    def test_wrong_values(
        self, arguments: dict[str, Any], error: type[Exception], match: str
    ) -> None:
        with pytest.raises(error, match=match):
            CopyOptions(**arguments)
