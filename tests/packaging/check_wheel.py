# SPDX-License-Identifier: Apache-2.0
"""Check what a wheel and an sdist contain, and that the installed wheel needs no other package.

Run this with the interpreter of a virtual environment that contains only the wheel and pip.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

#: What the package cannot work without.
IN_WHEEL = ("__init__.py", "__main__.py", "_commands/draw.py", "_core.pyi", "_tile.pyi",
            "_mandelbrot.cu", "py.typed", "simulator.py", "system/__init__.py", "utils/__init__.py",
            "lib/libcudacore_sim.so",
            "lib/driver/libcuda.so.1", "lib/driver/libnvidia-ml.so.1",
            "lib/driver/libcudart.so.12", "lib/driver/libcudart.so.13")  # fmt: skip
IN_SDIST = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "src", "include", "cmake",
            "python")  # fmt: skip

WHEEL_LIMIT = 6_000_000


def wheel_errors(wheel: Path) -> list[str]:
    """Return what is wrong with the files of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    errors = [f"lacks cudacore/{name}" for name in IN_WHEEL if f"cudacore/{name}" not in names]
    for module in ("_core", "_tile"):
        prefix = f"cudacore/{module}."
        if sum(name.startswith(prefix) and name.endswith(".so") for name in names) != 1:
            errors.append(f"has not exactly one extension module {module}")
    errors += [
        f"has {name}, which does not belong to the package"
        for name in sorted(names)
        if not name.startswith(("cudacore/", "cudacore-")) or "__pycache__" in name
    ]
    if wheel.stat().st_size > WHEEL_LIMIT:
        errors.append(f"has {wheel.stat().st_size} bytes, more than {WHEEL_LIMIT}")
    return [f"{wheel.name}: {error}" for error in errors]


def sdist_errors(sdist: Path) -> list[str]:
    """Return what is wrong with the files of the sdist."""
    with tarfile.open(sdist) as archive:
        tops = {Path(name).parts[1] for name in archive.getnames() if "/" in name}
    errors = [f"lacks {name}" for name in IN_SDIST if name not in tops]
    errors += [f"has {name}" for name in ("tests", "build", "docs") if name in tops]
    return [f"{sdist.name}: {error}" for error in errors]


def import_errors() -> list[str]:
    """Return what is wrong with the installed package."""
    others = {
        distribution.metadata["Name"]
        for distribution in importlib.metadata.distributions()
        if distribution.metadata["Name"] not in {"cudacore", "pip", "setuptools"}
    }
    errors = [f"the environment has {name} as well" for name in sorted(others)]
    script = "import cudacore, sys; print(cudacore.__version__, cudacore._core.__file__)"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
    )
    if result.returncode or result.stderr:
        errors.append(f"import cudacore: {result.stderr}")
    elif result.stdout.split()[0] != importlib.metadata.version("cudacore"):
        errors.append(f"cudacore.__version__ is {result.stdout.split()[0]}")
    print(result.stdout, end="")
    return errors


def main() -> int:
    """Print what is wrong; return the exit status."""
    wheel, sdist = map(Path, sys.argv[1:])
    errors = [*wheel_errors(wheel), *sdist_errors(sdist), *import_errors()]
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
