# SPDX-License-Identifier: Apache-2.0
"""What names outside a function stand for."""

from collections.abc import Iterator, Mapping
from types import CellType, FunctionType
from typing import Any

from cudacore.tile._reads import builtins_of, note_name


class Globals(Mapping[str, Any]):
    """The builtins, globals and captured variables that a function sees, as they are now.

    What is read of a module is noted; what a function has captured belongs to the function.
    """

    def __init__(self, func: FunctionType) -> None:
        self._names: dict[str, Any] = func.__globals__
        self._builtins = builtins_of(func.__globals__)
        self._captured = dict(zip(func.__code__.co_freevars, func.__closure__ or (), strict=True))

    def __getitem__(self, name: str) -> Any:
        """Return what a name stands for."""
        if name in self._captured:
            try:
                return self._captured[name].cell_contents
            except ValueError:  # not assigned yet
                raise KeyError(name) from None
        for names in (self._names, self._builtins):
            if name in names:
                note_name(self._names, name, names[name])
                return names[name]
        note_name(self._names, name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        """Return whether a name stands for something."""
        if name in self._captured:
            return _is_assigned(self._captured[name])
        return name in self._names or name in self._builtins

    def __iter__(self) -> Iterator[str]:
        """Yield all names."""
        return iter(self.copy())

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.copy())

    def copy(self) -> dict[str, Any]:
        """Return all names with what they stand for, and note none."""
        names = {**self._builtins, **self._names}
        for name, cell in self._captured.items():
            names.pop(name, None)
            if _is_assigned(cell):
                names[name] = cell.cell_contents
        return names


def _is_assigned(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - it raises
    except ValueError:
        return False
    return True
