# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels: their arguments, grids and streams, and what is compiled when."""

import copy
import dataclasses
import io
import pickle
import sys
from typing import Annotated

import cudacore
import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, NotSupportedError, Stream
from cudacore.tile import _compile, _specialization
from cudacore.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    TupleConstraint,
    export_kernel,
)


@ct.kernel
def axpy(x, y, a, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, i, a * ct.load(x, i, shape=size) + ct.load(y, i, shape=size))


@ct.kernel
def fill(y, value, size: ct.Constant[int]):
    ct.store(y, ct.bid(0), ct.full((size,), value, y.dtype))


@dataclasses.dataclass(frozen=True)
class Scaled:
    array: object
    factor: float


@ct.kernel
def sum_of(result, pair, record: object):
    x, y = pair
    total = ct.load(x, 0, shape=16) + ct.load(y, 0, shape=16)
    ct.store(result, 0, total + record.factor * ct.load(record.array, 0, shape=16))


@ct.kernel
def add_lists(arrays, result):
    total = ct.zeros((8,), ct.float32)
    for i in range(len(arrays)):
        total += ct.load(arrays[i], 0, shape=8)
    ct.store(result, 0, total)


class Arrays:
    """Makes arrays on the device, and reads them back."""

    def __init__(self, device: Device, stream: Stream) -> None:
        self.device = device
        self.stream = stream

    def make(self, values):
        values = np.asarray(values)
        buffer = self.device.allocate(max(values.nbytes, 1), stream=self.stream)
        if values.nbytes:
            buffer.copy_from(np.ascontiguousarray(values), stream=self.stream)
        return buffer.view(values.dtype).reshape(values.shape)

    def read(self, view):
        result = np.empty(view.shape, view.dtype)
        view.exporting_obj.copy_to(result, stream=self.stream)
        self.stream.sync()
        return result


@pytest.fixture
def arrays(device, stream):
    return Arrays(device, stream)


