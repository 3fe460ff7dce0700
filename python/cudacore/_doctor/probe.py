# SPDX-License-Identifier: Apache-2.0
"""Runs what may crash or hang in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

TIMEOUT_S = 60.0

_MARK = "cudacore-doctor:"


class ProbeError(Exception):
    """A probe ended without an answer; the text says how."""


def run(module: str, *arguments: str, timeout: float = TIMEOUT_S) -> Any:
    """Run ``answer(*arguments)`` of a module of this package in a new interpreter.

    Parameters
    ----------
    module : str
        Its name in this package.
    *arguments : str
        What it is called with.
    timeout : float
        Seconds after which it is killed.

    Returns
    -------
    object
        What the function returned, by way of JSON.

    Raises
    ------
    ProbeError
        The process crashed, hung, raised or said nothing.
    """
    # With the folders of this process, so that the same libraries are found.
    program = (
        "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
        f"from cudacore._doctor import {module} as probe; "
        f"print('\\n{_MARK}' + json.dumps(probe.answer(*sys.argv[2:])))"
    )
    command = [sys.executable, "-c", program, json.dumps(sys.path), *arguments]
    try:
        done = subprocess.run(  # noqa: S603
            command, check=False, capture_output=True, text=True, timeout=timeout, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise ProbeError(f"no answer within {timeout:.0f} s") from None
    except OSError as error:
        raise ProbeError(f"no process could be started: {error}") from None
    if done.returncode < 0:
        name = _name_of(-done.returncode)
        raise ProbeError(f"the process crashed with {name}. {_last_line(done.stderr)}".strip())
    _, mark, answer = done.stdout.rpartition(_MARK)
    if done.returncode or not mark:
        raise ProbeError(_last_line(done.stderr) or f"the process ended with {done.returncode}")
    # More may follow, which the end of the process printed.
    return json.loads(answer.partition("\n")[0])


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
