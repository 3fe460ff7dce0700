# SPDX-License-Identifier: Apache-2.0
"""What Python itself computes while a kernel is compiled."""

import ast
import enum
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cudacore.tile import _convert
from cudacore.tile import _language_static as language
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_assign import assign
from cudacore.tile._evaluate_flow import truth
from cudacore.tile._evaluate_function import frozen
from cudacore.tile._exception import (
    TileError,
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
)
from cudacore.tile._frame import Frame
from cudacore.tile._language_function import host_callers
from cudacore.tile._names import loaded_names
from cudacore.tile._operand import describe, over_list
from cudacore.tile._operation import implements
from cudacore.tile._reads import note_attribute, note_trouble
from cudacore.tile._scope import IMPLEMENTATIONS
from cudacore.tile._static_reads import note_static
from cudacore.tile._symbol import ValueSymbol, symbol
from cudacore.tile._value import Constant, List, Undefined

_MOST_TURNS = 1000


class _Where(enum.Enum):
    EVAL = "static_eval()"
    CONDITION = "static_assert() condition"
    MESSAGE = "static_assert() message"
    ITERABLE = "static_iter() iterable"
    FUNCTION = "static_def function"


def static_call(evaluator: Evaluator, node: ast.Call) -> tuple[bool, object]:
    """Evaluate a call of a function whose argument Python evaluates; tell whether it was one."""
    function = _named(evaluator, node.func)
    if function is language.static_eval:
        if len(node.args) != 1 or node.keywords:
            evaluator.error(TileSyntaxError, "static_eval() expects a single expression")
        return True, _convert.value(_evaluated(evaluator, node.args[0], _Where.EVAL))
    if function is language.static_assert:
        _static_assert(evaluator, node)
        return True, Constant(None)
    if function is language.static_iter:
        evaluator.error(
            TileSyntaxError,
            "static_iter() is only allowed as iterable in a `for` loop, "
            "i.e. `for i in ct.static_iter(...)`",
        )
    return False, None


def _named(evaluator: Evaluator, node: ast.expr) -> Any:
    """Return what a name of the module, or an attribute of a module, stands for; or None."""
    if isinstance(node, ast.Name):
        frame = evaluator.frame
        if node.id in frame.names or any(node.id in level.names for level in frame.levels):
            return None
        return frame.globals.get(node.id)
    if isinstance(node, ast.Attribute):
        module = _named(evaluator, node.value)
        if isinstance(module, types.ModuleType):
            found = getattr(module, node.attr, None)
            note_attribute(module, node.attr, found)
            return found
    return None


def _evaluated(evaluator: Evaluator, node: ast.expr, where: _Where) -> Any:
    """Have Python evaluate an expression; return its object."""
    for each in ast.walk(node):
        if isinstance(each, ast.NamedExpr):
            evaluator.error(
                TileSyntaxError,
                f"static_eval() expression attempted to modify a local variable '{each.target.id}'",
            )
    names = _visible(evaluator, node)
    note_static(evaluator.frame, node, names)
    try:
        code = compile(ast.Expression(node), evaluator.frame.filename, "eval")
    except (SyntaxError, ValueError) as error:
        evaluator.error(TileSyntaxError, str(error))
    return _run(evaluator, where, lambda: eval(code, names))  # noqa: S307 - the user's own code


