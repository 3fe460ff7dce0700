# SPDX-License-Identifier: Apache-2.0
"""CUDA's math functions: signatures, the bounds that CUDA documents, and Python's counterparts."""

import math
from collections.abc import Callable

import numpy as np

#: Functions of one float: inputs in addition to the special values, ulps as float and as double.
UNARY: dict[str, tuple[str, float, float]] = {
    "acos": ("unit", 2, 2), "acosh": ("positive", 4, 3), "asin": ("unit", 2, 2),
    "asinh": ("wide", 3, 3), "atan": ("wide", 2, 2), "atanh": ("unit", 3, 2),
    "cbrt": ("wide", 1, 1), "ceil": ("tame", 0, 0), "cos": ("wide", 2, 2), "cosh": ("tame", 2, 1),
    "cospi": ("tame", 2, 2), "cyl_bessel_i0": ("tame", 6, 6), "cyl_bessel_i1": ("tame", 6, 6),
    "erf": ("tame", 2, 2), "erfc": ("tame", 4, 5), "erfcinv": ("positive", 4, 6),
    "erfcx": ("tame", 4, 4), "erfinv": ("unit", 2, 5), "exp": ("tame", 2, 1),
    "exp10": ("tame", 2, 1), "exp2": ("tame", 2, 1), "expm1": ("tame", 1, 1),
    "fabs": ("wide", 0, 0), "floor": ("tame", 0, 0), "j0": ("positive", 9, 7),
    "j1": ("positive", 9, 7), "lgamma": ("whole", 6, 4), "log": ("positive", 1, 1),
    "log10": ("positive", 2, 1), "log1p": ("positive", 1, 1), "log2": ("positive", 1, 1),
    "logb": ("wide", 0, 0), "nearbyint": ("tame", 0, 0), "normcdf": ("tame", 5, 5),
    "normcdfinv": ("unit", 5, 8), "rcbrt": ("wide", 1, 1), "rint": ("whole", 0, 0),
    "round": ("whole", 0, 0), "rsqrt": ("positive", 2, 1), "sin": ("wide", 2, 2),
    "sinh": ("tame", 3, 2), "sinpi": ("tame", 2, 2), "sqrt": ("positive", 0, 0),
    "tan": ("wide", 4, 2), "tanh": ("tame", 2, 1), "tgamma": ("whole", 5, 10),
    "trunc": ("tame", 0, 0), "y0": ("positive", 9, 7), "y1": ("positive", 9, 7),
}  # fmt: skip
BINARY: dict[str, tuple[str, float, float]] = {
    "atan2": ("wide", 3, 2), "copysign": ("tame", 0, 0), "fdim": ("tame", 0, 0),
    "fmax": ("tame", 0, 0), "fmin": ("tame", 0, 0), "fmod": ("wide", 0, 0),
    "hypot": ("wide", 3, 2), "nextafter": ("tame", 0, 0), "pow": ("positive", 4, 2),
    "remainder": ("wide", 0, 0), "rhypot": ("wide", 2, 1),
}  # fmt: skip
TERNARY: dict[str, tuple[str, float, float]] = {
    "fma": ("tame", 0, 0),
    "norm3d": ("wide", 3, 2),
    "rnorm3d": ("wide", 2, 1),
}
#: Near their zeros, only the absolute error is bounded.
ABSOLUTE: dict[str, tuple[float, float]] = {
    "j0": (2.2e-6, 5e-12), "j1": (2.2e-6, 5e-12), "y0": (2.2e-6, 5e-12), "y1": (2.2e-6, 5e-12),
    "lgamma": (5e-6, 1e-14), "normcdfinv": (1e-6, 1e-15), "erfcinv": (1e-6, 1e-15),
}  # fmt: skip


def reference(name: str) -> Callable[..., float] | None:
    """Return Python's function for CUDA's, if there is one."""
    own: dict[str, Callable[..., float]] = {
        "exp10": lambda x: math.pow(10.0, x), "rsqrt": lambda x: 1 / math.sqrt(x),
        # CPython 3.10 has neither root nor power.
        "cbrt": lambda x: float(np.cbrt(x)), "rcbrt": lambda x: 1 / float(np.cbrt(x)),
        "exp2": lambda x: math.pow(2.0, x),
        "rhypot": lambda *x: 0.5 / math.hypot(*(y / 2 for y in x)),
        "norm3d": math.hypot, "rnorm3d": lambda *x: 0.5 / math.hypot(*(y / 2 for y in x)),
        "tgamma": math.gamma, "normcdf": lambda x: math.erfc(-x / math.sqrt(2)) / 2,
        "fmax": max, "fmin": min,
    }  # fmt: skip
    if name in own:
        return own[name]
    if name in ("ceil", "floor", "trunc", "fma"):
        return None
    return getattr(math, name, None)


