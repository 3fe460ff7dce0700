# SPDX-License-Identifier: Apache-2.0
"""Resetting the simulated device, directly and with the fixture. All in other processes."""

import subprocess
import sys
from pathlib import Path

import pytest
from harness import environment, run, run_cleanly

UNASKED: dict[str, str | None] = {"CUDACORE_DRIVER": None, "CUDA_VISIBLE_DEVICES": None}

PRELUDE = """
import gc, threading
import cudacore
from cudacore import *
cudacore.simulator.enable(2, memory="256 MiB")
def say(use):
    try:
        return f"went well {use()}"
    except Exception as error:
        return f"{type(error).__name__} {error}"
device = Device()
device.set_current()
kernel = Program("__global__ void k(int* p) { *p = 7; }", "c++").compile().get_kernel("k")
def works(device=device):
    stream = device.create_stream()
    with device.allocate(64, stream=stream) as buffer:
        host = bytearray(64)
        kernel[1, 1, stream](buffer)
        buffer.copy_to(host, stream=stream)
        stream.sync()
        return host[0] == 7 and not device.context.is_lost
"""


def output(script: str) -> list[str]:
    return run_cleanly(PRELUDE + script, env=UNASKED).splitlines()


def test_goes_on_after_a_fault() -> None:
    script = """
stream = device.create_stream()
kernel[1, 1, stream](None)
print(say(stream.sync))
for _ in range(3):
    cudacore.simulator.reset()
    print(works(), works(Device(1)))
print(unraisable_errors())
"""
    said, *later = output(script)
    assert said.startswith("LaunchError")
    assert "cudacore.simulator.reset()" in said
    assert later == ["True True"] * 3 + ["0"]


@pytest.mark.parametrize("fault", ["kernel[1, 1, stream](None)", "pass"])
def test_objects_from_before_say_so_and_leak_nothing(fault: str) -> None:
    script = f"""
other = Device(1)
works(), works(other)  # pools keep some memory from now on
device.sync()
other.sync()
before = [one.mem_info.free for one in (device, other)]
stream, event = device.create_stream(), device.create_stream().record()
pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 20))
held = [device.allocate(1 << 20, stream=stream), pool.allocate(4096, stream=stream),
        other.allocate(1 << 20), LegacyPinnedMemoryResource().allocate(4096, stream=stream)]
launcher = kernel[1, 1, stream]
{fault}
say(stream.sync)
cudacore.simulator.reset()
print(say(stream.sync))
print(say(lambda: launcher(held[0])))
print(say(lambda: held[0].fill(0, stream=stream)))
print(say(lambda: stream.record()))
print(say(event.sync))
print(say(lambda: device.create_stream().wait(event)))
print(say(lambda: held[0].copy_from(bytes(1 << 20), stream=device.create_stream())))
print(works(), works(other))
fresh = pool.allocate(4096, stream=device.create_stream())
fresh.close()
del stream, event, held, launcher, fresh, pool
gc.collect()
device.sync()
other.sync()
after = [one.mem_info.free for one in (device, other)]
print(all(map(int.__ge__, after, before)), unraisable_errors())
"""
    *lost, stale, good, end = output(script)
    assert all(line.startswith("ContextLostError") for line in lost), lost
    assert not stale.startswith("went well")
    assert good == "True True"
    assert end == "True 0"


HELD = """
stream, event = device.create_stream(), device.create_stream().record()
timed = device.create_event(EventOptions(timing_enabled=True))
unpooled = SynchronousMemoryResource(device)
held = {"pooled": device.allocate(64), "unpooled": unpooled.allocate(64),
        "pinned": LegacyPinnedMemoryResource().allocate(64),
        "slice": device.allocate(128)[:64]}
device.sync()
cudacore.simulator.reset()
fresh, new = device.create_stream(), device.allocate(64)
"""


def test_buffers_from_before_say_so_wherever_they_are_used() -> None:
    uses = [
        "old.fill(0, stream=fresh)",
        "old.copy_from(bytes(64), stream=fresh)",
        "old.copy_to(bytearray(64), stream=fresh)",
        "new.copy_from(old, stream=fresh)",
        "old.copy_to(new, stream=fresh)",
        "old.to_host()",
        "old[:8]",
        "old.set_deallocation_stream(fresh)",
        "old.__dlpack__(stream=-1)",
        "kernel[1, 1, fresh](old)",
        "launch(fresh, LaunchConfig(grid=1, block=1), kernel, old)",
    ]
    script = f"""{HELD}
for name, old in held.items():
    for use in {uses!r}:
        said = say(lambda: eval(use))
        if not (said.startswith("ContextLostError") and "cudacore.simulator.reset()" in said):
            print(name, use, said)
print(say(lambda: kernel[1, 1, fresh](held["pooled"])))
print(say(lambda: memoryview(held["pinned"])))
fresh.sync()
print(works())
"""
    launched, viewed, good = output(script)
    assert launched.startswith("ContextLostError k: argument 1"), launched
    assert "make it anew" in launched
    assert viewed.startswith("ContextLostError")
    assert good == "True"


