# SPDX-License-Identifier: Apache-2.0
"""Every kind of argument for every kind of parameter: what arrives, and what is rejected."""

import ctypes
import gc
import math
import struct
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, ObjectCode, Stream
from harness import build, cubin, host_bytes, ptx

PREAMBLE = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/std/complex>
struct Pair { int a; float b; };
enum Color { red, green = 7 };
template <typename T> __global__ void store(T* out, T value) { *out = value; }
__global__ void store_pointer(void** out, const float* value) { *out = (void*)value; }
"""

#: C++ type → bytes
SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2,
    "int": 4, "unsigned int": 4, "long": 8, "unsigned long": 8, "long long": 8,
    "unsigned long long": 8, "float": 4, "double": 8, "__half": 2, "__nv_bfloat16": 2,
    "cuda::std::complex<float>": 8, "cuda::std::complex<double>": 16, "Pair": 8, "Color": 4,
}  # fmt: skip
SIGNED = {"signed char": 1, "short": 2, "int": 4, "long": 8, "long long": 8}
UNSIGNED = {f"unsigned {name.removeprefix('signed ')}": size for name, size in SIGNED.items()}
INTEGERS = {**SIGNED, **UNSIGNED}


class Store:
    """Passes an argument through a kernel and returns the bytes that arrived."""

    def __init__(self, code: ObjectCode, stream: Stream, pinned: Callable[[int], Buffer]) -> None:
        self._code, self._stream, self._pinned = code, stream, pinned

    def kernel(self, type_name: str) -> Kernel:
        return self._code.get_kernel(
            "store_pointer" if type_name == "pointer" else f"store<{type_name}>"
        )

    def __call__(self, type_name: str, value: Any) -> bytes:
        out = self._pinned(SIZES.get(type_name, 8))
        self.kernel(type_name)[1, 1, self._stream](out, value)
        self._stream.sync()
        return host_bytes(out)


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    return build(PREAMBLE, *(f"store<{name}>" for name in SIZES))


@pytest.fixture
def store(code: ObjectCode, stream: Stream, pinned: Callable[[int], Buffer]) -> Store:
    return Store(code, stream, pinned)


def bounds(type_name: str) -> tuple[int, int]:
    bits = 8 * INTEGERS[type_name]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if type_name in SIGNED else (0, (1 << bits) - 1)


@pytest.mark.parametrize("type_name", INTEGERS)
def test_int_goes_to_any_integer_up_to_its_bounds(store: Store, type_name: str) -> None:
    low, high = bounds(type_name)
    for value in (low, low + 1, 0, 1, high - 1, high):
        expected = value.to_bytes(INTEGERS[type_name], "little", signed=type_name in SIGNED)
        assert store(type_name, value) == expected


@pytest.mark.parametrize("type_name", INTEGERS)
@pytest.mark.parametrize("beyond", [1, 2**65, 10**40])
def test_int_beyond_the_bounds_overflows(store: Store, type_name: str, beyond: int) -> None:
    low, high = bounds(type_name)
    for value in (high + beyond, low - beyond):
        with pytest.raises(OverflowError) as caught:
            store(type_name, value)
        check_message(str(caught.value), f"store<{type_name}>", type_name, None)
        assert str(low) in str(caught.value)
        assert str(high) in str(caught.value)


def check_message(message: str, kernel: str, type_name: str, given: str | None) -> None:
    """A message names the kernel, the parameter's position and name, and both types."""
    assert message.startswith(f"{kernel}: argument 2 'value' ({type_name}")
    if given is not None:
        assert given in message


@pytest.mark.parametrize("value", [0, 1, -1, 2**24, 3])
@pytest.mark.parametrize(("type_name", "form"), [("float", "<f"), ("double", "<d"),
                                                 ("__half", "<e")])  # fmt: skip
def test_int_goes_to_floating_point(store: Store, type_name: str, form: str, value: int) -> None:
    if type_name == "__half" and value == 2**24:
        value = 2048
    assert store(type_name, value) == struct.pack(form, float(value))


REALS = (0.0, -0.0, 1.0, -1.5, 1 / 3, 65504.0, 6e-8, 1e-40, math.inf, -math.inf)


