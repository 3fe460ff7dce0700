# SPDX-License-Identifier: Apache-2.0
"""The key of a compilation, for program caches."""

from __future__ import annotations

import hashlib
import os
import re
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from cudacore import _core
from cudacore.typing import SourceCodeType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Part of each key. Changed if a key would otherwise mean something else than it did.
SCHEMA = b"cudacore program 1"

TARGETS = {"c++": ("ptx", "cubin", "ltoir"), "ptx": ("cubin", "ptx"), "ltoir": ("cubin", "ptx")}

# Options that reach the linker, which compiles PTX and LTO IR.
LINKER_OPTIONS = (
    "debug",
    "fma",
    "ftz",
    "lineinfo",
    "link_time_optimization",
    "max_register_count",
    "no_cache",
    "prec_div",
    "prec_sqrt",
    "ptxas_options",
    "split_compile",
)

# Options of NVRTC that read files, and the flags that do the same.
READ_FILES = ("include_path", "pre_include", "pch", "use_pch", "pch_dir")
READING_FLAGS = ("-I", "--include-path", "-include", "--pre-include", "-pch", "--pch", "--use-pch")
# Those that write files, which a compilation that is skipped would not do.
WRITE_FILES = ("create_pch", "time", "fdevice_time_trace")
WRITING_FLAGS = ("-create-pch", "--create-pch", "-time", "--time", "--fdevice-time-trace")

# Where a directive or a query names a header, and the line with that name.
_NAMES_HEADER = re.compile(
    r"(?:(?:\#|%:)(?:\s|/\*.*?\*/)*(?:include|include_next|import|embed)"
    r"|__has_(?:include|include_next|embed)\s*\()(?![\w$])",
    re.DOTALL,
)
_NAME = re.compile(r"(?:\s|/\*.*?\*/)*([^\n]*)", re.DOTALL)


def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: str,
    options: _core.ProgramOptions,
    target_type: str,
    name_expressions: Sequence[str | bytes] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """Make the key of what a compilation makes.

    Two compilations have the same key only if they have the same source, type, target, flags, name,
    headers in memory and name expressions, and the same compiler, with the same folders of CUDA's
    headers. Files that the source includes are not observed: give a digest of them. Only CUDA's own
    headers, included as `<name>`, and `headers` in memory need none.
    :meth:`cudacore.Program.compile` makes the key by itself if you hand it a cache.

    Parameters
    ----------
    code : str
        The source; bytes for LTO IR.
    code_type : {"c++", "ptx", "ltoir"}
    options : ProgramOptions
        If it has no `arch`, that of the current device counts.
    target_type : {"ptx", "cubin", "ltoir"}
    name_expressions : sequence of str or bytes
        For C++ only; in any order.
    extra_digest : bytes, optional
        A digest of what the source reads besides: headers, precompiled headers.

    Returns
    -------
    bytes
        32 bytes: a SHA-256.

    Raises
    ------
    ValueError
        The types don't fit each other; an option reads files, or the source includes one that may
        lie in the current folder, and there is no `extra_digest`; an option writes files, which a
        compilation that is skipped wouldn't.
    TypeError
        An argument has the wrong type.
    NotSupportedError
        The source is NVVM IR.
    DriverNotFoundError
        There is neither an `arch` nor a device.

    Examples
    --------
    >>> from cudacore import ObjectCode, Program, ProgramOptions
    >>> from cudacore.utils import InMemoryProgramCache, make_program_cache_key
    >>> source = "__global__ void f() {}"
    >>> options = ProgramOptions(arch="sm_90")
    >>> key = make_program_cache_key(
    ...     code=source, code_type="c++", options=options, target_type="cubin"
    ... )
    >>> cache = InMemoryProgramCache()
    >>> if cache.get(key) is None:
    ...     cache[key] = Program(source, "c++", options).compile("cubin")
    >>> ObjectCode.from_cubin(cache[key]).kernels
    ('f',)
    """
    code_type, target_type = code_type.lower(), target_type.lower()
    _check_types(code_type, target_type)
    if not isinstance(options, _core.ProgramOptions):
        raise TypeError(f"options must be ProgramOptions, not {type(options).__name__}")
    if options.extra_sources:
        raise ValueError(f"extra_sources are NVVM IR, not {code_type}: leave them out")
    digest = hashlib.sha256()

    def add(label: str, *parts: bytes) -> None:
        for part in (label.encode(), *parts):
            digest.update(len(part).to_bytes(8, "big") + part)

    is_cxx = code_type == "c++"
    if is_cxx:
        _check_files(options, extra_digest)
        if extra_digest is None:
            _check_includes(code, options)
    add("schema", SCHEMA)
    add("code", code_type.encode(), target_type.encode(), _encoded(code, code_type))
    if options.arch is None:
        options = copy(options)
        options.arch = f"sm_{_core.Device().arch}"
    add("name", (options.name or "").encode(), str(options.arch).encode())
    add("flags", *_flags(options, target_type, is_cxx))
    add("compiler", *_compiler(_core.nvrtc_library if is_cxx else _core.nvjitlink_library))
    if is_cxx:
        add("expressions", *_expressions(name_expressions))
        add("headers", *(text.encode() for header in _headers(options) for text in header))
        add("bundled", repr(options.use_bundled_headers).encode(), *_folders())
    if extra_digest is not None:
        add("extra", bytes(extra_digest))
    return digest.digest()


