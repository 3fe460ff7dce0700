# SPDX-License-Identifier: Apache-2.0
"""Runs the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor import cache_checks, compiler_checks, device_checks, driver_checks
from cudacore._doctor.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cudacore._doctor.facts import Facts

SEVERITIES = ("problem", "warning", "note")

CHECKS = (
    *driver_checks.CHECKS,
    *device_checks.CHECKS,
    *compiler_checks.CHECKS,
    *cache_checks.CHECKS,
)


def diagnose(
    facts: Facts, checks: Iterable[Callable[[Facts], Iterator[Finding]]] = CHECKS
) -> list[Finding]:
    """Return what the checks find, the worst first; a check that fails itself is a finding."""
    findings = [
        Finding(
            "not-found-out",
            "problem",
            f"the doctor could not find out about {what}: {why}",
            "run `python -m cudacore doctor --json`, and report this with what it prints",
        )
        for what, why in facts.failures.items()
    ]
    for check in checks:
        findings += _run(check, facts)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _run(check: Callable[[Facts], Iterator[Finding]], facts: Facts) -> list[Finding]:
    try:
        return list(check(facts))
    except Exception as error:  # noqa: BLE001  # the others must still be heard
        why = f"{type(error).__name__}: {error}"
        return [
            Finding(
                "check-failed",
                "warning",
                f"the check {check.__name__} failed itself: {why}",
                "report this, with what `python -m cudacore doctor --json` prints",
            )
        ]


def is_healthy(findings: Iterable[Finding]) -> bool:
    """Tell whether nothing is worse than a warning."""
    return all(finding.severity != "problem" for finding in findings)
