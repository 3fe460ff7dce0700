# SPDX-License-Identifier: Apache-2.0
"""Choices that functions of the tile language take: rounding, padding, memory order and scope."""

from __future__ import annotations

from enum import Enum


class RoundingMode(Enum):
    """How an operation on floats rounds its result.

    Examples
    --------
    In a kernel::

        t = ct.sqrt(a, rounding_mode=ct.RoundingMode.APPROX)
    """

    RN = "nearest_even"
    """To the nearest number; a tie goes to the even one."""

    RZ = "zero"
    """Toward zero."""

    RM = "negative_inf"
    """Toward negative infinity."""

    RP = "positive_inf"
    """Toward positive infinity."""

    RA = "nearest_away"
    """To the nearest number; a tie goes away from zero."""

    FULL = "full"
    """The accurate implementation, of whatever rounding."""

    APPROX = "approx"
    """The fast approximation of the hardware."""

    RZI = "nearest_int_to_zero"
    """Toward zero, to an integer."""


class PaddingMode(Enum):
    """What a load gives for elements outside of the array.

    Examples
    --------
    In a kernel::

        t = ct.load(x, (0, 0), shape=(8, 8), padding_mode=ct.PaddingMode.NEG_INF)
    """

    UNDETERMINED = "undetermined"
    """Anything."""

    ZERO = "zero"
    """Zero."""

    NEG_ZERO = "neg_zero"
    """Negative zero."""

    NAN = "nan"
    """Not a number."""

    POS_INF = "pos_inf"
    """Positive infinity."""

    NEG_INF = "neg_inf"
    """Negative infinity."""


class MemoryOrder(Enum):
    """How a memory operation is ordered with the operations around it.

    Examples
    --------
    In a kernel::

        old = ct.atomic_add(
            lock, 0, 1, memory_order=ct.MemoryOrder.ACQ_REL, memory_scope=ct.MemoryScope.DEVICE
        )
    """

    WEAK = "weak"
    """Not ordered and not atomic: other threads must not touch the same memory meanwhile."""

    RELAXED = "relaxed"
    """Atomic, but orders nothing else."""

    ACQUIRE = "acquire"
    """What the block does later stays after it, and sees what the releasing thread wrote."""

    RELEASE = "release"
    """What the block did before stays before it, and is seen by who acquires the value."""

    ACQ_REL = "acq_rel"
    """Both ``ACQUIRE`` and ``RELEASE``."""


class MemoryScope(Enum):
    """Which threads a memory order holds for.

    Examples
    --------
    In a kernel::

        old = ct.atomic_add(
            lock, 0, 1, memory_order=ct.MemoryOrder.RELAXED, memory_scope=ct.MemoryScope.BLOCK
        )
    """

    NONE = "none"
    """None: the scope of ``MemoryOrder.WEAK``."""

    BLOCK = "block"
    """The threads of the block."""

    CLUSTER = "cluster"
    """The threads of the cluster. No function of this language takes it."""

    DEVICE = "device"
    """The threads of the device."""

    SYS = "sys"
    """All threads of the system: of every device, and of the host."""
