# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels that are like earlier ones: what tells them apart."""

import dataclasses
import enum
import gc
import weakref
from typing import Annotated, Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Stream
from cudacore.tile._launch_argument import describe_all
from foreign_arrays import ExchangeArray
from tile_launches import (  # noqa: F401 - fixtures are found by their names
    again,
    block_fixture,
    current_fixture,
    floats,
    make_fill,
    make_nothing,
)


class TestWhatIsAlike:
    def test_other_sizes_of_one_kind(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        y = block.view(np.float32)
        ct.launch(stream, (1,), fill, (y[:64], 1.0, 8))
        for args in ((y[:64], 2.0, 8), (y[:32], 3.0, 8), (y[256:512], 4.0, 8)):
            assert again(fill, stream, args, grid=(4, 1))
        assert len(fill._specializations) == 1
        numbers = floats(block, stream)
        assert (numbers[[0, 31, 32, 255, 256, 287, 288]] == [3, 3, 0, 0, 4, 4, 0]).all()

    @pytest.mark.parametrize(
        "change",
        [
            lambda y: (y[1:65], 1.0, 8),  # the alignment
            lambda y: (y[:63], 1.0, 8),  # the divisibility of a length
            lambda y: (y[:128:2], 1.0, 8),  # a stride of 1
            lambda y: (y[:64], 1, 8),
            lambda y: (y[:64], True, 8),
            lambda y: (y[:64], 1.0, 16),
            lambda y: (y[:64].view(dtype=np.int32), 1.0, 8),
            lambda y: (y[:64].view(dtype=np.uint32), 1.0, 8),
        ],
    )
    def test_other_kinds(self, block: Any, stream: Stream, change: Any) -> None:
        fill = make_fill()
        y = block.view(np.float32)
        ct.launch(stream, (1,), fill, (y[:64], 1.0, 8))
        args = change(y)
        assert not again(fill, stream, args)
        ct.launch(stream, (1,), fill, args)
        assert len(fill._specializations) == 2
        assert again(fill, stream, args)
        assert again(fill, stream, (y[:64], 1.0, 8))

    def test_rank(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        y = block.view(np.float32)
        shapes = [(64,), (8, 8), (4, 4, 4), (1,) * 5, ()]
        for shape in shapes:
            args = (y[: int(np.prod(shape, dtype=int))].reshape(shape), 0)
            assert not again(nothing, stream, args)
            ct.launch(stream, (1,), nothing, args)
            assert again(nothing, stream, args)

    def test_kernels_of_one_name(self, block: Any, stream: Stream) -> None:
        args = (block.view(np.float32), 1.0, 8)
        first, second = make_fill(), make_fill()
        ct.launch(stream, (1,), first, args)
        assert not again(second, stream, args)
        assert not again(first.replace_hints(num_worker_warps=8), stream, args)

    def test_dependent_launches(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        args = (block.view(np.float32), 0)
        ct.launch(stream, (1,), nothing, args)
        assert not again(nothing, stream, args, dependent=True)
        ct.launch(stream, (1,), nothing, args, programmatic_dependent_launch=True)
        assert not again(nothing, stream, args, dependent=1)  # type: ignore[arg-type]
        ct.launch(stream, (1,), nothing, args, programmatic_dependent_launch=1)  # type: ignore[arg-type]
        assert again(nothing, stream, args, dependent=True)
        assert len(nothing._specializations) == 1

    def test_constants_and_their_types(self, stream: Stream) -> None:
        class Color(enum.Enum):
            RED = 1

        class Number(enum.IntEnum):
            ONE = 1

        values = [
            1, 1.0, True, 0, 0.0, -0.0, False, None, "a", "b", Color.RED, Number.ONE, -1, 2**62,
            float("inf"), float("nan"), ct.float32, ct.float16, (1, 2), (1.0, 2), (True, 2),
            ((1,), 2), (1, (2,)), (), ((),),
        ]  # fmt: skip
        nothing = make_nothing()
        for value in values:
            assert not again(nothing, stream, (1.0, value)), value
            ct.launch(stream, (1,), nothing, (1.0, value))
            assert again(nothing, stream, (1.0, value)), value
        assert again(nothing, stream, (1.0, float("nan")))
        assert again(nothing, stream, (1.0, int("4611686018427387904")))
        assert again(nothing, stream, (1.0, (*[1, 2],)))

    def test_what_is_launched_anew_each_time(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        y = block.view(np.float32)
        for args in (([y], 0), (1.0, 2**70)):
            for _ in range(2):
                ct.launch(stream, (1,), nothing, args)
                assert not again(nothing, stream, args)

    def test_dataclasses_may_change(self, stream: Stream) -> None:
        @dataclasses.dataclass
        class Options:
            size: int

        options = Options(1)
        nothing = make_nothing()
        for size in (1, 2):
            options.size = size
            for what in (options, (options,)):
                ct.launch(stream, (1,), nothing, (1.0, what))
                assert not again(nothing, stream, (1.0, what))
        assert len(nothing._specializations) == 4

    def test_nested_too_deeply(self, stream: Stream) -> None:
        nothing = make_nothing()
        value: Any = 1
        for _ in range(20):
            value = (value,)
        ct.launch(stream, (1,), nothing, (1.0, value))
        assert not again(nothing, stream, (1.0, value))

    def test_very_many_arguments(self, block: Any, stream: Stream) -> None:
        nothing = make_nothing()
        y = block.view(np.float32)
        few, many = tuple([y] * 100), tuple([y] * 300)
        for arrays, is_known in ((few, True), (many, False)):
            ct.launch(stream, (1,), nothing, (arrays, 0))
            assert again(nothing, stream, (arrays, 0)) == is_known

    def test_constants_that_equal_all_others(self, block: Any, stream: Stream) -> None:
        class Equal(int):
            def __eq__(self, other: object) -> bool:
                return True

            def __hash__(self) -> int:
                return 1

        @ct.kernel
        def fill(y, value: ct.Constant):  # type: ignore[no-untyped-def]
            ct.store(y, (0,), ct.full((16,), value, y.dtype))

        y = block.view(np.float32)
        for number in (3, 4, 4, 3):
            ct.launch(stream, (1,), fill, (y, Equal(number)))
            assert floats(block, stream)[0] == number

    def test_constant_extents(self, block: Any, stream: Stream) -> None:
        y = block.view(np.float32)
        rows_static = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0,))]
        steps_static = Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0,))]

        @ct.kernel
        def rows(x: rows_static):  # type: ignore[no-untyped-def,valid-type]
            pass

        @ct.kernel
        def steps(x: steps_static):  # type: ignore[no-untyped-def,valid-type]
            pass

        @ct.kernel
        def pair(x: tuple[rows_static, float]):  # type: ignore[no-untyped-def,valid-type]
            pass

        for kernel, one, other in (
            (rows, y[:64], y[:128]),
            (steps, y[::2], y[::3]),
            (pair, (y[:64], 1.0), (y[:128], 1.0)),
        ):
            ct.launch(stream, (1,), kernel, (one,))
            assert again(kernel, stream, (one,))
            assert not again(kernel, stream, (other,))

    def test_constants_in_tuples(self, stream: Stream) -> None:
        @ct.kernel
        def mixed(x: tuple[ct.Constant[int], int]):  # type: ignore[no-untyped-def]
            pass

        ct.launch(stream, (1,), mixed, ((1, 2),))
        assert not again(mixed, stream, ((1, 2),))
        assert not again(mixed, stream, ((3, 2),))

    def test_the_same_as_the_compiler(self, block: Any, stream: Stream) -> None:
        """Whatever a launch takes for like another one is compiled the same."""
        y = block.view(np.float32)
        half = block.view(np.float16)
        arrays = [
            base[start:stop:step]
            for base in (y, half, block.view(np.float64), block.view(np.int8))
            for start in (0, 1, 4)
            for stop in (64, 65, 84, 5)
            for step in (1, 2, 4, 8, 16)
        ]
        arrays += [y[:64].reshape(4, 16), y[:64].reshape(1, 64), y[:64].reshape(64, 1)]
        arrays += [y[:64].reshape(4, 16).T, y[:96].reshape(6, 16)[:, :8], y[:64].reshape(64, 1).T]
        arrays += [y[:0], y[:0].reshape(0, 4), y[:0].reshape(4, 0), half[:64].reshape(8, 8).T]
        nothing = make_nothing()
        launched: list[Any] = []
        for x in arrays:
            described = describe_all(nothing, (x, 0))
            assert again(nothing, stream, (x, 0)) == (described in launched)
            ct.launch(stream, (1,), nothing, (x, 0))
            launched.append(described)
        assert len(nothing._specializations) > 20


