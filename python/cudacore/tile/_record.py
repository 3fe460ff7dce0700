# SPDX-License-Identifier: Apache-2.0
"""Which dataclasses kernels can make instances of, and how."""

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cudacore.tile._exception import TileTypeError


@dataclass(frozen=True)
class RecordType:
    """What is known about a dataclass."""

    type: type
    names: tuple[str, ...]
    signature: inspect.Signature | None  # of the generated __init__; None with one of the user's
    post_init: Any
    has_default_repr: bool


def method(type_: type, name: str) -> Any:
    """Return what a class or its bases have under a name, not bound; None if nothing."""
    for each in type_.__mro__:
        if name in each.__dict__:
            return each.__dict__[name]
    return None


@functools.lru_cache(maxsize=1024)
def record_type(type_: Any) -> RecordType:
    """Check that a dataclass is one for kernels: frozen, with generated members alone.

    Raises
    ------
    TileTypeError
        It is not.
    """
    settings = type_.__dataclass_params__
    if not settings.frozen:
        raise TileTypeError(
            f"Only frozen dataclasses are supported: {type_.__name__} needs @dataclass(frozen=True)"
        )
    if "__dataclass_params__" not in type_.__dict__:
        raise TileTypeError("Non-dataclass subclasses of a dataclass are not supported")
    if method(type_, "__new__") is not object.__new__:
        raise TileTypeError("Dataclasses with custom __new__ are not supported")
    fields = dataclasses.fields(type_)
    for each in fields:
        if each.default_factory is not dataclasses.MISSING:
            raise TileTypeError("Dataclasses with default_factory fields are not supported")
        if not each.init:
            raise TileTypeError("Dataclasses with init=False fields are not supported")
    return RecordType(
        type_,
        tuple(each.name for each in fields),
        inspect.signature(type_.__init__) if _generated_init(type_, settings) else None,
        method(type_, "__post_init__"),
        _generated_repr(type_, settings),
    )


def _generated_init(type_: Any, settings: Any) -> bool:
    # What dataclasses generate for frozen classes reaches `object` by a captured name.
    code = getattr(type_.__init__, "__code__", None)
    return bool(
        settings.init and code is not None and "__dataclass_builtins_object__" in code.co_freevars
    )


def _generated_repr(type_: Any, settings: Any) -> bool:
    wrapped = getattr(type_.__repr__, "__wrapped__", None)
    name = getattr(wrapped, "__qualname__", "")
    return bool(settings.repr and name == "__create_fn__.<locals>.__repr__")


def instance(type_: Any, fields: Mapping[str, Any]) -> Any:
    """Make an instance of a dataclass on the host, for static evaluation."""
    known = record_type(type_)
    if known.signature is not None and known.post_init is None:
        return type_(**fields)
    made = type_.__new__(type_)
    for name, thing in fields.items():
        object.__setattr__(made, name, thing)
    return made
