# SPDX-License-Identifier: Apache-2.0
"""What kernels on scalars compute is what Python computes."""

import array as array_of_c
import types
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore import Device, Stream
from cudacore.tile._compile import compile_to_text
from tile_interpreter import Interpreter
from tile_text import INT, array

SIZE = 40


class _Python:
    """The functions of the language on the host."""

    @staticmethod
    def gather(x: list[int], index: int) -> int:
        return x[index] if 0 <= index < len(x) else 0

    @staticmethod
    def scatter(x: list[int], index: int, value: int) -> None:
        if 0 <= index < len(x):
            x[index] = int(value)

    @staticmethod
    def static_iter(iterable: Any) -> Any:
        return iterable


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, and the helpers it sees, for Python to run."""
    names = dict(function.__globals__)
    made: dict[Any, Any] = {}

    def moved(thing: Any) -> Any:
        code = getattr(thing, "__code__", None)
        if code is None or thing.__module__ != __name__ or getattr(thing, "__wrapped__", None):
            return thing
        if thing not in made:
            made[thing] = types.FunctionType(
                code, names, thing.__name__, thing.__defaults__, thing.__closure__
            )
        return made[thing]

    names.update({name: moved(thing) for name, thing in function.__globals__.items()})
    names["ct"] = _Python
    marks_ = names["marks"].__wrapped__
    names["marks"] = contextmanager(types.FunctionType(marks_.__code__, names))
    return moved(function)  # type: ignore[no-any-return]


def append(x, value):
    i = ct.gather(x, 0) + 1
    ct.scatter(x, 0, i)
    ct.scatter(x, i, value)


def branches(x, n, m):
    if n > 3:
        a = n
        if m > 3:
            a = a + m
        elif m == 2:
            a, m = m, a
    else:
        a = -n
    append(x, a)
    append(x, m)
    append(x, 1 if n < m < 7 else 2 if not n else 3)
    if n > 1 and (m > 2 or n == 5) and ct.gather(x, 1) != 0:
        append(x, 100)


def nested_loops(x, n, m):
    total = 0
    i = 50
    for i in range(n):
        for j in range(i, 8, 2):
            if j == m:
                continue
            if j > 6:
                break
            total += i * j
        if total > 20:
            break
    append(x, total)
    k = 0
    while k < n:
        k += 1
        if k == m:
            continue
        inner = k
        while True:
            inner += 3
            if inner > 9:
                break
        total = total + inner
    append(x, total)


def swaps(x, n, m):
    a, b, c = n, m, 7
    pair = (a, (b, 1))
    for i in range(5):
        a, b = b, a + 1
        pair = (pair[1][0], (pair[0] + i, 2))
        c = 7
    append(x, a)
    append(x, b)
    append(x, pair[0] * 100 + pair[1][0] * 10 + pair[1][1] + c)


def guarded(n, m):
    if n > 4:
        return n * 2
    if m > 3:
        if n > 2:
            return 7
        m = m - 1
    elif m == 1:
        return -m
    return n + m


def searched(n, m):
    k = 0
    while k < 10:
        if k * k > n:
            return k
        inner = 0
        while inner < k:
            inner += 1
            if inner * m == 6:
                return -inner
            if inner == 5:
                break
        k += 1
    return 99


def helpers(x, n, m):
    append(x, guarded(n, m))
    append(x, guarded(m, n))
    append(x, searched(n, m))
    append(x, searched(n * 20, m))
    append(x, guarded(3, 4) + guarded(n=9, m=0))


def closures(x, n, m):
    def maker(t):
        def add(y, k=n):
            return y * k + t + m

        t = t + 1
        return add

    f = maker(3) if n > 2 else maker(4)
    append(x, f(5))
    m = m + 10
    g = lambda *a: a[0] + f(a[1], k=2) + m
    append(x, g(1, 2))
    n = 100
    append(x, f(n))


@contextmanager
def marks(x, first, last):
    append(x, first)
    first = first + 1
    yield first
    append(x, last + first)


def contexts(x, n, m):
    i = 0
    while True:
        with marks(x, 10 + i, 20) as a, marks(x, a, 30) as b:
            append(x, b)
            if i == n:
                break
            if i == m:
                i += 2
                continue
        i += 1
        if i > 4:
            break
    append(x, i)


def first_in_loop(x, n, m):
    while True:
        found = (n, m * 2)
        if n > 5:
            extra = 3
            break
        n += 2
        if m > 4:
            extra = n
            break
        m += 1
    append(x, found[0] + found[1] * 10 + extra)


def leaves(x, n, m):
    if n == 3:
        append(x, 1)
        return
    while m > 0:
        m -= 1
        append(x, m)
        if m == n:
            return
    append(x, 77)


def unrolled(x, n, m):
    values = (n, m, n + m)
    total = 0
    for k, value in ct.static_iter(enumerate(values)):
        if value > 2:
            total += k * value
    append(x, total)
    append(x, sum_of(*values) if n in values[1:] else sum_of(*values[:2]))


def sum_of(*values):
    total = 0
    for value in ct.static_iter(values):
        total = total + value
    return total


KERNELS = [
    branches,
    nested_loops,
    swaps,
    helpers,
    closures,
    contexts,
    first_in_loop,
    leaves,
    unrolled,
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_text_does_what_python_does(kernel: Callable[..., Any]) -> None:
    text = compile_to_text(kernel, [array(ct.int32), INT, INT])
    python = on_host(kernel)
    for n in range(8):
        for m in range(8):
            expected, given = [0] * SIZE, [0] * SIZE
            python(expected, n, m)
            Interpreter(text).run(given, SIZE, 1, n, m)
            assert given == expected, (n, m)


@pytest.mark.parametrize("function", KERNELS)
def test_device_does_what_python_does(
    function: Callable[..., Any], device: Device, stream: Stream
) -> None:
    kernel = ct.kernel(function)
    python = on_host(function)
    buffer = device.allocate(4 * SIZE, stream=stream)
    x = buffer.view("int32")
    for n, m in ((0, 3), (3, 2), (6, 5)):
        expected, given = [0] * SIZE, array_of_c.array("i", [0] * SIZE)
        python(expected, n, m)
        buffer.copy_from(given, stream=stream)
        ct.launch(stream, (1,), kernel, (x, n, m))
        buffer.copy_to(given, stream=stream)
        stream.sync()
        assert given.tolist() == expected, (n, m)
