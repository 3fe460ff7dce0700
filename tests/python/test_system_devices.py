# SPDX-License-Identifier: Apache-2.0
"""Devices as NVML shows them: on a stand-in library whose answers are known, and on the device."""

import ctypes
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import cudacore
import pytest
from cudacore import Buffer, system
from cudacore.system import Device
from cudacore.system import typing as system_typing
from cudacore.system.typing import DeviceArch
from harness import ROOT, build_library, run_cleanly

DEFINITIONS = ROOT / "src" / "driver" / "nvml_symbols.def"
FAKE = Path(__file__).with_name("fake_nvml.c")
FUNCTIONS = re.findall(r"^CUDACORE_NVML_SYMBOL\((\w+)", DEFINITIONS.read_text(), re.MULTILINE)

PREPARE = """
import ctypes
from cudacore import system
from cudacore.system import Device
fake = ctypes.CDLL("libnvidia-ml.so.1")
"""


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the stand-in; return its folder."""
    text = FAKE.read_text()
    stubs = "".join(
        f"STUB({name})" for name in FUNCTIONS if not re.search(rf"\b{name}\(|\({name},", text)
    )
    folder = tmp_path_factory.mktemp("nvml")
    return build_library(folder / "libnvidia-ml.so.1", text, STUBS=stubs).parent


def with_fake(folder: Path, script: str) -> str:
    path = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    env = {"LD_LIBRARY_PATH": path, "CUDACORE_DRIVER": "native"}
    return run_cleanly(PREPARE + textwrap.dedent(script), env=env)


class TestAnswers:
    def test_numbers_and_texts(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            device = Device(index=0)
            print(device.uuid, device.uuid_without_prefix, device.serial, device.brand)
            print(ascii(device.name), device.arch.name, device.compute_mode)
            print(device.power, device.total_energy_mj, device.performance_state)
            print(device.utilization, device.memory_info)
            print(device.supported_pstates, device.get_cpu_affinity("socket"))
            print([str(one) for one in device.current_clock_event_reasons])
            print([str(one) for one in device.get_supported_event_types()])
            print(device.attributes)
            print(device.dynamic_pstates_info[7], len(device.dynamic_pstates_info))
            print(system.get_driver_branch())
            """,
        ).splitlines()
        assert said == [
            "GPU-0123 0123 1234 GeForce",
            r"'Made Up \\xff' HOPPER exclusive_process",
            (
                "PowerInfo(usage_mw=123456, limit_mw=700000, enforced_limit_mw=600000) "
                "1099511627776 None"
            ),
            "Utilization(gpu=17, memory=4) MemoryInfo(free=60, total=100, used=35, reserved=5)",
            "[0, 2, 4] [0, 2, 127]",
            "['sw_power_cap', 'hw_thermal_slowdown', 'display_clock_setting']",
            "['pstate', 'xid_critical_error', 'clock']",
            (
                "DeviceAttributes(multiprocessor_count=0, shared_copy_engine_count=1, "
                "shared_decoder_count=2, shared_encoder_count=3, shared_jpeg_count=4, "
                "shared_ofa_count=5, gpu_instance_slice_count=6, compute_instance_slice_count=7, "
                "memory_size_mb=81920)"
            ),
            (
                "GpuDynamicPstatesUtilization(is_present=True, percentage=33, inc_threshold=0, "
                "dec_threshold=0) 8"
            ),
            "r580_00",
        ]

    def test_parts(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            device = Device(index=0)
            pci = device.pci_info
            print(pci, device.pci_bus_id, pci.domain, hex(pci.bus), pci.device, hex(pci.vendor_id),
                  hex(pci.device_id), pci.subsystem_id, pci.base_class, pci.sub_class)
            warmth = device.temperature
            print(warmth.get_sensor(), warmth.margin)
            for sensor in warmth.get_thermal_settings("all"):
                print(sensor.controller, sensor.current_temp, sensor.target)
            clock = device.get_clock("memory")
            print(clock.get_current_mhz(), clock.get_current_mhz("customer_boost_max"),
                  tuple(clock.get_offsets(3)),
                  clock.get_min_max_clock_of_pstate_mhz(7))
            print(*device.compute_running_processes, sep="\\n")
            print(device.cooler.signal_type, *device.cooler.target)
            links = list(device.get_nvlinks())
            print(len(links), links[0].version, [link.state for link in links])
            """,
        ).splitlines()
        assert said == [
            "<PciInfo 00000001:41:02.0> 00000001:41:02.0 1 0x41 2 0x10de 0x2335 7 3 2",
            "41 -3",
            "gpu_internal 15 gpu",
            "unknown 0 unknown",
            "1020 1023 (5, 9, -5) (2, 7)",
            (
                "ProcessInfo(pid=11, used_gpu_memory=8589934592, gpu_instance_id=None, "
                "compute_instance_id=None)"
            ),
            "ProcessInfo(pid=12, used_gpu_memory=None, gpu_instance_id=3, compute_instance_id=4)",
            "variable gpu memory",
            "2 (4, 0) [True, False]",
        ]

    def test_fields(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            from cudacore.system.typing import FieldId
            device = Device(index=0)
            fields = device.get_field_values([FieldId.DEV_ECC_PENDING, (7, 5), 4, 99999])
            print([(int(one.field_id), one.scope_id, one.timestamp, one.latency_usec)
                   for one in fields])
            print(fields[0].value, fields[1].value)
            print(fields[0].field_id is FieldId.DEV_ECC_PENDING, fields[3].field_id)
            assert device.get_field_values([2])[0].field_id is FieldId.DEV_ECC_PENDING
            for ask in (fields.validate, fields.get_all_values, lambda: fields[2].value):
                try:
                    ask()
                except system.NotSupportedError as error:
                    print(error)
            """,
        ).splitlines()
        rows = "(2, 0, 1000, 7), (7, 5, 1000, 7), (4, 0, 1000, 7), (99999, 0, 1000, 7)"
        assert said[0] == f"[{rows}]"
        assert said[1:3] == ["0.5 -5", "True 99999"]
        assert len(said) == 6
        assert "field 4" in said[3]

    def test_each_result_has_its_class(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            from cudacore.system import _exceptions
            device = Device(index=0)
            for code, kind in _exceptions._CLASSES.items():
                fake.fake_fail(b"nvmlDeviceGetSerial", code)
                try:
                    device.serial
                except system.NvmlError as error:
                    assert type(error) is kind and error.code == code, error
                    assert getattr(system, kind.__name__) is kind
            named = {getattr(system, name) for name in system.__all__ if name.endswith("Error")}
            print(sorted(kind.__name__ for kind in named - set(_exceptions._CLASSES.values())))
            """,
        )
        assert said == "['NvmlError']\n"

    def test_classes_of_results_are_pythons_too(self) -> None:
        assert issubclass(system.MemoryError, MemoryError)
        assert issubclass(system.OperatingSystemError, OSError)
        assert issubclass(system.LibraryNotFoundError, cudacore.LibraryNotFoundError)
        assert issubclass(system.FunctionNotFoundError, system.NotSupportedError)
        assert issubclass(system.GpuNotFoundError, system.NotFoundError)

    def test_no_other_names_in_typing(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
            system_typing.Nothing  # type: ignore[attr-defined]  # noqa: B018

    def test_events(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            import gc
            device = Device(index=0)
            events = device.register_events("xid_critical_error")
            event = events.wait(100)
            print(event, event.event_data, event.gpu_instance_id, event.compute_instance_id)
            del events
            registered = system.register_events(["bind", "unbind"])
            for one in registered.wait(100, buffer_size=4):
                print(one.event_type, hex(one.gpu_id), end=" ")
                try:
                    print(one.device == device)
                except system.NotFoundError as error:
                    print(error)
            del registered
            gc.collect()
            print(fake.fake_freed())
            """,
        ).splitlines()
        assert said == [
            "<EventData xid_critical_error on GPU-0123> 79 1 2",
            "bind 0x14102 True",
            "unbind 0x99 SystemEvent.device: the driver has no device 0x99 now",
            "2",
        ]

    def test_waits_until_the_timeout(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            import time
            events = Device(index=0).register_events(["xid_critical_error"])
            fake.fake_fail(b"nvmlEventSetWait_v2", 10)
            start = time.monotonic()
            try:
                events.wait(timeout_ms=120)
            except TimeoutError as error:
                print(type(error).__module__, time.monotonic() - start >= 0.12, error.code)
            """,
        )
        assert said == "cudacore.system True 10\n"

    def test_a_uuid_of_cuda_may_be_that_of_a_part(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            print(Device(uuid="1") == Device(uuid=b"MIG-1") == Device(index=0))
            try:
                Device(uuid="2")
            except LookupError as error:
                print(type(error).__name__, error)
            """,
        ).splitlines()
        assert said[0] == "True"
        assert said[1].startswith("NotFoundError nvmlDeviceGetHandleByUUID failed for GPU-2: Made")

    def test_each_function_fails_with_its_name(self, fake: Path) -> None:
        """Every function of the table is called through the package, and its failure is raised."""
        said = with_fake(
            fake,
            f"""
            functions = {FUNCTIONS!r}
            from cudacore import _core
            from cudacore.system import _links
            device = Device(index=0)
            called = set()
            def tell(function, *arguments, ask=_core.nvml):
                called.add(function)
                fake.fake_fail(function.encode(), 4)
                try:
                    ask(function, *arguments)
                    print("no failure:", function)
                except PermissionError as error:
                    assert type(error) is system.NoPermissionError, error
                    assert error.code == 4 and error.name == "Made Up", error
                    assert error.function == function and function in str(error), error
                    if function.startswith("nvmlDeviceGet") and "HandleBy" not in function:
                        about = " for the device GPU-0123" in str(error)
                        assert about or function in ("nvmlDeviceGetUUID", "nvmlDeviceGetCount_v2")
                fake.fake_fail(b"", 0)
                return ask(function, *arguments)
            _core.nvml = tell
            clock, fan, heat = device.get_clock("sm"), device.get_fan(1), device.temperature
            pci, mig, rom = device.pci_info, device.mig, device.inforom
            link = _links.NvlinkInfo(device, 0)
            events = device.register_events("xid_critical_error")
            registered = system.register_events(["unbind", "bind"])
            def write(owner, name, value):
                return lambda: setattr(owner, name, value)
            asked = [
                *(lambda one=one, name=name: getattr(one, name)
                  for one in (device, clock, fan, heat, pci, mig, rom, link)
                  for name in dir(type(one)) if not name.startswith("_")
                  and isinstance(getattr(type(one), name), property)),
                lambda: system.get_nvml_version(), lambda: system.get_driver_branch(),
                lambda: system.get_process_name(1),
                lambda: _core.nvml("nvmlSystemGetDriverVersion"),
                lambda: list(Device.get_all_devices_with_cpu_affinity(0)),
                lambda: Device(pci_bus_id="0000:00:00.0"), lambda: Device(uuid="MIG-1"),
                lambda: Device(index=0),
                lambda: device.get_cpu_affinity("socket"), device.get_memory_affinity,
                device.set_cpu_affinity, device.clear_cpu_affinity,
                lambda: system.get_p2p_status(device, device, "read"),
                lambda: system.get_topology_common_ancestor(device, device),
                lambda: list(device.get_topology_nearest_gpus("node")),
                clock.get_current_mhz, clock.get_max_mhz, clock.get_max_customer_boost_mhz,
                lambda: clock.get_offsets(0), lambda: clock.get_min_max_clock_of_pstate_mhz(0),
                lambda: heat.get_sensor(), lambda: heat.get_threshold("slowdown"),
                lambda: heat.get_thermal_settings("gpu"),
                fan.set_default_speed, write(fan, "speed", 50), write(mig, "mode", True),
                write(device, "is_persistence_mode_enabled", True),
                lambda: mig.get_device_by_index(0), rom.validate, lambda: rom.get_version("ecc"),
                lambda: device.get_field_values([1]), lambda: device.clear_field_values([1]),
                device.get_supported_event_types, lambda: events.wait(1),
                lambda: registered.wait(1, 4),
                lambda: _core.nvml("nvmlDeviceGetClockInfo", device.handle, 1),
                lambda: _core.nvml("nvmlDeviceGetTotalEccErrors", device.handle, 0, 0),
                lambda: _core.nvml("nvmlSystemEventSetFree", 0),
            ]
            for ask in asked:
                try:
                    ask()
                except system.NotSupportedError as error:
                    assert isinstance(error, system.NvmlError) and error.code == 3
                    assert error.function in str(error) and "Not Supported" in str(error)
            del events, registered
            print(sorted(set(functions) - called))
            """,
        )
        assert said == "[]\n"

    def test_initializes_once_in_each_process(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            import os, warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            Device(index=0).name
            Device(index=0).name
            print(fake.fake_starts(), flush=True)
            child = os.fork()
            if child == 0:
                ok = Device(index=0).uuid == "GPU-0123" and fake.fake_starts() == 2
                os._exit(0 if ok else 1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """,
        )
        assert said == "1\n0\n"

    def test_failed_start_is_tried_again(self, fake: Path) -> None:
        said = with_fake(
            fake,
            """
            fake.fake_fail(b"nvmlInit_v2", 9)
            for attempt in range(2):
                try:
                    print(Device.get_device_count())
                except system.DriverNotLoadedError as error:
                    print(error.function)
                    fake.fake_fail(b"", 0)
            """,
        )
        assert said == "nvmlInit\n1\n"

    def test_function_that_an_old_driver_lacks(self, tmp_path: Path) -> None:
        source = """
        int nvmlInit_v2(void) { return 0; }
        const char* nvmlErrorString(int result) { return "Function Not Found"; }
        """
        folder = build_library(tmp_path / "libnvidia-ml.so.1", source).parent
        said = with_fake(
            folder,
            """
            try:
                Device.get_device_count()
            except system.NotSupportedError as error:
                print(error.code, error)
            """,
        )
        assert said.startswith("13 nvmlDeviceGetCount_v2 failed: Function Not Found (NVML at ")

    def test_without_the_library(self, tmp_path: Path) -> None:
        (tmp_path / "libnvidia-ml.so.1").touch()
        script = """
            import cudacore
            from cudacore import system
            try:
                system.get_nvml_version()
            except cudacore.LibraryNotFoundError as error:
                assert type(error) is system.LibraryNotFoundError
                assert isinstance(error, system.NvmlError)
                print(error.code, error.tried)
                raise SystemExit("libnvidia-ml.so.1" not in str(error))
        """
        env: dict[str, str | None] = {
            "LD_LIBRARY_PATH": str(tmp_path), "CUDACORE_DRIVER": "native",
        }  # fmt: skip
        assert run_cleanly(textwrap.dedent(script), env=env).startswith("12 ['")

    def test_ctrl_c_ends_a_wait(self, fake: Path) -> None:
        script = PREPARE + textwrap.dedent(
            """
            import os, signal, threading
            events = Device(index=0).register_events(["xid_critical_error"])
            fake.fake_fail(b"nvmlEventSetWait_v2", 10)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                events.wait()
            except KeyboardInterrupt:
                print("ended")
            """
        )
        env = os.environ | {"LD_LIBRARY_PATH": str(fake), "CUDACORE_DRIVER": "native"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            check=False, capture_output=True, text=True, env=env, timeout=60,
        )  # fmt: skip
        assert done.stdout == "ended\n"


class TestDevice:
    def test_is_what_cuda_shows(self, device: cudacore.Device) -> None:
        found = device.to_system_device()
        assert found.to_cuda_device() == device
        assert found.name == device.name
        assert found.uuid_without_prefix == device.uuid
        assert found.cuda_compute_capability == device.compute_capability
        assert found.pci_bus_id.lower().endswith(device.pci_bus_id.lower()[4:])
        assert found == Device(uuid=found.uuid) == Device(pci_bus_id=device.pci_bus_id)
        assert found in Device.get_all_devices()
        assert len({found, Device(index=found.index)}) == 1
        assert found != device
        assert found.arch is not DeviceArch.UNKNOWN
        assert repr(found) == f"<cudacore.system.Device {found.uuid} ({found.name})>"

    def test_memory(self, device: cudacore.Device) -> None:
        found = device.to_system_device()
        with device.create_stream() as stream, device.allocate(2**20, stream=stream) as buffer:
            assert isinstance(buffer, Buffer)
            stream.sync()
            memory = found.memory_info
            assert memory.used >= 2**20
            assert memory.free + memory.used + memory.reserved <= memory.total * 1.01

    @pytest.mark.simulator_only(reason="what a GPU has differs")
    def test_of_the_simulated_device(self, device: cudacore.Device) -> None:
        found = device.to_system_device()
        with device.create_stream() as stream, device.allocate(2**20, stream=stream):
            stream.sync()
            (process,) = found.compute_running_processes
        assert process.pid == os.getpid()
        assert process.used_gpu_memory is not None
        assert process.used_gpu_memory >= 2**20
        assert system.get_process_name(os.getpid()) == str(Path("/proc/self/exe").readlink())
        assert system.get_nvml_version()[0] == system.get_user_mode_driver_version()[0]
        for ask, what in (
            (found.temperature.get_sensor, "Temperature"),
            (lambda: found.bar1_memory_info, "BAR1 memory info"),
        ):
            text = rf"^nvmlDeviceGet\w+ failed: Not Supported: .* device has no (?i:{what})$"
            with pytest.raises(system.NotSupportedError, match=text):
                ask()
        assert system.Device(0) == system.Device(index=0) == found
        with pytest.raises(ValueError, match=r"one of index, uuid .*: system.Device\(index=0\)"):
            system.Device()

    @pytest.mark.multi_gpu
    def test_two_devices(self) -> None:
        one, two = (one.to_system_device() for one in cudacore.Device.get_all_devices()[:2])
        assert one != two
        assert system.get_topology_common_ancestor(one, two) in {
            *("internal", "single", "multiple", "hostbridge", "node", "system")
        }
        assert isinstance(system.get_p2p_status(one, two, "read"), str)

    @pytest.mark.gpu_only(reason="the simulated device has none of this")
    def test_of_a_gpu(self, device: cudacore.Device) -> None:
        found = device.to_system_device()
        assert 0 < found.temperature.get_sensor() < 120
        assert 0 < found.power.usage_mw < 2_000_000
        assert found.get_clock("sm").get_current_mhz() > 0
        assert 0 <= found.utilization.gpu <= 100
        assert found.brand
        assert found.pci_info.vendor_id == 0x10DE
        assert found.performance_state in range(16)
        assert found.get_cpu_affinity()
        assert system.get_kernel_mode_driver_version()

    @pytest.mark.parametrize(
        ("ask", "error"),
        [
            (Device, ValueError),
            (lambda: Device(index=0, uuid="GPU-1"), ValueError),
            (lambda: Device(uuid="GPU-1\0 and more"), ValueError),
            (lambda: Device(index=-1), ValueError),
            (lambda: Device(index=1000), ValueError),
            (lambda: Device(index="0"), TypeError),  # type: ignore[arg-type]
            (lambda: Device(index=True), TypeError),
            (lambda: Device(uuid=5), TypeError),  # type: ignore[arg-type]
            (lambda: Device(pci_bus_id=5), TypeError),  # type: ignore[arg-type]
            (lambda: Device(uuid="GPU-none"), system.NotFoundError),
            (lambda: Device(uuid="GPU-none\0x"), ValueError),
            (lambda: Device(pci_bus_id="nowhere"), system.NvmlError),
            (lambda: Device(index=0).get_clock("wall"), ValueError),
            (lambda: Device(index=0).get_clock(3), TypeError),  # type: ignore[arg-type]
            (lambda: Device(index=0).get_cpu_affinity("city"), ValueError),
            (lambda: Device(index=0).register_events(["party"]), ValueError),
            (lambda: Device(index=0).get_clock("sm").get_offsets(16), ValueError),
            (lambda: setattr(Device(index=0).mig, "mode", 1), TypeError),
            (lambda: setattr(Device(index=0), "is_persistence_mode_enabled", 1), TypeError),
            (lambda: system.get_p2p_status(Device(index=0), 0, "read"), TypeError),  # type: ignore[arg-type]
            (lambda: system.get_process_name(-1), ValueError),
            (lambda: system.register_events("party"), ValueError),
        ],
    )  # fmt: skip
    def test_wrong_arguments(
        self, ask: Callable[[], object], error: type[Exception], device: cudacore.Device
    ) -> None:
        assert device is not None
        with pytest.raises(error):
            ask()

    def test_wrong_calls_of_the_library(self) -> None:
        for wrong in (
            ("nvmlNothing",),
            ("nvmlDeviceGetCount_v2", 1),
            ("nvmlDeviceGetHandleByIndex_v2",),
            ("nvmlDeviceGetHandleByIndex_v2", -1),
            ("nvmlDeviceGetHandleByIndex_v2", "0"),
            ("nvmlDeviceGetHandleByUUID", 0),
        ):
            with pytest.raises(ValueError, match=wrong[0]):
                cudacore._core.nvml(*wrong)
        with pytest.raises(TypeError):
            cudacore._core.nvml("nvmlDeviceGetHandleByIndex_v2", 0.5)  # type: ignore[arg-type]


def test_loads_when_named() -> None:
    said = run_cleanly(
        """
        import sys, cudacore
        print([name for name in sys.modules if name.startswith("cudacore.system.")])
        cudacore.system.Device
        print("cudacore.system._device" in sys.modules)
        """
    )
    assert said == "[]\nTrue\n"
    assert ctypes.sizeof(ctypes.c_ulong) == 8
