# SPDX-License-Identifier: Apache-2.0
"""A drawing of the memory of a caching pool, from its snapshot."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from cudacore._text import size_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 640
HEIGHT = 14
#: Notebooks become slow with more.
MOST_SEGMENTS = 40
MOST_BLOCKS = 4000


def draw(snapshot: Sequence[Mapping[str, Any]]) -> str:
    """Draw segments as bars, the largest first: filled where buffers are.

    Parameters
    ----------
    snapshot : list of dict
        What `CachingMemoryResource.snapshot` returns.

    Returns
    -------
    str
        SVG, without colors of its own. Pointing at a block shows its size, state and stream.
    """
    shown = sorted(snapshot, key=lambda segment: -segment["total_size"])[:MOST_SEGMENTS]
    if not shown:
        return ""
    largest = shown[0]["total_size"]
    parts: list[str] = []
    drawn = 0
    for row, segment in enumerate(shown):
        scale = WIDTH / segment["total_size"] * max(0.1, segment["total_size"] / largest)
        for block in segment["blocks"]:
            drawn += 1
            if drawn > MOST_BLOCKS:
                break
            parts.append(_block(block, (block["address"] - segment["address"]) * scale, row, scale))
    left_out = len(snapshot) - len(shown)
    note = f"<div>and {left_out:,} smaller segments</div>" if left_out else ""
    if drawn > MOST_BLOCKS:
        note += f"<div>the first {MOST_BLOCKS:,} blocks</div>"
    height = len(shown) * (HEIGHT + 4)
    return (
        f'<svg width="{WIDTH}" height="{height}" viewBox="-1 -1 {WIDTH + 2} {height + 2}" '
        f'fill="currentColor" stroke="currentColor" stroke-width="0.5">{"".join(parts)}</svg>{note}'
    )


def _block(block: Mapping[str, Any], left: float, row: int, scale: float) -> str:
    is_used = block["state"] == "active_allocated"
    stream = "" if block["stream"] is None else f", stream {block['stream']:#x}"
    title = f"{size_text(block['size'])} at {block['address']:#x}: {block['state']}{stream}"
    return (
        f'<rect x="{left:.2f}" y="{row * (HEIGHT + 4)}" width="{block["size"] * scale:.2f}" '
        f'height="{HEIGHT}" fill-opacity="{0.6 if is_used else 0}">'
        f"<title>{escape(title)}</title></rect>"
    )
