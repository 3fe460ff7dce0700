# SPDX-License-Identifier: Apache-2.0
"""What branches and loops of kernels become."""

import re

import cudacore.tile as ct
import pytest
from tile_text import FLOAT, INT, array, body, constant, text

INTS = array(ct.int32)


def test_whole_text_of_a_kernel() -> None:
    def axpy(x, y, a, size):
        """Compute a * x + y."""
        i = ct.bid(0)
        ct.store(y, (i,), ct.load(x, (i,), (size,)) * a + 1)

    assert text(axpy, array(), array(), FLOAT, constant(128)).startswith(
        'tile 1\nkernel "axpy" {\n'
        "  param %0 : ptr<f32> {align = 16}\n  param %1 : i32\n  param %2 : i32\n"
        "  param %3 : ptr<f32> {align = 16}\n  param %4 : i32\n  param %5 : i32\n"
        "  param %6 : f32\n"
        "  %7 = bid {axis = 0} : i32\n"
    )


def test_if_yields_what_it_changes() -> None:
    def kernel(x, n):
        t = ct.load(x, (0,), (16,))
        if n > 0:
            t = t + 1
        else:
            t = t - 1
        ct.store(x, (0,), t)

    lines = body(kernel, array(), INT)
    start = next(i for i, line in enumerate(lines) if " if " in line)
    assert re.match(r"%\d+ = if %\d+ : f32\[16\] \{", lines[start])
    shape = [line.strip().split()[0] for line in lines[start + 1 :]]
    assert shape.count("yield") == 2
    assert shape.count("}") == 2


def test_if_with_constant_condition_leaves_one_branch() -> None:
    def kernel(x, flag):
        if flag:
            ct.scatter(x, 0, 1)
        else:
            ct.missing(x)

    assert not any("if" in line for line in body(kernel, INTS, constant(True)))


def test_cheap_scalar_branches_become_selects() -> None:
    def kernel(x, n, m):
        y = n if 0 < n < m else m
        ct.scatter(x, 0, y)

    lines = body(kernel, INTS, INT, INT)
    assert sum(" = select " in line for line in lines) == 2
    assert not any(" if " in line for line in lines)


def test_and_does_not_load_where_the_first_is_false() -> None:
    def kernel(x, n):
        if n > 0 and ct.gather(x, n) > 0:
            ct.scatter(x, 0, 1)

    lines = body(kernel, INTS, INT)
    branch = next(i for i, line in enumerate(lines) if " = if " in line)
    load = next(i for i, line in enumerate(lines) if "load_at" in line)
    assert branch < load
    assert lines[load].startswith("  ")


def test_equal_constants_of_both_branches_stay_constant() -> None:
    def kernel(x, n):
        if n > 0:
            size = 16
        else:
            size = 16
        ct.store(x, (0,), ct.zeros((size,), ct.float32))

    assert any("f32[16]" in line for line in body(kernel, array(), INT))


def test_different_constants_are_no_constant() -> None:
    def kernel(x, n):
        if n > 0:
            size = 16
        else:
            size = 32
        ct.store(x, (0,), ct.zeros((size,), ct.float32))

    with pytest.raises(ct.TileTypeError, match="onstant"):
        text(kernel, array(), INT)


def test_types_that_depend_on_the_path() -> None:
    def kernel(x, n):
        if n > 0:
            val = 1
        else:
            val = 2.5
        ct.scatter(x, 0, val)

    expected = r"Type of `val` depends on path taken: Tile\[float32,\(\)\] \(line \d+\) vs\. Tile"
    with pytest.raises(ct.TileTypeError, match=expected):
        text(kernel, array(), INT)


def test_type_mismatch_is_no_error_if_unused() -> None:
    def kernel(x, n):
        if n > 0:
            val = 1
        else:
            val = 2.5
        val = 3
        ct.scatter(x, 0, val)

    body(kernel, array(), INT)


def test_type_of_conditional_expression() -> None:
    def kernel(x, n):
        ct.scatter(x, 0, 1 if n > 0 else 2.5)

    with pytest.raises(ct.TileTypeError, match="Type of the expression depends on path taken"):
        text(kernel, array(), INT)


