# SPDX-License-Identifier: Apache-2.0
"""Inputs for programs: the corpus's values, and tamer ones for sums and for functions."""

import math
import struct
from collections.abc import Callable
from functools import cache

from .values import Random, pack, size_of, values

_CODES = {"f16": "<e", "f32": "<f", "f64": "<d"}
_WIDTHS = {"pair": 8, "bool": 1}


def width_of(kind: str) -> int:
    base = kind.rpartition(".")[2]
    return _WIDTHS.get(base) or size_of(base)


def _floats(kind: str, count: int, random: Random, draw: Callable[[Random], float]) -> bytes:
    if kind == "bf16":
        return b"".join(struct.pack("<f", draw(random))[2:] for _ in range(count))
    return b"".join(struct.pack(_CODES[kind], draw(random)) for _ in range(count))


def _unit(random: Random) -> float:
    """Return a number from -1 to 1, with 24 bits."""
    return (random.below(2**24) - 2**23) / 2.0**23


@cache
def array(kind: str, count: int, slot: int) -> bytes:
    """Make an input: ``f32``, or with a property in front, ``eighths.f32``."""
    what, _, base = kind.rpartition(".")
    random = Random(f"{kind} {count} {slot}")
    if base == "pair":
        return b"".join(
            struct.pack("<if", random.below(40) - 20, (random.below(1600) - 800) / 8)
            for _ in range(count)
        )
    if what == "":
        return pack(base, values(base, slot, count))
    if what == "few":
        return pack(base, [random.below(10) for _ in range(count)])
    if what == "random":
        return random.bits(8 * count * size_of(base)).to_bytes(count * size_of(base), "little")
    limit = 32 if base in ("f16", "bf16") else 800
    draws: dict[str, Callable[[Random], float]] = {
        "eighths": lambda r: (r.below(2 * limit) - limit) / 8,  # Their sums are exact.
        "ints": lambda r: float(r.below(9) - 4),
        "unit": _unit,
        "positive": lambda r: abs(_unit(r)) * 50 + 1e-3,
        "tame": lambda r: _unit(r) * 3,
        "wide": lambda r: math.ldexp(_unit(r), r.below(40) - 20),
        "whole": lambda r: float(r.below(64) - 32) / 2,  # Many are special cases for gamma.
    }
    return _floats(base, count, random, draws[what])