def _check_types(code_type: str, target_type: str) -> None:
    if code_type == "nvvm":
        raise _core.NotSupportedError(
            "NVVM IR needs libNVVM, which cudacore does not call; give it C++, PTX or LTO IR"
        )
    if code_type not in TARGETS:
        SourceCodeType(code_type)  # raises
    known = TARGETS[code_type]
    if target_type not in TARGETS["c++"]:
        raise ValueError(f"target_type must be one of {', '.join(known)}, not {target_type!r}")
    if target_type not in known:
        raise ValueError(
            f"target_type {target_type!r} is not valid for code_type {code_type!r}, which "
            f"compiles to {' or '.join(known)}"
        )


def _encoded(code: str | bytes, code_type: str) -> bytes:
    if isinstance(code, str) and code_type != "ltoir":
        return code.encode("utf-8", "surrogateescape")
    if isinstance(code, bytes | bytearray) and code_type == "ltoir":
        return bytes(code)
    wanted = "bytes" if code_type == "ltoir" else "str"
    raise TypeError(f"code must be {wanted} for code_type={code_type!r}, not {type(code).__name__}")


def _check_files(options: _core.ProgramOptions, extra_digest: bytes | None) -> None:
    written = [name for name in WRITE_FILES if getattr(options, name) is not None]
    written += _among(options.options, WRITING_FLAGS)
    if written:
        raise ValueError(
            f"no key for {', '.join(written)}: files are a side effect, which a compilation that "
            "the cache makes unnecessary would not have. Leave it out, or compile without the cache"
        )
    if extra_digest is not None:
        return
    read = [name for name in READ_FILES if _is_set(getattr(options, name))]
    read += _among(options.options, READING_FLAGS)
    if read:
        raise ValueError(
            f"no key for {', '.join(read)} without an extra_digest: give a digest of the files "
            "that the compilation reads"
        )
    if any(slash in (options.name or "") for slash in "/\\"):
        raise ValueError(
            f"no key for the name {options.name!r} without an extra_digest: it has a directory "
            "component, in which NVRTC looks for headers. Give a digest of them, or a plain name"
        )


def _check_includes(code: str | bytes, options: _core.ProgramOptions) -> None:
    """Refuse what NVRTC also looks for in the current folder: everything but <name>."""
    known = options.headers or {}
    for text in (code, *known.values()):
        joined = re.sub(r"\\[ \t]*\r?\n", "", text) if isinstance(text, str) else ""
        for found in _NAMES_HEADER.finditer(joined):
            line = cast("re.Match[str]", _NAME.match(joined, found.end()))[1]
            quoted = re.match(r'"([^"]*)"', line)
            if line.startswith("<") or (quoted and quoted[1] in known):
                continue
            raise ValueError(
                f"no key for {' '.join(found[0].split())} {line.strip()} without an extra_digest: "
                "NVRTC also looks in the current folder. Give a digest of the file, write <name> "
                "if it is one of CUDA's, or hand it over in the option headers"
            )


def _is_set(value: object) -> bool:
    """Return whether an option that reads files is set; an empty str is, an empty list is not."""
    return value == "" or bool(value)


def _flags(options: _core.ProgramOptions, target_type: str, is_cxx: bool) -> list[bytes]:
    if is_cxx:
        return options.as_bytes("nvrtc", cast("Any", target_type))
    linked: dict[str, Any] = {name: getattr(options, name) for name in LINKER_OPTIONS}
    return _core.LinkerOptions(**linked).as_bytes()


def _among(flags: str | Sequence[str] | None, looked_for: tuple[str, ...]) -> list[str]:
    given = [flags] if isinstance(flags, str) else flags or ()
    return [flag for flag in given if flag.startswith(looked_for)]


def _compiler(find: Callable[[], tuple[tuple[int, int], str]]) -> tuple[bytes, ...]:
    """Return the compiler's version; without a compiler, what no version is equal to."""
    try:
        (major, minor), _ = find()
    except _core.CUDAError as error:
        return b"missing", type(error).__name__.encode()
    return (f"{major}.{minor}".encode(),)


def _expressions(names: Iterable[str | bytes]) -> list[bytes]:
    """Return the name expressions in order; a str is another key of symbol_mapping than bytes."""
    tagged = []
    for name in names:
        if not isinstance(name, str | bytes):
            raise TypeError(
                f"each of name_expressions must be str or bytes, not {type(name).__name__}"
            )
        tagged.append(b"b:" + name if isinstance(name, bytes) else b"s:" + name.encode())
    return sorted(tagged)


def _headers(options: _core.ProgramOptions) -> list[tuple[str, str]]:
    """Return the headers in memory, in order."""
    return sorted((options.headers or {}).items())


def _folders() -> Iterator[bytes]:
    """Return the folders of CUDA's headers, and when each was last installed."""
    try:
        folders = _core.include_directories()
    except _core.CUDAError:
        return
    for folder in folders:
        yield folder.encode("utf-8", "surrogateescape")
        yield str(os.stat(folder).st_mtime_ns).encode()  # noqa: PTH116
