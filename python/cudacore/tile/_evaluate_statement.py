# SPDX-License-Identifier: Apache-2.0
"""What statements mean."""

import ast
from typing import Any

from cudacore.tile._evaluate import Evaluator, evaluates
from cudacore.tile._evaluate_assign import assign
from cudacore.tile._evaluate_call import define
from cudacore.tile._evaluate_context import with_statement
from cudacore.tile._evaluate_expression import BINARY, load
from cudacore.tile._evaluate_flow import branch, truth
from cudacore.tile._evaluate_function import leave_with, return_value
from cudacore.tile._evaluate_loop import LoopBuilder, jump, leave_contexts
from cudacore.tile._evaluate_operator import binary, item, set_item
from cudacore.tile._evaluate_static import items, iterated
from cudacore.tile._evaluate_string import is_known, shown
from cudacore.tile._exception import TileStaticAssertionError, TileSyntaxError, TileTypeError
from cudacore.tile._frame import Kind, Loop, LoopKind
from cudacore.tile._names import RETURNING, loop_names, returns
from cudacore.tile._operand import astype, describe, over_list
from cudacore.tile._text import Type, Value
from cudacore.tile._value import Constant, FormattedString, List, Range, Tile

_MESSAGE = (
    "The message of an assert must be a constant string; print() what only the device knows in an "
    "if in front of it"
)
_LONGEST = 60  # characters of an expression in a message


@evaluates(ast.Expr)
def expression(evaluator: Evaluator, node: ast.Expr) -> None:
    """Evaluate an expression for what it does."""
    if isinstance(node.value, ast.Constant):  # a docstring, or ...
        return
    evaluator.expression(node.value)


@evaluates(ast.Pass)
def pass_(evaluator: Evaluator, node: ast.Pass) -> None:
    """Do nothing."""


@evaluates(ast.Assign)
def assignment(evaluator: Evaluator, node: ast.Assign) -> None:
    """Evaluate ``x = y = value``."""
    value = evaluator.expression(node.value)
    for target in reversed(node.targets):
        assign(evaluator, target, value)


@evaluates(ast.AnnAssign)
def annotated(evaluator: Evaluator, node: ast.AnnAssign) -> None:
    """Evaluate ``x: hint = value``; the hint means nothing."""
    if node.value is not None:
        assign(evaluator, node.target, evaluator.expression(node.value))


@evaluates(ast.AugAssign)
def augmented(evaluator: Evaluator, node: ast.AugAssign) -> None:
    """Evaluate ``x += value`` and the like."""
    function = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, ast.Name):
        old = load(evaluator, target.id)
        new = binary(evaluator, function, old, evaluator.expression(node.value))
        assign(evaluator, target, new)
        return
    if not isinstance(target, ast.Subscript):
        place = evaluator.place(target)
        raise TileSyntaxError("Unsupported syntax: assignment to Attribute", place)
    owner = evaluator.expression(target.value)
    key = evaluator.expression(target.slice)
    value = evaluator.expression(node.value)
    new = binary(evaluator, function, item(evaluator, owner, key), value)
    set_item(evaluator, owner, key, new)


@evaluates(ast.FunctionDef)
def function(evaluator: Evaluator, node: ast.FunctionDef) -> None:
    """Evaluate the definition of a function."""
    define(evaluator, node)


@evaluates(ast.If)
def if_(evaluator: Evaluator, node: ast.If) -> None:
    """Evaluate an if statement."""
    known = truth(evaluator, evaluator.expression(node.test))
    if isinstance(known, bool):
        evaluator.block(node.body if known else node.orelse)
        return
    branch(
        evaluator,
        known,
        lambda: evaluator.block(node.body),
        lambda: evaluator.block(node.orelse),
    )


def _changed(evaluator: Evaluator, node: "ast.For | ast.While") -> list[str]:
    """Return what a loop may change, in an order that is always the same."""
    parts = [node.target, *node.body] if isinstance(node, ast.For) else node.body
    names = loop_names(parts) - evaluator.frame.declared
    if RETURNING in evaluator.frame.variables:
        return sorted(names)
    return sorted(name for name in names if not name.startswith("$"))


@evaluates(ast.While)
def while_(evaluator: Evaluator, node: ast.While) -> None:
    """Evaluate a while loop."""
    if node.orelse:
        place = evaluator.place(node.orelse[0])
        raise TileSyntaxError("'while-else' is not supported", place)
    loop = LoopBuilder(evaluator, LoopKind.WHILE, _changed(evaluator, node))

    def turn() -> None:
        known = truth(evaluator, evaluator.expression(node.test))
        if not isinstance(known, bool):
            branch(evaluator, known, lambda: None, lambda: jump(evaluator, loop.loop, "break"))
        elif not known:
            jump(evaluator, loop.loop, "break")
        evaluator.block(node.body)

    loop.run(turn)
    _go_on_returning(evaluator, node)


def _unrolled_over(node: ast.expr) -> str:
    """Return what to write in place of the iterable of a loop to unroll it."""
    if isinstance(node, (ast.List, ast.Set)):
        node = ast.Tuple(node.elts, ast.Load())
    text = ast.unparse(node)
    return f"ct.static_iter({text if len(text) <= _LONGEST else '...'})"


