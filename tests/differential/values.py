# SPDX-License-Identifier: Apache-2.0
"""Inputs for instructions: for each type, special values and random ones, always the same.

An arena contains an array for each type and operand; thread i of a kernel reads element i. The
first lanes pair the most special values of one operand with those of the next.
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache

_MASK = 2**64 - 1


class Random:
    """SplitMix64: the same numbers on every machine and in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._state = zlib.crc32(seed.encode()) * 0x9E3779B97F4A7C15 & _MASK

    def bits(self, count: int) -> int:
        value = 0
        for _ in range((count + 63) // 64):
            self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
            z = self._state
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
            z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
            value = value << 64 | z ^ z >> 31
        return value & ((1 << count) - 1)

    def below(self, limit: int) -> int:
        return self.bits(62) % limit

    def pick(self, values: Sequence[int]) -> int:
        return values[self.below(len(values))]


def _f32(*values: float) -> list[int]:
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]


def _f64(*values: float) -> list[int]:
    return [struct.unpack("<Q", struct.pack("<d", value))[0] for value in values]


def _f16(*values: float) -> list[int]:
    return [struct.unpack("<H", struct.pack("<e", value))[0] for value in values]


_HALVES = (
    1.5, -2.5, 0.5, -0.5, 0.25, 2, 3, -3, 4, 7, 10, 100, 127, 128, -128, -129, 255, 256, 0.1, 1 / 3,
    -1.5, 3.5, 0.75, 6, 5, 9, 448, 464, 480, 2.0**-6, 2.0**-9, 2.0**-10, 2.0**-14, 2.0**-16,
    2.0**-17, 1.75,
)  # fmt: skip
_SINGLES = (
    65504, 65520, 65536, 57344, 61440, 32767, 32768, -32768, -32769, 2.0**31, -(2.0**31), 2.0**32,
    2.0**63, -(2.0**63), 2.0**64, 2.0**24, 2.0**23 + 0.5, 2.0**-24, 2.0**-25, 2.0**-126, 2.0**-120,
    3.14159265, -1.5707963, 88.7, 128.5, -126.5, -149, -150, 1e-30, 1e30, 2.0**127, 2.0**-127,
)  # fmt: skip

#: A few values that are combined in every pair, and others that matter to some instruction.
_FLOATS: dict[str, tuple[int, int, list[int], list[int]]] = {
    "f32": (
        32, 23,
        [0, 1 << 31, *_f32(1, -1), 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF812345, 1, 0x807FFFFF,
         0x00800000, 0x7F7FFFFF],
        [*_f32(*_HALVES, *_SINGLES), 0x3F800001, 0x3F7FFFFF, 0x3EFFFFFF, 0x4EFFFFFF, 0xCF000001,
         0x4F7FFFFF, 0x5EFFFFFF, 0x007FFFFF, 0x00400000, 0x80000001, 0x00800001, 0xFF7FFFFF,
         0x7FFFFFFF, 0x33800000, 0x38D1B717, 0x477FEFFF, 0x477FF000, 0x7F7F8000, 0x7F7F7FFF],
    ),
    "f64": (
        64, 52,
        [0, 1 << 63, *_f64(1, -1), 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0xFFF123456789ABCD, 1,
         0x800FFFFFFFFFFFFF, 1 << 52, 0x7FEFFFFFFFFFFFFF],
        [*_f64(*_HALVES, *_SINGLES), 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0x47EFFFFFE0000000,
         0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000000, 0x380FFFFFC0000000,
         0x41DFFFFFFFC00000, 0x41E0000000000001, 0x43DFFFFFFFFFFFFF, 0x43E0000000000001,
         0x000FFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3810000000000000, 0x43F0000000000000,
         0x40EFFC0000000000, 0x3FDFFFFFFFFFFFFF],
    ),
    "f16": (
        16, 10,
        [0, 1 << 15, *_f16(1, -1), 0x7C00, 0xFC00, 0x7E00, 0xFD23, 1, 0x83FF, 0x0400, 0x7BFF],
        [*_f16(*_HALVES), 0x3C01, 0x3BFF, 0x03FF, 0x0200, 0x8001, 0x0401, 0xFBFF, 0x7FFF, 0x3555],
    ),
    "bf16": (
        16, 7,
        [0, 1 << 15, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0xFF91, 1, 0x807F, 0x0080, 0x7F7F],
        [value >> 16 for value in _f32(*_HALVES, *_SINGLES)]
        + [0x3F81, 0x3F7F, 0x007F, 0x0040, 0x8001, 0x0081, 0xFF7F, 0x7FFF],
    ),
}  # fmt: skip


