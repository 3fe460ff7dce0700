# SPDX-License-Identifier: Apache-2.0
"""The typed operations that a kernel is taken apart into, and their text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from cudacore.tile._dataclass import dataclass, field
from cudacore.tile._exception import Loc, TileTypeError

#: What readers of the text take.
_MOST_DIMENSIONS = 16
_MOST_ELEMENTS = 2**30

#: The attributes that are strings; those of all others are words.
_STRINGS = frozenset({"alias", "format", "message", "name"})


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar (no shape), a tile, or a pointer to global memory."""

    element: str
    shape: tuple[int, ...] = ()
    is_pointer: bool = False

    def __str__(self) -> str:
        text = f"ptr<{self.element}>" if self.is_pointer else self.element
        return f"{text}[{','.join(map(str, self.shape))}]" if self.shape else text


@dataclass(frozen=True, slots=True)
class Value:
    """What an operation gives, or a parameter: defined once."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(slots=True, eq=False)
class Region:
    """Operations within an operation, with the values that they are given."""

    arguments: tuple[Value, ...] = ()
    operations: "list[Operation]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Operation:
    """One line of the text, with the regions that belong to it.

    Its operands and groups may be changed until the text is printed: what a loop carries is known
    only after its body.
    """

    name: str
    operands: "tuple[Value | int, ...]" = ()
    groups: "dict[str, tuple[Value | int, ...]]" = field(default_factory=dict)
    attributes: dict[str, object] = field(default_factory=dict)
    results: tuple[Value, ...] = ()
    regions: tuple[Region, ...] = ()
    loc: Loc | None = None
    before: "list[Operation]" = field(default_factory=list)  # what is printed before it


def _excess(shape: tuple[int, ...]) -> str:
    """Say what a tile has too many of, if it has."""
    if len(shape) > _MOST_DIMENSIONS:
        return f"A tile of {len(shape)} dimensions: tiles have at most {_MOST_DIMENSIONS}"
    if (count := math.prod(shape)) > _MOST_ELEMENTS:
        return (
            f"A tile of shape {shape} would have {count} elements: "
            f"tiles have at most {_MOST_ELEMENTS}"
        )
    return ""


class Builder:
    """Collects operations and prints them."""

    def __init__(self) -> None:
        self.body = Region()
        self.parameters: list[tuple[Value, dict[str, object]]] = []
        self.hints: dict[str, int] = {}
        self.sources: dict[str, tuple[str, int]] = {}  # CUDA C++: the file and line it is from
        self.functions: dict[str, str] = {}  # of CUDA C++ that are called: in which source
        self._region = self.body
        self._count = 0
        self._replaced: dict[Value, Value | int] = {}

    def value(self, type: Type) -> Value:  # noqa: A002 - the word of the text
        """Return a new value, which the caller has an operation or a region define."""
        name = str(self._count)
        self._count += 1
        return Value(name, type)

    def parameter(self, type: Type, attributes: Mapping[str, object] | None = None) -> Value:  # noqa: A002
        """Add a parameter to the kernel, and return it."""
        value = self.value(type)
        self.parameters.append((value, dict(attributes or {})))
        return value

    def op(
        self,
        name: str,
        *operands: Value | int,
        groups: Mapping[str, Sequence[Value | int]] | None = None,
        attributes: Mapping[str, object] | None = None,
        types: Sequence[Type] = (),
        regions: Sequence[Region] = (),
        loc: Loc | None = None,
    ) -> Value | tuple[Value, ...] | None:
        """Append an operation; return what it gives: nothing, a value, or a tuple of several."""
        operation = self.operation(
            name,
            operands,
            groups=groups,
            attributes=attributes,
            types=types,
            regions=regions,
            loc=loc,
        )
        if not operation.results:
            return None
        return operation.results[0] if len(operation.results) == 1 else operation.results

    def one(
        self,
        name: str,
        *operands: Value | int,
        type: Type,  # noqa: A002 - the word of the text
        groups: Mapping[str, Sequence[Value | int]] | None = None,
        attributes: Mapping[str, object] | None = None,
        loc: Loc | None = None,
    ) -> Value:
        """Append an operation that gives one value, and return that."""
        operation = self.operation(
            name, operands, groups=groups, attributes=attributes, types=(type,), loc=loc
        )
        return operation.results[0]

    def operation(
        self,
        name: str,
        operands: Sequence[Value | int] = (),
        *,
        groups: Mapping[str, Sequence[Value | int]] | None = None,
        attributes: Mapping[str, object] | None = None,
        types: Sequence[Type] = (),
        regions: Sequence[Region] = (),
        loc: Loc | None = None,
    ) -> Operation:
        """Append an operation and return it, for those who change it later.

        Raises
        ------
        TileTypeError
            It would give a tile of too many dimensions or elements.
        """
        for result in types:
            if what := _excess(result.shape):
                raise TileTypeError(what, loc or Loc.unknown())
        operation = Operation(
            name,
            tuple(operands),
            {key: tuple(members) for key, members in (groups or {}).items()},
            dict(attributes or {}),
            tuple(map(self.value, types)),
            tuple(regions),
            loc,
        )
        self._region.operations.append(operation)
        return operation

    @contextmanager
    def region(self, *types: Type) -> Iterator[Region]:
        """Collect what follows in a region of its own, whose arguments have these types.

        The region is then handed to the operation that it belongs to::

            with builder.region(f32, f32) as region:
                builder.op("yield", builder.one("add", *region.arguments, type=f32))
            total = builder.op("reduce", x, attributes=..., types=[f32], regions=[region])
        """
        region = Region(tuple(map(self.value, types)))
        outer, self._region = self._region, region
        try:
            yield region
        finally:
            self._region = outer

    @property
    def is_terminated(self) -> bool:
        """Whether the current region has ended with a continue, break, yield or return."""
        operations = self._region.operations
        return bool(operations) and operations[-1].name in TERMINATORS

    @property
    def current(self) -> Region:
        """The region that operations are appended to."""
        return self._region

    def replace(self, old: Value, new: Value | int) -> None:
        """Have the text use another value wherever it would use this one."""
        self._replaced[old] = new

    def final(self, value: Value | int) -> Value | int:
        """Return what a value has been replaced with."""
        while isinstance(value, Value) and value in self._replaced:
            value = self._replaced[value]
        return value

    def text(self, name: str) -> "KernelText":
        """Return the text of the whole kernel."""
        return _Printer(self).kernel(name)


TERMINATORS = frozenset({"continue", "break", "yield", "return"})


def number(value: object) -> str:
    """Return the text of a number: true, false, a decimal integer, or a float with an exponent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return text if text in ("inf", "-inf", "nan") or "e" in text else f"{text}e0"
    return str(value)


