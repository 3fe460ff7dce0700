# SPDX-License-Identifier: Apache-2.0
"""PyTorch without kernels: its memory and copies are on the simulated device, which can't run the
machine code of its kernels, so these run on the host, on copies.
"""

import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

# Operators of PyTorch that need no kernel.
PLAIN = {
    "_reshape_alias",
    "alias",
    "detach",
    "empty",
    "empty_like",
    "empty_strided",
    "is_pinned",
    "new_empty",
    "new_empty_strided",
    "record_stream",
    "resize_",
    "set_",
}


def on_device(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


def copies_bytes(name: str, args: tuple[object, ...]) -> bool:
    """Whether this is a copy that changes no element's type or place."""
    if name != "copy_":
        return False
    target, source = args[:2]
    return (
        target.dtype == source.dtype
        and target.shape == source.shape
        and target.is_contiguous()
        and source.is_contiguous()
    )


def storage_of(tensor: torch.Tensor) -> torch.Tensor:
    bare = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    return bare.set_(tensor.untyped_storage())


def to_host(tensor: torch.Tensor) -> torch.Tensor:
    """Copy a tensor with the whole of what it is a view of."""
    torch.cuda.synchronize()
    storage = torch.empty(tensor.untyped_storage().nbytes(), dtype=torch.uint8)
    storage.copy_(storage_of(tensor))
    bare = torch.empty(0, dtype=tensor.dtype)
    return bare.set_(
        storage.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride()
    )


def to_target(value: object, target: torch.device) -> object:
    """Copy a tensor of the host to a device; give other things as they are."""
    if not isinstance(value, torch.Tensor) or value.device.type == target.type:
        return value
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=target)
    if value.numel():
        storage_of(made).copy_(storage_of(value)[: made.untyped_storage().nbytes()])
    return made


def attend(operator, args, kwargs) -> tuple[object, ...]:
    """Compute what an attention operator of GPUs gives first; the rest is empty."""
    schema = operator._schema
    given = dict(zip((argument.name for argument in schema.arguments), args, strict=False)) | kwargs
    query, key, value = (given[name].float() for name in ("query", "key", "value"))
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    scale = given.get("scale") or query.shape[-1] ** -0.5
    weights = query @ key.transpose(-1, -2) * scale
    if given.get("attn_bias") is not None:
        weights = weights + given["attn_bias"].float()
    if given.get("is_causal"):
        weights = weights.masked_fill(torch.ones(weights.shape[-2:]).triu(1).bool(), -torch.inf)
    result = (torch.softmax(weights, -1) @ value).to(given["query"].dtype)
    rest = [torch.empty(0) if str(each.type) == "Tensor" else 0 for each in schema.returns[1:]]
    return (result, *rest)


class OnHost(TorchDispatchMode):
    """Runs PyTorch's kernels on the host: the simulated device can't run their machine code."""

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):  # noqa: C901
        kwargs = dict(kwargs or {})
        name = operator._schema.name.split("::")[1]
        wanted = kwargs.get("device")
        device = None if wanted is None else torch.device(wanted)
        tensors = [value for value in tree_flatten((args, kwargs))[0] if on_device(value)]
        target = device or (tensors[0].device if tensors else torch.device("cpu"))
        needs_no_kernel = name in PLAIN or operator.is_view or copies_bytes(name, args)
        if needs_no_kernel or (not tensors and target.type != "cuda"):
            return operator(*args, **kwargs)
        copies = {}

        def down(value):
            if on_device(value):
                if id(value) not in copies:
                    copies[id(value)] = (value, to_host(value))
                return copies[id(value)][1]
            if isinstance(value, torch.device):
                return torch.device("cpu")
            return value

        args, kwargs = tree_map(down, (args, kwargs))
        kwargs.pop("pin_memory", None)
        if str(operator) == "aten.mm.dtype":  # which only GPUs have
            wanted = args[2] if len(args) > 2 else kwargs["out_dtype"]
            operator, kwargs = torch.ops.aten.mm.default, {}
            args = tuple(matrix.to(wanted) for matrix in args[:2])
        if name.startswith("_scaled_dot_product_"):  # those of GPUs
            return tree_map(lambda x: to_target(x, target), attend(operator, args, kwargs))
        result = operator(*args, **kwargs)
        writes = [a for a in operator._schema.arguments if a.alias_info and a.alias_info.is_write]
        if writes:
            for original, copy in copies.values():
                storage_of(original).copy_(storage_of(copy))

        def up(value):
            if not isinstance(value, torch.Tensor) or value.device.type == target.type:
                return value
            for original, copy in copies.values():
                if copy is value:
                    return original
            return to_target(value, target)

        return tree_map(up, result)


def run_on_host(thread: threading.Thread, run=threading.Thread.run) -> None:
    with OnHost():
        run(thread)
