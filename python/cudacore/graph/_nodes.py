# SPDX-License-Identifier: Apache-2.0
"""The nodes of graphs."""

from __future__ import annotations

import enum
import weakref
from collections.abc import MutableSet
from collections.abc import Set as AbstractSet
from typing import TypeVar

from cudacore.graph._adding import Adding
from cudacore.graph._work import CONDITIONAL_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

    from cudacore._core import _GraphNode, _GraphWork
    from cudacore.graph._definition import GraphDefinition
    from cudacore.typing import GraphConditionalType


_Found = TypeVar("_Found")


class GraphNodeType(enum.IntEnum):
    """The kind of a node, as the driver numbers and names it."""

    CU_GRAPH_NODE_TYPE_KERNEL = 0
    CU_GRAPH_NODE_TYPE_MEMCPY = 1
    CU_GRAPH_NODE_TYPE_MEMSET = 2
    CU_GRAPH_NODE_TYPE_HOST = 3
    CU_GRAPH_NODE_TYPE_GRAPH = 4
    CU_GRAPH_NODE_TYPE_EMPTY = 5
    CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6
    CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9
    CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10
    CU_GRAPH_NODE_TYPE_MEM_FREE = 11
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12
    CU_GRAPH_NODE_TYPE_CONDITIONAL = 13


class GraphNode(Adding):
    """A node of a graph; its methods add nodes that run after it.

    A node is one object as long as you keep it. It keeps its definition alive.
    """

    __slots__ = ("__weakref__", "_node")
    _node: _GraphNode

    def __init__(self) -> None:
        msg = "nodes are made by the methods of a GraphDefinition or of a node"
        raise TypeError(msg)

    def _add(self, work: _GraphWork, *others: GraphNode) -> Any:
        return show(self._node.graph.add(work, [_bound(node) for node in (self, *others)]))

    @property
    def type(self) -> GraphNodeType | None:
        """GraphNodeType or None: The kind of the node; None once it is destroyed."""
        return GraphNodeType(self._node.kind) if self.is_valid else None

    @property
    def graph(self) -> GraphDefinition:
        """GraphDefinition: The graph that it is part of."""
        from cudacore.graph._definition import show_definition  # noqa: PLC0415

        return show_definition(self._node.graph)

    @property
    def handle(self) -> int | None:
        """The CUgraphNode, an int; None once it is destroyed."""
        return self._node.handle or None

    @property
    def is_valid(self) -> bool:
        """bool: Whether it has not been destroyed, nor the node that contains its graph."""
        return self._node.is_valid

    def destroy(self) -> None:
        """Remove it and its edges from the graph, unless that is done (cuGraphDestroyNode)."""
        self._node.destroy()

    @property
    def pred(self) -> MutableSet[GraphNode]:
        """Set of GraphNode: The nodes it runs after; changing the set changes the edges."""
        return _Neighbors(self._node, before=True)

    @pred.setter
    def pred(self, nodes: Iterable[GraphNode]) -> None:
        _Neighbors(self._node, before=True).replace(nodes)

    @property
    def succ(self) -> MutableSet[GraphNode]:
        """Set of GraphNode: The nodes that run after it; changing the set changes the edges."""
        return _Neighbors(self._node, before=False)

    @succ.setter
    def succ(self, nodes: Iterable[GraphNode]) -> None:
        _Neighbors(self._node, before=False).replace(nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphNode):
            return NotImplemented
        return self._node.identity == other._node.identity

    def __hash__(self) -> int:
        return hash(self._node.identity)

    def __repr__(self) -> str:
        name = type(self).__name__
        handle = self.handle
        return (
            f"<{name}, destroyed>" if handle is None else f"<{name}{self._label} at 0x{handle:x}>"
        )

    def __reduce__(self) -> NoReturn:
        refuse_pickle(self)

    @property
    def _label(self) -> str:
        """What tells it from other nodes of its kind, with a space before."""
        return ""


