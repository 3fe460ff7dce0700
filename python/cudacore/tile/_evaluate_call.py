# SPDX-License-Identifier: Apache-2.0
"""Calls: of the language's functions, of the user's, of types and of closures."""

import ast
import dataclasses
import enum
import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from cudacore.tile import (
    _convert,
    _operations,  # noqa: F401 - registers what functions mean
)
from cudacore.tile._advice import function_instead, name_instead
from cudacore.tile._device_function import device_function
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._evaluate_builtin import BUILTINS
from cudacore.tile._evaluate_function import inline
from cudacore.tile._evaluate_operator import SIGNS, UNARY_SIGNS, binary, fold, is_loose, unary
from cudacore.tile._evaluate_static import call_static, static_call, tuple_comprehension
from cudacore.tile._exception import (
    TileError,
    TileSyntaxError,
    TileTypeError,
    TileValueError,
    UnsupportedCallError,
)
from cudacore.tile._frame import Frame, Kind
from cudacore.tile._function import code_of, is_host_only, is_static
from cudacore.tile._merge import is_number
from cudacore.tile._names import local_names, parameters
from cudacore.tile._operand import describe
from cudacore.tile._operation import guard
from cudacore.tile._operation_call import call_device_function
from cudacore.tile._operation_math import construct
from cudacore.tile._record import method, record_type
from cudacore.tile._scope import IMPLEMENTATIONS
from cudacore.tile._signature import signature_of
from cudacore.tile._value import BoundMethod, Constant, Function, Record

_ITERATORS = frozenset({enumerate, filter, map, reversed, zip})
_MOST_CALLS = 250  # within each other


def call_node(evaluator: Evaluator, node: ast.Call) -> object:
    """Evaluate a call in the source."""
    handled, result = static_call(evaluator, node)
    if handled:
        return result
    function = evaluator.expression(node.func)
    if isinstance(function, Constant) and function.value is tuple and len(node.args) == 1:
        comprehension = node.args[0]
        if isinstance(comprehension, ast.GeneratorExp) and not node.keywords:
            return tuple_comprehension(evaluator, comprehension)
    args: list[object] = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            args.extend(_starred(evaluator, each))
        else:
            args.append(evaluator.expression(each))
    kwargs: dict[str, object] = {}
    for keyword in node.keywords:
        value = evaluator.expression(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, dict):
            kwargs.update(value)
        else:
            message = f"Expected a dictionary after **, got {describe(value)}"
            evaluator.error(TileTypeError, message)
    return call(evaluator, function, args, kwargs)


def _starred(evaluator: Evaluator, node: ast.Starred) -> tuple[object, ...]:
    value = evaluator.expression(node.value)
    if not isinstance(value, tuple):
        message = f"Expected a tuple after *, got {describe(value)}"
        raise TileTypeError(message, evaluator.place(node))
    return value


