# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of objects of Python: equal in another process only if they mean the same."""

from __future__ import annotations

import enum
import marshal
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

#: Types whose values hold no other objects.
PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(...)})
#: What objects consist of, by their type.
_PARTS: dict[type, Callable[[Any], Iterable[object]]] = {
    tuple: lambda thing: thing,
    list: lambda thing: thing,
    dict: lambda thing: thing.items(),
    slice: lambda thing: (thing.start, thing.stop, thing.step),
    range: lambda thing: (thing.start, thing.stop, thing.step),
    staticmethod: lambda thing: (thing.__func__,),
    classmethod: lambda thing: (thing.__func__,),
    property: lambda thing: (thing.fget, thing.fset, thing.fdel),
    types.MethodType: lambda thing: (thing.__self__, thing.__func__),
}
_NAMED = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_OF_LANGUAGE = "cudacore.tile."
_DEVICE_FUNCTION = ("cudacore.tile", "device_function")
_GENERATED = "<string>"
_HEAP_TYPE = 1 << 9
#: The version of marshal's format whose bytes depend on the value alone.
_FORMAT = 2

#: What classes have besides what their authors wrote.
_BESIDES = frozenset(
    (
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__"),
        *("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__slots__"),
        *("__firstlineno__", "__static_attributes__", "__annotations_cache__", "__annotate__"),
        *("__annotate_func__", "__parameters__", "__orig_bases__"),
    )
)


class UnsafeError(Exception):
    """An object whose meaning another process can't compare."""


def encoded(value: Any) -> bytes:
    """Return the bytes of a value made of tuples and plain values.

    Raises
    ------
    UnsafeError
        It has something else in it.
    """
    try:
        return marshal.dumps(value, _FORMAT)
    except ValueError as error:
        raise UnsafeError(str(error)) from None


