# SPDX-License-Identifier: Apache-2.0
"""The with statement: context managers that are generators of the user's."""

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import _GeneratorContextManager
from typing import Any

from cudacore.tile._dataclass import dataclass
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_assign import assign
from cudacore.tile._evaluate_function import frozen, set_parameters
from cudacore.tile._exception import TileTypeError
from cudacore.tile._frame import Frame, Kind
from cudacore.tile._function import code_of
from cudacore.tile._operand import describe
from cudacore.tile._operation import implements
from cudacore.tile._value import Constant

#: What a generator does: a statement, the yield, or entering or leaving a context.
_Step = Callable[[Evaluator], None]


@dataclass(eq=False, slots=True)
class ContextManager:
    """What a function decorated with ``contextlib.contextmanager`` gives."""

    function: Any
    args: tuple[object, ...]
    kwargs: dict[str, object]
    entered: bool = False

    def __str__(self) -> str:
        """Name the type, as messages show it."""
        args = ", ".join(map(describe, self.args))
        kwargs = ", ".join(f"{key}: {describe(value)}" for key, value in self.kwargs.items())
        return f"GeneratorContextManager[{self.function}, args=[{args}], kwargs={{{kwargs}}}]"


@implements(_GeneratorContextManager)
def _made(scope: Any, func: Any, args: Any, kwds: Any) -> object:
    if not isinstance(func, Constant) or not callable(func.value):
        scope.error(TileTypeError, "@contextmanager() expects a function")
    return ContextManager(func.value, args, kwds)


def with_statement(evaluator: Evaluator, node: ast.With) -> None:
    """Evaluate a with statement."""
    depth = len(evaluator.frame.contexts)
    for each in node.items:
        _enter(evaluator, each)
    evaluator.block(node.body)
    _leave(evaluator, depth)


def _enter(evaluator: Evaluator, item: ast.withitem) -> None:
    manager = evaluator.expression(item.context_expr)
    loc = evaluator.scope.loc
    evaluator.scope.loc = evaluator.place(item.context_expr)
    if not isinstance(manager, ContextManager):
        evaluator.error(
            TileTypeError,
            f"Object of type {describe(manager)} cannot be used as a context manager",
        )
    if manager.entered:
        evaluator.error(TileTypeError, "Context manager cannot be reused")
    manager.entered = True
    value = _run_to_yield(evaluator, manager)
    if item.optional_vars is not None:
        assign(evaluator, item.optional_vars, value)
    evaluator.scope.loc = loc


def _leave(evaluator: Evaluator, depth: int) -> None:
    """Leave contexts, unless a jump has left them already."""
    contexts = evaluator.frame.contexts
    while len(contexts) > depth:
        leave = contexts.pop()
        if not evaluator.builder.is_terminated:
            leave()


def _run_to_yield(evaluator: Evaluator, manager: ContextManager) -> object:
    from cudacore.tile._evaluate_call import bind  # noqa: PLC0415 - that calls statements

    code = code_of(manager.function)
    node = code.node
    if isinstance(node, ast.Lambda):
        evaluator.error(TileTypeError, "@contextmanager() expects a generator function")
    bound = bind(evaluator, code.name, code.signature, manager.args, manager.kwargs)
    bound.apply_defaults()
    owner = evaluator.frame
    frame = Frame.of_code(Kind.GENERATOR, code, evaluator.scope.loc)
    from cudacore.tile import _convert  # noqa: PLC0415 - used here alone

    given = {
        name: value if name in manager.kwargs or value in manager.args else _convert.value(value)
        for name, value in bound.arguments.items()
    }
    with evaluator.within(frame):
        set_parameters(evaluator, frame, node, given)
        yielded = _check_yield(evaluator, node)
        steps = list(_steps(node.body, yielded))
        where = steps.index(yielded)
        for step in steps[:where]:
            step(evaluator)  # type: ignore[operator]
        value = Constant(None) if yielded.value is None else evaluator.expression(yielded.value)

    def leave() -> None:
        before, contexts = frame.state(), list(frame.contexts)
        with evaluator.within(frame):
            for step in steps[where + 1 :]:
                step(evaluator)  # type: ignore[operator]
        for name, held in owner.variables.items():
            owner.variables[name] = frozen(held, frame)
        frame.restore(before)
        frame.contexts[:] = contexts

    owner.contexts.append(leave)
    return value


def _check_yield(evaluator: Evaluator, node: ast.FunctionDef) -> ast.Yield:
    yields = list(_yields(node.body, outside=True))
    if not yields:
        evaluator.error(
            TileTypeError,
            "Expected a generator function, but no reachable `yield` statement has been found",
        )
    if len(yields) > 1:
        first = yields[0][0].lineno
        raise TileTypeError(
            "Generator-based context manager must have one `yield` statement "
            f"(another `yield` found on line {first})",
            evaluator.place(yields[1][0]),
        )
    [(found, outside)] = yields
    if not outside:
        raise TileTypeError(
            "`yield` statement of a generator-based context manager must be placed outside of "
            "loops and conditional statements",
            evaluator.place(found),
        )
    return found


def _yields(statements: Sequence[ast.stmt], *, outside: bool) -> Iterator[tuple[ast.Yield, bool]]:
    """Yield each yield that can be reached, and whether it stands outside of loops and ifs."""
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            yield statement.value, outside
        elif isinstance(statement, ast.With):
            yield from _yields(statement.body, outside=outside)
        elif isinstance(statement, (ast.If, ast.For, ast.While)):
            yield from _yields(statement.body, outside=False)
            yield from _yields(statement.orelse, outside=False)
        elif isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
            return


def _steps(statements: Sequence[ast.stmt], yielded: ast.Yield) -> "Iterator[_Step | ast.Yield]":
    """Yield what a generator does, one after another, with the yield itself among it."""
    for statement in statements:
        if isinstance(statement, ast.Expr) and statement.value is yielded:
            yield yielded
        elif isinstance(statement, ast.With) and yielded in ast.walk(statement):
            for item in statement.items:
                yield lambda evaluator, item=item: _enter(evaluator, item)  # type: ignore[misc]
            yield from _steps(statement.body, yielded)
            count = len(statement.items)
            yield lambda evaluator, count=count: _leave(  # type: ignore[misc]
                evaluator, len(evaluator.frame.contexts) - count
            )
        else:
            yield lambda evaluator, statement=statement: evaluator.statement(statement)  # type: ignore[misc]
