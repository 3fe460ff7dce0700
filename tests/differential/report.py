# SPDX-License-Identifier: Apache-2.0
"""Prints how well the current device agrees with the recorded GPU, as a Markdown table.

python -m differential.report
"""

import collections
import sys

import cudacore

from . import golden
from .compare import Agreement, compare
from .corpus import Corpus, make
from .forms import forms
from .items import Item, Kernel, kernels_of
from .known import why_different
from .programs import programs
from .report_table import print_head, print_row
from .runner import Runner


def agreement_of(
    runner: Runner, kernel: Kernel, known: dict[str, golden.Result]
) -> list[tuple[Item, Agreement]]:
    """Run a kernel's items that have golden data, and compare."""
    live = [
        item
        for item in kernel.items
        if item.name in known and known[item.name].digest == item.digest
    ]
    if not live:
        return []
    some = kernels_of(live)[0]
    try:
        outputs = runner.run(some, "typed")
    except cudacore.CUDAError as error:
        return [(item, Agreement(wrong=" ".join(str(error).split())[:200])) for item in live]
    return [(item, compare(item, known[item.name].output, outputs[item.name])) for item in live]


def main() -> int:
    corpus = make(forms())
    device = cudacore.Device(0)
    device.set_current()
    print_head("family", "forms")
    wrong: list[str] = []
    open_ = collections.Counter[str]()
    with Runner(device) as runner:
        for family in sorted(corpus.families):
            _row(runner, corpus, family, wrong, open_)
    known = golden.load("programs")
    outputs = [
        (program, known[program.name].output, program.run(device))
        for program in programs()
        if program.name in known
    ]
    same = sum(expected == actual for _, expected, actual in outputs)
    problems = [
        f"programs: {program.name}: {problem}"
        for program, expected, actual in outputs
        if (problem := program.differs(expected, actual))
    ]
    wrong += problems
    within = len(outputs) - same - len(problems)
    print(
        f"| programs | {len(outputs)} | | {len(outputs)} | {same} | {within} | | {len(problems)} |"
    )
    print()
    print("Results that differ:")
    print()
    for reason, count in open_.most_common():
        print(f"- {count}: {reason}")
    print()
    print("Forms that no sm_90 GPU runs:")
    print()
    reasons = collections.Counter(corpus.excluded.values())
    for reason, count in reasons.most_common():
        print(f"- {count}: {reason}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 0


def _row(
    runner: Runner,
    corpus: Corpus,
    family: str,
    wrong: list[str],
    open_: collections.Counter[str],
) -> None:
    known = golden.load(family)
    kernels = corpus.kernels(family)
    covered: set[tuple[str, str]] = set()
    total = Agreement()
    bad = 0
    for kernel in kernels:
        for item, agreement in agreement_of(runner, kernel, known):
            covered.update(item.forms)
            total.add(agreement)
            if agreement.wrong and (why := why_different(item.name)):
                open_[why] += 1
            elif agreement.wrong:
                bad += 1
                wrong.append(f"{family}: {item.name}: {agreement.wrong}")
    print_row(family, len(kernels), len(covered), total, bad)


if __name__ == "__main__":
    sys.exit(main())
