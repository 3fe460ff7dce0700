# SPDX-License-Identifier: Apache-2.0
"""Every wrong use of torch_op says what is wrong, and leaves earlier operators alone."""

import functools
import re
import sys

import cudacore
import pytest
import torch
from harness import run_cleanly
from operators import blocks, kernel, scale
from torch import Tensor


def nothing(*_):
    return None


def fine(x: Tensor) -> Tensor:
    return scale(x, 2.0)


@pytest.mark.parametrize(
    "name", ["scale", "a::b::c", "::scale", "lib::", "lib::sc ale", "lib.a::b", "lib::a.out", ""]
)
def test_name(name):
    with pytest.raises(ValueError, match=re.escape(f"must be like 'mylib::scale', not {name!r}")):
        cudacore.torch_op(name)


@pytest.mark.parametrize("namespace", ["aten", "prims", "prim", "torch", "higher_order"])
def test_namespace_of_pytorch(namespace):
    with pytest.raises(ValueError, match=f"torch_op {namespace}::wrong: {namespace} is PyTorch's"):
        cudacore.torch_op(f"{namespace}::wrong", fine)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("cudacore_tests::name", r"cudacore_tests\.name"),
        ("cudacore_tests::__class__", r"cudacore_tests\.__class__"),
        ("load_library::wrong", "load_library"),
    ],
)
def test_attributes_of_the_registry(name, attribute):
    with pytest.raises(ValueError, match=rf"{name}: torch\.ops\.{attribute} is PyTorch's own"):
        cudacore.torch_op(name, fine)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mutates": None}, "mutates must be names of parameters, not None"),
        ({"mutates": 5}, "mutates must be names of parameters, not 5"),
        ({"mutates": ["x", 5]}, "mutates must be names of parameters"),
        ({"schema": 5}, "schema must be a str, not int"),
        ({"schema": b"(Tensor x) -> Tensor"}, "schema must be a str, not bytes"),
    ],
)
def test_types(options, message):
    with pytest.raises(TypeError, match=f"torch_op cudacore_tests::wrong: {message}"):
        cudacore.torch_op("cudacore_tests::wrong", fine, **options)


class Callable:
    def __call__(self, x: Tensor) -> Tensor:
        return fine(x)


@pytest.mark.parametrize("function", [functools.partial(scale, factor=2.0), Callable()])
def test_callables_without_annotations(function, on_device):
    with pytest.raises(TypeError, match="can't read the annotations of .*: give a function, or"):
        cudacore.torch_op("cudacore_tests::callable", function)
    # As the message says.
    schema = "(Tensor x) -> Tensor"
    op = cudacore.torch_op("cudacore_tests::callable", function, schema=schema)
    assert op(on_device([1])).tolist() == [2]


def test_unknown_keywords():
    with pytest.raises(TypeError, match="torch_op has no parameter mutates_args: write mutates="):
        cudacore.torch_op("cudacore_tests::wrong", fine, mutates_args=())
    with pytest.raises(TypeError, match="torch_op has no parameter device_types$"):
        cudacore.torch_op("cudacore_tests::wrong", fine, device_types="cuda")


def test_no_name():
    with pytest.raises(TypeError, match="needs a name, as in @torch_op.*not function"):

        @cudacore.torch_op
        def forgotten(x: Tensor) -> Tensor:
            return x


@pytest.mark.parametrize("what", ["fake", "backward", "setup_context"])
def test_not_callable(what):
    arguments = {"backward": nothing, what: 3}
    with pytest.raises(TypeError, match=f"{what} must be callable, not int"):
        cudacore.torch_op("cudacore_tests::wrong", fine, **arguments)
    with pytest.raises(TypeError, match="the function must be callable, not str"):
        cudacore.torch_op("cudacore_tests::wrong")("fine")


def test_setup_context_without_backward():
    with pytest.raises(TypeError, match="setup_context is for a backward, which is missing"):
        cudacore.torch_op("cudacore_tests::wrong", setup_context=nothing)


def test_backward_of_a_mutation():
    with pytest.raises(ValueError, match="can't differentiate an operator that mutates"):
        cudacore.torch_op("cudacore_tests::wrong", mutates="x", backward=nothing)


def unannotated(x) -> Tensor:
    return x


def without_result(x: Tensor):
    return x


def of_strange_type(x: Tensor, how: re.Pattern) -> Tensor:
    return x


def of_any_number(*xs: Tensor) -> Tensor:
    return xs[0]


def not_a_tensor(x: Tensor, n: int) -> None: ...


def without_effect(x: Tensor) -> None: ...


