# SPDX-License-Identifier: Apache-2.0
"""What expressions mean."""

import ast
import operator
from typing import Any

from cudacore.tile import _convert
from cudacore.tile._evaluate import Evaluator, evaluates
from cudacore.tile._evaluate_attribute import attribute
from cudacore.tile._evaluate_call import call_node, closure
from cudacore.tile._evaluate_flow import branch, choose, truth
from cudacore.tile._evaluate_operator import binary, contains, item, unary
from cudacore.tile._exception import TileSyntaxError, TileTypeError
from cudacore.tile._operand import describe
from cudacore.tile._value import Constant, Slice, Tile

UNARY = {
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
BINARY: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.MatMult: operator.matmul,
}
COMPARE: dict[type[ast.AST], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


@evaluates(ast.Name)
def name(evaluator: Evaluator, node: ast.Name) -> object:
    """Evaluate a name: of this function, of one around it, or of the module."""
    return load(evaluator, node.id)


def load(evaluator: Evaluator, name: str) -> object:
    """Return what a name holds."""
    frame, loc = evaluator.frame, evaluator.scope.loc
    if name in frame.names:
        return frame.load(name, loc)
    for level in reversed(frame.levels):
        if name in level.names:
            return level.load(name, loc)
    if name in frame.globals:
        return _convert.value(frame.globals[name])
    raise TileSyntaxError(f"Undefined variable {name} used", loc)


@evaluates(ast.Constant)
def constant(evaluator: Evaluator, node: ast.Constant) -> object:
    """Evaluate a literal."""
    if isinstance(node.value, (bytes, complex)):
        kind = type(node.value).__name__
        evaluator.error(TileSyntaxError, f"Unsupported syntax: a literal of type {kind}")
    return Constant(node.value)


@evaluates(ast.Tuple)
def tuple_(evaluator: Evaluator, node: ast.Tuple) -> object:
    """Evaluate a tuple, whose items may be starred."""
    made: list[object] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            made.extend(starred(evaluator, each))
        else:
            made.append(evaluator.expression(each))
    return tuple(made)


def starred(evaluator: Evaluator, node: ast.Starred) -> tuple[object, ...]:
    """Evaluate what stands behind a star."""
    value = evaluator.expression(node.value)
    if not isinstance(value, tuple):
        message = f"Expected a tuple after *, got {describe(value)}"
        raise TileTypeError(message, evaluator.place(node))
    return value


@evaluates(ast.UnaryOp)
def unary_operation(evaluator: Evaluator, node: ast.UnaryOp) -> object:
    """Evaluate ``-x``, ``+x``, ``~x`` and ``not x``."""
    operand = evaluator.expression(node.operand)
    return unary(evaluator, UNARY[type(node.op)], operand)


@evaluates(ast.BinOp)
def binary_operation(evaluator: Evaluator, node: ast.BinOp) -> object:
    """Evaluate ``x + y`` and the like."""
    left = evaluator.expression(node.left)
    right = evaluator.expression(node.right)
    return binary(evaluator, BINARY[type(node.op)], left, right)


@evaluates(ast.Compare)
def compare(evaluator: Evaluator, node: ast.Compare) -> object:
    """Evaluate comparisons; in a chain, each is evaluated only where those before it hold."""
    left = evaluator.expression(node.left)
    return _chain(evaluator, left, list(zip(node.ops, node.comparators, strict=True)))


def _chain(evaluator: Evaluator, left: object, rest: list[tuple[ast.cmpop, ast.expr]]) -> object:
    (op, comparator), *others = rest
    right = evaluator.expression(comparator)
    if isinstance(op, (ast.In, ast.NotIn)):
        first = contains(evaluator, left, right)
        if isinstance(op, ast.NotIn):
            first = unary(evaluator, operator.not_, first)
    else:
        first = binary(evaluator, COMPARE[type(op)], left, right)
    if not others:
        return first
    return choose(evaluator, first, lambda: _chain(evaluator, right, others), lambda: first)


@evaluates(ast.BoolOp)
def boolean(evaluator: Evaluator, node: ast.BoolOp) -> object:
    """Evaluate ``and`` and ``or``, which give a bool; what follows is evaluated if needed."""
    return _boolean(evaluator, node.values, is_and=isinstance(node.op, ast.And))


def _boolean(evaluator: Evaluator, nodes: list[ast.expr], *, is_and: bool) -> object:
    known = truth(evaluator, evaluator.expression(nodes[0]))
    if isinstance(known, bool):
        if len(nodes) == 1 or known is not is_and:
            return Constant(known)
        return _boolean(evaluator, nodes[1:], is_and=is_and)
    from cudacore.tile._dtype import bool_  # noqa: PLC0415 - that imports this language

    first = Tile(known, bool_)
    if len(nodes) == 1:
        return first

    def rest() -> object:
        value = _boolean(evaluator, nodes[1:], is_and=is_and)
        return Constant(value.value, bool_) if isinstance(value, Constant) else value

    ways = (rest, lambda: first) if is_and else (lambda: first, rest)
    return branch(evaluator, known, *ways)


@evaluates(ast.IfExp)
def conditional(evaluator: Evaluator, node: ast.IfExp) -> object:
    """Evaluate ``x if condition else y``."""
    condition = evaluator.expression(node.test)
    return choose(
        evaluator,
        condition,
        lambda: evaluator.expression(node.body),
        lambda: evaluator.expression(node.orelse),
    )


@evaluates(ast.Attribute)
def attribute_node(evaluator: Evaluator, node: ast.Attribute) -> object:
    """Evaluate ``x.name``."""
    return attribute(evaluator, evaluator.expression(node.value), node.attr)


@evaluates(ast.Subscript)
def subscript(evaluator: Evaluator, node: ast.Subscript) -> object:
    """Evaluate ``x[key]``."""
    value = evaluator.expression(node.value)
    return item(evaluator, value, evaluator.expression(node.slice))


@evaluates(ast.Slice)
def slice_(evaluator: Evaluator, node: ast.Slice) -> object:
    """Evaluate ``start:stop:step``."""
    start, stop, step = (
        Constant(None) if each is None else evaluator.expression(each)
        for each in (node.lower, node.upper, node.step)
    )
    return Slice(start, stop, step)


@evaluates(ast.Lambda)
def lambda_(evaluator: Evaluator, node: ast.Lambda) -> object:
    """Evaluate a lambda."""
    return closure(evaluator, node)


@evaluates(ast.Call)
def call(evaluator: Evaluator, node: ast.Call) -> object:
    """Evaluate a call."""
    return call_node(evaluator, node)


@evaluates(ast.JoinedStr)
def joined(evaluator: Evaluator, node: ast.JoinedStr) -> object:
    """Evaluate an f-string."""
    from cudacore.tile._evaluate_string import formatted, joined_string  # noqa: PLC0415

    pieces: list[object] = []
    before = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            before = str(part.value)
            pieces.append(Constant(before))
        elif isinstance(part, ast.FormattedValue):
            pieces.append(formatted(evaluator, *_formatted_value(evaluator, part, before)))
            before = ""
        else:
            evaluator.error(TileSyntaxError, "f-string: unsupported component")
    return joined_string(pieces)


def _formatted_value(
    evaluator: Evaluator, part: ast.FormattedValue, before: str
) -> tuple[object, str | None]:
    place = evaluator.place(part)
    if part.conversion != -1:
        if part.conversion == ord("r") and before.endswith("="):
            held = ast.unparse(part.value)
            message = f"f-string: '=' is not supported; write {held} = {{{held}}}"
            raise TileSyntaxError(message, place)
        raise TileSyntaxError("f-string: !r, !s, !a conversions are not supported", place)
    spec: Any = part.format_spec
    text = None
    if spec is not None and spec.values:
        if len(spec.values) > 1 or not isinstance(spec.values[0], ast.Constant):
            raise TileSyntaxError("f-string: format spec must be a literal string", place)
        text = str(spec.values[0].value)
    return evaluator.expression(part.value), text
