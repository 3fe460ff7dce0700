# SPDX-License-Identifier: Apache-2.0
"""What Python computes while kernels are compiled."""

import re
import threading
from typing import Any

import cudacore.tile as ct
import pytest
from tile_text import INT, array, body, constant, text

INTS = array(ct.int32)
SIZE = 4


def factorial(n: int) -> int:
    result = 1
    for i in range(1, n + 1):
        result *= i
    return result


def test_static_eval_gives_constants_and_values() -> None:
    seen: list[Any] = []

    def kernel(x, n):
        tile = ct.load(x, (0,), (16,))
        values = (1, n, 3)
        total = ct.static_eval(sum(i * i for i in values if isinstance(i, int)))
        same = ct.static_eval(values[1])
        ct.static_eval(seen.extend((repr(tile), repr(x), total, tile.shape, tile.dtype)))
        made = ct.static_eval(same * 2 + factorial(SIZE))
        ct.static_assert(isinstance(tile, ct.Tile) and isinstance(x, ct.Array))
        ct.scatter(x, 0, made)

    lines = body(kernel, INTS, INT)
    assert seen == ["<tile[int32, (16,)]>", "<array[int32, (?)]>", 10, (16,), ct.int32]
    assert any(" mul " in line for line in lines)
    assert any("{value = 24}" in line for line in lines)


def test_static_eval_of_methods() -> None:
    def kernel(x):
        cut = ct.static_eval(x.slice)
        ct.store(cut(0, 1, 2), (0,), ct.zeros((16,), ct.int32))

    def called(x):
        ct.static_eval(x.slice(0, 1, 2))

    body(kernel, INTS)
    expected = re.escape("slice() cannot be called inside static_eval()")
    with pytest.raises(ct.TileStaticEvalError, match=expected):
        text(called, INTS)