def _attribute(key: str, value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(_attribute(key, item) for item in value)})"
    if isinstance(value, str):
        return _quoted(value) if key in _STRINGS else value
    if isinstance(value, bool) and key not in ("value", "identity"):
        return str(int(value))
    return number(value)


class KernelText(str):
    """The text of a kernel, which knows the places that its lines come from."""

    __slots__ = ("places",)

    places: tuple[Loc | None, ...]

    def place(self, line: int) -> Loc:
        """Return where a line, counted from 1, comes from, with the calls that lead there."""
        found = self.places[line - 1] if 0 < line <= len(self.places) else None
        return found or Loc.unknown()


def _quoted(text: str) -> str:
    """Return a string of JSON."""
    if text.isascii() and text.isprintable() and not {'"', "\\"} & set(text):
        return f'"{text}"'
    import json  # noqa: PLC0415 - takes long to import, and few strings need it

    return json.dumps(text)


class _Printer:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.files: dict[str, int] = {}
        self.lines: list[str] = []
        self.places: list[Loc | None] = []

    def kernel(self, name: str) -> KernelText:
        for value, attributes in self.builder.parameters:
            self.line(1, f"param {value} : {value.type}{self.attributes(attributes)}")
        for hint, number_ in self.builder.hints.items():
            self.line(1, f"hint {hint} = {number_}")
        self.region(1, self.builder.body)
        files = [f"file {index} {_quoted(path)}" for path, index in self.files.items()]
        sources = [
            f"source {_quoted(file)} {line} {_quoted(code)}"
            for code, (file, line) in self.builder.sources.items()
        ]
        head = ["tile 1", *files, *sources, f"kernel {_quoted(name)} {{"]
        made = KernelText("\n".join([*head, *self.lines, "}", ""]))
        made.places = (*[None] * len(head), *self.places)
        return made

    def line(self, depth: int, text: str, place: Loc | None = None) -> None:
        self.lines.append("  " * depth + text)
        self.places.append(place)

    def region(self, depth: int, region: Region) -> None:
        for operation in region.operations:
            for other in operation.before:
                self.operation(depth, other)
            self.operation(depth, operation)

    def operand(self, value: Value | int) -> str:
        return str(self.builder.final(value))

    def operands(self, values: Sequence[Value | int]) -> str:
        return ", ".join(map(self.operand, values))

    def attributes(self, attributes: Mapping[str, object]) -> str:
        if not attributes:
            return ""
        return f" {{{', '.join(f'{k} = {_attribute(k, v)}' for k, v in attributes.items())}}}"

    def place(self, loc: Loc | None) -> str:
        if loc is None or loc.filename is None:
            return ""
        index = self.files.setdefault(loc.filename, len(self.files))
        return f" @{index}:{loc.line}:{loc.col + 1}"

    def operation(self, depth: int, operation: Operation) -> None:
        results = ", ".join(map(str, operation.results))
        head = f"{results} = {operation.name}" if results else operation.name
        types = ", ".join(str(value.type) for value in operation.results)
        if operation.name in ("for", "loop"):
            tail = self.loop(operation)
        else:
            groups = (f"{key}({self.operands(v)})" for key, v in operation.groups.items())
            operands = [self.operands(operation.operands)] if operation.operands else []
            tail = ", ".join([*operands, *groups])
        head += f" {tail}" if tail else ""
        head += self.attributes(operation.attributes) + (f" : {types}" if types else "")
        place = self.place(operation.loc)
        if not operation.regions:
            self.line(depth, head + place, operation.loc)
            return
        first, *others = operation.regions
        if operation.name in ("reduce", "scan"):
            head += f" ({', '.join(f'{v} : {v.type}' for v in first.arguments)})"
        self.line(depth, f"{head}{place} {{", operation.loc)
        self.region(depth + 1, first)
        for other in others:
            self.line(depth, "} else {")
            self.region(depth + 1, other)
        self.line(depth, "}")

    def loop(self, operation: Operation) -> str:
        arguments = operation.regions[0].arguments
        text = ""
        if operation.name == "for":
            text = f"{arguments[0]} = ({self.operands(operation.operands)})"
            arguments = arguments[1:]
        pairs = zip(arguments, operation.groups.get("iter", ()), strict=True)
        carried = ", ".join(f"{name} = {self.operand(value)}" for name, value in pairs)
        return " ".join(filter(None, [text, f"iter({carried})" if carried else ""]))
