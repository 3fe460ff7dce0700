# SPDX-License-Identifier: Apache-2.0
"""Compares the results of two devices, according to what PTX guarantees for each result."""

import math
import struct
from dataclasses import dataclass

from .items import Item, Output
from .values import values

_FORMATS = {"f32": (32, 23), "f64": (64, 52), "f16": (16, 10), "bf16": (16, 7)}

#: The absolute errors that PTX allows for sin.approx and cos.approx, by the largest argument;
#: beyond that, it guarantees nothing.
_SINE = ((2 * math.pi, 2.0**-20.5), (100 * math.pi, 2.0**-14.7))


def _split(kind: str) -> tuple[str, int]:
    return (kind[:-2], 2) if kind.endswith("x2") else (kind, 1)


def is_nan(kind: str, bits: int) -> bool:
    width, mantissa = _FORMATS[kind]
    return bits & ((1 << (width - 1)) - 1) > ((1 << (width - 1 - mantissa)) - 1) << mantissa


def value_of(kind: str, bits: int) -> float:
    if kind == "f64":
        return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
    if kind == "f16":
        return float(struct.unpack("<e", bits.to_bytes(2, "little"))[0])
    if kind == "bf16":
        bits <<= 16
    return float(struct.unpack("<f", bits.to_bytes(4, "little"))[0])


def _ordinal(kind: str, bits: int) -> int:
    """Return an integer such that neighboring values differ by one."""
    width, _ = _FORMATS[kind]
    sign = 1 << (width - 1)
    return -(bits ^ sign) if bits & sign else bits


@dataclass
class Agreement:
    """The result of comparing an item."""

    values: int = 0
    same: int = 0
    within: int = 0
    most_ulps: int = 0
    wrong: str = ""

    def add(self, other: "Agreement") -> None:
        self.values += other.values
        self.same += other.same
        self.within += other.within
        self.most_ulps = max(self.most_ulps, other.most_ulps)


def compare(item: Item, expected: bytes, actual: bytes) -> Agreement:
    """Compare the outputs of an item; `wrong` names the first difference that is too large."""
    agreement = Agreement()
    expected, actual = canonical(item, expected), canonical(item, actual)
    for output in item.outputs:
        if output.mode != "skip":
            _compare_array(output, _modes(item, output), expected, actual, agreement)
    return agreement


def canonical(item: Item, output: bytes) -> bytes:
    """Map all outputs that differ only in what is not compared to the same bytes."""
    kept = bytearray(output)
    for array in item.outputs:
        begin, end = array.offset, array.offset + array.width * array.count
        if array.mode == "skip":
            kept[begin:end] = bytes(end - begin)
        elif array.mode == "sorted":
            parts = [kept[at : at + array.width] for at in range(begin, end, array.width)]
            kept[begin:end] = b"".join(sorted(parts, key=bytes))
    return bytes(kept)


def _modes(item: Item, output: Output) -> list[str]:
    """Return the mode of each element."""
    rule, _, slot = output.mode.partition(".")
    if rule != "sine":
        return [output.mode] * output.count
    modes: list[str] = []
    for bits in values("f32", int(slot), item.lanes):
        argument = abs(value_of("f32", bits))
        bound = next((bound for most, bound in _SINE if argument <= most), None)
        # Infinities and NaNs have no sine.
        beyond = "skip" if math.isfinite(argument) else "nan.f32"
        modes.append(beyond if bound is None else f"approx.f32:0:{bound!r}")
    return modes


def _compare_array(
    output: Output, modes: list[str], expected: bytes, actual: bytes, into: Agreement
) -> None:
    width = output.width
    begin, end = output.offset, output.offset + width * output.count
    into.values += output.count - modes.count("skip")
    if "skip" not in modes and expected[begin:end] == actual[begin:end]:
        into.same += output.count
        return
    for lane, mode in enumerate(modes):
        if mode == "skip":
            continue
        at = begin + lane * width
        want = int.from_bytes(expected[at : at + width], "little")
        got = int.from_bytes(actual[at : at + width], "little")
        if want == got:
            into.same += 1
            continue
        close, ulps = _close(mode, want, got)
        if close:
            into.within += 1
            into.most_ulps = max(into.most_ulps, ulps)
        elif not into.wrong:
            into.wrong = (
                f"element {lane} of the array at {output.offset}: the GPU has"
                f" {want:#0{2 * width + 2}x}, this device {got:#0{2 * width + 2}x} ({mode})"
            )


def _close(mode: str, want: int, got: int) -> tuple[bool, int]:
    rule, _, rest = mode.partition(".")
    if rule in ("bits", "sorted"):
        return False, 0
    kind, *bounds = rest.split(":")
    base, parts = _split(kind)
    bits = _FORMATS[base][0]
    worst = 0
    for part in range(parts):
        mask = (1 << bits) - 1
        a, b = want >> (bits * part) & mask, got >> (bits * part) & mask
        if a == b:
            continue
        if is_nan(base, a) and is_nan(base, b):
            continue
        if rule == "nan" or is_nan(base, a) or is_nan(base, b):
            return False, 0
        x, y = value_of(base, a), value_of(base, b)
        relative, absolute = (float(bound) for bound in bounds)
        if math.isinf(x) or math.isinf(y):
            # One overflows and the other just doesn't.
            largest = value_of(base, _largest(base))
            x, y = (max(-largest, min(largest, z)) for z in (x, y))
        # Each may be that far from the true result.
        if abs(x - y) > 2 * max(relative * max(abs(x), abs(y)), absolute):
            return False, 0
        worst = max(worst, abs(_ordinal(base, a) - _ordinal(base, b)))
    return True, worst


def _largest(kind: str) -> int:
    width, mantissa = _FORMATS[kind]
    return (((1 << (width - 1 - mantissa)) - 1) << mantissa) - 1
