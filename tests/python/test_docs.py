# SPDX-License-Identifier: Apache-2.0
"""Every example of the documentation runs, and everything public is documented."""

import ast
import doctest
import inspect
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import cudacore
import pytest
from cudacore import _core
from harness import PACKAGE, ROOT, run_cleanly

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


class Block(NamedTuple):
    line: int
    code: str
    needs_device: bool
    is_alone: bool
    is_run: bool


def blocks(page: Path) -> list[Block]:
    """Return the fenced ```python blocks of a page, with what the comment above each says."""
    found: list[Block] = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        if lines[number].strip() == "```python":
            before = lines[number - 1].strip() if number else ""
            start = number + 1
            while lines[number + 1].strip() != "```":
                number += 1
            found.append(
                Block(
                    start + 1,
                    "\n".join(lines[start : number + 1]),
                    before == "<!-- needs: device -->",
                    before == "<!-- own process -->",
                    re.fullmatch(r"<!-- not run: .+ -->", before) is None,
                )
            )
            number += 1
        number += 1
    return found


def run_page(page: Path, *, with_device: bool) -> None:
    """Run a page's blocks in order, in one namespace."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.is_run and (with_device or not block.needs_device):
            if block.is_alone:
                run_alone(block.code, f"{page.name}:{block.line}")
            elif ">>>" in block.code:
                run_doctest(block.code, f"{page.name}:{block.line}", namespace)
            else:
                # Use the page's line numbers, so that a failure points at the page.
                tree = ast.parse("\n" * (block.line - 1) + block.code, str(page))
                exec(compile(tree, str(page), "exec"), namespace)


def run_alone(text: str, name: str) -> None:
    """Run a doctest in a process in which no driver was requested or used yet."""
    script = f"""
import doctest
test = doctest.DocTestParser().get_doctest({text!r}, {{}}, {name!r}, {name!r}, 0)
print(doctest.DocTestRunner(optionflags={FLAGS}).run(test).failed)
"""
    said = run_cleanly(script, env={"CUDACORE_DRIVER": None, "CUDACORE_SIMULATOR_DEVICES": None})
    assert said == "0\n", said


def run_doctest(text: str, name: str, namespace: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(text, namespace, name, name, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=said.append, clear_globs=False)
    assert said == [], "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, with_device=False)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.needs_device for block in blocks(page))],
    ids=lambda page: page.name,
)  # fmt: skip
def test_page_on_device(
    page: Path, device: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert device is not None
    monkeypatch.chdir(tmp_path)
    run_page(page, with_device=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", prose)
    assert [link for link in links if not (page.parent / link).exists()] == []


def documented() -> Iterator[tuple[str, Any]]:
    """Yield everything public that can have a docstring, by its dotted name."""
    yield "cudacore", cudacore
    yield "cudacore.system", cudacore.system
    yield "cudacore.simulator", cudacore.simulator
    yield "cudacore.utils", cudacore.utils
    modules = (cudacore, cudacore.texture, cudacore.utils)
    named = [(name, getattr(module, name)) for module in modules for name in module.__all__]
    for name, value in named:
        if isinstance(value, type):
            yield name, value
            for member, inner in vars(value).items():
                if not member.startswith("_") and (
                    callable(inner) or inspect.isdatadescriptor(inner) or hasattr(inner, "__func__")
                ):
                    is_bound = isinstance(getattr(inner, "__func__", None), FunctionType)
                    yield f"{name}.{member}", getattr(value, member) if is_bound else inner
        elif callable(value):
            yield name, value


DOCUMENTED = dict(documented())
EXAMPLES = {
    name: text
    for name, value in DOCUMENTED.items()
    if ">>>" in (text := inspect.getdoc(value) or "")
}
#: Examples that involve an exception, a device or something made from one.
NEEDS_DEVICE = re.compile(
    r"\b(Device\(|device\b|stream\b|buffer\b|kernel\b|launch\(|event\b|get_kernel|system\.|"
    r"_STREAM\b|MemoryResource|driver_library|num_devices)"
)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_has_a_docstring(name: str) -> None:
    assert (inspect.getdoc(DOCUMENTED[name]) or "").strip()


STUB = runpy.run_path(str(ROOT / "cmake" / "documentation.py"))["rows"](
    ast.parse((PACKAGE / "_core.pyi").read_text()).body
)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, _, text in STUB if text])
def test_docstring_is_that_of_the_stub(name: str, text: str) -> None:
    owner, _, member = name.partition(".")
    value = getattr(_core, owner)
    assert inspect.getdoc(getattr(value, member) if member else value) == text


def source_of(example: str) -> str:
    return "\n".join(one.source for one in doctest.DocTestParser().get_examples(example))


@pytest.mark.parametrize(
    "name", [name for name, text in EXAMPLES.items() if not NEEDS_DEVICE.search(source_of(text))]
)
def test_example(name: str) -> None:
    run_doctest(EXAMPLES[name], name, {"cudacore": cudacore})


@pytest.mark.parametrize(
    "name", [name for name, text in EXAMPLES.items() if NEEDS_DEVICE.search(source_of(text))]
)
def test_example_on_device(name: str, device: cudacore.Device) -> None:
    stream = device.create_stream()
    namespace = {"cudacore": cudacore, "device": device, "stream": stream}
    run_doctest(EXAMPLES[name], name, namespace)
    stream.sync()


def test_main_classes_have_examples() -> None:
    wanted = {"Device", "Stream", "Event", "Buffer", "Program", "ObjectCode", "Kernel", "Linker",
              "LaunchConfig", "Signature", "DeviceMemoryResource", "launch"}  # fmt: skip
    assert wanted <= {name.split(".")[0] for name in EXAMPLES}


def test_pictures_are_what_their_script_draws(tmp_path: Path) -> None:
    folder = ROOT / "docs" / "tile-tutorial"
    for draw in runpy.run_path(str(folder / "draw.py"))["DRAWN"]:
        draw().save(tmp_path / f"{draw.__name__}.svg")
    drawn = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert drawn == {file.name: file.read_text() for file in folder.glob("*.svg")}