#: Functions whose parameters and results don't all have the same type: F is float or double.
OTHERS = """
s32 ilogb(F)
s64 llrint(F)
s64 llround(F)
s64 lrint(F)
s64 lround(F)
s32 isfinite(F)
s32 isinf(F)
s32 isnan(F)
s32 signbit(F)
F ldexp(F, small.s32)
F scalbn(F, small.s32)
F jn(order.s32, positive.F)
F yn(order.s32, positive.F)
F norm4d(wide.F, wide.F, wide.F, wide.F)
F rnorm4d(wide.F, wide.F, wide.F, wide.F)
"""

#: With ulps and, because only the absolute error is bounded near zero, the wider of the two: what
#: CUDA documents, and for __tanf what follows for a sine divided by a cosine.
FLOAT_INTRINSICS = """
f32 __fdividef(tame.f32, positive.f32) 2
f32 __expf(tame.f32) 6
f32 __exp10f(tame.f32) 12
f32 __logf(positive.f32) 3 2^-21.41
f32 __log2f(positive.f32) 2 2^-22
f32 __log10f(positive.f32) 3 2^-24
f32 __powf(positive.f32, tame.f32) 40
f32 __sinf(tame.f32) 1 2^-21.41
f32 __cosf(tame.f32) 1 2^-21.19
f32 __tanf(unit.f32) 2 2^-19
f32 __tanhf(tame.f32) 9000
f32 __saturatef(f32)
f32 __frsqrt_rn(f32)
"""
ROUNDED = """
F __Xadd_R(F, F)
F __Xsub_R(F, F)
F __Xmul_R(F, F)
F __Xdiv_R(F, F)
F __Xsqrt_R(F)
F __Xrcp_R(F)
"""

INTEGERS = """
u32 __brev(u32)
u64 __brevll(u64)
u32 __byte_perm(u32, u32, selector)
s32 __clz(s32)
s32 __clzll(s64)
s32 __ffs(s32)
s32 __ffsll(s64)
u32 __fns(u32, lane, nth)
u32 __funnelshift_l(u32, u32, shift)
u32 __funnelshift_lc(u32, u32, shift)
u32 __funnelshift_r(u32, u32, shift)
u32 __funnelshift_rc(u32, u32, shift)
s32 __hadd(s32, s32)
s32 __mul24(s32, s32)
s64 __mul64hi(s64, s64)
s32 __mulhi(s32, s32)
s32 __popc(u32)
s32 __popcll(u64)
s32 __rhadd(s32, s32)
u32 __sad(s32, s32, u32)
u32 __uhadd(u32, u32)
u32 __umul24(u32, u32)
u64 __umul64hi(u64, u64)
u32 __umulhi(u32, u32)
u32 __urhadd(u32, u32)
u32 __usad(u32, u32, u32)
s32 __dp4a(s32, s32, s32)
u32 __dp4a(u32, u32, u32)
s32 __dp2a_lo(s32, s32, s32)
s32 __dp2a_hi(s32, s32, s32)
u32 __dp2a_lo(u32, u32, u32)
u32 __dp2a_hi(u32, u32, u32)
s32 abs(s32)
s64 llabs(s64)
s32 min(s32, s32)
u32 max(u32, u32)
s64 llmin(s64, s64)
u64 ullmax(u64, u64)
s32 __viaddmax_s32(s32, s32, s32)
s32 __viaddmax_s32_relu(s32, s32, s32)
s32 __viaddmin_s32(s32, s32, s32)
u32 __viaddmax_u32(u32, u32, u32)
u32 __viaddmin_u32(u32, u32, u32)
s32 __vimax3_s32(s32, s32, s32)
s32 __vimin3_s32_relu(s32, s32, s32)
u32 __vimax3_u32(u32, u32, u32)
s32 __vimax_s32_relu(s32, s32)
u32 __viaddmax_s16x2(u32, u32, u32)
u32 __viaddmax_s16x2_relu(u32, u32, u32)
u32 __viaddmin_u16x2(u32, u32, u32)
u32 __vimax3_s16x2(u32, u32, u32)
u32 __vimin3_s16x2_relu(u32, u32, u32)
u32 __vimax3_u16x2(u32, u32, u32)
u32 __vimax_s16x2_relu(u32, u32)
"""
#: For 2 halves and for 4 bytes.
VIDEO_UNARY = ("__vabs#", "__vabsss#", "__vneg#", "__vnegss#")
VIDEO = (
    "__vabsdiffs#", "__vabsdiffu#", "__vadd#", "__vaddss#", "__vaddus#", "__vavgs#", "__vavgu#",
    "__vhaddu#", "__vmaxs#", "__vmaxu#", "__vmins#", "__vminu#", "__vsads#", "__vsadu#",
    "__vsub#", "__vsubss#", "__vsubus#",
    *(f"__v{kind}{test}#" for kind in ("cmp", "set") for test in (
        "eq", "ges", "geu", "gts", "gtu", "les", "leu", "lts", "ltu", "ne")),
)  # fmt: skip

