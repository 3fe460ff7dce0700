# SPDX-License-Identifier: Apache-2.0
"""Inlining: the body of a function, its returns, and closures that outlive it."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from cudacore.tile._dataclass import replace
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_flow import branch, truth
from cudacore.tile._evaluate_loop import LoopBuilder
from cudacore.tile._frame import Frame, LoopKind, ReturnedFrame
from cudacore.tile._names import (
    RETURNED,
    RETURNING,
    always_returns,
    loaded_names,
    parameters,
    returns,
)
from cudacore.tile._parts import parts_of, rebuilt
from cudacore.tile._value import Constant, Function, Undefined


def inline(
    evaluator: Evaluator,
    frame: Frame,
    node: "ast.FunctionDef | ast.Lambda",
    arguments: Mapping[str, object],
) -> object:
    """Evaluate the body of a function in the place of a call; return what it returns."""
    with evaluator.within(frame):
        set_parameters(evaluator, frame, node, arguments)
        if isinstance(node, ast.Lambda):
            return frozen(evaluator.expression(node.body), frame)
        return _returned(evaluator, node.body)


def set_parameters(
    evaluator: Evaluator,
    frame: Frame,
    node: "ast.FunctionDef | ast.Lambda",
    arguments: Mapping[str, object],
) -> None:
    """Have the parameters hold the arguments; variadic ones hold a tuple or a dict."""
    for each in parameters(node.args):
        missing: Any = {} if each is node.args.kwarg else ()
        frame.variables[each.arg] = arguments.get(each.arg, missing)
        frame.places[each.arg] = evaluator.place(each)


def _returned(evaluator: Evaluator, statements: Sequence[ast.stmt]) -> object:
    """Evaluate statements of a helper up to a return; return what it gives.

    Where a path of an if returns, what follows the if belongs to the other path, so that no jump
    is needed.
    """
    for index, statement in enumerate(statements):
        if isinstance(statement, ast.Return):
            return return_value(evaluator, statement)
        if not returns([statement]):
            evaluator.statement(statement)
            continue
        rest = list(statements[index + 1 :])
        if isinstance(statement, ast.If):
            return _returned_by_if(evaluator, statement, rest)
        return _left_by_break(evaluator, [statement, *rest])
    return Constant(None)


def _returned_by_if(evaluator: Evaluator, node: ast.If, rest: list[ast.stmt]) -> object:
    one, other = always_returns(node.body), always_returns(node.orelse)
    loc = evaluator.scope.loc
    evaluator.scope.loc = evaluator.place(node)
    with evaluator.scope.loc:
        known = truth(evaluator, evaluator.expression(node.test))
        then = [*node.body, *([] if one else rest)]
        otherwise = [*node.orelse, *([] if other else rest)]
        if isinstance(known, bool):
            result = _returned(evaluator, then if known else otherwise)
        elif one or other:
            result = branch(
                evaluator,
                known,
                lambda: _returned(evaluator, then),
                lambda: _returned(evaluator, otherwise),
                RETURNED,
            )
        else:
            result = _left_by_break(evaluator, [node, *rest])
    evaluator.scope.loc = loc
    return result


def _left_by_break(evaluator: Evaluator, statements: Sequence[ast.stmt]) -> object:
    """Evaluate statements in a loop of one turn, which a return breaks out of."""
    frame = evaluator.frame
    frame.variables[RETURNING] = Constant(False)
    frame.variables[RETURNED] = _NOTHING
    loop = LoopBuilder(evaluator, LoopKind.BODY, [RETURNED])

    def body() -> None:
        evaluator.block(statements)
        if not evaluator.builder.is_terminated:
            leave_with(evaluator, Constant(None))

    loop.run(body)
    result = frame.variables[RETURNED]
    if isinstance(result, Undefined) and result is not _NOTHING:
        from cudacore.tile._exception import TileTypeError  # noqa: PLC0415 - rarely needed

        evaluator.error(TileTypeError, result.message)
    return Constant(None) if result is _NOTHING else result


_NOTHING = Undefined("The function has not returned")


def leave_with(evaluator: Evaluator, value: object) -> None:
    """Return a value from within a loop of the same function."""
    from cudacore.tile._evaluate_loop import jump  # noqa: PLC0415 - shared with statements

    frame = evaluator.frame
    frame.variables[RETURNED] = value
    frame.places[RETURNED] = evaluator.scope.loc
    frame.variables[RETURNING] = Constant(True)
    jump(evaluator, frame.loops[-1], "break")


def return_value(evaluator: Evaluator, node: ast.Return) -> object:
    """Evaluate the value of a return statement."""
    value = Constant(None) if node.value is None else evaluator.expression(node.value)
    evaluator.scope.loc = evaluator.place(node)
    return frozen(value, evaluator.frame)


def frozen(value: Any, frame: Frame, within: frozenset[int] = frozenset()) -> object:
    """Return a value whose closures keep what they need of a function that ends."""
    if isinstance(value, Function) and id(value) not in within:
        value = _frozen_function(value, frame, within | {id(value)})
    found = parts_of(value)
    if found is None or not found[1]:
        return value
    parts = [frozen(each, frame, within) for each in found[1]]
    if all(new is old for new, old in zip(parts, found[1], strict=True)):
        return value
    return rebuilt(value, parts)


def _frozen_function(function: Function, frame: Frame, within: frozenset[int]) -> Function:
    if frame not in function.environment:
        return function
    names = loaded_names(function.node) & frame.names & frame.variables.keys()
    kept = {
        name: frozen(frame.variables[name], frame, within)
        for name in sorted(names)
        if id(frame.variables[name]) not in within
    }
    level = ReturnedFrame(kept, frozenset(frame.names))
    levels = tuple(level if each is frame else each for each in function.environment)
    return replace(function, environment=levels)
