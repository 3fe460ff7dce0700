# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces: arrays that kernels read with filters, and write.

`Device.create_opaque_array` and `Device.create_mipmapped_array` allocate arrays, whose memory is in
an order of the driver's. `Device.create_texture_object` and `Device.create_surface_object` make
what kernels take to reach them. A texture also reads the memory of a Buffer.
"""

from __future__ import annotations

from cudacore import _later
from cudacore._core import MipmappedArray, OpaqueArray, SurfaceObject, TextureObject
from cudacore.texture._array_options import MipmappedArrayOptions, OpaqueArrayOptions
from cudacore.texture._resource import ResourceDescriptor
from cudacore.texture._texture_options import TextureObjectOptions

TYPE_CHECKING = False

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:
    __getattr__ = _later.loader(__name__, {})