def call(
    evaluator: Evaluator,
    function: object,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    """Evaluate a call of what a name holds."""
    if isinstance(function, Function):
        return _call_closure(evaluator, function, args, kwargs)
    if isinstance(function, BoundMethod):
        return call_python(evaluator, function.function, [function.bound, *args], kwargs)
    if isinstance(function, Record):
        own = method(function.type, "__call__")
        if own is not None:
            return call_python(evaluator, own, [function, *args], kwargs)
    if isinstance(function, Constant) and callable(function.value):
        return call_python(evaluator, function.value, args, kwargs)
    if not isinstance(function, (Constant, Record)) and callable(function):
        return call_python(evaluator, function, args, kwargs)
    message = f"Cannot call an object of type {_called(function)}"
    raise TileTypeError(message, evaluator.scope.loc)


def _called(function: object) -> str:
    return function.type.__name__ if isinstance(function, Record) else describe(function)


def call_python(
    evaluator: Evaluator, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    """Evaluate a call of a function or a type of Python."""
    if function in SIGNS or function in UNARY_SIGNS:
        return _call_operator(evaluator, function, args, kwargs)
    builtin = BUILTINS.get(function)
    if builtin is not None:
        bound = bind(evaluator, function.__name__, signature_of(function), args, kwargs)
        bound.apply_defaults()
        return builtin(evaluator, *bound.args, **bound.kwargs)
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is not None:
        return _call_implementation(evaluator, function, implementation, args, kwargs)
    if isinstance(function, types.FunctionType) and not _is_of_language(function):
        return _call_user(evaluator, function, args, kwargs)
    return _call_other(evaluator, function, args, kwargs)


def _call_other(
    evaluator: Evaluator, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    if isinstance(function, device_function):
        if kwargs:
            message = f"{function.name}() of CUDA C++ takes no named arguments"
            evaluator.error(TileTypeError, message)
        return guard(function.name, call_device_function)(evaluator.scope, function, *args)
    dtype = _convert.foreign_dtype(function)
    if dtype is not None:
        return _call_dtype(evaluator, dtype, args, kwargs)
    if isinstance(function, type):
        return _construct(evaluator, function, args, kwargs)
    loose = all(is_loose(each) and is_number(each) for each in args) and not kwargs
    if loose and getattr(function, "__module__", None) == "math":
        return fold(evaluator, function, *args)
    name = getattr(function, "__name__", type(function).__name__)
    message = f"{name}() is not supported in device code" + function_instead(name)
    raise UnsupportedCallError(message, evaluator.scope.loc)


def _is_of_language(function: types.FunctionType) -> bool:
    return (function.__module__ or "").startswith("cudacore.tile.")


def bind(
    evaluator: Evaluator,
    name: str,
    signature: inspect.Signature,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> inspect.BoundArguments:
    """Give arguments to parameters."""
    known = signature.parameters
    if not any(each.kind is each.VAR_KEYWORD for each in known.values()):
        # Told first: with a misspelled name, the parameter that was meant is missing, too.
        for given in kwargs:
            if given not in known:
                message = f"{name}(): got an unexpected keyword argument '{given}'"
                if given == "mask" and name in {"load", "store"}:
                    message += (
                        "; what is out of the array is left out by itself, and ct.gather() and "
                        "ct.scatter() take a mask"
                    )
                if given == "other" and name == "load":
                    message += (
                        "; padding_mode says what is read out of the array, and ct.gather() takes "
                        "a padding_value"
                    )
                evaluator.error(TileTypeError, message + name_instead(given, known))
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        evaluator.error(TileTypeError, f"{name}(): {error}")


def _call_operator(
    evaluator: Evaluator, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    bound = bind(evaluator, function.__name__, signature_of(function), args, kwargs)
    if function in UNARY_SIGNS:
        return unary(evaluator, function, *bound.args)
    return binary(evaluator, function, *bound.args)


def _call_implementation(
    evaluator: Evaluator,
    function: Any,
    implementation: Any,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    signature = signature_of(function)
    bound = bind(evaluator, function.__name__, signature, args, kwargs)
    given = set(bound.arguments)
    bound.apply_defaults()
    for name, parameter in signature.parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if name not in given and not variadic:
            bound.arguments[name] = _convert.value(bound.arguments[name])
    result = implementation(evaluator.scope, *bound.args, **bound.kwargs)
    return Constant(None) if result is None else result


def _call_dtype(
    evaluator: Evaluator, dtype: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    if dtype.bitwidth % 8:
        evaluator.error(
            TileTypeError,
            f"Cannot call an object of type DTypeSpec(dtype={dtype!r}): "
            "scalars of it have no address; make a tile with astype()",
        )
    bound = bind(evaluator, dtype.name, _DTYPE_SIGNATURE, args, kwargs)
    value = bound.args[0] if bound.args else Constant(0)
    return guard(dtype.name, construct)(evaluator.scope, dtype, value)


_DTYPE_SIGNATURE = inspect.signature(lambda x=0, /: x)


def _construct(
    evaluator: Evaluator, type_: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    if dataclasses.is_dataclass(type_):
        return _construct_record(evaluator, type_, args, kwargs)
    if issubclass(type_, enum.Enum):
        return _construct_enum(evaluator, type_, args, kwargs)
    name = type_.__name__
    if type_ is type:
        evaluator.error(
            UnsupportedCallError,
            "type() is not supported in device code; x.dtype, x.shape and isinstance() are",
        )
    if type_ in _ITERATORS:
        evaluator.error(
            UnsupportedCallError,
            f"{name}() is not supported in device code; to unroll a loop over it write "
            f"ct.static_iter({name}(...))",
        )
    message = f'Creating instances of type "{name}" is not supported in device code'
    raise UnsupportedCallError(message, evaluator.scope.loc)


def _construct_record(
    evaluator: Evaluator, type_: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    known = record_type(type_)
    if known.signature is None and is_static(type_.__init__):
        return call_static(evaluator, type_, args, kwargs)
    if known.signature is None:
        evaluator.error(
            TileTypeError,
            "Dataclass instance creation is only supported for dataclasses with a default "
            "generated __init__() method.",
        )
    bound = bind(evaluator, type_.__name__, known.signature, [Constant(None), *args], kwargs)
    names = list(known.signature.parameters)[1:]
    fields: dict[str, object] = {}
    for name, field in zip(names, known.names, strict=True):
        default = known.signature.parameters[name].default
        given = name in bound.arguments
        fields[field] = bound.arguments[name] if given else _convert.value(default)
    record = Record(type_, fields)
    if known.post_init is not None:
        call_python(evaluator, known.post_init, [record], {})
    return record


def _construct_enum(
    evaluator: Evaluator,
    type_: type[enum.Enum],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    if len(args) != 1 or kwargs:
        evaluator.error(TileTypeError, "Enum constructor takes exactly one positional argument")
    argument = args[0]
    if not isinstance(argument, Constant):
        evaluator.error(TileTypeError, "Enum constructor argument must be a constant")
    try:
        return Constant(type_(argument.value))
    except ValueError:
        evaluator.error(TileValueError, f"{argument.value!r} is not a valid {type_.__name__}")


def _check_depth(evaluator: Evaluator) -> None:
    from cudacore.tile._exception import TileRecursionError  # noqa: PLC0415 - rarely needed

    if len(evaluator.frames) > _MOST_CALLS:
        evaluator.error(
            TileRecursionError,
            f"Maximum recursion depth ({_MOST_CALLS}) reached while inlining a function call",
        )


def _call_user(
    evaluator: Evaluator, function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> object:
    _check_depth(evaluator)
    if is_static(function):
        return call_static(evaluator, function, args, kwargs)
    if is_host_only(function):
        evaluator.error(
            UnsupportedCallError, f"{function.__name__}() can only be called on the host"
        )
    try:
        code = code_of(function)
    except TileError as error:
        error.loc = error.loc.with_call_site(evaluator.scope.loc)
        raise
    bound = bind(evaluator, code.name, code.signature, args, kwargs)
    frame = Frame.of_code(Kind.HELPER, code, evaluator.scope.loc)
    defaults = {
        name: parameter.default
        for name, parameter in code.signature.parameters.items()
        if parameter.default is not parameter.empty and name not in bound.arguments
    }
    values = {name: _convert.value(default) for name, default in defaults.items()}
    return inline(evaluator, frame, code.node, {**values, **bound.arguments})


_OPTIONAL: Any = object()  # the default of a parameter that has one


def _call_closure(
    evaluator: Evaluator,
    function: Function,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    _check_depth(evaluator)
    name = function.name or "<lambda>"
    bound = bind(evaluator, name, function.signature, args, kwargs)
    names, declared = _names(function.node)
    frame = Frame(
        Kind.HELPER,
        function.name,
        function.filename,
        set(names),
        frozenset(declared),
        function.globals,
        function.environment,
        call_site=evaluator.scope.loc,
    )
    missing = {key: value for key, value in function.defaults.items() if key not in bound.arguments}
    return inline(evaluator, frame, function.node, {**missing, **bound.arguments})


_names = functools.lru_cache(maxsize=1024)(local_names)


def closure(evaluator: Evaluator, node: "ast.FunctionDef | ast.Lambda") -> Function:
    """Evaluate the definition of a function within another one."""
    arguments = node.args
    kinds = inspect.Parameter
    positional = [*arguments.posonlyargs, *arguments.args]
    given: dict[str, ast.expr] = {}
    if arguments.defaults:
        with_defaults = positional[-len(arguments.defaults) :]
        given.update(
            (each.arg, default)
            for each, default in zip(with_defaults, arguments.defaults, strict=True)
        )
    for each, default_ in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default_ is not None:
            given[each.arg] = default_
    kind: dict[str, Any] = dict.fromkeys(
        (a.arg for a in arguments.args), kinds.POSITIONAL_OR_KEYWORD
    )
    kind |= dict.fromkeys((a.arg for a in arguments.posonlyargs), kinds.POSITIONAL_ONLY)
    kind |= dict.fromkeys((a.arg for a in arguments.kwonlyargs), kinds.KEYWORD_ONLY)
    if arguments.vararg:
        kind[arguments.vararg.arg] = kinds.VAR_POSITIONAL
    if arguments.kwarg:
        kind[arguments.kwarg.arg] = kinds.VAR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter(
                each.arg,
                kind[each.arg],
                default=_OPTIONAL if each.arg in given else inspect.Parameter.empty,
            )
            for each in parameters(arguments)
        ]
    )
    defaults = {name: evaluator.expression(expression) for name, expression in given.items()}
    frame = evaluator.frame
    name = node.name if isinstance(node, ast.FunctionDef) else None
    return Function(
        name,
        node,
        signature,
        defaults,
        (*frame.levels, frame),
        frame.globals,
        frame.filename,
    )


def define(evaluator: Evaluator, node: ast.FunctionDef) -> None:
    """Evaluate a def statement within a function."""
    if node.decorator_list:
        evaluator.error(TileSyntaxError, "Decorators on nested functions are not supported")
    evaluator.frame.store(node.name, closure(evaluator, node), evaluator.scope.loc)
