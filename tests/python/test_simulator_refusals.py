# SPDX-License-Identifier: Apache-2.0
"""What the simulated device loads, what it rejects, and with which message."""

import ctypes
from collections.abc import Callable

import cudacore
import pytest
from cudacore import (
    Buffer,
    CompileError,
    CUDAError,
    Device,
    InvalidValueError,
    Kernel,
    LaunchConfig,
    LaunchError,
    Linker,
    NotSupportedError,
    ObjectCode,
    OutOfMemoryError,
    Program,
    Stream,
    VirtualMemoryResource,
    launch,
)
from harness import ARCH, build, cubin, host_bytes, ltoir, ptx

pytestmark = pytest.mark.simulator_only(reason="a GPU has its own driver's words and PTX compiler")

SEVEN = "__global__ void k(int* p) { *p = 7; }"


def load(body: str, target: str = "sm_90", version: str = "8.6") -> Kernel:
    text = f".version {version}\n.target {target}\n.address_size 64\n{body}\n"
    return ObjectCode.from_ptx(text.encode(), name="mine").get_kernel("k")


def entry(*lines: str) -> str:
    """Make a kernel whose first line is the text's sixth."""
    return "\n".join([".visible .entry k()", "{", *lines, "}"])


@pytest.fixture
def answer(device: Device, stream: Stream, pinned: Callable[[int], Buffer]) -> Callable[..., int]:
    """Return what a kernel ``k`` writes to its only parameter."""

    def ask(code: ObjectCode) -> int:
        result = pinned(4)
        code.get_kernel("k")[1, 1, stream](result)
        stream.sync()
        return int.from_bytes(host_bytes(result), "little")

    return ask


class TestMemory:
    def test_read_only_memory_is_not_written(self, device: Device, stream: Stream) -> None:
        resource = VirtualMemoryResource(device, {"self_access": "r"})
        with resource.allocate(1) as buffer, device.allocate(buffer.size) as other:
            for write in (
                lambda: buffer.fill(1, stream=stream),
                lambda: buffer.copy_from(other, stream=stream),
                lambda: buffer.copy_from(bytes(buffer.size), stream=stream),
                lambda: stream.write_value(buffer, 1),
            ):
                with pytest.raises(InvalidValueError, match="may be read only .cuMemSetAccess"):
                    write()
            other.copy_from(buffer, stream=stream)
            stream.sync()


class TestCaptures:
    def test_launches_of_graphs_are_not_captured(self, device: Device, stream: Stream) -> None:
        with device.allocate(4, stream=stream) as buffer:
            with stream.create_graph_builder() as inner:
                buffer.fill(1, stream=inner)
            graph = inner.complete()
            with stream.create_graph_builder() as builder:
                with pytest.raises(NotSupportedError, match=r"with GraphBuilder\.embed"):
                    graph.launch(builder.stream)
                buffer.fill(2, stream=builder)  # the capture goes on
            builder.complete().launch(stream)
            assert bytes(buffer.to_host(stream=stream)) == bytes([2] * 4)


class TestCode:
    def test_cubin_runs_by_its_ptx(self, answer: Callable[..., int]) -> None:
        assert answer(cubin(SEVEN)) == 7

    def test_cubin_without_ptx_says_why_not(self, device: Device) -> None:
        code = ObjectCode.from_cubin(cubin(SEVEN).code, name="foreign")
        with pytest.raises(
            NotSupportedError, match=r'cubin "foreign" cannot run.*runs PTX.*from_ptx'
        ):
            code.get_kernel("k")

    def test_program_makes_ptx_by_itself(self, answer: Callable[..., int]) -> None:
        code = Program(SEVEN, "c++").compile()
        assert code.code_type == "ptx"
        assert answer(code) == 7

    @pytest.mark.parametrize(("make", "target"), [(ptx, "cubin"), (ltoir, "cubin"), (ltoir, "ptx")])
    def test_linked_programs_run(
        self, answer: Callable[..., int], make: Callable[..., ObjectCode], target: str
    ) -> None:
        options = {} if make is ltoir else {"relocatable_device_code": True}
        parts = [
            make("__device__ int f(int); __global__ void k(int* p) { *p = f(3); }", **options),
            make("__device__ int f(int x) { return x * 5; }", **options),
        ]
        assert answer(Linker(*parts).link(target)) == 15

    @pytest.mark.parametrize("scope", ["cta", "cluster", "gpu", "sys"])
    def test_fences_of_tensor_maps(self, answer: Callable[..., int], scope: str) -> None:
        fence = "fence.proxy.tensormap::generic"
        code = ObjectCode.from_ptx(
            f""".version 8.6
            .target sm_90a
            .address_size 64
            .global .align 128 .b8 map[256];
            .visible .entry k(.param .u64 to) {{
              .reg .b64 %rd<2>;
              ld.param.u64 %rd0, [to];
              mov.u64 %rd1, map;
              {fence}.release.{scope};
              {fence}.acquire.{scope} [map], 128;
              {fence}.acquire.{scope} [%rd1+128], 128;
              st.global.u32 [%rd0], 7;
              ret;
            }}""".encode()
        )
        assert answer(code) == 7

    def test_grid_may_count_clusters(self, stream: Stream, pinned: Callable[[int], Buffer]) -> None:
        body = """
            .visible .entry k(.param .u64 to) .reqntid 32 .reqnctapercluster 4 .blocksareclusters {
              .reg .b64 %rd<2>; .reg .b32 %r<2>;
              ld.param.u64 %rd1, [to];
              mov.u32 %r1, %nctaid.x;
              st.global.u32 [%rd1], %r1;
              red.global.add.u32 [%rd1+4], 1;
              ret;
            }"""
        result = pinned(8)
        for block in (32, 1):
            result.fill(0, stream=stream)
            load(body, version="9.0")[3, block, stream](result)
            stream.sync()
            assert host_bytes(result) == b"\x0c\0\0\0\x80\x01\0\0"


