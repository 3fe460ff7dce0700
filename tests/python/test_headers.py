# SPDX-License-Identifier: Apache-2.0
"""CUDA's own headers without a toolkit, and headers kept in memory."""

import os
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import ClassVar

import cudacore
import pytest
from cudacore import CompileError, Program
from harness import ARCH, copy_package, cubin, run_cleanly

NO_TOOLKIT = {"CUDA_PATH": None, "CUDA_HOME": None, "CPATH": None, "CPLUS_INCLUDE_PATH": None}

SOURCES = {
    "cuda_fp16.h": "__global__ void k(__half* x) { *x = __hadd(*x, *x); }",
    "cuda_bf16.h": "__global__ void k(__nv_bfloat16* x) { *x = __hadd(*x, *x); }",
    "cuda_fp8.h": "__global__ void k(__nv_fp8_e4m3* x) { *x = __nv_fp8_e4m3(1.0f); }",
    "cuComplex.h": "__global__ void k(cuFloatComplex* x) { *x = cuCmulf(*x, *x); }",
    "cooperative_groups.h": """
        __global__ void k(int* x) { *x = cooperative_groups::this_thread_block().size(); }""",
    "cooperative_groups/reduce.h": """
        namespace cg = cooperative_groups;
        __global__ void k(int* x) {
          *x = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), 1, cg::plus<int>());
        }""",
    "cuda/std/complex": """
        __global__ void k(cuda::std::complex<float>* x) { *x = *x * *x; }""",
    "cuda/std/cstdint": "__global__ void k(cuda::std::int64_t* x) { *x = 1; }",
    "cuda/std/type_traits": """
        __global__ void k(int* x) { *x = cuda::std::is_same_v<int, int>; }""",
    "cuda/atomic": """
        __global__ void k(int* x) { cuda::atomic_ref<int>(*x).fetch_add(1); }""",
    "cub/block/block_reduce.cuh": """
        __global__ void k(int* x) {
          using Reduce = cub::BlockReduce<int, 128>;
          __shared__ typename Reduce::TempStorage storage;
          x[0] = Reduce(storage).Sum(x[threadIdx.x]);
        }""",
}


#: The wheels that contain them, by NVRTC's major version.
WHEELS = {
    12: ("nvidia-cuda-runtime-cu12", "nvidia-cuda-cccl-cu12"),
    13: ("nvidia-cuda-runtime", "nvidia-cuda-cccl"),
}
TOOLKIT = Path("/usr/local/cuda/include/cuda.h")


@pytest.fixture(scope="session")
def cuda_headers() -> None:
    """CUDA's headers are found without setting a variable; on CI they always are."""
    major = cudacore.nvrtc_library()[0][0]
    version = f"#define CUDA_VERSION {major}"
    toolkit = TOOLKIT.exists() and version in TOOLKIT.read_text(errors="replace")
    if toolkit or os.environ.get("CI"):
        return
    for wheel in WHEELS[major]:
        if not any(metadata.distributions(name=wheel)):
            pytest.skip(f"{wheel} is not installed")


@pytest.mark.usefixtures("cuda_headers")
@pytest.mark.parametrize("header", SOURCES)
def test_header_is_found_without_toolkit_or_option(header: str) -> None:
    source = f"#include <{header}>\n{SOURCES[header]}"
    script = """
        import sys, cudacore
        program = cudacore.Program(sys.argv[1], "c++", {"arch": sys.argv[2]})
        print(program.compile("cubin").kernels)
    """
    assert run_cleanly(script, source, ARCH, env=NO_TOOLKIT, timeout=300) == "('k',)\n"


@pytest.mark.usefixtures("cuda_headers")
def test_include_directories_hold_headers_of_the_compilers_version() -> None:
    folders = [Path(folder) for folder in cudacore.include_directories()]
    assert all(folder.is_dir() for folder in folders)
    [header] = [folder / "cuda.h" for folder in folders if (folder / "cuda.h").exists()][:1]
    major = cudacore.nvrtc_library()[0][0]
    assert f"#define CUDA_VERSION {major}" in header.read_text(errors="replace")