def test_static_eval_refuses() -> None:
    def two():
        ct.static_eval(3, 5)

    def walrus(x):
        ct.static_eval((y := x))

    def scatter(x):
        ct.static_eval(ct.scatter(x, 0, 1))

    def within():
        ct.static_eval(ct.static_eval(20))

    def raises(n):
        ct.static_eval(1 // n)

    def result():
        ct.static_eval([1, 2])

    def indirect():
        f = ct.static_eval
        f(3)

    def truth(x):
        ct.static_eval(bool(ct.bid(0)) if False else int(x.shape[0]))

    def closure():
        def inner(n):
            return n

        ct.static_eval(inner(3))

    error = ct.TileStaticEvalError
    for kernel, parameters, kind, expected in (
        (two, (), ct.TileSyntaxError, "static_eval() expects a single expression"),
        (walrus, (INT,), ct.TileSyntaxError, "attempted to modify a local variable 'y'"),
        (scatter, (INTS,), error, "scatter() cannot be called inside static_eval()"),
        (within, (), error, "static_eval() cannot be used inside static_eval()."),
        (raises, (constant(0),), error, "inside static_eval() (ZeroDivisionError: "),
        (result, (), ct.TileTypeError, "Cannot create constant from value of type list."),
        (indirect, (), ct.TileSyntaxError, "static_eval() must be used directly"),
        (truth, (INTS,), error, "Symbolic tile has no concrete value"),
        (closure, (), error, "inner() cannot be called inside static_eval()"),
    ):
        with pytest.raises(kind, match=re.escape(expected)):
            text(kernel, *parameters)


def test_static_assert() -> None:
    def kernel(x, n):
        ct.static_assert(factorial(n) < 100, f"{n}! is {factorial(n)}; x is {x}")
        ct.static_assert(n < 100)

    def unknown(n):
        ct.static_assert(n > 2)

    def number(n):
        ct.static_assert(n)

    def three():
        ct.static_assert(True, "message", 1)

    body(kernel, INTS, constant(4))
    expected = "Static assertion failed: 7! is 5040; x is <array[int32, (?)]>\n"
    with pytest.raises(ct.TileStaticAssertionError, match=re.escape(expected)):
        text(kernel, INTS, constant(7))
    with pytest.raises(ct.TileTypeError, match="must be a compile-time constant"):
        text(unknown, INT)
    with pytest.raises(ct.TileTypeError, match="must be a boolean"):
        text(number, constant(3))
    with pytest.raises(ct.TileSyntaxError, match="expects one or two positional arguments"):
        text(three)


def test_static_iter_unrolls() -> None:
    def kernel(x, n):
        values = (n, n * 2, 3)
        total = 0
        for i, value in ct.static_iter(enumerate(values, 1)):
            total += i * value
        for _ in range(n):
            for k in ct.static_iter(range(2)):
                total += k
        ct.scatter(x, 0, total)

    lines = body(kernel, INTS, INT)
    assert sum(" for " in line for line in lines) == 1


def test_static_iter_refuses() -> None:
    def leaves(x):
        for i in ct.static_iter(range(3)):
            if i == 1:
                break

    def goes_on(x):
        for i in ct.static_iter(range(3)):
            if i == 1:
                continue

    def returns(x):
        for i in ct.static_iter(range(3)):
            if i == 1:
                return

    def long(x):
        for _ in ct.static_iter(range(1_000_000)):
            pass

    def number(x):
        for _ in ct.static_iter(42):
            pass

    def item(x):
        for _ in ct.static_iter(([1], [2])):
            pass

    def outside(x):
        ct.static_iter(range(3))

    def unknown(n):
        for _ in ct.static_iter(range(n)):
            pass

    syntax, static = ct.TileSyntaxError, ct.TileStaticEvalError
    for kernel, kind, expected in (
        (leaves, syntax, "Break in a for loop with static_iter() is not supported"),
        (goes_on, syntax, "Continue in a for loop with static_iter() is not supported"),
        (returns, syntax, "Returning from a for loop is not supported"),
        (long, static, "Maximum number of iterations (1000) has been reached"),
        (number, ct.TileTypeError, "Invalid static_iter() iterable: 'int' object is not iter"),
        (item, static, "Invalid item #0 of static_iter() iterable: Cannot create constant"),
        (outside, syntax, "static_iter() is only allowed as iterable in a `for` loop"),
        (unknown, static, "Symbolic tile has no concrete value"),
    ):
        with pytest.raises(kind, match=re.escape(expected)):
            text(kernel, INT)


def test_tuple_comprehension() -> None:
    def kernel(x, n):
        k = 7
        pairs = tuple(
            (i, j * n) for i in ct.static_iter(range(3)) if i != 1 for j in ct.static_iter(range(i))
        )
        ct.static_assert(len(pairs) == 2)
        late = tuple(lambda: k for k in ct.static_iter(range(4)))
        ct.static_assert(k == 7)
        first = late[0]()
        ct.static_assert(first == 3)
        ct.scatter(x, 0, pairs[1][1] + len(tuple()))

    body(kernel, INTS, INT)


def test_tuple_comprehension_refuses() -> None:
    def not_static(x):
        tuple(i for i in (1, 2))

    def unknown(n):
        tuple(i for i in ct.static_iter(range(3)) if n > i)

    def undefined(n):
        tuple(j for i in ct.static_iter(range(k)) for k in ct.static_iter(range(i)))

    def target(n):
        tuple(0 for n[0] in ct.static_iter(range(3)))

    for kernel, kind, expected in (
        (not_static, ct.TileSyntaxError, "must be wrapped in ct.static_iter()"),
        (unknown, ct.TileTypeError, "if-conditions must be statically known"),
        (undefined, ct.TileSyntaxError, "Undefined variable k used"),
        (target, ct.TileSyntaxError, "target must be a name or tuple unpacking"),
    ):
        with pytest.raises(kind, match=re.escape(expected)):
            text(kernel, INT)


def test_ensure_constant() -> None:
    def kernel(n):
        ct.static_assert(ct.ensure_constant(SIZE) == 4)
        ct.ensure_constant(n)

    with pytest.raises(ct.TileStaticEvalError, match="ensure_constant"):
        text(kernel, constant(1))

    def known(n):
        ct.ensure_constant(n)

    text(known, constant(1))
    with pytest.raises(ct.TileStaticAssertionError, match="is not a compile-time constant"):
        text(known, INT)


def test_constants_have_any_precision() -> None:
    def kernel(x, n):
        large = (1 << 100) + n
        ct.scatter(x, 0, large >> 98)
        ct.scatter(x, 1, -7 // 2)
        ct.scatter(x, 2, 2**10 % 1000)

    lines = "\n".join(body(kernel, INTS, constant(3)))
    for value in (4, -4, 24):
        assert f"{{value = {value}}}" in lines


def test_constants_that_cannot_be_computed() -> None:
    def division():
        1 // 0

    def shift():
        1 << 100_000_000

    def mixed():
        "a" + 1

    with pytest.raises(ct.TileValueError, match="division"):
        text(division)
    with pytest.raises(ct.TileValueError, match="too large for <<"):
        text(shift)
    with pytest.raises(ct.TileTypeError, match=r"Unsupported operand types for \+"):
        text(mixed)


def test_globals_are_read_when_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(x):
        ct.scatter(x, 0, SIZE)

    assert any("{value = 4}" in line for line in body(kernel, INTS))
    monkeypatch.setitem(globals(), "SIZE", 9)
    assert any("{value = 9}" in line for line in body(kernel, INTS))


LIST = [1, 2]


def test_globals_that_are_no_constants() -> None:
    def kernel(x):
        ct.scatter(x, 0, LIST)

    with pytest.raises(ct.TileTypeError, match="Cannot create constant from value of type list"):
        text(kernel, INTS)


def test_strings() -> None:
    def kernel(x, n):
        name = "a" + f"b{'c'}"
        ct.static_assert(name == "abc" and "b" in name and str(12) == "12")
        print(f"{name}: {n:>5}", (n, 1))

    assert any(line.startswith("print ") for line in body(kernel, INTS, INT))


def test_strings_refuse() -> None:
    def conversion(n):
        print(f"{n!r}")

    def spec(n):
        print(f"{n:{n}}")

    def tuple_spec(n):
        print(f"{(n, n):5}")

    for kernel, kind, expected in (
        (conversion, ct.TileSyntaxError, "!r, !s, !a conversions are not supported"),
        (spec, ct.TileSyntaxError, "format spec must be a literal string"),
        (tuple_spec, ct.TileTypeError, "cannot apply format spec to a value of type Tuple"),
    ):
        with pytest.raises(kind, match=expected):
            text(kernel, INT)


def called_in_another_thread():
    raised: list[BaseException] = []

    def call():
        try:
            ct.zeros((16,), ct.float32)
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return len(raised)


def test_static_eval_concerns_its_own_thread() -> None:
    def kernel(x):
        ct.scatter(x, 0, ct.static_eval(called_in_another_thread()))

    assert any("{value = 1}" in line for line in body(kernel, INTS))