class TestArguments:
    @pytest.mark.parametrize("count", [1, 15, 128, 1000])
    def test_arrays_numbers_and_constants(self, arrays, stream, count):
        x, y = np.arange(count, dtype=np.float32), np.ones(count, np.float32)
        on_device = arrays.make(y)
        ct.launch(stream, (ct.cdiv(count, 128),), axpy, (arrays.make(x), on_device, 0.5, 128))
        np.testing.assert_array_equal(arrays.read(on_device), 0.5 * x + y)

    def test_strides(self, arrays, stream):
        y = arrays.make(np.zeros(64, np.int32))
        ct.launch(stream, (2,), fill, (y[::2], 7, 16))
        np.testing.assert_array_equal(arrays.read(y).reshape(32, 2), [[7, 0]] * 32)

    def test_unaligned(self, arrays, stream):
        y = arrays.make(np.zeros(64, np.int8))
        ct.launch(stream, (1,), fill, (y[3:20], 7, 32))
        expected = np.zeros(64)
        expected[3:20] = 7
        np.testing.assert_array_equal(arrays.read(y), expected)

    def test_tuples_and_dataclasses(self, arrays, stream):
        x, y, z = (np.full(16, value, np.float32) for value in (1, 2, 3))
        result = arrays.make(np.zeros(16, np.float32))
        pair = (arrays.make(x), arrays.make(y))
        ct.launch(stream, (1,), sum_of, (result, pair, Scaled(arrays.make(z), 10.0)))
        np.testing.assert_array_equal(arrays.read(result), 33)

    def test_slices_and_choices_of_arrays(self, arrays, stream):
        @ct.kernel
        def copy(x, y, result, second: bool, size: ct.Constant[int]):
            chosen = x
            if second:
                chosen = y
            piece = chosen.slice(axis=0, start=size, stop=2 * size)
            ct.store(result, 0, ct.load(piece, 0, shape=size))

        x, y = np.arange(32, dtype=np.float32), np.arange(32, 64, dtype=np.float32)
        result = arrays.make(np.zeros(8, np.float32))
        for second, numbers in ((False, x), (True, y)):
            ct.launch(stream, (1,), copy, (arrays.make(x), arrays.make(y), result, second, 8))
            np.testing.assert_array_equal(arrays.read(result), numbers[8:16])

    def test_stores_to_an_array_that_a_branch_or_loop_chose(self, arrays, stream):
        @ct.kernel
        def store(x, y, result, count: int):
            chosen = x
            for i in range(count):
                if i == 0:
                    chosen = y
            before = ct.load(y, 0, shape=64)
            ct.store(chosen, 0, before + 1)
            ct.store(result, 0, ct.load(y, 0, shape=64))

        x, y, result = (arrays.make(np.zeros(64, np.float32)) for _ in range(3))
        source = store.cuda_source((x, y, result, 1))
        assert "load_const" not in source  # which may give what was there before
        assert "__syncthreads" in source
        ct.launch(stream, (1,), store, (x, y, result, 1))
        np.testing.assert_array_equal(arrays.read(result), 1)

    def test_lists(self, arrays, stream):
        several = [arrays.make(np.full(8, value, np.float32)) for value in (1, 2, 4)]
        result = arrays.make(np.zeros(8, np.float32))
        ct.launch(stream, (1,), add_lists, (several, result))
        np.testing.assert_array_equal(arrays.read(result), 7)

    def test_wide_integers(self, arrays, stream):
        @ct.kernel
        def store(y, value: ct.ScalarInt64):
            ct.store(y, 0, ct.full((1,), value, ct.int64))

        y = arrays.make(np.zeros(1, np.int64))
        ct.launch(stream, (1,), store, (y, 2**40))
        assert arrays.read(y) == 2**40

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ((1,), TypeError, "Kernel expects 3 arguments but 1 was given"),
            ((1, 2, 3, 4), TypeError, "Kernel expects 3 arguments but 4 were given"),
            (
                (None, 1, 16),
                TypeError,
                "#0: Objects of type 'NoneType' are only accepted for parameters",
            ),
            (("y", 1, 16), TypeError, "#0.*only accepted for parameters annotated as Constant"),
            ((object(), 1, 16), TypeError, "#0.*'object' are not supported"),
            (({}, 1, 16), TypeError, "#0.*'dict' are not supported"),
            ((np.zeros(4, np.float32), 1, 16), ValueError, "#0.*not on a CUDA device"),
            (([], 1, 16), TypeError, "#0.*Empty lists"),
            (([1], 1, 16), TypeError, "#0.*Expected list items to be arrays"),
            ((1, 2**31, 16), OverflowError, "#1.*2147483648.*int32.*ScalarInt64"),
            ((1, 1, object()), TypeError, "#2.*'object' as a constant"),
            ((1, 1, np.int64(16)), TypeError, r"'int64' as a constant. .* by int\(\)"),
        ],
    )
    def test_refusals(self, stream, values, error, message):
        with pytest.raises(error, match=message):
            ct.launch(stream, (1,), fill, values)

    def test_annotations_must_fit(self, arrays, stream):
        @ct.kernel
        def scalar(x: ct.ScalarInt64):
            pass

        @ct.kernel
        def indexed(x: ct.IndexedWithInt64):
            pass

        @ct.kernel
        def pair(x: tuple[ct.Constant[int], ct.Constant[int]]):
            pass

        @ct.kernel
        def beyond(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(1,))]):
            pass

        y = arrays.make(np.zeros(8, np.float32))
        for kernel, value, error, message in (
            (scalar, y, TypeError, "ScalarAnnotation/ScalarInt64 can only"),
            (scalar, 1.0, TypeError, "annotated as int64"),
            (indexed, 1, TypeError, "ArrayAnnotation/IndexedWithInt64 can only"),
            (pair, 1, TypeError, "non-tuple argument"),
            (pair, (1,), TypeError, "length 1 for a parameter annotated as a tuple of length 2"),
            (beyond, y, ValueError, "static_shape_dims contains axis 1 but array rank is 1"),
        ):
            with pytest.raises(error, match=message):
                ct.launch(stream, (1,), kernel, (value,))

    @pytest.mark.multi_gpu
    def test_two_devices(self, arrays, stream):
        other = Device(1)
        there = Arrays(other, other.create_stream()).make(np.zeros(8, np.float32))
        with pytest.raises(ValueError, match="#1.*device 1.*device 0"):
            here = arrays.make(np.zeros(8, np.float32))
            ct.launch(stream, (1,), axpy, (here, there, 1.0, 8))


