# SPDX-License-Identifier: Apache-2.0
"""What kernels read of the program around them while they are evaluated.

A compiled kernel holds for as long as all of that means the same.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from types import ModuleType

from cudacore.tile._fingerprint import Fingerprints, UnsafeError, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    #: The names of a module, one of them, and what it stands for.
    Watched = tuple[dict[str, Any], str, object]

#: A name of a module, or an attribute of one; names may be those of Python itself.
Place = tuple[str, str, str]

_NAME, _ATTRIBUTE = "name", "attribute"
_LANGUAGE = "cudacore.tile"
_ABSENT = object()


class Reads:
    """Notes what is read, each thing with its fingerprint at that time."""

    def __init__(self) -> None:
        self.found: dict[Place, bytes] = {}
        self._watched: dict[tuple[int, str], Watched] = {}
        self.trouble = ""
        self._fingerprints = Fingerprints()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what this thread reads in the block."""
        outer = _active.reads
        _active.reads = self
        try:
            yield
        finally:
            _active.reads = outer

    @property
    def watched(self) -> list[Watched]:
        """Each name that may change, with what it stood for when it was first read."""
        return list(self._watched.values())

    def watch(self, names: dict[str, Any], name: str, thing: object) -> None:
        """Watch a name of a module, unless it can't come to stand for something else."""
        if name in names and _may_change(names, thing):
            self._watched.setdefault((id(names), name), (names, name, thing))

    def add(self, place: Place, thing: object) -> None:
        """Note that a place holds an object."""
        if self.trouble:
            return
        try:
            fingerprint = _fingerprint(self._fingerprints, thing)
        except UnsafeError as error:
            self.trouble = f"{place[2]}: {error}"
            return
        if self.found.setdefault(place, fingerprint) != fingerprint:
            self.trouble = f"{place[2]} changed"


class _Active(threading.local):
    reads: Reads | None = None


_active = _Active()


def note_name(names: dict[str, Any], name: str, thing: object = _ABSENT) -> None:
    """Note what a name stands for in the module that has these names; nothing if it is absent."""
    reads = _active.reads
    if reads is None:
        return
    reads.watch(names, name, thing)
    module = names.get("__name__")
    if not isinstance(module, str) or getattr(sys.modules.get(module), "__dict__", None) is not (
        names
    ):
        reads.trouble = reads.trouble or f"the module that has {name} is not loaded by its name"
        return
    reads.add((_NAME, module, name), thing)


def note_attribute(module: ModuleType, name: str, thing: object = _ABSENT) -> None:
    """Note what an attribute of a module is; nothing if it is absent."""
    if _active.reads is not None:
        _active.reads.watch(vars(module), name, thing)
        if sys.modules.get(module.__name__) is not module:
            note_trouble(f"the module {module.__name__} is not loaded by its name")
            return
        _active.reads.add((_ATTRIBUTE, module.__name__, name), thing)


def note_trouble(what: str) -> None:
    """Note that something was read that can't be told in another process."""
    if _active.reads is not None:
        _active.reads.trouble = _active.reads.trouble or what


def still_hold(reads: Iterable[tuple[Place, bytes]]) -> bool:
    """Return whether all places mean what they meant when they were noted."""
    fingerprints = Fingerprints()
    try:
        return all(_now(fingerprints, place) == noted for place, noted in reads)
    except UnsafeError:
        return False


def watched_at(places: Iterable[Place]) -> list[Watched]:
    """Return what places that were noted by an earlier process stand for in this one."""
    reads = Reads()
    for _, module, name in places:
        names = vars(sys.modules[module])
        reads.watch(names, name, names.get(name))
    return reads.watched


def _may_change(names: Mapping[str, Any], thing: object) -> bool:
    """Return whether a name of a module may come to stand for something else."""
    module = str(names.get("__name__"))
    return not isinstance(thing, ModuleType) and not f"{module}.".startswith("cudacore.")


def _now(fingerprints: Fingerprints, place: Place) -> bytes:
    kind, module, name = place
    if kind == _ATTRIBUTE and module == _LANGUAGE and name not in vars(sys.modules[module]):
        # What nobody has named yet in this process is what the language has by that name.
        home = sys.modules[module]._NAMES.get(name)  # noqa: SLF001 - the package's own
        if home is not None and f"{module}.{home}" not in sys.modules:
            return encoded(("named", f"{module}.{home}", name))
    return _fingerprint(fingerprints, _read(place))


def _fingerprint(fingerprints: Fingerprints, thing: object) -> bytes:
    return encoded("absent") if thing is _ABSENT else fingerprints.of(thing)


def _read(place: Place) -> object:
    kind, name, key = place
    module = sys.modules.get(name)
    if module is None:
        raise UnsafeError(f"the module {name} is not loaded")
    if kind == _ATTRIBUTE:
        try:
            return getattr(module, key, _ABSENT)
        except Exception as error:  # noqa: BLE001 - from a module's own __getattr__
            raise UnsafeError(str(error)) from None
    names = vars(module)
    if key in names:
        return names[key]
    return builtins_of(names).get(key, _ABSENT)


def builtins_of(names: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the names of Python itself that a module with these names sees."""
    found = names.get("__builtins__", {})
    return found if isinstance(found, dict) else vars(found)