def test_users_include_path_goes_first(tmp_path: Path) -> None:
    (tmp_path / "cuda_fp16.h").write_text("#define MINE 1\n")
    source = "#include <cuda_fp16.h>\n__global__ void k(int* x) { *x = MINE; }"
    assert cubin(source, include_path=str(tmp_path)).kernels == ("k",)


class TestInMemory:
    def test_header_given_as_text(self) -> None:
        source = '#include "answer.h"\n__global__ void k(int* x) { *x = ANSWER; }'
        assert cubin(source, headers={"answer.h": "#define ANSWER 42"}).kernels == ("k",)

    @pytest.mark.parametrize("include", ['"lib/a.h"', "<lib/a.h>"])
    def test_headers_include_each_other(self, include: str) -> None:
        headers = {
            "lib/a.h": '#include "lib/b.h"\n',
            "lib/b.h": "__device__ int two() { return 2; }",
        }
        source = f"#include {include}\n__global__ void k(int* x) {{ *x = two(); }}"
        assert cubin(source, headers=headers).kernels == ("k",)

    def test_wins_over_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "who.h").write_text("#error the file was read\n")
        source = '#include "who.h"\n__global__ void k(int* x) { *x = WHO; }'
        options = {"headers": {"who.h": "#define WHO 1"}, "include_path": str(tmp_path)}
        assert cubin(source, **options).kernels == ("k",)

    @pytest.mark.usefixtures("cuda_headers")
    def test_mixes_with_cudas_own(self) -> None:
        headers = {"half.h": "#include <cuda_fp16.h>\nusing H = __half;"}
        source = '#include "half.h"\n__global__ void k(H* x) { *x = H(1.0f); }'
        assert cubin(source, headers=headers).kernels == ("k",)

    def test_error_inside_names_the_header(self) -> None:
        source = '#include "broken.h"\n__global__ void k() {}'
        with pytest.raises(CompileError) as caught:
            cubin(source, headers={"broken.h": "int x = ;\n"})
        assert "broken.h" in str(caught.value)
        assert "int x = ;" in str(caught.value)


def test_missing_header_is_named() -> None:
    with pytest.raises(CompileError) as caught:
        Program('#include "nowhere.h"\n', "c++", {"arch": ARCH}).compile("ptx")
    assert "nowhere.h" in str(caught.value)


class TestOfC:
    """C's own headers come from memory, without a toolkit or an option."""

    SOURCES: ClassVar = {
        "stdint.h": "int64_t a = INT64_MAX; uint8_t b = UINT8_C(7); static_assert(sizeof(a) == 8);",
        "stddef.h": "size_t a = offsetof(Pair, second); void* b = NULL;",
        "stdbool.h": "bool a = true;",
        "limits.h": "int a = INT_MAX; long b = LONG_MIN; int c = CHAR_BIT;",
        "float.h": "float a = FLT_MAX; double b = DBL_EPSILON;",
        "math.h": "float a = sqrtf(M_PI) + INFINITY; float b = NAN; bool c = isnan(b);",
        "string.h": "int a, b; memcpy(&a, &b, sizeof(a)); memset(&a, 0, 4);",
        "stdlib.h": "void* a = malloc(4); free(a);",
        "stdio.h": 'printf("%d", 1);',
        "assert.h": "assert(x != nullptr);",
        "inttypes.h": 'printf("%" PRId64, int64_t(1));',
        "time.h": "clock_t a = clock();",
    }

    @pytest.mark.parametrize("header", SOURCES)
    def test_is_served(self, header: str) -> None:
        body = self.SOURCES[header]
        source = f"""#include <{header}>
            struct Pair {{ int first, second; }};
            __global__ void k(int* x) {{ {body} }}"""
        assert cubin(source).kernels == ("k",)

    def test_all_of_them_beside_cudas(self) -> None:
        includes = "".join(f"#include <{header}>\n" for header in self.SOURCES)
        source = includes + "#include <cuda/std/cstdint>\n#include <cuda/std/limits>\n"
        assert cubin(source + "__global__ void k(int64_t x) {}").kernels == ("k",)

    def test_serves_headers_that_include_them(self) -> None:
        headers = {"mine.h": "#include <stdint.h>\nusing Index = int64_t;"}
        source = '#include "mine.h"\n__global__ void k(Index i) {}'
        assert cubin(source, headers=headers).kernels == ("k",)

    def test_the_users_own_wins(self, tmp_path: Path) -> None:
        (tmp_path / "stdint.h").write_text("#define MINE 1\n")
        source = "#include <stdint.h>\n__global__ void k(int* x) { *x = MINE; }"
        assert cubin(source, include_path=str(tmp_path)).kernels == ("k",)
        assert cubin(source, headers={"stdint.h": "#define MINE 1"}).kernels == ("k",)

    def test_error_shows_the_users_line(self) -> None:
        with pytest.raises(CompileError) as caught:
            cubin("#include <stdint.h>\n__global__ void k() { uint8_t x = nope; }")
        assert 'identifier "nope" is undefined' in str(caught.value)
        assert "stdint.h" not in str(caught.value)


