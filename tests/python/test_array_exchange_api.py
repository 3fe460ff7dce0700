# SPDX-License-Identifier: Apache-2.0
"""Arrays that are read by DLPack's C exchange API."""

import ctypes
import gc
import weakref
from typing import Any

import pytest
from cudacore import Buffer, Kernel
from foreign_arrays import (
    CudaArray,
    CurrentStream,
    ExchangeArray,
    FromObject,
    exchange_api,
    exchange_capsule,
    refused,
)


class TestExchangeApi:
    def array(self, block: Buffer, capsule: Any, **lies: Any) -> Any:
        kind = type("Other", (ExchangeArray,), {"__dlpack_c_exchange_api__": capsule})
        return kind(block.handle, (16,), **lies)

    @pytest.mark.parametrize("name", [b"other", b"dltensor", None])
    def test_capsule_of_another_name(self, scale: Kernel, block: Buffer, name: Any) -> None:
        capsule = exchange_capsule(exchange_api(), name)
        assert "must be a capsule named 'dlpack_exchange_api'" in refused(
            scale, self.array(block, capsule)
        )

    @pytest.mark.parametrize("capsule", [1, "dlpack_exchange_api", object()])
    def test_no_capsule(self, scale: Kernel, block: Buffer, capsule: Any) -> None:
        assert "must be a capsule named" in refused(scale, self.array(block, capsule))

    @pytest.mark.parametrize("capsule", [None, exchange_capsule(exchange_api(major=2))])
    def test_unknown_version_is_as_none(self, scale: Kernel, block: Buffer, capsule: Any) -> None:
        array = self.array(block, capsule)
        scale[1, 1](block, array, 1.0, 16)
        assert (array.borrowed, array.released) == (0, 1)  # by __dlpack__

    def test_older_version_of_a_newer_library(self, scale: Kernel, block: Buffer) -> None:
        older = exchange_api()
        newer = exchange_api(major=3, previous=ctypes.addressof(older))
        array = self.array(block, exchange_capsule(newer))
        scale[1, 1](block, array, 1.0, 16)
        assert array.borrowed
        assert array.released == 0

    def test_versions_in_a_circle(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(major=2)
        api.previous = ctypes.addressof(api)
        array = self.array(block, exchange_capsule(api))
        scale[1, 1](block, array, 1.0, 16)
        assert array.released == 1

    def test_null_function(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(from_object=FromObject())
        assert "has a null function" in refused(scale, self.array(block, exchange_capsule(api)))

    def test_library_without_streams(self, scale: Kernel, block: Buffer) -> None:
        api = exchange_api(current_stream=CurrentStream())
        scale[1, 1](block, self.array(block, exchange_capsule(api)), 1.0, 16)

    def test_failure_without_an_error(self, scale: Kernel, block: Buffer) -> None:
        array = ExchangeArray(block.handle, (16,), result=-1)
        assert "its DLPack exchange API failed, and said nothing" in refused(scale, array)

    def test_failure_with_an_error(self, scale: Kernel, block: Buffer) -> None:
        # A function of CPython that takes the object, and raises TypeError.
        raising = ctypes.cast(ctypes.pythonapi.PyObject_AsFileDescriptor, FromObject)
        api = exchange_api(borrow_from_object=raising)
        array = self.array(block, exchange_capsule(api))
        with pytest.raises(TypeError, match="argument 2 'x'.*fileno") as caught:
            scale[1, 1](block, array, 1.0, 16)
        assert isinstance(caught.value.__cause__, TypeError)

    def test_types_are_not_kept_for_ever(self, scale: Kernel, block: Buffer) -> None:
        types = []
        for i in range(500):
            kind = type(f"Type{i}", (ExchangeArray,), {})
            types.append(weakref.ref(kind))
            scale[1, 1](block, kind(block.handle, (16,)), 1.0, 16)
        del kind
        gc.collect()
        assert sum(kept() is not None for kept in types) <= 128

    def test_type_at_the_address_of_another(self, scale: Kernel, block: Buffer) -> None:
        for i in range(300):
            base = ExchangeArray if i % 2 else CudaArray
            kind = type("Same", (base,), {})
            scale[1, 1](block, kind(block.handle, (16,)), 1.0, 16)
            del kind
            gc.collect(0)
