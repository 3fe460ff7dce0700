# SPDX-License-Identifier: Apache-2.0
"""The evaluator of kernels: it walks the syntax tree and has each operation written down."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from cudacore.tile._exception import (
    Loc,
    TileError,
    TileInternalError,
    TileRecursionError,
    TileSyntaxError,
)
from cudacore.tile._frame import Frame
from cudacore.tile._scope import Scope
from cudacore.tile._text import Builder

_Node = TypeVar("_Node", bound=ast.AST)

#: By the type of a node: what evaluates it.
EXPRESSIONS: dict[type[ast.AST], Callable[["Evaluator", Any], object]] = {}
STATEMENTS: dict[type[ast.AST], Callable[["Evaluator", Any], None]] = {}

#: What to write instead of Python that the language lacks.
_INSTEAD = {
    ast.ListComp: "write tuple(... for x in ct.static_iter(...))",
    ast.GeneratorExp: "write tuple(... for x in ct.static_iter(...))",
    ast.SetComp: "write tuple(... for x in ct.static_iter(...))",
    ast.List: "write a tuple",
    ast.Set: "write a tuple",
    ast.Dict: "write a tuple or a frozen dataclass",
    ast.NamedExpr: "assign in a statement of its own",
    ast.Try: "errors on the device cannot be caught; check with an if",
    ast.Raise: "write ct.static_assert() or ct.assert_()",
    ast.ClassDef: "define the class outside of the kernel",
    ast.Import: "import outside of the kernel",
    ast.ImportFrom: "import outside of the kernel",
    ast.Global: "return the value instead",
    ast.Nonlocal: "return the value instead",
    ast.Starred: "it can stand in calls and in tuples",
}


def evaluates(*nodes: type[_Node]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what evaluates nodes of the syntax tree."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for node in nodes:
            table: dict[Any, Any] = EXPRESSIONS if issubclass(node, ast.expr) else STATEMENTS
            table[node] = handler
        return handler

    return register


class Evaluator:
    """Evaluates a kernel; the operations it writes are in `builder`."""

    def __init__(self, call: "Callable[..., object]") -> None:
        self.builder = Builder()
        self.frames: list[Frame] = []
        self.scope = Scope(self.builder, Loc.unknown(), self._call)
        self._caller = call

    def _call(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        return self._caller(self, function, args, kwargs)

    def call(self, function: object, *args: object, **kwargs: object) -> object:
        """Evaluate a call."""
        return self._caller(self, function, args, kwargs)

    @property
    def frame(self) -> Frame:
        """The function that is being evaluated."""
        return self.frames[-1]

    def place(self, node: Any) -> Loc:
        """Return where a node is in the source, and how it was reached."""
        frame = self.frame
        return Loc(
            node.lineno,
            node.col_offset,
            frame.filename,
            node.end_lineno,
            node.end_col_offset,
            frame.name or "<lambda>",
            frame.call_site,
        )

    @contextmanager
    def within(self, frame: Frame) -> Iterator[Frame]:
        """Evaluate what follows in another function."""
        self.frames.append(frame)
        old = self.scope.loc
        try:
            yield frame
        finally:
            self.frames.pop()
            self.scope.loc = old

    def expression(self, node: ast.expr) -> Any:
        """Evaluate an expression; return its value."""
        old = self.scope.loc
        place = self.scope.loc = self.place(node)
        handler = EXPRESSIONS.get(type(node))
        try:
            if handler is None:
                self.unsupported(node)
            result = handler(self, node)
        except Exception as error:  # noqa: BLE001 - all are raised again, with the place
            raise located(error, place)  # noqa: B904 - located() chains what it wraps
        self.scope.loc = old
        return result

    def statement(self, node: ast.stmt) -> None:
        """Evaluate a statement."""
        old = self.scope.loc
        place = self.scope.loc = self.place(node)
        handler = STATEMENTS.get(type(node))
        try:
            if handler is None:
                self.unsupported(node)
            handler(self, node)
        except Exception as error:  # noqa: BLE001 - all are raised again, with the place
            raise located(error, place)  # noqa: B904 - located() chains what it wraps
        self.scope.loc = old

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Evaluate statements until one of them leaves the block."""
        for statement in statements:
            if self.builder.is_terminated:
                return
            self.statement(statement)

    def error(self, kind: type[TileError], message: str) -> NoReturn:
        """Raise an error at the current place."""
        raise kind(message, self.scope.loc)

    def unsupported(self, node: ast.AST) -> NoReturn:
        """Refuse Python that the language lacks."""
        instead = _INSTEAD.get(type(node))
        hint = f"; {instead}" if instead else ""
        self.error(TileSyntaxError, f"Unsupported syntax: {type(node).__name__}{hint}")


def located(error: Exception, place: Loc) -> Exception:
    """Return an error that names the place: what is no error of a kernel is chained to one."""
    if isinstance(error, TileError):
        if error.loc.is_unknown():
            error.loc = place
        return error
    if isinstance(error, RecursionError):
        made: TileError = TileRecursionError("Calls or expressions nest too deep", place)
    else:
        made = TileInternalError(f"{type(error).__name__}: {error}", place)
    made.__cause__ = error
    return made