class TestBadPtx:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (entry("  add.s32 %r1, %r1, 1;"), "line 6, column 11: register '%r1' is not declared"),
            (entry(".reg .b32 %r<2>;", "  add.s32 %r1, ;"), "line 7, column 16: "),
            (entry("  bra $nowhere;"), "line 6, column 7: there is no label '$nowhere'"),
            (".visible .entry k() {\n  ret;", "line 6, column 1: expected '}'"),
            (entry("  ret; }"), "line 7, column 1: "),
            (entry("  ret"), "line 7, column 1: "),
            (entry(".reg .b32 %r<2>;", "  frobnicate.s32 %r1, %r1;"), "'frobnicate.s32'"),
            (entry(".reg .b32 %r<2>;", "  add.q7 %r1, %r1, %r1;"), "line 7, column "),
            (entry("  ret;") + "\nnonsense", "line 8, column 1: "),
            (".visible .entry k()\n.reqntid 32\n.blocksareclusters { ret; }",
             "line 6, column 1: .blocksareclusters of 'k' needs a kernel with .reqntid and"),
            (entry("  .shared .b8 s[\x00];"), "line 6, column "),
        ],
    )  # fmt: skip
    def test_error_has_line_and_column(self, device: Device, text: str, says: str) -> None:
        with pytest.raises(CompileError) as caught:
            load(text)
        assert caught.value.name == "CUDA_ERROR_INVALID_PTX"
        assert 'ptx "mine"' in str(caught.value)
        assert says in str(caught.value)

    def test_unknown_instruction_is_named_with_its_line(self, device: Device) -> None:
        with pytest.raises(CompileError, match=r"line 7, column 3: .*'frobnicate\.s32'"):
            load(entry(".reg .b32 %r<2>;", "  frobnicate.s32 %r1, %r1;"))

    @pytest.mark.parametrize(
        ("target", "instruction"),
        [
            ("sm_90a", "wgmma.fence.sync.aligned"),
            ("sm_90", "sured.b.add.1d.u32.trap [%rd0, {%r0}], %r1"),
            ("sm_90a", "tensormap.replace.tile.rank.global.b1024.b32 [%rd0], 1"),
        ],
    )
    def test_what_is_not_simulated_is_named(
        self, device: Device, target: str, instruction: str
    ) -> None:
        registers = ".reg .b32 %r<2>; .reg .f32 %f<4>; .reg .b64 %rd<2>;"
        with pytest.raises(CUDAError) as caught:
            load(entry(registers, f"  {instruction};", "  ret;"), target)
        text = str(caught.value)
        mnemonic, _, _ = instruction.partition(" ")
        assert caught.value.name == "CUDA_ERROR_NOT_SUPPORTED"
        assert f"instruction '{mnemonic}' is not simulated in kernel 'k'" in text
        assert "line 7, column 3" in text

    def test_other_kernels_of_the_module_run(
        self, device: Device, stream: Stream, pinned: Callable[[int], Buffer]
    ) -> None:
        text = """.version 8.6
            .target sm_90
            .address_size 64
            .global .texref picture;
            .global .samplerref smooth = { addr_mode_0 = wrap, filter_mode = linear };
            .visible .entry samples() {
              .reg .f32 %f<5>;
              tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, smooth, {%f1, %f2}];
              ret;
            }
            .visible .entry k(.param .u64 p) {
              .reg .b64 %rd<2>;
              ld.param.u64 %rd1, [p];
              st.global.u32 [%rd1], 7;
              ret;
            }"""
        code = ObjectCode.from_ptx(text.encode(), name="half.ptx")
        with pytest.raises(NotSupportedError) as caught:
            code.get_kernel("samples")
        assert 'kernel "samples" of ptx "half.ptx"' in str(caught.value)
        assert "surface 'picture' is not simulated in kernel 'samples'" in str(caught.value)
        result = pinned(4)
        code.get_kernel("k")[1, 1, stream](result)
        stream.sync()
        assert host_bytes(result) == b"\x07\0\0\0"

    def test_ptx_of_before_sm_20_says_so(self, device: Device) -> None:
        with pytest.raises(CUDAError, match=r"\.version 1\.4, \.target sm_13: PTX for GPUs before"):
            load(entry("  ret;"), "sm_13", "1.4")

    def test_what_has_no_name_is_called_by_its_type(self, device: Device) -> None:
        code = ObjectCode.from_ptx(b".version 8.6\n.target sm_90\nfoo\n.entry k() { ret; }")
        with pytest.raises(CompileError, match="cuLibraryLoadData failed on ptx: CUDA_ERROR_INVAL"):
            code.get_kernel("k")

    def test_dynamic_parallelism_is_named(self, device: Device) -> None:
        source = "__global__ void c() {}\n__global__ void k() { c<<<1, 1>>>(); }"
        code = ptx(source, relocatable_device_code=True)
        with pytest.raises(CUDAError, match=r"dynamic parallelism\) is not simulated"):
            code.get_kernel("k")

    def test_newer_architecture(self, device: Device) -> None:
        assert device.arch == ARCH.removeprefix("sm_")
        with pytest.raises(CUDAError, match="sm_100 does not run on a device of sm_90"):
            load(entry("  ret;"), "sm_100")

    def test_newer_version(self, device: Device) -> None:
        with pytest.raises(NotSupportedError, match=r"99\.0"):
            load(entry("  ret;"), version="99.0")

    def test_device_goes_on(self, device: Device, answer: Callable[..., int]) -> None:
        with pytest.raises(CompileError):
            load(entry("  nonsense"))
        assert not device.context.is_lost
        assert answer(build(SEVEN)) == 7


