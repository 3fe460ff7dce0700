# SPDX-License-Identifier: Apache-2.0
"""The file that a command writes."""

import argparse
import os
from pathlib import Path


def check(parser: argparse.ArgumentParser, option: str, output: Path) -> None:
    """Find out before the work whether the file can be written."""
    if output.is_dir():
        parser.error(f"{option} {output} is a folder; name a file")
    folder = output.resolve().parent
    if not folder.is_dir():
        parser.error(f"{option} {output}: there is no folder {folder}")
    if not os.access(output if output.exists() else folder, os.W_OK):
        parser.error(f"{option} {output} cannot be written: no permission")
