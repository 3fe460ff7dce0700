# SPDX-License-Identifier: Apache-2.0
"""What a function gets for a number while it is recorded."""

from __future__ import annotations

import operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BINARY: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "and": operator.and_,
    "divmod": divmod,
    "eq": operator.eq,
    "floordiv": operator.floordiv,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lshift": operator.lshift,
    "lt": operator.lt,
    "matmul": operator.matmul,
    "mod": operator.mod,
    "mul": operator.mul,
    "ne": operator.ne,
    "or": operator.or_,
    "pow": pow,
    "rshift": operator.rshift,
    "sub": operator.sub,
    "truediv": operator.truediv,
    "xor": operator.xor,
}

# What makes an object, and what only Python itself looks up.
_NOT_FORWARDED = {
    "__class__",
    "__delattr__",
    "__dir__",
    "__doc__",
    "__getattribute__",
    "__getnewargs__",
    "__getstate__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__setattr__",
    "__sizeof__",
    "__subclasshook__",
}


_SHOWN = {"__format__", "__repr__", "__str__"}


class _RecordedNumber:
    """A number that launches can take unchanged; using it otherwise fixes its value.

    Passed to a kernel of cudacore, it becomes a parameter that each replay writes anew. Everything
    else that can be done with it uses its value, and the recording is for that value alone.
    """

    __slots__ = ("_fixed_at", "_is_over", "_value")

    # NumPy leaves operations with it to its own methods.
    __array_ufunc__ = None

    _fixed_at: str | None
    _is_over: bool
    _value: int | float

    def __init__(self, value: float) -> None:
        self._value = value
        self._fixed_at = None
        self._is_over = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What isinstance() asks."""
        return type(self._value)

    def _fix(self) -> int | float:
        """Note where the value is used, and return it."""
        if self._is_over:
            msg = (
                "a number that was given to a recorded function is used after the recording, which "
                "can't be for its value any more: pass int(n) or float(n) to what keeps it"
            )
            raise RuntimeError(msg)
        if self._fixed_at is None:
            frame = sys._getframe(1)
            while frame.f_code.co_filename == __file__ and frame.f_back is not None:
                frame = frame.f_back
            self._fixed_at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return self._value

    def _end(self) -> None:
        """Let nobody use the value any more, but show it: exceptions may have it in their text."""
        self._is_over = True

    def __getattr__(self, name: str) -> Any:
        if name in _RecordedNumber.__slots__:  # of an object that copy makes
            raise AttributeError(name)
        return getattr(self._fix(), name)

    def __copy__(self) -> int | float:
        return self._fix()

    def __deepcopy__(self, memo: object) -> int | float:
        return self._fix()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self._value), (self._fix(),)


def _forward(name: str, base: type) -> Callable[..., Any]:
    method = getattr(base, name)
    binary = _BINARY.get(name[2:-2])
    reflected = _BINARY.get(name[3:-2]) if name.startswith("__r") else None

    def call(self: _RecordedNumber, *args: Any) -> Any:
        value = self._value if self._is_over and name in _SHOWN else self._fix()
        plain = [one._fix() if type(one) in _TYPES.values() else one for one in args]
        if reflected is not None and len(plain) == 1:
            return reflected(plain[0], value)
        if binary is not None and len(plain) == 1:
            return binary(value, plain[0])  # which may be what the other type does
        return method(value, *plain)

    call.__name__ = name
    return call


def _number_type(base: type) -> type[_RecordedNumber]:
    names = [
        name
        for name in dir(base)
        if name.startswith("__") and callable(getattr(base, name)) and name not in _NOT_FORWARDED
    ]
    members: dict[str, Any] = {name: _forward(name, base) for name in names}
    return type(
        f"Recorded{base.__name__.title()}", (_RecordedNumber,), {"__slots__": (), **members}
    )


_TYPES: dict[type, type[_RecordedNumber]] = {}
_TYPES.update({base: _number_type(base) for base in (int, float)})


def make_number_stand_in(value: float) -> _RecordedNumber:
    """Make what stands for a number."""
    return _TYPES[type(value)](value)


def is_number_stand_in(one: object) -> bool:
    """Tell whether an object stands for a number."""
    return type(one) in _TYPES.values()


def end_number_stand_ins(objects: tuple[object, ...]) -> None:
    """Note that the recording for which these objects were made is over."""
    for one in objects:
        if is_number_stand_in(one):
            one._end()  # type: ignore[attr-defined]
