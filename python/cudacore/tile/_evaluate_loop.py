# SPDX-License-Identifier: Apache-2.0
"""Loops: what they carry from one turn to the next, and what is left after them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cudacore.tile._dataclass import dataclass, field
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_flow import filled
from cudacore.tile._exception import Loc, TileSyntaxError, TileTypeError
from cudacore.tile._frame import Frame, Jump, Loop, LoopKind
from cudacore.tile._merge import (
    Leaf,
    Path,
    Slot,
    common,
    default_dtype,
    kind,
    leaf_dtype,
    leaf_type,
    leaves,
    mismatch,
    with_leaves,
    written_constant,
)
from cudacore.tile._names import RETURNED
from cudacore.tile._text import Region, Type, Value
from cudacore.tile._value import Constant, Tile, Undefined


@dataclass(slots=True)
class _Carried:
    """A value that goes from turn to turn, or out of the loop, or both."""

    parameter: Value  # what the body sees
    start: Value | None  # what it is before the first turn; None if nothing reads that
    dtype: Any  # None: a pointer
    nexts: dict[int, Value] = field(default_factory=dict)  # by the index of a continue
    lasts: dict[int, Value] = field(default_factory=dict)  # by the index of a break


@dataclass(slots=True)
class _Variable:
    """A variable that the loop assigns to."""

    name: str
    before: object  # Undefined if nothing yet
    place: Loc | None
    body: object  # what it holds at the start of a turn
    carried: list[_Carried]  # one for each leaf of `body`


class LoopBuilder:
    """Evaluates a loop once, and finds out what it carries."""

    def __init__(self, evaluator: Evaluator, kind_: LoopKind, names: Sequence[str]) -> None:
        self.evaluator = evaluator
        self.builder = evaluator.builder
        self.frame: Frame = evaluator.frame
        self.loop = Loop(kind_, len(self.frame.contexts))
        self.loc = evaluator.scope.loc
        within = evaluator.scope.combining
        if within is not None and kind_ is not LoopKind.BODY:
            evaluator.error(TileSyntaxError, f"Loops inside {within} body are not supported")
        self.variables = [self._variable(name) for name in names]
        self.extra: list[_Carried] = []
        self.inside: set[Value] = set()

    @property
    def is_for(self) -> bool:
        """Whether there may be no turn at all."""
        return self.loop.kind is LoopKind.FOR

    def _variable(self, name: str) -> _Variable:
        before = self.frame.variables.get(name, _undefined(name))
        place = self.frame.places.get(name)
        if isinstance(before, Undefined) or self.loop.kind is LoopKind.BODY:
            return _Variable(name, before, place, before, [])
        carried = []
        made: list[Leaf] = []
        with place or self.loc:
            for leaf in leaves(before):
                dtype = leaf_dtype([leaf])
                type_ = leaf_type(leaf, dtype)
                parameter = self.builder.value(type_)
                carried.append(_Carried(parameter, self._start(leaf, type_), dtype))
                made.append(parameter if dtype is None else Tile(parameter, dtype))
        body = with_leaves(before, iter(made))
        return _Variable(name, before, place, body, carried)

    def _start(self, leaf: Leaf, type_: Type) -> Value:
        if isinstance(leaf, Constant):
            if leaf.dtype is None:
                default_dtype(leaf)  # an integer may fit no type
            operations = self.builder.current.operations
            return written_constant(self.builder, operations, leaf.value, type_)
        return leaf.value if isinstance(leaf, Tile) else leaf

    def run(self, body: Callable[[], None], operands: Sequence[Value] = ()) -> None:
        """Evaluate the body, write the loop, and set the variables to what they hold after it.

        Parameters
        ----------
        body
            Evaluates a turn; ``self.region.arguments[0]`` is the induction variable of a for.
        operands
            The bounds and the step of a for.
        """
        frame = self.frame
        before = frame.state()
        induction = [operands[0].type] if operands else []
        for variable in self.variables:
            if not isinstance(variable.before, Undefined):
                frame.variables[variable.name] = variable.body
        frame.loops.append(self.loop)
        try:
            with self.builder.region(*induction) as region:
                self.region = region
                body()
                if not self.builder.is_terminated:
                    jump(self.evaluator, self.loop, "continue")
        finally:
            frame.loops.pop()
            frame.restore(before)
        if self._runs_once():
            self._splice()
            return
        self._check_turns()
        results = [self._result(variable) for variable in self.variables]
        given = self._emit(operands)
        for variable, (result, place) in zip(self.variables, results, strict=True):
            frame.variables[variable.name] = filled(result, given)
            frame.places[variable.name] = place or self.loc

    def _runs_once(self) -> bool:
        """Return whether the body ends with the only way out, and never goes back."""
        breaks = self.loop.breaks
        return (
            not self.is_for
            and not self.loop.continues
            and len(breaks) == 1
            and self.region.operations[-1] is breaks[0].operation
        )

    def _splice(self) -> None:
        end = self.loop.breaks[0]
        for variable in self.variables:
            for carried in variable.carried:
                if carried.start is not None:
                    self.builder.replace(carried.parameter, carried.start)
        # What the body got as a parameter is a constant again, if nothing assigned to it.
        for variable in self.variables:
            if end.variables.get(variable.name) is variable.body:
                end.variables[variable.name] = variable.before
        self.builder.current.operations.extend(self.region.operations[:-1])
        self.frame.restore((end.variables, end.places))

    def _check_turns(self) -> None:
        """Check that what goes into the next turn has the type of what went into this one."""
        ends = [*self.loop.continues, *(self.loop.breaks if self.is_for else ())]
        for variable in self.variables:
            if isinstance(variable.before, Undefined) or variable.name == RETURNED:
                continue
            for end in ends:
                value = end.variables[variable.name]
                place = end.places.get(variable.name)
                if isinstance(value, Undefined):
                    raise TileTypeError(value.message, place or self.loc)
                with place or self.loc:
                    same = kind(value) == kind(variable.body)
                if not same:
                    message = mismatch(variable.name, variable.body, variable.place, value, place)
                    raise TileTypeError(message, place or self.loc)
            for index, end in enumerate(self.loop.continues):
                parts = leaves(end.variables[variable.name])
                path = Path(end.operation, self.builder)
                for carried, part in zip(variable.carried, parts, strict=True):
                    carried.nexts[index] = path.operand(part, carried.dtype)

    def _result(self, variable: _Variable) -> tuple[object, Loc | None]:
        """Return what a variable holds after the loop, with slots for what the loop gives."""
        ends = [*self.loop.breaks, *(self.loop.continues if self.is_for else ())]
        values = [end.variables.get(variable.name, variable.before) for end in ends]
        places = [end.places.get(variable.name) for end in ends]
        if self.is_for:
            values.insert(0, variable.before)
            places.insert(0, variable.place)
        if not values:  # the loop never ends
            return variable.before, variable.place
        place = next((each for each in reversed(places) if each is not None), None)
        defined = [value for value in values if not isinstance(value, Undefined)]
        lenient = variable.name == RETURNED and bool(defined)
        if len(defined) < len(values) and not lenient:
            return _undefined(variable.name), place
        for value, where in zip(values, places, strict=True):
            if not isinstance(value, Undefined) and kind(value) != kind(defined[0]):
                text = mismatch(variable.name, value, where, defined[0], places[0])
                return Undefined(text), place
        parts = [None if isinstance(value, Undefined) else leaves(value) for value in values]
        count = len(leaves(defined[0]))
        made = [
            self._part(variable, index, [each[index] if each else None for each in parts])
            for index in range(count)
        ]
        return with_leaves(defined[0], iter(made)), place  # type: ignore[arg-type]

    def _part(self, variable: _Variable, index: int, given: list[Leaf | None]) -> object:
        known = [part for part in given if part is not None]
        same = common(known)
        if isinstance(same, Constant) or (same is not None and not self._is_inside(same)):
            return same
        dtype = leaf_dtype(known)
        carried = self._carrier(variable, index, leaf_type(known[0], dtype), dtype)
        outs = given[1:] if self.is_for else given
        for number, (end, part) in enumerate(zip(self.loop.breaks, outs, strict=False)):
            path = Path(end.operation, self.builder)
            carried.lasts[number] = (
                path.constant(0, carried.parameter.type)
                if part is None
                else path.operand(part, dtype)
            )
        return Slot(carried, dtype)

    def _is_inside(self, leaf: Tile | Value) -> bool:
        """Return whether a value does not exist outside of the body."""
        if not self.inside:
            self.inside = {c.parameter for variable in self.variables for c in variable.carried}
            self.inside.update(self.region.arguments)
            self.inside.update(defined(self.region))
        return (leaf.value if isinstance(leaf, Tile) else leaf) in self.inside

    def _carrier(self, variable: _Variable, index: int, type_: Type, dtype: Any) -> _Carried:
        if index < len(variable.carried) and variable.carried[index].parameter.type == type_:
            return variable.carried[index]
        made = _Carried(self.builder.value(type_), None, dtype)
        self.extra.append(made)
        return made

    def _emit(self, operands: Sequence[Value]) -> "_Given":
        everything = [c for variable in self.variables for c in variable.carried] + self.extra
        kept = [carried for carried in everything if not self._is_same(carried)]
        for number, end in enumerate(self.loop.continues):
            end.operation.operands = tuple(c.nexts.get(number, c.parameter) for c in kept)
        for number, end in enumerate(self.loop.breaks):
            end.operation.operands = tuple(c.lasts.get(number, c.parameter) for c in kept)
        starts = []
        for carried in kept:
            if carried.start is None:
                operations = self.builder.current.operations
                type_ = carried.parameter.type
                carried.start = written_constant(self.builder, operations, 0, type_)
            starts.append(carried.start)
        self.region.arguments += tuple(carried.parameter for carried in kept)
        operation = self.builder.operation(
            "for" if self.is_for else "loop",
            operands,
            groups={"iter": starts} if starts else None,
            types=[carried.parameter.type for carried in kept],
            regions=[self.region],
            loc=self.loc,
        )
        pairs = zip(kept, operation.results, strict=True)
        return _Given({id(carried): value for carried, value in pairs})

    def _is_same(self, carried: _Carried) -> bool:
        """Return whether no turn changes a value; then it need not be carried."""
        if carried.start is None:
            return False
        final = self.builder.final
        same = (carried.parameter, final(carried.start))
        ends = (*carried.nexts.values(), *carried.lasts.values())
        if any(final(each) not in same for each in ends):
            return False
        self.builder.replace(carried.parameter, carried.start)
        return True


class _Given:
    """What a loop gives, by what it carries."""

    def __init__(self, results: dict[int, Value]) -> None:
        self.results = results

    def __getitem__(self, carried: Any) -> Value:
        start: Value = carried.start
        return self.results.get(id(carried), start)


def defined(region: Region) -> Iterator[Value]:
    """Yield all values that the operations of a region define, those within them included."""
    for operation in region.operations:
        for each in (*operation.before, operation):
            yield from each.results
            for inner in each.regions:
                yield from inner.arguments
                yield from defined(inner)


def _undefined(name: str) -> Undefined:
    return Undefined(f"Use of potentially undefined variable `{name}`")


def jump(evaluator: Evaluator, loop: Loop, name: str) -> None:
    """Leave the current turn: have the contexts within it left first."""
    frame = evaluator.frame
    state = frame.state()
    leave_contexts(frame, loop.context_depth)
    operation = evaluator.builder.operation(name, loc=evaluator.scope.loc)
    ends = loop.breaks if name == "break" else loop.continues
    ends.append(Jump(operation, *frame.state()))
    frame.restore(state)


def leave_contexts(frame: Frame, depth: int) -> None:
    """Evaluate what contexts have to do at their end, for a jump out of them."""
    kept = list(frame.contexts)
    try:
        while len(frame.contexts) > depth:
            leave = frame.contexts.pop()
            leave()
    finally:
        frame.contexts[:] = kept
