# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore compile``: compile ahead of time, for one or many architectures."""

from __future__ import annotations

import argparse
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cudacore import _core
from cudacore._advice import advice
from cudacore._commands import FAILED, output_file

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".fatbin", ".cubin", ".ptx")
OPTIMIZATION_LEVELS = ("0", "1", "2", "3")
COMPRESS_MODES = ("none", "default", "size", "speed", "balance")

EPILOG = """\
What follows -- is given to NVRTC as it is:
  python -m cudacore compile kernels.cu --arch sm_90 -- --fmad=false

Exit status: 0 compiled, 1 failed, 2 wrong usage, 3 a library is missing."""


class Architecture(NamedTuple):
    """What to compile for: ``sm_90`` is machine code, ``compute_90`` is PTX."""

    name: str
    target: Literal["cubin", "ptx"]

    @classmethod
    def read(cls, text: str) -> Architecture:
        """Read one; a wrong one is reported by the parser."""
        kind = re.fullmatch(r"(sm|compute)_\d+[af]?", text)
        if not kind:
            raise argparse.ArgumentTypeError(
                f"{text!r} is neither sm_XX, for machine code, nor compute_XX, for PTX"
            )
        return cls(text, "cubin" if kind[1] == "sm" else "ptx")


class _Parser(argparse.ArgumentParser):
    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Keep what follows ``--``, which argparse would take for more source files."""
        own = list(sys.argv[1:] if args is None else args)
        end = own.index("--") if "--" in own else len(own)
        options, rest = super().parse_known_args(own[:end], namespace)
        options.flags = own[end + 1 :]
        return options, rest

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """Don't take an unknown ``-m`` for ``-maxrregcount``, in spite of ``allow_abbrev``."""
        found = super()._get_option_tuples(option_string)
        return [option for option in found if option_string.startswith(option[1])]


