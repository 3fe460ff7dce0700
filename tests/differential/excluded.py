# SPDX-License-Identifier: Apache-2.0
"""Forms that the corpus does not run on a GPU, and why."""

import re

NEWER = "needs sm_100 or newer"
NARROW = "a 32-bit address of global memory: a GPU's buffers lie above 4 GiB"
INTERNAL = "no instruction of PTX: the decoder makes it of others, which are covered"
WIDE = "32-bit generic addresses: gone since sm_90"
OLDER = "taken by no GPU since sm_70"
LENIENT = "ptxas 13.0 knows no such form: the simulated device takes more"

_RULES: tuple[tuple[str, str, str], ...] = (
    # Made only by the decoder.
    (r"(ld|st)\.frame\b", "", INTERNAL),
    (r"resize\.", "", INTERNAL),
    (r"special\.(local|dynamic_shared|%local|%dynamic_shared|%param_base)$", "", INTERNAL),
    # Only on newer GPUs, or in newer PTX than the driver's.
    (r"(add|sub|mul|fma)\..*f32x2$", "", NEWER),
    (r"(add|sub|fma)\..*f32\.b?f16$", "", NEWER),
    (r"(min|max)\..*f32$", "^wwww$", NEWER),
    (r"(add|sub|min|max|neg)\..*[us]8x4", "", NEWER),
    (r"(add\.sat\.[us]16x2|(add|sub)\.sat\.u32|clmad\.)", "", NEWER),
    (r"cvt\..*(ue5m3|e2m1|e2m3|e3m2|ue8m0|\.[us]2\.)", "", NEWER),
    (r"cvt\.rs\.", "", NEWER),
    (r"cvt\..*bf16x2\.e[45]m", "", NEWER),
    (r"cvt\..*e[45]m[23]x2\.bf16x2", "", NEWER),
    (r"cvt\..*satfinite.*\.tf32\.f32", "", NEWER),
    (r"(ld|st)\..*(v8|v4\.[busf]64)", "", NEWER),
    (r"ld\.param\..*(v8|v4\.[busf]64)", "", NEWER),
    (r"(shfl|vote)\.(?!sync)", "", OLDER),
    (r"redux\.sync\..*f32", "", NEWER),
    (r"mma\.sp.*\.f16\.e[45]m[23]\.", "", NEWER),
    # Not in PTX.
    (r"ldu\..*(v8|v4\.[busf]64)", "", LENIENT),
    (r"red\.(.*\.)?(acq_rel|acquire)\b", "", LENIENT),
    (r"(atom|red)\.(.*\.)?add(\..*)?\.s64$", "", LENIENT),
    (r"(ld|st)\.(volatile|relaxed|acquire|release|mmio\.relaxed)\.local\b", "", LENIENT),
    (r"(ld|st)\.mmio\.relaxed\.(shared|local)", "", LENIENT),
    (r"(ld|st)\.mmio\.relaxed(\.global)?\.v", "", LENIENT),
    (r"(atom|red|cp\.reduce)\..*\badd\.s64$", "", LENIENT),
    (r"red\.async\.shared", "", LENIENT),
    (r"mbarrier\..*noComplete\.relaxed", "", LENIENT),
    (r"mbarrier\..*noComplete.*shared::cluster", "", LENIENT),
    (r"mbarrier\.(init|inval|test_wait|try_wait).*shared::cluster", "", LENIENT),
    (r"prefetch(\.global|\.local)?$", "", LENIENT),
    (r"membar\.proxy\.async", "", LENIENT),
    (r"cvta\..*\.u32$|isspacep\.", "w$", WIDE),
    (r"(mapa|getctarank|alloca|stacksave|stackrestore)\.u32$", "", WIDE),
    (r"setmaxnreg\.", "", "needs sm_90a, and changes no result"),
    (r"fence\.proxy\.tensormap|(cp|prefetch)\..*tensor", "", "the tests of tensor maps cover it"),
    (r"(tex|tld4|txq|suld|sust|suq)\.", "", "needs a texture or surface: their tests cover it"),
    (r"call\.cudaGraph", "", "needs a graph to run in: the tests of graphs cover it"),
    (r"set\..*\.ftz\.bf16\.", "", LENIENT),
    (r"set\..*\.[us]16\.f(32|64)$", "", LENIENT),
    (r"set\..*\.(f16\.bf16|f32\.b?f16)$", "", LENIENT),
)
#: If the key contains one of these, a form's address may have 32 bits.
_WINDOWS = re.compile(r"shared|local|const|param")
_COMPILED = tuple((re.compile(key), re.compile(sig), why) for key, sig, why in _RULES)


def why_excluded(key: str, signature: str) -> str:
    """Return the reason, or "" for a form that the corpus runs."""
    for key_rule, signature_rule, reason in _COMPILED:
        if key_rule.match(key) and signature_rule.search(signature):
            return reason
    if "n" in signature and not _WINDOWS.search(key):
        return NARROW
    return ""
