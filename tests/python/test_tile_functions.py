# SPDX-License-Identifier: Apache-2.0
"""Calls within kernels: helpers, closures, dataclasses, context managers."""

import dataclasses
import enum
import functools
import math
import operator
import re
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._exception import UnsupportedCallError
from cudacore.tile._function import static_def
from tile_text import INT, array, body, constant, text

INTS = array(ct.int32)


def stored(function: Callable[..., Any], *parameters: Any) -> list[int]:
    """Return the constants that a kernel writes, in their order."""
    lines = body(function, INTS, *parameters)
    constants = dict(re.findall(r"(%\d+) = const \{value = (-?\d+)\}", "\n".join(lines)))
    values = [re.match(r" *store_at %\d+, %\d+, (%\d+)", line) for line in lines]
    return [int(constants[match[1]]) for match in values if match]


def twice(x, by=2, *rest, plus=0, **more):
    return x * by + sum_of(*rest) + plus + more.get("extra", 0)


def sum_of(*values):
    ct.static_assert(all(value > 0 for value in values))
    total = 0
    for value in ct.static_iter(values):
        total += value
    return total


def test_arguments_of_a_helper() -> None:
    def kernel(x):
        rest = (10, 20)
        named = {}
        ct.scatter(x, 0, named)

    def calls(x):
        rest = (10, 20)
        ct.scatter(x, 0, twice(1))
        ct.scatter(x, 1, twice(1, 3))
        ct.scatter(x, 2, twice(1, 3, *rest, plus=100))
        ct.scatter(x, 3, twice(x=1, extra=1000))

    assert stored(calls) == [2, 3, 133, 1002]
    with pytest.raises(ct.TileSyntaxError, match="Unsupported syntax: Dict; write a tuple"):
        text(kernel, INTS)


def test_wrong_arguments_of_a_helper() -> None:
    def missing():
        twice()

    def unknown(x):
        (lambda a: a)(b=x)

    def no_tuple(x):
        twice(*x)

    def no_dictionary(x):
        twice(**x)

    with pytest.raises(ct.TileTypeError, match=r"twice\(\): missing a required argument: 'x'"):
        text(missing)
    with pytest.raises(ct.TileTypeError, match=r"<lambda>\(\): .*'?a'?"):
        text(unknown, INT)
    with pytest.raises(ct.TileTypeError, match=re.escape("Expected a tuple after *")):
        text(no_tuple, INT)
    with pytest.raises(ct.TileTypeError, match=re.escape("Expected a dictionary after **")):
        text(no_dictionary, INT)


def guarded(n):
    if n > 3:
        return n + 1
    if n > 2:
        return n * 2
    return n - 1


def test_early_returns_become_branches() -> None:
    def kernel(x, n):
        ct.scatter(x, 0, guarded(n))

    lines = body(kernel, INTS, INT)
    assert sum(" = select " in line for line in lines) == 2
    assert not any("loop" in line for line in lines)


def partly_returning(n):
    if n > 1:
        if n > 5:
            return 7
        n = n + 1
    return n


def searching(n):
    k = 0
    while k < n:
        if k * k > n:
            return k
        k += 1
    return -1


def test_returns_that_need_a_jump() -> None:
    def partly(x, n):
        ct.scatter(x, 0, partly_returning(n))

    def search(x, n):
        ct.scatter(x, 0, searching(n))

    for kernel, loops in ((partly, 1), (search, 2)):
        lines = body(kernel, INTS, INT)
        assert sum(" loop " in line for line in lines) == loops


def test_constant_conditions_need_no_jump() -> None:
    def kernel(x):
        ct.scatter(x, 0, partly_returning(9))
        ct.scatter(x, 1, guarded(3))

    assert stored(kernel) == [7, 6]


def test_return_types_that_differ() -> None:
    def helper(n):
        if n > 0:
            return 3
        return 5.0

    def kernel(n):
        helper(n)

    with pytest.raises(ct.TileTypeError, match="Type of return value depends on path taken"):
        text(kernel, INT)


