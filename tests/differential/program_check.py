# SPDX-License-Identifier: Apache-2.0
"""Whether a program computed what Python computes, and what a GPU computed."""

import math
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from .compare import Agreement, compare
from .program_archive import PART, KeptOutput
from .program_runs import Run

if TYPE_CHECKING:
    from .items import Item

_CODES = {"f32": "<f", "f64": "<d"}


def wrong_by_reference(run: Run, output: bytes) -> str:
    """Return the first result that differs from Python's; "" if all agree."""
    if run.reference is None:
        return ""
    for kind, array, expected in zip(
        run.kinds, run.arrays, run.reference(run.input_bytes()), strict=True
    ):
        actual = output[array.offset : array.offset + array.width * array.count]
        if expected is None:
            continue
        if run.ulps:
            wrong = _too_far(run, kind, expected, actual)
            if wrong:
                return wrong
        elif expected != actual:
            at = next(i for i, (a, b) in enumerate(zip(expected, actual, strict=True)) if a != b)
            at -= at % array.width
            return (
                f"element {at // array.width} is {actual[at : at + array.width].hex()}, not "
                f"{expected[at : at + array.width].hex()}"
            )
    return ""


def _ulp(kind: str, value: float) -> float:
    if kind == "f64":
        return math.ulp(value)
    _, exponent = math.frexp(value)
    return math.ldexp(1.0, max(exponent - 24, -149))


def _too_far(run: Run, kind: str, expected: bytes, actual: bytes) -> str:
    absolute = float(run.arrays[0].mode.split(":")[2])
    wanted = [value for (value,) in struct.iter_unpack("<d", expected)]
    results = [value for (value,) in struct.iter_unpack(_CODES[kind], actual)]
    largest = 1.7976931348623157e308 if kind == "f64" else 3.4028234663852886e38
    for index, (want, got) in enumerate(zip(wanted, results, strict=True)):
        # Python raises an exception if the result is an infinity or a NaN.
        if math.isnan(want) or want == got or (abs(want) >= largest * 0.9999999 and want * got > 0):
            continue
        # One more ulp for Python's own error.
        bound = max(run.ulps * _ulp(kind, want), absolute) + _ulp(kind, want)
        if not abs(want - got) <= bound:
            ulps = abs(want - got) / _ulp(kind, want)
            return f"element {index} is {got!r}, not {want!r}: {ulps:.1f} ulps"
    return ""


def against_gpu(run: Run, kept: KeptOutput, output: bytes) -> Agreement:
    """Compare a run's output with what is stored of a GPU's."""
    if kept.size != len(output):
        return Agreement(wrong=f"{len(output)} bytes of output, not {kept.size}")
    expected, wrong = kept.expected(output)
    agreement = compare(cast("Item", SimpleNamespace(outputs=run.arrays)), expected, output)
    if wrong and not agreement.wrong:
        agreement.wrong = f"the bytes from {wrong[0] * PART} on are not those of the GPU"
    return agreement
