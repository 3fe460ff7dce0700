# SPDX-License-Identifier: Apache-2.0
"""libdevice's math functions, the intrinsics of CUDA C++, and its small floats: one kernel each."""

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from . import math_functions as known
from .program_runs import Module, Reference, Run, module

_TYPES = {
    "f32": "float", "f64": "double", "s32": "int", "u32": "unsigned", "s64": "long long",
    "u64": "unsigned long long", "s16": "short", "u16": "unsigned short", "u8": "unsigned char",
    "f16": "__half", "bf16": "__nv_bfloat16", "f16x2": "__half2", "bf16x2": "__nv_bfloat162",
    "s8": "signed char", "selector": "unsigned", "shift": "unsigned", "lane": "unsigned",
    "nth": "int",
}  # fmt: skip
_EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}
_LEAST = {"f32": 2.0**-149, "f64": 5e-324, "f16": 2.0**-24, "bf16": 2.0**-133}
_COUNT = 768
_MODES = ("rn", "rz", "ru", "rd")


@dataclass(frozen=True)
class Call:
    """A function, with the kinds of its result and of its arguments."""

    name: str
    result: str
    arguments: tuple[str, ...]
    ulps: float = 0
    absolute: float = 0
    extra: tuple[tuple[str, ...], ...] = ()  # Other arguments to try it with.

    @property
    def kernel(self) -> str:
        codes = "_".join(argument.rpartition(".")[2] for argument in self.arguments)
        return f"call_{self.name}_{codes}"

    def text(self) -> str:
        kinds = [_TYPES[argument.rpartition(".")[2]] for argument in self.arguments]
        parameters = ", ".join(f"const {kind}* a{i}" for i, kind in enumerate(kinds))
        values = ", ".join(f"a{i}[i]" for i in range(len(kinds)))
        return (
            f"__global__ void {self.kernel}({parameters}, {_TYPES[self.result]}* out) {{\n"
            f"  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"  out[i] = {self.name}({values});\n}}\n"
        )

    def runs(self) -> Iterator[Run]:
        reference = _reference(self) if self.ulps else None
        for arguments in (self.arguments, *self.extra):
            yield Run(
                self.kernel,
                tuple(f"{argument}*{_COUNT}" for argument in arguments),
                (f"{self.result}*{_COUNT}{self._bound()}",),
                grid=_COUNT // 128,
                reference=reference,
                ulps=self.ulps,
            )

    def _bound(self) -> str:
        base = self.result.removesuffix("x2")
        if base not in _EPSILON:
            return ""
        if not self.ulps:
            return "~nan"
        relative = self.ulps * _EPSILON[base]
        return f"~{relative:g}~{max(self.absolute, self.ulps * _LEAST[base]):g}"


def _reference(call: Call) -> Reference | None:
    """Return the results that Python computes, in double precision; NaN if it can't."""
    name = call.name if call.result == "f64" else call.name.removesuffix("f")
    function = known.reference(name)
    if function is None or call.result not in ("f32", "f64"):
        return None
    if call.result == "f64" and name in ("cbrt", "rcbrt", "normcdf"):
        return None  # Python's are less accurate.
    code = "<" + ("f" if call.result == "f32" else "d")

    def compute(*arguments: float) -> float:
        try:
            return float(function(*arguments))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    def reference(inputs: list[bytes]) -> list[bytes | None]:
        columns = [[x for (x,) in struct.iter_unpack(code, data)] for data in inputs]
        results = [compute(*row) for row in zip(*columns, strict=True)]
        return [struct.pack(f"<{len(results)}d", *results)]

    return reference


def _parse(text: str, **names: str) -> Iterator[Call]:
    """Parse lines of ``result name(arguments) ulps absolute``."""
    for line in text.strip().splitlines():
        for mode in _MODES if re.search(r"_R\b", line) else ("",):
            changed = re.sub(r"_R\b", f"_{mode}", line)
            for name, value in names.items():
                changed = re.sub(rf"\b{name}\b", value, changed)
            head, _, rest = changed.partition("(")
            arguments, _, bounds = rest.partition(")")
            ulps, _, absolute = bounds.strip().partition(" ")
            result, name = head.split()
            yield Call(
                name, result, tuple(a.strip() for a in arguments.split(",")), float(ulps or 0),
                2.0 ** float(absolute.removeprefix("2^")) if absolute else 0,
            )  # fmt: skip


