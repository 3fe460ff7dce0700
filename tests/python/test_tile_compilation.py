# SPDX-License-Identifier: Apache-2.0
"""Signatures of tile kernels: constraints, calling conventions, and the names made of them."""

import copy
import dataclasses
import enum
import math
import pickle

import cudacore.tile as ct
import pytest
from cudacore.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    DataclassConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    demangle_kernel_name,
    mangle_kernel_name,
)
from hypothesis import given
from hypothesis import strategies as st

V1 = CallingConvention.cutile_python_v1()
V2 = CallingConvention.cutile_python_v2()
V3 = CallingConvention.cutile_python_v3()


def array(ndim=1, dtype=ct.float32, **facts):
    facts = {
        "index_dtype": ct.int32,
        "stride_lower_bound_incl": 0,
        "alias_groups": (),
        "may_alias_internally": False,
    } | facts
    return ArrayConstraint(dtype, ndim, **facts)


@dataclasses.dataclass(frozen=True)
class Pair:
    first: object
    second: object


class Color(enum.Enum):
    RED = 1


class TestConventions:
    def test_names_and_codes(self):
        assert [c.name for c in (V1, V2, V3)] == [f"cutile_python_v{i}" for i in (1, 2, 3)]
        assert [CallingConvention.from_code(c.code) for c in (V1, V2, V3)] == [V1, V2, V3]
        assert repr(V1) == "CallingConvention('cutile_python_v1', 't1')"

    @pytest.mark.parametrize("code", ["", "t", "t0", "t4", "t11", "v1"])
    def test_unknown_codes(self, code):
        with pytest.raises(ValueError, match="Unknown calling convention"):
            CallingConvention.from_code(code)

    def test_unknown_version(self):
        with pytest.raises(ValueError, match="Unknown calling convention"):
            CallingConvention(4)

    @pytest.mark.parametrize(
        ("parameter", "convention", "version"),
        [
            (array(shape_constant=[4]), V1, 2),
            (TupleConstraint([1]), V1, 2),
            (DataclassConstraint(Pair, [1, 2]), V2, 3),
            (TupleConstraint([DataclassConstraint(Pair, [1, 2])]), V2, 3),
        ],
    )
    def test_what_they_lack(self, parameter, convention, version):
        with pytest.raises(ValueError, match=f"version >= {version} is required"):
            KernelSignature([parameter], convention)
        KernelSignature([parameter], CallingConvention(version))


class TestArrays:
    def test_defaults(self):
        assert array(2).stride_constant == (None, None)
        assert array(2).shape_divisible_by == (1, 1)
        assert array(2).stride_lower_bound_incl == (0, 0)

    def test_what_constants_make_redundant(self):
        known = array(stride_constant=[8], stride_divisible_by=4)
        assert known == array(stride_constant=[8])
        assert hash(known) == hash(array(stride_constant=[8]))

    @pytest.mark.parametrize(
        ("facts", "error", "message"),
        [
            ({"ndim": "1"}, TypeError, "integer for `ndim`"),
            ({"ndim": -1}, ValueError, "cannot be negative"),
            ({"dtype": "float32"}, TypeError, "Expected a DType"),
            ({"index_dtype": ct.int16}, ValueError, "int32 or int64"),
            ({"stride_constant": [1, 2]}, ValueError, "doesn't match ndim=1"),
            ({"stride_constant": ["1"]}, TypeError, "must be None or int"),
            ({"shape_constant": [-1]}, ValueError, "must be non-negative"),
            ({"shape_constant": [True]}, TypeError, "must be None or int"),
            ({"stride_divisible_by": 0}, TypeError, "strictly positive"),
            ({"stride_divisible_by": [0]}, TypeError, "strictly positive"),
            ({"stride_divisible_by": [None]}, TypeError, "must be int"),
            ({"stride_constant": [6], "stride_divisible_by": 4}, ValueError, "not divisible by 4"),
            ({"shape_constant": [6], "shape_divisible_by": 4}, ValueError, "not divisible by 4"),
            ({"stride_constant": [-1]}, ValueError, "less than the lower bound 0"),
            ({"base_addr_divisible_by": 0}, ValueError, "strictly positive"),
            ({"base_addr_divisible_by": "16"}, TypeError, "base_addr_divisible_by"),
            ({"alias_groups": "ab"}, TypeError, "cannot be a string"),
            ({"alias_groups": [1]}, TypeError, "non-string type"),
        ],
    )
    def test_refusals(self, facts, error, message):
        with pytest.raises(error, match=message):
            array(**facts)


