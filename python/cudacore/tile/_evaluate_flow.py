# SPDX-License-Identifier: Apache-2.0
"""Branches: what variables hold where paths meet."""

from collections.abc import Callable, Sequence
from typing import Any

from cudacore.tile._dataclass import dataclass
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._exception import Loc, TileSyntaxError, TileTypeError
from cudacore.tile._frame import Frame, checked
from cudacore.tile._merge import (
    Leaf,
    Path,
    Slot,
    common,
    leaf_dtype,
    leaf_type,
    leaves,
    meet,
    with_leaves,
)
from cudacore.tile._names import RETURNED
from cudacore.tile._operand import describe
from cudacore.tile._parts import parts_of, rebuilt
from cudacore.tile._text import Operation, Region, Type, Value
from cudacore.tile._value import Constant, Tile, Undefined

#: What an expression gives, among the variables that meet after its branches.
RESULT = "$result"

_FEW = 16  # operations at most that are computed on both paths instead of branching

#: Operations that can run where the program would not have run them.
_HARMLESS = frozenset(
    (
        *("const", "bid", "num_blocks", "cast", "select", "fma"),
        *("add", "sub", "mul", "min", "max", "neg", "abs", "floor", "ceil", "isnan"),
        *("and", "or", "xor", "not", "shl", "shr"),
        *("eq", "ne", "lt", "le", "gt", "ge"),
    )
)


@dataclass(slots=True)
class _Branch:
    """One way through an if: its operations, and what the variables hold at its end."""

    region: Region
    terminated: bool
    variables: dict[str, object]
    places: dict[str, Loc]


def _run(evaluator: Evaluator, frame: Frame, body: Callable[[], object], name: str) -> _Branch:
    before = frame.state()
    try:
        with evaluator.builder.region() as region:
            result = body()
            terminated = evaluator.builder.is_terminated
        variables, places = frame.state()
        if result is not None:
            variables[name] = result
            places[name] = evaluator.scope.loc
    finally:
        frame.restore(before)
    return _Branch(region, terminated, variables, places)


def branch(
    evaluator: Evaluator,
    condition: Value,
    then: Callable[[], object],
    otherwise: Callable[[], object],
    result: str = RESULT,
) -> object:
    """Evaluate an if whose condition the device computes.

    Parameters
    ----------
    condition
        A scalar of type i1.
    then, otherwise
        Evaluate the paths.
    result
        What stands for what the paths give among the variables.

    Returns
    -------
    object
        What the paths give: both of them do, or neither.
    """
    builder, frame, loc = evaluator.builder, evaluator.frame, evaluator.scope.loc
    if evaluator.scope.combining is not None:
        evaluator.error(
            TileSyntaxError,
            f"Branching inside {evaluator.scope.combining} body is not supported. "
            "Consider ct.where() as a workaround.",
        )
    first = _run(evaluator, frame, then, result)
    second = _run(evaluator, frame, otherwise, result)
    if first.terminated or second.terminated:
        # The other path goes on after the if, which then gives nothing.
        left, going_on = (first, second) if first.terminated else (second, first)
        empty = Region(operations=[Operation("yield")])
        regions = (left.region, empty) if left is first else (empty, left.region)
        builder.operation("if", (condition,), regions=regions, loc=loc)
        builder.current.operations.extend(going_on.region.operations)
        frame.restore((going_on.variables, going_on.places))
    else:
        _join(evaluator, condition, first, second, loc)
    given = frame.variables.pop(result, None)
    return None if given is None else checked(given, loc)


def _changed(frame: Frame, branches: Sequence[_Branch]) -> list[str]:
    names = dict.fromkeys(name for each in branches for name in each.variables)
    missing = object()
    return [
        name
        for name in names
        if any(
            each.variables.get(name, missing) is not frame.variables.get(name, missing)
            for each in branches
        )
    ]


def _join(
    evaluator: Evaluator, condition: Value, first: _Branch, second: _Branch, loc: Loc
) -> None:
    builder, frame = evaluator.builder, evaluator.frame
    ends = [Operation("yield", loc=loc) for _ in range(2)]
    paths = [Path(end, builder) for end in ends]
    merger = Merger(paths)
    branches = (first, second)
    made: dict[str, object] = {}
    for name in _changed(frame, branches):
        values = [each.variables.get(name, _undefined(name)) for each in branches]
        made[name] = merger.add(name, values, [each.places.get(name) for each in branches])
    for each, end, operands in zip(branches, ends, merger.operands, strict=True):
        end.operands = tuple(operands)
        each.region.operations.append(end)
    results = _emit(evaluator, condition, branches, merger.types)
    for name, value in made.items():
        frame.variables[name] = filled(value, results)
        frame.places[name] = second.places.get(name) or first.places.get(name) or loc