def _functions(kind: str, *, fast: bool = False) -> Iterator[Call]:
    """Yield all functions with `kind`; fast ones only with tame arguments."""
    suffix = "f" if kind == "f32" else ""
    for arity, table in enumerate((known.UNARY, known.BINARY, known.TERNARY), 1):
        for name, (inputs, single, double) in table.items():
            ulps = single if kind == "f32" else double
            absolute = known.ABSOLUTE.get(name, (0, 0))[kind == "f64"]
            tame = (f"{inputs}.{kind}",) * arity
            if fast:
                # For approximate functions, only the absolute error is bounded near zero.
                yield Call(name + suffix, kind, _gentle(name, arity, kind), max(ulps, 400), 2e-6)
            else:
                yield Call(name + suffix, kind, (kind,) * arity, ulps, absolute, (tame,))


def _gentle(name: str, arity: int, kind: str) -> tuple[str, ...]:
    table = {1: known.UNARY, 2: known.BINARY, 3: known.TERNARY}[arity]
    inputs = table[name][0]
    if name in ("sin", "cos"):
        inputs = "tame"
    if name == "tan":
        inputs = "unit"
    if name == "pow":
        return (f"positive.{kind}", f"unit.{kind}")
    return (f"{inputs}.{kind}",) * arity


_PAIRS = """
__global__ void call_sincos_@(const T* a, T* out, T* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sincos(a[i], out + i, more + i);
}
__global__ void call_sincospi_@(const T* a, T* out, T* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sincospi(a[i], out + i, more + i);
}
__global__ void call_frexp_@(const T* a, T* out, int* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  more[i] = 0;
  out[i] = frexp(a[i], more + i);
  if (!isfinite(a[i])) more[i] = 0;
}
__global__ void call_modf_@(const T* a, T* out, T* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = modf(a[i], more + i);
}
__global__ void call_remquo_@(const T* a, const T* b, T* out, int* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = remquo(a[i], b[i], more + i);
  more[i] = isfinite(a[i]) && b[i] != 0 ? more[i] & 7 : 0;
}
"""

_OPERATORS = """
__global__ void operators_@(const T* a, const T* b, T* sum, T* difference, T* quotient, T* least,
                            T* whole) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
  difference[i] = a[i] * b[i] - a[i];
  quotient[i] = a[i] / b[i];
  least[i] = a[i] < b[i] ? a[i] : -b[i];
  whole[i] = static_cast<T>(static_cast<int>(a[i])) + static_cast<T>(a[i] == b[i]);
}
"""


def _pairs(kind: str, *, fast: bool = False) -> Iterator[Run]:
    ulps = 400 if fast else 2
    bound = f"~{ulps * _EPSILON[kind]:g}~{2e-6 if fast else ulps * _LEAST[kind]:g}"
    exact = bound if fast else "~nan"
    source = f"tame.{kind}" if fast else kind
    grid = _COUNT // 128
    one = (f"{source}*{_COUNT}",)
    two = (*one, f"{'positive.' + kind if fast else kind}*{_COUNT}")
    f = f"{kind}*{_COUNT}"
    s = f"s32*{_COUNT}"
    for name in ("sincos", "sincospi"):
        yield Run(f"call_{name}_{kind}", one, (f + bound, f + bound), grid=grid)
    yield Run(f"call_frexp_{kind}", one, (f + exact, s), grid=grid)
    yield Run(f"call_modf_{kind}", one, (f + exact, f + exact), grid=grid)
    yield Run(f"call_remquo_{kind}", two, (f + exact, s), grid=grid)


