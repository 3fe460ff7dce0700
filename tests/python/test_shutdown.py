# SPDX-License-Identifier: Apache-2.0
"""Interpreter exit: code 0 and a silent standard error, whatever is still alive."""

import pytest
from harness import run, run_cleanly

pytestmark = pytest.mark.usefixtures("device")

PRELUDE = """
import atexit, gc, os, sys, threading, time
import cudacore
from cudacore import *
device = Device()
SPIN = "__global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n) {} }"
"""
MAKE = """
stream = device.create_stream()
pool = DeviceMemoryResource(device, {"max_size": 1 << 24})
buffer = pool.allocate(1 << 20, stream=stream)
pinned = LegacyPinnedMemoryResource().allocate(64)
event = stream.record()
code = Program(SPIN, "c++").compile()
kernel = code.get_kernel("spin")
launcher = kernel[1, 1, stream]
launcher(1_000_000)
"""

ORDERS = {
    "all alive": MAKE,
    "nothing used": "",
    "in a cycle": MAKE + "ring = [stream, buffer, event, kernel]; ring.append(ring); gc.disable()",
    "in a class": MAKE + "class Holder: kept = [buffer, stream, event, kernel, pinned]",
    "in a closure": MAKE + "def f(x=[buffer, stream]): return x\nsys.excepthook_kept = f",
    "in sys": MAKE + "sys.kept = [buffer, stream, event, kernel, pool, pinned, device]",
    "in an atexit": MAKE
    + "atexit.register(lambda b=buffer, s=stream: (b.fill(1, stream=s), s.sync()))",
    "made in an atexit": "atexit.register(lambda: Device().create_stream().sync())",
    "work in flight": MAKE + "[launcher(2_000_000_000) for _ in range(3)]",
    "inside with": MAKE + "stream.__enter__()",
    "callback pending": MAKE + "stream.add_callback(time.sleep, 0.2)",
    "os._exit": MAKE + "os._exit(0)",
    "sys.exit in a thread": MAKE + "t = threading.Thread(target=sys.exit); t.start(); t.join()",
    "objects of a dead thread": """
made = []
t = threading.Thread(target=lambda: made.extend([device.create_stream(), device.allocate(64)]))
t.start(); t.join()
""",
    "python resource": MAKE
    + """
class Mine(MemoryResource):
    is_device_accessible = True
    is_host_accessible = False
    device_id = 0
    def allocate(self, size, *, stream=None):
        self.inner = pool.allocate(size, stream=stream)
        return Buffer.from_handle(self.inner.handle, size, mr=self, stream=stream)
    def deallocate(self, ptr, size, *, stream=None):
        self.inner.close(stream)
mine = Mine().allocate(64, stream=stream)
""",
    "modules cleared": MAKE + "sys.modules.pop('cudacore._core'); sys.modules.pop('cudacore')",
}


@pytest.mark.parametrize("order", ORDERS)
def test_exits_cleanly(order: str) -> None:
    assert run_cleanly(PRELUDE + ORDERS[order]) == ""


DAEMONS = {
    "launching": "kernel[1, 1, stream](10)",
    "allocating": "device.allocate(4096, stream=stream).close()",
    "synchronising": "stream.record().sync()",
    "creating": "device.create_stream()",
    "compiling": 'Program("__global__ void k() {}", "c++", {"arch": "sm_90"}).compile("ptx")',
    "waiting for a callback": "stream.add_callback(time.sleep, 0.001)",
}


@pytest.mark.parametrize("work", DAEMONS)
def test_daemon_threads_at_exit(work: str) -> None:
    script = f"""
started = threading.Event()
def work():
    while True:
        {DAEMONS[work]}
        started.set()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
started.wait(30)
"""
    for _ in range(3):
        assert run_cleanly(PRELUDE + MAKE + script) == ""


def test_daemon_thread_in_sync_at_exit() -> None:
    script = """
threading.Thread(target=lambda: (launcher(1 << 35), stream.sync()), daemon=True).start()
time.sleep(0.2)
"""
    assert run_cleanly(PRELUDE + MAKE + script, timeout=15) == ""


def test_exception_ends_with_its_traceback_only() -> None:
    result = run(PRELUDE + MAKE + "error = LookupError('mine')\nraise error")
    assert result.returncode == 1
    assert result.stderr.rstrip().endswith("LookupError: mine")
    assert result.stderr.count("Error") == 1
