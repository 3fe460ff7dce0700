# SPDX-License-Identifier: Apache-2.0
"""Taking processes off their devices; what the driver does with it is tested in C++."""

import os
import uuid
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import Device, NotSupportedError, _core, checkpoint
from cudacore.checkpoint import Process
from cudacore.typing import ProcessStateType

UUID = "8f0a1c2d-0000-1111-2222-333344445555"


class TestArguments:
    def test_process(self) -> None:
        assert Process(4711).pid == 4711
        assert repr(Process(4711)) == "Process(4711)"
        assert dir(checkpoint) == ["Process"]

    @pytest.mark.parametrize("pid", [0, -1, 2**31])
    def test_ids_that_no_process_has(self, pid: int) -> None:
        with pytest.raises(ValueError, match=rf"pid must lie in 1 .. 2\*\*31 - 1, not {pid}"):
            Process(pid)

    @pytest.mark.parametrize("pid", ["1", 1.0, None, True])
    def test_ids_that_are_no_ints(self, pid: Any) -> None:
        with pytest.raises(TypeError, match="pid must be an int, not "):
            Process(pid)

    @pytest.mark.parametrize(
        ("call", "error"),
        [
            (lambda: Process(1).lock(-1), ValueError),
            (lambda: Process(1).lock(2**32), ValueError),
            (lambda: Process(1).lock(0.5), TypeError),  # type: ignore[arg-type]
            (lambda: Process(1).restore([]), TypeError),  # type: ignore[arg-type]
            (lambda: Process(1).restore({UUID: 5}), TypeError),  # type: ignore[dict-item]
            (lambda: Process(1).restore({UUID: "GPU-short"}), ValueError),
        ],
    )
    def test_wrong_arguments_reach_no_driver(
        self, call: Callable[[], object], error: type[Exception], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("lock", "restore"):
            monkeypatch.setattr(_core, f"checkpoint_{name}", pytest.fail)
        with pytest.raises(error):
            call()

    def test_devices_are_passed_as_uuids(
        self, device: Device, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given: list[bytes] = []
        monkeypatch.setattr(_core, "checkpoint_restore", lambda _, pairs: given.append(pairs))
        own = uuid.UUID(device.uuid).bytes
        other = uuid.UUID(UUID).bytes
        Process(1).restore({device: UUID, uuid.UUID(UUID): device.to_system_device()})
        Process(1).restore()
        Process(1).restore({})
        assert given == [own + other + other + own, b"", b""]

    def test_states(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for number, state in enumerate(ProcessStateType):
            monkeypatch.setattr(_core, "checkpoint_state", lambda _, number=number: number)
            assert Process(1).state is state


@pytest.mark.simulator_only(reason="a GPU may have them")
@pytest.mark.parametrize(
    "call",
    [
        lambda process: process.state,
        lambda process: process.restore_thread_id,
        lambda process: process.lock(),
        lambda process: process.checkpoint(),
        lambda process: process.restore(),
        lambda process: process.unlock(),
    ],
)
def test_simulated_device_has_none(call: Callable[[Process], object], device: Device) -> None:
    assert device is not None
    with pytest.raises(NotSupportedError, match="cuCheckpointProcess"):
        call(Process(os.getpid()))


@pytest.mark.gpu_only(reason="the simulated device makes no checkpoints")
def test_state_of_this_process(device: Device) -> None:
    device.set_current()
    try:
        assert Process(os.getpid()).state == "running"
    except cudacore.NotSupportedError:
        pytest.skip("the driver makes no checkpoints")


def test_damaged_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        _core.checkpoint_restore(1, b"short")
