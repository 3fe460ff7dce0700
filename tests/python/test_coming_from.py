# SPDX-License-Identifier: Apache-2.0
"""The pages for users of other libraries: what they say runs, is in the index, and exists.

test_docs.py runs cudacore's side, tests/foreign numba's, and tests/pytorch PyTorch's.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from harness import ROOT

PAGES = sorted((ROOT / "docs" / "coming-from").glob("*.md"))


def peers_programs(page: Path, needs: str) -> list[str]:
    """Return the examples of a page that need a library."""
    pattern = rf"^<!-- not run: needs {needs} -->\n```python\n(.*?)^```"
    return re.findall(pattern, page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.gpu_only(reason="CuPy's kernels are machine code")
def test_cupys_side(device: object) -> None:
    pytest.importorskip("cupy")
    (program,) = peers_programs(ROOT / "docs" / "coming-from" / "cupy.md", "CuPy and a GPU")
    namespace: dict[str, Any] = {}
    exec(program, namespace)
    assert namespace["result"][999] == 1999


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_both_sides_and_is_in_the_index(page: Path) -> None:
    theirs, ours = page.read_text().split("```python\n", 2)[1:]
    assert "cudacore" not in theirs
    assert "cudacore" in ours
    assert f"\ncoming-from/{page.stem}\n" in (ROOT / "docs" / "index.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_rows_have_two_cells(page: Path) -> None:
    rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
    assert len(rows) > 15
    assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != 3] == []