class TestGrids:
    @pytest.mark.parametrize("grid", [(2,), (2, 1), [2, 1, 1]])
    def test_shapes(self, arrays, stream, grid):
        y = arrays.make(np.zeros(16, np.int32))
        ct.launch(stream, grid, fill, (y, 3, 8))
        np.testing.assert_array_equal(arrays.read(y), 3)

    def test_empty(self, arrays, stream):
        y = arrays.make(np.zeros(16, np.int32))
        ct.launch(stream, (0,), fill, (y, 3, 8))
        np.testing.assert_array_equal(arrays.read(y), 0)

    @pytest.mark.parametrize(
        ("grid", "error", "message"),
        [
            (1, TypeError, "tuple of up to three ints, not int"),
            ((1, 1, 1, 1), ValueError, "up to three extents, not 4"),
            ((1.0,), TypeError, r"Grid\[0\] must be an int, not float"),
            ((1, True), TypeError, r"Grid\[1\] must be an int, not bool"),
            ((-1,), ValueError, r"Grid\[0\] must not be negative"),
            ((2**24,), ValueError, r"Grid\[0\] exceeds 24-bit limit: max=16777215, got=16777216"),
        ],
    )
    def test_refusals(self, stream, grid, error, message):
        with pytest.raises(error, match=message):
            ct.launch(stream, grid, fill, (1, 1, 1))


def test_launches_of_other_kernels_say_how(stream: Stream) -> None:
    config = cudacore.LaunchConfig(grid=1, block=1)
    with pytest.raises(TypeError, match=r"use cudacore.tile.launch\(stream, grid, kernel, kernel_"):
        cudacore.launch(stream, config, fill, 1, 1, 1)
    with pytest.raises(TypeError, match="launch it on a GraphBuilder, by cudacore.tile.launch"):
        cudacore.graph.GraphDefinition().launch(config, fill)


class TestDependentLaunches:
    def test_the_kernel_before_may_go_on(self, arrays, stream):
        @ct.kernel
        def add(x, y):
            ct.grid_dependency_control_wait()
            ct.store(y, 0, ct.load(x, 0, shape=8) + 1)
            ct.grid_dependency_control_launch_dependents()

        x, y, z = (arrays.make(np.zeros(8, np.float32)) for _ in range(3))
        ct.launch(stream, (1,), add, (x, y))
        ct.launch(stream, (1,), add, (y, z), programmatic_dependent_launch=True)
        np.testing.assert_array_equal(arrays.read(z), 2)


class TestStreams:
    def test_of_others(self, arrays, stream):
        class Other:
            def __cuda_stream__(self):
                return 0, int(stream.handle)

        for queue in (Other(), int(stream.handle)):
            y = arrays.make(np.zeros(8, np.int32))
            ct.launch(queue, (1,), fill, (y, 3, 8))
            np.testing.assert_array_equal(arrays.read(y), 3)

    def test_default(self, arrays, stream):
        y = arrays.make(np.zeros(8, np.int32))
        stream.sync()
        ct.launch(0, (1,), fill, (y, 3, 8))
        Device(0).default_stream.sync()
        np.testing.assert_array_equal(arrays.read(y), 3)

    @pytest.mark.parametrize(
        ("stream", "message"),
        [(None, "Stream is required, got None"), ("x", "'str'"), (True, "'bool'")],
    )
    def test_refusals(self, stream, message):
        with pytest.raises(TypeError, match=message):
            ct.launch(stream, (1,), fill, (1, 1, 1))

    def test_kernel_of_another_kind(self, stream):
        with pytest.raises(TypeError, match="not function; decorate it with @cudacore.tile.ker"):
            ct.launch(stream, (1,), lambda: None, ())
        with pytest.raises(TypeError, match=r"not Stream; the order is launch\(stream, grid, ker"):
            ct.launch(fill, (1,), stream, ())