def parser(prog: str) -> argparse.ArgumentParser:
    """Make the parser, whose options are spelled as nvcc's."""
    parser = _Parser(
        prog=prog,
        usage="%(prog)s SOURCE --arch LIST [-o FILE] [options] [-- NVRTC's options]",
        description="Compile a file of CUDA C++ with NVRTC. No GPU and no driver is needed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("source", type=Path, metavar="SOURCE", help="a file of CUDA C++")
    add("--arch", "-arch", required=True, action="append", type=_architectures, metavar="LIST",
        help="architectures, separated by commas: sm_90 for machine code, compute_90 for PTX, "
        "which newer GPUs and the simulated device run")  # fmt: skip
    add("-o", "--output", type=Path, metavar="FILE",
        help="a fat binary (.fatbin), or a .cubin or .ptx for one architecture "
        "(default: the source's name with .fatbin)")  # fmt: skip
    add("--name", action="append", default=[], metavar="EXPRESSION", dest="names",
        help="a kernel to instantiate from a template: 'axpy<float>'; may be repeated")  # fmt: skip
    add("-I", "--include-path", action="append", default=[], metavar="FOLDER",
        help="a folder that #include searches")  # fmt: skip
    add("-D", "--define-macro", action="append", default=[], metavar="NAME[=VALUE]",
        help="define a macro")  # fmt: skip
    add("-U", "--undefine-macro", action="append", default=[], metavar="NAME",
        help="undefine a macro")  # fmt: skip
    add("-include", "--pre-include", action="append", default=[], metavar="FILE",
        help="a header to include first")  # fmt: skip
    add("-std", "--std", metavar="LANGUAGE", help="c++17 (the default), c++20, ...")
    add("-O", "--optimize", choices=OPTIMIZATION_LEVELS, metavar="LEVEL",
        help="how much the assembler optimizes machine code: 0 to 3 (default: 3)")  # fmt: skip
    add("-G", "--device-debug", action="store_true", help="add debug information")
    add("-lineinfo", "--generate-line-info", action="store_true", help="add line numbers")
    add("-use_fast_math", "--use_fast_math", action="store_true", help="use fast mathematics")
    add("-maxrregcount", "--maxrregcount", type=int, metavar="N", help="registers of a thread")
    add("-rdc", "--relocatable-device-code", choices=("true", "false"), default="false",
        help="make code that can be linked with other code")  # fmt: skip
    add("--compress-mode", "-compress-mode", choices=COMPRESS_MODES, default="none",
        help="how a fat binary is compressed (default: none; only the driver can read what is "
        "compressed)")  # fmt: skip
    return parser


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Compile for all architectures, then write the file; return the exit status."""
    _check_source(parser, options.source)
    output = options.output or Path(options.source.with_suffix(".fatbin").name)
    architectures = [one for several in options.arch for one in several]
    _check_usage(parser, output, architectures)
    output_file.check(parser, "-o", output, options.source)
    source = options.source.read_bytes()
    try:
        code = _compile(options, source, output.suffix, architectures)
        code.save(output)
    except _core.CompileError as error:
        _report_error(error, source)
        return FAILED
    except ValueError as error:
        print(f"error: {_shown(options.source)}: {error}", file=sys.stderr)
        return FAILED
    _report(output, architectures, code, options.names)
    return 0


def _shown(path: Path | str) -> str:
    """Return a path as text; its bytes need not be UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _report_error(error: _core.CompileError, source: bytes) -> None:
    """Show the log, which has all errors, and then what the message adds to it."""
    message = str(error)
    head = message.partition("\n")[0]
    lines = advice(message, error.log, source.decode(errors="replace"))
    print("\n".join([error.log.rstrip(), "", f"error: {head}", *lines]), file=sys.stderr)


def _architectures(text: str) -> list[Architecture]:
    return [Architecture.read(one.strip()) for one in text.split(",")]


def _check_source(parser: argparse.ArgumentParser, source: Path) -> None:
    if source.is_dir():
        parser.error(f"SOURCE: {source} is a folder; name a file")
    if not source.exists():
        parser.error(f"SOURCE: there is no file {source}")


def _check_usage(
    parser: argparse.ArgumentParser, output: Path, architectures: list[Architecture]
) -> None:
    if output.suffix not in SUFFIXES:
        parser.error(f"-o {output}: what to make is told by the suffix, {', '.join(SUFFIXES)}")
    names = [architecture.name for architecture in architectures]
    for name in names:
        if names.count(name) > 1:
            parser.error(f"--arch: {name} is listed twice")
    if output.suffix == ".fatbin":
        return
    if len(names) > 1:
        parser.error(
            f"-o {output}: a {output.suffix} file is for one architecture, not for "
            f"{', '.join(names)}; make a .fatbin"
        )
    if output.suffix == ".cubin" and architectures[0].target == "ptx":
        parser.error(f"-o {output}: a cubin is for sm_XX, not for {names[0]}, which is PTX")


def _compile(
    options: argparse.Namespace, source: bytes, suffix: str, architectures: list[Architecture]
) -> _core.ObjectCode:
    """Compile for each architecture, several at a time."""

    def compile_for(architecture: Architecture) -> tuple[_core.ObjectCode, str]:
        program = _core.Program(source, "c++", _program_options(options, architecture))
        target = "ptx" if suffix == ".ptx" else architecture.target
        return program.compile(target, options.names), program.log

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(compile_for, architectures))
    for log in dict.fromkeys(log for _, log in compiled if log):
        print(log, file=sys.stderr)
    codes = [code for code, _ in compiled]
    if options.relocatable_device_code == "false" and not any(code.kernels for code in codes):
        raise ValueError(
            "it defines no kernel: a kernel is a __global__ function, and a template needs "
            "--name 'kernel<float>' for each instance"
        )
    if suffix != ".fatbin":
        return codes[0]
    name = _shown(options.source.name)
    return _core.make_fatbin(*codes, name=name, compress_mode=options.compress_mode)


def _program_options(
    options: argparse.Namespace, architecture: Architecture
) -> _core.ProgramOptions:
    return _core.ProgramOptions(
        name=_shown(options.source),
        arch=architecture.name,
        include_path=options.include_path,
        define_macro=options.define_macro,
        undefine_macro=options.undefine_macro,
        pre_include=options.pre_include,
        std=options.std,
        ptxas_options=[f"-O{options.optimize}"] if options.optimize else [],
        debug=options.device_debug,
        lineinfo=options.generate_line_info,
        use_fast_math=options.use_fast_math,
        max_register_count=options.maxrregcount,
        relocatable_device_code=options.relocatable_device_code == "true",
        options=options.flags,
    )


def _report(
    output: Path, architectures: list[Architecture], code: _core.ObjectCode, names: list[str]
) -> None:
    """Say what was written, and under which names its kernels are found."""
    listed = ", ".join(architecture.name for architecture in architectures)
    data = code.code
    print(f"{_shown(output)}: {len(data)} bytes for {listed}")
    kept: _core.ObjectCode = getattr(_core.ObjectCode, f"from_{code.code_type}")(data)
    try:
        for name in kept.kernels:
            print(f"  {code.signature(name)}")
    except _core.NotSupportedError:  # compressed
        return
    # Only the source knows what an alias in an expression means.
    for name in names:
        kernel = _name_of(kept, code.symbol_mapping[name])
        if kernel and not _name_of(kept, name):
            print(f"  {name} is called {kernel} in the file")


def _name_of(code: _core.ObjectCode, name: str) -> str | None:
    """Return the plain name of a kernel; None if there is no such kernel."""
    try:
        return code.signature(name).name
    except ValueError:
        return None
