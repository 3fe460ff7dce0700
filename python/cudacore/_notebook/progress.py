# SPDX-License-Identifier: Apache-2.0
"""Says what is going on while something takes more than a second."""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython
from IPython.display import display

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds until something is said, and between the updates.
PATIENCE = 1.0


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Show ``what`` and the seconds that it has taken; remove both at the end.

    The thread that shows them has ended when the ``with`` statement ends, so nothing else is
    written meanwhile, except by what the statement runs.
    """
    show = _choose_display()
    if show is None:
        yield
        return
    done = threading.Event()
    # In the same context, ipykernel sends what it shows to the same cell.
    run = contextvars.copy_context().run
    thread = threading.Thread(target=run, args=(_tell, what, done, show), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(what: str, done: threading.Event, show: Callable[[str], None]) -> None:
    begin = time.monotonic()
    if done.wait(PATIENCE):
        return
    while True:
        show(f"{what}: {time.monotonic() - begin:.0f} s")
        if done.wait(PATIENCE):
            break
    show("")


def _choose_display() -> Callable[[str], None] | None:
    """Return what replaces the text shown; None if the output is not for a person to watch."""
    if hasattr(get_ipython(), "kernel"):
        return _Output().show
    return _show_in_terminal if sys.stderr.isatty() else None


def _show_in_terminal(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


class _Output:
    """An output of a notebook's cell. It stays in the cell when it is empty, but isn't visible."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        html = f"<i>{text}</i>" if text else ""
        data = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
