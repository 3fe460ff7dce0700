# SPDX-License-Identifier: Apache-2.0
"""The key of a compilation, for program caches."""

from __future__ import annotations

import hashlib
import os
import re
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cudacore import _core
from cudacore._public import public
from cudacore.typing import SourceCodeType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BytesLike: TypeAlias = "bytes | bytearray | memoryview"

# Part of each key. Changed if a key would otherwise mean something else than it did.
SCHEMA = b"cudacore program 1"

# What may define a macro: a directive, or a flag.
_DEFINITION = re.compile(rb"(?:define\s+|-D\s*|define-macro=\s*)(\w+)")

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


@public("cudacore.utils")
def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: str,
    options: _core.ProgramOptions,
    target_type: str,
    name_expressions: str | Sequence[str | bytes] = (),
    extra_digest: BytesLike | None = None,
) -> bytes:
    """Make the key of what a compilation makes.

    Two compilations have the same key only if they have the same source, type, target, flags, name,
    headers in memory and name expressions, and the same compiler, with the same folders of CUDA's
    headers. Files that the source includes are not observed: give a digest of them. Only CUDA's own
    headers, included as `<name>`, and `headers` in memory need none.
    What the source includes is found as for :mod:`cudacore.cache`, without evaluating ``#if``.
    :meth:`cudacore.Program.compile` makes the key by itself if you hand it a cache.

    Parameters
    ----------
    code : str
        The source; bytes for LTO IR.
    code_type : {"c++", "ptx", "ltoir"}
    options : ProgramOptions
        If it has no `arch`, that of the current device counts.
    target_type : {"ptx", "cubin", "ltoir"}
    name_expressions : str or sequence of str or bytes
        For C++ only; in any order. A str is one name.
    extra_digest : bytes, bytearray or memoryview, optional
        A digest of what the result depends on besides: headers, precompiled headers, the time.

    Returns
    -------
    bytes
        32 bytes: a SHA-256.

    Raises
    ------
    ValueError
        The types don't fit each other. There is no `extra_digest`, and an option reads files, the
        source may include one that isn't CUDA's, or it uses ``__TIME__`` or the like. An option
        writes files, which a compilation that is skipped wouldn't.
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
    code_type, target_type = _checked_types(code_type, target_type)
    if not isinstance(options, _core.ProgramOptions):
        raise TypeError(f"options must be ProgramOptions, not {type(options).__name__}")
    if options.extra_sources:
        raise ValueError(f"extra_sources are NVVM IR, not {code_type}: leave them out")
    extra = _digest_bytes(extra_digest)
    digest = hashlib.sha256()

    def add(label: str, *parts: bytes) -> None:
        for part in (label.encode(), *parts):
            digest.update(len(part).to_bytes(8, "big") + part)

    is_cxx = code_type == "c++"
    source = _encoded(code, code_type)
    names = _expressions(name_expressions) if is_cxx else []
    headers = _headers(options)
    if is_cxx:
        _check_files(options, extra)
    if options.arch is None:
        options = copy(options)
        options.arch = f"sm_{_core.Device().arch}"
    flags = _flags(options, target_type, is_cxx)
    if extra is None:
        _check_flags(flags, is_cxx)
        _check_includes((source, *headers.values(), *names, *flags) if is_cxx else (), headers)
    add("schema", SCHEMA, _core.__version__.encode())
    add("code", code_type.encode(), target_type.encode(), source)
    add("name", (options.name or "").encode(), str(options.arch).encode())
    add("flags", *flags)
    add("compiler", *_compiler(_core.nvrtc_library if is_cxx else _core.nvjitlink_library))
    if is_cxx:
        add("expressions", *names)
        add("headers", *(text for header in sorted(headers.items()) for text in header))
        add("bundled", repr(options.use_bundled_headers).encode(), *_folders())
        add("folder", *_folder(flags, target_type))
    if extra is not None:
        add("extra", extra)
    return digest.digest()


def _checked_types(code_type: str, target_type: str) -> tuple[str, str]:
    for name, given in (("code_type", code_type), ("target_type", target_type)):
        if not isinstance(given, str):
            raise TypeError(f"{name} must be str, not {type(given).__name__}")
    code_type, target_type = code_type.lower(), target_type.lower()
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
    return code_type, target_type


def _encoded(code: str | bytes, code_type: str) -> bytes:
    if isinstance(code, str) and code_type != "ltoir":
        return code.encode("utf-8", "surrogateescape")
    if isinstance(code, bytes | bytearray) and code_type == "ltoir":
        return bytes(code)
    wanted = "bytes" if code_type == "ltoir" else "str"
    raise TypeError(f"code must be {wanted} for code_type={code_type!r}, not {type(code).__name__}")


def _digest_bytes(digest: BytesLike | None) -> bytes | None:
    if isinstance(digest, bytes | bytearray | memoryview | None):
        return None if digest is None else bytes(digest)
    raise TypeError(f"extra_digest must be bytes-like, not {type(digest).__name__}")


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


def _check_includes(texts: Iterable[bytes], known: Mapping[bytes, bytes]) -> None:
    """Refuse texts that may read other files than CUDA's headers and those in memory."""
    texts = list(texts)
    defined = {name for text in texts for name in _DEFINITION.findall(text)}
    for text in texts:
        headers, macros, queries, trouble = _core.header_mentions(text)
        if trouble:
            raise ValueError(
                f"no key without an extra_digest: the program {trouble}. Give a digest of the "
                "files that it reads, or of what else it depends on"
            )
        for name in (*macros, *queries):
            raise ValueError(
                f"no key without an extra_digest: the macro {_text(name)} may stand for any "
                "header. Give a digest of the files, or write their names"
            )
        for name, is_quoted, is_expanded in headers:
            is_outside = name.startswith(b"/") or b".." in name.split(b"/")
            is_changed = is_expanded and not defined.isdisjoint(re.findall(rb"\w+", name))
            if name in known or not (is_quoted or is_outside or is_changed):
                continue
            shown = f'"{_text(name)}"' if is_quoted else f"<{_text(name)}>"
            raise ValueError(
                f"no key for {shown} without an extra_digest: NVRTC also looks in the current "
                "folder. Give a digest of the file, write <name> if it is one of CUDA's, or hand "
                "it over in the option headers"
            )


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


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
    """Return the compiler's version and size; without a compiler, what no version is equal to."""
    try:
        (major, minor), path = find()
        size = Path(path).stat().st_size
    except (_core.CUDAError, OSError) as error:
        return b"missing", type(error).__name__.encode()
    return f"{major}.{minor}".encode(), str(size).encode()


