# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python and C++ both have to know are the same in both."""

import re
from pathlib import Path

import cudacore.tile as ct
from cudacore.tile import _annotation, _launch, _text

SOURCE = Path(__file__).parents[2] / "src"


def found_in(path: str, pattern: str) -> list[tuple[str, ...]]:
    """Return what a pattern of two groups finds in a source; it has to find something."""
    found = re.findall(pattern, (SOURCE / path).read_text())
    assert found, f"{path} has nothing like {pattern}"
    return found


def test_bits_of_parameters() -> None:
    [(body, _)] = found_in(
        "bindings/bind_tile_launches.cpp", r"enum ParameterBit : unsigned char \{(.*)(\})"
    )
    given = dict(re.findall(r"(\w+) = (\d+)", body))
    assert {name: int(bit) for name, bit in given.items()} == {
        "constant": _annotation._CONSTANT,
        "exact": _annotation._EXACT,
        "wide_int": _annotation._WIDE_INT,
        "wide_axes": _annotation._WIDE_AXES,
    }


def test_most_blocks_along_an_axis() -> None:
    [(power, less)] = found_in(
        "bindings/bind_tile_launches.cpp", r"constexpr long long most = \(1 << (\d+)\) - (\d+);"
    )
    assert 2 ** int(power) - int(less) == _launch._MOST_BLOCKS


def test_most_dimensions_of_tiles() -> None:
    [(_, most)] = found_in("tile/parse.cpp", r"constexpr int (most_dimensions) = (\d+);")
    assert int(most) == _text._MOST_DIMENSIONS


def test_elements() -> None:
    sizes = {
        name: int(bits) for name, bits in found_in("tile/element.cpp", r'\{"(\w+)", (\d+)(?=[,}])')
    }
    public = [getattr(ct, name) for name in ct.__all__]
    types = [each for each in public if isinstance(each, ct.DType)]
    # A bool takes a byte of memory, and what is computed from tf32 has its 32 bits.
    assert {each.element: each.bitwidth for each in types if each is not ct.bool_} == {
        name: bits for name, bits in sizes.items() if name != "i1"
    }


def test_order_of_elements() -> None:
    header = (SOURCE / "tile/element.hpp").read_text()
    body = header.partition("enum class Element {")[2].partition("}")[0]
    table = [name for name, _ in found_in("tile/element.cpp", r'\{"(\w+)", (\d+)(?=[,}])')]
    assert re.findall(r"\w+", body) == table