@pytest.mark.parametrize("value", REALS)
@pytest.mark.parametrize(("type_name", "dtype"), [("float", np.float32), ("double", np.float64),
                                                  ("__half", np.float16)])  # fmt: skip
def test_float_is_rounded_to_nearest(
    store: Store, type_name: str, dtype: Any, value: float
) -> None:
    assert store(type_name, value) == dtype(value).tobytes()


@pytest.mark.parametrize(
    ("value", "bits"),
    [(0.0, 0x0000), (-0.0, 0x8000), (1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82),
     (1 + 2**-8 + 2**-40, 0x3F81), (math.inf, 0x7F80), (-2.5, 0xC020), (3.3e38, 0x7F78)],
)  # fmt: skip
def test_float_is_rounded_once_to_bfloat16(store: Store, value: float, bits: int) -> None:
    assert store("__nv_bfloat16", value) == bits.to_bytes(2, "little")


@pytest.mark.parametrize(
    ("type_name", "value"),
    [("__half", 65520.0), ("__half", -1e6), ("float", 3.5e38), ("__nv_bfloat16", 3.4e38)],
)
def test_finite_float_that_would_become_infinite_overflows(
    store: Store, type_name: str, value: float
) -> None:
    with pytest.raises(OverflowError) as caught:
        store(type_name, value)
    check_message(str(caught.value), f"store<{type_name}>", type_name, None)


@pytest.mark.parametrize("type_name", ["float", "double", "__half", "__nv_bfloat16"])
def test_nan_stays_nan(store: Store, type_name: str) -> None:
    raw = store(type_name, math.nan)
    number = int.from_bytes(raw, "little")
    exponent = {2: 0x7C00 if type_name == "__half" else 0x7F80, 4: 0x7F800000, 8: 0x7FF << 52}
    mask = exponent[len(raw)]
    assert number & mask == mask
    assert number & ~mask & ((1 << 8 * len(raw) - 1) - 1)


@pytest.mark.parametrize("value", [True, False, np.True_, ctypes.c_bool(True)])
def test_bool(store: Store, value: Any) -> None:
    assert store("bool", value) == bytes([bool(value)])


@pytest.mark.parametrize("value", [0, 1 + 2j, -1.5j, 2.5])
@pytest.mark.parametrize(
    ("type_name", "dtype"),
    [("cuda::std::complex<float>", np.complex64), ("cuda::std::complex<double>", np.complex128)],
)
def test_complex(store: Store, type_name: str, dtype: Any, value: complex) -> None:
    assert store(type_name, complex(value)) == dtype(value).tobytes()
    assert store(type_name, dtype(value)) == dtype(value).tobytes()


EXACT: dict[str, tuple[Any, ...]] = {
    "signed char": (np.int8(-5), ctypes.c_int8(-5)),
    "unsigned char": (np.uint8(250), ctypes.c_uint8(250)),
    "short": (np.int16(-300), ctypes.c_int16(-300)),
    "unsigned short": (np.uint16(65000), ctypes.c_uint16(65000)),
    "int": (np.int32(-70000), ctypes.c_int32(-70000)),
    "unsigned int": (np.uint32(2**32 - 1), ctypes.c_uint32(2**32 - 1)),
    "long": (np.int64(-(2**40)), ctypes.c_int64(-(2**40)), np.longlong(5)),
    "unsigned long": (np.uint64(2**64 - 1), ctypes.c_size_t(2**64 - 1)),
    "long long": (np.int64(-(2**40)), ctypes.c_longlong(7)),
    "float": (np.float32(1 / 3), ctypes.c_float(1 / 3)),
    "double": (np.float64(1 / 3), ctypes.c_double(1 / 3)),
    "__half": (np.float16(1 / 3),),
    "cuda::std::complex<float>": (np.complex64(1 + 2j),),
    "cuda::std::complex<double>": (np.complex128(1 + 2j),),
}


