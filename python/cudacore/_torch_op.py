# SPDX-License-Identifier: Apache-2.0
"""A function that launches kernels becomes an operator of PyTorch."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

from cudacore import _core
from cudacore._other_library import import_torch
from cudacore._public import public
from cudacore._torch_device import on_device, place_of_device, places_of_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import torch

    Body: TypeAlias = Callable[..., Any]

#: PyTorch keeps operators of its own here.
_RESERVED = {
    "_C",
    "aten",
    "c10d",
    "higher_order",
    "inductor",
    "prim",
    "prims",
    "quantized",
    "torch",
}

#: What PyTorch raises if a function reads the values of a tensor that has none.
_NEED_VALUES = {"DataDependentOutputException", "GuardOnDataDependentSymNode"}


@overload
def torch_op(
    name: str,
    function: Body,
    /,
    *,
    mutates: str | Iterable[str] = ...,
    fake: Body | None = ...,
    backward: Body | None = ...,
    setup_context: Body | None = ...,
    schema: str | None = ...,
) -> torch.library.CustomOpDef: ...
@overload
def torch_op(
    name: str,
    function: None = None,
    /,
    *,
    mutates: str | Iterable[str] = ...,
    fake: Body | None = ...,
    backward: Body | None = ...,
    setup_context: Body | None = ...,
    schema: str | None = ...,
) -> Callable[[Body], torch.library.CustomOpDef]: ...
@public("cudacore")
def torch_op(
    name: str,
    function: Body | None = None,
    /,
    *,
    mutates: str | Iterable[str] = (),
    fake: Body | None = None,
    backward: Body | None = None,
    setup_context: Body | None = None,
    schema: str | None = None,
    **unknown: Any,
) -> torch.library.CustomOpDef | Callable[[Body], torch.library.CustomOpDef]:
    """Make a function that launches kernels an operator of PyTorch.

    The operator works in eager mode, under ``torch.compile`` without a graph break, and in CUDA
    graphs. The function runs with the tensors' device current, and with PyTorch's current stream
    as the current stream of cudacore, so ``kernel[grid, block](...)`` needs no stream.

    While PyTorch traces, the function runs with tensors that have no memory, and its launches are
    left out: this is how PyTorch learns the shapes of the results. So the function may use sizes,
    strides and types, but not the tensors' values. Else, pass `fake`.

    Parameters
    ----------
    name : str
        The operator's name, as in ``"mylib::scale"``. Defining it again replaces it. The namespaces
        of PyTorch itself, such as ``aten``, are refused.
    function : callable, optional
        Its parameters and its result must have annotations, such as ``torch.Tensor``, ``float`` or
        ``int | None``; see ``torch.library.infer_schema``. A result must not share memory with an
        argument.
    mutates : str or iterable of str, default ()
        The names of all parameters that the kernels write to. PyTorch relies on it.
    fake : callable, optional
        Takes the same arguments, and returns empty tensors like those that the function returns.
    backward : callable, optional
        ``backward(ctx, *grads)`` returns a gradient, or None, for each parameter. It must use only
        operators of PyTorch, such as another ``torch_op``.
    setup_context : callable, optional
        ``setup_context(ctx, inputs, output)`` saves what `backward` needs.
    schema : str, optional
        What the operator takes and returns, in PyTorch's notation, in place of annotations:
        ``"(Tensor x, float factor) -> Tensor"``.

    Returns
    -------
    torch.library.CustomOpDef
        Call it like the function. It also has ``register_kernel`` (for a CPU version),
        ``register_autograd``, ``register_vmap`` and ``register_autocast``.

    Raises
    ------
    ImportError
        PyTorch is missing, or older than 2.10.
    TypeError, ValueError
        An argument is wrong, an annotation is missing, or `mutates` names no parameter. Nothing is
        registered. When the operator is called: all tensors are on the CPU, or on several devices.

    Notes
    -----
    `torch.library.custom_op` registers the operator.
    """
    for keyword in unknown:
        hint = ": write mutates=" if keyword == "mutates_args" else ""
        raise TypeError(f"torch_op has no parameter {keyword}{hint}")
    import_torch("cudacore.torch_op")
    check_name(name)
    _check_attributes(name)
    writes = _names(name, mutates)
    if not isinstance(schema, str | None):
        raise TypeError(f"torch_op {name}: schema must be a str, not {type(schema).__name__}")
    if setup_context is not None and backward is None:
        raise TypeError(f"torch_op {name}: setup_context is for a backward, which is missing")
    if backward is not None and writes:
        raise ValueError(
            f"torch_op {name}: PyTorch can't differentiate an operator that mutates its arguments; "
            "return new tensors, or leave out backward"
        )

    def define(body: Body) -> torch.library.CustomOpDef:
        given = {"fake": fake, "backward": backward, "setup_context": setup_context}
        return _define(name, body, schema, writes, given)

    return define if function is None else define(function)


def check_name(name: object) -> None:
    """Refuse what is not namespace::name."""
    if not isinstance(name, str):
        raise TypeError(
            f"torch_op needs a name, as in @torch_op('mylib::scale'), not {type(name).__name__}"
        )
    parts = name.split("::")
    if len(parts) != 2 or not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part) for part in parts):  # noqa: PLR2004
        raise ValueError(f"torch_op: the name must be like 'mylib::scale', not {name!r}")
    if parts[0] in _RESERVED:
        raise ValueError(f"torch_op {name}: {parts[0]} is PyTorch's own: choose another namespace")


def _check_attributes(name: str) -> None:
    """Refuse names that `torch.ops` has for itself: no operator can be reached by them."""
    import torch  # noqa: PLC0415

    registry = torch._ops  # noqa: SLF001
    namespace, own = name.split("::")
    taken = inspect.getattr_static(torch.ops, namespace, None)
    if taken is not None and not isinstance(taken, registry._OpNamespace):  # noqa: SLF001
        raise ValueError(f"torch_op {name}: torch.ops.{namespace} is PyTorch's own: rename it")
    # A new one: one that is in use has its operators as attributes, too.
    if inspect.getattr_static(registry._OpNamespace(namespace), own, None) is not None:  # noqa: SLF001
        raise ValueError(
            f"torch_op {name}: torch.ops.{namespace}.{own} is PyTorch's own: rename the operator"
        )


def _names(name: str, mutates: object) -> tuple[str, ...]:
    names = (mutates,) if isinstance(mutates, str) else mutates
    if not isinstance(names, Iterable) or not all(isinstance(one, str) for one in names):
        raise TypeError(f"torch_op {name}: mutates must be names of parameters, not {mutates!r}")
    return tuple(names)


def _define(
    name: str,
    body: Body,
    schema: str | None,
    writes: Sequence[str],
    given: Mapping[str, Body | None],
) -> torch.library.CustomOpDef:
    import torch  # noqa: PLC0415

    _check_callables(name, body, schema, given)
    if schema is None:
        _check_names(name, body, writes)
    # What can be wrong is found before PyTorch drops an earlier operator of this name.
    try:
        signature = inspect.signature(body)
        text = schema
        if text is None:
            text = torch.library.infer_schema(body, mutates_args=writes)
        parsed = torch._C.parse_schema(name + text)  # noqa: SLF001
    except (AttributeError, ValueError, RuntimeError) as error:
        raise ValueError(f"torch_op {name}: {error}") from None
    if parsed.name != name or parsed.overload_name:
        raise ValueError(
            f"torch_op {name}: the schema must begin with the parameters, as in "
            f"'(Tensor x) -> Tensor', not {schema!r}"
        )
    wrong = _what_is_wrong(parsed, set(writes)) or _how_it_misfits(parsed, "the function", body)
    if wrong is None and given["fake"] is not None:
        wrong = _how_it_misfits(parsed, "fake", given["fake"])
    if wrong:
        raise ValueError(f"torch_op {name}: {wrong}")

    op = torch.library.custom_op(
        name, on_device(name, body, parsed), mutates_args=writes, device_types="cuda", schema=text
    )
    if given["fake"] is not None or parsed.returns:
        op.register_fake(given["fake"] or _traced(name, body))
    if places_of_tensors(parsed):
        op.register_kernel("cpu", functools.partial(_refuse_cpu, name))
    if given["backward"] is not None:
        op.register_autograd(given["backward"], setup_context=given["setup_context"])
    op.__name__ = getattr(body, "__name__", name)
    op.__doc__ = body.__doc__
    op.__signature__ = signature
    return op


def _check_callables(
    name: str, body: Body, schema: str | None, given: Mapping[str, Body | None]
) -> None:
    for what, value in {"the function": body, **given}.items():
        if not callable(value) and (value is not None or what == "the function"):
            raise TypeError(f"torch_op {name}: {what} must be callable, not {type(value).__name__}")
    if schema is None and not hasattr(body, "__globals__"):
        raise TypeError(
            f"torch_op {name}: PyTorch can't read the annotations of {body!r}: give a function, or "
            "what it takes and returns: schema='(Tensor x) -> Tensor'"
        )


def _check_names(name: str, body: Body, writes: Sequence[str]) -> None:
    parameters = inspect.signature(body).parameters
    for one in writes:
        if one not in parameters:
            raise ValueError(
                f"torch_op {name}: mutates names {one}, which is not a parameter of "
                f"{getattr(body, '__name__', body)}({', '.join(parameters)})"
            )


def _what_is_wrong(schema: Any, writes: set[str]) -> str | None:
    written = {a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write}
    if written != writes:
        return (
            f"mutates names {', '.join(sorted(writes)) or 'nothing'}, but the schema says that it "
            f"mutates {', '.join(sorted(written)) or 'nothing'}"
        )
    if not schema.returns and not writes:
        return (
            "it returns nothing and mutates nothing, so PyTorch would leave it out; name the "
            "tensors that it writes to in mutates="
        )
    places = places_of_tensors(schema)
    for argument in (schema.arguments[at] for at in places):
        if argument.kwarg_only:
            return f"{argument.name} is a tensor, so it can't be a keyword-only argument"
    if not places and place_of_device(schema) is None:
        return (
            "it takes no tensor, so it needs a parameter `device: torch.device`, which PyTorch "
            "finds by its place: without a default, and not keyword-only"
        )
    return None


def _how_it_misfits(schema: Any, what: str, function: Body) -> str | None:
    """Return why a function can't be called as the schema says; None if it can."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a builtin, such as torch.empty_like
        return None
    every = schema.arguments
    # PyTorch leaves out the last arguments if they are the defaults.
    for arguments in (every, [one for one in every if not one.has_default_value()]):
        by_place = [one for one in arguments if not one.kwarg_only]
        by_name = {one.name: one for one in arguments if one.kwarg_only}
        try:
            signature.bind(*by_place, **by_name)
        except TypeError as error:
            return f"{what}, {signature}, can't be called as {schema} says: {error}"
    return None


def _traced(name: str, body: Body) -> Body:
    """Make the fake version: the body itself, without its launches."""
    why = (
        f"torch_op {name}: to learn the shapes of its results, PyTorch ran the function with "
        "tensors that have no memory, and it failed"
    )
    advice = (
        "The function must not read tensors' values or addresses; else, give a version that only "
        "makes empty tensors: fake=..."
    )

    @functools.wraps(body)
    def traced(*args: Any, **kwargs: Any) -> Any:
        before = _core._trace_launches(True)  # noqa: SLF001
        try:
            return body(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ in _NEED_VALUES or ".numpy() is not" in str(error):
                raise TypeError(f"{why}: {error}\n{advice}") from error
            if hasattr(error, "add_note"):  # since Python 3.11
                error.add_note(f"{why}. {advice}")
            raise
        finally:
            _core._trace_launches(before)  # noqa: SLF001

    return traced


def _refuse_cpu(name: str, *_args: Any, **_kwargs: Any) -> NoReturn:
    raise TypeError(
        f"torch_op {name} launches kernels, but its tensors are on the CPU: move them with "
        'x.cuda(), or give it a CPU version with op.register_kernel("cpu")'
    )
