# SPDX-License-Identifier: Apache-2.0
"""Attributes of modules, types, dataclasses, enums and dicts; those of values are looked up."""

import enum
import types
from typing import NoReturn

from cudacore import tile
from cudacore.tile import _convert
from cudacore.tile._advice import function_instead, name_instead
from cudacore.tile._evaluate import Evaluator
from cudacore.tile._exception import TileTypeError
from cudacore.tile._operand import describe
from cudacore.tile._reads import note_attribute, note_trouble
from cudacore.tile._record import record_type
from cudacore.tile._scope import IMPLEMENTATIONS
from cudacore.tile._value import BoundMethod, Constant, Record

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def attribute(evaluator: Evaluator, value: object, name: str) -> object:
    """Evaluate ``value.name``."""
    if isinstance(value, Constant):
        return _of_constant(evaluator, value, name)
    if isinstance(value, Record):
        return _of_record(evaluator, value, name)
    if isinstance(value, dict) and name == "get":
        return BoundMethod(value, dict.get)
    return _looked_up(evaluator, value, name)


def _looked_up(evaluator: Evaluator, value: object, name: str) -> object:
    implementation = IMPLEMENTATIONS.get(getattr)
    if implementation is None or isinstance(value, (tuple, dict)):
        missing(evaluator, value, name)
    return implementation(evaluator.scope, value, name)


def missing(evaluator: Evaluator, value: object, name: str) -> NoReturn:
    """Raise the error of an attribute that a value lacks."""
    evaluator.error(
        TileTypeError, f"No such attribute '{name}' for object of type {describe(value)}"
    )


def _of_constant(evaluator: Evaluator, constant: Constant, name: str) -> object:
    thing = constant.value
    if isinstance(thing, types.ModuleType):
        what = f"Module '{thing.__name__}'"
    elif isinstance(thing, type):
        what = f"'{thing.__name__}' object"
    elif isinstance(thing, enum.Enum) and name in ("name", "value"):
        return _convert.value(getattr(thing, name))
    else:
        return _looked_up(evaluator, constant, name)
    try:
        found = getattr(thing, name)
    except AttributeError:
        advice = _advice(name) if thing is tile else ""
        evaluator.error(TileTypeError, f"{what} has no attribute '{name}'{advice}")
    if isinstance(thing, types.ModuleType):
        note_attribute(thing, name, found)
    elif isinstance(thing, enum.EnumMeta) and not isinstance(found, thing):
        note_trouble(f"{thing.__name__}.{name} of an enumeration")
    return _convert.value(found)


def _advice(name: str) -> str:
    return function_instead(name) or name_instead(name, tile.__all__)


def _of_record(evaluator: Evaluator, record: Record, name: str) -> object:
    if name in record_type(record.type).names:
        return record.fields[name]
    try:
        found = getattr(record.type, name)
    except AttributeError:
        kind = record.type.__name__
        evaluator.error(TileTypeError, f"'{kind}' object has no attribute '{name}'")
    if isinstance(found, _FUNCTIONS):
        static = isinstance(record.type.__dict__.get(name), staticmethod)
        return Constant(found) if static else BoundMethod(record, found)
    if isinstance(found, property):
        return evaluator.call(Constant(found.fget), record)
    return _convert.value(found)
