# SPDX-License-Identifier: Apache-2.0
"""CUDA's own headers without a toolkit, and headers kept in memory."""

import os
from importlib import metadata
from pathlib import Path

import cudacore
import pytest
from cudacore import CompileError, Program
from harness import ARCH, cubin, run_cleanly

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


#: The wheels that bring them, by NVRTC's major version.
WHEELS = {
    12: ("nvidia-cuda-runtime-cu12", "nvidia-cuda-cccl-cu12"),
    13: ("nvidia-cuda-runtime", "nvidia-cuda-cccl"),
}
TOOLKIT = Path("/usr/local/cuda/include/cuda.h")


@pytest.fixture(scope="session")
def cuda_headers() -> None:
    """CUDA's headers lie where they are found with no variable set; on CI they always do."""
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
