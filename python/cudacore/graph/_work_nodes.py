# SPDX-License-Identifier: Apache-2.0
"""The nodes of graphs that launch, copy, fill, order, call, and contain other graphs."""

from __future__ import annotations

import functools

from cudacore._core import CUDAError, _GraphWork
from cudacore.graph import _work
from cudacore.graph._adding import require_event
from cudacore.graph._nodes import KINDS, GraphNode, GraphNodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from cudacore._core import Buffer, Event, Kernel, LaunchConfig
    from cudacore.graph._definition import GraphDefinition

    _Parameters = ParamSpec("_Parameters")
    _Updated = TypeVar("_Updated", bound=GraphNode)


def updating(
    make: Callable[Concatenate[_Updated, _Parameters], _GraphWork],
) -> Callable[Concatenate[_Updated, _Parameters], None]:
    """Make `update` of what makes the new work, which `ExecutableNode` needs: ``__wrapped__``."""
    make.__annotations__["return"] = "None"  # as signatures and documentation show it

    @functools.wraps(make)
    def update(self: _Updated, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> None:
        self._node.update(make(self, *args, **kwargs))

    return update


class EmptyNode(GraphNode):
    """A node that does nothing: it joins others."""

    __slots__ = ()


class KernelNode(GraphNode):
    """A kernel."""

    __slots__ = ()

    @property
    def kernel(self) -> Kernel:
        """Kernel: What it launches."""
        return self._node.kernel

    @property
    def config(self) -> LaunchConfig:
        """LaunchConfig: The shape; a priority of 0 is not told from none."""
        return self._node.config

    @property
    def _label(self) -> str:
        try:
            return f" {self.kernel.name}" if self.is_valid else ""
        except CUDAError:  # other code launched it, and it has no Kernel
            return ""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Tuple of int: The blocks, or clusters, in x, y and z."""
        return self.config.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Tuple of int: The threads of a block in x, y and z."""
        return self.config.block

    @property
    def shmem_size(self) -> int:
        """int: Bytes of dynamic shared memory of a block."""
        return self.config.shmem_size

    @property
    def device_node(self) -> int:
        """int: What kernels know the node by: they take it as a ``cudaGraphDeviceNode_t``.

        ValueError: it was not launched with ``device_updatable_kernel_node``.
        """
        return self._node.device_node

    @updating
    def update(
        self,
        *,
        config: LaunchConfig | Mapping[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: tuple[Any, ...] | None = None,
    ) -> _GraphWork:
        """Change what later graphs launch (cuGraphNodeSetParams); what is None stays.

        Parameters
        ----------
        config : LaunchConfig
        kernel : Kernel
            Needs `args`.
        args : tuple
            Needed for a node that wasn't added by ``launch``, such as one that was captured.
        """
        before = self._node.operands
        if before is None and (config is None or kernel is None or args is None):
            if args is None:
                msg = (
                    "give args too: the arguments of this node are not known, because it was "
                    "captured, copied, or added by other code"
                )
                raise ValueError(msg)
            before = _work.Launch(
                self.config if config is None else None,
                self.kernel if kernel is None else None,
                None,
            )
        return _work.launch(before, config, kernel, args)


class MemcpyNode(GraphNode):
    """A copy."""

    __slots__ = ()

    @property
    def dst(self) -> int:
        """int: The address it writes."""
        return self._node.copy[0]

    @property
    def src(self) -> int:
        """int: The address it reads."""
        return self._node.copy[1]

    @property
    def size(self) -> int:
        """int: Bytes."""
        return self._node.copy[2]

    @updating
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> _GraphWork:
        """Change what later graphs copy (cuGraphNodeSetParams); what is None stays.

        The parameters are those of `GraphNode.memcpy`.
        """
        before = self._node.operands
        if before is None:
            dst_address, src_address, count = self._node.copy
            before = _work.Copy(_work.Operand(dst_address), _work.Operand(src_address), count)
        return _work.memcpy(before, dst, src, size, dst_owner, src_owner)


class MemsetNode(GraphNode):
    """A fill."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """int: The address it fills."""
        return self._node.fill[0]

    @property
    def value(self) -> int:
        """int: What it fills with."""
        return self._node.fill[1]

    @property
    def element_size(self) -> int:
        """int: Bytes of the value: 1, 2 or 4."""
        return self._node.fill[2]

    @property
    def width(self) -> int:
        """int: Elements of a row."""
        return self._node.fill[3]

    @property
    def height(self) -> int:
        """int: Rows."""
        return self._node.fill[4]

    @property
    def pitch(self) -> int:
        """int: Bytes from one row to the next."""
        return self._node.fill[5]

    @updating
    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        value: object = None,
        element_size: int | None = None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner: object = None,
    ) -> _GraphWork:
        """Change what later graphs fill (cuGraphNodeSetParams); what is None stays.

        The parameters are those of `GraphNode.memset`; an int `value` has `element_size` bytes.
        """
        before = self._node.operands
        if before is None:
            target, *rest = self._node.fill
            before = _work.Fill(_work.Operand(target), *rest)
        return _work.memset(before, dst, value, element_size, width, height, pitch, dst_owner)


class _EventNode(GraphNode):
    __slots__ = ()

    @property
    def event(self) -> Event:
        """Event: The event."""
        return self._node.event


class EventRecordNode(_EventNode):
    """The record of an event."""

    __slots__ = ()

    @updating
    def update(self, event: Event) -> _GraphWork:
        """Record another event in later graphs (cuGraphNodeSetParams)."""
        return _GraphWork.record(require_event(event))


class EventWaitNode(_EventNode):
    """The wait for an event."""

    __slots__ = ()

    @updating
    def update(self, event: Event) -> _GraphWork:
        """Wait for another event in later graphs (cuGraphNodeSetParams)."""
        return _GraphWork.wait(require_event(event))


class HostCallbackNode(GraphNode):
    """The call of a function on the host."""

    __slots__ = ()

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """Callable or None: The Python callable; None for a ctypes function."""
        operands = self._node.operands
        return None if operands is None else operands.fn

    @updating
    def update(self, fn: Callable[..., object], *, user_data: object = None) -> _GraphWork:
        """Call another function in later graphs (cuGraphNodeSetParams).

        The parameters are those of `GraphNode.callback`.
        """
        return _work.callback(fn, user_data)


class ChildGraphNode(GraphNode):
    """A whole graph as one node."""

    __slots__ = ()

    @property
    def child_graph(self) -> GraphDefinition:
        """GraphDefinition: The copy that the node contains; it may be edited."""
        from cudacore.graph._definition import show_definition  # noqa: PLC0415

        return show_definition(self._node.child_graph)

    @updating
    def update(self, child: GraphDefinition) -> _GraphWork:
        """Run the work of another graph: ``graph[node].update(child)`` (cuGraphExecNodeSetParams).

        Parameters
        ----------
        child : GraphDefinition
            Its nodes and edges must be those of `child_graph`.

        Raises
        ------
        NotSupportedError
            This node itself is updated: it keeps its graph. Edit `child_graph` instead.
        """
        return _work.child(child)


KINDS.update(
    {
        GraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL: KernelNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY: MemcpyNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET: MemsetNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_HOST: HostCallbackNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH: ChildGraphNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY: EmptyNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT: EventWaitNode,
        GraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD: EventRecordNode,
    }
)