# By GraphNodeType; the modules that define the classes add them.
KINDS: dict[int, type[GraphNode]] = {}
# By the type and the number of branches, None for any.
CONDITIONAL_KINDS: dict[tuple[GraphConditionalType | None, int | None], type[GraphNode]] = {}


def conditional_type(bound: _GraphNode) -> GraphConditionalType | None:
    """Return how a conditional node runs its branches, if that is known."""
    kind = bound.condition_kind
    return None if kind is None else CONDITIONAL_TYPES[kind]


# By identity, which is a node's own as long as there is an object of it.
_shown: weakref.WeakValueDictionary[int, GraphNode] = weakref.WeakValueDictionary()


def show(bound: _GraphNode) -> Any:
    """Return the object of a node."""
    known = _shown.get(bound.identity)
    if known is not None:
        return known
    kind = KINDS.get(bound.kind, GraphNode)
    if bound.kind == GraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL:
        how = conditional_type(bound)
        kind = CONDITIONAL_KINDS.get((how, len(bound.branches))) or CONDITIONAL_KINDS[how, None]
    node = kind.__new__(kind)
    node._node = bound
    return _shown.setdefault(bound.identity, node)


def refuse_pickle(shown: object) -> NoReturn:
    """Refuse to pickle or copy what belongs to the driver."""
    msg = (
        f"a {type(shown).__name__} can be neither pickled nor copied: it is of this process's "
        "driver; embed() puts a copy of a whole graph into another"
    )
    raise TypeError(msg)


def _bound(node: object) -> _GraphNode:
    if not isinstance(node, GraphNode):
        msg = f"expected a GraphNode, not {type(node).__name__}"
        raise TypeError(msg)
    return node._node


def bound_nodes(nodes: Iterable[object]) -> list[_GraphNode]:
    """List what stands for nodes in the extension."""
    return [_bound(node) for node in nodes]


class OrderedSet(AbstractSet[_Found]):
    """A set of nodes, or of edges, that keeps their order."""

    __slots__ = ("_found",)

    def __init__(self, found: Iterable[_Found]) -> None:
        self._found = dict.fromkeys(found)

    @classmethod
    def _from_iterable(cls, found: Iterable[Any]) -> set[Any]:
        return set(found)

    def __iter__(self) -> Iterator[_Found]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, one: object) -> bool:
        return one in self._found

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self._found))}}}" if self._found else "set()"


class _Neighbors(MutableSet["GraphNode"]):
    """The predecessors or successors of a node, as a set that changes the edges."""

    def __init__(self, node: _GraphNode, *, before: bool) -> None:
        self._node = node
        self._before = before

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:
        return set(nodes)

    def _list(self) -> list[GraphNode]:
        if not self._node.is_valid:
            return []
        found = self._node.predecessors if self._before else self._node.successors
        return [show(node) for node in found]

    def _edge(self, node: object) -> tuple[_GraphNode, _GraphNode]:
        other = _bound(node)
        return (other, self._node) if self._before else (self._node, other)

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __contains__(self, node: object) -> bool:
        return node in self._list()

    def add(self, value: GraphNode) -> None:
        """Add an edge."""
        edge = self._edge(value)
        if value not in self:
            self._node.graph.add_edge(*edge)

    def discard(self, value: GraphNode) -> None:
        """Remove an edge if there is one."""
        if value in self:
            self._node.graph.remove_edge(*self._edge(value))

    def update(self, *others: Iterable[GraphNode]) -> None:
        """Add edges."""
        for nodes in others:
            self |= set(nodes)

    def replace(self, nodes: Iterable[GraphNode]) -> None:
        """Add and remove edges until these are all."""
        if isinstance(nodes, GraphNode):
            name = "pred" if self._before else "succ"
            msg = f"{name} is a set of nodes: node.{name} = [other]"
            raise TypeError(msg)
        wanted = set(nodes)
        for node in wanted:
            _bound(node)
        for node in self._list():
            if node not in wanted:
                self.discard(node)
        for node in wanted:
            self.add(node)

    def __repr__(self) -> str:
        return repr(set(self))
