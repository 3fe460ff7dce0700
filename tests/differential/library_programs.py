# SPDX-License-Identifier: Apache-2.0
"""All programs: what CUDA's libraries expand to, by module."""

from functools import cache

from . import cub_programs, math_programs, standard_programs
from .program_runs import Module


@cache
def modules() -> tuple[Module, ...]:
    return (*cub_programs.modules(), *standard_programs.modules(), *math_programs.modules())