class TestProgrammaticLaunch:
    SOURCE = """
        __global__ void k() {
          cudaGridDependencySynchronize();
          cudaTriggerProgrammaticLaunchCompletion();
        }"""

    def test_its_functions_are_declared(self) -> None:
        code = cubin(self.SOURCE)
        assert code.ptx is not None
        assert "griddepcontrol.wait" in code.ptx
        assert "griddepcontrol.launch_dependents" in code.ptx

    def test_the_users_own_win(self) -> None:
        own = "__device__ void cudaGridDependencySynchronize() { __trap(); }\n"
        code = cubin(own + "__global__ void k() { cudaGridDependencySynchronize(); }")
        assert code.ptx is not None
        assert "griddepcontrol" not in code.ptx


class TestAdvice:
    """Advice names only what exists."""

    def message(self, header: str) -> str:
        with pytest.raises(CompileError) as caught:
            cubin(f"#include <{header}>\n__global__ void k() {{}}")
        return str(caught.value)

    @pytest.mark.usefixtures("cuda_headers")
    @pytest.mark.parametrize("header", ["type_traits", "cmath", "complex", "cstdint"])
    def test_standard_header_that_cuda_has(self, header: str) -> None:
        assert f"<cuda/std/{header}>" in self.message(header)
        cubin(f"#include <cuda/std/{header}>\n__global__ void k() {{}}")

    @pytest.mark.parametrize(
        ("header", "what"),
        [("cstdio", "printf"), ("iostream", "printf"), ("cuda/std/cstdio", "printf"),
         ("cassert", "assert"), ("cmath", "math functions")],
    )  # fmt: skip
    def test_header_that_is_not_needed(self, header: str, what: str) -> None:
        message = self.message(header)
        assert what in message
        assert "no header" in message or "need no header" in message
        assert "same header as <cuda/std/cstdio>" not in message

    @pytest.mark.usefixtures("cuda_headers")
    def test_header_that_no_version_has(self) -> None:
        message = self.message("cub/no_such_header.cuh")
        assert "no such file" in message
        assert "pip install" not in message

    def test_header_of_a_wheel_that_is_missing(self) -> None:
        folders = map(Path, cudacore.include_directories())
        if any((folder / "curand_kernel.h").exists() for folder in folders):
            pytest.skip("cuRAND's headers are here")
        message = self.message("curand_kernel.h")
        assert "pip install nvidia-curand" in message
        assert "cudacore[" not in message

    @pytest.mark.usefixtures("cuda_headers")
    @pytest.mark.parametrize(
        "header", ["cub/cub.cuh", "cub/device/device_reduce.cuh", "thrust/complex.h"]
    )
    def test_header_that_nvrtc_does_not_take(self, header: str) -> None:
        message = self.message(header)
        named = re.findall(
            r"<(c(?:ub|uda)/[\w/.]+)>", message.partition("NVRTC takes")[2] or message
        )
        named = [one for one in named if one != header]
        assert named
        for other in named:
            cubin(f"#include <{other}>\n__global__ void k() {{}}")


