# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that later processes find before they evaluate anything.

What the program cache holds is the CUDA C++ of a variant, with everything that the kernel's
function has read besides its arguments. NVRTC's result for it is an entry of its own, whose key has
the compiler and the headers in it.
"""

from __future__ import annotations

import marshal
import os
import sys

import cudacore
from cudacore import _core
from cudacore.tile._fingerprint import Fingerprints, UnsafeError, encoded
from cudacore.tile._frozen import Frozen
from cudacore.tile._reads import Reads, still_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cudacore._tile import Generated
    from cudacore.tile._kernel import kernel
    from cudacore.tile.compilation._constraint import ParameterConstraint


_FIELDS = ("source", "entry", "threads", "shared_bytes", "headers")

#: For one key: how many are kept that differ in what is around the function.
_MOST_VARIANTS = 8


class Variant:
    """What a kernel has become, in this process or an earlier one.

    Attributes
    ----------
    source, entry, threads, shared_bytes
        As of ``_tile.Generated``.
    headers
        The headers that the source includes, by name.
    """

    def __init__(self, fields: tuple[Any, ...]) -> None:
        self.source: str
        self.entry: str
        self.threads: int
        self.shared_bytes: int
        self.headers: dict[str, str]
        self.__dict__.update(zip(_FIELDS, fields, strict=True))

    @classmethod
    def of(cls, generated: Generated, headers: dict[str, str]) -> Variant:
        """Return what this process has generated."""
        return cls((*(getattr(generated, name) for name in _FIELDS[:-1]), headers))


def key_of_variant(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int
) -> bytes | None:
    """Return what tells a variant from all others, or None if other processes can't tell.

    Besides what the arguments are, it has in it all that turns a function into CUDA C++: the
    function, Python, and this package.
    """
    package = _package()
    if package is None or not _core.cache_info()[0]:
        return None
    fingerprints = Fingerprints()
    try:
        return encoded(
            (
                package,
                architecture,
                of.__name__,
                tuple(sorted(of.hints.resolve(f"sm_{architecture}").items())),
                fingerprints.of(of.function),
                tuple(_plain(fingerprints, each) for each in constraints),
            )
        )
    except UnsafeError:
        return None


def find_variant(key: bytes) -> Variant | None:
    """Return what was generated for a key, if all it depends on still means the same."""
    for reads, fields in _stored(key):
        if still_hold(reads):
            return Variant(fields)
    return None


def is_known(key: bytes) -> bool:
    """Return whether a process has generated something for a key before."""
    return _core.cache_find(key) is not None


def store_variant(key: bytes, variant: Variant, reads: Reads) -> None:
    """Store what was generated, unless other processes can't tell what it depends on.

    It is kept beside what was generated when something outside of the function was different, as
    the configuration of a program is from one run to the next.
    """
    found = tuple(reads.found.items())
    if reads.trouble or not still_hold(found):
        if not is_known(key):
            _core.cache_store(key, encoded(()))
        return
    fields = tuple(getattr(variant, name) for name in _FIELDS)
    others = [each for each in _stored(key) if each[0] != found]
    _core.cache_store(key, encoded(((found, fields), *others[: _MOST_VARIANTS - 1])))


def _stored(key: bytes) -> tuple[Any, ...]:
    """Return what is stored for a key, the latest first."""
    content = _core.cache_find(key)
    if content is None:
        return ()
    return marshal.loads(content)  # type: ignore[no-any-return]  # noqa: S302 - no other user writes to the cache


def _plain(fingerprints: Fingerprints, constraint: Any) -> object:
    """Return a constraint as a tuple of plain values."""
    if not isinstance(constraint, Frozen):
        return fingerprints.of(constraint)
    return type(constraint).__name__, *(
        tuple(_plain(fingerprints, item) for item in field)
        if type(field) is tuple
        else _plain(fingerprints, field)
        for field in constraint.values()
    )


_identity: tuple[object, ...] | None = None


def _package() -> tuple[object, ...] | None:
    """Return what tells this Python and this package from others, or None if nothing does.

    Files are told by their size and time, as Python tells those whose byte code it has kept.
    """
    global _identity  # noqa: PLW0603 - found once
    if _identity is None:
        try:
            files = tuple(sorted(_files()))
        except OSError:
            return None
        if not any(name.startswith("_tile.") for name, *_ in files):
            return None
        _identity = (cudacore.__version__, sys.version, sys.flags.optimize, __file__, files)
    return _identity


def _files() -> Iterator[tuple[str, int, int]]:
    """Yield the name, size and time of each file that kernels go through."""
    here = os.path.dirname(__file__)  # noqa: PTH120 - pathlib takes long to import
    for folder in (here, os.path.join(here, "compilation")):  # noqa: PTH118
        yield from _facts(folder, ".py")
    library = os.path.dirname(_core.__file__)  # noqa: PTH120
    yield from _facts(library, prefix="_tile.")


def _facts(folder: str, ending: str = "", *, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as found:
        for each in found:
            if each.name.startswith(prefix) and each.name.endswith(ending):
                facts = each.stat()
                yield each.name, facts.st_size, facts.st_mtime_ns
