# SPDX-License-Identifier: Apache-2.0
"""What an expression that Python itself evaluates reads, if that can be told from its syntax."""

import ast
import builtins
import enum
import math
import types
from collections.abc import Mapping
from typing import Any

from cudacore.tile._convert import Symbol
from cudacore.tile._dtype import DType
from cudacore.tile._fingerprint import PLAIN, is_same
from cudacore.tile._frame import Frame
from cudacore.tile._reads import note_attribute, note_trouble

_TRANSPARENT = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
    *(ast.Subscript, ast.Slice, ast.Starred),
)
#: Their results depend on their arguments alone, as long as these are plain.
_PURE = frozenset(
    getattr(builtins, name)
    for name in (
        *("abs", "all", "any", "bool", "divmod", "enumerate", "float", "int", "len", "max"),
        *("min", "pow", "range", "reversed", "round", "sorted", "sum", "tuple", "zip"),
    )
)
#: What follows from the arguments of the kernel, or from what has been read.
_DERIVED = object()


class _UntoldError(Exception):
    """An expression may read anything."""


def note_static(frame: Frame, node: ast.expr, names: Mapping[str, Any]) -> None:
    """Note what an expression reads; it is trouble if that may be anything.

    Parameters
    ----------
    frame
        The function that it stands in.
    node
        The expression.
    names
        What its names stand for.
    """
    try:
        _check(frame, node, names)
    except _UntoldError as error:
        note_trouble(f"a static expression in line {node.lineno} of {frame.filename} has {error}")


def _check(frame: Frame, node: ast.AST, names: Mapping[str, Any]) -> None:
    if isinstance(node, (ast.Name, ast.Attribute)):
        held = _resolved(frame, node, names)
        if not _is_harmless(held):
            raise _UntoldError(f"an object of type {type(held).__name__}")
    elif isinstance(node, ast.Call):
        function = _resolved(frame, node.func, names)
        if not _is_pure(function):
            raise _UntoldError(f"a call of {ast.unparse(node.func)}()")
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            _check(frame, argument, names)
    elif isinstance(node, _TRANSPARENT):
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr):
                _check(frame, each, names)
    elif not isinstance(node, ast.Constant):
        raise _UntoldError(f"{type(node).__name__} in it")


def _resolved(frame: Frame, node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Return what a name, or an attribute of one, stands for."""
    if isinstance(node, ast.Name):
        if any(node.id in level.names for level in (frame, *frame.levels)):
            return names.get(node.id, _DERIVED)
        return frame.globals.get(node.id)
    if isinstance(node, ast.Subscript):
        _check(frame, node, names)
        return _DERIVED
    if not isinstance(node, ast.Attribute):
        raise _UntoldError(f"an attribute of {type(node).__name__}")
    owner = _resolved(frame, node.value, names)
    if isinstance(owner, types.ModuleType):
        held = getattr(owner, node.attr, None)
        note_attribute(owner, node.attr, held)
        return held
    if _is_plain_attribute(owner, node.attr):
        return _DERIVED
    raise _UntoldError(f"an attribute of an object of type {type(owner).__name__}")


def _is_plain_attribute(owner: Any, name: str) -> bool:
    """Return whether an attribute follows from an object that has been read."""
    if isinstance(owner, enum.Enum):
        return name in {"name", "value"}
    if name in getattr(type(owner), "__dataclass_fields__", {}):
        return _is_harmless(getattr(owner, name, None))
    return isinstance(owner, (Symbol, DType)) or owner is _DERIVED


def _is_harmless(held: Any) -> bool:
    """Return whether no code of the user's runs when an operator meets an object."""
    if type(held) is tuple:
        return all(map(_is_harmless, held))
    derived = held is _DERIVED or isinstance(held, (Symbol, DType, enum.Enum))
    return derived or type(held) in PLAIN


def _is_pure(function: Any) -> bool:
    if isinstance(function, types.BuiltinFunctionType) and function.__module__ == math.__name__:
        return True
    if isinstance(function, types.FunctionType):
        module = function.__module__ or ""
        return module.startswith("cudacore.tile.") and is_same(
            module, function.__qualname__, function
        )
    return isinstance(function, (type, types.BuiltinFunctionType)) and function in _PURE
