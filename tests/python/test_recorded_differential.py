# SPDX-License-Identifier: Apache-2.0
"""Random sequences of launches, copies and fills do the same, recorded or not."""

from typing import Any, NamedTuple

from cudacore import Device
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_kernels import COUNT, Kernels, current, ints, kernels, new, record

__all__ = ["current", "kernels"]  # fixtures

BUFFERS = 3


class Step(NamedTuple):
    """One operation: on which buffers, from which element, with which number."""

    kind: str
    first: int
    second: int
    begin: int
    number: int
    is_used: bool


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(("add", "copy", "fill", "memcpy", "closure", "constant")),
        st.integers(0, BUFFERS - 1),
        st.integers(0, BUFFERS - 1),
        st.integers(0, COUNT // 2),
        st.integers(0, 1),
        st.booleans(),
    ),
    max_size=12,
)
NUMBERS = st.integers(-(2**31), 2**31 - 1)
CALLS = st.lists(
    st.tuples(st.permutations(range(BUFFERS + 1)), NUMBERS, NUMBERS), min_size=1, max_size=5
)


def run(kernels: Kernels, steps: tuple[Step, ...], own: Any, buffers: Any, numbers: Any) -> None:
    for step in steps:
        x, y, n = buffers[step.first], buffers[step.second], numbers[step.number]
        part = x[4 * step.begin :]
        threads = COUNT - step.begin
        if step.is_used and n % 3 == 0:
            part, threads = x, COUNT
        if step.kind == "add":
            kernels["add"][1, threads](part, n)
        elif step.kind == "copy":
            kernels["copy"][1, threads](part, y)
        elif step.kind == "fill":
            part.fill(step.begin)
        elif step.kind == "memcpy" and step.first != step.second:
            y[: part.size].copy_from(part)
        elif step.kind == "closure":
            kernels["copy"][1, threads](part, own)
            kernels["add"][1, COUNT](own, n)
        elif step.kind == "constant":
            kernels["add"][1, threads](part, 17)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS, calls=CALLS)
def test_the_same_memory(
    device: Device, kernels: Kernels, steps: list[Step], calls: list[Any]
) -> None:
    program = tuple(steps)
    own = [new(device, 5), new(device, 5)]

    @record
    def recorded(x: Any, y: Any, z: Any, a: Any, b: Any) -> None:
        run(kernels, program, own[0], (x, y, z), (a, b))

    plain = [new(device, *range(i, i + COUNT)) for i in range(BUFFERS + 1)]
    replayed = [new(device, *range(i, i + COUNT)) for i in range(BUFFERS + 1)]
    for order, a, b in calls:
        chosen = order[:BUFFERS]
        run(kernels, program, own[1], [plain[i] for i in chosen], (a, b))
        recorded(*(replayed[i] for i in chosen), a, b)
        recorded_too = [ints(one) for one in (*replayed, own[0])]
        assert recorded_too == [ints(one) for one in (*plain, own[1])]
    if not any(step.is_used for step in program):
        assert len(recorded.recordings) == 1