def _emit(
    evaluator: Evaluator,
    condition: Value,
    branches: Sequence[_Branch],
    types: list[Type],
) -> Sequence[Value]:
    """Write an if, or the operations of both its branches where that is the same and cheap."""
    builder, loc = evaluator.builder, evaluator.scope.loc
    regions = [each.region for each in branches]
    bodies = [[*r.operations[:-1], *r.operations[-1].before] for r in regions]
    cheap = sum(map(len, bodies)) <= _FEW and all(
        each.name in _HARMLESS and not any(value.type.shape for value in each.results)
        for body in bodies
        for each in body
    )
    if not cheap or any(type_.shape or type_.is_pointer for type_ in types):
        return builder.operation("if", (condition,), regions=regions, types=types, loc=loc).results
    for body in bodies:
        builder.current.operations.extend(body)
    ends = [each.operations[-1].operands for each in regions]
    pairs = zip(*ends, types, strict=True)
    return [
        builder.one("select", condition, one, other, type=type_, loc=loc)
        for one, other, type_ in pairs
    ]


def _undefined(name: str) -> Undefined:
    return Undefined(f"Use of potentially undefined variable `{name}`")


class Merger:
    """Collects what operands the ends of paths need so that variables can go on after them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.types: list[Type] = []
        self.operands: list[list[Value | int]] = [[] for _ in paths]

    def add(self, name: str, values: Sequence[object], places: Sequence[Loc | None]) -> object:
        """Add a variable; return its value, with slots for what the operation will give."""
        defined = [value for value in values if not isinstance(value, Undefined)]
        if name == RETURNED and defined:  # read only where there was a return
            problem = meet(name, defined, [None] * len(defined))
            return problem or self._returned(values, defined)
        problem = meet(name, values, places)
        if problem is not None:
            return problem
        parts = [leaves(value) for value in values]
        made = [self._part(list(each)) for each in zip(*parts, strict=True)]
        return with_leaves(values[0], iter(made))  # type: ignore[arg-type]

    def _returned(self, values: Sequence[object], defined: list[object]) -> object:
        parts = [leaves(value) for value in defined]
        made: list[object] = []
        for each in zip(*parts, strict=True):
            same = common(each)
            if isinstance(same, Constant):
                made.append(same)
                continue
            dtype = leaf_dtype(each)
            given = iter(each)
            made.append(Slot(len(self.types), dtype))
            type_ = leaf_type(each[0], dtype)
            self.types.append(type_)
            for path, operands, value in zip(self.paths, self.operands, values, strict=True):
                missing = isinstance(value, Undefined)
                operand = path.constant(0, type_) if missing else path.operand(next(given), dtype)
                operands.append(operand)
        return with_leaves(defined[0], iter(made))  # type: ignore[arg-type]

    def _part(self, parts: list[Leaf]) -> object:
        same = common(parts)
        if same is not None and (len(parts) > 1 or isinstance(same, Constant)):
            return same
        dtype = leaf_dtype(parts)
        slot = Slot(len(self.types), dtype)
        self.types.append(leaf_type(parts[0], dtype))
        for path, operands, part in zip(self.paths, self.operands, parts, strict=True):
            operands.append(path.operand(part, dtype))
        return slot


def filled(value: object, results: Any) -> object:
    """Return a value with what an operation gave in the place of its slots."""
    if isinstance(value, Slot):
        given: Value = results[value.index]
        return given if value.dtype is None else Tile(given, value.dtype)
    found = parts_of(value)
    if found is None or not found[1]:
        return value
    return rebuilt(value, [filled(each, results) for each in found[1]])


def truth(evaluator: Evaluator, value: object) -> "bool | Value":
    """Return what a condition is: known, or a value of type i1."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, (tuple, dict)):
        return bool(value)
    if not isinstance(value, Tile) or value.shape:
        evaluator.error(
            TileTypeError,
            f"Expected a bool, but given value has type {describe(value)}; "
            "a condition must be a scalar; write ct.where(...) to choose element by element, "
            "and & and | instead of 'and' and 'or'",
        )
    if value.dtype.element == "i1":
        return value.value
    scope = evaluator.scope
    zero = scope.constant(0, value.dtype.element)
    return scope.op("ne", value.value, zero, type=Type("i1"))


def choose(
    evaluator: Evaluator,
    condition: object,
    then: Callable[[], object],
    otherwise: Callable[[], object],
) -> object:
    """Evaluate one of two ways, or both if the device decides."""
    known = truth(evaluator, condition)
    if isinstance(known, bool):
        return then() if known else otherwise()
    return branch(evaluator, known, then, otherwise)
