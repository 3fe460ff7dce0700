# SPDX-License-Identifier: Apache-2.0
"""make_fatbin, and fat binaries as object codes."""

import pickle

import cudacore
import pytest
from cudacore import Device, Linker, ObjectCode, make_fatbin
from harness import cubin, ltoir, ptx

SOURCE = """
template <typename T> __global__ void axpy(T a, const T* x, T* y) { *y += a * *x; }
extern "C" __global__ void scale(float* data, float factor, int count) { *data *= factor * count; }
__global__ void which(int* out) { *out = __CUDA_ARCH__; }
namespace ns { __constant__ float table[4]; }
"""


@pytest.fixture(scope="module")
def inputs() -> list[ObjectCode]:
    return [
        cubin(SOURCE, "axpy<float>", arch="sm_80", name="f.cu"),
        cubin(SOURCE, "axpy<float>", arch="sm_90a", name="f.cu"),
        ptx(SOURCE, "axpy<float>", arch="compute_75", name="f.cu"),
        ptx(SOURCE, "axpy<float>", arch="compute_80", name="f.cu"),
    ]


def test_knows_what_its_inputs_knew(inputs: list[ObjectCode]) -> None:
    code = make_fatbin(*inputs, name="both")
    assert repr(code) == "<ObjectCode 'both' fatbin, 3 kernels>"
    assert code.code_type == "fatbin"
    assert code.name == "both"
    assert set(code.kernels) == {"axpy<float>", "scale", "which"}
    assert code.symbol_mapping == inputs[0].symbol_mapping
    for name in code.kernels:
        assert code.signature(name) == inputs[2].signature(name)
    assert str(code.signature("scale")) == "scale(float* data, .f32 factor, .u32 count)"


def test_bytes_alone_tell_types(inputs: list[ObjectCode]) -> None:
    code = ObjectCode.from_fatbin(make_fatbin(*inputs).code)
    assert str(code.signature("axpy<float>")) == "axpy<float>(float, float const*, float*)"
    assert str(code.signature("scale")) == "scale(.u64, .f32, .u32)"
    machine_code = ObjectCode.from_fatbin(make_fatbin(inputs[0]).code)
    assert [parameter.size for parameter in machine_code.signature("scale")] == [8, 4, 4]
    with pytest.raises(ValueError, match=r"axpy<float>.*scale|scale.*axpy<float>"):
        code.signature("missing")


def test_pickle_keeps_parameters(inputs: list[ObjectCode]) -> None:
    code = make_fatbin(*inputs)
    copy = pickle.loads(pickle.dumps(code))
    assert str(copy.signature("scale")) == str(code.signature("scale"))
    assert copy.symbol_mapping == code.symbol_mapping


@pytest.mark.parametrize("mode", ["none", "default", "size", "speed", "balance"])
def test_runs(inputs: list[ObjectCode], device: Device, mode: str) -> None:
    device.set_current()
    made = make_fatbin(*inputs, compress_mode=mode)
    for code in (made, ObjectCode.from_fatbin(made.code)):
        buffer = device.allocate(4)
        code.get_kernel("which")[1, 1](buffer)
        (arch,) = buffer.to_host("i4").tolist()
        simulated = cudacore.simulator.is_enabled()
        assert arch == 800 if simulated or device.arch < "90" else arch == 900
        buffer.copy_from(memoryview(b"\0\0\x80\x3f"))
        # If it is compressed, an int would be passed as one.
        factor = 2 if code is made or mode == "none" else 2.0
        code.get_kernel("scale")[1, 1](buffer, factor, 3)
        assert buffer.to_host("f4").tolist() == [6.0]
        assert code.get_global("table" if mode == "none" else "_ZN2ns5tableE").size == 16


@pytest.mark.simulator_only(reason="a GPU runs the machine code")
def test_machine_code_alone_does_not_run_on_the_simulated_device(
    inputs: list[ObjectCode], device: Device
) -> None:
    device.set_current()
    with pytest.raises(cudacore.NotSupportedError, match="has no PTX"):
        make_fatbin(inputs[0]).get_kernel("which")


def test_only_the_driver_reads_what_is_compressed(inputs: list[ObjectCode]) -> None:
    code = make_fatbin(*inputs, name="small", compress_mode="size")
    assert len(code.code) < len(make_fatbin(*inputs).code)
    assert "3 kernels" not in repr(code)
    for use in (lambda: code.kernels, lambda: code.signature("scale")):
        with pytest.raises(cudacore.NotSupportedError, match='"small".*not compressed'):
            use()


