# SPDX-License-Identifier: Apache-2.0
"""Elements of matrices, in registers."""

import struct

from .values import Random

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8,
        "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}  # fmt: skip


def values(kind: str, slot: int, lanes: int) -> list[int]:
    """Return registers of elements: small integers, whose products are exact, or random ones.

    For a sparse matrix, also which elements of each group are kept.
    """
    if kind.startswith("kept"):
        random = Random(f"{kind} {slot} {lanes}")
        groups = (0b0100, 0b1110) if kind == "kept_32" else (4, 8, 12, 9, 13, 14)
        return [sum(random.pick(groups) << (4 * group) for group in range(8)) for _ in range(lanes)]
    variant, _, element = kind.partition("_")
    random = Random(f"{kind} {slot} {lanes}")
    bits = BITS[element]
    per = max(1, 32 // bits)
    return [
        sum(_element(element, variant, random) << (bits * i) for i in range(per))
        for _ in range(lanes)
    ]


def _element(element: str, variant: str, random: Random) -> int:
    if element in ("s8", "u8", "s4", "u4", "b1"):
        return random.bits(BITS[element])
    if element == "s32":
        return (random.below(2001) - 1000) % 2**32 if random.below(8) else 0x7FFFFF00
    number: float = random.below(17) - 8
    if element == "e5m2":
        number = random.below(9) - 4
    if variant == "random":
        number = (random.below(2**24) - 2**23) / 2**23
    if element == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", number))[0])
    single = int(struct.unpack("<I", struct.pack("<f", number))[0])
    if element == "f32":
        return single
    if element == "tf32":
        return single & 0xFFFFE000
    if element == "bf16":
        return single >> 16
    half = int(struct.unpack("<H", struct.pack("<e", number))[0])
    if element == "f16":
        return half
    if element == "e5m2":
        return half >> 8
    # e4m3 from its table: only small numbers.
    if number == 0:
        return 0
    sign = 0x80 if number < 0 else 0
    exponent = max((half >> 10 & 31) - 15 + 7, 0)
    if exponent < 1:
        return sign | 1
    return sign | exponent << 3 | (half >> 7 & 7)
