# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus on a GPU and keeps what it computed.

    python -m differential.record FOLDER [--family NAME ...] [--forms FILE]

from tests/. Each family runs in a process of its own, in both dialects, which must agree; a kernel
that does not load or that fails is named, and the others go on.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cudacore

from . import golden
from .corpus import Corpus, make
from .forms import Form, forms
from .items import DIALECTS, Item, Kernel
from .programs import programs
from .runner import Runner, run_item


def _forms(path: str) -> tuple[Form, ...]:
    if not path:
        return forms()
    lines = Path(path).read_text().splitlines()
    return tuple((key, signature) for key, _, signature in (line.partition("\t") for line in lines))


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential.record")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--forms", default="", help="a list of forms: key, tab, signature")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("--skip", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    corpus = make(_forms(options.forms))
    if options.worker:
        skip = set(Path(options.skip).read_text().splitlines())
        return _work(corpus, options.family[0], skip, Path(options.worker))
    device = cudacore.Device(0)
    print(f"on {device.name}, driver {cudacore.system.get_driver_version()}")
    for form in corpus.unknown:
        print(f"nothing covers {form}")
    failed = total = 0
    families = options.family or [*corpus.families, "programs"]
    start = time.monotonic()
    # Most of the time goes into the driver's compiler.
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        recorded = pool.map(lambda family: _record(family, options), families)
        for family, (results, problems) in zip(families, recorded, strict=True):
            size = golden.save(family, results, options.folder)
            total += size
            failed += len(problems)
            for problem in problems:
                print(problem)
            print(f"{family}: {len(results)} results, {size} bytes", flush=True)
    print(f"{total} bytes, {failed} problems, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


#: A kernel that runs longer than this hangs.
_PATIENCE = 40.0


def _record(family: str, options: argparse.Namespace) -> tuple[dict[str, golden.Result], list[str]]:
    """Run a family, as often as it takes to get past kernels that fail or hang."""
    results: dict[str, golden.Result] = {}
    problems: list[str] = []
    done: list[str] = []
    while True:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results"
            skip = Path(folder) / "skip"
            path.touch()
            skip.write_text("\n".join(done))
            command = [
                sys.executable, "-m", "differential.record", str(options.folder), "--worker",
                str(path), "--family", family, "--skip", str(skip),
            ]  # fmt: skip
            if options.forms:
                command += ["--forms", options.forms]
            child = subprocess.Popen(command)
            code = _watch(child, path)
            current = ""
            lost = False
            complete = False
            with path.open("rb") as stream:
                while True:
                    try:
                        what, *values = pickle.load(stream)
                    except (EOFError, pickle.UnpicklingError):
                        break
                    if what == "start":
                        current = values[0]
                        done.append(current)
                    elif what == "end":
                        results.update(values[0])
                        problems += values[1]
                        current = ""
                    elif what == "lost":
                        lost = True
                    else:
                        complete = True
        if complete:
            return results, problems
        if lost and "/" not in current:
            # Again, one by one.
            done[-1] = f"split {current}"
        elif current:
            why = "hangs" if code is None else f"ended the process with {code}"
            problems.append(f"{family}: {current} {why}")
        elif code not in (0, None) or not done:
            return results, [*problems, f"{family}: the recorder ended with {code}"]


def _watch(child: "subprocess.Popen[bytes]", path: Path) -> int | None:
    """Wait for a child that goes on writing; None for one that hung and was killed."""
    size, since = -1, time.monotonic()
    while True:
        try:
            return child.wait(0.1)
        except subprocess.TimeoutExpired:
            now = path.stat().st_size
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > _PATIENCE:
                child.kill()
                child.wait()
                return None


def _work(corpus: Corpus, family: str, skip: set[str], path: Path) -> int:
    """Run a family until it is done or the device is lost."""
    device = cudacore.Device(0)
    device.set_current()
    with path.open("wb") as stream, Runner(device) as runner:

        def tell(*what: object) -> None:
            pickle.dump(what, stream)
            stream.flush()

        kernels = [] if family == "programs" else corpus.kernels(family)
        known = programs() if family == "programs" else []
        for runnable in [*(part for kernel in kernels for part in _split(kernel, skip)), *known]:
            if runnable.name in skip:
                continue
            tell("start", runnable.name)
            results: dict[str, golden.Result] = {}
            problems: list[str] = []
            if isinstance(runnable, Kernel):
                _run_kernel(runner, runnable, results, problems)
            else:
                try:
                    results[runnable.name] = golden.Result(runnable.digest, runnable.run(device))
                except Exception as error:  # Told, and the others go on.
                    problems.append(f"{runnable.name}: {_short(error)}")
            if device.context.is_lost:
                if isinstance(runnable, Kernel) and "/" not in runnable.name:
                    tell("lost")
                else:
                    tell("end", results, problems)
                # Its state cannot be torn down in order.
                os._exit(0)
            tell("end", results, problems)
        tell("complete")
    return 0


def _split(kernel: Kernel, skip: set[str]) -> list[Kernel]:
    if f"split {kernel.name}" not in skip:
        return [kernel]
    return [
        Kernel(f"{kernel.name}/{item.name}", [item], [0], (item.size + 31) // 16 * 16)
        for item in kernel.items
    ]


def _blank(item: Item, output: bytes) -> bytes:
    """Without what is not compared."""
    kept = bytearray(output)
    for array in item.outputs:
        if array.mode == "skip":
            kept[array.offset : array.offset + array.width * array.count] = bytes(
                array.width * array.count
            )
    return bytes(kept)


def _run_kernel(
    runner: Runner, kernel: Kernel, results: dict[str, golden.Result], problems: list[str]
) -> None:
    outputs: list[dict[str, bytes]] = []
    for dialect in DIALECTS:
        try:
            outputs.append(runner.run(kernel, dialect))
        except cudacore.CUDAError as error:
            if len(kernel.items) == 1:
                problems.append(f"{kernel.items[0].name} ({dialect}): {_short(error)}")
                return
            # One by one, to find which it is.
            if cudacore.Device(0).context.is_lost:
                return
            for item in kernel.items:
                try:
                    output = run_item(runner, item, dialect)
                    results[item.name] = golden.Result(item.digest, _blank(item, output))
                except cudacore.CUDAError as own:
                    problems.append(f"{item.name} ({dialect}): {_short(own)}")
            return
    for item in kernel.items:
        first, second = (_blank(item, output[item.name]) for output in outputs)
        if first != second:
            problems.append(f"{item.name}: the dialects differ")
        results[item.name] = golden.Result(item.digest, first)


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) < 400 else f"{text[:400]} ..."


if __name__ == "__main__":
    sys.exit(main())
