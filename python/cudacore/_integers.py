# SPDX-License-Identifier: Apache-2.0
"""What counts as an int where Python code takes one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from typing_extensions import TypeIs


def is_int(value: object) -> TypeIs[SupportsIndex]:
    """Tell whether a value is an int or stands for one; a bool doesn't."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