class TestRanges:
    def test_ints(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        y = block.view(np.int32)
        ct.launch(stream, (1,), fill, (y, 1, 8))
        for value in (2**31 - 1, -(2**31)):
            assert again(fill, stream, (y, value, 8))
        for value in (2**31, -(2**31) - 1, 2**80):
            with pytest.raises(OverflowError, match="#1.*doesn't fit int32"):
                ct.launch(stream, (1,), fill, (y, value, 8))

    def test_wide_ints(self, block: Any, stream: Stream) -> None:
        @ct.kernel
        def store(y, value: ct.ScalarInt64):  # type: ignore[no-untyped-def,valid-type]
            ct.store(y, 0, ct.full((1,), value, ct.int64))

        y = block.view(np.int64)
        ct.launch(stream, (1,), store, (y, 1))
        assert again(store, stream, (y, -(2**40)))
        assert int(floats(block, stream)[:2].view(np.int64)[0]) == -(2**40)
        with pytest.raises(OverflowError, match="#1.*doesn't fit int64"):
            ct.launch(stream, (1,), store, (y, 2**63))

    @pytest.mark.parametrize("value", [0.1, -0.0, 3.4e38, float("inf"), float("nan"), 1e-45])
    def test_floats(self, block: Any, stream: Stream, value: float) -> None:
        fill = make_fill()
        y = block.view(np.float32)
        ct.launch(stream, (1,), fill, (y, 1.0, 8))
        assert again(fill, stream, (y, value, 8))
        expected = np.full(8, value, np.float32)
        assert floats(block, stream)[:8].tobytes() == expected.tobytes()

    def test_bools(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        y = block.view(np.float32)
        for value in (True, False):
            ct.launch(stream, (1,), fill, (y, value, 8))
            assert (floats(block, stream)[:8] == value).all()

    def test_wide_axes(self, block: Any, stream: Stream) -> None:
        @ct.kernel
        def plain(x):  # type: ignore[no-untyped-def]
            pass

        @ct.kernel
        def wide(x: ct.IndexedWithInt64):  # type: ignore[no-untyped-def,valid-type]
            pass

        small = ExchangeArray(block.handle, (4,), strides=(16,))
        large = ExchangeArray(block.handle, (4,), strides=(2**40,))
        for kernel in (plain, wide):
            ct.launch(stream, (1,), kernel, (small,))
        assert again(wide, stream, (large,))
        assert not again(plain, stream, (large,))
        with pytest.raises(OverflowError, match="stride is too big"):
            ct.launch(stream, (1,), plain, (large,))

    def test_negative_strides(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        y = block.view(np.float32)[:8]
        ct.launch(stream, (1,), fill, (y[::2], 1.0, 8))
        with pytest.raises(ValueError, match="Negative strides"):
            ct.launch(stream, (1,), fill, (y[::-2], 1.0, 8))


class TestGrids:
    @pytest.mark.parametrize("grid", [(0,), (1, 0), (2, 3, 0)])
    def test_empty(self, block: Any, stream: Stream, grid: Any) -> None:
        fill = make_fill()
        y = block.view(np.float32)
        ct.launch(stream, grid, fill, (y, 1.0, 8))
        ct.launch(stream, (1,), fill, (y, 0.0, 8))
        assert again(fill, stream, (y, 1.0, 8), grid=grid)
        assert not floats(block, stream).any()

    @pytest.mark.parametrize(
        "grid", [[1], 1, (), (1, 1, 1, 1), (1.0,), (True,), (-1,), (2**24,), (2**70,)]
    )
    def test_others(self, block: Any, stream: Stream, grid: Any) -> None:
        nothing = make_nothing()
        args = (block.view(np.float32), 0)
        ct.launch(stream, (1,), nothing, args)
        assert not again(nothing, stream, args, grid=grid)

    def test_arguments_may_be_a_list(self, block: Any, stream: Stream) -> None:
        fill = make_fill()
        for value in (1.0, 2.0):
            ct.launch(stream, [1], fill, [block.view(np.float32), value, 8])
            assert floats(block, stream)[0] == value


class TestClasses:
    """Launches are forgotten when a class of their arguments ends."""

    @staticmethod
    def make_class(block: Any) -> Any:
        class Array:
            __cuda_array_interface__ = {  # noqa: RUF012 - what the protocol asks for
                "shape": (16,),
                "typestr": "<f4",
                "data": (block.handle, False),
                "version": 3,
            }

        return Array

    @pytest.mark.parametrize("in_tuple", [False, True])
    def test_they_end(self, block: Any, stream: Stream, in_tuple: bool) -> None:
        nothing = make_nothing()
        kept = self.make_class(block)

        def use() -> Any:
            made = self.make_class(block)
            arguments = (made(), kept()) if in_tuple else made()
            ct.launch(stream, (1,), nothing, (arguments, 1))
            assert again(nothing, stream, (arguments, 1))
            return weakref.ref(made)

        references = [use() for _ in range(5)]
        stream.sync()
        gc.collect()
        assert [one() for one in references] == [None] * 5
        ct.launch(stream, (1,), nothing, (kept(), 1))
        assert again(nothing, stream, (kept(), 1))

    def test_they_outlive_the_kernel(self, block: Any, stream: Stream) -> None:
        nothing, made = make_nothing(), self.make_class(block)
        ct.launch(stream, (1,), nothing, (made(), 1))
        reference = weakref.ref(made)
        del nothing
        gc.collect()
        del made
        gc.collect()
        assert reference() is None

    def test_they_end_with_the_kernel(self, block: Any, stream: Stream) -> None:
        def use() -> Any:
            nothing, made = make_nothing(), self.make_class(block)
            made.kernel = nothing
            ct.launch(stream, (1,), nothing, (made(), 1))
            return weakref.ref(made)

        reference = use()
        gc.collect()
        assert reference() is None