@evaluates(ast.For)
def for_(evaluator: Evaluator, node: ast.For) -> None:
    """Evaluate a for loop: over a range, or unrolled."""
    if node.orelse:
        place = evaluator.place(node.orelse[0])
        raise TileSyntaxError("'for-else' is not supported", place)
    iterable = iterated(evaluator, node.iter)
    if iterable is not None:
        _unrolled(evaluator, node, iterable)
        return
    if isinstance(node.iter, (ast.List, ast.Set)):
        message = f"A loop is over a range; to unroll it write {_unrolled_over(node.iter)}"
        raise TileSyntaxError(message, evaluator.place(node.iter))
    over = evaluator.expression(node.iter)
    if not isinstance(over, Range):
        instead = f"to unroll the loop write {_unrolled_over(node.iter)}"
        if isinstance(over, List):
            instead = over_list(ast.unparse(node.iter))
        raise TileTypeError(
            f"Expected a range object, but given value has type {describe(over)}; {instead}",
            evaluator.place(node.iter),
        )
    bounds = [_bound(evaluator, each, over.dtype) for each in (over.start, over.stop, over.step)]
    loop = LoopBuilder(evaluator, LoopKind.FOR, _changed(evaluator, node))

    def turn() -> None:
        index = Tile(loop.region.arguments[0], over.dtype)  # type: ignore[arg-type]
        assign(evaluator, node.target, index)
        evaluator.block(node.body)

    loop.run(turn, bounds)
    _go_on_returning(evaluator, node)


def _bound(evaluator: Evaluator, bound: Any, dtype: Any) -> Value:
    if isinstance(bound, Constant):
        return evaluator.scope.constant(bound.value, dtype.element)
    if bound.dtype != dtype:
        bound = astype(evaluator.scope, bound, dtype)
    value: Value = bound.value
    return value


def _unrolled(evaluator: Evaluator, node: ast.For, iterable: ast.expr) -> None:
    loops = evaluator.frame.loops
    given = items(evaluator, iterable)
    evaluator.scope.loc = evaluator.place(node)
    loops.append(Loop(LoopKind.STATIC, len(evaluator.frame.contexts)))
    try:
        for each in given:
            if not evaluator.builder.is_terminated:
                assign(evaluator, node.target, each)
                evaluator.block(node.body)
    finally:
        loops.pop()


def _go_on_returning(evaluator: Evaluator, node: "ast.For | ast.While") -> None:
    """After a loop that may have been left by a return, leave what is around it too."""
    frame = evaluator.frame
    if not returns(node.body) or RETURNING not in frame.variables:
        return
    loop = frame.loops[-1]
    known = truth(evaluator, frame.variables[RETURNING])
    if not isinstance(known, bool):
        branch(evaluator, known, lambda: jump(evaluator, loop, "break"), lambda: None)
    elif known:
        jump(evaluator, loop, "break")


@evaluates(ast.Break, ast.Continue)
def leave(evaluator: Evaluator, node: "ast.Break | ast.Continue") -> None:
    """Evaluate ``break`` and ``continue``."""
    name = type(node).__name__
    loop = evaluator.frame.loops[-1]
    if loop.kind is LoopKind.STATIC:
        evaluator.error(
            TileSyntaxError,
            f"{name} in a for loop with static_iter() is not supported; "
            "put what it should skip in an if",
        )
    jump(evaluator, loop, name.lower())


@evaluates(ast.Return)
def return_(evaluator: Evaluator, node: ast.Return) -> None:
    """Evaluate a return, of a kernel or from within a helper's loop."""
    frame = evaluator.frame
    if any(loop.kind is LoopKind.STATIC for loop in frame.loops) or (
        frame.loops and frame.loops[-1].kind is LoopKind.FOR
    ):
        evaluator.error(
            TileSyntaxError,
            "Returning from a for loop is not supported; write a while loop, or break",
        )
    if frame.kind is Kind.GENERATOR:
        evaluator.error(
            TileSyntaxError,
            "Returning from a generator-based context manager is not supported",
        )
    value = return_value(evaluator, node)
    if frame.kind is Kind.HELPER:
        leave_with(evaluator, value)
        return
    if value != Constant(None):
        evaluator.error(TileTypeError, "Tile kernels cannot return values")
    state = frame.state()
    leave_contexts(frame, 0)
    frame.restore(state)
    evaluator.builder.operation("return", loc=evaluator.scope.loc)


@evaluates(ast.With)
def with_(evaluator: Evaluator, node: ast.With) -> None:
    """Evaluate a with statement."""
    with_statement(evaluator, node)


@evaluates(ast.Assert)
def assert_(evaluator: Evaluator, node: ast.Assert) -> None:
    """Evaluate an assert statement: while compiling, or on the device."""
    condition = evaluator.expression(node.test)
    message = Constant("") if node.msg is None else evaluator.expression(node.msg)
    if isinstance(message, FormattedString) and is_known(message):
        message = Constant(shown(message))
    if isinstance(condition, Constant):
        if not condition.value:
            evaluator.error(TileStaticAssertionError, shown(message))
        return
    if not isinstance(message, Constant) or not isinstance(message.value, str):
        evaluator.error(TileTypeError, _MESSAGE)
    if not isinstance(condition, Tile):
        evaluator.error(
            TileTypeError, f"Expected a bool, but given value has type {describe(condition)}"
        )
    scope = evaluator.scope
    held = condition.value
    if condition.dtype.element != "i1":
        zero = scope.constant(0, condition.dtype.element, condition.shape)
        held = scope.op("ne", held, zero, type=Type("i1", condition.shape))
    scope.ops("assert", held, attributes={"message": message.value})
