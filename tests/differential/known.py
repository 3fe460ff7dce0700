# SPDX-License-Identifier: Apache-2.0
"""Items whose results on the simulated device differ from the recorded GPU, and why."""

import re

ORDER = "the result depends on the order of lanes, which PTX leaves open"
GLOBAL_ONLY = "PTX has vector atomics for global memory alone; a generic address of shared memory"
BEFORE = "a guarded write that does not happen leaves a register that was never written"
WIDE_FIELD = "a bit field that begins beyond bit 63"
VIDEO = "legacy video instructions with .sat, a second operation or a scale: ptxas emulates them"
RANGE = "sin and cos beyond two pi, where PTX gives no bound"
WARP = "which warp runs where is the scheduler's choice"
SPACE = "the window of constants and parameters counts as global on a GPU"

_RULES = (
    (r"(atom|red)\..* contended", ORDER),
    (r"(atom|red)\..*\.v[248]\b.* shared", GLOBAL_ONLY),
    (r"(mov|set|testp)\..* guarded", BEFORE),
    (r"bf[ei]\.[bsu]64 ", WIDE_FIELD),
    (r"v(add|sub|absdiff|min|max|shl|shr|set|mad)\.", VIDEO),
    (r"(sin|cos)\.approx\.", RANGE),
    (r"special\.%warpid ", WARP),
    (r"isspacep\.global ", SPACE),
)
_COMPILED = tuple((re.compile(name), why) for name, why in _RULES)


def why_different(item: str) -> str:
    """Say why an item may differ; "" where it must not."""
    return next((why for name, why in _COMPILED if name.match(item)), "")


_PROGRAM_RULES = (
    (r"cluster of ", "the sums race with a read, in the kernel itself"),
    (
        r"call_operators_",
        "mul and sub with no rounding: ptxas may fuse them, and the simulated device never does",
    ),
    (
        r"call___(log2?|log10|sin|cos|tan)f_",
        "near the function's zero, PTX bounds the absolute error alone",
    ),
)


def why_program_differs(run: str) -> str:
    """Say why a run of a program may differ; "" where it must not."""
    return next((why for name, why in _PROGRAM_RULES if re.match(name, run)), "")
