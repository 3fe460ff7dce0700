# SPDX-License-Identifier: Apache-2.0
"""The nodes of graphs that allocate and free memory."""

from __future__ import annotations

from cudacore.graph._nodes import KINDS, GraphNode, GraphNodeType
from cudacore.graph._work import MEMORY_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.typing import GraphMemoryType


class AllocNode(GraphNode):
    """An allocation of memory; its address is the same in each launch."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """int: The address."""
        return self._node.allocation[0]

    @property
    def bytesize(self) -> int:
        """int: Bytes."""
        return self._node.allocation[1]

    @property
    def device_id(self) -> int:
        """int: The device; -1 for memory of the host."""
        return self._node.allocation[2]

    @property
    def memory_type(self) -> GraphMemoryType:
        """GraphMemoryType: ``"device"``, ``"host"`` or ``"managed"``."""
        return MEMORY_TYPES[self._node.allocation[3]]

    @property
    def peer_access(self) -> tuple[int, ...]:
        """Tuple of int: Other devices that may access the memory."""
        return self._node.allocation[4]


class FreeNode(GraphNode):
    """The release of memory that a node allocated."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """int: The address."""
        return self._node.released


KINDS[GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC] = AllocNode
KINDS[GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE] = FreeNode
