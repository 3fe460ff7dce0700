# SPDX-License-Identifier: Apache-2.0
"""The Python names of what a cell of CUDA C++ defines."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from IPython.core.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Container

_CHOSEN = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)

#: Stands for the expression in an error about ``--object``.
OBJECT = "the ObjectCode"


class Named(NamedTuple):
    """A C++ expression and the name that its value gets in Python."""

    python: str
    expression: str

    @classmethod
    def from_option(cls, text: str) -> Named:
        """Read the value of ``--name``: an expression, perhaps after ``name=``.

        Raises
        ------
        UsageError
            There is no expression.
        """
        chosen = _CHOSEN.fullmatch(text)
        expression = (chosen[2] if chosen else text).strip()
        if not expression:
            raise UsageError(f"{text!r} names nothing; write 'axpy<float>' or saxpy='axpy<float>'")
        return cls(in_python(chosen[1]) if chosen else identifier(expression), expression)

    @property
    def is_variable(self) -> bool:
        """Whether it names a variable, as NVRTC writes it: ``&coefficients``."""
        return self.expression.startswith("&")


def identifier(expression: str) -> str:
    """Make the name that says most about an expression: ``axpy_float`` for ``axpy<float>``."""
    return in_python(re.sub(r"\W+", "_", re.sub(r"^\W+|\W+$", "", expression)))


def in_python(name: str) -> str:
    """Spell a name as Python's parser does: it takes the ligature ﬁ for the letters fi."""
    return unicodedata.normalize("NFKC", name)


def check(named: list[Named], taken: Container[str]) -> None:
    """Refuse names that would surprise.

    Parameters
    ----------
    named : list of Named
    taken : container of str
        The names that the shell defines for itself.

    Raises
    ------
    UsageError
        Two of them have one name, or one cannot be written in Python, or hides a name of Python's
        or of the shell's.
    """
    seen: dict[str, str] = {}
    for python, expression in named:
        other = re.sub(r"\W", "_", f"my_{python}")
        option = f"--object {other}" if expression == OBJECT else f"--name {other}='{expression}'"
        choose = f"choose another name, such as {option}"
        if not python.isidentifier() or keyword.iskeyword(python):
            raise UsageError(f"{expression} can't be named {python!r} in Python; {choose}")
        if hasattr(builtins, python) or python in taken:
            raise UsageError(f"{expression} would hide {python}, which Python defines; {choose}")
        if python in seen:
            raise UsageError(
                f"{seen[python]} and {expression} would both be named {python}; {choose}"
            )
        seen[python] = expression
