# SPDX-License-Identifier: Apache-2.0
"""What textures and surfaces reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore._core import Buffer, MipmappedArray, OpaqueArray
from cudacore._integers import to_int
from cudacore._public import public
from cudacore.texture._formats import element_bytes, index_of, to_channels, to_format

if TYPE_CHECKING:
    from typing import NoReturn

    from numpy.typing import DTypeLike

    from cudacore.typing import ArrayFormatType


def _require_buffer(given: object) -> Buffer:
    if not isinstance(given, Buffer):
        raise TypeError(f"buffer must be a Buffer, got {type(given).__name__}")
    if given.is_closed:
        raise ValueError("this Buffer is closed")
    return given


@public("cudacore.texture")
class ResourceDescriptor:
    """What a `TextureObject` or a `SurfaceObject` reaches.

    Made by its ``from_`` functions. It keeps what it describes.

    Examples
    --------
    >>> import cudacore
    >>> from cudacore.texture import ResourceDescriptor
    >>> device = cudacore.Device()
    >>> device.set_current()
    >>> buffer = device.allocate(4096)
    >>> ResourceDescriptor.from_linear(buffer, format="float32", num_channels=4)
    ResourceDescriptor(kind='linear', format=FLOAT32, num_channels=4, size_bytes=4096)
    """

    __slots__ = ("__weakref__", "_fields", "_kind", "_source")

    _kind: str
    _source: Buffer | OpaqueArray | MipmappedArray
    _fields: dict[str, Any]

    def __init__(self) -> NoReturn:
        """Refuse to be called: the ``from_`` functions make descriptors."""
        raise RuntimeError(
            "ResourceDescriptor cannot be instantiated directly. "
            "Use ResourceDescriptor.from_* factories."
        )

    @classmethod
    def _made(
        cls, kind: str, source: Buffer | OpaqueArray | MipmappedArray, **fields: Any
    ) -> ResourceDescriptor:
        self = cls.__new__(cls)
        self._kind = kind
        self._source = source
        self._fields = fields
        return self

    @classmethod
    def from_opaque_array(cls, array: OpaqueArray) -> ResourceDescriptor:
        """Describe an array, for a texture, or for a surface that writes it.

        Parameters
        ----------
        array : OpaqueArray

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        TypeError
            It is something else.
        """
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be an OpaqueArray, got {type(array).__name__}")
        return cls._made("array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """Describe a mipmapped array, for a texture. Surfaces are made of single levels.

        Parameters
        ----------
        mipmapped_array : MipmappedArray

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        TypeError
            It is something else.
        """
        if not isinstance(mipmapped_array, MipmappedArray):
            raise TypeError(
                f"mipmapped_array must be a MipmappedArray, got {type(mipmapped_array).__name__}"
            )
        return cls._made("mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(
        cls,
        buffer: Buffer,
        *,
        format: ArrayFormatType | str | DTypeLike,  # noqa: A002
        num_channels: int,
        size_bytes: int | None = None,
    ) -> ResourceDescriptor:
        """Describe elements that follow each other, which kernels read by index (``tex1Dfetch``).

        Parameters
        ----------
        buffer : Buffer
            Its address must be a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or dtype
            The type of a channel.
        num_channels : int
            How many values an element has: 1, 2 or 4.
        size_bytes : int, optional
            How many bytes the texture reads, a multiple of the size of an element. Default: the
            size of the buffer.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        TypeError
            An argument has a wrong type.
        ValueError
            There is no such format or number of channels, or the buffer is too small or closed.
        """
        _require_buffer(buffer)
        form, channels = to_format(format), to_channels(num_channels)
        element = element_bytes(form, channels)
        size = buffer.size if size_bytes is None else to_int(size_bytes, "size_bytes")
        if size > buffer.size:
            raise ValueError(f"size_bytes ({size}) exceeds buffer.size ({buffer.size})")
        if size < element:
            raise ValueError(f"size_bytes ({size}) must be at least one element ({element} bytes)")
        if size % element:
            raise ValueError(
                f"size_bytes ({size}) must be a multiple of element size "
                f"({element} bytes for {form.name} x {channels})"
            )
        return cls._made("linear", buffer, format=form, num_channels=channels, size_bytes=size)

    @classmethod
    def from_pitch2d(
        cls,
        buffer: Buffer,
        *,
        format: ArrayFormatType | str | DTypeLike,  # noqa: A002
        num_channels: int,
        width: int,
        height: int,
        pitch_bytes: int,
    ) -> ResourceDescriptor:
        """Describe rows of elements, which a texture reads as an image.

        Parameters
        ----------
        buffer : Buffer
            Its address must be a multiple of the device's ``texture_alignment``.
        format : ArrayFormatType, str or dtype
            The type of a channel.
        num_channels : int
            How many values an element has: 1, 2 or 4.
        width : int
            The length of a row, in elements.
        height : int
            How many rows there are.
        pitch_bytes : int
            The distance of two rows, in bytes: a multiple of the device's
            ``texture_pitch_alignment``.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        TypeError
            An argument has a wrong type.
        ValueError
            There is no such format or number of channels, rows overlap, or the buffer is too small
            or closed.
        """
        _require_buffer(buffer)
        form, channels = to_format(format), to_channels(num_channels)
        width, height = to_int(width, "width"), to_int(height, "height")
        pitch = to_int(pitch_bytes, "pitch_bytes")
        if width < 1:
            raise ValueError(f"width must be >= 1, got {width}")
        if height < 1:
            raise ValueError(f"height must be >= 1, got {height}")
        row = width * element_bytes(form, channels)
        if pitch < row:
            raise ValueError(f"pitch_bytes ({pitch}) must be >= width * element_bytes ({row})")
        if pitch * height > buffer.size:
            raise ValueError(
                f"pitch_bytes * height ({pitch * height}) exceeds buffer.size ({buffer.size})"
            )
        return cls._made(
            "pitch2d",
            buffer,
            format=form,
            num_channels=channels,
            width=width,
            height=height,
            pitch_bytes=pitch,
        )

    @property
    def kind(self) -> str:
        """What it describes: ``"array"``, ``"mipmapped_array"``, ``"linear"`` or ``"pitch2d"``."""
        return self._kind

    @property
    def source(self) -> Buffer | OpaqueArray | MipmappedArray:
        """The buffer or the array that it describes."""
        return self._source

    @property
    def format(self) -> ArrayFormatType | None:
        """The type of a channel; None for arrays, which know theirs."""
        return self._fields.get("format")

    @property
    def _format(self) -> int | None:
        form = self.format
        return None if form is None else index_of(form)

    @property
    def num_channels(self) -> int | None:
        """How many values an element has; None for arrays."""
        return self._fields.get("num_channels")

    @property
    def size_bytes(self) -> int | None:
        """How many bytes of linear memory are read; None for all else."""
        return self._fields.get("size_bytes")

    @property
    def width(self) -> int | None:
        """The length of a row, in elements; None for all but rows in a buffer."""
        return self._fields.get("width")

    @property
    def height(self) -> int | None:
        """How many rows there are; None for all but rows in a buffer."""
        return self._fields.get("height")

    @property
    def pitch_bytes(self) -> int | None:
        """The distance of two rows, in bytes; None for all but rows in a buffer."""
        return self._fields.get("pitch_bytes")

    def __repr__(self) -> str:
        """Show what it describes."""
        shown = {"kind": repr(self._kind), **self._fields}
        if not isinstance(self._source, Buffer):
            shown["source"] = repr(self._source)
        if "format" in shown:
            shown["format"] = shown["format"].name
        return f"ResourceDescriptor({', '.join(f'{k}={v}' for k, v in shown.items())})"
