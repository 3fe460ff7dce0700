# SPDX-License-Identifier: Apache-2.0
"""The file that a command writes."""

import argparse
import os
from pathlib import Path


def check(
    parser: argparse.ArgumentParser, option: str, output: Path, source: Path | None = None
) -> None:
    """Find out before the work whether the file can be written, and is not the source."""
    if output.is_dir():
        parser.error(f"{option} {output} is a folder; name a file")
    folder = output.resolve().parent
    if not folder.is_dir():
        parser.error(f"{option} {output}: there is no folder {folder}")
    if source and output.exists() and output.samefile(source):
        parser.error(f"{option} {output} is the source, {source}; name another file")
    if not os.access(output if output.exists() else folder, os.W_OK):
        parser.error(f"{option} {output} cannot be written: no permission")