def make_headers(folder: Path, version: int, *files: str) -> Path:
    """Create a folder with the headers of a CUDA version, 13000 for 13.0."""
    for name in ("cuda_runtime_api.h", *files):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = f"#define CUDART_VERSION {version}\n" if name == "cuda_runtime_api.h" else ""
        (folder / name).write_text(text)
    return folder


class TestSearch:
    """Where CUDA's headers are taken from, with NVRTC in a different place."""

    def search(self, tmp_path: Path) -> list[str]:
        """Run the search in a process that finds NVRTC apart from its wheel's headers."""
        (major, minor), path = cudacore.nvrtc_library()
        library = tmp_path / "alone" / "lib"
        library.mkdir(parents=True)
        for file in Path(path).parent.glob("libnvrtc*"):
            if ".alt" not in file.name:
                (library / file.name).symlink_to(file)
        del minor
        copy = library / f"libnvrtc.so.{major}"
        copy.unlink()
        shutil.copy(path, copy)
        wheel = tmp_path / "site"
        script = """
            import ctypes, sys
            ctypes.CDLL(sys.argv[1])
            sys.path[:] = [entry for entry in sys.path if not entry.endswith("-packages")]
            sys.path.append(sys.argv[2])
            import cudacore
            print(*cudacore.include_directories(), sep="\\n")
        """
        env = {**NO_TOOLKIT, "CUDA_PATH": str(tmp_path / "toolkit"), "CONDA_PREFIX": None}
        # cudacore may be installed next to NVIDIA's wheels, so use a copy of it.
        package = copy_package(tmp_path / "package")
        env["PYTHONPATH"] = str(package)
        (wheel / "nvidia").mkdir(parents=True, exist_ok=True)
        return run_cleanly(script, str(copy), str(wheel), env=env).split()

    def places(self, tmp_path: Path) -> tuple[Path, Path, int]:
        major = cudacore.nvrtc_library()[0][0]
        wheel = tmp_path / "site/nvidia" / (f"cu{major}" if major > 12 else "cuda_runtime")
        return wheel / "include", tmp_path / "toolkit/include", 1000 * major

    def test_folders_of_one_version_are_all_searched(self, tmp_path: Path) -> None:
        wheel, toolkit, version = self.places(tmp_path)
        make_headers(wheel, version + 10)
        make_headers(toolkit, version + 10, "crt/mma.h", "cuda/std/version")
        found = self.search(tmp_path)
        assert found[0] == str(toolkit)
        assert str(wheel) in found

    def test_another_minor_version_is_not_mixed_in(self, tmp_path: Path) -> None:
        wheel, toolkit, version = self.places(tmp_path)
        make_headers(wheel, version + 10, "crt/mma.h")
        make_headers(toolkit, version, "crt/mma.h")
        assert self.search(tmp_path) == [str(wheel)]

    def test_headers_that_are_whole_go_before_those_without_crt(self, tmp_path: Path) -> None:
        wheel, toolkit, version = self.places(tmp_path)
        make_headers(wheel, version + 10)
        make_headers(toolkit, version, "crt/mma.h")
        assert self.search(tmp_path) == [str(toolkit)]

    def test_without_crt_is_better_than_nothing(self, tmp_path: Path) -> None:
        wheel, toolkit, version = self.places(tmp_path)
        make_headers(wheel, version + 10)
        make_headers(toolkit, version - 1000, "crt/mma.h")
        assert self.search(tmp_path) == [str(wheel)]
