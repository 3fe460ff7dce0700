# SPDX-License-Identifier: Apache-2.0
"""Operators made by torch_op, with real PyTorch."""

import threading

import cudacore
import pytest
import torch
from operators import add_to, blocks, kernel, scale, square
from torch import Tensor

NO_KERNELS = "PyTorch's own kernels don't run on the simulated device"


def test_eager(on_device):
    x = on_device([1, 2, 3])
    assert scale(x, 3.0).tolist() == [3, 6, 9]
    assert scale(x).tolist() == [2, 4, 6]
    assert scale(factor=0.5, x=x).tolist() == [0.5, 1, 1.5]
    assert torch.ops.cudacore_tests.scale(x, -1.0).tolist() == [-1, -2, -3]


def test_mutation(on_device):
    out, x = on_device([1, 2, 3]), on_device([10, 20, 30])
    version = out._version
    assert add_to(out, x) is None
    assert out.tolist() == [11, 22, 33]
    assert out._version == version + 1


def test_name_docstring_and_signature():
    assert scale.__name__ == "scale"
    assert scale.__doc__ == "Multiply by a number."
    import inspect

    assert list(inspect.signature(scale).parameters) == ["x", "factor"]


def test_function_as_second_argument(on_device):
    def negate(x: Tensor) -> Tensor:
        return scale(x, -1.0)

    op = cudacore.torch_op("cudacore_tests::negate", negate)
    assert op(on_device([1, -2])).tolist() == [-1, 2]


def test_pytorch_without_cuda(monkeypatch):
    monkeypatch.delattr(torch._C, "_cuda_getCurrentRawStream")
    monkeypatch.delattr(torch._C, "_cuda_getDevice")

    @cudacore.torch_op("cudacore_tests::on_cpu")
    def on_cpu(x: Tensor) -> Tensor:
        return scale(x)

    on_cpu.register_kernel("cpu")(lambda x: x * 2)
    assert on_cpu(torch.ones(1)).tolist() == [2]


def test_runs_on_torchs_current_stream(on_device):
    seen = []

    @cudacore.torch_op("cudacore_tests::watch", mutates="x")
    def watch(x: Tensor) -> None:
        seen.append(cudacore.current_stream())

    x = on_device([0])
    watch(x)
    assert seen[-1] == cudacore.LEGACY_DEFAULT_STREAM
    for _ in range(2):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            watch(x)
        assert seen[-1].handle == stream.cuda_stream
        with torch.cuda.stream(stream):
            watch(x)
        assert seen[-1] is seen[-2]
    assert cudacore.current_stream() == cudacore.LEGACY_DEFAULT_STREAM


def test_work_is_ordered_on_torchs_stream(on_device, gate, device):
    """Not done while the stream is held; done once it goes on."""
    stream = torch.cuda.Stream()
    x = on_device([4])
    with torch.cuda.stream(stream):
        gate.hold(cudacore.Stream.from_handle(stream.cuda_stream))
        y = scale(x, 2.0)
        assert not stream.query()
        gate.open()
        stream.synchronize()
        assert y.tolist() == [8]


def test_leaves_the_stream_after_an_exception(on_device):
    @cudacore.torch_op("cudacore_tests::fails", mutates="x")
    def fails(x: Tensor) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails(on_device([1]))
    assert cudacore.current_stream() == cudacore.LEGACY_DEFAULT_STREAM


@pytest.mark.multi_gpu
def test_runs_on_the_tensors_device(on_device):
    x = on_device([1, 2], 1)
    assert torch.cuda.current_device() == 0
    y = scale(x, 5.0)
    assert y.device == torch.device("cuda", 1)
    torch.cuda.synchronize(1)
    assert y.tolist() == [5, 10]
    assert torch.cuda.current_device() == 0


def test_many_streams_are_forgotten_in_time(on_device, device, monkeypatch):
    from cudacore import _torch_device

    monkeypatch.setattr(_torch_device, "MOST_STREAMS", 4)
    x = on_device([1])
    own = [device.create_stream() for _ in range(10)]
    for stream in own:
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            scale(x)
        assert len(_torch_device._streams) <= 4
        stream.sync()