def test_for_carries_what_it_changes_and_only_that() -> None:
    def kernel(x, n, size):
        t = ct.load(x, (0,), (size,))
        for _ in range(n):
            t = t + t
        ct.store(x, (0,), t)

    lines = body(kernel, array(), INT, constant(32))
    loops = [line for line in lines if " for " in line]
    assert re.fullmatch(
        r"%\d+ = for %\d+ = \(%\d+, %\d+, %\d+\) iter\(%\d+ = %\d+\) : f32\[32\] \{", *loops
    )
    assert any(re.fullmatch(r"  continue %\d+", line) for line in lines)


def test_for_with_break_and_continue() -> None:
    def kernel(x, n):
        count = 0
        for i in range(1, n, 2):
            if i == 5:
                continue
            if i == 9:
                break
            count += i
        ct.scatter(x, 0, count)

    lines = body(kernel, INTS, INT)
    ends = [line.split() for line in lines if line.split()[0] in ("break", "continue")]
    assert [(words[0], len(words)) for words in ends] == [
        ("continue", 2),
        ("break", 2),
        ("continue", 2),
    ]


def test_dead_values_are_not_carried() -> None:
    def kernel(x, n):
        unused = ct.zeros((16,), ct.float32)
        count = 0
        while count < n:
            unused = unused + 1.0
            count += 1
        ct.scatter(x, 0, count)

    assert not any("f32" in line for line in body(kernel, INTS, INT))


def test_while_true_that_runs_once_is_no_loop() -> None:
    def kernel(x):
        while True:
            ct.scatter(x, 0, 1)
            break

    assert not any("loop" in line for line in body(kernel, INTS))


def test_while_gives_the_values_of_its_breaks() -> None:
    def kernel(x, n):
        size = 0
        while True:
            if n > 3:
                size = 16
                break
            n += 1
        ct.store(x, (0,), ct.zeros((size,), ct.float32))

    assert any("f32[16]" in line for line in body(kernel, array(), INT))


def test_variable_first_set_in_an_endless_loop() -> None:
    def kernel(x, n):
        while True:
            t = (n, n * 2)
            if n > 3:
                break
            n += 1
        ct.scatter(x, 0, t[1])

    body(kernel, INTS, INT)


def test_tuples_and_records_are_carried() -> None:
    def kernel(x, n):
        t = (ct.gather(x, 0), ct.gather(x, 1))
        for _ in range(n):
            t = t[1], t[0] + t[1]
        ct.scatter(x, 2, t[1])

    assert any(re.search(r"iter\(%\d+ = %\d+, %\d+ = %\d+\) : i32, i32", line)
               for line in body(kernel, INTS, INT))  # fmt: skip


def test_nested_loops_share_a_variable() -> None:
    def kernel(x, n):
        total = 0
        for i in range(n):
            for j in range(i):
                total += j
        ct.scatter(x, 0, total)

    lines = body(kernel, INTS, INT)
    assert sum(" for " in line for line in lines) == 2


def test_array_chosen_by_a_branch() -> None:
    def kernel(x, y, n):
        if n > 0:
            z = x
        else:
            z = y
        ct.store(z, (0,), ct.zeros((16,), ct.float32))

    lines = body(kernel, array(), array(), INT)
    assert any(re.search(r"= if %\d+ : ptr<f32>, i32 \{", line) for line in lines)


@pytest.mark.parametrize("where", ["loop", "branch"])
def test_variable_without_a_value(where: str) -> None:
    def loop(x, n):
        for i in range(n):
            last = i
        ct.scatter(x, 0, last)

    def branch(x, n):
        if n > 0:
            last = n
        ct.scatter(x, 0, last)

    kernel = {"loop": loop, "branch": branch}[where]
    with pytest.raises(ct.TileTypeError, match="potentially undefined variable `last`"):
        text(kernel, INTS, INT)


def test_variable_read_before_it_is_set() -> None:
    def kernel(x):
        ct.scatter(x, 0, later)
        later = 1

    with pytest.raises(ct.TileSyntaxError, match="Undefined variable later used"):
        text(kernel, INTS)


def test_loop_that_changes_a_type() -> None:
    def kernel(x, n):
        total = 0
        for _ in range(n):
            total += 0.5
        ct.scatter(x, 0, total)

    with pytest.raises(ct.TileTypeError, match="Type of `total` depends on path taken"):
        text(kernel, array(), INT)