def test_buffers_from_before_end_without_a_driver_call() -> None:
    script = f"""{HELD}
taken = [unpooled.allocate(64) for _ in range(8)]  # may lie where the old ones lay
held["unpooled"].close()
held["slice"].close(fresh)
held["pooled"].close(stream)
for buffer in held.values():
    buffer.close(fresh)
    print(buffer.is_closed)
held = buffer = None
gc.collect()
for one in taken:
    one.fill(1, stream=fresh)
fresh.sync()
print(works(), unraisable_errors())
"""
    assert output(script) == ["True"] * 4 + ["True 0"]


def test_streams_and_events_from_before_say_so() -> None:
    uses = [
        "stream.sync()", "stream.is_done", "stream.priority", "stream.record()",
        "stream.wait(fresh)", "stream.record(fresh.record())", "fresh.record(event)",
        "fresh.wait(stream)", "fresh.wait(event)", "event.sync()", "event.is_done",
        "fresh.record(options=EventOptions(timing_enabled=True)) - timed",
        "new.set_deallocation_stream(stream)", "unpooled.allocate(64, stream=stream)",
        "device.allocate(64, stream=stream)", "kernel[1, 1, stream](new)",
        "stream.add_callback(print)",
    ]  # fmt: skip
    script = f"""{HELD}
for use in {uses!r}:
    said = say(lambda: eval(use))
    if not said.startswith("ContextLostError"):
        print(use, said)
print(works(), unraisable_errors())
"""
    assert output(script) == ["True 0"]


TWO_KERNELS = """
source = "__global__ void a(int* p) { *p = 1; } __global__ void b(int* p) { *p = 2; }"
code = Program(source, "c++").compile()
code.get_kernel("a")[1, 1](device.allocate(64))
device.sync()
"""


def test_loaded_code_gives_more_kernels_afterwards() -> None:
    script = f"""{TWO_KERNELS}
cudacore.simulator.reset()
b = code.get_kernel("b")
buffer = device.allocate(64)
b[1, 1](buffer)
print(int(buffer.to_host("i4")[0]))
"""
    assert output(script) == ["2"]


def test_loaded_code_gives_more_kernels_to_a_thread_without_a_context() -> None:
    script = f"""{TWO_KERNELS}
thread = threading.Thread(target=lambda: print(say(lambda: code.get_kernel("b").name)))
thread.start()
thread.join()
"""
    assert output(script) == ["went well b"]


def test_suspects_are_those_since_the_reset() -> None:
    script = f"""{TWO_KERNELS}
code.get_kernel("a")[1, 1](None)
print(say(device.sync))
cudacore.simulator.reset()
print(works())
code.get_kernel("b")[1, 1](None)
print(say(device.sync))
"""
    first, good, second = output(script)
    text = "The suspect, launched since the last successful synchronization: "
    assert text + "a. " in first
    assert good == "True"
    assert text + "b. " in second


def test_other_threads_go_on() -> None:
    script = """
first, second = threading.Event(), threading.Event()
def use():
    device.set_current()
    print(works())
    first.set()
    second.wait()
    device.set_current()
    print(works())
thread = threading.Thread(target=use)
thread.start()
first.wait()
cudacore.simulator.reset()
second.set()
thread.join()
print(works())
"""
    assert output(script) == ["True", "True", "True"]


def test_other_threads_may_be_calling_the_driver() -> None:
    """Through its C functions, which run side by side."""
    script = """
import ctypes, pathlib, time
driver = ctypes.CDLL(str(pathlib.Path(cudacore.simulator.driver_folder(), "libcuda.so.1")))
done = False
def use():
    primary, current = ctypes.c_void_p(), ctypes.c_void_p()
    while not done:
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0)
        for _ in range(20):
            driver.cuCtxSetCurrent(primary)
            driver.cuCtxGetCurrent(ctypes.byref(current))
            driver.cuStreamSynchronize(None)
        driver.cuCtxPopCurrent_v2(ctypes.byref(current))
threads = [threading.Thread(target=use) for _ in range(3)]
for thread in threads:
    thread.start()
end = time.monotonic() + 2
while time.monotonic() < end:
    driver.cudacoreSimulatorReset()
done = True
for thread in threads:
    thread.join()
cudacore.simulator.reset()
print(works())
"""
    assert output(script) == ["True"]


