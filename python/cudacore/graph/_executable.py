# SPDX-License-Identifier: Apache-2.0
"""The nodes of executable graphs."""

from __future__ import annotations

from cudacore.graph._nodes import GraphNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cudacore._core import Graph


class ExecutableNode:
    """What a node of a definition became in a `Graph`: ``graph[node]``."""

    __slots__ = ("_graph", "_node")

    def __init__(self, graph: Graph, node: GraphNode) -> None:
        if not isinstance(node, GraphNode):
            msg = f"graph[...] takes a GraphNode, not {type(node).__name__}"
            raise TypeError(msg)
        self._graph = graph
        self._node = node

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Change what later launches do (cuGraphExecNodeSetParams); the definition stays as it is.

        The parameters are those of the node's own ``update``. What isn't given is taken from the
        definition.
        """
        update = getattr(type(self._node), "update", None)
        if update is None:
            msg = f"a {type(self._node).__name__} has nothing to update"
            raise TypeError(msg)
        work = update.__wrapped__(self._node, *args, **kwargs)
        self._graph._update_node(self._node._node, work)

    def enable(self) -> None:
        """Let it run in later launches, as it does at first (cuGraphNodeSetEnabled)."""
        self._graph._set_enabled(self._node._node, True)

    def disable(self) -> None:
        """Leave it out of later launches: a kernel, a copy or a fill (cuGraphNodeSetEnabled)."""
        self._graph._set_enabled(self._node._node, False)

    @property
    def is_enabled(self) -> bool:
        """bool: Whether it runs (cuGraphNodeGetEnabled)."""
        return self._graph._is_enabled(self._node._node)

    def __repr__(self) -> str:
        return f"<{self._node!r} of {self._graph!r}>"
