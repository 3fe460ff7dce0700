# SPDX-License-Identifier: Apache-2.0
"""Graphs as text for Graphviz, and as pictures where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore._core import _GraphDefinition

# Graphviz needs minutes for graphs with many more nodes, and nobody sees anything then.
MOST_NODES = 300
_SECONDS = 10


def text(definition: _GraphDefinition, flags: int) -> str:
    """Return a graph as Graphviz text."""
    # The driver writes only to files.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.dot"
        definition.write_dot(path, flags)
        return path.read_text(encoding="utf-8", errors="replace")


def svg(definition: _GraphDefinition) -> str | None:
    """Return a picture; None if Graphviz is missing or fails, or the graph is too large."""
    dot = shutil.which("dot")
    if dot is None or definition.node_count() > MOST_NODES:
        return None
    try:
        drawn = subprocess.run(  # noqa: S603
            [dot, "-Tsvg"],
            input=text(definition, 0).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return drawn.stdout.decode("utf-8", errors="replace")
