# SPDX-License-Identifier: Apache-2.0
"""``%%cuda``: a cell of CUDA C++ whose kernels become Python names."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from traitlets import Bool

from cudacore import _core
from cudacore._notebook import diagnostics
from cudacore._notebook.names import OBJECT, Named, check, identifier, in_python
from cudacore._notebook.output import CaughtDescriptor, Descriptor
from cudacore._notebook.progress import progress

if TYPE_CHECKING:
    from argparse import Namespace

    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell


@magics_class
class CudaMagics(Magics):
    """Settings of cudacore's notebook extension."""

    wait = Bool(
        default_value=True,
        help="At the end of each cell, wait for the work that it queued, so that what kernels "
        "print, and how they fail, is shown in the cell that launched them.",
    ).tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._descriptor = Descriptor()
        if hasattr(shell, "kernel"):
            # A program may have replaced sys.stdout. The kernel knows what it was.
            stdout = getattr(shell.kernel, "_stdout", sys.stdout)
            self._descriptor = CaughtDescriptor(stdout)

    @magic_arguments()
    @argument("--help", "-h", action="store_true", help="Show this, and compile nothing.")
    @argument(
        "--name",
        action="append",
        default=[],
        metavar="[PYTHON=]EXPRESSION",
        help="A template instance, 'axpy<float>', or a variable, '&coefficients', to use in "
        "Python, and perhaps its name there: saxpy='axpy<float>'. May be repeated.",
    )
    @argument("--std", "-std", help="The C++ standard, such as c++20.")
    @argument(
        "--arch", "-arch",
        help="The architecture, such as sm_90. The current device's by default.",
    )  # fmt: skip
    @argument(
        "-I", dest="include", action="append", metavar="FOLDER",
        help="Where to look for headers. May be repeated.",
    )  # fmt: skip
    @argument(
        "-D", dest="define", action="append", metavar="MACRO[=VALUE]",
        help="A macro to define. May be repeated.",
    )  # fmt: skip
    @argument(
        "--option", action="append", metavar="FLAG",
        help="Any other flag of NVRTC, after an equals sign: --option=--maxrregcount=32. "
        "May be repeated.",
    )  # fmt: skip
    @argument("--object", metavar="PYTHON", help="A name for the ObjectCode.")
    @argument("--quiet", action="store_true", help="Show neither the kernels nor any warnings.")
    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compile a cell of CUDA C++, and define its kernels as Python names.

        A kernel has its own name, and an instance of a template, axpy<float>, is axpy_float.
        Launch one by kernel[grid, block](...). Running the cell again replaces the kernels.
        """
        options = self._parse(line)
        if options.help:
            sys.stdout.write(self.cuda.parser.format_help())
            return
        source = "\n" + cell  # lines are counted as the notebook does: the magic is on the first
        try:
            code = self._compile(options, source)
            defined = self._define(options, code)
        except _core.CompileError as error:
            self._raise_shown(error, diagnostics.render_error(str(error), error.log, source))
        except (_core.CUDAError, ValueError) as error:
            self._raise_shown(error, [f"{type(error).__name__}: {error}"])
        self._shell.push(defined)

    def _parse(self, line: str) -> Namespace:
        try:
            # IPython's own split leaves the quotes on.
            options: Namespace = self.cuda.parser.parse_args(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"%%cuda: {error}: {line}") from None
        options.name = list(dict.fromkeys(Named.from_option(text) for text in options.name))
        return options

    def _compile(self, options: Namespace, source: str) -> _core.ObjectCode:
        program = _core.Program(
            source,
            "c++",
            _core.ProgramOptions(
                name=diagnostics.CELL,
                lineinfo=True,
                std=options.std,
                arch=options.arch,
                include_path=options.include,
                define_macro=options.define,
                options=options.option,
            ),
        )
        with progress("Compiling"):
            code = program.compile(name_expressions=[named.expression for named in options.name])
        if program.log and not options.quiet:
            self._write(diagnostics.render_warnings(program.log, source))
        return code

    def _define(self, options: Namespace, code: _core.ObjectCode) -> dict[str, object]:
        """Return what the cell defines, by Python names; say what it is."""
        values: list[tuple[Named, _core.Kernel | _core.Buffer]] = [
            (named, (code.get_global if named.is_variable else code.get_kernel)(named.expression))
            for named in options.name
        ]
        chosen = {value for _, value in values}
        others = {name: code.get_kernel(name) for name in code.kernels}
        values += [
            (Named(identifier(name), name), kernel)
            for name, kernel in others.items()
            if kernel not in chosen
        ]
        if not values and not options.object:
            raise UsageError(
                "%%cuda: the cell defines no kernel. Write __global__ before a function, or name "
                "an instance of a template: --name 'axpy<float>'"
            )
        defined: list[tuple[Named, object]] = [*values]
        if options.object:
            defined.append((Named(in_python(options.object), OBJECT), code))
        check([named for named, _ in defined], self._shell.user_ns_hidden)
        if not options.quiet:
            sys.stdout.writelines(f"{_describe(*pair)}\n" for pair in values)
        return {named.python: value for named, value in defined}

    def finish_cell(self, result: ExecutionResult | None) -> None:
        """Wait for what a cell has queued; show in it what kernels print, and how they fail."""
        try:
            # Whoever has interrupted the cell doesn't want to wait for the rest of it.
            if self.wait and result and not isinstance(result.error_in_exec, KeyboardInterrupt):
                self._wait()
        except (_core.CUDAError, KeyboardInterrupt) as error:
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, KeyboardInterrupt):
                said = "KeyboardInterrupt: the device goes on with what the cell queued"
            if result and result.success:
                # The cell has failed: ipykernel says so, and doesn't run the ones after it.
                result.error_in_exec = error
                _show_as(error, [said])
                self._shell.showtraceback((type(error), error, None))
            else:  # It has failed before, for another reason.
                self._write([f"and the device: {said}"])
        finally:
            self._descriptor.show()

    @staticmethod
    def _wait() -> None:
        contexts = [context for context in _core.known_contexts() if not context.is_lost]
        if contexts:
            with progress("Waiting for the device"):
                for context in contexts:
                    context.sync()

    def close(self) -> None:
        """Give back what this object has changed."""
        configurables: list[Any] = self._shell.configurables
        configurables.remove(self)
        self._descriptor.close()

    def _raise_shown(self, error: Exception, lines: list[str]) -> NoReturn:
        """Raise an error that IPython shows as these lines, without a traceback."""
        _show_as(error, self._colored(lines))
        raise error

    def _write(self, lines: list[str]) -> None:
        sys.stderr.writelines(f"{line}\n" for line in self._colored(lines))

    def _colored(self, lines: list[str]) -> list[str]:
        if self._shell.colors.lower() != "nocolor":
            return lines
        return [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines]


def _show_as(error: BaseException, lines: list[str]) -> None:
    vars(error)["_render_traceback_"] = lambda: lines


def _describe(named: Named, value: _core.Kernel | _core.Buffer) -> str:
    if isinstance(value, _core.Buffer):
        return f"{named.python}: {value.size} bytes of {named.expression[1:]}"
    said = str(value.signature)
    return said if value.name == named.python else f"{named.python} = {said}"