@pytest.mark.parametrize(
    ("type_name", "value"), [(name, value) for name in EXACT for value in EXACT[name]], ids=repr
)
def test_exact_scalar_goes_to_its_own_type(store: Store, type_name: str, value: Any) -> None:
    raw = value.tobytes() if isinstance(value, np.generic) else bytes(value)
    assert store(type_name, value) == raw


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))


PAIR = struct.pack("<if", 5, 2.5)
PAIR_DTYPE = np.dtype([("a", np.int32), ("b", np.float32)])


@pytest.mark.parametrize(
    "value",
    [PAIR, bytearray(PAIR), memoryview(PAIR), Pair(5, 2.5), np.array([(5, 2.5)], PAIR_DTYPE)[0]],
    ids=lambda value: type(value).__name__,
)
def test_struct(store: Store, value: Any) -> None:
    assert store("Pair", value) == PAIR


def test_enum_takes_an_int(store: Store) -> None:
    assert store("Color", 7) == b"\7\0\0\0"


def test_none_is_the_null_pointer(store: Store) -> None:
    assert store("pointer", None) == bytes(8)


@pytest.mark.parametrize("address", [0, 0x1234, 2**64 - 1])
def test_int_is_an_address(store: Store, address: int) -> None:
    assert store("pointer", address) == address.to_bytes(8, "little")


def test_void_pointer_is_an_address(store: Store) -> None:
    assert store("pointer", ctypes.c_void_p(0x1234)) == (0x1234).to_bytes(8, "little")


def test_buffer_is_its_address(store: Store, device: Device, stream: Stream) -> None:
    with device.allocate(64, stream=stream) as buffer:
        assert store("pointer", buffer) == buffer.handle.to_bytes(8, "little")


def test_managed_and_pinned_buffers_are_pointers(store: Store, pinned: Any) -> None:
    buffer = pinned(64)
    assert store("pointer", buffer) == buffer.handle.to_bytes(8, "little")


#: parameter → values of a wrong type, with the type name that a message must contain
REFUSED: dict[str, tuple[tuple[Any, str], ...]] = {
    "int": ((1.0, "float"), (True, "bool"), (None, "None"), (1j, "complex"), ("1", "str"),
            (b"1234", "bytes"), (np.int64(1), "int64"), (np.uint32(1), "uint32"),
            (np.float32(1), "float32"), (np.int16(1), "int16"), (ctypes.c_int64(1), "c_long"),
            (ctypes.c_float(1), "c_float"), (object(), "object"), ([1], "list"),
            (np.ones(1, np.int32), "ndarray"), (Pair(), "Pair")),
    "unsigned char": ((np.int8(1), "int8"), (1.5, "float"), (np.uint16(1), "uint16")),
    "float": ((True, "bool"), (None, "None"), (1j, "complex"), ("1", "str"), (b"1234", "bytes"),
              (np.float64(1), "float64"), (np.float16(1), "float16"), (np.int32(1), "int32"),
              (ctypes.c_double(1), "c_double"), (ctypes.c_int(1), "c_int"), (object(), "object")),
    "double": ((np.float32(1), "float32"), (np.int64(1), "int64"), (1j, "complex"), ("x", "str")),
    "__half": ((np.float32(1), "float32"), (np.uint16(1), "uint16"), (True, "bool")),
    "__nv_bfloat16": ((np.float16(1), "float16"), (np.float32(1), "float32"), (None, "None")),
    "bool": ((1, "int"), (0.0, "float"), (None, "None"), (np.int8(1), "int8"), ("", "str")),
    "cuda::std::complex<float>": ((np.complex128(1), "complex128"), (True, "bool"),
                                  (None, "None"), ("1", "str")),
    "cuda::std::complex<double>": ((np.complex64(1), "complex64"), (np.float64(1), "float64")),
    "Pair": ((1, "int"), (1.0, "float"), (None, "None"), (b"1234567", "bytes"),
             (b"123456789", "bytes"), (ctypes.c_int(1), "c_int"), (bytes(16), "bytes"),
             (np.int32(1), "int32"), ("12345678", "str")),
    "pointer": ((1.0, "float"), (True, "bool"), (1j, "complex"), ("1", "str"),
                (np.float32(1), "float32"), (np.int32(1), "int32"), (object(), "object")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("type_name", "value", "given"),
    [(name, value, given) for name in REFUSED for value, given in REFUSED[name]],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_type_names_kernel_position_name_and_both_types(
    store: Store, type_name: str, value: Any, given: str
) -> None:
    with pytest.raises(TypeError) as caught:
        store(type_name, value)
    kernel = store.kernel(type_name)
    check_message(str(caught.value), kernel.name, kernel.signature[1].type, given)


@pytest.mark.parametrize("value", [-1, 2**64, 10**30])
def test_what_is_no_address_overflows(store: Store, value: int) -> None:
    with pytest.raises(OverflowError) as caught:
        store("pointer", value)
    check_message(str(caught.value), "store_pointer", "float const*", None)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**30, 10**308])
