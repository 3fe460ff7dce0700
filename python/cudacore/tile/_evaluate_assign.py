# SPDX-License-Identifier: Apache-2.0
"""Assignment: to names, to items, and to several of them at once."""

import ast

from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_operator import set_item
from cudacore.tile._exception import TileSyntaxError, TileTypeError, TileValueError
from cudacore.tile._operand import describe
from cudacore.tile._value import List


def assign(evaluator: Evaluator, target: ast.expr, value: object) -> None:
    """Assign a value to what stands left of the sign."""
    loc = evaluator.place(target)
    if isinstance(target, ast.Name):
        evaluator.frame.store(target.id, value, loc)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(evaluator, target, value)
    elif isinstance(target, ast.Subscript):
        owner = evaluator.expression(target.value)
        set_item(evaluator, owner, evaluator.expression(target.slice), value)
    else:
        what = "; make another one with dataclasses.replace()"
        hint = what if isinstance(target, ast.Attribute) else ""
        kind = type(target).__name__
        raise TileSyntaxError(f"Unsupported syntax: assignment to {kind}{hint}", loc)


def _unpack(evaluator: Evaluator, target: "ast.Tuple | ast.List", value: object) -> None:
    if not isinstance(value, tuple):
        advice = "; write xs[0] and so on, or pass a tuple" if isinstance(value, List) else ""
        evaluator.error(TileTypeError, f"Expected a tuple, got {describe(value)}{advice}")
    if any(isinstance(each, ast.Starred) for each in target.elts):
        place = evaluator.place(target)
        raise TileSyntaxError("Unsupported syntax: a star left of the sign", place)
    wanted, given = len(target.elts), len(value)
    if wanted != given:
        which = "few" if given < wanted else "many"
        message = f"Too {which} values to unpack (expected {wanted}, got {given})"
        evaluator.error(TileValueError, message)
    for each, part in zip(target.elts, value, strict=True):
        assign(evaluator, each, part)