def by_keyword(*, x: Tensor) -> Tensor:
    return x


def without_tensor(n: int) -> Tensor:
    return torch.empty(n)


def device_with_default(n: int, device: torch.device = torch.device("cuda")) -> Tensor:  # noqa: B008
    return torch.empty(n, device=device)


def device_by_keyword(n: int, *, device: torch.device) -> Tensor:
    return torch.empty(n, device=device)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (unannotated, {}, "Parameter x must have a type annotation"),
        (without_result, {}, "No return type annotation"),
        (of_strange_type, {}, "Parameter how has unsupported type"),
        (of_any_number, {}, "varargs"),
        (fine, {"mutates": "out"}, r"mutates names out, which is not a parameter of fine\(x\)$"),
        (fine, {"mutates": ["x", "out"]}, "mutates names out, which is not a parameter of"),
        (fine, {"mutates": "unknown"}, "mutates names unknown, which is not a parameter of"),
        (not_a_tensor, {"mutates": "n"}, "only Tensors or collections of Tensors can be mutated"),
        (without_effect, {}, "returns nothing and mutates nothing.*name the tensors .* mutates="),
        (by_keyword, {}, "x is a tensor, so it can't be a keyword-only argument"),
        (without_tensor, {}, "takes no tensor, so it needs a parameter `device: torch.device`"),
        (device_with_default, {}, "`device: torch.device`.* without a default, and not keyword"),
        (device_by_keyword, {}, "`device: torch.device`.* without a default, and not keyword"),
        (max, {"schema": "(Tensor x) -> Tensor"}, "no signature found for builtin"),
        (fine, {"schema": ""}, "only the operator name was given"),
        (fine, {"schema": ".out(Tensor x) -> Tensor"}, "must begin with the parameters"),
        (fine, {"schema": "(Tensor x, int n) -> Tensor"}, "the function.*too many positional"),
        (fine, {"schema": "(Tensor x, *, int n) -> Tensor"}, "the function.*unexpected .*'n'"),
        (fine, {"schema": "(Tensor? x=None) -> Tensor"}, "the function.*missing .*'x'"),
        (fine, {"fake": lambda: None}, "fake, .*too many positional"),
        (fine, {"schema": "(Tensor x"}, "cudacore_tests::wrong"),
        (fine, {"schema": "(Tensor(a!) x) -> ()"}, "mutates names nothing, but the schema .* x"),
        (fine, {"schema": "(Tensor x) -> Tensor", "mutates": "x"}, "names x, but .*nothing"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_signature(function, options, message):
    with pytest.raises(ValueError, match=f"(?s)torch_op cudacore_tests::wrong: .*{message}"):
        cudacore.torch_op("cudacore_tests::wrong", function, **options)
    with pytest.raises(AttributeError):
        torch.ops.cudacore_tests.wrong  # noqa: B018


def test_a_wrong_definition_leaves_the_earlier_one(on_device):
    kept = cudacore.torch_op("cudacore_tests::kept", fine)
    with pytest.raises(ValueError, match="annotation"):
        cudacore.torch_op("cudacore_tests::kept", unannotated)
    with pytest.raises(ValueError, match="must begin with the parameters.*not 'pt.Tensor x"):
        cudacore.torch_op("cudacore_tests::ke", fine, schema="pt(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="too many positional"):
        cudacore.torch_op("cudacore_tests::kept", fine, schema="(Tensor x, int n) -> Tensor")
    assert kept(on_device([1])).tolist() == [2]


def test_tensors_on_the_cpu():
    op = cudacore.torch_op("cudacore_tests::on_gpu", fine)
    with pytest.raises(TypeError, match=r"on_gpu launches kernels, but .* CPU: move .*x\.cuda\(\)"):
        op(torch.ones(3))
    # As the message says.
    op.register_kernel("cpu")(lambda x: x * 2)
    assert op(torch.ones(1)).tolist() == [2]


@pytest.mark.multi_gpu
def test_tensors_of_two_devices(on_device):
    @cudacore.torch_op("cudacore_tests::add_up")
    def add_up(xs: list[Tensor]) -> Tensor:
        raise AssertionError("not run")

    with pytest.raises(TypeError, match="on several devices, cuda:0 and cuda:1"):
        add_up([on_device([1]), on_device([2], 1)])
    with pytest.raises(TypeError, match="on several devices, cuda:1 and cuda:0"):
        torch.ops.cudacore_tests.square_backward(on_device([1], 1), on_device([2]))


def test_a_tensor_on_the_cpu_beside_others(on_device):
    """A kernel can't read it: the launch says so."""
    with pytest.raises(TypeError, match="argument 2 'x'.*host"):
        torch.ops.cudacore_tests.square_backward(on_device([1]), torch.ones(1))


def test_result_that_is_an_argument(on_device):
    @cudacore.torch_op("cudacore_tests::alias")
    def alias(x: Tensor) -> Tensor:
        return x

    @cudacore.torch_op("cudacore_tests::view")
    def view(x: Tensor) -> Tensor:
        return x[:1]

    for op in (alias, view):
        with pytest.raises(RuntimeError, match="alias"):
            op(on_device([1, 2]))


def test_function_that_reads_a_value(on_device):
    @cudacore.torch_op("cudacore_tests::reads")
    def reads(x: Tensor) -> Tensor:
        out = torch.empty(int(x.cpu()[0]), device=x.device)
        kernel("scale")[blocks(2), 256](x, 1.0, out, 2)
        return out

    x = on_device([2, 3])
    assert reads(x).tolist() == [2, 3]
    message = "(?s)torch_op cudacore_tests::reads: .* no memory.*must not read.*fake="
    with torch._subclasses.FakeTensorMode() as mode, pytest.raises(TypeError, match=message):
        reads(mode.from_tensor(x))
    with pytest.raises(Exception, match=message):
        torch.compile(reads, fullgraph=True, backend="eager")(x)


def raise_(error):
    raise error


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda _: raise_(LookupError("mine")), LookupError),
        (lambda _: raise_(RuntimeError("mine")), RuntimeError),
        (lambda _: raise_(NotImplementedError("mine")), NotImplementedError),
        (lambda _: raise_(RecursionError("mine")), RecursionError),
        (lambda x: x.nonzero(), torch._subclasses.fake_tensor.DynamicOutputShapeException),
    ],
)
def test_errors_of_the_function_pass_through_tracing(work, expected, on_device):
    @cudacore.torch_op("cudacore_tests::picky")
    def picky(x: Tensor) -> Tensor:
        return work(x)

    with torch._subclasses.FakeTensorMode() as mode, pytest.raises(expected) as caught:
        picky(mode.from_tensor(on_device([2])))
    assert caught.type is expected
    if sys.version_info >= (3, 11):
        [note] = caught.value.__notes__
        assert note.startswith("torch_op cudacore_tests::picky: to learn the shapes")
        assert "fake=" in note


