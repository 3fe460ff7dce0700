# SPDX-License-Identifier: Apache-2.0
"""Checks of the program cache on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cudacore._doctor.facts import Facts


def usable(facts: Facts) -> Iterator[Finding]:
    """Find a folder that can't be used."""
    if facts.cache is not None and facts.cache.problem:
        yield Finding(
            "cache-unusable",
            "warning",
            f"the program cache is passed over, so that everything is compiled again: "
            f"{facts.cache.problem}",
            "set CUDACORE_CACHE_DIR to a folder of your own, or correct this one",
        )


def writable(facts: Facts) -> Iterator[Finding]:
    """Find a folder in which nothing can be kept."""
    if facts.cache is not None and not facts.cache.is_writable and not facts.cache.problem:
        yield Finding(
            "cache-read-only",
            "note",
            f"the program cache in {facts.cache.folder} can be read, but nothing is added to it",
            "make it writable, or set CUDACORE_CACHE_DIR to a folder of your own",
        )


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (usable, writable)
