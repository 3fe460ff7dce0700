# SPDX-License-Identifier: Apache-2.0
"""Where help, messages and pickle say that a class or function is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Public = TypeVar("Public")


def public(module: str) -> Callable[[Public], Public]:
    """Make a decorator that names the public module from which a class or function is imported."""

    def name_module(value: Public) -> Public:
        value.__module__ = module
        return value

    return name_module