def test_large_int_goes_to_double(store: Store, value: int) -> None:
    assert store("double", value) == struct.pack("<d", float(value))


@pytest.mark.parametrize("value", [10**400, -(10**400)])
@pytest.mark.parametrize("type_name", ["float", "double", "__half"])
def test_int_too_large_for_floating_point_overflows(
    store: Store, type_name: str, value: int
) -> None:
    with pytest.raises(OverflowError, match="value"):
        store(type_name, value)


@pytest.mark.parametrize(
    "value",
    [np.ones(4, np.float32), bytearray(16), bytes(16), memoryview(bytearray(8))],
    ids=lambda value: type(value).__name__,
)
def test_host_array_for_a_pointer_is_told_where_it_lives(
    device: Device, store: Store, value: Any
) -> None:
    if isinstance(value, np.ndarray) and device.properties.pageable_memory_access:
        pytest.skip("this device reads it")
    with pytest.raises(TypeError, match="host") as caught:
        store("pointer", value)
    check_message(str(caught.value), "store_pointer", "float const*", type(value).__name__)


def test_closed_buffer_is_a_value_error(store: Store, device: Device) -> None:
    buffer = device.allocate(64)
    buffer.close()
    with pytest.raises(ValueError, match="closed") as caught:
        store("pointer", buffer)
    check_message(str(caught.value), "store_pointer", "float const*", None)


@pytest.mark.multi_gpu
def test_buffer_of_another_device_is_named(store: Store) -> None:
    with Device(1).allocate(64) as buffer, pytest.raises(TypeError, match="device 1") as caught:
        store("pointer", buffer)
    assert "device 0" in str(caught.value)
    check_message(str(caught.value), "store_pointer", "float const*", "Buffer")


def test_nothing_is_launched_after_a_refusal(
    store: Store, stream: Stream, pinned: Callable[[int], Buffer]
) -> None:
    out = pinned(4)
    with pytest.raises(TypeError):
        store.kernel("int")[1, 1, stream](out, 1.5)
    stream.sync()
    assert host_bytes(out) == bytes(4)


def test_error_in_index_goes_through(store: Store) -> None:
    class Odd:
        def __index__(self) -> int:
            raise LookupError("mine")

    with pytest.raises((LookupError, TypeError)):
        store("int", Odd())


def test_types_are_not_kept_for_ever(stream: Stream, pinned: Callable[[int], Buffer]) -> None:
    kernel = build("struct P { int a; float b; }; __global__ void k(P* p, P v) { *p = v; }")
    store, out = kernel.get_kernel("k")[1, 1, stream], pinned(8)
    types: list[weakref.ref[Any]] = []
    for _ in range(1000):
        fields = [("a", ctypes.c_int), ("b", ctypes.c_float)]
        made = type("P", (ctypes.Structure,), {"_fields_": fields})
        store(out, made(7, 2.0))
        types.append(weakref.ref(made))
    stream.sync()
    del made
    gc.collect()
    assert struct.unpack("if", host_bytes(out)) == (7, 2.0)
    assert sum(one() is not None for one in types) <= 64


