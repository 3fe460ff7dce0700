# SPDX-License-Identifier: Apache-2.0
"""What the methods of `Device` make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore._core import MipmappedArray, OpaqueArray, SurfaceObject, TextureObject
from cudacore._options import read_options, to_bool
from cudacore.texture._array_options import MipmappedArrayOptions, OpaqueArrayOptions
from cudacore.texture._formats import index_of, to_format
from cudacore.texture._resource import ResourceDescriptor
from cudacore.texture._texture_options import TextureObjectOptions, values_of

if TYPE_CHECKING:
    from cudacore._core import Device


def _require_resource(given: object) -> None:
    if not isinstance(given, ResourceDescriptor):
        advice = ""
        if isinstance(given, OpaqueArray):
            advice = "; ResourceDescriptor.from_opaque_array(array) makes one"
        elif isinstance(given, MipmappedArray):
            advice = "; ResourceDescriptor.from_mipmapped_array(array) makes one"
        raise TypeError(
            f"resource must be a ResourceDescriptor, got {type(given).__name__}{advice}"
        )


def create_opaque_array(device: Device, options: Any) -> OpaqueArray:
    """Make an array of a device."""
    chosen = read_options(
        OpaqueArrayOptions, options, "Device.create_opaque_array", is_required=True
    )
    return OpaqueArray._create(  # noqa: SLF001
        device,
        chosen.shape,
        index_of(to_format(chosen.format)),
        chosen.num_channels,
        to_bool(chosen.is_surface_load_store, "is_surface_load_store"),
    )


def create_mipmapped_array(device: Device, options: Any) -> MipmappedArray:
    """Make a mipmapped array of a device."""
    chosen = read_options(
        MipmappedArrayOptions, options, "Device.create_mipmapped_array", is_required=True
    )
    return MipmappedArray._create(  # noqa: SLF001
        device,
        chosen.shape,
        index_of(to_format(chosen.format)),
        chosen.num_channels,
        chosen.num_levels,
        to_bool(chosen.is_surface_load_store, "is_surface_load_store"),
    )


def create_texture_object(device: Device, resource: Any, options: Any) -> TextureObject:
    """Make a texture of a device."""
    _require_resource(resource)
    chosen = read_options(TextureObjectOptions, options, "Device.create_texture_object")
    values = values_of(chosen)
    return TextureObject._create(device, resource, chosen, values)  # noqa: SLF001


def create_surface_object(device: Device, resource: Any) -> SurfaceObject:
    """Make a surface of a device."""
    _require_resource(resource)
    if resource.kind != "array":
        raise ValueError(
            f"SurfaceObject requires an array-backed ResourceDescriptor, got kind={resource.kind!r}"
        )
    return SurfaceObject._create(device, resource, resource.source)  # noqa: SLF001