def _folder(flags: Iterable[bytes], target_type: str) -> tuple[bytes, ...]:
    """Return the current folder if the code contains it, as LTO IR does, too."""
    _, shows_folder, _ = _core.flag_effects([os.fsdecode(flag) for flag in flags])
    if target_type != "ltoir" and not shows_folder:
        return ()
    return os.fsencode(Path.cwd()), os.environb.get(b"PWD", b"")


def _check_flags(flags: Iterable[bytes], is_cxx: bool) -> None:
    """Refuse flags that may read files, or that the cache doesn't know."""
    texts = [os.fsdecode(flag) for flag in flags]
    reads, trouble = False, ""
    if is_cxx:
        reads, _, trouble = _core.flag_effects(texts)
    else:
        passed_on = [text.partition("=")[2] for text in texts if text.startswith("-Xptxas=")]
        trouble = next(filter(None, map(_core.ptxas_trouble, passed_on)), "")
    if reads or trouble:
        raise ValueError(
            f"no key without an extra_digest: {trouble or 'a flag reads files'}. Give a digest of "
            "what the compilation reads besides its source"
        )


def _expressions(names: str | Iterable[str | bytes]) -> list[bytes]:
    """Return the name expressions in order."""
    found = []
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(name, str | bytes):
            raise TypeError(
                f"each of name_expressions must be str or bytes, not {type(name).__name__}"
            )
        found.append(name.encode() if isinstance(name, str) else name)
    return sorted(found)


def _headers(options: _core.ProgramOptions) -> dict[bytes, bytes]:
    """Return the headers in memory."""
    return {name.encode(): text.encode() for name, text in (options.headers or {}).items()}


def _folders() -> Iterator[bytes]:
    """Return the folders of CUDA's headers, and when each was last installed."""
    try:
        folders = _core.include_directories()
    except _core.CUDAError:
        return
    for folder in folders:
        yield folder.encode("utf-8", "surrogateescape")
        yield str(os.stat(folder).st_mtime_ns).encode()  # noqa: PTH116
