# SPDX-License-Identifier: Apache-2.0
"""From a function of Python to the text of a kernel."""

import ast
import inspect
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cudacore.tile import _evaluate_context, _evaluate_statement  # noqa: F401 - register
from cudacore.tile._dead_code import remove_dead_code
from cudacore.tile._evaluate import Evaluator, located
from cudacore.tile._evaluate_call import call
from cudacore.tile._evaluate_function import set_parameters
from cudacore.tile._exception import TileSyntaxError
from cudacore.tile._frame import Frame, Kind
from cudacore.tile._function import code_of
from cudacore.tile._parameter import parameter_value
from cudacore.tile._text import KernelText
from cudacore.tile.compilation._constraint import ParameterConstraint

#: Frames of Python at most: each call within a kernel takes some twenty.
_PYTHON_FRAMES = 20_000

_lock = threading.Lock()
_deep = 0
_usual: int | None = None  # the limit that ours replaced


@contextmanager
def _deep_calls() -> Iterator[None]:
    """Let Python's calls nest deeper, as inlining needs, in whatever threads compile."""
    global _deep, _usual  # noqa: PLW0603 - the limit is one for the interpreter
    with _lock:
        limit = sys.getrecursionlimit()
        if limit < _PYTHON_FRAMES:
            _usual = limit
            sys.setrecursionlimit(_PYTHON_FRAMES)
        _deep += 1
    try:
        yield
    finally:
        with _lock:
            _deep -= 1
            if _deep == 0 and _usual is not None:
                # Others may have set a limit of their own meanwhile.
                if sys.getrecursionlimit() == _PYTHON_FRAMES:
                    sys.setrecursionlimit(_usual)
                _usual = None


def compile_to_text(
    function: Any,
    constraints: Sequence[ParameterConstraint],
    hints: Mapping[str, int] | None = None,
    name: str | None = None,
) -> KernelText:
    """Evaluate a kernel, and return its text.

    Parameters
    ----------
    function
        The Python function.
    constraints
        What is known of each of its arguments.
    hints
        Of the text: ``warps`` and ``occupancy``.
    name
        The name of the device's kernel; by default that of the function.

    Raises
    ------
    TileError
        The function is no kernel for these arguments; the error names the place.
    TypeError
        There are more or fewer arguments than the function has parameters.
    """
    code = code_of(function)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    wanted = [each for each in code.signature.parameters.values() if each.kind not in variadic]
    if len(wanted) == len(code.signature.parameters) != len(constraints):
        raise TypeError(f"{code.name}() takes {len(wanted)} arguments, got {len(constraints)}")
    evaluator = Evaluator(call)
    frame = Frame.of_code(Kind.KERNEL, code)
    evaluator.builder.hints.update(hints or {})
    with _deep_calls(), evaluator.within(frame):
        place = evaluator.scope.loc = evaluator.place(code.node)
        try:
            _evaluate(evaluator, frame, code.node, constraints)
        except Exception as error:  # noqa: BLE001 - all are raised again, with the place
            raise located(error, place)  # noqa: B904 - located() chains what it wraps
    remove_dead_code(evaluator.builder)
    return evaluator.builder.text(name or code.name)


def _evaluate(
    evaluator: Evaluator, frame: Frame, node: Any, constraints: Sequence[ParameterConstraint]
) -> None:
    arguments = node.args
    if isinstance(node, ast.Lambda):
        evaluator.error(TileSyntaxError, "A kernel must be defined by a 'def' statement")
    if arguments.vararg or arguments.kwarg:
        variadic = arguments.vararg or arguments.kwarg
        message = "Variadic kernel parameters are not supported"
        raise TileSyntaxError(message, evaluator.place(variadic))
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    values = [parameter_value(evaluator.builder, each) for each in constraints]
    set_parameters(evaluator, frame, node, dict(zip(names, values, strict=True)))
    evaluator.block(node.body)
    if not evaluator.builder.is_terminated:
        evaluator.builder.operation("return")
