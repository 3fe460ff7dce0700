# SPDX-License-Identifier: Apache-2.0
"""Names of cuda.core that cudacore lacks."""

import re
import traceback
from pathlib import Path

import cudacore
import pytest
from cudacore import Device, Stream, _missing
from harness import PACKAGE, run


class TestMissing:
    def test_names_say_where_they_are_listed(self) -> None:
        for names in _missing.NAMES.values():
            for name in names:
                with pytest.raises(AttributeError, match=rf"{name}.*{_missing.PAGE}"):
                    getattr(cudacore, name)
        assert not hasattr(cudacore, "GraphicsResource")

    def test_says_so_in_a_sentence(self) -> None:
        with pytest.raises(AttributeError) as caught:
            _ = cudacore.GraphicsResource
        assert str(caught.value) == (
            "cudacore has no GraphicsResource: it lacks graphics; see docs/cuda_core.md"
        )

    @pytest.mark.parametrize("before", ["", "import importlib"])
    def test_imports_of_a_script_say_so(self, before: str) -> None:
        # Without site, which may import importlib.
        script = f"{before}\nfrom cudacore import GraphicsResource"
        result = run(script, flags=["-S"], env={"PYTHONPATH": str(PACKAGE.parent)})
        assert "ImportError: cudacore has no GraphicsResource: it lacks" in result.stderr
        assert _missing.PAGE in result.stderr

    def test_imports_say_so_too(self) -> None:
        with pytest.raises(ImportError, match=r"GraphicsResource.*docs/cuda_core.md"):
            from cudacore import GraphicsResource  # type: ignore[attr-defined]  # noqa: F401

    def test_no_other_name_is_guessed(self, device: Device) -> None:
        for ask in (lambda: Stream.synchronize, lambda: cudacore.GraphicsResource):  # type: ignore[attr-defined]
            with pytest.raises(AttributeError) as caught:
                ask()
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
            kind = getattr(cudacore, owner)
            for name, code in names.items():
                assert not hasattr(kind, name)
                method = re.search(r"\.(\w+)", code)
                objects = {"device": Device, "event": cudacore.Event, "stream": cudacore.Stream}
                if method:
                    assert hasattr(objects[code.partition(".")[0]], method[1])

    def test_other_names_are_as_ever(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
            _ = cudacore.nonsense
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = Device.nonsense  # type: ignore[attr-defined]

    def test_page_lists_them(self) -> None:
        page = Path(__file__).parents[2] / _missing.PAGE
        text = page.read_text()
        for names in _missing.NAMES.values():
            assert [name for name in names if f"`{name}`" not in text] == []
