# SPDX-License-Identifier: Apache-2.0
"""Nothing grows: memory, files, threads."""

import pytest
from cudacore import Device
from harness import run_cleanly

CYCLES = 100_000
LIMIT = 4 << 20

PRELUDE = """
import gc, os, sys, time
import cudacore
from cudacore import *
device = Device()
stream = device.create_stream()
source = "template <class T> __global__ void k(T* p, T a, int n) {}"
kernel = Program(source, "c++").compile(name_expressions=["k<float>"]).get_kernel("k<float>")
buffer = device.allocate(64, stream=stream)
config = LaunchConfig(grid=1, block=32)
bound = kernel[1, 32, stream]
pinned = LegacyPinnedMemoryResource()
small = bytearray(64)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def refused(use):
    try:
        use()
    except (TypeError, ValueError, OverflowError):
        return
    raise AssertionError

def threads(most):
    # One that is done is listed a while longer.
    end = time.monotonic() + 5
    while (count := len(os.listdir("/proc/self/task"))) > most and time.monotonic() < end:
        time.sleep(0.01)
    return count

def measure(cycle, count, sync=500):
    def rounds(times):
        for i in range(times):
            cycle()
            if i % sync == 0:
                stream.sync()
        stream.sync()
        gc.collect()
    rounds(count // 10)
    for _ in range(3):  # a driver grows now and then, a leak each time
        before = resident(), len(os.listdir("/proc/self/fd")), threads(sys.maxsize)
        objects = len(gc.get_objects())
        rounds(count)
        after = resident(), len(os.listdir("/proc/self/fd")), threads(before[2])
        grown = len(gc.get_objects()) - objects
        if after[0] - before[0] < LIMIT:
            break
    print(after[0] - before[0], after[1] - before[1], after[2] - before[2], grown,
          cudacore.unraisable_errors())
"""

QUICK = {
    "launch": "bound(buffer, 1.5, 2)",
    "launch with a new config": "launch(stream, LaunchConfig(1, None, 32), kernel, buffer, 1, 2)",
    "launch by brackets": "kernel[1, 32, stream](buffer, 1.5, 2)",
    "refused launch": "refused(lambda: bound(buffer, 'x', 2))",
    "overflow": "refused(lambda: bound(buffer, 1, 2**40))",
    "allocate": "device.allocate(4096, stream=stream).close()",
    "allocate, collected": "device.allocate(4096, stream=stream)",
    "event": "device.create_event().close()",
    "record": "stream.record()",
    "fill": "buffer.fill(1, stream=stream)",
    "copy": "buffer.copy_to(small, stream=stream)",
    "with": "stream.__enter__(); stream.__exit__(None, None, None)",
    "dlpack": "buffer.__dlpack__(max_version=(1, 0))",
    "from_handle": "Buffer.from_handle(buffer.handle, 8, owner=object())",
    "options": "ProgramOptions(arch='sm_90', define_macro=['A', ('B', '1')], headers={'a': 'b'})",
    "signature": "Signature('k(float* a, int n, const double* __restrict__ b)')",
    "borrowed stream": "Stream.from_handle(stream.handle, object())",
}
SLOW = {
    "stream": ("device.create_stream().close()", 5000),
    "callback": ("stream.add_callback(len, ())", 20_000),
    "pinned": ("pinned.allocate(64).close()", 2000),
    "compile": ("Program(source, 'c++', {'arch': 'sm_90'}).compile('cubin', ['k<int>'])", 150),
    "load": ("reload(code.code, symbol_mapping=code.symbol_mapping).get_kernel('k<float>')", 300),
    "compile error": ("refused_compile()", 150),
    "pool": ("DeviceMemoryResource(device, {'max_size': 1 << 22})", 200),
}
EXTRA = """
code = Program(source, "c++").compile(name_expressions=["k<float>"])
reload = getattr(ObjectCode, f"from_{code.code_type}")
def refused_compile():
    try:
        Program("int x = ;", "c++", {"arch": "sm_90"}).compile("ptx")
    except CompileError:
        pass
"""


def check(script: str) -> None:
    script = f"LIMIT = {LIMIT}\n{script}"
    memory, files, threads, objects, unraisable = map(int, run_cleanly(script, timeout=280).split())
    assert memory < LIMIT
    assert files == 0
    assert threads <= 0
    assert objects < 100
    assert unraisable == 0


@pytest.mark.parametrize("what", QUICK)
def test_nothing_grows(device: Device, what: str) -> None:
    check(PRELUDE + f"def cycle():\n    {QUICK[what]}\nmeasure(cycle, {CYCLES})")


@pytest.mark.parametrize("what", SLOW)
def test_nothing_grows_where_each_cycle_is_slow(device: Device, what: str) -> None:
    use, count = SLOW[what]
    check(PRELUDE + EXTRA + f"def cycle():\n    {use}\nmeasure(cycle, {count}, sync=50)")


@pytest.mark.simulator_only(reason="a driver keeps memory of its own for green contexts")
def test_green_contexts_leave_nothing(device: Device) -> None:
    script = """
groups, _ = device.resources.sm.split({"count": 8})
def cycle():
    context = device.create_context({"resources": groups})
    context.create_stream().record()
    context.close()
measure(cycle, 2000, sync=50)
"""
    check(PRELUDE + script)


def test_device_memory_comes_back(device: Device) -> None:
    script = (
        PRELUDE
        + """
def cycle():
    big = SynchronousMemoryResource(device).allocate(256 << 20)
    big.fill(1, stream=stream)
    stream.sync()
cycle()
before = device.mem_info.free
for _ in range(50):
    cycle()
print(before - device.mem_info.free)
"""
    )
    # Half of what would be lost: other processes use the device, too.
    assert int(run_cleanly(script)) < 50 * (256 << 20) // 2
