# SPDX-License-Identifier: Apache-2.0
"""The commands of ``python -m cudacore``: one module each, imported when it is named.

Such a module has two functions. ``parser(prog)`` makes its argument parser. ``run(parser,
options)`` does the work and returns the exit status. It calls ``parser.error`` for wrong usage that
shows up late.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The exit statuses of all commands, besides 0 and argparse's 2.
FAILED = 1
MISSING = 3

#: Each command's module in this package, and its line of help.
COMMANDS = {
    "cache": ("cache", "show or clear the cache of compiled programs"),
    "compile": ("compile", "compile CUDA C++ to a fat binary, a cubin or PTX; needs no GPU"),
    "doctor": ("doctor", "show what is installed and used, and what is wrong with it"),
    "simulator-path": (
        "simulator_path",
        "print a folder that holds the simulated device as libcuda.so.1, for LD_LIBRARY_PATH",
    ),
}

#: What runs if no command is named.
DEFAULT = "draw"


class Command(Protocol):
    """A module of this package."""

    def parser(self, prog: str) -> argparse.ArgumentParser:
        """Make the parser of the command's arguments."""

    def run(self, parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
        """Do the work; return the exit status."""


def find(arguments: Sequence[str]) -> tuple[Command, argparse.ArgumentParser, list[str]]:
    """Choose the command: its module, its parser, and its own arguments."""
    prog = "python -m cudacore"
    name = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    if name and name not in COMMANDS:
        argparse.ArgumentParser(prog=prog, usage="%(prog)s [COMMAND] ...").error(
            f"there is no command {name!r}; the commands are {', '.join(COMMANDS)}"
        )
    module = COMMANDS[name][0] if name else DEFAULT
    command = cast("Command", import_module(f"{__name__}.{module}"))
    parser = command.parser(f"{prog} {name}".strip())
    return command, parser, list(arguments[1:] if name else arguments)


def listing() -> str:
    """List the commands, for the help of all of them."""
    lines = [f"  {name:<16}{text}\n" for name, (_, text) in COMMANDS.items()]
    return "commands (each has its own --help):\n" + "".join(lines)
