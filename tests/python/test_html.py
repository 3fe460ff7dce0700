# SPDX-License-Identifier: Apache-2.0
"""What notebooks show for an object, with or without the extension."""

from html.parser import HTMLParser
from typing import Any

import pytest
from cudacore import (
    Buffer,
    CompileError,
    Device,
    Kernel,
    LegacyPinnedMemoryResource,
    Linker,
    LinkError,
    NotSupportedError,
    ObjectCode,
    Program,
    Signature,
    make_fatbin,
)
from cudacore.utils import StridedMemoryView
from harness import build, cubin, ltoir, run_cleanly

SOURCE = """
template <typename T> __global__ void axpy(T a, const T* x, T* y) { y[threadIdx.x] += a * x[0]; }
"""


class Reader(HTMLParser):
    """Checks that tags are closed in order; collects the text, a line for each row."""

    VOID = ("br",)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = [[]]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.rows[-1].append(data)


def read(shown: Any) -> list[list[str]]:
    html = shown._repr_html_()
    # Colors of its own would be unreadable in some theme.
    assert "color" not in html
    assert "background" not in html
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader.rows


@pytest.fixture(scope="module")
def kernel(device: Device) -> Kernel:
    return build(SOURCE, "axpy<float>").get_kernel("axpy<float>")


def test_device(device: Device) -> None:
    title, *rows = read(device)
    assert title == [f"Device 0: {device.name}"]
    capability = "{}.{}".format(*device.compute_capability)
    assert ["compute capability", capability] in rows
    assert ["multiprocessors", str(device.properties.multiprocessor_count)] in rows


def test_properties_are_all_there(device: Device) -> None:
    _, *rows = read(device.properties)
    assert ["warp_size", "32"] in rows
    assert len(rows) == len([name for name in dir(device.properties) if name[0] != "_"])


def test_kernel(kernel: Kernel) -> None:
    title, *rows = read(kernel)
    assert title == ["__global__ void axpy<float>(float a, float const* x, float* y)"]
    assert ["registers per thread", str(kernel.attributes.num_regs)] in rows


@pytest.mark.simulator_only(reason="a GPU cannot be used after a fault")
def test_kernel_of_a_lost_context() -> None:
    said = run_cleanly("""
        import cudacore
        code = cudacore.Program("__global__ void fault() { *(int*)4 = 1; }", "c++").compile()
        kernel = code.get_kernel("fault")
        kernel[1, 1]()
        try:
            cudacore.Device().sync()
        except cudacore.LaunchError:
            print(kernel._repr_html_())
    """)
    assert "__global__ void fault()" in said


def test_signature() -> None:
    title, heads, *rows = read(Signature("axpy<float>(float a, float const*, int n)"))
    assert title == ["axpy<float>(float a, float const*, int n)"]
    assert heads == ["parameter", "type", "kind", "bytes"]
    assert rows == [
        ["0", "a", "float", "float32", "4"],
        ["1", "-", "float const*", "pointer", "8"],
        ["2", "n", "int", "sint", "4"],
    ]


def test_object_code_of_no_device() -> None:
    title, _, *rows = read(cubin(SOURCE, "axpy<float>", name="a<b>&c"))
    assert title[0].startswith("ObjectCode a<b>&c: cubin, ")
    assert rows == [["0", "axpy<float>(float a, float const* x, float* y)"]]


def test_buffer(device: Device) -> None:
    with device.allocate(3 * 2**19) as buffer:
        title, *rows = read(buffer)
        assert title == ["Buffer"]
        assert ["size", "1.5 MiB (1,572,864 bytes)"] in rows
        assert ["address", f"{buffer.handle:#x}"] in rows
        assert ["reached by", "device 0"] in rows
        assert ["from", repr(buffer.memory_resource)] in rows


def test_buffer_of_the_host() -> None:
    with LegacyPinnedMemoryResource().allocate(100) as buffer:
        _, *rows = read(buffer)
        assert ["size", "100 bytes"] in rows
        assert ["reached by", "devices and the host"] in rows


def test_closed_buffer(device: Device) -> None:
    buffer = device.allocate(4)
    buffer.close()
    assert read(buffer) == [[repr(buffer)]]


def test_buffer_of_an_own_class() -> None:
    class Mine(Buffer):
        pass

    assert read(Mine.from_handle(0x1000, 4))[0] == ["Mine"]


def test_view(device: Device) -> None:
    numpy = pytest.importorskip("numpy")
    with device.allocate(96) as buffer:
        view = buffer.view("float32", (4, 6))
        title, *rows = read(view)
        assert title == ["StridedMemoryView"]
        assert rows == [
            ["elements", "float32"], ["shape", "(4, 6)"], ["strides", "C order"],
            ["size", "96 bytes"], ["address", f"{buffer.handle:#x}"], ["reached by", "device 0"],
            ["access", "read and write"], ["of", "Buffer"],
        ]  # fmt: skip
        assert ["strides", "(1, 6) elements"] in read(view.T)
    assert read(view) == [[repr(view)]]
    constant = numpy.zeros(3, "u1")
    constant.flags.writeable = False
    _, *rows = read(StridedMemoryView.from_any_interface(constant, -1))
    assert ["reached by", "the host"] in rows
    assert ["access", "read-only"] in rows
    assert ["of", "ndarray"] in rows


def test_view_without_numpy(device: Device) -> None:
    said = run_cleanly("""
        import sys, cudacore
        view = cudacore.Device().allocate(4).view("float32")
        sys.modules["numpy"] = None
        print(view._repr_html_())
    """)
    assert "4 bytes" in said


def test_compile_error() -> None:
    with pytest.raises(CompileError) as raised:
        Program('__global__ void f() { int x = 1 < "&"; y; }', "c++", {"arch": "sm_90"}).compile()
    [[text]] = read(raised.value)
    assert text.startswith("CompileError: nvrtcCompileProgram failed")
    assert raised.value.log.rstrip() in text


def test_link_error() -> None:
    source = "extern __device__ int elsewhere(); __global__ void f(int* p) { *p = elsewhere(); }"
    code = cubin(source, relocatable_device_code=True)
    with pytest.raises(LinkError) as raised:
        Linker(code, options={"arch": "sm_90"}).link("cubin")
    assert read(raised.value)[0][0].startswith("LinkError: ")


def test_importing_the_package_does_not_import_what_the_tables_need() -> None:
    run_cleanly("""
        import sys, cudacore
        assert not {"cudacore._html", "html", "IPython"} & set(sys.modules)
    """)


def test_object_code_whose_kernels_are_not_known() -> None:
    code = cubin(SOURCE, "axpy<float>")
    for shown in (
        make_fatbin(code, compress_mode="size"),
        ltoir(SOURCE),
        ObjectCode.from_cubin(b"damaged"),
    ):
        title, *rows = read(shown)
        assert title[0].startswith(f"ObjectCode {shown.name}: {shown.code_type}, ")
        with pytest.raises((NotSupportedError, ValueError)) as raised:
            _ = shown.kernels
        assert rows == [["kernels", str(raised.value)]]


def test_object_code_is_shown_before_it_is_loaded() -> None:
    code = ObjectCode.from_ptx(".version 7.0\n.target sm_50\n.entry f() { ret; }")
    assert read(code)[-1] == ["0", "f()"]
