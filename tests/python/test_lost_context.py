# SPDX-License-Identifier: Apache-2.0
"""A kernel that fails: which kernel is named, what later calls say, and how fast."""

import json

import cudacore
import pytest
from harness import run

pytestmark = pytest.mark.usefixtures("device")

PRELUDE = """
import json, time
import cudacore
from cudacore import *
SOURCE = r'''
#include <cuda/std/cassert>
__global__ void fine(int* p) { *p = 1; }
__global__ void innocent(int* p) { *p += 1; }
__global__ void bad_address(int* p) { *(volatile int*)8 = 1; }
__global__ void bad_assert(int* p) { assert(p == nullptr); }
__global__ void bad_trap(int* p) { __trap(); }
'''
device = Device()
stream = device.create_stream()
buffer = device.allocate(64, stream=stream)
code = Program(SOURCE, "c++").compile()
fine, innocent = code.get_kernel("fine"), code.get_kernel("innocent")
fine[1, 1, stream](buffer)
stream.sync()

def say(use):
    start = time.perf_counter()
    try:
        use()
        kind, text, name = "", "", ""
    except Exception as error:
        kind, text, name = type(error).__name__, str(error), getattr(error, "name", "")
    return kind, text, name, time.perf_counter() - start
"""

BAD = {
    "bad_address": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "bad_assert": "CUDA_ERROR_ASSERT",
    "bad_trap": "CUDA_ERROR_LAUNCH_FAILED",
}
LATER = {
    "sync": "stream.sync()",
    "launch": "fine[1, 1, stream](buffer)",
    "allocate": "device.allocate(64, stream=stream)",
    "fill": "buffer.fill(0, stream=stream)",
    "record": "stream.record()",
    "create_stream": "device.create_stream()",
    "device": "device.sync()",
    "load": "Program(SOURCE, 'c++').compile().get_kernel('fine')",
}


def after(kernel: str, *uses: str) -> list[tuple[str, str, str, float]]:
    """Return what a sync, then each use, says in a process whose context the kernel destroyed."""
    calls = ", ".join(f"say(lambda: {use})" for use in ("stream.sync()", *uses))
    script = PRELUDE + (
        f"innocent[1, 1, stream](buffer)\n"
        f"code.get_kernel('{kernel}')[1, 1, stream](buffer)\n"
        f"print(json.dumps([{calls}]))\n"
    )
    result = run(script)
    assert result.returncode == 0, result.stderr
    assert "Error" not in result.stderr
    return [tuple(one) for one in json.loads(result.stdout.splitlines()[-1])]


@pytest.mark.parametrize("kernel", BAD)
def test_error_names_the_kernels_since_the_last_sync(kernel: str) -> None:
    [(kind, text, name, _)] = after(kernel)
    assert kind == "LaunchError"
    assert name == BAD[kernel]
    assert BAD[kernel] in text
    assert kernel in text
    assert "innocent" in text
    assert "fine" not in text


def test_error_gives_advice() -> None:
    [(_, text, _, _)] = after("bad_address")
    # The simulated device itself names the access.
    advice = "bad_address(int*)" if cudacore.simulator.is_enabled() else "compute-sanitizer"
    assert advice in text
    assert "process" in text


@pytest.mark.parametrize("use", LATER)
def test_later_calls_raise_at_once(use: str) -> None:
    first, second, third = after("bad_address", LATER[use], LATER[use])
    assert first[0] == "LaunchError"
    for kind, text, _, _ in (second, third):
        assert kind == "ContextLostError"
        assert "bad_address" in text
        assert "process" in text
    assert third[3] < (0.2 if use == "load" else 0.01)


def test_whoever_hears_first_names_the_kernels() -> None:
    result = run(
        PRELUDE
        + """
code.get_kernel("bad_address")[1, 1, stream](buffer)
while True:
    kind, text, name, _ = say(lambda: stream.is_done)
    if kind:
        break
print(kind, "bad_address" in text, device.context.is_lost)
"""
    )
    assert (result.returncode, result.stdout) == (0, "LaunchError True True\n")


def test_what_is_closed_afterwards_is_silent() -> None:
    result = run(
        PRELUDE
        + """
code.get_kernel("bad_trap")[1, 1, stream](buffer)
say(stream.sync)
buffer.close()
stream.close()
del fine, innocent, code
print(unraisable_errors(), device.context.is_lost)
"""
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 True\n", "")


@pytest.mark.multi_gpu
def test_other_devices_are_lost_too() -> None:
    result = run(
        PRELUDE
        + """
import faulthandler
faulthandler.dump_traceback_later(30, exit=True)
other = Device(1)
other.sync()
code.get_kernel("bad_address")[1, 1, stream](buffer)
print(say(stream.sync)[0])
kind, text, _, _ = say(other.create_stream)
print(kind, "bad_address" in text, "no object of any device" in text)
print(other.context.is_lost, device.context.is_lost)
"""
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == ["LaunchError", "ContextLostError True True", "True True"]


FIRST_TO_HEAR = {
    "close of a buffer": "buffer.close()",
    "end of a buffer": "del buffer",
    "end of a stream": "other = device.create_stream(); del other",
    "end of an event": "event = device.create_event(); del event",
    "end of pinned memory": "del pinned",
}


@pytest.mark.parametrize("what", FIRST_TO_HEAR)
def test_a_release_that_hears_first_leaves_it_to_the_next_call(what: str) -> None:
    result = run(
        PRELUDE
        + f"""
import time
pinned = LegacyPinnedMemoryResource().allocate(64, stream=stream)
code.get_kernel("bad_address")[1, 1, stream](buffer)
time.sleep(0.3)

def release():
    global buffer, pinned
    {FIRST_TO_HEAR[what]}

told = [one for one in (say(release), say(stream.sync), say(device.sync)) if one[0]]
print([kind for kind, *_ in told][:2], "bad_address" in told[0][1], unraisable_errors())
"""
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "['LaunchError', 'ContextLostError'] True 0\n"
