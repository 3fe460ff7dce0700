# SPDX-License-Identifier: Apache-2.0
"""From constraints to CUDA C++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudacore import _tile
from cudacore.tile._compile import compile_to_text
from cudacore.tile._entry import entry_name
from cudacore.tile._exception import TileUnsupportedFeatureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore._tile import Generated
    from cudacore.tile._kernel import kernel
    from cudacore.tile.compilation._constraint import ParameterConstraint

_OLDEST = 75
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(cudacore/tile/[^>]+)>", re.MULTILINE)
#: What the text of a kernel calls the hints that its code depends on.
_HINTS = {"occupancy": "occupancy", "num_worker_warps": "warps"}


def generate(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int, symbol: str = ""
) -> Generated:
    """Evaluate the kernel's function, and print CUDA C++.

    Raises
    ------
    TileError
        The kernel can't be compiled.
    """
    if architecture < _OLDEST:
        raise TileUnsupportedFeatureError(
            f"tile kernels need compute capability {_OLDEST // 10}.{_OLDEST % 10}, and this device "
            f"has {architecture // 10}.{architecture % 10}"
        )
    hints = of.hints.resolve(f"sm_{architecture}")
    text = compile_to_text(
        of.function,
        constraints,
        {_HINTS[name]: hint for name, hint in hints.items() if name in _HINTS},
        symbol or entry_name(of.__name__),
    )
    try:
        return _tile.generate(text, arch=architecture)
    except _tile.Error as error:
        raise TileUnsupportedFeatureError(error.message, text.place(error.text_line)) from None


def headers_of(source: str) -> dict[str, str]:
    """Return the headers of this package that a source includes, and that they include."""
    texts = _tile.headers()
    found: dict[str, str] = {}
    wanted = _INCLUDE.findall(source)
    while wanted:
        name = wanted.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            wanted += _INCLUDE.findall(texts[name])
    return dict(sorted(found.items()))