def _integers(bits: int) -> tuple[list[int], list[int]]:
    top = 1 << bits
    core = [0, 1, top - 1, top // 2, top // 2 - 1, 2, top - 2, top // 2 + 1, 3, 0x55 * (top // 255)]
    other = [7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF,
             0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0xAAAAAAAAAAAAAAAA, 1 << 31, 1 << 32,
             (1 << 32) - 1, 0x0123456789ABCDEF, top - 8, top - 128, top - 129, top - 32768]  # fmt: skip  # noqa: E501
    return [value % top for value in core], [value % top for value in other]


def _float_source(name: str) -> tuple[list[int], list[int], Callable[[Random], int]]:
    bits, mantissa, core, other = _FLOATS[name]
    bias = (1 << (bits - mantissa - 2)) - 1

    def draw(random: Random) -> int:
        if random.below(3) == 0:
            return random.bits(bits)
        exponent = bias - 12 + random.below(24)
        return random.bits(1) << (bits - 1) | exponent << mantissa | random.bits(mantissa)

    return core, other, draw


def _integer_source(bits: int) -> tuple[list[int], list[int], Callable[[Random], int]]:
    core, other = _integers(bits)

    def draw(random: Random) -> int:
        if random.below(4) == 0:
            return (random.below(400) - 200) % (1 << bits)
        return random.bits(bits)

    return core, other, draw


def _small(*values: int, limit: int) -> tuple[list[int], list[int], Callable[[Random], int]]:
    return list(values), [], lambda random: random.below(limit)


_SOURCES: dict[str, Callable[[], tuple[list[int], list[int], Callable[[Random], int]]]] = {
    **{name: lambda name=name: _float_source(name) for name in _FLOATS},
    **{
        f"{letter}{bits}": lambda bits=bits: _integer_source(bits)
        for letter in "bus"
        for bits in (8, 16, 32, 64)
    },
    "shift": lambda: _small(0, 1, 31, 32, 33, 63, 64, 65, 2**31, 2**32 - 1, 255, 256, limit=70),
    "position": lambda: _small(0, 1, 5, 31, 32, 63, 64, 255, 256, limit=64),
    "selector": lambda: _small(0x3210, 0x7654, 0xFEDC, 0x89AB, 0, 0xFFFF, limit=2**16),
    "nth": lambda: _small(0, 1, 2**32 - 1, 2, 2**32 - 2, 31, limit=5),
    "lane": lambda: _small(0, 1, 31, 2, 3, 16, limit=32),
    "count": lambda: _small(0, 1, 2, 3, limit=100000),
    "flag": lambda: _small(0, 1, limit=2),
}

_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
_SMALL_WIDTHS = dict.fromkeys(("shift", "position", "selector", "nth", "lane", "count", "flag"), 4)


def size_of(kind: str) -> int:
    """Return the size of a value in bytes."""
    if kind.startswith(("exact_", "random_", "kept")):
        return 8 if kind.endswith("f64") else 4
    if kind in _SMALL_WIDTHS:
        return 4
    if kind in ("b128", "b256"):
        return int(kind[1:]) // 8
    if kind.startswith("nonzero."):
        return size_of(kind.removeprefix("nonzero."))
    base, parts = _parts(kind)
    if base == "e2m1":
        return max(parts // 2, 1)
    if parts > 1 or base in _MINI:
        return max(1, _MINI.get(base, 0) or size_of(base)) * parts
    return _BYTES[kind.lstrip("busf")]


#: How many bytes a small float takes in a packed operand; two e2m1 share one.
_MINI = {"e4m3": 1, "e5m2": 1, "e2m3": 1, "e3m2": 1, "ue8m0": 1, "ue5m3": 1, "e2m1": 1}


def _parts(kind: str) -> tuple[str, int]:
    base, x, count = kind.rpartition("x")
    if x and count.isdigit():
        return base, int(count)
    return kind, 1


def values(kind: str, slot: int, lanes: int) -> list[int]:
    """Make operand `slot` of a kind for that many lanes."""
    if kind.startswith(("exact_", "random_", "kept")):
        from . import matrix_values  # It imports this module.

        return matrix_values.values(kind, slot, lanes)
    random = Random(f"{kind} {slot} {lanes}")
    if kind.startswith("nonzero."):
        kind = kind.removeprefix("nonzero.")
        return [value or 3 for value in values(kind, slot, lanes)]
    if kind in ("b128", "b256"):
        return [random.bits(int(kind[1:])) for _ in range(lanes)]
    base, parts = _parts(kind)
    if base == "e2m1":
        return [random.bits(8 * size_of(kind)) for _ in range(lanes)]
    if base in _MINI:
        bits = 8 * _MINI[base]
        return [random.bits(bits * parts) for _ in range(lanes)]
    if parts > 1:
        bits = 8 * size_of(base)
        columns = [values(base, slot + 10 * part, lanes) for part in range(parts)]
        return [
            sum(value << (bits * part) for part, value in enumerate(row))
            for row in zip(*columns, strict=True)
        ]
    core, other, draw = _SOURCES[base]()
    return list(_fill(core, other, draw, random, slot, lanes))


def _fill(
    core: list[int],
    other: list[int],
    draw: Callable[[Random], int],
    random: Random,
    slot: int,
    lanes: int,
) -> Iterator[int]:
    digit = slot % 10
    part = slot // 10
    pairs = min(len(core) ** 2, lanes * 9 // 16)
    for lane in range(lanes):
        if lane < pairs:
            # Operands 0 and 1 run through all pairs; others jump around.
            turn = (lane + 5 * part) % len(core) ** 2
            if digit == 0:
                yield core[turn % len(core)]
            elif digit == 1:
                yield core[(turn // len(core) + turn) % len(core)]
            else:
                yield core[(turn * (digit + 3) + digit) % len(core)]
        elif lane - pairs < len(other) and lane < lanes * 7 // 8:
            yield other[(lane - pairs + digit * 7 + part * 3) % len(other)]
        elif random.below(5) == 0:
            yield random.pick(core + other)
        else:
            yield draw(random)


def pack(kind: str, numbers: list[int]) -> bytes:
    size = size_of(kind)
    return b"".join(number.to_bytes(size, "little") for number in numbers)


class Arena:
    """The input of all kernels with a number of lanes; grows while kernels are written."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.bytes = bytearray()
        self._offsets: dict[tuple[str, int], int] = {}
        self._digests: dict[tuple[str, int], int] = {}

    def offset(self, kind: str, slot: int) -> int:
        """Return where the array of an operand begins."""
        key = (kind, slot)
        found = self._offsets.get(key)
        if found is None:
            found = self._offsets[key] = len(self.bytes)
            packed = pack(kind, values(kind, slot, self.lanes))
            self._digests[key] = zlib.crc32(packed)
            self.bytes += packed
            self.bytes += bytes(-len(self.bytes) % 16)
        return found

    def digest(self, kind: str, slot: int) -> int:
        self.offset(kind, slot)
        return self._digests[kind, slot]


@cache
def arena(lanes: int) -> Arena:
    return Arena(lanes)
