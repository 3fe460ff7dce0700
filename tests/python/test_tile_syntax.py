# SPDX-License-Identifier: Apache-2.0
"""Python that kernels lack, values that don't fit, and what is known of arguments."""

import re
import textwrap
from pathlib import Path
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._compile import compile_to_text
from cudacore.tile._exception import Loc
from cudacore.tile.compilation import (
    DataclassConstraint,
    ListConstraint,
    TupleConstraint,
)
from test_tile_functions import Point
from tile_text import INT, array, body, constant, text

INTS = array(ct.int32)


def made(folder: Path, source: str) -> Any:
    """Return the function named kernel of a file with this source."""
    path = folder / "kernels.py"
    path.write_text(textwrap.dedent(source))
    names: dict[str, Any] = {"ct": ct}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["kernel"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("[i for i in y]", "ListComp; write tuple(... for x in ct.static_iter(...))"),
        ("(i for i in y)", "GeneratorExp; write tuple"),
        ("[1, 2]", "List; write a tuple"),
        ("{1, 2}", "Set; write a tuple"),
        ("(z := 3)", "NamedExpr; assign in a statement of its own"),
        ("import math", "Import; import outside of the kernel"),
        ("raise ValueError", "Raise; write ct.static_assert() or ct.assert_()"),
        ("class A: pass", "ClassDef; define the class outside"),
        ("del y", "Delete"),
        ("b'x'", "a literal of type bytes"),
        ("y[0].z = 3", "assignment to Attribute"),
        ("a, *b = y", "a star left of the sign"),
        ("y.z += 3", "assignment to Attribute"),
    ],
)
def test_unsupported_syntax(tmp_path: Path, statement: str, expected: str) -> None:
    source = f"def kernel(y):\n    {statement}\n"
    kernel = made(tmp_path, source.replace("b'x'", "z = b'x'"))
    with pytest.raises(ct.TileSyntaxError, match=re.escape(f"Unsupported syntax: {expected}")):
        text(kernel, TupleConstraint((INT, INT)))


def test_names_that_do_not_exist() -> None:
    def kernel():
        missing

    with pytest.raises(ct.TileSyntaxError, match="Undefined variable missing used"):
        text(kernel)


def test_unpacking() -> None:
    def kernel(x):
        (a, b), c = (1, 2), 3
        ct.scatter(x, 0, a + b + c)

    def few():
        a, b = (1,)

    def many():
        a, b = 1, 2, 3

    def number(n):
        a, b = n

    assert any("{value = 6}" in line for line in body(kernel, INTS))
    with pytest.raises(ct.TileValueError, match=r"Too few values to unpack \(expected 2, got 1\)"):
        text(few)
    with pytest.raises(ct.TileValueError, match="Too many values to unpack"):
        text(many)
    with pytest.raises(ct.TileTypeError, match="Expected a tuple"):
        text(number, INT)


def test_tuples() -> None:
    def simple(x, n):
        t = (1, n, 3)
        same = t == (1, 2, 3)
        ct.scatter(x, 0, same)
        ct.scatter(x, 1, n in t[1:])

    def dynamic(n):
        (1, 2)[n]

    def text_index(n):
        t = (1, 2)
        t["a"]

    def far(n):
        (1, 2)[2]

    def assigned(n):
        t = (1, 2)
        t[0] = n

    def ordered(n):
        (1, 2) < (n, 3)

    assert sum(" eq " in line for line in body(simple, array(ct.bool_), INT)) == 3
    for bad, expected in (
        (dynamic, "Tuple indices must be constant"),
        (text_index, "Tuple indices must be integers or slices"),
        (far, "Index 2 is out of range for a tuple of length 2"),
        (assigned, "Tuples are immutable: item assignment is not supported"),
        (ordered, "Operator 'lt' is not supported for tuples"),
    ):
        with pytest.raises(ct.TileTypeError, match=expected):
            text(bad, INT)


def test_dictionaries_of_named_arguments() -> None:
    def helper(**named):
        ct.static_assert(named == {"a": 1, "b": 2})
        both = "a" in named and "c" not in named
        ct.static_assert(both)
        nothing = named.get("c")
        ct.static_assert(nothing is None)
        return named["b"] + named.get("c", 10)

    def kernel(x):
        ct.scatter(x, 0, helper(a=1, b=2))

    def missing(**named):
        return named["z"]

    def bad():
        missing(a=1)

    assert any("{value = 12}" in line for line in body(kernel, INTS))
    with pytest.raises(ct.TileTypeError, match="Key 'z' not found in dictionary"):
        text(bad)