def test_ends_what_runs() -> None:
    script = """
endless = Program("__global__ void k(volatile int* p) { while (*p == 0); }", "c++")
endless = endless.compile().get_kernel("k")
stream = device.create_stream()
buffer = device.allocate(64, stream=stream)
buffer.fill(0, stream=stream)
endless[1, 1, stream](buffer)
cudacore.simulator.reset()
print(works())
"""
    assert output(script) == ["True"]


def test_before_any_use_nothing_happens() -> None:
    script = "import cudacore\ncudacore.simulator.reset()\nprint(cudacore.Device().name)"
    env = UNASKED | {"CUDACORE_DRIVER": "simulator"}
    assert run_cleanly(script, env=env).startswith("cudacore simulated device")


def test_only_the_simulated_device_can_be_reset() -> None:
    script = "import cudacore\ncudacore.simulator.reset()"
    result = run(script, env=UNASKED | {"CUDACORE_DRIVER": "native"})
    assert "CUDAError: no simulated device is in use" in result.stderr


def test_fixture_gives_each_test_a_fresh_device(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["cudacore.testing"]\n')
    (tmp_path / "test_kernels.py").write_text("""
import pytest
import cudacore

def build(name="k"):
    program = cudacore.Program(f"__global__ void {name}(int* p) {{ *p = 7; }}", "c++")
    return program.compile().get_kernel(name)

@pytest.mark.parametrize("turn", range(2))
def test_fault(simulated_device, turn):
    build()[1, 1](None)
    with pytest.raises(cudacore.LaunchError):
        simulated_device.sync()

def test_works(simulated_device):
    buffer = simulated_device.allocate(64)
    build()[1, 1](buffer)
    simulated_device.sync()
    assert not simulated_device.context.is_lost

def test_blames_its_own_kernel(simulated_device):
    build("another")[1, 1](None)
    with pytest.raises(cudacore.LaunchError, match="The suspect, .*: another[.]"):
        simulated_device.sync()
""")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        check=False, capture_output=True, text=True, env=environment(UNASKED), timeout=120,
    )  # fmt: skip
    assert "4 passed" in result.stdout, result.stdout + result.stderr


def test_pytest_is_imported_by_the_fixtures_module_alone() -> None:
    script = "import sys, cudacore\nprint('pytest' in sys.modules)"
    assert run_cleanly(script, env=UNASKED).strip() == "False"


def test_is_refused_in_a_host_callback_and_changes_nothing() -> None:
    script = """
stream = device.create_stream()
stream.add_callback(lambda: print(say(cudacore.simulator.reset)))
stream.sync()
print(works())
"""
    refused, later = output(script)
    assert refused.startswith("CUDAError cudacore.simulator.reset() cannot be called in a host")
    assert later == "True"


def test_leaves_no_device_lost_while_others_use_it() -> None:
    script = """
import time
stop = False
def work():
    while not stop:
        try: Device().set_current()
        except Exception: pass
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
lost = 0
for _ in range(300):
    cudacore.simulator.reset()
    for _ in range(20):
        try: Device().create_stream().sync(); break
        except Exception: time.sleep(0.001)
    else:
        lost += 1
stop = True
for thread in threads: thread.join()
print(lost)
"""
    result = run(PRELUDE + script, env=UNASKED)
    assert (result.returncode, result.stdout) == (0, "0\n")


def test_memory_of_others_goes_on() -> None:
    script = """
host = (ctypes.c_char * 16)(7)
wrapped = Buffer.from_handle(ctypes.addressof(host), 16, owner=host)
class Own(MemoryResource):
    is_device_accessible = False
    is_host_accessible = True
    device_id = -1
    def deallocate(self, ptr, size, *, stream=None):
        print("given back", size)
own = Buffer.from_handle(ctypes.addressof(host), 16, mr=Own())
cudacore.simulator.reset()
for buffer in (wrapped, wrapped[:8], own):
    print(bytes(memoryview(buffer))[0])
own.close()
"""
    assert output("import ctypes" + script) == ["7", "7", "7", "given back 16"]


def test_a_reset_by_other_code_ends_the_context() -> None:
    script = """
import ctypes
stream = device.create_stream()
with stream.record() as event:
    event.sync()
def on_thread(use):
    said = []
    thread = threading.Thread(target=lambda: said.append(say(use)))
    thread.start()
    thread.join()
    return said[0]
driver = ctypes.CDLL(str(cudacore.simulator.library()))
assert driver.cuDevicePrimaryCtxReset_v2(0) == 0
print(on_thread(device.create_stream))
print(say(device.create_event))
print(say(stream.record))
print(on_thread(device.create_stream))
del stream
gc.collect()
cudacore.simulator.reset()
print(works(), on_thread(works), unraisable_errors())
"""
    *said, after = output(script)
    assert [line.split()[0] for line in said] == ["ContextLostError"] * 4
    assert "other code ended it" in said[1]
    assert after == "True went well True 0"