def call_static(
    evaluator: Evaluator, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    """Have Python run a function that `static_def` decorated."""
    note_trouble(f"{function!r} is run while compiling")
    given = [symbol(evaluator, each) for each in args]
    named = {key: symbol(evaluator, each) for key, each in kwargs.items()}
    made = _run(evaluator, _Where.FUNCTION, lambda: function(*given, **named))
    return _convert.value(made)


def _run(evaluator: Evaluator, where: _Where, code: Callable[[], Any]) -> Any:
    """Run code of the user's on the host; its errors become those of the kernel."""
    host_callers.append(_handler(evaluator, where))
    try:
        return code()
    except TileError:
        raise
    except Exception as error:
        text = f": {error}" if str(error) else ""
        raise TileStaticEvalError(
            f"Exception was raised inside {where.value} ({type(error).__name__}{text})",
            evaluator.scope.loc,
        ) from error
    finally:
        host_callers.pop()


def _visible(evaluator: Evaluator, node: ast.expr) -> dict[str, Any]:
    """Return what the names in an expression stand for, as Python sees it."""
    frame = evaluator.frame
    names = frame.globals.copy()
    for name in sorted(loaded_names(node)):
        level = next((each for each in (frame, *frame.levels[::-1]) if name in each.names), None)
        if level is None:
            continue
        names.pop(name, None)
        held = level.variables.get(name)
        if isinstance(held, Undefined):
            evaluator.error(TileTypeError, held.message)
        if held is not None:
            names[name] = symbol(evaluator, held)
    return names


def _handler(evaluator: Evaluator, where: _Where) -> Any:
    """Return what answers when Python calls functions that belong in kernels."""

    def called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = f"{function.__name__}()"
        if function in _SPECIAL:
            evaluator.error(TileStaticEvalError, f"{name} cannot be used inside {where.value}.")
        if function not in IMPLEMENTATIONS or not is_pure(function):
            evaluator.error(TileStaticEvalError, f"{name} cannot be called inside {where.value}.")
        values = [_convert.value(each) for each in args]
        named = {key: _convert.value(each) for key, each in kwargs.items()}
        return symbol(evaluator, evaluator.call(Constant(function), *values, **named))

    return called


_SPECIAL = (language.static_eval, language.static_assert, language.static_iter)

#: The elementwise functions, which a static expression may call.
_PURE = frozenset(
    (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "cdiv", "minimum", "maximum"),
        *("negative", "abs", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
        *("bitwise_lshift", "bitwise_rshift", "equal", "not_equal", "less", "less_equal"),
        *("greater", "greater_equal"),
    )
)


def is_pure(function: Any) -> bool:
    """Return whether a static expression may call a function of the language."""
    return function.__name__ in _PURE


def _static_assert(evaluator: Evaluator, node: ast.Call) -> None:
    if len(node.args) not in (1, 2) or node.keywords:
        evaluator.error(
            TileSyntaxError,
            "static_assert(cond, msg=None, /) expects one or two positional arguments",
        )
    condition = _convert.value(_evaluated(evaluator, node.args[0], _Where.CONDITION))
    if not isinstance(condition, Constant):
        evaluator.error(
            TileTypeError,
            "static_assert() condition must be a compile-time constant, "
            f"but it has type {describe(condition)}",
        )
    if not isinstance(condition.value, bool):
        evaluator.error(
            TileTypeError,
            f"static_assert() condition must be a boolean, not {describe(condition)}",
        )
    if condition.value:
        return
    message = None
    if len(node.args) > 1:
        message = _evaluated(evaluator, node.args[1], _Where.MESSAGE)
    evaluator.error(TileStaticAssertionError, "" if message is None else str(message))


def iterated(evaluator: Evaluator, node: ast.expr) -> ast.expr | None:
    """Return what stands in ``static_iter(...)``, if an expression is that."""
    if not isinstance(node, ast.Call):
        return None
    if _named(evaluator, node.func) is not language.static_iter:
        return None
    if len(node.args) != 1 or node.keywords:
        evaluator.error(TileSyntaxError, "static_iter() expects a single expression")
    return node.args[0]


def items(evaluator: Evaluator, node: ast.expr) -> list[object]:
    """Return the items that the expression in ``static_iter(...)`` has."""
    evaluator.scope.loc = evaluator.place(node)
    iterable = _evaluated(evaluator, node, _Where.ITERABLE)
    try:
        iterator = iter(iterable)
    except Exception as error:  # noqa: BLE001 - any code of the user's
        reason = str(error)
        if isinstance(iterable, ValueSymbol):
            held = _convert.value_of(iterable)
            reason = f"its items are not known while the kernel is compiled: {describe(held)}"
            if isinstance(held, List):
                reason += f"; {over_list(ast.unparse(node))}"
        evaluator.error(TileTypeError, f"Invalid static_iter() iterable: {reason}")
    made: list[object] = []
    while True:
        try:
            thing = next(iterator)
        except StopIteration:
            return made
        except Exception as error:  # noqa: BLE001 - any code of the user's
            evaluator.error(
                TileTypeError,
                f"Error was raised while obtaining item #{len(made)} from the static_iter() "
                f"iterable: {error}",
            )
        if len(made) == _MOST_TURNS:
            evaluator.error(
                TileStaticEvalError,
                f"Maximum number of iterations ({_MOST_TURNS}) has been reached while unpacking "
                "the static_iter() iterable",
            )
        try:
            made.append(_convert.value(thing))
        except TileTypeError as error:
            evaluator.error(
                TileStaticEvalError,
                f"Invalid item #{len(made)} of static_iter() iterable: {error.message}",
            )


def tuple_comprehension(evaluator: Evaluator, node: ast.GeneratorExp) -> object:
    """Evaluate ``tuple(... for x in static_iter(...))``."""
    outer = evaluator.frame
    names = [_targets(evaluator, each.target) for each in node.generators]
    iterables = [_checked_iterable(evaluator, node, index, names) for index in range(len(names))]
    first = items(evaluator, iterables[0])
    frame = Frame(
        outer.kind,
        outer.name,
        outer.filename,
        set().union(*names),
        frozenset(),
        outer.globals,
        (*outer.levels, outer),
        outer.call_site,
    )
    made: list[object] = []

    def turn(index: int, given: list[object]) -> None:
        generator = node.generators[index]
        for each in given:
            assign(evaluator, generator.target, each)
            if not all(_condition(evaluator, test) for test in generator.ifs):
                continue
            if index + 1 < len(names):
                turn(index + 1, items(evaluator, iterables[index + 1]))
            else:
                made.append(evaluator.expression(node.elt))

    with evaluator.within(frame):
        turn(0, first)
    return frozen(tuple(made), frame)


def _condition(evaluator: Evaluator, test: ast.expr) -> bool:
    known = truth(evaluator, evaluator.expression(test))
    if not isinstance(known, bool):
        raise TileTypeError(
            "Tuple comprehension if-conditions must be statically known; if the condition can be "
            "evaluated at compile time, wrap it with ct.static_eval()",
            evaluator.place(test),
        )
    return known


def _targets(evaluator: Evaluator, target: ast.expr) -> set[str]:
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, ast.Tuple):
        return {name for each in target.elts for name in _targets(evaluator, each)}
    raise TileSyntaxError(
        "Tuple comprehension target must be a name or tuple unpacking", evaluator.place(target)
    )