class TestLimits:
    @pytest.fixture
    def kernel(self) -> Kernel:
        return build(SEVEN).get_kernel("k")

    @pytest.mark.parametrize(
        ("config", "says"),
        [
            ({"grid": 1, "block": 1025}, "block of 1025 x 1 x 1 is too large.* 1024 x 1024 x 64"),
            ({"grid": 1, "block": (1, 1, 65)}, "block of 1 x 1 x 65 is too large"),
            ({"grid": 1, "block": (32, 33)}, "block"),
            ({"grid": (1, 65536), "block": 1}, "grid of 1 x 65536 x 1 is too large"),
            ({"grid": 1, "block": 1, "shmem_size": 232449}, "232449 bytes of dynamic"),
            ({"grid": 16, "cluster": 16, "block": 1}, "cluster of 16x1x1 blocks has more than 8"),
        ],
    )
    def test_launch_past_them(
        self, kernel: Kernel, stream: Stream, pinned: Callable[[int], Buffer],
        config: dict[str, object], says: str,
    ) -> None:  # fmt: skip
        with pytest.raises((ValueError, LaunchError), match=says):
            launch(stream, LaunchConfig(**config), kernel, pinned(4))  # type: ignore[arg-type]
        stream.sync()

    def test_memory(self, device: Device) -> None:
        size = device.mem_info.total + 1
        with pytest.raises(OutOfMemoryError) as caught:
            device.allocate(size)
        assert (caught.value.code, caught.value.name) == (2, "CUDA_ERROR_OUT_OF_MEMORY")


class TestHandles:
    @pytest.fixture
    def driver(self, device: Device) -> ctypes.CDLL:
        device.sync()
        return ctypes.CDLL(cudacore.simulator.library())

    def test_unknown_stream(self, device: Device) -> None:
        with pytest.raises(InvalidValueError, match="not one of a stream") as caught:
            Stream.from_handle(0xDEAD0).sync()
        assert caught.value.name == "CUDA_ERROR_INVALID_HANDLE"

    def test_unknown_kernel(self, stream: Stream) -> None:
        with pytest.raises(InvalidValueError):
            Kernel.from_handle(0xDEAD0)[1, 1, stream]()

    def test_destroyed_stream(self, device: Device, driver: ctypes.CDLL) -> None:
        handle = int(device.create_stream().handle)
        with pytest.raises(InvalidValueError, match="has been destroyed"):
            Stream.from_handle(handle).sync()
        assert driver.cuStreamSynchronize(ctypes.c_void_p(handle)) == 400

    def test_double_frees(self, driver: ctypes.CDLL) -> None:
        memory, other = ctypes.c_uint64(), ctypes.c_void_p()
        assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
        assert [driver.cuMemFree_v2(memory) for _ in range(2)] == [0, 1]
        assert driver.cuMemFree_v2(ctypes.c_uint64(8)) == 1
        assert driver.cuMemFreeHost(ctypes.c_void_p(8)) == 1
        for make, destroy in (
            ("cuStreamCreate", "cuStreamDestroy_v2"),
            ("cuEventCreate", "cuEventDestroy_v2"),
        ):
            assert getattr(driver, make)(ctypes.byref(other), 0) == 0
            assert [getattr(driver, destroy)(other) for _ in range(2)] == [0, 400]
        for name in ("cuModuleUnload", "cuLibraryUnload"):
            assert getattr(driver, name)(ctypes.c_void_p(0x1230)) == 400