class TestOthers:
    def test_constants_of_different_types_differ(self):
        assert ConstantConstraint(1) != ConstantConstraint(1.0)
        assert ConstantConstraint(1) != ConstantConstraint(True)
        assert ConstantConstraint(math.nan) == ConstantConstraint(math.nan)
        assert ConstantConstraint(0.0) != ConstantConstraint(-0.0)

    @pytest.mark.parametrize("kind", [int, str, float])
    def test_classes_that_equal_everything(self, kind):
        names = {"__eq__": lambda *_: True, "__hash__": lambda _: 1}
        equal = type("Equal", (kind,), names)
        assert ConstantConstraint(equal(3)) != ConstantConstraint(equal(4))
        assert ConstantConstraint(equal(3)) == ConstantConstraint(equal(3))
        assert hash(ConstantConstraint(equal(3))) == hash(ConstantConstraint(equal(3)))

    def test_members_that_equal_everything(self):
        class Both(int, enum.Enum):
            ONE = "one"
            TWO = "two"

            def __new__(cls, name):
                member = int.__new__(cls, 0)
                member._value_ = name
                return member

            def __eq__(self, other):
                return True

            def __hash__(self):
                return 1

        one, two = Both.__members__.values()
        assert ConstantConstraint(one) == ConstantConstraint(one)
        assert ConstantConstraint(one) != ConstantConstraint(two)

    def test_what_stands_for_constraints(self):
        signature = KernelSignature([1, (2.0, None), Pair(ct.int8, "x")], V3)
        assert signature.parameters == (
            ConstantConstraint(1),
            TupleConstraint([2.0, None]),
            DataclassConstraint(Pair, [ct.int8, "x"]),
        )
        assert DataclassConstraint.create(Pair, second=2, first=1) == DataclassConstraint(
            Pair, [1, 2]
        )

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: ConstantConstraint(b"x"), "Unexpected constant value type"),
            (lambda: ScalarConstraint(int), "Expected a DType"),
            (
                lambda: ListConstraint(1, alias_groups=(), elements_may_alias=False),
                "only supports an ArrayParameter",
            ),
            (lambda: TupleConstraint([b"x"]), "Can't interpret"),
            (lambda: DataclassConstraint(int, []), "must be a dataclass type"),
            (lambda: DataclassConstraint(Pair, [1]), r"\(1 vs 2\)"),
            (lambda: DataclassConstraint.create(Pair, first=1), "Missing field 'second'"),
            (
                lambda: DataclassConstraint.create(Pair, first=1, second=1, third=1),
                "No such field 'third'",
            ),
            (lambda: KernelSignature([1], "v1"), "Unsupported calling convention"),
            (lambda: KernelSignature([1], V1, 3), "must be a string"),
        ],
    )
    def test_refusals(self, make, message):
        with pytest.raises(TypeError, match=message):
            make()

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ([array(alias_groups=["a"])], "only once"),
            ([array(alias_groups=["a", "a"])], "more than once"),
            (
                [
                    array(alias_groups=["a"]),
                    ListConstraint(array(), alias_groups=["a"], elements_may_alias=False),
                ],
                "different types",
            ),
        ],
    )
    def test_groups_that_make_no_sense(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            KernelSignature(parameters, V1)


GROUPED = array(2, alias_groups=["x", "y"])

NAMES = [
    ([ScalarConstraint(ct.float32), 16], V1, "_Sf32_I16"),
    ([True, -7, 3.14, math.inf], V1, "_B1_I_7_F40091eb851eb851f_F7ff0000000000000"),
    ([array(2)], V1, "_A2f32_3l0"),
    ([array(index_dtype=ct.int64)], V1, "_A1f32_1l0_w"),
    (
        [
            array(
                3,
                stride_constant=[None, None, 1],
                stride_divisible_by=[8, 1, 1],
                shape_divisible_by=[16, 16, 1],
                base_addr_divisible_by=16,
            )
        ],
        V1,
        "_A3f32_1v8_3i16l0_4t1_p16",
    ),
    ([GROUPED, GROUPED], V1, "_A2f32_3l0_g0g1_A2f32_3l0_g0g1"),
    (
        [ListConstraint(array(2), alias_groups=(), elements_may_alias=True)],
        V1,
        "_LiA2f32_3l0",
    ),
    ([TupleConstraint([array(2), ScalarConstraint(ct.int32)]), ()], V2, "_T2A2f32_3l0Si32_T0"),
    ([array(2, shape_constant=[16, None])], V2, "_A2f32_1s16_3l0"),
    ([None, "Kö_1", ct.bfloat16], V3, "_Cn__Cs__k_f6__1_z_Cd_bf16"),
    (
        [DataclassConstraint(Pair, [Color.RED, 1])],
        V3,
        "_Dtest__tile__compilation_zPair_z2Ce_test__tile__compilation_zColor_zRED_zI1",
    ),
]


class TestNames:
    @pytest.mark.parametrize(("parameters", "convention", "expected"), NAMES)
    def test_both_ways(self, parameters, convention, expected):
        signature = KernelSignature(parameters, convention)
        name = mangle_kernel_name("my_K_kernel", signature)
        assert name == f"my_K_kernel_K{convention.code}{expected}"
        assert signature.with_mangled_symbol("my_K_kernel").symbol == name
        function, read = demangle_kernel_name(name, dataclasses=[Pair], enums=[Color])
        assert function == "my_K_kernel"
        assert mangle_kernel_name("my_K_kernel", read) == name

    def test_classes_must_be_allowed(self):
        name = mangle_kernel_name("f", KernelSignature([Pair(1, 2)], V3))
        with pytest.raises(ValueError, match="refusing to demangle"):
            demangle_kernel_name(name)

    @pytest.mark.parametrize(
        "name",
        [
            "plain",
            "f_Kt1_",
            "f_Kt1_X",
            "f_Kt1_Sf33",
            "f_Kt1_B2",
            "f_Kt1_A1f32_2l0",
            "f_Kt1_A1f32_0l0",
            "f_Kt1_A1f32_1l0l0",
            "f_Kt1_A999999999f32",
            "f_Kt1_T999999999",
            "f_Kt2_" + "T1" * 100,
            "f_Kt1_LSf32",
            "f_Kt1_A1f32_g1_A1f32_g1",
            "f_Kt3_Cs__w00110000_z",
            "f_Kt3_Cs_never",
        ],
    )
    def test_what_is_no_name(self, name):
        with pytest.raises(ValueError):
            demangle_kernel_name(name)

    @given(st.text(alphabet="AfKtTILS1_0zgilv32B", max_size=40))
    def test_any_text_ends_in_a_signature_or_an_error(self, text):
        try:
            function, signature = demangle_kernel_name("f_K" + text)
        except ValueError:
            return
        assert demangle_kernel_name(mangle_kernel_name(function, signature))[0] == function


def test_constraints_are_values():
    one, same, other = (ScalarConstraint(dtype) for dtype in (ct.int32, ct.int32, ct.int64))
    assert one == same != other
    assert len({one, same, other}) == 2
    assert repr(one) == "ScalarConstraint(dtype=<DType 'int32'>)"
    group = TupleConstraint([one, 3])
    for made in (pickle.loads(pickle.dumps(group)), copy.deepcopy(group)):
        assert made == group
    for change in (lambda: setattr(one, "dtype", ct.int64), lambda: delattr(one, "dtype")):
        with pytest.raises(AttributeError, match="field 'dtype'"):
            change()
    assert ConstantConstraint(1) != ConstantConstraint(1.0) != ConstantConstraint(value=True)
