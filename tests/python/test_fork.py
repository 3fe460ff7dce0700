# SPDX-License-Identifier: Apache-2.0
"""After fork: the child gets an error, and does no harm."""

import subprocess
import sys
from pathlib import Path

import pytest
from harness import run_cleanly

pytestmark = pytest.mark.usefixtures("device")

PRELUDE = """
import gc, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import cudacore
from cudacore import *
device = Device()
stream = device.create_stream()
buffer = device.allocate(64, stream=stream)
event = stream.record()
kernel = Program("__global__ void k(int n) {}", "c++").compile().get_kernel("k")
kernel[1, 1, stream](1)

def in_child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            print(work(), flush=True)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""

USES = {
    "launch": "kernel[1, 1, stream](1)",
    "sync": "stream.sync()",
    "allocate": "device.allocate(64, stream=stream)",
    "copy": "buffer.copy_to(bytearray(64), stream=stream)",
    "create_stream": "device.create_stream()",
    "record": "stream.record()",
    "event": "event.sync()",
    "device": "device.mem_info",
    "load": 'Program("__global__ void j() {}", "c++", {"arch": "sm_90"}).compile("cubin").handle',
    "with": "stream.__enter__().record()",
    "view": "cudacore.utils.StridedMemoryView.from_any_interface(memoryview(b'')[:0], -1)",
}


@pytest.mark.parametrize("use", USES)
def test_every_use_in_the_child_says_so(use: str) -> None:
    output = run_cleanly(PRELUDE + f"in_child(lambda: {USES[use]})")
    assert output.startswith("ForkedProcessError")
    assert "fork" in output
    assert "spawn" in output


def test_parent_goes_on() -> None:
    script = PRELUDE + (
        "in_child(lambda: 1)\nkernel[1, 1, stream](2)\nstream.sync()\nprint(buffer.size)\n"
    )
    assert run_cleanly(script) == "1\n64\n"


def test_what_dies_in_the_child_is_left_alone() -> None:
    script = """
def drop():
    global device, stream, buffer, event, kernel
    buffer.close(); stream.close(); event.close()
    device = stream = buffer = event = kernel = None
    gc.collect()
    return cudacore.unraisable_errors()
print(in_child(drop))
buffer.fill(1, stream=stream)
stream.sync()
"""
    assert run_cleanly(PRELUDE + script) == "0\n0\n"


def test_child_may_exit_in_the_usual_way() -> None:
    script = """
sys.stdout.flush()
pid = os.fork()
if pid:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    stream.sync()
"""
    assert run_cleanly(PRELUDE + script) == "0\n"


def test_child_may_compile() -> None:
    use = 'Program("__global__ void j() {}", "c++", {"arch": "sm_90"}).compile("cubin").kernels'
    assert run_cleanly(PRELUDE + f"in_child(lambda: {use})") == "('j',)\n"


def test_fork_before_first_use_is_fine() -> None:
    script = """
        import os, cudacore
        pid = os.fork()
        cudacore.Device().create_stream().sync()
        if pid:
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    assert run_cleanly(script) == "0\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    script = f"""
import multiprocessing
def main():
    import cudacore
    cudacore.Device().sync()
    context = multiprocessing.get_context("{method}")
    with context.Pool(2) as pool:
        print(pool.map(work, range(4)))
def work(n):
    import cudacore
    cudacore.Device().create_stream().sync()
    return n
if __name__ == "__main__":
    main()
"""
    path = tmp_path / "main.py"
    path.write_text(script)
    result = subprocess.run(
        [sys.executable, str(path)], check=False, capture_output=True, text=True, timeout=120
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "[0, 1, 2, 3]\n", "")


def test_device_shows_itself_in_the_child() -> None:
    assert run_cleanly(PRELUDE + "in_child(lambda: repr(device))") == "<Device 0>\n"
