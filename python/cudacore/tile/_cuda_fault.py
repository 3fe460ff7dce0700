# SPDX-License-Identifier: Apache-2.0
"""Whether the compiler refuses the CUDA C++ of users, or what was generated around it."""

from __future__ import annotations

import re

from cudacore.tile._cuda_text import functions_of
from cudacore.tile._device_function import TYPES, type_name, without_name
from cudacore.tile._exception import Loc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEADER = "#include <cudacore/tile/"
_GUARD = re.compile(
    r"^#ifndef (TILE_HAS_source\d+)\n#define \1\n" r'#line (\d+) "(.*)"\n', re.MULTILINE
)
_HEADERS = {"half": "cuda_fp16.h", "__half": "cuda_fp16.h", "__nv_bfloat16": "cuda_bf16.h"}


def fault_of_user(source: str, log: str, compiles: Callable[[str], bool]) -> Loc | None:
    """Return where in the user's CUDA C++ the first error of a compilation is.

    Parameters
    ----------
    source : str
        The whole translation unit.
    log : str
        What NVRTC says.
    compiles : callable
        Tells whether a translation unit is compiled without errors.

    Returns
    -------
    Loc or None
        The place of the error, or that of the source without which there is none; None if the
        error is not the user's.
    """
    error = re.search(r"^(.+)\((\d+)\): (?:catastrophic )?error", log, re.MULTILINE)
    pieces = list(_pieces(source))
    if error is not None:
        file, line = error[1], int(error[2])
        for place, code in pieces:
            if place.filename == file and place.line <= line <= place.line + code.count("\n"):
                return Loc(line, 0, file)
    for place, code in pieces:
        source = _replaced(source, code)
        if compiles(source):
            return place
    return None


def _pieces(source: str) -> Iterator[tuple[Loc, str]]:
    """Yield the user's sources, and where they are from."""
    users = source.partition(_HEADER)[0]
    parts = _GUARD.split(users)[1:]
    for line, file, code in zip(parts[1::4], parts[2::4], parts[3::4], strict=True):
        yield Loc(int(line), 0, file), code.rpartition("\n#endif\n")[0]


def _replaced(source: str, code: str) -> str:
    """Replace a user's source by functions with names of their own that do nothing."""
    made = []
    calls = {}
    for name, returns, parameters in functions_of(code):
        types = [type_name(each) for each in (returns, *map(without_name, parameters))]
        if not all(each in TYPES for each in types):
            continue
        made += [f"#include <{_HEADERS[each]}>" for each in types if each in _HEADERS]
        calls[name] = f"replaced_{name}"
        listed = ", ".join(types[1:])
        made.append(f"__device__ {types[0]} {calls[name]}({listed}) {{ return {{}}; }}")
    source = source.replace(code, "\n".join(made))
    if not calls:
        return source
    before, header, generated = source.partition(_HEADER)
    named = re.compile(rf"\b({'|'.join(calls)})(?=\()")
    return before + header + named.sub(lambda match: calls[match[1]], generated)