def test_return_from_a_for_of_a_helper() -> None:
    def helper(n):
        for i in range(n):
            if i > 3:
                return i
        return 0

    def kernel(n):
        helper(n)

    with pytest.raises(ct.TileSyntaxError, match="Returning from a for loop is not supported"):
        text(kernel, INT)


def deep(x, n):
    if n > 0:
        return deep(x, n - 1) + 1
    return x


def test_recursion() -> None:
    def kernel(x, n):
        ct.scatter(x, 0, deep(7, n))

    assert stored(kernel, constant(109)) == [116]
    with pytest.raises(ct.TileRecursionError, match=r"Maximum recursion depth \(250\)") as error:
        text(kernel, INTS, constant(100_000))
    assert "calls left out" in str(error.value)


def test_closures_see_variables_as_they_are_when_called() -> None:
    def kernel(x):
        def add(t, k=3):
            return t + n * k

        n = 5
        ct.scatter(x, 0, add(1))
        n = 100
        ct.scatter(x, 1, add(1, k=1))
        later = lambda *a, **named: a[1] + named["z"]
        ct.scatter(x, 2, later(1, 2, z=5))

    assert stored(kernel) == [16, 101, 7]


def test_closures_outlive_their_function() -> None:
    def kernel(x):
        def maker(t):
            def inner(y):
                return y * 2 + t

            def outer(y):
                return inner(y) + 100

            t = t + 1
            return outer, "text"

        ct.scatter(x, 0, maker(30)[0](4))

    assert stored(kernel) == [139]


def test_closures_meet_after_a_branch() -> None:
    def kernel(x, n):
        def maker(t):
            return lambda y: y + t

        if n > 0:
            function = maker(30)
        else:
            function = maker(40)
        ct.scatter(x, 0, function(n))

    lines = body(kernel, INTS, INT)
    assert sum(" = select " in line for line in lines) == 1


def test_functions_that_cannot_meet() -> None:
    def kernel(x, n):
        if n > 0:

            def f(t):
                return t + 1

        else:

            def f(t):
                return t + 2

        ct.scatter(x, 0, f(n))

    expected = (
        r"Type of `f` depends on path taken: <function f of line \d+> \(line \d+\) vs\. <func"
    )
    with pytest.raises(ct.TileTypeError, match=expected):
        text(kernel, INTS, INT)


def test_assignment_to_variables_of_others() -> None:
    def kernel(x):
        def inner():
            nonlocal n
            n = 1

        n = 0
        inner()

    with pytest.raises(ct.TileSyntaxError, match="Unsupported syntax: Nonlocal"):
        text(kernel, INTS)


def test_decorators_of_nested_functions() -> None:
    def kernel():
        @functools.cache
        def inner():
            pass

    with pytest.raises(ct.TileSyntaxError, match="Decorators on nested functions"):
        text(kernel)


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 3

    return wrapper


@decorate
@ct.function
def decorated(x):
    return x * 10


def test_decorated_helpers() -> None:
    def kernel(x):
        ct.scatter(x, 0, decorated(5))

    assert stored(kernel) == [53]


def test_functions_for_one_side() -> None:
    @ct.function(host=True)
    def both(x):
        return x + 1

    @ct.function
    def inside(x):
        return x + 1

    @ct.function(host=True, tile=False)
    def outside(x):
        return x + 1

    def kernel(x):
        ct.scatter(x, 0, inside(both(1)))

    def wrong():
        outside(1)

    assert both(1) == 2
    assert outside(1) == 2
    with pytest.raises(RuntimeError, match="Device functions can only be called from device code"):
        inside(1)
    assert stored(kernel) == [3]
    with pytest.raises(UnsupportedCallError, match=r"outside\(\) can only be called on the host"):
        text(wrong)


def test_calls_of_what_kernels_lack() -> None:
    class Plain:
        pass

    def builtin():
        eval("2 + 2")

    def made():
        Plain()

    def number():
        n = 3
        n(4)

    def sub_byte():
        ct.float4_e2m1fn(2.0)

    for kernel, kind, expected in (
        (builtin, UnsupportedCallError, "eval() is not supported in device code"),
        (made, UnsupportedCallError, 'Creating instances of type "Plain" is not supported'),
        (number, ct.TileTypeError, "Cannot call an object of type"),
        (sub_byte, ct.TileTypeError, "Cannot call an object of type DTypeSpec(dtype=<DType"),
    ):
        with pytest.raises(kind, match=re.escape(expected)):
            text(kernel)