def _others(kind: str, *, fast: bool = False) -> Iterator[Call]:
    for call in _parse(known.OTHERS, F=kind):
        arguments = tuple(a.replace("small.s32", "s16").replace("order.s32", "few.s32")
                          for a in call.arguments)  # fmt: skip
        name = call.name
        if kind == "f32" and not name.startswith(("is", "sign")):
            name += "f"
        if name.rstrip("f") in ("jn", "yn"):
            arguments = ("few.s32", f"positive.{kind}")
            yield Call(name, call.result, arguments, 400, 2e-5 if kind == "f32" else 1e-11)
        elif "norm4d" in name:
            yield Call(name, call.result, arguments, 400 if fast else 3, 2e-6 if fast else 0)
        elif fast:
            if call.result == kind:
                arguments = (f"tame.{kind}", *arguments[1:])
            yield Call(name, call.result, (f"tame.{kind}", *arguments[1:]))
        else:
            yield Call(name, call.result, arguments)


def _typed(text: str, kind: str) -> str:
    return re.sub(r"\bT\b", _TYPES[kind], text.replace("@", kind))


def _operators(name: str, *, fast: bool = False) -> Module:
    """Arithmetic with operators; NVRTC prevents ptxas from fusing a mul with a sub here."""
    runs: list[Run] = []
    kinds = ("f32",) if fast else ("f32", "f64")
    for kind in kinds:
        arrays = [f"{kind}*{_COUNT}~nan"] * 5
        if fast:
            arrays[2] = f"f32*{_COUNT}~{2.0**-22:g}~{2.0**-126:g}"  # It is div.full.
        tame = (f"tame.{kind}*{_COUNT}", f"positive.{kind}*{_COUNT}")
        runs += [
            Run(f"operators_{kind}", inputs, tuple(arrays), grid=_COUNT // 128)
            for inputs in ((tame,) if fast else ((f"{kind}*{_COUNT}",) * 2, tame))
        ]
    text = "".join(_typed(_OPERATORS, kind) for kind in kinds)
    options: tuple[tuple[str, object], ...] = (("fma", False),)
    if fast:
        options += (("ftz", True), ("prec_div", False), ("prec_sqrt", False))
    return _module(
        name, [], runs, text, options=options,
        subject=f"operators{', with --ftz=true and --prec-div=false' if fast else ''}",
    )  # fmt: skip


def _math(name: str, kind: str, *, fast: bool = False, arch: str = "sm_90") -> Module:
    calls = [*_functions(kind, fast=fast), *_others(kind, fast=fast)]
    return _module(
        name, calls, list(_pairs(kind, fast=fast)), _typed(_PAIRS, kind), arch=arch,
        options=(("use_fast_math", True),) if fast else (),
        subject=f"{'single' if kind == 'f32' else 'double'} precision math functions"
        f"{' with --use_fast_math' if fast else ''}{', for sm_75' if arch == 'sm_75' else ''}",
    )  # fmt: skip


def _module(
    name: str, calls: list[Call], runs: list[Run], text: str = "", headers: tuple[str, ...] = (),
    **more: object,
) -> Module:  # fmt: skip
    includes = "".join(f"#include <{header}>\n" for header in headers)
    source = includes + text + "".join(dict.fromkeys(call.text() for call in calls))
    all_runs = [*(run for call in calls for run in call.runs()), *runs]
    return module(name, all_runs, text=source, **more)


def _rounded() -> Iterator[Call]:
    for kind, letter in (("f32", "f"), ("f64", "d")):
        yield from _parse(known.ROUNDED.replace("X", letter), F=kind)
        name = "__fmaf_R" if kind == "f32" else "__fma_R"
        yield from _parse(f"F {name}(F, F, F)", F=kind)


def _casts() -> Iterator[Call]:
    for name, source, result in known.CASTS:
        yield from _parse(f"{result} {name}({source})")
    yield from _parse(known.PLAIN_CASTS)


def _video() -> Iterator[Call]:
    for size in "24":
        for name in known.VIDEO_UNARY:
            yield Call(name.replace("#", size), "u32", ("u32",))
        for name in known.VIDEO:
            yield Call(name.replace("#", size), "u32", ("u32", "u32"))


def _halves(kind: str) -> Iterator[Call]:
    name = "half" if kind == "f16" else "bfloat16"
    text = re.sub(r"\bH2\b", f"{kind}x2", known.HALVES)
    text = re.sub(r"\bH\b", kind, text)
    text = (
        text.replace("__lowhigh2highlow", "\0")
        .replace("L", name)
        .replace("\0", "__lowhigh2highlow")
    )
    yield from _parse(text)


_SMALL = """
#define CONVERT(name, kind)                                                                  \\
  __global__ void to_##name(const float* in, const double* wide, const __half* half,        \\
                            unsigned char* out) {                                            \\
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \\
    const int count = gridDim.x * blockDim.x;                                                \\
    out[i] = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, kind);                             \\
    out[count + i] = __nv_cvt_float_to_fp8(in[i], __NV_NOSAT, kind);                         \\
    out[2 * count + i] = __nv_cvt_double_to_fp8(wide[i], __NV_SATFINITE, kind);              \\
    out[3 * count + i] = __nv_cvt_halfraw_to_fp8(half[i], __NV_SATFINITE, kind);             \\
    const unsigned pair = __nv_cvt_float2_to_fp8x2({in[i], -in[i]}, __NV_SATFINITE, kind);   \\
    out[4 * count + i] = pair >> 8;                                                          \\
  }                                                                                          \\
  __global__ void from_##name(const unsigned char* in, __half* out) {                        \\
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \\
    out[i] = __nv_cvt_fp8_to_halfraw(in[i], kind);                                           \\
  }
CONVERT(e4m3, __NV_E4M3)
CONVERT(e5m2, __NV_E5M2)

__global__ void classes(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = gridDim.x * blockDim.x;
  out[i] = static_cast<float>(__nv_fp8_e4m3(in[i]));
  out[count + i] = static_cast<float>(__nv_fp8_e5m2(in[i]));
  const float4 four = static_cast<float4>(__nv_fp8x4_e4m3(float4{in[i], -in[i], 1.5f, in[i]}));
  out[2 * count + i] = four.x - four.y + four.z * four.w;
  out[3 * count + i] = static_cast<float>(__nv_bfloat16(in[i]) * __nv_bfloat16(3.0f));
  out[4 * count + i] = static_cast<float>(__half(in[i]) / __half(7.0f));
}
"""


def _small_runs() -> Iterator[Run]:
    grid = _COUNT // 128
    for name in ("e4m3", "e5m2"):
        yield Run(
            f"to_{name}", (f"f32*{_COUNT}", f"f64*{_COUNT}", f"f16*{_COUNT}"),
            (f"u8*{5 * _COUNT}",), grid=grid,
        )  # fmt: skip
        yield Run(f"from_{name}", (f"random.u8*{_COUNT}",), (f"f16*{_COUNT}~nan",), grid=grid)
    bound = f"~{2.0**-9}~{2.0**-24}"
    yield Run("classes", (f"f32*{_COUNT}",), (f"f32*{5 * _COUNT}{bound}",), grid=grid)


def modules() -> Iterator[Module]:
    yield _math("math_single", "f32")
    yield _math("math_double", "f64")
    yield _math("math_single_fast", "f32", fast=True)
    yield _math("math_double_fast", "f64", fast=True)
    yield _math("math_single_sm_75", "f32", arch="sm_75")
    yield _operators("operators")
    yield _operators("operators_fast", fast=True)
    yield _module(
        "rounded", [*_rounded(), *_parse(known.FLOAT_INTRINSICS)], [],
        subject="intrinsics in each rounding mode; fast intrinsics",
    )  # fmt: skip
    yield _module("casts", list(_casts()), [], subject="type casting intrinsics")
    yield _module("integers", list(_parse(known.INTEGERS)), [], subject="integer intrinsics")
    yield _module("video", list(_video()), [], subject="SIMD video intrinsics")
    yield _module("half", list(_halves("f16")), [], headers=("cuda_fp16.h",), subject="cuda_fp16.h")
    yield _module(
        "bfloat16", list(_halves("bf16")), [], headers=("cuda_bf16.h",), subject="cuda_bf16.h"
    )
    yield _module(
        "half_sm_75", list(_halves("f16")), [], headers=("cuda_fp16.h",), arch="sm_75",
        subject="cuda_fp16.h, for sm_75",
    )  # fmt: skip
    yield _module(
        "fp8", [], list(_small_runs()), _SMALL, ("cuda_fp8.h", "cuda_fp16.h", "cuda_bf16.h"),
        subject="cuda_fp8.h",
    )  # fmt: skip