def test_identity() -> None:
    def kernel(x, n):
        ct.scatter(x, 0, 1 if n is not None and None is None else 0)

    def bad(n):
        n is n

    assert any("{value = 1}" in line for line in body(kernel, INTS, INT))
    with pytest.raises(ct.TileTypeError, match="Operator 'is' expects one of the operands to be"):
        text(bad, INT)


def test_attributes_that_values_lack() -> None:
    def kernel(x):
        x.missing

    def of_tuple(x):
        (x,).count

    with pytest.raises(ct.TileTypeError, match="No such attribute 'missing' for object of type"):
        text(kernel, INTS)
    with pytest.raises(ct.TileTypeError, match="No such attribute 'count'"):
        text(of_tuple, INTS)


def test_parameters() -> None:
    def kernel(a, s, t, p, many, name):
        ct.scatter(a, (0, 0), s + t[0] + p.x + t[1] + len(many) + len(name))
        ct.store(many[0], (0,), ct.zeros((16,), ct.int32))

    source = text(
        kernel,
        array(
            ct.int32,
            2,
            index_dtype=ct.int64,
            shape_constant=(None, 8),
            shape_divisible_by=(16, 1),
            stride_divisible_by=(8, 1),
            base_addr_divisible_by=32,
        ),
        INT,
        TupleConstraint((INT, 5)),
        DataclassConstraint(Point, (INT, 1)),
        ListConstraint(array(ct.int32), alias_groups=(), elements_may_alias=False),
        constant("four"),
    )
    given = [line.strip() for line in source.splitlines() if line.startswith("  param")]
    assert given == [
        "param %0 : ptr<i32> {align = 32}",
        "param %1 : i64 {div = 16}",
        "param %2 : i64",
        "param %3 : i64 {div = 8}",
        "param %4 : i64",
        "param %5 : i32",
        "param %6 : i32",
        "param %7 : i32",
        "param %8 : ptr<i64> {align = 8}",
        "param %9 : i32",
    ]


def test_number_of_parameters() -> None:
    def kernel(a, b):
        pass

    def variadic(*a):
        pass

    with pytest.raises(TypeError, match=r"kernel\(\) takes 2 arguments, got 1"):
        text(kernel, INT)
    with pytest.raises(ct.TileSyntaxError, match="Variadic kernel parameters are not supported"):
        text(variadic, INT)


def test_hints_and_name() -> None:
    def kernel(n):
        pass

    made_text = compile_to_text(kernel, [INT], {"warps": 4, "occupancy": 2}, "other")
    assert 'kernel "other" {' in made_text
    assert "  hint warps = 4\n  hint occupancy = 2\n" in made_text


def test_places_are_those_of_the_source(tmp_path: Path) -> None:
    kernel = made(
        tmp_path,
        """
        if True:
            def kernel(x):
                text = '''
        not indented'''
                ct.scatter(x, (0 +
        0), 3)
        """,
    )
    made_text = compile_to_text(kernel, [INTS])
    assert f'file 0 "{tmp_path / "kernels.py"}"' in made_text
    assert re.search(r"store_at .* @0:6:9$", made_text, re.MULTILINE)


def test_caret_of_wide_characters(tmp_path: Path) -> None:
    kernel = made(tmp_path, "def kernel(x):\n    '犬', x.missing\n")
    with pytest.raises(ct.TileTypeError) as error:
        text(kernel, INTS)
    assert "line 2, col 11-19, in kernel" in str(error.value)
    assert str(error.value).endswith("    '犬', x.missing\n" + " " * 14 + "^" * 9 + "\n")


def test_source_that_cannot_be_found() -> None:
    names: dict[str, Any] = {}
    exec("def kernel(): pass", names)
    with pytest.raises(ct.TileSyntaxError, match=r"source of kernel\(\) was not found"):
        text(names["kernel"])


def test_helper_without_source_names_its_caller() -> None:
    names: dict[str, Any] = {}
    exec("def helper(): pass", names)
    helper = names["helper"]

    def kernel():
        helper()

    with pytest.raises(ct.TileSyntaxError, match=r"(?s)source of helper\(\).*in kernel"):
        text(kernel)


def test_location_of_an_error_without_one() -> None:
    assert str(Loc.unknown()) == "<unknown>:0:0"
    assert "no place in the source is known" in str(ct.TileTypeError("oops"))