class TestUnmangledKernels:
    """A C name doesn't show which parameters are pointers, so that comes from the source."""

    SOURCE = """
        extern "C" __global__ void add(const float* __restrict__ a, float* c, size_t n, double x) {
          if (threadIdx.x < n) c[threadIdx.x] = a[threadIdx.x] + x;
        }"""

    def test_pointers_are_those_of_the_source(self) -> None:
        declared = "add(float const* a, float* c, .u64 n, .f64 x)"
        for code in (cubin(self.SOURCE), ptx(self.SOURCE)):
            assert str(code.signature("add")) == declared

    def test_wrong_arguments_are_refused(self, device: Device) -> None:
        kernel = build(self.SOURCE).get_kernel("add")
        buffer, array = device.allocate(64), np.ones(16, np.float32)
        with pytest.raises(TypeError, match=r"device.to_device\(array\)"):
            kernel[1, 1](array, buffer, 16, 1.0)
        with pytest.raises(TypeError, match=r"argument 4 'x' \(\.f64\) cannot take .*Buffer"):
            kernel[1, 1](buffer, buffer, 16, buffer)

    def test_scalars_of_either_sign_are_taken(self, device: Device) -> None:
        kernel = build(self.SOURCE).get_kernel("add")
        buffer = device.to_device(np.ones(16, np.float32))
        for count in (16, np.int64(16), np.uint64(16)):
            kernel[1, 16](buffer, buffer, count, 1.0)
        assert buffer.to_host("f4").tolist() == [4.0] * 16

    def test_where_only_bytes_are_known_both_cures_are_named(self, device: Device) -> None:
        text = "typedef unsigned long long Word; " + self.SOURCE.replace("size_t", "Word")
        kernel = build(text).get_kernel("add")
        array = np.ones(16, np.float32)
        with pytest.raises(TypeError, match=r"device.to_device\(array\), for a number, array.item"):
            kernel[1, 1](device.allocate(64), None, array, 1.0)

    @pytest.mark.parametrize(
        ("before", "parameter", "printed"),
        [
            ("", "unsigned n", ".u32 n"),
            ("using int32_t = unsigned;", "int32_t n", ".u32 n"),
            ("", "char const* const* n", "char const* const* n"),
            ("struct Node;", "Node* n", "Node* n"),
            ("struct Node;", "struct Node const& n", "Node const& n"),
            ("", "int (*n)(int)", "int (*n)(int)"),
            ("", "float n[]", "float* n"),
            ("typedef int Number;", "Number n", ".u32 n"),
            ("using uint = int;", "uint n", ".u32 n"),
            ("enum Color { red };", "Color n", ".u32 n"),
            ("#define T unsigned", "T n", ".u32 n"),
            ("#define int unsigned", "int n", ".u32 n"),
            ("#define P *", "int P n", ".u64 n"),
            ("template <class T> struct W { using type = T; };", "W<int>::type n", ".u32 n"),
        ],
    )
    def test_only_what_is_certain_is_taken(self, before: str, parameter: str, printed: str) -> None:
        source = f'{before}\nextern "C" __global__ void k({parameter}) {{}}'
        assert str(ptx(source).signature("k")).replace(".ptr ", "") == f"k({printed})"

    @pytest.mark.parametrize(
        "other",
        [
            "namespace detail { template <class T> __global__ void k(float* n) {} }",
            "namespace detail { __global__ void k(float* n) {} }",
            "namespace detail { static __global__ void k(float* n) {} }",
        ],
    )
    def test_another_kernel_of_the_name_gives_no_types(self, other: str) -> None:
        real = '#define KERNEL extern "C" __global__ void\nKERNEL k(unsigned long n) {}'
        assert str(ptx(f"{other}\n{real}").signature("k")) == "k(.u64 n)"

    def test_block_of_c_names(self) -> None:
        source = 'extern "C" { struct S; __global__ void k(float* n, S* s) {} }'
        assert str(ptx(source).signature("k")).replace(".ptr ", "") == "k(float* n, S* s)"

    def test_a_definition_that_may_be_left_out_gives_no_types(self) -> None:
        source = """
            #define KERNEL(type) extern "C" __global__ void k(type n) {}
            #ifdef NEVER
            extern "C" __global__ void k(int* n) {}
            #else
            KERNEL(unsigned long)
            #endif"""
        assert str(ptx(source).signature("k")) == "k(.u64 n)"
