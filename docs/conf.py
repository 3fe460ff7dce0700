# SPDX-License-Identifier: Apache-2.0
"""Sphinx: these pages, and the reference of Python and C++ made from the docstrings and headers."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import cudacore
from cudacore._missing import MissingMember
from sphinx.application import Sphinx

project = "cudacore"
author = "the authors of cudacore"
version = release = cudacore.__version__

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["notebooks"]
html_theme = "furo"
html_title = f"cudacore {release}"

# Markdown: headings can be linked to, as on GitHub.
myst_heading_anchors = 3

# Docstrings. Types are prose, as in NumPy's: the signatures and the stubs have the exact ones.
autodoc_default_options = {"members": True, "special-members": "__getitem__"}
autodoc_typehints = "none"
autosummary_generate = False
default_role = "autolink"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False

# All references must resolve, except those to what has no page here.
nitpicky = True
nitpick_ignore_regex = [
    ("cpp:identifier", r"std(::.*)?|cudacore(::[a-z_]+)?|CU.*"),
    ("cpp:identifier", r"Graph(Work|Builder)Box|ResourceBox"),  # not public
    ("cpp:identifier", r"(cache|error|launching|owner)(::.*)?"),  # not public
    ("py:obj", r"(importlib|sys)\..*|resource"),
    ("py:class", r"Path|(collections|numpy|uuid)\..*"),
    ("py:class", r"(SM|Workqueue)Resource"),  # of annotations, which name no module
    ("py:class", r".* .*|'.*'|mapping|function|such"),  # prose: a type such as "dict of str to str"
]

DOCS = Path(__file__).parent
XML = DOCS.parent / "build" / "doxygen"
breathe_projects = {"cudacore": str(XML / "xml")}
breathe_default_project = "cudacore"
breathe_show_include = False
suppress_warnings = [
    "duplicate_declaration.cpp",  # for functions that differ in their constraints
    "ref.python",  # for names that cudacore.system has, too: the first target is cudacore's own
]


def skip_member(
    _app: Sphinx, _kind: str, _name: str, member: object, _skip: bool, _options: object
) -> bool | None:
    """Leave out the placeholders for what cuda.core has and cudacore doesn't."""
    return True if isinstance(member, MissingMember) else None


def show_signature(
    _app: Sphinx, kind: str, _name: str, _object: object, _options: object, text: str, returns: str
) -> tuple[str, str] | None:
    """Show how bound functions are called; nothing for classes that only functions make."""
    if text is None:
        return None
    if kind == "class" and text == "(*args, **kwargs)":
        return "", returns
    return re.sub(
        r"^\((self|cls)(, (/, )?|\))", lambda found: "()" if found[2] == ")" else "(", text
    ), returns


def link_to_repository(_app: Sphinx, _page: str, text: list[str]) -> None:
    """Show links to Markdown outside of this folder as text; Sphinx copies other files."""
    text[0] = re.sub(r"\[([^]]+)\]\(\.\./(benchmarks/[^)]*\.md)\)", r"\1 (`\2`)", text[0])


def show_examples(_app: Sphinx, page: str, text: list[str]) -> None:
    """Add the text of the example programs to their page."""
    if page == "examples/README":
        for file in sorted((DOCS / "examples").glob("*.py")):
            text[0] += f"\n## {file.name}\n\n```{{literalinclude}} {file.name}\n:lines: 2-\n```\n"


def run_doxygen(_app: Sphinx) -> None:
    """Read the C++ headers; a documented parameter that doesn't exist is an error."""
    XML.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=DOCS.parent, check=True)  # noqa: S607


def list_headers(_app: Sphinx, page: str, text: list[str]) -> None:
    """Add what each header declares to the page about C++."""
    if page != "api/cpp":
        return
    headers: dict[str, list[str]] = {}
    files = sorted((XML / "xml").glob("*cudacore*.xml"))
    compounds = [ET.parse(file).getroot().find("compounddef") for file in files]  # noqa: S314
    classes = {entity.findtext("compoundname") for entity in compounds if entity.get("prot")}
    for entity in compounds:
        name = entity.findtext("compoundname")
        declared = headers.setdefault(entity.find("location").get("file"), [])
        if name in classes:
            if name.rpartition("::")[0] not in classes:  # otherwise its owner shows it
                declared.append(
                    f"doxygen{entity.get('kind')}:: {name}\n   :members:\n   :undoc-members:"
                )
            continue
        for member in entity.iter("memberdef"):
            declared = headers.setdefault(member.find("location").get("file"), [])
            kind = member.get("kind")
            arguments = member.findtext("argsstring") if kind == "function" else ""
            declared.append(f"doxygen{kind}:: {name}::{member.findtext('name')}{arguments}")
    for header, declared in sorted(headers.items()):
        if declared:
            text[0] += f"\n{header}\n{'-' * len(header)}\n"
            text[0] += "".join(f"\n.. {directive}\n" for directive in declared)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", run_doxygen)
    app.connect("autodoc-process-signature", show_signature)
    app.connect("source-read", list_headers)
    app.connect("source-read", show_examples)
    app.connect("source-read", link_to_repository)
    app.connect("autodoc-skip-member", skip_member)