def _checked_iterable(
    evaluator: Evaluator, node: ast.GeneratorExp, index: int, names: Sequence[set[str]]
) -> ast.expr:
    """Return what a generator iterates over, after checking what it refers to.

    The first one sees what is around the comprehension, the others the variables before theirs.
    """
    generator = node.generators[index]
    if generator.is_async:
        evaluator.error(TileSyntaxError, "async in tuple comprehension is not supported")
    iterable = iterated(evaluator, generator.iter)
    if iterable is None:
        raise TileSyntaxError(
            "All iterables in a tuple comprehension must be wrapped in ct.static_iter(), "
            "e.g. tuple(... for x in ct.static_iter(...))",
            evaluator.place(generator.iter),
        )
    frame = evaluator.frame
    own = {name for each in names for name in each}
    known = {name for each in names[:index] for name in each}
    if index == 0:
        known |= frame.names | set(frame.globals)
    for each in ast.walk(iterable):
        if isinstance(each, ast.Name) and each.id in own - known:
            message = f"Undefined variable {each.id} used"
            raise TileSyntaxError(message, evaluator.place(each))
    return iterable


def _register_special(function: Any) -> None:
    @implements(function)
    def indirect(scope: Any, *_: object) -> None:
        name = f"{function.__name__}()"
        scope.error(TileSyntaxError, f"{name} must be used directly by name, e.g. ct.{name}")


for _function in _SPECIAL:
    _register_special(_function)


@implements(language.ensure_constant)
def _ensure_constant(scope: Any, value: object) -> object:
    if not isinstance(value, Constant):
        scope.error(
            TileStaticAssertionError,
            "Argument of ensure_constant() is not a compile-time constant: "
            f"it has type {describe(value)}",
        )
    return value