def test_threads(on_device):
    x = on_device(range(64))
    results = {}

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            y = scale(x, float(i))
            torch.cuda.current_stream().synchronize()
            results[i] = y.cpu()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert torch.equal(results[i], torch.arange(64.0) * i)


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_compiles_without_a_graph_break(on_device, where):
    graphs = []

    def backend(graph, example_inputs):
        graphs.append(graph)
        return graph

    @torch.compile(fullgraph=True, backend=backend, dynamic=True)
    def thrice(x):
        return scale(scale(x, 4.0), 0.75)

    for n in (3, 5, 300):
        x = on_device(range(n)) if where == "cuda" else torch.arange(float(n))
        assert torch.equal(thrice(x).cpu(), torch.arange(float(n)) * 3)
    assert len(graphs) == 1  # one graph for every size: none was fixed by a launch's shape
    called = [node.target for node in graphs[0].graph.nodes if node.op == "call_function"]
    assert called == [torch.ops.cudacore_tests.scale.default] * 2


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_compiles_a_mutation(on_device, where):
    @torch.compile(fullgraph=True, backend="aot_eager")
    def twice(out, x):
        add_to(out, x)
        add_to(out, x)
        return scale(out, 1.0)

    out, x = on_device([1, 2]), on_device([10, 20])
    if where == "cpu":
        out, x = out.cpu(), x.cpu()
    assert twice(out, x).tolist() == [21, 42]
    assert out.tolist() == [21, 42]


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_compiles_a_backward(on_device, where):
    @torch.compile(fullgraph=True, backend="aot_eager")
    def to_the_fourth(x):
        return square(square(x))

    x, one = on_device([1, 2, 3]), on_device([1, 1, 1])
    if where == "cpu":
        x, one = x.cpu(), one.cpu()
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(to_the_fourth(x), x, one)
    assert gradient.tolist() == [4, 32, 108]


def test_backward(on_device):
    x = on_device([1, 2, 3], requires_grad=True)
    y = square(x)
    assert y.requires_grad
    assert y.tolist() == [1, 4, 9]
    y.backward(on_device([1, 1, 10]))
    assert x.grad.tolist() == [2, 4, 60]


def test_parameter_as_an_argument(on_device):
    parameter = torch.nn.Parameter(on_device([3]))
    assert square(parameter).tolist() == [9]
    with torch.no_grad():
        assert scale(parameter, 2.0).tolist() == [6]


def test_several_results_lists_and_optional_tensors(on_device):
    @cudacore.torch_op("cudacore_tests::both")
    def both(xs: list[Tensor], y: Tensor | None = None) -> tuple[Tensor, Tensor]:
        first = scale(xs[0], 2.0)
        last = scale(xs[-1] if y is None else y, 3.0)
        return first, last

    xs = [on_device([1]), on_device([2])]
    assert [one.tolist() for one in both(xs)] == [[2], [6]]
    assert [one.tolist() for one in both(xs, on_device([5]))] == [[2], [15]]
    with torch._subclasses.FakeTensorMode() as mode:
        fakes = both([mode.from_tensor(x) for x in xs])
    assert [(one.shape, one.device.type) for one in fakes] == [((1,), "cuda")] * 2


def with_default(x: Tensor, y: Tensor = None) -> Tensor:
    return scale(x if y is None else y, 2.0)


def without_default(x: Tensor, y: Tensor) -> Tensor:
    return scale(y if x is None else x, 2.0)


def first_with_default(x: Tensor = None, y: Tensor = None) -> Tensor:
    return scale(y if x is None else x, 2.0)


def optional_list(x: Tensor, ys: list[Tensor] | None = None) -> Tensor:
    return scale(ys[0] if ys else x, 2.0)


def list_of_optional(xs: list[Tensor | None], k: int = 2) -> Tensor:
    return scale(next(x for x in xs if x is not None), float(k))


def number_by_keyword(x: Tensor, y: Tensor | None = None, *, k: int = 2) -> Tensor:
    return scale(x if y is None else y, float(k))


LIST = "(Tensor x, Tensor[]? ys=None) -> Tensor"


