# SPDX-License-Identifier: Apache-2.0
"""The nodes of graphs that run one of their branches."""

from __future__ import annotations

from cudacore._missing import MissingMember
from cudacore.graph._nodes import CONDITIONAL_KINDS, GraphNode, conditional_type
from cudacore.typing import GraphConditionalType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore._core import GraphCondition
    from cudacore.graph._definition import GraphDefinition


class ConditionalNode(GraphNode):
    """A node that runs one of its branches, or none, by a condition.

    Nodes that were not made here are of this class itself, because the driver doesn't tell more.
    """

    __slots__ = ()
    if not TYPE_CHECKING:
        __enter__ = MissingMember(
            "ConditionalNode.__enter__",
            "its branches are definitions: add nodes to node.branches[0], which an if also has as "
            "node.then, and a loop as node.body",
        )

    @property
    def condition(self) -> GraphCondition | None:
        """GraphCondition or None: What it reads."""
        return self._node.condition

    @property
    def cond_type(self) -> GraphConditionalType | None:
        """GraphConditionalType or None: ``"if"``, ``"while"`` or ``"switch"``."""
        return conditional_type(self._node)

    @property
    def branches(self) -> tuple[GraphDefinition, ...]:
        """Tuple of GraphDefinition: What it runs; build them as any other definition."""
        from cudacore.graph._definition import show_definition  # noqa: PLC0415

        return tuple(show_definition(branch) for branch in self._node.branches)


class IfNode(ConditionalNode):
    """Runs its branch if the condition is not 0."""

    __slots__ = ()

    @property
    def then(self) -> GraphDefinition:
        """GraphDefinition: The branch."""
        return self.branches[0]


class IfElseNode(ConditionalNode):
    """Runs one branch if the condition is not 0, and the other if it is."""

    __slots__ = ()

    @property
    def then(self) -> GraphDefinition:
        """GraphDefinition: The branch for a condition that is not 0."""
        return self.branches[0]

    @property
    def else_(self) -> GraphDefinition:
        """GraphDefinition: The branch for 0."""
        return self.branches[1]


class WhileNode(ConditionalNode):
    """Repeats its branch as long as the condition is not 0."""

    __slots__ = ()

    @property
    def body(self) -> GraphDefinition:
        """GraphDefinition: The branch."""
        return self.branches[0]


class SwitchNode(ConditionalNode):
    """Runs the branch with the condition's number, if there is one."""

    __slots__ = ()


CONDITIONAL_KINDS.update(
    {
        (None, 0): ConditionalNode,
        (GraphConditionalType.IF, 1): IfNode,
        (GraphConditionalType.IF, 2): IfElseNode,
        (GraphConditionalType.WHILE, 1): WhileNode,
        (GraphConditionalType.SWITCH, None): SwitchNode,
    }
)