def test_functions_of_python() -> None:
    def kernel(x):
        pair = (operator.add(1, 2), math.floor(math.pi))
        ct.scatter(x, 0, len(pair) + pair[0])
        ct.scatter(x, 1, max(*pair) + min(4, 5) + abs(-6) + int(2.5))
        ct.scatter(x, 2, 1 if isinstance(pair, tuple) and isinstance(x, ct.Array) else 0)
        ct.scatter(x, 3, 1 if 3 in pair and 4 not in pair and (1, 2) == (1, 2) else 0)
        ct.scatter(x, 4, divmod(17, 5)[1])

    assert stored(kernel) == [5, 15, 1, 1, 2]


plus_one = lambda x, *rest: x + 1 + len(rest)
one_of_two, other_of_two = lambda a: a + 1, lambda a: a + 2


def test_lambdas_outside_of_kernels() -> None:
    def kernel(x):
        ct.scatter(x, 0, plus_one(4, 5))

    def ambiguous(x):
        ct.scatter(x, 0, one_of_two(4))

    assert stored(kernel) == [6]
    with pytest.raises(ct.TileSyntaxError, match="is not defined by a 'def' statement"):
        text(ambiguous, INTS)
    with pytest.raises(ct.TileSyntaxError, match="A kernel must be defined by a 'def' statement"):
        text(plus_one, INT)


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 5

    SCALE = 10

    def total(self, more=0):
        return self.x * self.SCALE + self.y + more

    @property
    def first(self):
        return self.x

    def __call__(self, n):
        return self.x + n

    def __getitem__(self, index):
        return (self.x, self.y)[index]


def test_dataclasses() -> None:
    def kernel(x):
        p = Point(2)
        q = dataclasses.replace(p, y=Point(7, y=p.total(more=1)))
        ct.scatter(x, 0, q.y.y + q.first + q(100) + p[1] + Point.SCALE)

    assert stored(kernel) == [26 + 2 + 102 + 5 + 10]


def test_dataclasses_that_kernels_refuse() -> None:
    @dataclasses.dataclass
    class Thawed:
        x: int

    @dataclasses.dataclass(frozen=True)
    class WithFactory:
        x: tuple = dataclasses.field(default_factory=tuple)

    @dataclasses.dataclass(frozen=True)
    class WithInit:
        x: int

        def __init__(self):
            pass

    def thawed():
        Thawed(2)

    def factory():
        WithFactory()

    def init():
        WithInit()

    def field():
        dataclasses.replace(Point(1), z=3)

    def attribute():
        Point(1).z

    for kernel, expected in (
        (thawed, "Only frozen dataclasses are supported"),
        (factory, "Dataclasses with default_factory fields are not supported"),
        (init, "a default generated __init__() method"),
        (field, "Dataclass 'Point' has no such field 'z'"),
        (attribute, "'Point' object has no attribute 'z'"),
    ):
        with pytest.raises(ct.TileTypeError, match=re.escape(expected)):
            text(kernel)


class Color(enum.Enum):
    RED = 0
    GREEN = 1


def test_enums() -> None:
    def kernel(x):
        if Color(0) == Color.RED and Color.GREEN.name == "GREEN":
            ct.scatter(x, 0, Color.GREEN.value)

    def invalid():
        Color(7)

    def unknown(n):
        Color(n)

    def ordered():
        Color.RED < Color.GREEN

    def branched(n):
        color = Color.RED if n > 0 else Color.GREEN
        return color

    assert stored(kernel) == [1]
    with pytest.raises(ct.TileValueError, match="7 is not a valid Color"):
        text(invalid)
    with pytest.raises(ct.TileTypeError, match="Enum constructor argument must be a constant"):
        text(unknown, INT)
    with pytest.raises(ct.TileTypeError, match="'<' not supported"):
        text(ordered)
    with pytest.raises(ct.TileTypeError, match="depends on path taken: <enum constant Color.GREEN"):
        text(branched, INT)