def test_same_architecture_twice(inputs: list[ObjectCode]) -> None:
    with pytest.raises(ValueError, match="two inputs are cubin for sm_80"):
        make_fatbin(inputs[0], inputs[2], inputs[0])
    # One of each is what nvcc makes, too.
    make_fatbin(inputs[0], inputs[3])
    # These are two.
    make_fatbin(cubin(SOURCE, arch="sm_90"), inputs[1])


def test_wrong_inputs(inputs: list[ObjectCode]) -> None:
    with pytest.raises(ValueError, match="needs at least one object code"):
        make_fatbin()
    with pytest.raises(ValueError, match='not of ltoir "f.cu"'):
        make_fatbin(ltoir(SOURCE, name="f.cu"))
    with pytest.raises(ValueError, match="not of fatbin"):
        make_fatbin(make_fatbin(*inputs))
    with pytest.raises(ValueError, match='damaged cubin "cut"'):
        make_fatbin(ObjectCode.from_cubin(inputs[0].code[:500], name="cut"))
    with pytest.raises(ValueError, match="not a cubin"):
        make_fatbin(ObjectCode.from_cubin(b"garbage"))
    with pytest.raises(ValueError, match='ptx "text" has no .target'):
        make_fatbin(ObjectCode.from_ptx(b"// .target sm_90", name="text"))
    with pytest.raises(ValueError, match='compress_mode must be "none", .* not "zip"'):
        make_fatbin(*inputs, compress_mode="zip")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"argument 1 must be an ObjectCode, not list.*as in \*"):
        make_fatbin(inputs)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="argument 2 must be an ObjectCode, not bytes"):
        make_fatbin(inputs[0], b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="name"):
        make_fatbin(*inputs, name=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 10, 17, 60, 90, 1000, -100, -1])
def test_truncated(inputs: list[ObjectCode], size: int) -> None:
    code = ObjectCode.from_fatbin(make_fatbin(*inputs).code[:size], name="cut")
    for use in (lambda: code.kernels, lambda: code.get_kernel("f"), lambda: code.get_global("f")):
        with pytest.raises(ValueError, match='fatbin "cut"'):
            use()
    assert "unreadable" in repr(code)


@pytest.mark.parametrize("place", [16, 24, 4, 8])
def test_sizes_that_contradict_each_other(inputs: list[ObjectCode], place: int) -> None:
    data = bytearray(make_fatbin(*inputs).code)
    data[place : place + 8] = b"\xff" * 8
    code = ObjectCode.from_fatbin(data, name="lies")
    with pytest.raises((ValueError, cudacore.NotSupportedError), match='fatbin "lies"'):
        _ = code.kernels
    with pytest.raises(ValueError, match='fatbin "lies"'):
        code.get_kernel("scale")


def test_linker_takes_it(inputs: list[ObjectCode]) -> None:
    relocatable = {"arch": "sm_90", "relocatable_device_code": True}
    fatbin = make_fatbin(cubin("__device__ int two() { return 2; }", **relocatable))
    user = cubin(
        "extern __device__ int two(); __global__ void f(int* p) { *p = two(); }", **relocatable
    )
    assert Linker(fatbin, user, options={"arch": "sm_90"}).link().kernels == ("f",)


def test_target_is_read_as_the_assembler_reads_it(inputs: list[ObjectCode]) -> None:
    text = inputs[3].ptx
    assert text is not None
    assert ".target sm_80" in text
    for other in (
        "/*\n.target sm_50\n*/\n" + text,
        "// .target sm_50\n" + text,
        text.replace(".target sm_80", "  .target\t sm_80"),
        text.replace(".target sm_80", ".target /* sm_50 */ sm_80, debug"),
        text.replace(".target sm_80", ".target debug, sm_80"),
    ):
        made = make_fatbin(ObjectCode.from_ptx(other))
        # The fat binary says for which architecture its PTX is.
        with pytest.raises(ValueError, match=r"two inputs are ptx for sm_80;"):
            make_fatbin(ObjectCode.from_ptx(other), inputs[3])
        assert set(made.kernels) == set(inputs[3].kernels)
    for wrong in (text.replace(".target sm_80", ""), "// .target sm_80\n.version 8.0\n"):
        with pytest.raises(ValueError, match=r"has no \.target sm_XX"):
            make_fatbin(ObjectCode.from_ptx(wrong))
