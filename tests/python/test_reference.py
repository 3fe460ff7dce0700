# SPDX-License-Identifier: Apache-2.0
"""The reference has everything public, and docstrings describe parameters that exist."""

import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cudacore
import pytest
from harness import PACKAGE, ROOT
from test_docs import DOCUMENTED

PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
ENTRIES = re.findall(
    r"^\.\. auto(module|class|exception|function|data):: (\S+)$",
    "\n".join(page.read_text() for page in PAGES),
    re.MULTILINE,
)
NAMES = [name for kind, name in ENTRIES if kind != "module"]
MODULES = [name.removeprefix("cudacore.") for kind, name in ENTRIES if kind == "module"]


def test_every_public_name_is_in_the_reference_once() -> None:
    modules = {module.name for module in pkgutil.iter_modules([str(PACKAGE)])}
    assert sorted(NAMES) == sorted(set(dir(cudacore)) - modules)


def public_modules(folder: Path, prefix: str = "") -> Iterator[str]:
    """Yield the names of all modules that neither are private nor are in a private one."""
    for module in pkgutil.iter_modules([str(folder)]):
        if not module.name.startswith("_"):
            yield prefix + module.name
            yield from public_modules(folder / module.name, f"{prefix}{module.name}.")


def test_every_public_module_is_in_the_reference_once() -> None:
    assert sorted(MODULES) == sorted(public_modules(PACKAGE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_in_the_index(page: Any) -> None:
    index = (ROOT / "docs" / "api" / "index.md").read_text()
    assert page.stem == "index" or f"\n{page.stem}\n" in index


def test_every_guide_is_in_the_front_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    guides = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert [name for name in sorted(guides) if f"\n{name}\n" not in index] == []


def described_parameters(text: str) -> list[str]:
    """Return the names in the section Parameters of a docstring in NumPy's style."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.MULTILINE | re.DOTALL
    )
    lines = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", section[1], re.MULTILINE) if section else []
    return [name.strip() for line in lines for name in line.split(",")]


WITH_PARAMETERS = {
    name: found
    for name, value in DOCUMENTED.items()
    if (found := described_parameters(inspect.getdoc(value) or ""))
}


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_described_parameters_exist(name: str) -> None:
    if name == "GraphMemoryResource" and sys.version_info < (3, 11):
        pytest.skip("inspect does not look at a __new__ of C++ yet")
    parameters = inspect.signature(DOCUMENTED[name]).parameters
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    taken = {stars.get(one.kind) or one.name for one in parameters.values()}
    for found in WITH_PARAMETERS[name]:
        assert found in taken or re.sub(r"\w", "", found) in taken