def test_constant_too_large_to_carry() -> None:
    def kernel(x, n):
        total = 2**64
        for _ in range(n):
            total += 1
        ct.scatter(x, 0, total)

    with pytest.raises(ct.TileValueError, match="out of range of any supported integer type"):
        text(kernel, INTS, INT)


def test_return_from_a_kernel() -> None:
    def kernel(x, n):
        if n > 3:
            return
        while True:
            if n > 2:
                return
            n += 1
            ct.scatter(x, 0, n)

    lines = text(kernel, INTS, INT).splitlines()
    assert sum(line.strip() == "return" for line in lines) == 3


def test_kernel_that_returns_a_value() -> None:
    def kernel(x):
        return x

    with pytest.raises(ct.TileTypeError, match="Tile kernels cannot return values"):
        text(kernel, INTS)


def test_return_from_for() -> None:
    def kernel(n):
        for _ in range(n):
            return

    with pytest.raises(ct.TileSyntaxError, match="Returning from a for loop is not supported"):
        text(kernel, INT)


def test_loops_with_else() -> None:
    def for_else(n):
        for _ in range(n):
            pass
        else:
            n = 1

    def while_else(n):
        while n > 3:
            n += 1
        else:
            n = 1

    for kernel, name in ((for_else, "for"), (while_else, "while")):
        with pytest.raises(ct.TileSyntaxError, match=f"'{name}-else' is not supported"):
            text(kernel, INT)


def test_loop_over_no_range() -> None:
    def kernel(x):
        for i in (1, 2, 3):
            ct.scatter(x, 0, i)

    with pytest.raises(ct.TileTypeError, match=r"Expected a range object.*static_iter"):
        text(kernel, INTS)


def test_ranges() -> None:
    def backward(n):
        for _ in range(n, 0, -2):
            pass

    def of_array(x):
        for _ in range(x):
            pass

    def of_float(n):
        for _ in range(n):
            pass

    with pytest.raises(ct.TileTypeError, match="Step must be positive, got -2"):
        text(backward, INT)
    with pytest.raises(ct.TileTypeError, match="Expected a scalar"):
        text(of_array, INTS)
    with pytest.raises(ct.TileTypeError, match="Expected a signed integer"):
        text(of_float, FLOAT)


def test_condition_that_is_no_scalar() -> None:
    def kernel(x):
        if ct.load(x, (0,), (16,)) > 0:
            ct.scatter(x, 0, 1)

    with pytest.raises(ct.TileTypeError, match="Expected a bool, but given value has type Tile"):
        text(kernel, INTS)


def test_assert_statement() -> None:
    def known(n):
        assert n > 3, "too small"

    def unknown(n):
        assert n > 3, "too small"

    def formatted(n, size):
        assert n > 3, f"not {size:03}"

    with pytest.raises(ct.TileStaticAssertionError, match="Static assertion failed: too small"):
        text(known, constant(1))
    assert '{message = "not 008"}' in body(formatted, INT, constant(8))[-1]
    assert body(unknown, INT)[-1].startswith("assert ")
    assert '{message = "too small"}' in body(unknown, INT)[-1]


def test_array_that_a_loop_only_passes_on() -> None:
    def kernel(x, n):
        while True:
            y = x
            if n > 3:
                break
            n += 1
        ct.scatter(y, 0, n)

    assert not any("ptr" in line for line in body(kernel, INTS, INT))


def test_array_first_chosen_in_a_loop() -> None:
    def kernel(x, y, n):
        while True:
            if n > 3:
                z = x
                break
            if n < -3:
                z = y
                break
            n += 1
        ct.scatter(z, 0, n)

    lines = body(kernel, INTS, INTS, INT)
    assert any(re.fullmatch(r"%\d+ = bitcast %\d+ : ptr<i32>", line) for line in lines)


def test_variables_exchanged_by_turns() -> None:
    def kernel(x, n):
        a, b, c = 1, 2, 3
        for _ in range(n):
            a, b = b, a
        ct.scatter(x, 0, a + b + c)

    lines = body(kernel, INTS, INT)
    loop = next(line for line in lines if " for " in line)
    names = re.findall(r"(%\d+) = %\d+", loop)
    assert f"  continue {names[1]}, {names[0]}" in lines
