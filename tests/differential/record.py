# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus on a GPU and stores the results.

    python -m differential.record FOLDER [--family NAME ...] [--changed] [--forms FILE]

Run this from tests/. With --changed, it runs only items whose golden data is missing or stale, and
rewrites the affected families completely. Each family runs in a separate process, in both dialects,
which must agree. If a kernel doesn't load or fails, it is reported, and the others continue.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cudacore

from . import golden
from .compare import canonical
from .corpus import Corpus, make
from .forms import Form, forms
from .items import DIALECTS, Item, Kernel, kernels_of
from .programs import Program, programs
from .runner import Runner, run_item


def _forms(path: str) -> tuple[Form, ...]:
    if not path:
        return forms()
    lines = Path(path).read_text().splitlines()
    return tuple((key, signature) for key, _, signature in (line.partition("\t") for line in lines))


def _all_of(corpus: Corpus, family: str) -> Sequence[Item | Program]:
    return programs() if family == "programs" else corpus.families[family]


def _recorded(corpus: Corpus, family: str) -> dict[str, golden.Result]:
    """Return the golden data of a family that is not stale."""
    known = golden.load(family)
    return {
        one.name: known[one.name]
        for one in _all_of(corpus, family)
        if one.name in known and known[one.name].digest == one.digest
    }


def _is_complete(corpus: Corpus, family: str) -> bool:
    return _recorded(corpus, family).keys() == {one.name for one in _all_of(corpus, family)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential.record")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--changed", action="store_true", help="only what is not recorded yet")
    parser.add_argument("--forms", default="", help="a list of forms: key, tab, signature")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("--skip", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    corpus = make(_forms(options.forms))
    if options.worker:
        skip = set(Path(options.skip).read_text().splitlines())
        family = options.family[0]
        known = set(_recorded(corpus, family)) if options.changed else set[str]()
        return _work(corpus, family, skip, known, Path(options.worker))
    device = cudacore.Device(0)
    print(f"on {device.name}, driver {cudacore.system.get_user_mode_driver_version()}")
    for form in corpus.unknown:
        print(f"nothing covers {form}")
    failed = total = 0
    families = options.family or [*corpus.families, "programs"]
    if options.changed:
        families = [family for family in families if not _is_complete(corpus, family)]
    start = time.monotonic()
    # The driver's compiler takes most of the time.
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        recorded = pool.map(lambda family: _record(family, options), families)
        for family, (fresh, problems) in zip(families, recorded, strict=True):
            known = {**_recorded(corpus, family), **fresh} if options.changed else fresh
            names = [one.name for one in _all_of(corpus, family)]
            results = {name: known[name] for name in names if name in known}
            size = golden.save(family, results, options.folder)
            total += size
            failed += len(problems)
            for problem in problems:
                print(problem)
            print(f"{family}: {len(fresh)} of {len(results)} results, {size} bytes", flush=True)
    print(f"{total} bytes, {failed} problems, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


#: A kernel that runs longer than this is considered to hang.
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
            if options.changed:
                command.append("--changed")
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
    """Wait for a child that keeps writing; return None for one that hung and was killed."""
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


def _work(corpus: Corpus, family: str, skip: set[str], known: set[str], path: Path) -> int:
    """Run what is not known of a family until it is done or the device is lost."""
    device = cudacore.Device(0)
    device.set_current()
    with path.open("wb") as stream, Runner(device) as runner:

        def tell(*what: object) -> None:
            pickle.dump(what, stream)
            stream.flush()

        fresh = [one for one in _all_of(corpus, family) if one.name not in known]
        kernels = kernels_of([one for one in fresh if isinstance(one, Item)])
        whole = [one for one in fresh if isinstance(one, Program)]
        for runnable in [*(part for kernel in kernels for part in _split(kernel, skip)), *whole]:
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
                except Exception as error:  # Reported, and the others continue.
                    problems.append(f"{runnable.name}: {_short(error)}")
            if device.context.is_lost:
                if isinstance(runnable, Kernel) and "/" not in runnable.name:
                    tell("lost")
                else:
                    tell("end", results, problems)
                # Its state cannot be torn down in an orderly way.
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
            # One by one, to find out which one it is.
            if cudacore.Device(0).context.is_lost:
                return
            for item in kernel.items:
                try:
                    output = run_item(runner, item, dialect)
                    results[item.name] = golden.Result(item.digest, canonical(item, output))
                except cudacore.CUDAError as own:
                    problems.append(f"{item.name} ({dialect}): {_short(own)}")
            return
    for item in kernel.items:
        first, second = (canonical(item, output[item.name]) for output in outputs)
        if first != second:
            problems.append(f"{item.name}: the dialects differ")
        results[item.name] = golden.Result(item.digest, first)


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) < 400 else f"{text[:400]} ..."


if __name__ == "__main__":
    sys.exit(main())
