# SPDX-License-Identifier: Apache-2.0
"""Runs the text of kernels on scalars, to compare with what Python itself does."""

import operator
import re
from collections.abc import Callable
from typing import Any

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, function)
    for name, function in {
        **{name: name for name in ("add", "sub", "mul", "floordiv", "mod", "eq", "ne")},
        **{name: name for name in ("lt", "le", "gt", "ge", "xor")},
        "and": "and_",
        "or": "or_",
        "shl": "lshift",
        "shr": "rshift",
    }.items()
} | {"min": min, "max": max}
_LINE = re.compile(r"(?:(?P<results>%[^=]*?) = )?(?P<name>\w+) ?(?P<rest>.*)")


class _Left(Exception):  # noqa: N818 - no error
    """A break, continue or return on its way to what it leaves."""

    def __init__(self, kind: str, values: list[Any]) -> None:
        super().__init__(kind)
        self.kind, self.values = kind, values


class Interpreter:
    """Runs a kernel whose memory is lists of integers, and whose values are scalars."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        lines = [re.sub(r" @\d+:\d+:\d+( \{)?$", r"\1", line) for line in lines]
        self.names = [line.split()[1] for line in lines if line.startswith("param ")]
        start = next(i for i, line in enumerate(lines) if line.startswith("kernel ")) + 1
        self.lines = [line for line in lines[start:-1] if not line.startswith("param ")]
        self.values: dict[str, Any] = {}
        self.steps = 0

    def run(self, *arguments: Any) -> None:
        """Run the kernel."""
        self.values = dict(zip(self.names, arguments, strict=True))
        try:
            self.block(0, self.end(-1))
        except _Left as left:
            assert left.kind == "return"  # noqa: PT017 - no error

    def end(self, start: int) -> int:
        """Return where the region ends that the line opens."""
        depth = 1
        for index in range(start + 1, len(self.lines)):
            line = self.lines[index]
            depth -= line.startswith("}")
            if depth == 0:
                return index
            depth += line.endswith("{")
        return len(self.lines)

    def get(self, text: str) -> list[Any]:
        """Return the values of a list of operands."""
        names = re.findall(r"%\w+|-?\d+", text)
        return [self.values[name] if name[0] == "%" else int(name) for name in names]

    def block(self, start: int, stop: int) -> list[Any]:
        """Run lines up to a yield; return what that gives."""
        index = start
        while index < stop:
            line = self.lines[index]
            match = _LINE.match(line)
            assert match, line
            results = re.findall(r"%\w+", match["results"] or "")
            name, rest = match["name"], match["rest"]
            if name == "yield":
                return self.get(rest)
            if name in ("break", "continue", "return"):
                raise _Left(name, self.get(rest))
            if line.endswith("{"):
                given, index = self.region(index, name, rest)
            else:
                given, index = self.operation(name, rest), index + 1
            self.values.update(zip(results, given, strict=True))
        return []

    def region(self, index: int, name: str, rest: str) -> tuple[list[Any], int]:
        """Run an if or a loop; return what it gives, and where to go on."""
        stop = self.end(index)
        if name == "if":
            other = self.end(stop)
            taken = (
                (index + 1, stop)
                if self.get(rest.split(":", maxsplit=1)[0])[0]
                else (stop + 1, other)
            )
            return self.block(*taken), other + 1
        carried = re.search(r"iter\((.*?)\)", rest)
        pairs = re.findall(r"(%\w+) = (%\w+)", carried[1]) if carried else []
        values = [self.values[start] for _, start in pairs]
        bounds = re.match(r"(%\w+) = \((.*?)\)", rest) if name == "for" else None
        turns = iter(range(*self.get(bounds[2]))) if bounds else iter(int, 1)
        for turn in turns:
            self.steps += 1
            assert self.steps < 10_000, "the loop does not end"
            if bounds:
                self.values[bounds[1]] = turn
            self.values.update(zip((name for name, _ in pairs), values, strict=True))
            try:
                self.block(index + 1, stop)
            except _Left as left:
                if left.kind == "return":
                    raise
                values = left.values
                if left.kind == "break":
                    break
            else:
                raise AssertionError("a turn does not end with a jump")
        return values, stop + 1

    def operation(self, name: str, rest: str) -> list[Any]:
        """Run an operation; return what it gives."""
        attributes = re.search(r"\{(.*)\}", rest)
        operands = self.get(re.split(r"[{:]", rest)[0])
        if name == "const":
            assert attributes
            shown = attributes[1].removeprefix("value = ")
            return [{"true": True, "false": False}.get(shown) if shown[0] in "tf" else float(shown)
                    if "e" in shown else int(shown)]  # fmt: skip
        if name in _BINARY:
            return [_BINARY[name](*operands)]
        if name == "load_at":
            memory, place, inside, *other = operands
            return [memory[place] if inside else (other or [0])[0]]
        if name == "store_at":
            memory, place, value, inside = operands
            if inside:
                memory[place] = value
            return []
        single: dict[str, Callable[..., Any]] = {
            "not": operator.not_,
            "neg": operator.neg,
            "abs": abs,
            "select": lambda c, a, b: a if c else b,
            "cast": lambda x: x & 0xFFFFFFFF if ": u32" in rest else x,
        }
        return [single[name](*operands)]
