# SPDX-License-Identifier: Apache-2.0
"""Items whose results on the simulated device differ from the recorded GPU, and why."""

import re

WARP = "which warp runs where is the scheduler's choice"

_RULES = ((r"special\.%warpid ", WARP),)
_COMPILED = tuple((re.compile(name), why) for name, why in _RULES)


def why_different(item: str) -> str:
    """Return why an item may differ; "" if it must not."""
    return next((why for name, why in _COMPILED if name.match(item)), "")
