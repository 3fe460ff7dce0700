# SPDX-License-Identifier: Apache-2.0
"""An OpenGL context without a window, by EGL; what the tests need of both, by ctypes."""

from __future__ import annotations

import contextlib
import ctypes
from ctypes import c_char_p, c_int, c_uint, c_void_p, cast
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

EGL_PLATFORM_DEVICE = 0x313F
EGL_EXTENSIONS, EGL_NONE = 0x3055, 0x3038
EGL_OPENGL_API, EGL_OPENGL_BIT, EGL_RENDERABLE_TYPE = 0x30A2, 0x8, 0x3040
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT = 0x3033, 0x1
EGL_CUDA_DEVICE = 0x323A
GL_ARRAY_BUFFER, GL_DYNAMIC_DRAW = 0x8892, 0x88E8
GL_TEXTURE_2D, GL_RGBA, GL_RGBA8, GL_UNSIGNED_BYTE = 0x0DE1, 0x1908, 0x8058, 0x1401
GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_NEAREST = 0x2801, 0x2800, 0x2600


class HeadlessGl:
    """The functions of OpenGL; a context must be current."""

    def __init__(self, egl: Egl) -> None:
        self.egl = egl

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns nothing; fail if OpenGL then has an error."""
        self.egl.function(name, None)(*arguments)
        error = self.egl.function("glGetError", c_uint)()
        assert error == 0, f"{name}: {error:#x}"

    def make_buffer(self, content: bytes) -> int:
        """Make a buffer object with a content."""
        name = c_uint()
        self.call("glGenBuffers", 1, ctypes.byref(name))
        self.call("glBindBuffer", GL_ARRAY_BUFFER, name)
        size = ctypes.c_ssize_t(len(content))
        self.call("glBufferData", GL_ARRAY_BUFFER, size, content, GL_DYNAMIC_DRAW)
        return name.value

    def read_buffer(self, name: int, size: int) -> bytes:
        """Read the content of a buffer object."""
        content = ctypes.create_string_buffer(size)
        self.call("glBindBuffer", GL_ARRAY_BUFFER, name)
        zero = ctypes.c_ssize_t(0)
        self.call("glGetBufferSubData", GL_ARRAY_BUFFER, zero, ctypes.c_ssize_t(size), content)
        return content.raw

    def make_image(self, content: bytes, width: int, height: int) -> int:
        """Make a texture with one level, of 4 bytes a texel."""
        name = c_uint()
        self.call("glGenTextures", 1, ctypes.byref(name))
        self.call("glBindTexture", GL_TEXTURE_2D, name)
        for filtered in (GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER):
            self.call("glTexParameteri", GL_TEXTURE_2D, filtered, GL_NEAREST)
        self.call(
            "glTexImage2D", GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA,
            GL_UNSIGNED_BYTE, content,
        )  # fmt: skip
        return name.value

    def read_image(self, name: int, size: int) -> bytes:
        """Read level 0 of a texture."""
        content = ctypes.create_string_buffer(size)
        self.call("glBindTexture", GL_TEXTURE_2D, name)
        self.call("glGetTexImage", GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, content)
        return content.raw


class Egl:
    """EGL, and what it finds of OpenGL."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL("libEGL.so.1")
        except OSError as error:
            pytest.skip(f"needs EGL: {error}")
        self.library.eglGetProcAddress.restype = c_void_p
        self.library.eglGetProcAddress.argtypes = [c_char_p]

    def function(self, name: str, result: Any) -> Any:
        """Return a function of EGL or OpenGL; a c_int for int arguments."""
        address = self.library.eglGetProcAddress(name.encode())
        if not address:
            pytest.skip(f"EGL finds no {name}")
        return ctypes.CFUNCTYPE(result)(address)

    def require(self, result: Any, what: str) -> Any:
        """Skip the test if a call failed."""
        if not result:
            error = self.library.eglGetError()
            pytest.skip(f"{what} failed: EGL error {error:#x}")
        return result

    def devices(self) -> list[c_void_p]:
        """List EGL's devices."""
        found, count = (c_void_p * 16)(), c_int()
        query = self.function("eglQueryDevicesEXT", c_int)
        self.require(query(16, found, ctypes.byref(count)), "eglQueryDevicesEXT")
        return [c_void_p(one) for one in found[: count.value]]

    def cuda_device_of(self, device: c_void_p) -> int | None:
        """Return the ordinal of a device in CUDA; None if it is no device of CUDA's."""
        text = self.function("eglQueryDeviceStringEXT", c_char_p)(device, EGL_EXTENSIONS) or b""
        if b"EGL_NV_device_cuda" not in text:
            return None
        ordinal = ctypes.c_ssize_t(-1)
        query = self.function("eglQueryDeviceAttribEXT", c_int)
        return ordinal.value if query(device, EGL_CUDA_DEVICE, ctypes.byref(ordinal)) else None


@contextlib.contextmanager
def context_on(egl: Egl, device: c_void_p) -> Iterator[HeadlessGl]:
    """Make an OpenGL context on a device of EGL's current in this thread, without a surface."""
    library = egl.library
    display = c_void_p(
        egl.function("eglGetPlatformDisplayEXT", c_void_p)(EGL_PLATFORM_DEVICE, device, None)
    )
    egl.require(display.value, "eglGetPlatformDisplayEXT")
    egl.require(library.eglInitialize(display, None, None), "eglInitialize")
    try:
        egl.require(library.eglBindAPI(EGL_OPENGL_API), "eglBindAPI")
        wanted = (c_int * 5)(
            EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE
        )  # fmt: skip
        config, count = c_void_p(), c_int()
        library.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
        egl.require(count.value, "eglChooseConfig")
        library.eglCreateContext.restype = c_void_p
        context = c_void_p(library.eglCreateContext(display, config, None, None))
        egl.require(context.value, "eglCreateContext")
        egl.require(library.eglMakeCurrent(display, None, None, context), "eglMakeCurrent")
        yield HeadlessGl(egl)
        library.eglMakeCurrent(display, None, None, None)
        library.eglDestroyContext(display, context)
    finally:
        library.eglTerminate(cast(display, c_void_p))
