# SPDX-License-Identifier: Apache-2.0
"""``python -m cudacore simulator-path``: where the simulated device is."""

import argparse

from cudacore import simulator


def parser(prog: str) -> argparse.ArgumentParser:
    """Make the parser, which takes no arguments."""
    return argparse.ArgumentParser(
        prog=prog,
        description="Print a folder that holds the simulated device as libcuda.so.1, for "
        "LD_LIBRARY_PATH.",
    )


def run(_parser: argparse.ArgumentParser, _options: argparse.Namespace) -> int:
    """Print the folder."""
    print(simulator.driver_folder())
    return 0
