# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore doctor``: what is installed, what is used and why, and what is wrong."""

import argparse
import json

from cudacore._commands import FAILED
from cudacore._doctor import report
from cudacore._doctor.diagnosis import diagnose, is_healthy
from cudacore._doctor.gather import gather


def parser(prog: str) -> argparse.ArgumentParser:
    """Make the parser."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Show the libraries that cudacore finds and which it uses, the devices, and "
        "what is wrong with them, each with its cure.",
        epilog="Exit status: 0 nothing worse than a warning, 1 a problem.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    return parser


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the report; return the exit status."""
    facts = gather()
    findings = diagnose(facts)
    if options.json:
        print(json.dumps(report.as_dict(facts, findings), indent=2))
    else:
        print(report.as_text(facts, findings))
    return 0 if is_healthy(findings) else FAILED