@contextmanager
def marks(x, first, last):
    ct.scatter(x, 0, first)
    yield first + 1
    ct.scatter(x, 0, last)


@contextmanager
def nested(x):
    with marks(x, 1, 2) as value:
        yield value


def test_context_managers_run_their_end_on_every_way_out() -> None:
    def kernel(x):
        while True:
            with nested(x) as a, marks(x, 3, 4) as b:
                ct.scatter(x, 0, a * 100 + b)
                break

    def returns(x):
        with marks(x, 1, 2):
            return

    assert stored(kernel) == [1, 3, 204, 4, 2]
    assert stored(returns) == [1, 2]


@contextmanager
def twice_yielding():
    yield
    yield


@contextmanager
def never_yielding():
    pass


@contextmanager
def conditional(n):
    if n:
        yield


@contextmanager
def returning():
    if ct.bid(0) == 1:
        return
    yield


def test_context_managers_that_kernels_refuse() -> None:
    def two():
        with twice_yielding():
            pass

    def none():
        with never_yielding():
            pass

    def branch():
        with conditional(1):
            pass

    def early():
        with returning():
            pass

    def number():
        with 3:
            pass

    def again():
        manager = conditional_free()
        with manager:
            pass
        with manager:
            pass

    for kernel, kind, expected in (
        (two, ct.TileTypeError, "must have one `yield` statement"),
        (none, ct.TileTypeError, "no reachable `yield` statement"),
        (branch, ct.TileTypeError, "outside of loops and conditional statements"),
        (early, ct.TileSyntaxError, "Returning from a generator-based context manager"),
        (number, ct.TileTypeError, "cannot be used as a context manager"),
        (again, ct.TileTypeError, "Context manager cannot be reused"),
    ):
        with pytest.raises(kind, match=expected):
            text(kernel)


@contextmanager
def conditional_free():
    yield


def test_error_names_the_chain_of_calls() -> None:
    def inner(x):
        ct.abracadabra(x)

    def outer(x):
        inner(x)

    def kernel(x):
        outer(x)

    with pytest.raises(ct.TileTypeError) as error:
        text(kernel, INTS)
    lines = str(error.value).splitlines()
    assert lines[0] == "Module 'cudacore.tile' has no attribute 'abracadabra'"
    assert [re.sub(r'.*", line \d+, ', "", line) for line in lines[1::3]] == [
        "col 9-16, in kernel:",
        "col 9-16, in outer:",
        "col 9-22, in inner:",
    ]
    assert lines[-2:] == ["            ct.abracadabra(x)", "            " + "^" * 14]


def test_error_in_the_compiler_is_chained() -> None:
    class Broken:
        def __len__(self):
            raise KeyError("oops")

    def kernel():
        ct.static_eval(len(Broken()))

    with pytest.raises(ct.TileStaticEvalError, match=r"\(KeyError: 'oops'\)") as error:
        text(kernel)
    assert isinstance(error.value.__cause__, KeyError)


def test_functions_that_python_runs_itself() -> None:
    @dataclasses.dataclass(frozen=True)
    class Made:
        x: int

        @static_def
        def __init__(self, n):
            object.__setattr__(self, "x", n * 5)

        @static_def
        def __call__(self, z):
            items = [self.x, z]
            return sum(items)

    def kernel(x):
        ct.scatter(x, 0, Made(10)(7))

    assert stored(kernel) == [57]


def test_reductions_neither_branch_nor_loop() -> None:
    def branching(x):
        def combine(a, b):
            return a if a > b else -b

        ct.reduce(ct.load(x, (0,), (16,)), 0, combine, 0)

    def looping(x):
        def combine(a, b):
            for _ in range(3):
                a = a + b
            return a

        ct.scan(ct.load(x, (0,), (16,)), 0, combine, 0)

    with pytest.raises(ct.TileSyntaxError, match="Branching inside reduction body is not supp"):
        text(branching, INTS)
    with pytest.raises(ct.TileSyntaxError, match="Loops inside scan body are not supported"):
        text(looping, INTS)