def is_same(module: str, name: str, thing: object) -> bool:
    """Return whether a dotted name within a module that is loaded stands for an object."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is thing


class Fingerprints:
    """Makes fingerprints; it reads each file once."""

    def __init__(self) -> None:
        self._files: dict[str, list[bytes]] = {}
        self._open: list[int] = []  # the objects around the one at hand, by identity

    def of(self, thing: object) -> bytes:
        """Return the fingerprint of an object.

        Raises
        ------
        UnsafeError
            It may mean something else in another process, and nothing tells.
        """
        self._open.clear()
        try:
            return encoded(self.parts(thing))
        except UnsafeError:
            raise
        except Exception as error:  # noqa: BLE001 - from attributes of any object
            raise UnsafeError(f"{type(error).__name__}: {error}") from None

    def parts(self, thing: Any) -> object:
        """Return the same as a tuple of plain values."""
        kind = type(thing)
        if kind in PLAIN:
            return "plain", thing
        if id(thing) in self._open:
            return "again", len(self._open) - self._open.index(id(thing))
        self._open.append(id(thing))
        try:
            return self._within(thing, kind)
        finally:
            self._open.pop()

    def _within(self, thing: Any, kind: type) -> object:
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, types.ModuleType):
            return self._module(thing)
        inner = _PARTS.get(kind)
        if inner is not None:
            return (kind.__name__, *map(self.parts, inner(thing)))
        if kind is types.FunctionType:
            return self._function(thing)
        return self._named(thing) if kind in _NAMED else self._other(thing, kind)

    def _other(self, thing: Any, kind: type) -> object:
        if isinstance(thing, enum.Enum):
            return "member", self.parts(kind), thing.name, self.parts(thing.value)
        facts = _of_data_type(thing, kind)
        if facts is not None:
            return facts
        if (kind.__module__, kind.__name__) == _DEVICE_FUNCTION:
            types_ = thing.returns.name, *(each.name for each in thing.parameters)
            return "source", thing.name, thing.source, thing.file, thing.line, types_
        if "__dataclass_params__" in kind.__dict__ and "__getattribute__" not in kind.__dict__:
            fields = [getattr(thing, name) for name in kind.__dataclass_fields__]  # type: ignore[attr-defined]
            return "record", self.parts(kind), *map(self.parts, fields)
        raise UnsafeError(f"an object of type {kind.__module__}.{kind.__qualname__}")

    @staticmethod
    def _module(thing: types.ModuleType) -> object:
        if sys.modules.get(thing.__name__) is not thing:
            raise UnsafeError(f"the module {thing.__name__} is not the one by its name")
        return "module", thing.__name__

    @staticmethod
    def _named(thing: Any) -> object:
        module = getattr(thing, "__module__", None) or getattr(
            getattr(thing, "__objclass__", None), "__module__", None
        )
        if not isinstance(module, str) or not is_same(module, thing.__qualname__, thing):
            raise UnsafeError(f"{thing!r} can't be found by its name")
        return "named", module, thing.__qualname__

    def _function(self, function: types.FunctionType) -> object:
        module, name = function.__module__ or "", function.__qualname__
        if module.startswith(_OF_LANGUAGE) and is_same(module, name, function):
            return "named", module, name
        marks = function.__dict__
        if marks.get("_cudacore_tile_function") is function:  # what ct.function() made
            return "function", self.parts(marks["__wrapped__"])
        if "__signature__" in marks:
            raise UnsafeError(f"{name}() has a signature of its own")
        code = function.__code__
        return (
            "code",
            module,
            function.__name__,
            function.__globals__.get("__name__"),
            encoded(code),
            self._source(code),
            self.parts(function.__defaults__),
            self.parts(function.__kwdefaults__),
            tuple(map(self._cell, function.__closure__ or ())),
            tuple(
                sorted(
                    mark
                    for mark in ("_cudacore_host_only", "_cudacore_static")
                    if marks.get(mark) is True
                )
            ),
        )

    def _cell(self, cell: types.CellType) -> object:
        try:
            held = cell.cell_contents
        except ValueError:
            return ("empty",)
        return self.parts(held)

    def _source(self, code: types.CodeType) -> bytes:
        """Return the lines of a function, with those behind it that could belong to it."""
        lines = self._lines(code.co_filename)
        first, end = code.co_firstlineno - 1, max(_lines_of(code), default=0)
        if not 0 <= first < end <= len(lines):
            raise UnsafeError(f"{code.co_filename} does not have the source of {code.co_name}()")
        indent = len(lines[first]) - len(lines[first].lstrip())
        while end < len(lines):
            line = lines[end].lstrip()
            if line and not line.startswith(b"#") and len(lines[end]) - len(line) <= indent:
                break
            end += 1
        return b"\n".join(lines[first:end])

    def _lines(self, name: str) -> list[bytes]:
        found = self._files.get(name)
        if found is None:
            try:
                with open(name, "rb") as file:  # noqa: PTH123 - pathlib takes long to import
                    found = file.read().split(b"\n")
            except (OSError, ValueError):
                raise UnsafeError(f"{name} is not a file") from None
            self._files[name] = found
        return found

    def _class(self, class_: Any) -> object:
        module, name = class_.__module__, class_.__qualname__
        library = str(module).partition(".")[0]
        is_fixed = (
            not class_.__flags__ & _HEAP_TYPE
            or library in sys.stdlib_module_names
            or f"{module}.".startswith(_OF_LANGUAGE)
        )
        if is_fixed and is_same(module, name, class_):
            return "named", module, name
        from cudacore.tile._dtype import from_foreign  # noqa: PLC0415 - most need it not

        dtype = from_foreign(class_)
        if dtype is not None:
            return "type", module, dtype.name
        if isinstance(class_, enum.EnumMeta):
            return self._enum(class_)
        if type(class_) is not type:
            raise UnsafeError(f"the class {name} has a metaclass")
        members = [
            (key, self.parts(value))
            for key, value in vars(class_).items()
            if key not in _BESIDES and not _is_besides(value)
        ]
        bases = map(self.parts, class_.__bases__)
        return "class", module, name, tuple(bases), tuple(members), self._fields(class_)

    def _fields(self, class_: Any) -> object:
        """Return what tells how a dataclass was declared."""
        if "__dataclass_params__" not in vars(class_):
            return None
        import dataclasses  # noqa: PLC0415 - there is a dataclass, so it is loaded

        fields = []
        for field in class_.__dataclass_fields__.values():
            if field.default_factory is not dataclasses.MISSING:
                raise UnsafeError(f"{class_.__qualname__} makes a default value")
            has_default = field.default is not dataclasses.MISSING
            default = self.parts(field.default) if has_default else ("none",)
            flags = field.init, field.repr, bool(field.kw_only), repr(field._field_type)  # noqa: SLF001 - no other way
            fields.append((field.name, default, *flags))
        return repr(class_.__dataclass_params__), tuple(fields)

    def _enum(self, class_: Any) -> object:
        for key, value in vars(class_).items():
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            if code is not None and code.co_filename != enum.__file__:
                raise UnsafeError(f"{class_.__qualname__}.{key}() is code in an enumeration")
        bases = [each for each in class_.__bases__ if not is_same("enum", each.__qualname__, each)]
        members = [
            (name, each.name, self.parts(each.value)) for name, each in class_.__members__.items()
        ]
        parts = tuple(map(self.parts, bases))
        kinds = tuple(each.__qualname__ for each in class_.__bases__)
        return "enum", class_.__module__, class_.__qualname__, kinds, parts, tuple(members)


def _of_data_type(thing: Any, kind: Any) -> object:
    """Return what tells a data type or a number of any library; None if it is something else."""
    from cudacore.tile._dtype import DType, from_foreign  # noqa: PLC0415 - most need it not

    if kind is DType:
        return "dtype", thing.name
    dtype = from_foreign(thing)
    if dtype is not None:
        return "foreign", kind.__module__, kind.__name__, dtype.name
    dtype = from_foreign(kind)
    if dtype is not None:
        return "number", kind.__module__, dtype.name, encoded(dtype.python_type(thing))
    return None


def _is_besides(value: object) -> bool:
    """Return whether something in a class was not written by its author."""
    if isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return True
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return code is not None and code.co_filename == _GENERATED


def _lines_of(code: types.CodeType) -> Iterator[int]:
    """Yield the numbers of all lines that have code of a function, nested ones included."""
    yield code.co_firstlineno
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _lines_of(constant)
