# SPDX-License-Identifier: Apache-2.0
"""Names that a tile kernel has read, and that stand for something else at a later launch."""

import gc
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

import cudacore
import cudacore.tile as ct
import pytest
from cudacore import Device, Stream
from cudacore.utils import StridedMemoryView

np = pytest.importorskip("numpy")

NUMBER = 3
other = types.ModuleType("of_tile_changes")


def helper(value):
    return value + NUMBER


@ct.kernel
def through_helper(x, size: ct.Constant[int]):
    ct.store(x, (0,), helper(ct.load(x, (0,), (size,))))


@ct.kernel
def of_module(x):
    ct.store(x, (0,), ct.full((16,), other.number, ct.int32))


class Numbers:
    """Sixteen ints that host and device see."""

    def __init__(self, stream: Stream, size: int = 16) -> None:
        self.stream = stream
        self.buffer = cudacore.LegacyPinnedMemoryResource().allocate(4 * size)
        self.view = StridedMemoryView.from_buffer(self.buffer, shape=(size,), dtype=np.int32)
        self.host = np.from_dlpack(self.view)

    def after(self, kernel: Any, *constants: int) -> int:
        self.host[:] = 0
        ct.launch(self.stream, (1,), kernel, (self.view, *constants))
        self.stream.sync()
        assert (self.host == self.host[0]).all()
        return int(self.host[0])


@pytest.fixture
def numbers(device: Device, stream: Stream) -> Iterator[Numbers]:
    made = Numbers(stream)
    yield made
    stream.sync()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


def fresh(kernel: Any) -> Any:
    """Return a kernel of the same function that is not compiled yet."""
    return ct.kernel(kernel.function)


def test_a_helper_that_is_replaced(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    kernel = fresh(through_helper)
    assert [numbers.after(kernel, 16) for _ in range(3)] == [3, 3, 3]
    names.setitem(globals(), "helper", lambda value: value - 7)
    assert [numbers.after(kernel, 16) for _ in range(3)] == [-7, -7, -7]
    names.undo()
    assert numbers.after(kernel, 16) == 3


def test_a_number_that_a_helper_reads(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    kernel = fresh(through_helper)
    assert numbers.after(kernel, 16) == 3
    for number in (4, 5, 3):
        names.setitem(globals(), "NUMBER", number)
        assert [numbers.after(kernel, 16) for _ in range(2)] == [number] * 2


def test_what_an_earlier_kernel_has_stored(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    assert numbers.after(fresh(through_helper), 16) == 3
    kernel = fresh(through_helper)
    assert numbers.after(kernel, 16) == 3
    names.setitem(globals(), "NUMBER", 40)
    assert numbers.after(kernel, 16) == 40


def test_each_specialization_notices(
    device: Device, stream: Stream, names: pytest.MonkeyPatch
) -> None:
    kernel = fresh(through_helper)
    few, many = Numbers(stream), Numbers(stream, 32)
    assert (few.after(kernel, 16), many.after(kernel, 32)) == (3, 3)
    names.setitem(globals(), "NUMBER", 9)
    assert (few.after(kernel, 16), many.after(kernel, 32)) == (9, 9)


def test_an_attribute_of_a_module(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    names.setitem(sys.modules, other.__name__, other)
    names.setattr(other, "number", 1, raising=False)
    assert numbers.after(of_module) == 1
    other.number = 2  # type: ignore[attr-defined]
    assert numbers.after(of_module) == 2


def test_an_equal_number_changes_nothing(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    kernel = fresh(through_helper)
    names.setitem(globals(), "NUMBER", int("1000"))
    assert numbers.after(kernel, 16) == 1000
    compiled = list(kernel._specializations.values())
    names.setitem(globals(), "NUMBER", int("1000"))
    assert [numbers.after(kernel, 16) for _ in range(2)] == [1000] * 2
    assert list(kernel._specializations.values()) == compiled


def test_a_name_that_is_gone(numbers: Numbers, names: pytest.MonkeyPatch) -> None:
    kernel = fresh(through_helper)
    assert numbers.after(kernel, 16) == 3
    names.delitem(globals(), "helper")
    with pytest.raises(ct.TileSyntaxError, match="helper"):
        numbers.after(kernel, 16)
    names.undo()
    assert numbers.after(kernel, 16) == 3


def test_a_module_that_nobody_needs(numbers: Numbers, tmp_path: Any) -> None:
    path = tmp_path / "of_nobody.py"
    path.write_text(
        "import cudacore.tile as ct\n"
        "ONE = 1\n"
        "@ct.kernel\n"
        "def set_one(x):\n"
        "    ct.store(x, (0,), ct.full((16,), ONE, ct.int32))\n"
    )
    module = types.ModuleType("of_nobody")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    assert [numbers.after(module.set_one) for _ in range(2)] == [1, 1]
    module.ONE = 2  # type: ignore[attr-defined]
    assert numbers.after(module.set_one) == 2
    ended = weakref.ref(module.set_one.function)
    del module
    gc.collect()
    assert ended() is None
