# SPDX-License-Identifier: Apache-2.0
"""Loads parts of a package when they are first named."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(
    package: str, modules: Mapping[str, str], advise: Callable[[str], str] | None = None
) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : mapping of str to str
        Which of its modules has each name; one of the same name is itself what is named.
    advise : callable, optional
        Says at the end of the message what to write instead of a name that there isn't.
    """

    def load(name: str) -> object:
        if name not in modules:
            advice = "" if advise is None or name.startswith("_") else advise(name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")
        import importlib  # noqa: PLC0415

        module = importlib.import_module(f"{package}.{modules[name]}")
        value = module if modules[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return load
