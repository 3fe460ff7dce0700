# SPDX-License-Identifier: Apache-2.0
"""Where folders are that a user names."""

# Importing pathlib takes longer than all of this.
# ruff: noqa: PTH111

import os


def user_folder(folder: "str | os.PathLike[str]", user: str) -> str:
    """Return the path of a folder that a user names, with ``~`` as shells read it.

    Raises
    ------
    ValueError
        The path is empty, or begins with ``~`` and something that is not a user's name.
    """
    given = os.fsdecode(folder)
    if not given:
        raise ValueError(f"{user}: the folder's path is empty")
    path = os.path.expanduser(given)
    if path.startswith("~"):
        raise ValueError(
            f"{user}: there is no such user: {given!r}; write './{given}' for a folder"
        )
    return path
