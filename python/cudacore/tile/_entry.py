# SPDX-License-Identifier: Apache-2.0
"""What a kernel is called on the device: mostly what its function is called."""

import re

#: Functions of CUDA C++ with a twin for floats, whose name ends with an f.
_TWINS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0
    cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma
    fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2
    logb lrint lround modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow
    rcbrt remainder remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt scalbln scalbn sin
    sincos sincospi sinh sinpi sqrt tan tanh tgamma trunc y0 y1 yn
"""
#: Other functions, keywords, types, variables and macros of CUDA C++.
_OTHERS = """
    INFINITY NAN NULL abort abs alignas alignof alloca and_eq asm auto bf16 bitand bitor
    blockDim blockIdx bool case catch char char16_t char32_t char8_t clock clock64 co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit decltype
    default delete dim3 do double dynamic_cast enum exit explicit export extern f16 f32 f64
    false float free friend goto gridDim i1 i16 i32 i64 i8 inline int isfinite isinf isnan labs
    linux llabs llmax llmin long main malloc max memcmp memcpy memmove memset min module mutable
    namespace new noexcept not_eq nullptr nullptr_t operator or_eq printf private protected
    ptrdiff_t public register reinterpret_cast requires short signbit signed size_t sizeof
    static static_assert static_cast std strlen struct switch template tf32 this threadIdx
    thread_local throw trap true typedef typeid typename typeof u16 u32 u64 u8 ullmax ullmin
    umax umin union unix unsigned using va_arg va_copy va_end va_list va_start virtual void
    volatile vprintf warpSize wchar_t xor xor_eq
"""
_TAKEN = {*_TWINS.split(), *(f"{name}f" for name in _TWINS.split()), *_OTHERS.split()}


def is_taken(name: str) -> bool:
    """Whether CUDA C++ has something else by a name, or allows no such name."""
    return name in _TAKEN or not re.fullmatch(
        r"(?!__|_Pragma\Z|cuda|TILE_|_\Z)[A-Za-z_]\w*", name, re.ASCII
    )


def plain_name(name: str) -> str:
    """Write the letters of a name as numbers that names on the device lack."""
    return "".join(letter if letter.isascii() else f"u{ord(letter):x}" for letter in name)


def entry_name(name: str) -> str:
    """Return the name on the device of the kernel that a function is.

    Letters that CUDA C++ lacks in names are written as their numbers, and names that it uses
    itself get a suffix.

    Parameters
    ----------
    name : str
        The name of the function.

    Examples
    --------
    >>> entry_name("softmax"), entry_name("exp")
    ('softmax', 'exp_kernel')
    """
    plain = plain_name(name)
    return f"{plain}_kernel" if is_taken(plain) else plain