class TestKernels:
    def test_compile_once_for_each_kind_of_argument(self, arrays, stream):
        kernel = ct.kernel(axpy.function)
        y = arrays.make(np.zeros(64, np.float32))
        for args, count in (
            ((y, y, 1.0, 16), 1),
            ((y, y, 2.0, 16), 1),
            ((y, y, 2.0, 8), 2),
            ((y[::2], y[::2], 2.0, 8), 3),
            ((y[1:], y, 2.0, 8), 4),
        ):
            ct.launch(stream, (1,), kernel, args)
            assert len(kernel._specializations) == count
        stream.sync()

    def test_are_not_called(self):
        with pytest.raises(TypeError, match="cannot be called directly"):
            axpy(1, 2)

    def test_hints(self):
        hinted = axpy.replace_hints(occupancy=2, num_worker_warps=8)
        assert hinted.hints.resolve("sm_90") == {
            "occupancy": 2,
            "opt_level": 3,
            "num_worker_warps": 8,
        }
        assert _specialization.options_of(hinted, 90).ptxas_options is None
        by_level = axpy.replace_hints(opt_level=ct.ByTarget(sm_90=0, default=1))
        assert _specialization.options_of(by_level, 90).ptxas_options == ["-O0"]
        assert _specialization.options_of(by_level, 80).ptxas_options == ["-O1"]
        assert (
            _specialization.options_of(axpy.replace_hints(opt_level=None), 80).ptxas_options is None
        )
        by_target = ct.kernel(num_ctas=ct.ByTarget(sm_90=2, default=1))(axpy.function)
        assert by_target.hints.resolve("sm_90")["num_ctas"] == 2
        assert by_target.hints.resolve("sm_80")["num_ctas"] == 1

    @pytest.mark.parametrize(
        ("hints", "error", "message"),
        [
            ({"num_ctas": 3}, ValueError, "power of 2"),
            ({"num_ctas": 32}, ValueError, r"\[1, 16\]"),
            ({"occupancy": 33}, ValueError, r"\[1, 32\]"),
            ({"opt_level": 4}, ValueError, r"\[0, 3\]"),
            ({"num_worker_warps": 5}, ValueError, "either 4 or 8"),
            ({"occupancy": "2"}, TypeError, "must be an int"),
            ({"occupancy": True}, TypeError, "must be an int"),
            ({"num_ctas": ct.ByTarget(sm_90=3)}, ValueError, "power of 2"),
            ({"warps": 4}, TypeError, "warps"),
        ],
    )
    def test_wrong_hints(self, hints, error, message):
        with pytest.raises(error, match=message):
            ct.kernel(**hints)
        with pytest.raises(error, match=message):
            axpy.replace_hints(**hints)

    def test_wrong_targets(self):
        with pytest.raises(ValueError, match="Invalid GPU architecture name: hopper"):
            ct.ByTarget(hopper=1)

    def test_equal_hints_have_one_hash(self) -> None:
        one, other = (ct.ByTarget(default=1, sm_90=2), ct.ByTarget(sm_90=2.0, default=1.0))
        assert one == other
        assert hash(one) == hash(other)

    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match="must be applied to a Python function"):
            ct.kernel(print)

    def test_generated_code(self, arrays):
        y = arrays.make(np.zeros(16, np.float32))
        source = axpy.cuda_source((y, y, 1.0, 16))
        assert 'extern "C" __global__' in source
        assert "#line" in source


class TestExport:
    ARRAY = ArrayConstraint(
        ct.float32,
        1,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[1],
    )

    def test_for_several_architectures(self):
        signature = KernelSignature(
            [self.ARRAY, self.ARRAY, ScalarConstraint(ct.float32), 16],
            CallingConvention.cutile_python_v1(),
        )
        for gpu_code in ("sm_75", "sm_80", "sm_90"):
            file = io.BytesIO()
            export_kernel(axpy, [signature], file, gpu_code=gpu_code, output_format="cubin")
            assert file.getvalue().startswith(b"\x7fELF")
            name = signature.with_mangled_symbol("axpy").symbol
            assert name.encode() in file.getvalue()

    def test_signature_of_arguments(self, arrays):
        @ct.kernel
        def plain(x):
            pass

        @ct.kernel
        def annotated(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0,))]):
            pass

        x = arrays.make(np.zeros((8, 1), np.float32))
        v1, v2 = CallingConvention.cutile_python_v1(), CallingConvention.cutile_python_v2()
        for kernel, convention, shape in (
            (plain, v1, (None, None)),
            (plain, v2, (None, 1)),
            (annotated, v2, (8, None)),
        ):
            signature = KernelSignature.from_kernel_args(kernel, (x,), convention)
            assert signature.parameters[0].shape_constant == shape

    def test_runs(self, arrays, stream, tmp_path):
        signature = KernelSignature(
            [self.ARRAY, self.ARRAY, ScalarConstraint(ct.float32), 16],
            CallingConvention.cutile_python_v1(),
            symbol="axpy_16",
        )
        path = tmp_path / "axpy.ptx"
        export_kernel(axpy, [signature], path, gpu_code="sm_80", output_format="ptx")
        kernel = cudacore.ObjectCode.from_ptx(str(path)).get_kernel("axpy_16")
        x, y = arrays.make(np.arange(16, dtype=np.float32)), arrays.make(np.ones(16, np.float32))
        block = int(path.read_text().split(".maxntid ")[1].split(",")[0].split()[0])
        kernel[1, block, stream](x, 16, 1, y, 16, 1, 2.0)
        np.testing.assert_array_equal(arrays.read(y), 2 * np.arange(16) + 1)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"output_format": "tileir_bytecode"}, NotSupportedError, "no bytecode"),
            ({"output_format": "elf"}, ValueError, "Unknown output format 'elf'"),
            ({"gpu_code": None}, ValueError, "gpu_code is required"),
            ({"gpu_code": "90"}, ValueError, "such as 'sm_90'"),
            ({"gpu_code": 90}, ValueError, "such as 'sm_90', not 90"),
            ({"kernel": len}, TypeError, "must be a tile kernel, not builtin"),
            (
                {"signatures": KernelSignature([1], CallingConvention.cutile_python_v2())},
                TypeError,
                "put this one in a list",
            ),
            ({"signatures": [(1, 2)]}, TypeError, "from_kernel_args.* makes one of arguments"),
            ({"signatures": []}, ValueError, "no signature"),
            ({"gpu_code": "sm_60"}, ct.TileUnsupportedFeatureError, "compute capability 7.5"),
        ],
    )
    def test_refusals(self, changes, error, message):
        convention = CallingConvention.cutile_python_v2()
        signature = KernelSignature([TupleConstraint([]), 1, 2, 3], convention)
        arguments = {"signatures": [signature], "gpu_code": "sm_90", "output_format": "ptx"}
        with pytest.raises(error, match=message):
            export_kernel(**({"kernel": axpy, "output_file": io.BytesIO()} | arguments | changes))


