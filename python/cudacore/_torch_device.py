# SPDX-License-Identifier: Apache-2.0
"""Runs a function on the device of its tensors, and on PyTorch's current stream."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from cudacore import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import torch

#: Of a device. PyTorch's own streams are few and stay alive; those of other libraries come and go.
MOST_STREAMS = 256

_streams: defaultdict[int, dict[int, _core.Stream]] = defaultdict(dict)


def places_of_tensors(schema: Any) -> list[int]:
    """Return which arguments are, or may contain, tensors."""
    return [at for at, argument in enumerate(schema.arguments) if "Tensor" in str(argument.type)]


def place_of_device(schema: Any) -> int | None:
    """Return which argument is the device; None unless every call has it in its place."""
    for at, argument in enumerate(schema.arguments):
        if argument.name == "device" and str(argument.type) == "Device":
            return None if argument.kwarg_only or argument.has_default_value() else at
    return None


def on_device(name: str, body: Callable[..., Any], schema: Any) -> Callable[..., Any]:
    """Make a function that runs the body on the tensors' device and on PyTorch's stream."""
    import torch  # noqa: PLC0415

    # Builds of PyTorch for the CPU lack both, and never get here with a tensor.
    raw_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # noqa: SLF001
    current_device: Any = getattr(torch._C, "_cuda_getDevice", None)  # noqa: SLF001
    device_of = _device_finder(name, schema)
    only = _only_tensor(schema)

    # Each call pays for every name and call in here: hence the short ways.
    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        device = device_of(args) if only is None else args[only].get_device()
        handle = raw_stream(device)
        stream = _streams[device].get(handle) or _wrap(device, handle)
        if device == current_device():
            with stream:
                return body(*args, **kwargs) if kwargs else body(*args)
        with torch.cuda.device(device), stream:
            return body(*args, **kwargs)

    return run


def _wrap(device: int, handle: int) -> _core.Stream:
    known = _streams[device]
    if len(known) >= MOST_STREAMS:
        known.clear()
    # The default stream is that of the device which is current when the work is queued.
    return known.setdefault(handle, _core.Stream.from_handle(handle))


def _is_in_each_call(tensor: Any) -> bool:
    return str(tensor.type) == "Tensor" and not tensor.has_default_value()


def _only_tensor(schema: Any) -> int | None:
    """Return which argument is the only tensor of each call; None if there may be more."""
    places = places_of_tensors(schema)
    is_only = len(places) == 1 and _is_in_each_call(schema.arguments[places[0]])
    return places[0] if is_only else None


def _device_finder(name: str, schema: Any) -> Callable[[tuple[Any, ...]], int]:
    """Make a function that finds the device to run on in the arguments."""
    places = places_of_tensors(schema)
    if not places:
        return functools.partial(_device_argument, place_of_device(schema) or 0)

    def device_of_any(args: tuple[Any, ...]) -> int:
        # PyTorch leaves out the last arguments if they are the defaults.
        return _common_device(name, _tensors(args[at] for at in places if at < len(args)))

    if not all(_is_in_each_call(schema.arguments[at]) for at in places):
        return device_of_any

    first, *others = places

    def device_of_tensors(args: tuple[Any, ...]) -> int:
        try:
            device: int = args[first].get_device()
            for at in others:
                if args[at].get_device() != device:
                    return device_of_any(args)
        except AttributeError:  # PyTorch takes None for any tensor
            return device_of_any(args)
        return device

    return device_of_tensors


def _device_argument(place: int, args: tuple[Any, ...]) -> int:
    import torch  # noqa: PLC0415

    index: int | None = args[place].index
    return torch.cuda.current_device() if index is None else index


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors among arguments that are tensors, None, or lists of these."""
    for value in values:
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if one is not None:
                yield one


def _common_device(name: str, tensors: Iterable[torch.Tensor]) -> int:
    found = -1
    for tensor in tensors:
        index = tensor.get_device()  # -1 for the CPU
        if index != found and index >= 0:
            if found >= 0:
                raise TypeError(
                    f"torch_op {name}: its tensors are on several devices, cuda:{found} and "
                    f"cuda:{index}"
                )
            found = index
    return found
