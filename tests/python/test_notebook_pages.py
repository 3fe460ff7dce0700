# SPDX-License-Identifier: Apache-2.0
"""The notebooks and the cells of the documentation run, and show what they are said to show."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cudacore
import pytest
from harness import ROOT
from notebooks import Notebook, kernel, nbformat, reading_kernel


def test_objects_are_shown_without_the_extension(tmp_path: Path) -> None:
    with kernel(tmp_path) as client:
        shown = Notebook(client).works("import cudacore\ncudacore.Device().allocate(2**20)")
        assert "1 MiB (1,048,576 bytes)" in shown.html


def blocks(page: Path) -> Iterator[tuple[bool, str]]:
    """Yield the cells of a page, and whether each is to fail."""
    pattern = r"(<!-- fails -->\n)?```ipython\n(.*?)\n```"
    for block in re.finditer(pattern, page.read_text(), re.DOTALL):
        yield block[1] is not None, block[2]


def test_page(tmp_path: Path, device: cudacore.Device) -> None:
    page = ROOT / "docs" / "notebooks.md"
    with reading_kernel(tmp_path) as client:
        notebook = Notebook(client)
        for fails, cell in blocks(page):
            if fails:
                assert notebook(cell).error in page.read_text()
            else:
                shown = notebook.works(cell)
            if cell.startswith("greet["):
                assert shown.stdout == "".join(f"Hello from thread {n}\n" for n in range(4))
    assert "daxpy" not in shown.html
    assert "axpy&lt;double&gt;(double a" in shown.html


def said(outputs: list[Any]) -> list[Any]:
    """Return what a cell shows, without what differs from run to run."""
    return [
        (output.output_type, output.get("data") or output.get("text") or output.get("traceback"))
        for output in outputs
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda p: p.name)
def test_notebook_of_the_documentation(path: Path, tmp_path: Path, device: cudacore.Device) -> None:
    stored = nbformat.read(path, as_version=4)
    executed = copy.deepcopy(stored)
    with reading_kernel(tmp_path, executed) as client:
        for number, cell in enumerate(executed.cells):
            client.execute_cell(cell, number)
    for before, after in zip(stored.cells, executed.cells, strict=True):
        if before.cell_type == "code" and "varies" not in before.metadata.get("tags", []):
            assert said(after.outputs) == said(before.outputs), before.source
