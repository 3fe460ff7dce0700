# SPDX-License-Identifier: Apache-2.0
"""Check that each source file names its license in its first lines; takes paths, or asks git."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".c", ".cpp", ".hpp", ".def", ".map", ".cu", ".py", ".pyi", ".cmake", ".sh"}


def is_source(path: Path) -> bool:
    """Return whether the file must name its license."""
    return path.suffix in SUFFIXES or path.name == "CMakeLists.txt" or path.parts[:1] == (".ci",)


def says_licence(path: Path) -> bool:
    """Return whether the line comes first, or second after a line that must come first."""
    with path.open() as file:
        return any(LINE in line for _, line in zip(range(2), file, strict=False))


def main() -> int:
    """Print each file without the line; return the exit status."""
    given = (
        sys.argv[1:]
        or subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
    )
    paths = [path for path in map(Path, given) if is_source(path) and path.is_file()]
    missing = [path for path in paths if path.stat().st_size > 0 and not says_licence(path)]
    for path in missing:
        print(f"{path}: lacks '{LINE}'", file=sys.stderr)
    if not missing:
        print(f"{len(paths)} files say their licence")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
