# SPDX-License-Identifier: Apache-2.0
"""Copies between strided views, and fills, by one call of the driver."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, NotSupportedError, Stream
from cudacore.utils import StridedMemoryView

Allocate = Callable[[int], Buffer]


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def numbered(shape: tuple[int, ...], dtype: str = "i4") -> Any:
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


class Pair:
    """An array on a device, and what NumPy says that it is."""

    def __init__(self, stream: Stream, array: Any) -> None:
        self.expected = array.copy()
        self.stream = stream
        buffer = Device().to_device(array.copy(), stream=stream)
        self.view = buffer.view(array.dtype, array.shape)

    def check(self) -> None:
        found = np.empty_like(self.expected)
        self.view.copy_to(StridedMemoryView.from_any_interface(found, -1), self.stream)
        self.stream.sync()
        assert found.tolist() == self.expected.tolist()


def both(stream: Stream, shape: tuple[int, ...]) -> tuple[Pair, Pair]:
    return Pair(stream, np.full(shape, -1, "i4")), Pair(stream, numbered(shape))


S = slice
COPIES: list[tuple[tuple[int, ...], Any, Any]] = [
    # shape of both arrays, index of the target, index of the source
    ((24,), S(None), S(None)),
    ((24,), S(2, 12), S(10, 20)),
    ((24,), S(None, None, 2), S(1, None, 2)),
    ((24,), S(None, None, -1), S(None, None, -1)),
    ((24,), S(None, None, -2), S(None, None, -2)),
    ((24,), S(None, None, 3), S(None, 8)),
    ((4, 6), np.s_[1:3, 2:5], np.s_[2:4, 1:4]),
    ((4, 6), np.s_[:, 0], np.s_[:, 5]),
    ((4, 6), np.s_[::2, :], np.s_[2:, :]),
    ((4, 6), np.s_[::-1], np.s_[::-1]),
    ((4, 6), np.s_[:, ::2], np.s_[:, 1::2]),
    ((4, 6), np.s_[:1], np.s_[3:]),
    ((4, 6), np.s_[:, :0], np.s_[:, :0]),
    ((2, 3, 4), np.s_[:, 1:, 2:], np.s_[:, :2, :2]),
    ((2, 4, 4), np.s_[:, ::2, :], np.s_[:, 2:, :]),
    ((4, 4, 4), np.s_[1:3, 1:3, 1:3], np.s_[2:, 2:, 2:]),
    ((4, 4, 4), np.s_[:, 1, :], np.s_[:, 2, :]),
    ((4, 4, 4), np.s_[::2, :, 0], np.s_[1::2, :, 3]),
    ((2, 2, 3, 4), np.s_[:, :, 1:, :], np.s_[:, :, :2, :]),
]


@pytest.mark.parametrize(("shape", "into", "out_of"), COPIES, ids=range(len(COPIES)))
class TestCopies:
    def test_within_a_device(
        self, stream: Stream, shape: tuple[int, ...], into: Any, out_of: Any
    ) -> None:
        target, source = both(stream, shape)
        target.view[into].copy_from(source.view[out_of], stream)
        target.expected[into] = source.expected[out_of]
        target.check()

    def test_from_the_host(
        self, stream: Stream, shape: tuple[int, ...], into: Any, out_of: Any
    ) -> None:
        target, source = both(stream, shape)
        view = StridedMemoryView.from_any_interface(source.expected[out_of], -1)
        target.view[into].copy_from(view, stream)
        target.expected[into] = source.expected[out_of]
        target.check()

    def test_to_the_host(
        self, stream: Stream, shape: tuple[int, ...], into: Any, out_of: Any
    ) -> None:
        target, source = both(stream, shape)
        array = target.expected.copy()
        view = StridedMemoryView.from_any_interface(array[into], -1)
        source.view[out_of].copy_to(view, stream)  # waits
        target.expected[into] = source.expected[out_of]
        assert array.tolist() == target.expected.tolist()

    @pytest.mark.filterwarnings("ignore:this capture has no nodes")  # of empty views
    def test_captured(self, stream: Stream, shape: tuple[int, ...], into: Any, out_of: Any) -> None:
        target, source = both(stream, shape)
        with stream.create_graph_builder() as builder:
            target.view[into].copy_from(source.view[out_of], builder)
        graph = builder.complete()
        expected = source.expected[out_of]
        del source, builder  # the graph keeps the memory
        graph.launch(stream)
        target.expected[into] = expected
        target.check()


def test_all_of_transposed_views(stream: Stream) -> None:
    for axes in itertools.permutations(range(3)):
        target, source = both(stream, (2, 3, 4))
        target.view.transpose(axes).copy_from(source.view.transpose(axes), stream)
        target.expected[...] = source.expected
        target.check()


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
def test_other_types(stream: Stream, dtype: str) -> None:
    source = Pair(stream, numbered((4, 6), dtype))
    target = Pair(stream, np.zeros((4, 6), dtype))
    target.view[1:, ::2].copy_from(source.view[:3, 1::2], stream)
    target.expected[1:, ::2] = source.expected[:3, 1::2]
    target.check()


@pytest.mark.parametrize(("into", "out_of", "match"), [
    (lambda view: view, lambda view: view.T, "whole number of rows apart"),
    (lambda view: view.reshape(16)[:12].reshape(2, 3, 2)[:, ::2],
     lambda view: view.reshape(4, 2, 2)[:2], "whole number of rows apart"),
    (lambda view: view, lambda view: view[::-1], "dimension 0 goes forwards"),
    (lambda view: view[:, ::-1], lambda view: view, "dimension 1 goes forwards"),
    (lambda view: view.reshape(2, 2, 2, 2)[..., ::-1, :].transpose(0, 2, 1, 3),
     lambda view: view.reshape(2, 2, 2, 2)[..., ::-1, :].transpose(3, 2, 0, 1),
     "more dimensions, of which the driver copies two"),
])  # fmt: skip
def test_what_the_driver_cannot_copy(
    stream: Stream, into: Callable[[Any], Any], out_of: Callable[[Any], Any], match: str
) -> None:
    target, source = both(stream, (4, 4))
    with pytest.raises(NotSupportedError, match=rf"StridedMemoryView.copy_from: .*{match}"):
        into(target.view).copy_from(out_of(source.view), stream)


def test_repeated_elements(device: Device, stream: Stream) -> None:
    buffer = device.allocate(64, stream=stream)
    repeated = buffer.view("i4", (4, 4), (0, 1))
    plain = device.allocate(64, stream=stream).view("i4", (4, 4))
    with pytest.raises(ValueError, match="several elements of the destination share memory"):
        repeated.copy_from(plain, stream)
    with pytest.raises(NotSupportedError, match="rows of the source share memory"):
        plain.copy_from(repeated, stream)
    with pytest.raises(ValueError, match="share memory"):
        repeated.fill(0, stream=stream)


class TestFill:
    @pytest.mark.parametrize(("dtype", "value"), [
        ("u1", 200), ("i1", -1), ("i2", -300), ("u4", 2**32 - 1), ("i4", -7), ("f2", 1.5),
        ("f4", -2.25), ("f8", 0.1), ("i8", -(2**40)), ("u8", 2**64 - 1), ("c8", 1 + 2j),
        ("c16", 3j), ("?", True), ("f4", 3), ("f8", 10**30), ("f4", np.float64(2.5)),
        ("c8", 1.0), ("i8", 0),
    ])  # fmt: skip
    @pytest.mark.parametrize("index", [np.s_[:], np.s_[1:3], np.s_[::-1]], ids=range(3))
    def test_all_elements(self, stream: Stream, dtype: str, value: Any, index: Any) -> None:
        pair = Pair(stream, np.ones((4, 6), dtype))
        pair.view[index].fill(value, stream=stream)
        pair.expected[index] = value
        pair.check()

    @pytest.mark.parametrize("dtype", ["u1", "i2", "f4"])
    @pytest.mark.parametrize(
        "index", [np.s_[:, 1:4], np.s_[1:, 0], np.s_[0, ::2], np.s_[::2, ::-1]], ids=range(4)
    )
    def test_rows(self, stream: Stream, dtype: str, index: Any) -> None:
        pair = Pair(stream, np.ones((4, 6), dtype))
        with stream:
            pair.view[index].fill(5)
        pair.expected[index] = 5
        pair.check()

    def test_elements_of_many_bytes(self, stream: Stream) -> None:
        pair = Pair(stream, np.ones((4, 6), "f8"))
        pair.view[:, 2].fill(0.1, stream=stream)
        pair.expected[:, 2] = 0.1
        pair.view[1:3, 3:5].fill(0, stream=stream)
        pair.expected[1:3, 3:5] = 0
        pair.check()
        with pytest.raises(NotSupportedError, match=r"StridedMemoryView.fill: .*driver fills one"):
            pair.view[1:3, 3:5].fill(0.1, stream=stream)

    @pytest.mark.parametrize(("value", "bits"), [
        (0, 0), (1, 0x3F80), (1.5, 0x3FC0), (-2.0, 0xC000), (1 + 2**-8, 0x3F80),
        (1 + 3 * 2**-8, 0x3F82), (float("inf"), 0x7F80), (np.float16(3), 0x4040),
    ])  # fmt: skip
    def test_bfloat16_needs_no_library(
        self, device: Device, stream: Stream, value: Any, bits: int
    ) -> None:
        buffer = device.allocate(8, stream=stream)
        buffer.view("bfloat16").fill(value, stream=stream)
        assert buffer.to_host("u2", stream=stream).tolist() == [bits] * 4

    def test_nan(self, device: Device, stream: Stream) -> None:
        buffer = device.allocate(8, stream=stream)
        buffer.view("f4").fill(float("nan"), stream=stream)
        assert np.isnan(buffer.to_host("f4", stream=stream)).all()
        buffer.view("bfloat16").fill(float("nan"), stream=stream)
        bits = buffer.to_host("u2", stream=stream).astype("u4") << 16
        assert np.isnan(bits.view("f4")).all()

    def test_captured(self, stream: Stream) -> None:
        pair = Pair(stream, np.zeros((4, 6), "f4"))
        with stream.create_graph_builder() as builder:
            pair.view[:, 1:3].fill(2.5, stream=builder)
        stream.sync()
        builder.complete().launch(stream)
        pair.expected[:, 1:3] = 2.5
        pair.check()

    def test_without_a_type(self, device: Device, stream: Stream) -> None:
        buffer = device.allocate(12, stream=stream)
        view = StridedMemoryView.from_buffer(buffer, 4, itemsize=3)
        view.fill(b"abc", stream=stream)
        assert buffer.to_host(stream=stream).tobytes() == b"abc" * 4
        with pytest.raises(ValueError, match="has 3 bytes, not 2"):
            view.fill(b"ab", stream=stream)
        with pytest.raises(TypeError, match="without a type"):
            view.fill(1, stream=stream)

    @pytest.mark.parametrize(("dtype", "value", "error"), [
        ("i4", 1.5, TypeError), ("i4", "1", TypeError), ("i4", None, TypeError),
        ("i4", b"abcd", TypeError), ("i4", [1], TypeError), ("i4", 2**31, OverflowError),
        ("u1", -1, OverflowError), ("u1", 256, OverflowError), ("f4", 1j, TypeError),
        ("?", 2, TypeError), ("i4", np.float32(1), TypeError), ("f8", object(), TypeError),
        ("f4", 1e300, OverflowError), ("f8", 10**400, OverflowError), ("bfloat16", 1j, TypeError),
    ], ids=range(15))  # fmt: skip
    def test_wrong_values(
        self, device: Device, stream: Stream, dtype: str, value: Any, error: type[Exception]
    ) -> None:
        view = device.allocate(16, stream=stream).view(dtype)
        with pytest.raises(error, match=r"StridedMemoryView.fill"):
            view.fill(value, stream=stream)

    def test_wrong_memory(self, device: Device, pinned: Allocate, stream: Stream) -> None:
        host = StridedMemoryView.from_any_interface(np.zeros(4, "f4"), -1)
        with pytest.raises(ValueError, match="the host's alone"):
            host.fill(0, stream=stream)
        read_only = StridedMemoryView.from_buffer(pinned(4), 1, dtype="f4", is_readonly=True)
        with pytest.raises(ValueError, match="read-only"):
            read_only.fill(0, stream=stream)
        buffer = device.allocate(16, stream=stream)
        view = buffer.view("f4")
        buffer.close()
        with pytest.raises(ValueError, match="closed"):
            view.fill(0, stream=stream)
        device.allocate(0, stream=stream).view("f4").fill(0, stream=stream)
