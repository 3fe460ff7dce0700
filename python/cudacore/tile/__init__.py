# SPDX-License-Identifier: Apache-2.0
"""Kernels on tiles, written in Python.

The language is that of ``cuda.tile``: a kernel says what each block of the grid computes with
tiles, which it loads from arrays and stores into them.

Examples
--------
In a file, as the source of a kernel is read from there::

    import cudacore.tile as ct


    @ct.kernel
    def add(x, y, z, size: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(z, i, ct.load(x, i, shape=size) + ct.load(y, i, shape=size))


    ct.launch(stream, (ct.cdiv(1000, 128),), add, (x, y, z, 128))
"""

from __future__ import annotations

from cudacore import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._by_target import ByTarget as ByTarget
    from cudacore.tile._compiler_timeout import compiler_timeout as compiler_timeout
    from cudacore.tile._device_function import device_function as device_function
    from cudacore.tile._dtype import DType as DType
    from cudacore.tile._dtype import bfloat16 as bfloat16
    from cudacore.tile._dtype import bool_ as bool_
    from cudacore.tile._dtype import float4_e2m1fn as float4_e2m1fn
    from cudacore.tile._dtype import float8_e4m3fn as float8_e4m3fn
    from cudacore.tile._dtype import float8_e5m2 as float8_e5m2
    from cudacore.tile._dtype import float8_e5m3fnu as float8_e5m3fnu
    from cudacore.tile._dtype import float8_e8m0fnu as float8_e8m0fnu
    from cudacore.tile._dtype import float16 as float16
    from cudacore.tile._dtype import float32 as float32
    from cudacore.tile._dtype import float64 as float64
    from cudacore.tile._dtype import int8 as int8
    from cudacore.tile._dtype import int16 as int16
    from cudacore.tile._dtype import int32 as int32
    from cudacore.tile._dtype import int64 as int64
    from cudacore.tile._dtype import tfloat32 as tfloat32
    from cudacore.tile._dtype import uint8 as uint8
    from cudacore.tile._dtype import uint16 as uint16
    from cudacore.tile._dtype import uint32 as uint32
    from cudacore.tile._dtype import uint64 as uint64
    from cudacore.tile._exception import TileCompilerExecutionError as TileCompilerExecutionError
    from cudacore.tile._exception import TileCompilerTimeoutError as TileCompilerTimeoutError
    from cudacore.tile._exception import TileError as TileError
    from cudacore.tile._exception import TileInternalError as TileInternalError
    from cudacore.tile._exception import TileRecursionError as TileRecursionError
    from cudacore.tile._exception import TileStaticAssertionError as TileStaticAssertionError
    from cudacore.tile._exception import TileStaticEvalError as TileStaticEvalError
    from cudacore.tile._exception import TileSyntaxError as TileSyntaxError
    from cudacore.tile._exception import TileTypeError as TileTypeError
    from cudacore.tile._exception import TileUnsupportedFeatureError as TileUnsupportedFeatureError
    from cudacore.tile._exception import TileValueError as TileValueError
    from cudacore.tile._function import function as function
    from cudacore.tile._kernel import kernel as kernel
    from cudacore.tile._language_annotation import ArrayAnnotation as ArrayAnnotation
    from cudacore.tile._language_annotation import Constant as Constant
    from cudacore.tile._language_annotation import ConstantAnnotation as ConstantAnnotation
    from cudacore.tile._language_annotation import IndexedWithInt64 as IndexedWithInt64
    from cudacore.tile._language_annotation import ListAnnotation as ListAnnotation
    from cudacore.tile._language_annotation import ScalarAnnotation as ScalarAnnotation
    from cudacore.tile._language_annotation import ScalarInt64 as ScalarInt64
    from cudacore.tile._language_arithmetic import add as add
    from cudacore.tile._language_arithmetic import atan2 as atan2
    from cudacore.tile._language_arithmetic import cdiv as cdiv
    from cudacore.tile._language_arithmetic import divmod as divmod
    from cudacore.tile._language_arithmetic import floordiv as floordiv
    from cudacore.tile._language_arithmetic import mod as mod
    from cudacore.tile._language_arithmetic import mul as mul
    from cudacore.tile._language_arithmetic import pow as pow
    from cudacore.tile._language_arithmetic import sub as sub
    from cudacore.tile._language_arithmetic import truediv as truediv
    from cudacore.tile._language_array import Array as Array
    from cudacore.tile._language_array import Slice as Slice
    from cudacore.tile._language_atomic import atomic_add as atomic_add
    from cudacore.tile._language_atomic import atomic_and as atomic_and
    from cudacore.tile._language_atomic import atomic_cas as atomic_cas
    from cudacore.tile._language_atomic import atomic_max as atomic_max
    from cudacore.tile._language_atomic import atomic_min as atomic_min
    from cudacore.tile._language_atomic import atomic_or as atomic_or
    from cudacore.tile._language_atomic import atomic_xchg as atomic_xchg
    from cudacore.tile._language_atomic import atomic_xor as atomic_xor
    from cudacore.tile._language_compare import bitwise_and as bitwise_and
    from cudacore.tile._language_compare import bitwise_lshift as bitwise_lshift
    from cudacore.tile._language_compare import bitwise_not as bitwise_not
    from cudacore.tile._language_compare import bitwise_or as bitwise_or
    from cudacore.tile._language_compare import bitwise_rshift as bitwise_rshift
    from cudacore.tile._language_compare import bitwise_xor as bitwise_xor
    from cudacore.tile._language_compare import equal as equal
    from cudacore.tile._language_compare import greater as greater
    from cudacore.tile._language_compare import greater_equal as greater_equal
    from cudacore.tile._language_compare import less as less
    from cudacore.tile._language_compare import less_equal as less_equal
    from cudacore.tile._language_compare import maximum as maximum
    from cudacore.tile._language_compare import minimum as minimum
    from cudacore.tile._language_compare import not_equal as not_equal
    from cudacore.tile._language_control import assert_ as assert_
    from cudacore.tile._language_control import (
        grid_dependency_control_launch_dependents as grid_dependency_control_launch_dependents,
    )
    from cudacore.tile._language_control import (
        grid_dependency_control_wait as grid_dependency_control_wait,
    )
    from cudacore.tile._language_control import print as print
    from cudacore.tile._language_control import printf as printf
    from cudacore.tile._language_math import abs as abs
    from cudacore.tile._language_math import ceil as ceil
    from cudacore.tile._language_math import cos as cos
    from cudacore.tile._language_math import cosh as cosh
    from cudacore.tile._language_math import exp as exp
    from cudacore.tile._language_math import exp2 as exp2
    from cudacore.tile._language_math import floor as floor
    from cudacore.tile._language_math import isnan as isnan
    from cudacore.tile._language_math import log as log
    from cudacore.tile._language_math import log2 as log2
    from cudacore.tile._language_math import negative as negative
    from cudacore.tile._language_math import rsqrt as rsqrt
    from cudacore.tile._language_math import sin as sin
    from cudacore.tile._language_math import sinh as sinh
    from cudacore.tile._language_math import sqrt as sqrt
    from cudacore.tile._language_math import tan as tan
    from cudacore.tile._language_math import tanh as tanh
    from cudacore.tile._language_memory import assume_divisible_by as assume_divisible_by
    from cudacore.tile._language_memory import bid as bid
    from cudacore.tile._language_memory import gather as gather
    from cudacore.tile._language_memory import load as load
    from cudacore.tile._language_memory import load_advanced_indexing as load_advanced_indexing
    from cudacore.tile._language_memory import num_blocks as num_blocks
    from cudacore.tile._language_memory import num_tiles as num_tiles
    from cudacore.tile._language_memory import scatter as scatter
    from cudacore.tile._language_memory import store as store
    from cudacore.tile._language_memory import store_advanced_indexing as store_advanced_indexing
    from cudacore.tile._language_new import arange as arange
    from cudacore.tile._language_new import astile as astile
    from cudacore.tile._language_new import full as full
    from cudacore.tile._language_new import ones as ones
    from cudacore.tile._language_new import zeros as zeros
    from cudacore.tile._language_product import matmul as matmul
    from cudacore.tile._language_product import mma as mma
    from cudacore.tile._language_product import mma_scaled as mma_scaled
    from cudacore.tile._language_raw import RawArrayMemory as RawArrayMemory
    from cudacore.tile._language_reduce import argmax as argmax
    from cudacore.tile._language_reduce import argmin as argmin
    from cudacore.tile._language_reduce import cumprod as cumprod
    from cudacore.tile._language_reduce import cumsum as cumsum
    from cudacore.tile._language_reduce import max as max
    from cudacore.tile._language_reduce import min as min
    from cudacore.tile._language_reduce import prod as prod
    from cudacore.tile._language_reduce import reduce as reduce
    from cudacore.tile._language_reduce import scan as scan
    from cudacore.tile._language_reduce import sum as sum
    from cudacore.tile._language_shape import astype as astype
    from cudacore.tile._language_shape import bitcast as bitcast
    from cudacore.tile._language_shape import broadcast_to as broadcast_to
    from cudacore.tile._language_shape import cat as cat
    from cudacore.tile._language_shape import expand_dims as expand_dims
    from cudacore.tile._language_shape import extract as extract
    from cudacore.tile._language_shape import insert as insert
    from cudacore.tile._language_shape import pack_to_bytes as pack_to_bytes
    from cudacore.tile._language_shape import permute as permute
    from cudacore.tile._language_shape import reshape as reshape
    from cudacore.tile._language_shape import transpose as transpose
    from cudacore.tile._language_shape import unpack_from_bytes as unpack_from_bytes
    from cudacore.tile._language_shape import where as where
    from cudacore.tile._language_static import ensure_constant as ensure_constant
    from cudacore.tile._language_static import static_assert as static_assert
    from cudacore.tile._language_static import static_eval as static_eval
    from cudacore.tile._language_static import static_iter as static_iter
    from cudacore.tile._language_tile import Scalar as Scalar
    from cudacore.tile._language_tile import Tile as Tile
    from cudacore.tile._language_view import TiledView as TiledView
    from cudacore.tile._launch import launch as launch
    from cudacore.tile._mode import MemoryOrder as MemoryOrder
    from cudacore.tile._mode import MemoryScope as MemoryScope
    from cudacore.tile._mode import PaddingMode as PaddingMode
    from cudacore.tile._mode import RoundingMode as RoundingMode