def test_launcher_kept_from_tracing(on_device):
    launchers = {}

    @cudacore.torch_op("cudacore_tests::keeps")
    def keeps(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        launcher = launchers.setdefault("scale", kernel("scale")[1, 32])
        launcher(x, 2.0, out, 1)
        return out

    x = on_device([1])
    with torch._subclasses.FakeTensorMode() as mode:
        keeps(mode.from_tensor(x))
    with pytest.raises(RuntimeError, match="made while PyTorch traced.*don't keep launchers"):
        keeps(x)


def test_wrong_fake_version(on_device):
    """PyTorch finds it."""
    from torch.testing._internal.optests.generate_tests import OpCheckError

    op = cudacore.torch_op(
        "cudacore_tests::liar", fine, fake=lambda x: torch.empty(7, device=x.device)
    )
    op.register_kernel("cpu")(lambda x: x * 2)
    with pytest.raises(OpCheckError):
        torch.library.opcheck(op, (torch.ones(3),), test_utils="test_faketensor")


def test_no_backward(on_device):
    y = scale(on_device([1], requires_grad=True), 2.0)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.backward(on_device([1]))


def run_with(version: str | None) -> str:
    """Use torch_op where PyTorch is missing or has another version; return the error."""
    change = (
        "sys.modules['torch'] = None"
        if version is None
        else f"import torch; torch.__version__ = {version!r}"
    )
    return run_cleanly(f"""
        import sys
        {change}
        import cudacore
        try:
            cudacore.torch_op("a::b")
        except ImportError as error:
            print(error, error.name, sep="|")
    """)


def test_pytorch_is_missing():
    assert run_with(None) == "cudacore.torch_op needs PyTorch: pip install torch|torch\n"


def test_pytorch_is_too_old():
    assert run_with("2.9.1+cu128") == (
        "cudacore.torch_op needs PyTorch 2.10 or newer, but this is 2.9.1+cu128: "
        "pip install --upgrade torch|torch\n"
    )
    assert run_with("2.10.0a0") == ""


def test_importing_cudacore_imports_no_pytorch():
    script = "import sys; from cudacore import *; print(torch_op, 'torch' in sys.modules)"
    assert run_cleanly(script).endswith(" False\n")
