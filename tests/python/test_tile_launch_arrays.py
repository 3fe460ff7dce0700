# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels that are like earlier ones, with arrays of any library."""

import gc
from dataclasses import dataclass
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, Stream
from foreign_arrays import (
    CODES,
    CPU,
    CUDA_MANAGED,
    DEVICE_ARRAYS,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
)
from tile_launches import (  # noqa: F401 - fixtures are found by their names
    again,
    block_fixture,
    current_fixture,
    floats,
    make_fill,
    make_nothing,
)


class TestArraysOfOthers:
    @pytest.mark.parametrize("kind", DEVICE_ARRAYS)
    def test_each_protocol(self, block: Any, stream: Stream, kind: Any) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (kind(block.handle, (8,)), 1.0, 8))
        assert again(fill, stream, (kind(block.handle + 64, (8,)), 2.0, 8))
        numbers = floats(block, stream)
        assert (numbers[:8] == 1).all()
        assert (numbers[16:24] == 2).all()

    def test_types_of_one_form(self, block: Any, stream: Stream) -> None:
        """Arrays of another class are looked at once more: its dtypes may mean something else."""
        nothing = make_nothing()
        ct.launch(stream, (1,), nothing, (ExchangeArray(block.handle, (16,)), 0))
        assert not again(nothing, stream, (block.view(np.float32)[:16], 0))

    @pytest.mark.parametrize("kind", [ExchangeArray, CapsuleArray])
    def test_own_data_types(self, block: Any, stream: Stream, kind: Any) -> None:
        """What an array calls its type counts where the protocol has only bytes."""

        @ct.kernel
        def widen(x, y):  # type: ignore[no-untyped-def]
            ct.store(y, (0,), ct.astype(ct.load(x, (0,), (16,)), ct.float32))

        block.fill(200, stream=stream)
        y = block.view(np.float32)[16:32]
        for dtype, value in ((np.uint8, 200), (np.int8, -56), (np.uint8, 200)):
            array = kind(block.handle, (16,), dtype, code=CODES["u"])
            ct.launch(stream, (1,), widen, (array, y))
            assert (floats(block, stream)[16:32] == value).all()
            assert again(widen, stream, (array, y))

    def test_types_are_told_by_more_than_their_address(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        for i in range(40):
            kind = type("Same", (ExchangeArray,), {})
            array = kind(block.handle, (16,))
            assert not again(nothing, stream, (array, 0)), i
            ct.launch(stream, (1,), nothing, (array, 0))
            del kind, array
            gc.collect(0)

    def test_strides_of_axes_of_one_element(self, block: Any, stream: Stream) -> None:
        @ct.kernel
        def fill(y):  # type: ignore[no-untyped-def]
            ct.store(y, (0, 0), ct.full((2, 8), 1.0, ct.float32))

        for kind in (CudaArray, ExchangeArray):
            block.fill(0, stream=stream)
            for rows, stride in ((1, 1), (2, 8)):
                array = kind(block.handle, (rows, 8), strides=(stride, 1))
                ct.launch(stream, (1,), fill, (array,))
            assert floats(block, stream).sum() == 16

    def test_buffers_have_no_type(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        message = r"argument #0: A Buffer has no data type and no shape; .* buffer\.view"
        for array in (block, block.view(np.float32), block):
            if array is not block:
                ct.launch(stream, (1,), fill, (array, 1.0, 4))
                continue
            with pytest.raises(TypeError, match=message):
                ct.launch(stream, (1,), fill, (array, 1.0, 4))

    def test_arrays_without_memory(self, block: Any, stream: Stream) -> None:
        class Meta(CapsuleArray):
            def __dlpack__(self, **_: Any) -> Any:
                raise RuntimeError("no storage\nException raised from there\nframe #0")

        message = r"^Invalid kernel argument #0: 'Meta' shows no memory: no storage$"
        with pytest.raises(TypeError, match=message):
            ct.launch(stream, (1,), make_nothing(), (Meta(block.handle, (16,)), 0))

    def test_managed_and_pinned_memory(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        array = ExchangeArray(block.handle, (16,), device=(CUDA_MANAGED, 0))
        ct.launch(stream, (1,), nothing, (array, 0))
        assert again(nothing, stream, (array, 0))

    def test_host_memory(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (ExchangeArray(block.handle, (16,)), 1.0, 8))
        there = ExchangeArray(block.handle, (16,), device=(CPU, 0))
        with pytest.raises(ValueError, match="#0.*not on a CUDA device"):
            ct.launch(stream, (1,), fill, (there, 1.0, 8))

    def test_methods_of_any_name(self, block: Any, stream: Stream) -> None:
        class Fixing(CudaArray):
            def _fix(self) -> int:
                return 1

        ct.launch(stream, (1,), make_fill(), (Fixing(block.handle, (16,)), 3.0, 8))
        assert floats(block, stream)[0] == 3

    @pytest.mark.parametrize("lie", [{"bits": 4}, {"dimensions": -1}])
    def test_wrong_arrays(self, block: Any, stream: Stream, lie: Any) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (ExchangeArray(block.handle, (16,)), 1.0, 8))
        with pytest.raises(TypeError, match="argument #0"):
            ct.launch(stream, (1,), fill, (ExchangeArray(block.handle, (16,), **lie), 1.0, 8))

    @pytest.mark.parametrize("kind", [CudaArray, ExchangeArray])
    def test_addresses_between_elements(self, block: Any, stream: Stream, kind: Any) -> None:
        fill = make_fill()
        ct.launch(stream, (1,), fill, (kind(block.handle + 4, (8,)), 1.0, 8))
        message = "argument #0: The address 0x.* is not a multiple of the 4 bytes"
        with pytest.raises(ValueError, match=message):
            ct.launch(stream, (1,), fill, (kind(block.handle + 2, (8,)), 1.0, 8))
        numbers = floats(block, stream)
        assert list(numbers[:10]) == [0, *[1] * 8, 0]

    def test_floats_that_are_too_large(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        array = ExchangeArray(block.handle, (8,))
        for value in (1.0, float("inf")):
            ct.launch(stream, (1,), fill, (array, value, 8))
        with pytest.raises(OverflowError, match="argument #1: 1e\\+300 doesn't fit float32"):
            ct.launch(stream, (1,), fill, (array, 1e300, 8))

    def test_unknown_elements(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        array = ExchangeArray(block.handle, (16,), np.complex64)
        with pytest.raises(TypeError, match="#0: Unsupported array dtype complex64"):
            ct.launch(stream, (1,), fill, (array, 1.0, 8))

    def test_lazily_negated(self, block: Any, stream: Stream) -> None:
        class Negated(ExchangeArray):
            is_negated = False

            def is_neg(self) -> bool:
                return self.is_negated

        fill = make_fill()
        array = Negated(block.handle, (8,), strides=(2,))
        for _ in range(2):
            ct.launch(stream, (1,), fill, (array, 1.0, 8))
        assert again(fill, stream, (array, 1.0, 8))
        array.is_negated = True
        assert not again(fill, stream, (array, 1.0, 8))
        with pytest.raises(TypeError, match="argument #0"):
            ct.launch(stream, (1,), fill, (array, 1.0, 8))

    def test_python_that_closes_another_argument(self, device: Device, stream: Stream) -> None:
        @ct.kernel
        def both(x, y):  # type: ignore[no-untyped-def]
            pass

        class Closing(CudaArray):
            victim: Any = None

            @property
            def __cuda_array_interface__(self) -> Any:
                if self.victim is not None:
                    self.victim.close()
                return super().__cuda_array_interface__

        kept = device.allocate(64, stream=stream)
        victim = device.allocate(64, stream=stream)
        closing = Closing(kept.handle, (16,))
        args = (victim.view(np.float32), closing)
        ct.launch(stream, (1,), both, args)
        assert again(both, stream, args)
        closing.victim = victim
        with pytest.raises((TypeError, ValueError), match="closed|not supported"):
            ct.launch(stream, (1,), both, args)

    def test_interrupts_are_passed_on(self, block: Any, stream: Stream) -> None:
        class Interrupted(CudaArray):
            @property
            def __cuda_array_interface__(self) -> Any:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            again(make_nothing(), stream, (Interrupted(block.handle, (16,)), 0))

    def test_closed_memory(self, device: Device, stream: Stream) -> None:
        fill = make_fill()
        buffer = device.allocate(64, stream=stream)
        view = buffer.view(np.float32)
        ct.launch(stream, (1,), fill, (view, 1.0, 8))
        buffer.close()
        assert not again(fill, stream, (view, 1.0, 8))
        with pytest.raises((TypeError, ValueError), match="closed|not supported"):
            ct.launch(stream, (1,), fill, (view, 1.0, 8))


@pytest.mark.parametrize("kind", ["array", "tuple", "list"])
def test_memory_closed_while_a_kernel_is_compiled(
    device: Device, stream: Stream, kind: str
) -> None:
    buffer = device.allocate(16, stream=stream)
    view = buffer.view(np.float32)

    def closes() -> float:  # stands for another thread
        buffer.close()
        return 1.0

    @ct.kernel
    def fill(p: Any) -> None:
        target = p if ct.static_eval(kind == "array") else p[0]
        ct.store(target, (0,), ct.full((4,), ct.static_eval(closes()), ct.float32))

    argument = {"array": view, "tuple": (view,), "list": [view]}[kind]
    with pytest.raises(ValueError, match="the Buffer whose memory it shows is closed"):
        ct.launch(stream, (1,), fill, (argument,))
    stream.sync()


@pytest.mark.parametrize("kind", ["array", "tuple", "record", "list"])
def test_memory_that_only_an_export_owns(device: Device, stream: Stream, kind: str) -> None:
    class Lazy:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, device.device_id)

        def __dlpack__(self, **options: Any) -> object:
            made = device.allocate(16, stream=stream)
            made.copy_from(np.full(4, 5, np.float32), stream=stream)
            return made.view(np.float32).__dlpack__(**options)

    @dataclass(frozen=True)
    class Record:
        x: Any

    @ct.kernel
    def copy(x: Any, y: Any) -> None:
        if ct.static_eval(kind == "array"):
            source = x
        elif ct.static_eval(kind == "record"):
            source = x.x
        else:
            source = x[0]
        ct.store(y, (0,), ct.load(source, (0,), (4,)))

    given = {"array": Lazy(), "tuple": (Lazy(),), "record": Record(Lazy()), "list": [Lazy()]}
    target = device.allocate(16, stream=stream)
    ct.launch(stream, (1,), copy, (given[kind], target.view(np.float32)))
    assert target.to_host(np.float32, stream=stream).tolist() == [5, 5, 5, 5]
