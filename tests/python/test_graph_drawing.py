# SPDX-License-Identifier: Apache-2.0
"""Graphs as Graphviz text, and as pictures."""

from pathlib import Path

import pytest
from cudacore import Device
from cudacore.graph import GraphDebugPrintOptions, GraphDefinition, _drawing

DOT = """#!/bin/sh
test "$1" = -Tsvg || exit 3
grep -q digraph || exit 4
%s
"""


@pytest.fixture
def definition(device: Device) -> GraphDefinition:
    device.set_current()
    graph = GraphDefinition()
    graph.empty().join()
    return graph


def install_dot(folder: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    program = folder / "dot"
    program.write_text(DOT % end)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_text(definition: GraphDefinition, device: Device) -> None:
    text = definition.to_dot()
    assert text.startswith("digraph")
    assert text.count("->") == 1
    handles = definition.to_dot(GraphDebugPrintOptions(handles=True))
    assert len(handles) >= len(text)
    with device.create_graph_builder() as builder:
        pass
    assert builder.graph_definition.to_dot().startswith("digraph")


def test_picture(
    definition: GraphDefinition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_dot(tmp_path, monkeypatch, "echo '<svg>drawn</svg>'")
    assert definition._repr_svg_() == "<svg>drawn</svg>\n"
    monkeypatch.setattr(_drawing, "MOST_NODES", 1)
    assert definition._repr_svg_() is None


def test_no_picture_if_graphviz_fails(
    definition: GraphDefinition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_dot(tmp_path, monkeypatch, "exit 1")
    assert definition._repr_svg_() is None
    monkeypatch.setenv("PATH", "")
    assert definition._repr_svg_() is None


def test_no_picture_of_what_is_gone(definition: GraphDefinition) -> None:
    node = definition.embed(GraphDefinition())
    child = node.child_graph
    node.destroy()
    assert child._repr_svg_() is None
