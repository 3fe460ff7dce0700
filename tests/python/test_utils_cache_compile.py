# SPDX-License-Identifier: Apache-2.0
"""`Program.compile(cache=...)`."""

from typing import Any

import cudacore
import pytest
from cache_keys import SOURCE, options
from cudacore import Device, Program
from cudacore.utils import (
    InMemoryProgramCache,
    make_program_cache_key,
)
from harness import ARCH, ltoir, ptx, run_cleanly


class Recording(InMemoryProgramCache):
    """Knows what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        data = super().get(key, default)
        self.calls.append("miss" if data is None else "hit")
        return data

    def __setitem__(self, key: Any, value: Any) -> None:
        self.calls.append("store")
        super().__setitem__(key, value)


@pytest.fixture
def program() -> Program:
    return Program(SOURCE, "c++", options(name="fill.cu"))


class TestCompile:
    @pytest.mark.parametrize("target", ["ptx", "ltoir", "PTX"])
    def test_second_time_is_a_hit(self, program: Program, target: Any) -> None:
        cache = Recording()
        first = program.compile(target, cache=cache)
        again = program.compile(target, cache=cache)
        other = Program(SOURCE, "c++", options(name="fill.cu")).compile(target, cache=cache)
        assert cache.calls == ["miss", "store", "hit", "hit"]
        assert first.code == again.code == other.code
        assert [again.code_type, again.name] == [first.code_type, "fill.cu"]
        assert len(cache) == 1

    def test_empty_entry_is_none(self, program: Program) -> None:
        class Truncated(Recording):
            def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
                return b""

        assert program.compile("ptx", cache=Truncated()).code

    def test_cubin(self, program: Program) -> None:
        cache = Recording()
        first = program.compile("cubin", cache=cache)
        asked = len(cache.calls)
        again = program.compile("cubin", cache=cache)
        assert set(cache.calls[asked:]) == {"hit"}
        assert again.code == first.code
        assert str(again.signature("fill")) == str(first.signature("fill"))
        assert (
            make_program_cache_key(
                code=SOURCE, code_type="c++", options=options(name="fill.cu"), target_type="cubin"
            )
            in cache._entries
        )

    @pytest.mark.parametrize("driver", ["simulator", ""])
    def test_hit_knows_the_types_of_parameters(self, driver: str) -> None:
        script = f"""
            from cudacore import Program
            from cudacore.utils import InMemoryProgramCache
            source = 'extern "C" __global__ void f(float* out, float a, int b) {{ *out = a + b; }}'
            ptx = Program(source, "c++", {{"arch": "{ARCH}"}}).compile("ptx").code
            for kind, code in {{"c++": source, "ptx": ptx}}.items():
                cache = InMemoryProgramCache()
                program = Program(code, kind, {{"arch": "{ARCH}"}})
                first = program.compile("cubin", cache=cache)
                again = program.compile("cubin", cache=cache)
                assert again.ptx == first.ptx != ""
                assert str(again.signature("f")) == str(first.signature("f"))
                print(again.signature("f"))
        """
        assert run_cleanly(script, env={"CUDACORE_DRIVER": driver}) == (
            "f(float* out, .f32 a, .u32 b)\nf(.u64, .f32, .u32)\n"
        )

    def test_code_without_its_ptx_is_compiled_again(self, program: Program) -> None:
        cache = Recording()
        program.compile("cubin", cache=cache)
        ptx = make_program_cache_key(
            code=SOURCE, code_type="c++", options=options(name="fill.cu"), target_type="ptx"
        )
        del cache[ptx]
        asked = len(cache.calls)
        assert program.compile("cubin", cache=cache).ptx != ""
        assert cache.calls[asked:] == ["hit", "miss", "store", "store"]

    @pytest.mark.parametrize("target", [None, "cubin", "ptx"])
    def test_hit_runs(self, device: Device, target: Any) -> None:
        device.set_current()
        cache = Recording()
        fields = {} if target is None else {"arch": f"sm_{device.arch}"}
        for _ in range(2):
            code = Program(SOURCE, "c++", fields).compile(target, cache=cache)
            buffer = device.allocate(4)
            code.get_kernel("fill")[1, 1](buffer, 7)
            assert buffer.to_host("i4").tolist() == [7]
        assert cache.calls[-1] == "hit"

    def test_ptx_and_lto_ir(self) -> None:
        cache = Recording()
        linked = {"arch": ARCH, "link_time_optimization": True}
        for _ in range(2):
            Program(ptx(SOURCE).code, "ptx", {"arch": ARCH}).compile("cubin", cache=cache)
            Program(ltoir(SOURCE).code, "ltoir", linked).compile("ptx", cache=cache)
        assert cache.calls == ["miss", "store", "miss", "store", "hit", "hit"]

    def test_logs_get_what_the_compiler_says(self) -> None:
        import io

        program = Program(SOURCE + "__global__ void g() { int unused; }", "c++", options())
        cache = Recording()
        logs = [io.StringIO(), io.StringIO()]
        for log in logs:
            program.compile("ptx", cache=cache, logs=log)
        assert "unused" in logs[0].getvalue()
        assert logs[1].getvalue() == ""

    def test_failed_compilation_stores_nothing(self) -> None:
        cache = Recording()
        with pytest.raises(cudacore.CompileError):
            Program("nonsense", "c++", options()).compile("ptx", cache=cache)
        assert cache.calls == ["miss"]

    def test_names(self, program: Program) -> None:
        cache = Recording()
        with pytest.raises(ValueError, match="name_expressions don't go with a cache"):
            program.compile("ptx", ["fill"], cache=cache)
        program.compile("ptx", [], cache=cache)
        assert cache.calls == ["miss", "store"]

    @pytest.mark.parametrize("fields", [{"include_path": "a"}, {"name": "a/b.cu"}, {"time": "-"}])
    def test_options_without_a_key(self, fields: dict[str, Any]) -> None:
        cache = Recording()
        with pytest.raises(ValueError, match="no key for"):
            Program(SOURCE, "c++", options(**fields)).compile("ptx", cache=cache)
        assert cache.calls == []

    @pytest.mark.parametrize("bad", [5, "cache", {}, InMemoryProgramCache])
    def test_other_objects(self, program: Program, bad: Any) -> None:
        with pytest.raises(TypeError, match="ProgramCacheResource"):
            program.compile("ptx", cache=bad)

    def test_errors_of_the_cache(self, program: Program) -> None:
        class Broken(Recording):
            def __init__(self, get: Any, store: bool) -> None:
                super().__init__()
                self.answer = get
                self.fails = store

            def get(self, key: Any, default: Any = None) -> Any:
                if isinstance(self.answer, Exception):
                    raise self.answer
                return self.answer

            def __setitem__(self, key: Any, value: Any) -> None:
                if self.fails:
                    raise OSError("disk full")

        with pytest.raises(RuntimeError, match="broken"):
            program.compile("ptx", cache=Broken(RuntimeError("broken"), False))
        with pytest.raises(TypeError, match=r"Broken.get\(\) returned int, not bytes"):
            program.compile("ptx", cache=Broken(5, False))
        with pytest.raises(OSError, match="disk full"):
            program.compile("ptx", cache=Broken(None, True))

    def test_cache_that_closes_the_program(self, program: Program) -> None:
        class Closing(Recording):
            def get(self, key: Any, default: Any = None) -> Any:
                program.close()
                return super().get(key, default)

        assert program.compile("ptx", cache=Closing()).kernels == ("fill",)
        assert program.is_closed
