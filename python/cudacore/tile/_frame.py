# SPDX-License-Identifier: Apache-2.0
"""The variables of a function that is being evaluated, and the loops and contexts it is in."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING

from cudacore.tile._dataclass import dataclass, field
from cudacore.tile._exception import Loc, TileSyntaxError, TileTypeError
from cudacore.tile._value import Undefined

if TYPE_CHECKING:
    from cudacore.tile._function import Code
    from cudacore.tile._globals import Globals
    from cudacore.tile._text import Operation


class Kind(Enum):
    """What a function is evaluated as."""

    KERNEL = auto()
    HELPER = auto()
    GENERATOR = auto()  # a context manager's


class LoopKind(Enum):
    """What continue and break mean."""

    FOR = auto()
    WHILE = auto()
    STATIC = auto()  # unrolled: neither is possible
    BODY = auto()  # the body of a helper, left by break for its early returns


@dataclass(slots=True)
class Jump:
    """A place where control leaves a region, with what the variables hold there."""

    operation: "Operation"
    variables: dict[str, object]
    places: dict[str, Loc]


@dataclass(slots=True)
class Loop:
    """A loop around the statements being evaluated."""

    kind: LoopKind
    context_depth: int
    continues: list[Jump] = field(default_factory=list)
    breaks: list[Jump] = field(default_factory=list)


@dataclass(eq=False)
class Frame:
    """A function that is being evaluated.

    Closures refer to it, and see what its variables hold when they are called.
    """

    kind: Kind
    name: str | None
    filename: str
    names: set[str]
    declared: frozenset[str]
    globals: "Globals"
    levels: tuple["Level", ...] = ()  # the functions around this one, outermost first
    call_site: Loc | None = None
    variables: dict[str, object] = field(default_factory=dict)
    places: dict[str, Loc] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    contexts: list[Callable[[], None]] = field(default_factory=list)  # what leaves each

    @classmethod
    def of_code(cls, kind: Kind, code: "Code", call_site: Loc | None = None) -> "Frame":
        """Return the frame of a function that is no closure."""
        names = set(code.names)
        declared, seen = code.declared, code.globals
        return cls(kind, code.name, code.filename, names, declared, seen, call_site=call_site)

    def load(self, name: str, loc: Loc) -> object:
        """Return what a variable of this function holds."""
        if name not in self.variables:
            raise TileSyntaxError(f"Undefined variable {name} used", loc)
        return checked(self.variables[name], loc)

    def store(self, name: str, value: object, loc: Loc) -> None:
        """Have a variable hold a value."""
        if name not in self.names:
            raise TileSyntaxError(
                f"Cannot assign to '{name}': assignment to a global or nonlocal variable "
                "is not supported; return the value instead",
                loc,
            )
        self.variables[name] = value
        self.places[name] = loc

    def state(self) -> tuple[dict[str, object], dict[str, Loc]]:
        """Return what all variables hold, to go back to it."""
        return dict(self.variables), dict(self.places)

    def restore(self, state: tuple[dict[str, object], dict[str, Loc]]) -> None:
        """Have all variables hold what they held."""
        self.variables, self.places = dict(state[0]), dict(state[1])


@dataclass(frozen=True, eq=False)
class ReturnedFrame:
    """The variables of a function that has returned, as far as a closure uses them."""

    variables: Mapping[str, object]
    names: frozenset[str]

    def load(self, name: str, loc: Loc) -> object:
        """Return what a variable held in the end."""
        if name not in self.variables:
            raise TileSyntaxError(f"Undefined variable {name} used", loc)
        return checked(self.variables[name], loc)


#: A function around a nested one: still running, or returned.
Level = Frame | ReturnedFrame


def checked(value: object, loc: Loc) -> object:
    """Return a value, unless it is none on some path that led here."""
    if isinstance(value, Undefined):
        raise TileTypeError(value.message, loc)
    return value
