# SPDX-License-Identifier: Apache-2.0
"""Members of other libraries' classes that cudacore's lack."""

import re
import traceback

import cudacore
import pytest
from cudacore import Device, Stream, _core, _missing
from cudacore.graph import Graph


class TestMissing:
    def test_no_other_name_is_guessed(self, device: Device) -> None:
        with pytest.raises(AttributeError) as caught:
            _ = Stream.synchronize  # type: ignore[attr-defined]
        assert "Did you mean" not in "".join(traceback.format_exception(caught.value))
        with pytest.raises(AttributeError) as caught:
            _ = device.synchronize  # type: ignore[attr-defined]
        assert "Did you mean" not in "".join(traceback.format_exception(caught.value))

    def test_dir_leaves_them_out(self, device: Device) -> None:
        offered = dir(device)
        assert "create_stream" in offered
        assert "__init__" in offered
        assert [name for name in offered if not hasattr(device, name)] == []
        assert "synchronize" not in offered

    def test_dir_of_a_module_is_what_is_public(self) -> None:
        for module in (cudacore.simulator, cudacore.typing):
            assert dir(module) == sorted(module.__all__)

    def test_names_of_other_libraries_say_what_to_write(self, device: Device) -> None:
        with pytest.raises(AttributeError, match=r"Event.record: write `stream.record\(event\)`"):
            device.create_event().record()  # type: ignore[attr-defined]
        for owner, names in _missing.RENAMED.items():
            kind = getattr(_core, owner)
            for name, code in names.items():
                assert not hasattr(kind, name)
                method = re.search(r"\.(\w+)", code)
                objects = {
                    "buffer": cudacore.Buffer,
                    "cudacore": cudacore,
                    "device": Device,
                    "event": cudacore.Event,
                    "graph": Graph,
                    "stream": cudacore.Stream,
                }
                if method and not code.startswith("np."):
                    assert hasattr(objects[code.partition(".")[0].split()[-1]], method[1])

    def test_other_names_are_as_ever(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
            _ = cudacore.nonsense
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = Device.nonsense  # type: ignore[attr-defined]