@pytest.mark.parametrize("how", ["eager", "compiled"])
@pytest.mark.parametrize(
    ("function", "schema", "calls"),
    [
        (with_default, None, [lambda x: (x,), lambda x: (x, None), lambda x: (None, x)]),
        (without_default, None, [lambda x: (x, None), lambda x: (None, x)]),
        (first_with_default, None, [lambda x: (x,), lambda x: (None, x)]),
        (optional_list, LIST, [lambda x: (x,), lambda x: (x, None), lambda x: (x, []),
                               lambda x: (x, [x])]),
        (list_of_optional, None, [lambda x: ([x],), lambda x: ([None, x],)]),
        (number_by_keyword, None, [lambda x: (x,), lambda x: (x, None)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_tensors_that_are_left_out_or_none(on_device, function, schema, calls, how):
    op = cudacore.torch_op(f"cudacore_tests::{function.__name__}", function, schema=schema)
    torch.compiler.reset()  # what was compiled for the others counts towards a limit
    call = op if how == "eager" else torch.compile(op, fullgraph=True, backend="eager")
    for arguments in calls:
        assert call(*arguments(on_device([1, 2]))).tolist() == [2, 4]


def test_keyword_with_a_default(on_device):
    op = cudacore.torch_op("cudacore_tests::number_by_keyword", number_by_keyword)
    assert op(on_device([1]), k=3).tolist() == [3]
    assert op(on_device([1]), y=on_device([2]), k=3).tolist() == [6]


def test_no_tensors_but_a_device(on_device):
    @cudacore.torch_op("cudacore_tests::filled")
    def filled(n: int, value: float, device: torch.device) -> Tensor:
        out = torch.empty(n, device=device)
        source = torch.empty(n, device=device)
        source.copy_(torch.ones(n))
        kernel("scale")[blocks(n), 256](source, value, out, n)
        return out

    assert filled(3, 1.5, torch.device("cuda")).tolist() == [1.5] * 3
    assert filled(2, 1.0, torch.device("cuda:0")).tolist() == [1.0] * 2


def test_keyword_only_numbers(on_device):
    @cudacore.torch_op("cudacore_tests::scale_by")
    def scale_by(x: Tensor, *, factor: float) -> Tensor:
        return scale(x, factor)

    assert scale_by(on_device([2]), factor=4.0).tolist() == [8]


def test_given_schema(on_device):
    @cudacore.torch_op(
        "cudacore_tests::schema", schema="(Tensor x, Tensor(a!) out) -> ()", mutates=["out"]
    )
    def through_schema(x, out):
        n = x.numel()
        kernel("scale")[blocks(n), 256](x, 2.0, out, n)

    x, out = on_device([1, 2]), on_device([0, 0])
    through_schema(x, out)
    assert out.tolist() == [2, 4]


def test_given_fake_version(on_device):
    ran = []

    def shape_of_it(x):
        return torch.empty_like(x)

    @cudacore.torch_op("cudacore_tests::by_address", fake=shape_of_it)
    def by_address(x: Tensor) -> Tensor:
        ran.append(x.data_ptr())
        out = torch.empty_like(x)
        kernel("square")[1, 32](cudacore.Buffer.from_handle(x.data_ptr(), 4), out, 1)
        return out

    x = on_device([3])
    assert by_address(x).tolist() == [9]
    assert ran == [x.data_ptr()]
    with torch._subclasses.FakeTensorMode() as mode:
        assert by_address(mode.from_tensor(x)).shape == (1,)
    assert len(ran) == 1


def test_tracing_runs_nothing(on_device):
    """In all ways to launch, and with sizes that are symbols."""
    launcher = kernel("square")[1, 32]
    config = cudacore.LaunchConfig(grid=1, block=32)

    @cudacore.torch_op("cudacore_tests::all_ways")
    def all_ways(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        launcher(x, out, 1)
        cudacore.launch(None, config, kernel("square"), x, out, 1)
        kernel("square")[config](x, out, 1)
        kernel("square")[x.numel(), x.numel(), None, 0](x, out, 1)
        return out

    assert all_ways(on_device([5])).tolist() == [25]
    with torch._subclasses.FakeTensorMode() as mode:
        assert all_ways(mode.from_tensor(on_device([5]))).shape == (1,)
    # Launches go to the device again, on this thread and while another one traces.
    x, out = on_device([3]), on_device([0])
    launcher(x, out, 1)
    assert out.tolist() == [9]


def test_other_threads_launch_while_one_traces(on_device):
    x, out = on_device([7]), on_device([0])
    inside, done = threading.Event(), threading.Event()

    @cudacore.torch_op("cudacore_tests::slow_to_trace")
    def slow_to_trace(x: Tensor) -> Tensor:
        inside.set()
        assert done.wait(30)
        return torch.empty_like(x)

    def trace():
        with torch._subclasses.FakeTensorMode() as mode:
            slow_to_trace(mode.from_tensor(x))

    thread = threading.Thread(target=trace)
    thread.start()
    assert inside.wait(30)
    kernel("square")[1, 32](x, out, 1)
    done.set()
    thread.join()
    assert out.tolist() == [49]


def test_defined_again(on_device):
    def define(sign: float):
        @cudacore.torch_op("cudacore_tests::again")
        def again(x: Tensor) -> Tensor:
            return scale(x, sign)

        return again

    first = define(1.0)
    assert first(on_device([1])).tolist() == [1]
    second = define(-1.0)
    assert second(on_device([1])).tolist() == [-1]
    assert torch.ops.cudacore_tests.again(on_device([1])).tolist() == [-1]


def test_vmap(on_device):
    @scale.register_vmap
    def batched(info, in_dims, x, factor=2.0):
        return scale(x, factor), in_dims[0]

    assert torch.vmap(scale)(on_device([[1, 2], [3, 4]])).tolist() == [[2, 4], [6, 8]]


#: On the simulated device, those that need no kernel of PyTorch's.
CHECKS = ("test_autograd_registration", "test_faketensor")


@pytest.mark.parametrize("op", [scale, square])
def test_opcheck_of_registration_and_fake_version(on_device, op):
    torch.library.opcheck(op, (on_device([1, 2]),), test_utils=CHECKS)


@pytest.mark.parametrize(
    "where", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu_only(reason=NO_KERNELS))]
)
def test_opcheck(where):
    x = torch.arange(6.0, device=where).reshape(2, 3)
    torch.library.opcheck(scale, (x, 3.0))
    torch.library.opcheck(scale, (x.T,))
    torch.library.opcheck(square, (x.clone().requires_grad_(),))
    torch.library.opcheck(add_to, (x.clone(), x))


def test_export(on_device):
    class Twice(torch.nn.Module):
        def forward(self, x):
            return scale(x, 2.0) + 1

    x = torch.arange(4.0)
    program = torch.export.export(Twice(), (x,))
    assert torch.equal(program.module()(x), x * 2 + 1)
    assert "torch.ops.cudacore_tests.scale.default" in program.graph_module.code


@pytest.mark.gpu_only(reason=NO_KERNELS)
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_inductor(mode):
    @torch.compile(fullgraph=True, mode=mode)
    def model(x):
        return square(torch.sin(x)) + scale(x.reshape(10, 100).T, 3.0).T.reshape(1000)

    x = torch.linspace(0, 1, 1000, device="cuda", requires_grad=True)
    with torch.no_grad():
        for _ in range(4):  # reduce-overhead captures a CUDA graph after the first calls
            torch.testing.assert_close(model(x), torch.sin(x) ** 2 + 3 * x)

    @torch.compile(fullgraph=True, mode=mode)
    def loss(x):
        return square(torch.sin(x)).sum()

    for _ in range(4):
        (gradient,) = torch.autograd.grad(loss(x), x)
        torch.testing.assert_close(gradient, torch.sin(2 * x))


@pytest.mark.gpu_only(reason=NO_KERNELS)
def test_cuda_graph():
    x, out = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
    add_to(out, scale(x, 3.0))  # loads the kernels, which no capture allows
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = scale(x, 3.0)
        add_to(out, y)
    out.zero_()
    x.fill_(2)
    for i in range(3):
        graph.replay()
        assert torch.equal(out, torch.full_like(out, 6.0 * (i + 1)))
    assert torch.equal(y, torch.full_like(y, 6.0))


@pytest.mark.gpu_only(reason=NO_KERNELS)
def test_graphed_callable_with_a_backward():
    def square_it(x):
        return square(x)

    x = torch.randn(1000, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(square_it, (x,))
    y = torch.randn(1000, device="cuda", requires_grad=True)
    (gradient,) = torch.autograd.grad(graphed(y).sum(), y)
    torch.testing.assert_close(gradient, 2 * y)


@pytest.mark.gpu_only(reason=NO_KERNELS)
def test_gradcheck_against_torch():
    x = torch.randn(1000, device="cuda", requires_grad=True)
    (ours,) = torch.autograd.grad(square(x).sum(), x)
    (theirs,) = torch.autograd.grad((x * x).sum(), x)
    torch.testing.assert_close(ours, theirs)
