# SPDX-License-Identifier: Apache-2.0
"""The Markdown tables that the reports print."""

from .compare import Agreement


def print_head(subject: str, part: str) -> None:
    print(
        f"| {subject} | kernels | {part} | results | same bits | within the bound | most ulps |"
        " wrong |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")


def print_row(subject: str, kernels: int, parts: int, total: Agreement, wrong: int) -> None:
    print(
        f"| {subject} | {kernels} | {parts} | {total.values} | {total.same} |"
        f" {total.within} | {total.most_ulps} | {wrong} |"
    )
