# SPDX-License-Identifier: Apache-2.0
"""The advice in a `CompileError`, for those who see the log and compile from a command line."""

import re

_COUNT = re.compile(r"\(and \d+ more errors?; see \.log\)")

#: What the message says, and what it means on a command line.
_MISSING_HEADER = (
    "Add its folder to the option include_path, or its text to the option headers",
    "Name the folder that it is in: -I FOLDER",
)


def advice(message: str, log: str, source: str) -> list[str]:
    """Return the lines of a message that are neither in the log nor in the source.

    Parameters
    ----------
    message : str
        That of the `CompileError`. Its first two lines are its head and the first error.
    log : str
        The compiler's.
    source : str
        What was compiled.
    """
    known = {line.strip() for line in f"{log}\n{source}".split("\n")}
    return [
        line.replace(*_MISSING_HEADER)
        for line in message.split("\n")[2:]
        if line.strip() not in known and not _COUNT.fullmatch(line)
    ]
