# SPDX-License-Identifier: Apache-2.0
"""Graphs that are built node by node."""

from __future__ import annotations

from cudacore._core import CUDAError, _GraphDefinition, _GraphWork
from cudacore._missing import HOW_TO_CAPTURE, MissingMember
from cudacore._options import read_options
from cudacore.graph import _drawing
from cudacore.graph._adding import Adding
from cudacore.graph._nodes import GraphNode, OrderedSet, bound_nodes, refuse_pickle, show
from cudacore.graph._options import GraphCompleteOptions, GraphDebugPrintOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from os import PathLike
    from typing import Any, NoReturn

    from cudacore._core import Graph, GraphCondition
    from cudacore.graph._work_nodes import EmptyNode


class GraphDefinition(Adding):
    r"""A graph under construction (CUgraph).

    Its own methods add nodes that run first; those of a node add nodes that run after it.
    Definitions are equal if they are the same CUgraph.

    Examples
    --------
    >>> import cudacore as cc
    >>> from cudacore.graph import GraphDefinition
    >>> device = cc.Device()
    >>> device.set_current()
    >>> buffer = device.allocate(16)
    >>> definition = GraphDefinition()
    >>> zero = definition.memset(buffer, 0, 16)
    >>> half = zero.memset(buffer, 1, 8)
    >>> len(definition.nodes()), list(half.pred) == [zero]
    (2, True)
    >>> graph = definition.instantiate()
    >>> graph.launch(device.default_stream)
    >>> device.sync()
    >>> bytes(buffer.to_host())
    b'\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00'
    """

    __slots__ = ("__weakref__", "_definition")

    if not TYPE_CHECKING:
        __enter__ = MissingMember("GraphDefinition.__enter__", HOW_TO_CAPTURE)

    def __init__(self) -> None:
        self._definition = _GraphDefinition.create()

    def _add(self, work: _GraphWork, *others: GraphNode) -> Any:
        return show(self._definition.add(work, bound_nodes(others)))

    def empty(self) -> EmptyNode:
        """Add a node that does nothing."""
        return self.join()

    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Create a condition for one conditional node (cuGraphConditionalHandleCreate).

        Parameters
        ----------
        default_value : int
            What it is at the start of each launch; without one, it keeps its value.

        Returns
        -------
        GraphCondition
            Kernels take it as a ``cudaGraphConditionalHandle``.
        """
        return self._definition.create_condition(default_value)

    @property
    def handle(self) -> int:
        """int: The CUgraph; 0 once the node that contains it is destroyed."""
        return self._definition.handle

    @property
    def is_valid(self) -> bool:
        """bool: Whether the node that contains the graph, if any, has not been destroyed."""
        return self._definition.is_valid

    def nodes(self) -> AbstractSet[GraphNode]:
        """Return all nodes, as a set in the order in which they were added."""
        return OrderedSet(show(node) for node in self._definition.nodes())

    def edges(self) -> AbstractSet[tuple[GraphNode, GraphNode]]:
        """Return all edges, as an ordered set of pairs: the second node runs after the first."""
        return OrderedSet((show(first), show(second)) for first, second in self._definition.edges())

    def instantiate(self, options: GraphCompleteOptions | Mapping[str, Any] | None = None) -> Graph:
        """Make an executable graph (cuGraphInstantiateWithParams).

        Parameters
        ----------
        options : GraphCompleteOptions or mapping of its fields

        Returns
        -------
        Graph
            It has nothing to do with later changes of the definition.
        """
        chosen = read_options(GraphCompleteOptions, options, "GraphDefinition.instantiate")._check()
        return self._definition.instantiate(
            chosen.auto_free_on_launch,
            chosen.upload_stream,
            chosen.device_launch,
            chosen.use_node_priority,
        )

    def debug_dot_print(
        self,
        path: str | PathLike[str],
        options: GraphDebugPrintOptions | Mapping[str, Any] | None = None,
    ) -> None:
        """Write the graph to a file as Graphviz text (cuGraphDebugDotPrint).

        Parameters
        ----------
        path : path
        options : GraphDebugPrintOptions or mapping of its fields
            What to write of each node.
        """
        chosen = read_options(GraphDebugPrintOptions, options, "GraphDefinition.debug_dot_print")
        self._definition.write_dot(path, chosen._flags())

    def to_dot(self, options: GraphDebugPrintOptions | Mapping[str, Any] | None = None) -> str:
        """Return the graph as Graphviz text (cuGraphDebugDotPrint).

        Parameters
        ----------
        options : GraphDebugPrintOptions or mapping of its fields
            What to write of each node.
        """
        chosen = read_options(GraphDebugPrintOptions, options, "GraphDefinition.to_dot")
        return _drawing.text(self._definition, chosen._flags())

    def _repr_svg_(self) -> str | None:
        """Draw the graph in a notebook, if Graphviz's ``dot`` is installed."""
        return _drawing.svg(self._definition) if self.is_valid else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self._definition.identity == other._definition.identity

    def __hash__(self) -> int:
        return hash(self._definition.identity)

    def __repr__(self) -> str:
        place = f"at 0x{self._definition.identity:x}"
        if not self.is_valid:
            return f"<GraphDefinition {place}, destroyed>"
        try:
            count = self._definition.node_count()
        except CUDAError:
            return f"<GraphDefinition {place}>"
        return f"<GraphDefinition of {count} node{'s' * (count != 1)} {place}>"

    def __reduce__(self) -> NoReturn:
        refuse_pickle(self)


def show_definition(bound: _GraphDefinition) -> GraphDefinition:
    """Make the object of a definition."""
    definition = GraphDefinition.__new__(GraphDefinition)
    definition._definition = bound
    return definition
