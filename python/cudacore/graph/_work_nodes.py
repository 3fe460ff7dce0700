# SPDX-License-Identifier: Apache-2.0
"""The nodes of graphs that launch, copy, fill, order, call, and contain other graphs."""

from __future__ import annotations

from cudacore._core import CUDAError, _GraphWork
from cudacore.graph import _work
from cudacore.graph._adding import require_event
from cudacore.graph._names import named
from cudacore.graph._nodes import KINDS, GraphNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from cudacore._core import Buffer, Event, Kernel, LaunchConfig
    from cudacore.graph._definition import GraphDefinition


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

    @named("KernelNode.update")
    def _changed(
        self,
        *,
        config: LaunchConfig | Mapping[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: tuple[Any, ...] | None = None,
    ) -> _GraphWork:
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

    def update(
        self,
        *,
        config: LaunchConfig | Mapping[str, Any] | None = None,
        kernel: Kernel | None = None,
        args: tuple[Any, ...] | None = None,
    ) -> None:
        """Change what later graphs launch (cuGraphNodeSetParams); what is None stays.

        Parameters
        ----------
        config : LaunchConfig
        kernel : Kernel
            Needs `args`.
        args : tuple
            Needed for a node that wasn't added by ``launch``, such as one that was captured.
        """
        self._node.update(self._changed(config=config, kernel=kernel, args=args))


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

    @named("MemcpyNode.update")
    def _changed(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> _GraphWork:
        before = self._node.operands
        if before is None:
            dst_address, src_address, count = self._node.copy
            before = _work.Copy(_work.Operand(dst_address), _work.Operand(src_address), count)
        return _work.memcpy(before, dst, src, size, dst_owner, src_owner)

    def update(
        self,
        *,
        dst: Buffer | int | None = None,
        src: Buffer | int | None = None,
        size: int | None = None,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> None:
        """Change what later graphs copy (cuGraphNodeSetParams); what is None stays.

        The parameters are those of `GraphNode.memcpy`.
        """
        work = self._changed(dst=dst, src=src, size=size, dst_owner=dst_owner, src_owner=src_owner)
        self._node.update(work)


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

    @named("MemsetNode.update")
    def _changed(
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
        before = self._node.operands
        if before is None:
            target, *rest = self._node.fill
            before = _work.Fill(_work.Operand(target), *rest)
        return _work.memset(before, dst, value, element_size, width, height, pitch, dst_owner)

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
    ) -> None:
        """Change what later graphs fill (cuGraphNodeSetParams); what is None stays.

        The parameters are those of `GraphNode.memset`; an int `value` has `element_size` bytes.
        """
        self._node.update(
            self._changed(
                dst=dst,
                value=value,
                element_size=element_size,
                width=width,
                height=height,
                pitch=pitch,
                dst_owner=dst_owner,
            )
        )


class _EventNode(GraphNode):
    __slots__ = ()

    @property
    def event(self) -> Event:
        """Event: The event."""
        return self._node.event

    def update(self, event: Event) -> None:
        """Use another event in later graphs (cuGraphNodeSetParams)."""
        self._node.update(self._changed(event))

    def _changed(self, event: Event) -> _GraphWork:
        raise NotImplementedError


class EventRecordNode(_EventNode):
    """The record of an event."""

    __slots__ = ()

    @named("EventRecordNode.update")
    def _changed(self, event: Event) -> _GraphWork:
        return _GraphWork.record(require_event(event))


class EventWaitNode(_EventNode):
    """The wait for an event."""

    __slots__ = ()

    @named("EventWaitNode.update")
    def _changed(self, event: Event) -> _GraphWork:
        return _GraphWork.wait(require_event(event))


class HostCallbackNode(GraphNode):
    """The call of a function on the host."""

    __slots__ = ()

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """Callable or None: The Python callable; None for a ctypes function."""
        operands = self._node.operands
        return None if operands is None else operands.fn

    @named("HostCallbackNode.update")
    def _changed(self, fn: Callable[..., object], *, user_data: object = None) -> _GraphWork:
        return _work.callback(fn, user_data)

    def update(self, fn: Callable[..., object], *, user_data: object = None) -> None:
        """Call another function in later graphs (cuGraphNodeSetParams).

        The parameters are those of `GraphNode.callback`.
        """
        self._node.update(self._changed(fn, user_data=user_data))


class ChildGraphNode(GraphNode):
    """A whole graph as one node."""

    __slots__ = ()

    @property
    def child_graph(self) -> GraphDefinition:
        """GraphDefinition: The copy that the node contains; it may be edited."""
        from cudacore.graph._definition import show_definition  # noqa: PLC0415

        return show_definition(self._node.child_graph)

    @named("ChildGraphNode.update")
    def _changed(self, child: GraphDefinition) -> _GraphWork:
        return _GraphWork.child(child._definition)


# By CUgraphNodeType.
KINDS.update(
    {
        0: KernelNode,
        1: MemcpyNode,
        2: MemsetNode,
        3: HostCallbackNode,
        4: ChildGraphNode,
        5: EmptyNode,
        6: EventWaitNode,
        7: EventRecordNode,
    }
)
