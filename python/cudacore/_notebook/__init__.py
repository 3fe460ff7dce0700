# SPDX-License-Identifier: Apache-2.0
"""The IPython extension: what ``%load_ext cudacore`` loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._notebook.magic import CudaMagics

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_loaded: dict[InteractiveShell, CudaMagics] = {}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add ``%%cuda`` to a shell, and wait for the device at the end of each of its cells."""
    if shell in _loaded:
        return
    magics = _loaded[shell] = CudaMagics(shell)
    shell.register_magics(magics)
    shell.events.register("post_run_cell", magics.finish_cell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Undo `load_ipython_extension`; kernels that cells have made stay."""
    magics = _loaded.pop(shell, None)
    if magics is None:
        return
    shell.events.unregister("post_run_cell", magics.finish_cell)
    for kind, names in magics.magics.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    magics.close()
