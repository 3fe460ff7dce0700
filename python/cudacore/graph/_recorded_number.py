# SPDX-License-Identifier: Apache-2.0
"""What a function gets for a number while it is recorded."""

from __future__ import annotations

import operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_REFLECTED: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "and": operator.and_,
    "divmod": divmod,
    "floordiv": operator.floordiv,
    "lshift": operator.lshift,
    "matmul": operator.matmul,
    "mod": operator.mod,
    "mul": operator.mul,
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


class _RecordedNumber:
    """A number that launches can take unchanged; using it otherwise fixes its value.

    Passed to a kernel of cudacore, it becomes a parameter that each replay writes anew. Everything
    else that can be done with it uses its value, and the recording is for that value alone.
    """

    __slots__ = ("_fixed_at", "_value")

    # NumPy leaves operations with it to its own methods.
    __array_ufunc__ = None

    _fixed_at: str | None
    _value: int | float

    def __init__(self, value: float) -> None:
        self._value = value
        self._fixed_at = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What isinstance() asks."""
        return type(self._value)

    def _fix(self) -> int | float:
        """Note where the value is used, and return it."""
        if self._fixed_at is None:
            frame = sys._getframe(1)
            while frame.f_code.co_filename == __file__ and frame.f_back is not None:
                frame = frame.f_back
            self._fixed_at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return self._value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fix(), name)


def _forward(name: str, base: type) -> Callable[..., Any]:
    method = getattr(base, name)
    reflected = _REFLECTED.get(name[3:-2]) if name.startswith("__r") else None

    def call(self: _RecordedNumber, *args: Any) -> Any:
        value = self._fix()
        plain = [one._fix() if type(one) in _TYPES.values() else one for one in args]
        if reflected is not None and len(plain) == 1:
            return reflected(plain[0], value)
        result = method(value, *plain)
        if result is NotImplemented and len(plain) == 1 and name[2:-2] in _REFLECTED:
            return _REFLECTED[name[2:-2]](value, plain[0])
        return result

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


def record_number(value: float) -> _RecordedNumber:
    """Make what stands for a number."""
    return _TYPES[type(value)](value)
