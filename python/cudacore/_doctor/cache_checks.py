# SPDX-License-Identifier: Apache-2.0
"""Checks of the program cache on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor.facts import Finding
from cudacore._text import size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cudacore._doctor.facts import Facts


def usable(facts: Facts) -> Iterator[Finding]:
    """Find a folder that can't be used."""
    cache = facts.cache
    if cache is not None and cache.is_enabled and cache.problem:
        yield Finding(
            "cache-unusable",
            "warning",
            f"the program cache is passed over, so that everything is compiled again: "
            f"{cache.problem}",
            "set CUDACORE_CACHE_DIR to a folder of your own, or correct this one",
        )


def settings(facts: Facts) -> Iterator[Finding]:
    """Find variables of the cache that can't be understood."""
    if facts.cache is not None and facts.cache.settings_problem:
        yield Finding(
            "cache-settings",
            "warning",
            facts.cache.settings_problem,
            "correct the variable, or unset it",
        )


def writable(facts: Facts) -> Iterator[Finding]:
    """Find a cache in which nothing can be kept."""
    cache = facts.cache
    if cache is None or not cache.is_enabled or cache.problem:
        return
    if not cache.is_writable:
        yield Finding(
            "cache-read-only",
            "note",
            f"the program cache in {cache.folder} can be read, but nothing is added to it",
            "make it writable, or set CUDACORE_CACHE_DIR to a folder of your own",
        )
    if cache.keeps_nothing:
        yield Finding(
            "cache-keeps-nothing",
            "note",
            f"the program cache keeps nothing: CUDACORE_CACHE_MAX_SIZE leaves it "
            f"{size_text(cache.max_size_bytes)}",
            "set it to a larger size, such as 1G; CUDACORE_CACHE=0 switches the cache off",
        )


def damaged(facts: Facts) -> Iterator[Finding]:
    """Find entries that were changed since they were written."""
    cache = facts.cache
    if cache is not None and cache.is_enabled and cache.damaged:
        yield Finding(
            "cache-damaged",
            "warning",
            f"{len(cache.damaged)} of the {cache.checked} entries of the program cache that were "
            f"used last cannot be used, and are compiled again: {cache.damaged[0]}",
            "python -m cudacore cache clear; if it happens again, check the disk",
        )


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (usable, settings, writable, damaged)