def test_names_and_types_that_are_meant(stream):
    with pytest.raises(TypeError, match="'num_warps'; did you mean 'num_worker_warps'"):
        ct.kernel(num_warps=4)(lambda: None)
    with pytest.raises(TypeError, match="architecture must be an int, such as 90, not 'sm_90'"):
        axpy.cuda_source((1, 1, 1), architecture="sm_90")
    for wrong in ({"grid_fn": (1,)}, {"args_fn": (1,)}):
        functions = {"grid_fn": lambda _: (1,), "args_fn": lambda _: ()} | wrong
        with pytest.raises(TypeError, match="must be a function of a configuration"):
            ct.tune.exhaustive_search([1], stream, kernel=axpy, **functions)


@ct.kernel
def first_of(arrays, size: ct.Constant[int]):
    ct.store(arrays[0], (0,), ct.load(arrays[0], (0,), shape=(size,)))


def test_a_list_is_refused_while_a_stream_is_captured(device, stream):
    array = device.allocate(64, stream=stream).view(np.float32)
    with (
        device.create_graph_builder() as builder,
        pytest.raises(RuntimeError, match=r"List argument in CUDAGraph isn't supported yet"),
    ):
        ct.launch(builder, (1,), first_of, ([array], 16))


def test_kernels_are_copied_and_pickled_by_name() -> None:
    assert copy.copy(axpy) is axpy
    assert copy.deepcopy([axpy])[0] is axpy
    assert pickle.loads(pickle.dumps(axpy)) is axpy
    with pytest.raises(pickle.PicklingError, match="axpy"):
        pickle.dumps(axpy.replace_hints(occupancy=2))


def test_locks_end_with_the_compilation(device: Device, stream: Stream) -> None:
    @ct.kernel
    def refused(y, size: ct.Constant[int]):  # type: ignore[no-untyped-def]
        ct.store(y, ct.bid(0), ct.full((3,), size, y.dtype))

    @ct.kernel
    def compiled(y, size: ct.Constant[int]):  # type: ignore[no-untyped-def]
        ct.store(y, ct.bid(0), ct.full((4,), size, y.dtype))

    device.set_current()
    y = device.allocate(64, stream=stream).view(np.float32)
    with pytest.raises(ct.TileError):
        ct.launch(stream, (1,), refused, (y, 1))
    ct.launch(stream, (1,), compiled, (y, 1))
    assert not refused._compiling
    assert not compiled._compiling


def test_recursion_limits_of_others_stay() -> None:
    before = sys.getrecursionlimit()
    try:
        with _compile._deep_calls():
            inside = sys.getrecursionlimit()
            sys.setrecursionlimit(before + 500)
            with _compile._deep_calls():
                assert sys.getrecursionlimit() == inside
            assert sys.getrecursionlimit() == inside
        assert sys.getrecursionlimit() == before + 500
        with _compile._deep_calls():
            sys.setrecursionlimit(before + 700)
        assert sys.getrecursionlimit() == before + 700
    finally:
        sys.setrecursionlimit(before)
