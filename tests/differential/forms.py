# SPDX-License-Identifier: Apache-2.0
"""The instruction forms that the simulated device knows."""

import ctypes
from functools import cache

import cudacore

Form = tuple[str, str]
_NOT_FOUND = 500


@cache
def forms() -> tuple[Form, ...]:
    """Query the simulator's library, whichever driver is in use: key and signature of each form."""
    library = ctypes.CDLL(cudacore.simulator.library())
    form = library.cudacoreSimulatorForm
    form.argtypes = [
        ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p),
    ]  # fmt: skip
    key, signature = ctypes.c_char_p(), ctypes.c_char_p()
    found: list[Form] = []
    while True:
        code = form(len(found), ctypes.byref(key), ctypes.byref(signature))
        if code == _NOT_FOUND:
            return tuple(found)
        if code != 0 or key.value is None or signature.value is None:
            raise RuntimeError(f"cudacoreSimulatorForm({len(found)}): error {code}")
        found.append((key.value.decode(), signature.value.decode()))