CASTS = (
    *((f"__float2{to}_R", "f32", code) for to, code in (
        ("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"))),
    *((f"__double2{to}_R", "f64", code) for to, code in (
        ("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"), ("float", "f32"))),
    *((f"__{of}2float_R", code, "f32") for of, code in (
        ("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"))),
    *((f"__{of}2double_R", code, "f64") for of, code in (("ll", "s64"), ("ull", "u64"))),
)  # fmt: skip
PLAIN_CASTS = """
f64 __int2double_rn(s32)
f64 __uint2double_rn(u32)
s32 __double2hiint(f64)
s32 __double2loint(f64)
f64 __hiloint2double(s32, s32)
s32 __float_as_int(f32)
u32 __float_as_uint(f32)
f32 __int_as_float(s32)
f32 __uint_as_float(u32)
s64 __double_as_longlong(f64)
f64 __longlong_as_double(s64)
"""

#: H is __half or __nv_bfloat16, H2 a pair, L "half" or "bfloat16".
HALVES = """
H __hadd(H, H)
H __hadd_rn(H, H)
H __hadd_sat(H, H)
H __hsub(H, H)
H __hmul(H, H)
H __hmul_sat(H, H)
H __hfma(H, H, H)
H __hfma_sat(H, H, H)
H __hfma_relu(H, H, H)
H __hneg(H)
H __habs(H)
H __hdiv(H, H) 1
H __hmax(H, H)
H __hmax_nan(H, H)
H __hmin(H, H)
H __hmin_nan(H, H)
H2 __hadd2(H2, H2)
H2 __hsub2(H2, H2)
H2 __hmul2(H2, H2)
H2 __hfma2(H2, H2, H2)
H2 __hfma2_sat(H2, H2, H2)
H2 __hfma2_relu(H2, H2, H2)
H2 __hadd2_sat(H2, H2)
H2 __hneg2(H2)
H2 __habs2(H2)
H2 __hmax2(H2, H2)
H2 __hmin2_nan(H2, H2)
H2 __hcmadd(H2, H2, H2)
u8 __heq(H, H)
u8 __hne(H, H)
u8 __hlt(H, H)
u8 __hgeu(H, H)
u8 __hltu(H, H)
u8 __hisnan(H)
s32 __hisinf(H)
H2 __heq2(H2, H2)
H2 __hgtu2(H2, H2)
u32 __hle2_mask(H2, H2)
u32 __hneu2_mask(H2, H2)
u8 __hbeq2(H2, H2)
u8 __hbltu2(H2, H2)
H hceil(H)
H hfloor(H)
H hrint(H)
H htrunc(H)
H hsqrt(H) 1
H hrsqrt(H) 1
H hrcp(H) 1
H hexp(H) 1
H hexp2(H) 2
H hexp10(H) 1
H hlog(H) 1
H hlog2(H) 1
H hlog10(H) 1
H hsin(tame.H) 2
H hcos(tame.H) 2
H htanh(H) 1
H htanh_approx(H) 2
H2 h2sqrt(H2) 1
H2 h2exp(H2) 1
H2 h2log2(H2) 1
H2 h2rcp(H2) 1
H2 h2floor(H2)
s32 __L2int_R(H)
u32 __L2uint_R(H)
s64 __L2ll_R(H)
u64 __L2ull_R(H)
s16 __L2short_R(H)
u16 __L2ushort_R(H)
H __int2L_R(s32)
H __uint2L_R(u32)
H __ll2L_R(s64)
H __ull2L_R(u64)
H __short2L_R(s16)
H __ushort2L_R(u16)
H __float2L_R(f32)
H __double2L(f64)
f32 __L2float(H)
H2 __floats2L2_rn(f32, f32)
H2 __lows2L2(H2, H2)
H2 __lowhigh2highlow(H2)
H2 __halves2L2(H, H)
s16 __L_as_short(H)
"""