_MODULES = {
    "_by_target": "ByTarget",
    "_compiler_timeout": "compiler_timeout",
    "_dtype": (
        "DType bfloat16 bool_ float16 float32 float4_e2m1fn float64 float8_e4m3fn "
        "float8_e5m2 float8_e5m3fnu float8_e8m0fnu int16 int32 int64 int8 tfloat32 uint16 "
        "uint32 uint64 uint8"
    ),
    "_exception": (
        "TileCompilerExecutionError TileCompilerTimeoutError TileError TileInternalError "
        "TileRecursionError TileStaticAssertionError TileStaticEvalError TileSyntaxError "
        "TileTypeError TileUnsupportedFeatureError TileValueError"
    ),
    "_function": "function",
    "_kernel": "kernel",
    "_language_annotation": (
        "ArrayAnnotation Constant ConstantAnnotation IndexedWithInt64 ListAnnotation "
        "ScalarAnnotation ScalarInt64"
    ),
    "_language_arithmetic": "add atan2 cdiv divmod floordiv mod mul pow sub truediv",
    "_language_array": "Array Slice",
    "_language_atomic": (
        "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor"
    ),
    "_language_compare": (
        "bitwise_and bitwise_lshift bitwise_not bitwise_or bitwise_rshift bitwise_xor "
        "equal greater greater_equal less less_equal maximum minimum not_equal"
    ),
    "_language_control": (
        "assert_ grid_dependency_control_launch_dependents grid_dependency_control_wait "
        "print printf"
    ),
    "_language_math": (
        "abs ceil cos cosh exp exp2 floor isnan log log2 negative rsqrt sin sinh sqrt tan tanh"
    ),
    "_language_memory": (
        "assume_divisible_by bid gather load load_advanced_indexing num_blocks num_tiles "
        "scatter store store_advanced_indexing"
    ),
    "_language_new": "arange astile full ones zeros",
    "_language_product": "matmul mma mma_scaled",
    "_language_raw": "RawArrayMemory",
    "_language_reduce": "argmax argmin cumprod cumsum max min prod reduce scan sum",
    "_language_shape": (
        "astype bitcast broadcast_to cat expand_dims extract insert pack_to_bytes permute "
        "reshape transpose unpack_from_bytes where"
    ),
    "_language_static": "ensure_constant static_assert static_eval static_iter",
    "_language_tile": "Scalar Tile",
    "_language_view": "TiledView",
    "_launch": "launch",
    "_mode": "MemoryOrder MemoryScope PaddingMode RoundingMode",
    "_device_function": "device_function",
    "compilation": "compilation",
    "tune": "tune",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_NAMES)  # noqa: PLE0605


def _instead(name: str) -> str:
    from cudacore.tile._advice import function_instead, name_instead  # noqa: PLC0415 - rarely needed

    return function_instead(name) or name_instead(name, __all__)


__getattr__ = _later.loader(__name__, _NAMES, _instead)


def __dir__() -> list[str]:
    return sorted(_NAMES)
