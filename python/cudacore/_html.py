# SPDX-License-Identifier: Apache-2.0
"""What notebooks show for an object at the end of a cell: ``_repr_html_``.

The tables have no colors of their own, so they look right in light and dark themes.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cudacore import _core
from cudacore._text import UNITS, size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def show(thing: object) -> str:
    """Return the HTML for an object of one of the classes in `SHOWN`, or derived from one."""
    makers = (SHOWN[kind] for kind in type(thing).__mro__ if kind in SHOWN)
    return next(makers)(thing)


def _escape(text: object) -> str:
    return escape(str(text))


def _table(title: str, rows: Iterable[tuple[object, ...]], heads: tuple[str, ...] = ()) -> str:
    """Make a table; the first column consists of names, if there are no heads."""
    style = ' style="text-align:left"'

    def line(cells: Iterable[object], tag: str) -> str:
        return "".join(f"<{tag}{style}>{_escape(cell)}</{tag}>" for cell in cells)

    body = "".join(
        f"<tr>{line(row, 'td') if heads else line(row[:1], 'th') + line(row[1:], 'td')}</tr>"
        for row in rows
    )
    head = f"<thead><tr>{line(heads, 'th')}</tr></thead>" if heads else ""
    return f"<div><code>{_escape(title)}</code><table>{head}<tbody>{body}</tbody></table></div>"


def _bytes(size: int) -> str:
    """Write a size in a unit, and exactly: ``1.5 MiB (1,572,864 bytes)``."""
    text = size_text(size, ".4g")
    return text if text.endswith(UNITS[0]) else f"{text} ({size:,} bytes)"


def _device(device: _core.Device) -> str:
    has = device.properties
    return _table(
        f"Device {device.device_id}: {device.name}",
        [
            ("compute capability", "{}.{}".format(*device.compute_capability)),
            ("multiprocessors", has.multiprocessor_count),
            ("threads per block", f"up to {has.max_threads_per_block}"),
            ("shared memory per block", f"up to {_bytes(has.max_shared_memory_per_block_optin)}"),
            ("L2 cache", _bytes(has.l2_cache_size)),
            ("PCI bus", device.pci_bus_id),
        ],
    )


def _properties(properties: _core.DeviceProperties) -> str:
    names = [name for name in dir(properties) if not name.startswith("_")]
    return _table(repr(properties)[1:-1], [(name, getattr(properties, name)) for name in names])


def _buffer(buffer: _core.Buffer) -> str:
    if buffer.is_closed:
        return f"<div><code>{_escape(repr(buffer))}</code></div>"
    return _table(
        type(buffer).__name__,
        [
            ("size", _bytes(buffer.size)),
            ("address", f"{buffer.handle:#x}"),
            ("reached by", _reached_by(buffer, host=buffer.is_host_accessible)),
            ("from", repr(buffer.memory_resource)),
        ],
    )


def _reached_by(memory: _core.Buffer | _core.StridedMemoryView, *, host: bool) -> str:
    places = []
    if memory.is_device_accessible:
        places.append(f"device {memory.device_id}" if memory.device_id >= 0 else "devices")
    if host:
        places.append("the host")
    return " and ".join(places) or "unknown"


def _view(view: _core.StridedMemoryView) -> str:
    exporter = view.exporting_obj
    if isinstance(exporter, _core.Buffer) and exporter.is_closed:
        return f"<div><code>{_escape(repr(view))}</code></div>"
    host = exporter.is_host_accessible if isinstance(exporter, _core.Buffer) else view.device_id < 0
    try:
        elements = str(view.dtype or f"{view.itemsize} bytes")
    except (ImportError, _core.NotSupportedError):  # NumPy or ml_dtypes would name them
        elements = f"{view.itemsize} bytes"
    strides = view.strides
    return _table(
        type(view).__name__,
        [
            ("elements", elements),
            ("shape", view.shape),
            ("strides", "C order" if strides is None else f"{strides} elements"),
            ("size", _bytes(view.nbytes)),
            ("address", f"{view.ptr:#x}"),
            ("reached by", _reached_by(view, host=host)),
            ("access", "read-only" if view.readonly else "read and write"),
            ("of", type(exporter).__name__),
        ],
    )


def _caching_resource(pool: _core.CachingMemoryResource) -> str:
    from cudacore._memory_map import draw  # noqa: PLC0415

    has = pool.statistics
    table = _table(
        repr(pool)[1:-1],
        [
            ("buffers", f"{has.current_count:,}, at most {has.peak_count:,}"),
            ("in buffers", f"{_bytes(has.current_bytes)}, at most {_bytes(has.peak_bytes)}"),
            ("used", _bytes(has.used_bytes)),
            ("free", f"{_bytes(has.free_bytes)} in {has.num_free_blocks:,} blocks"),
            ("reserved", f"{_bytes(has.reserved_bytes)} in {has.num_segments:,} segments"),
            ("from", repr(pool.upstream)),
        ],
    )
    return table + draw(pool.snapshot())


def _signature(signature: _core.Signature) -> str:
    rows = [
        (number, info.name or "-", info.type or "-", info.kind, info.size or "?")
        for number, info in enumerate(signature)
    ]
    return _table(str(signature), rows, ("", "parameter", "type", "kind", "bytes"))


def _kernel(kernel: _core.Kernel) -> str:
    try:
        has = kernel.attributes
        rows = [
            ("registers per thread", has.num_regs),
            ("static shared memory", _bytes(has.shared_size_bytes)),
            ("local memory per thread", _bytes(has.local_size_bytes)),
            ("threads per block", f"up to {has.max_threads_per_block}"),
            ("compiled for", f"sm_{has.binary_version}"),
        ]
    except _core.CUDAError as error:
        rows = [("attributes", str(error))]
    return _table(f"__global__ void {kernel.signature}", rows)


def _object_code(code: _core.ObjectCode) -> str:
    title = f"ObjectCode {code.name}: {code.code_type}, {_bytes(len(code.code))}"
    try:
        rows = [(number, code.signature(name)) for number, name in enumerate(code.kernels)]
    except (_core.NotSupportedError, ValueError) as error:
        return _table(title, [("kernels", str(error))])
    return _table(title, rows, ("", "kernel"))


def _compile_error(error: _core.CompileError | _core.LinkError) -> str:
    text = f"{type(error).__name__}: {error}\n\n{error.log}".rstrip()
    return f'<pre style="overflow-x:auto">{_escape(text)}</pre>'


#: What shows the objects of each class. The package gives these classes their ``_repr_html_``.
SHOWN: dict[type, Callable[..., str]] = {
    _core.Buffer: _buffer,
    _core.CachingMemoryResource: _caching_resource,
    _core.CompileError: _compile_error,
    _core.Device: _device,
    _core.DeviceProperties: _properties,
    _core.Kernel: _kernel,
    _core.LinkError: _compile_error,
    _core.ObjectCode: _object_code,
    _core.Signature: _signature,
    _core.StridedMemoryView: _view,
}
