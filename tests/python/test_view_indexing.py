# SPDX-License-Identifier: Apache-2.0
"""Views of parts of views: indexing, reshaping, transposing."""

from typing import Any

import numpy as np
import pytest
from cudacore import Buffer
from harness import host


class TestIndexing:
    @pytest.mark.parametrize(
        "index",
        [
            0, -1, slice(1, 3), slice(None, None, 2), slice(None, None, -1), (1, 2), (1, 2, 3),
            (slice(None), 1), (..., 0), (0, ...), (slice(3, 1), slice(None)), None, (None, 0),
            (slice(None), None, slice(1, None, 2)), (...,), (), (slice(5, None, -2), ..., None),
            np.int64(1), (slice(-100, 100),),
        ],
        ids=str,
    )  # fmt: skip
    def test_like_numpy(self, numbers: Buffer, index: Any) -> None:
        view = numbers.view("f4", (2, 3, 4))[index]
        expected = np.arange(24, dtype="f4").reshape(2, 3, 4)[index]
        assert view.shape == expected.shape
        assert host(view).tolist() == expected.tolist()
        if expected.flags.c_contiguous:
            assert view.strides is None
        elif expected.size:
            steps = zip(view.strides or (), expected.strides, expected.shape, strict=True)
            assert all(4 * ours == numpys for ours, numpys, length in steps if length > 1)

    @pytest.mark.parametrize(
        ("index", "error", "message"),
        [
            (2, IndexError, "index 2 is out of range for dimension 0, which has 2"),
            ((0, -4), IndexError, "index -4 is out of range for dimension 0"),
            ((0, 0, 0, 0), IndexError, "4 indices for a view of 3 dimensions"),
            ((..., ...), IndexError, "one ... at most"),
            (2**70, IndexError, "out of range"),
            ("a", TypeError, "an int, a slice, None or ..."),
            (1.0, TypeError, "not float"),
            (True, TypeError, "not bool"),
            ([0, 1], TypeError, "takes a copy"),
            (slice(0, 2, 0), ValueError, "zero"),
            (slice("a"), TypeError, "slice indices"),
        ],
        ids=str,
    )
    def test_wrong_ones(
        self, numbers: Buffer, index: Any, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            numbers.view("f4", (2, 3, 4))[index]

    def test_length_and_iteration(self, numbers: Buffer) -> None:
        view = numbers.view("f4", (4, 6))
        assert len(view) == 4
        assert [row.ptr - view.ptr for row in view] == [0, 24, 48, 72]
        with pytest.raises(TypeError, match="no length"):
            len(view[0, 0])

    @pytest.mark.parametrize(
        ("index", "shape"),
        [
            (..., (24,)), (..., (4, -1)), (..., (2, 3, 4)), ((slice(1, 2), 0), (2, 2)),
            ((slice(None), slice(None), slice(None, None, 2)), (6, 2)),
            ((slice(None), slice(None), slice(None, None, 2)), (1, 3, 2, 2, 1)),
            ((slice(None), slice(None), slice(None, None, -1)), (3, 2, 4)),
            ((slice(None, None, 2),), (12,)), ((slice(None), 1), (1, 8)), (0, 12),
            ((slice(None), slice(1, 2), slice(1, 2)), (2,)), ((0, 0, slice(1)), (1, 1)),
            ((slice(0, 0),), -1),
        ],
        ids=str,
    )  # fmt: skip
    def test_reshape_like_numpy(self, numbers: Buffer, index: Any, shape: Any) -> None:
        view = numbers.view("f4", (2, 3, 4))[index]
        array = np.arange(24, dtype="f4").reshape(2, 3, 4)
        part = array[index]
        expected = part.reshape(shape)
        if not np.shares_memory(array, expected) and expected.size:
            with pytest.raises(ValueError, match="only with a copy"):
                view.reshape(shape)
        else:
            assert host(view.reshape(shape)).tolist() == expected.tolist()

    def test_reshape_of_separate_ints(self, numbers: Buffer) -> None:
        assert numbers.view("f4").reshape(2, -1, 3).shape == (2, 4, 3)

    @pytest.mark.parametrize(
        ("shape", "error"),
        [((5, 5), ValueError), ((-1, 7), ValueError), (("x",), TypeError), ((-3,), ValueError)],
        ids=str,
    )
    def test_wrong_reshapes(self, numbers: Buffer, shape: Any, error: type[Exception]) -> None:
        with pytest.raises(error, match="shape"):
            numbers.view("f4").reshape(shape)

    @pytest.mark.parametrize("axes", [(), (None,), (2, 0, 1), ((0, 2, 1),), (-1, 0, 1)], ids=str)
    def test_transpose_like_numpy(self, numbers: Buffer, axes: Any) -> None:
        array = np.arange(24, dtype="f4").reshape(2, 3, 4)
        view = numbers.view("f4", (2, 3, 4))
        assert host(view.transpose(*axes)).tolist() == array.transpose(*axes).tolist()
        assert host(view.T).tolist() == array.T.tolist()

    @pytest.mark.parametrize("axes", [(0,), (0, 0, 1), (0, 1, 3), (0, 1, 2, 0)], ids=str)
    def test_wrong_axes(self, numbers: Buffer, axes: Any) -> None:
        with pytest.raises(ValueError, match="each of the 3 dimensions once"):
            numbers.view("f4", (2, 3, 4)).transpose(*axes)
