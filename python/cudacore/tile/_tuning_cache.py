# SPDX-License-Identifier: Apache-2.0
"""What searches for configurations have found, kept on disk for later processes."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import cudacore
from cudacore import cache
from cudacore.tile._exception import TileError
from cudacore.tile._generate import generate
from cudacore.tile._launch_argument import describe_all
from cudacore.tile._specialization import architecture_of
from cudacore.utils import FileStreamProgramCache, StridedMemoryView

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cudacore import Device
    from cudacore.tile._kernel import kernel

#: Part of each key. Changed if an entry would otherwise mean something else than it did.
_SCHEMA = "cudacore tuning 1"
_MOST_BYTES = 64 << 20
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def folder() -> Path | None:
    """Return where results are kept; None while the program cache is off."""
    info = cache.info()
    return info.folder / "tuning" if info.is_enabled and info.folder is not None else None


def _open() -> FileStreamProgramCache | None:
    """Open the cache; None if there is none, or if its folder can't be used."""
    path = folder()
    if path is None:
        return None
    with contextlib.suppress(OSError):
        return FileStreamProgramCache(path, max_size_bytes=_MOST_BYTES)
    return None


def device_facts(device: Device) -> list[object]:
    """Return what tells devices and their software apart, as far as times depend on it."""
    return [
        _SCHEMA,
        cudacore.__version__,
        cudacore.system.get_user_mode_driver_version(),
        cudacore.system.get_nvrtc_version(),
        device.name,
        architecture_of(device),
    ]


def run_facts(
    config: object, grid: object, of: kernel, arguments: tuple[Any, ...], architecture: int
) -> list[object]:
    """Return what the time of a configuration's launch depends on.

    The kernel's code stands for its function, all that this one calls, and what it is compiled for.
    """
    try:
        made = generate(of, describe_all(of, arguments), architecture)
        code: object = [made.source, made.threads, made.shared_bytes]
    except TileError as error:
        code = str(error)
    hints = of.hints.resolve(f"sm_{architecture}")  # that of the assembler is not in the code
    return [repr(config), repr(grid), code, hints, [_argument(each) for each in arguments]]


def _argument(value: object) -> object:
    """Describe an argument: of an array, all but where it is and what is in it."""
    if isinstance(value, (tuple, list)):
        return [_argument(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [_argument(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__"):
        view = StridedMemoryView.from_any_interface(value, -1)
        return ["array", str(view.dtype), view.shape, view.strides]
    return repr(value)


def key_of(facts: Iterable[object]) -> str | None:
    """Return the key of a search; None if something in it has no name that lasts."""
    key = json.dumps(list(facts), default=repr)
    return None if _ADDRESS.search(key) else key


def read(key: str) -> dict[str, Any] | None:
    """Return what is kept for a key; None if there is nothing, or nothing whole."""
    entries = _open()
    if entries is None:
        return None
    with contextlib.suppress(KeyError, OSError, RecursionError, ValueError):
        kept = json.loads(entries[key])
        if isinstance(kept, dict):
            return kept
    return None


def write(key: str, found: dict[str, Any]) -> None:
    """Keep what a search found, if there is a folder that can be written to."""
    entries = _open()
    if entries is not None:
        with contextlib.suppress(OSError):
            entries[key] = json.dumps(found).encode()


def clear() -> None:
    """Forget all that searches have found.

    Raises
    ------
    OSError
        The folder can't be changed.
    """
    path = folder()
    if path is not None and path.exists():
        FileStreamProgramCache(path).clear()
