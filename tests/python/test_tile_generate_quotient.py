# SPDX-License-Identifier: Apache-2.0
"""Divisions by what many elements share: to the last bit what dividing each of them gives."""

import numpy as np
import pytest
from tile_kernels import keep, kernel, run, tile, whole

COLUMNS = 256


def numbers(rng, count):
    """Floats of all sizes, some of them special."""
    found = rng.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38], np.float32)
    found[rng.random(count) < 0.1] = rng.choice(special, 1)[0]
    found[: len(special)] = special
    return found


def near_one(rng, count):
    return (rng.random(count) + np.float32(0.5)).astype(np.float32)


def check(out, x, divisors):
    with np.errstate(all="ignore"):
        expected = x / divisors
    assert np.array_equal(np.isnan(out), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(out.view(np.uint32)[kept], expected.view(np.uint32)[kept])


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("warps", [2, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows(arch, warps, axis):
    rng = np.random.default_rng(9)
    shape = (32, COLUMNS)
    thin = (1, COLUMNS) if axis == 0 else (32, 1)
    x = numbers(rng, 32 * COLUMNS).reshape(shape)
    x[8:24] = near_one(rng, 16 * COLUMNS).reshape(16, COLUMNS)
    x[12:16] *= np.float32(1e-38)
    divisors = near_one(rng, int(np.prod(thin)))
    divisors[2:12] = [0.0, -0.0, np.inf, np.nan, 1e-45, -3.0, 3e38, 1e-38, 7e37, 1e30]
    divisors = divisors.reshape(thin)
    out = np.zeros(shape, np.float32)
    body = f"""%x = {whole("%p", "f32", shape)}
%d = {whole("%q", "f32", thin)}
%w = broadcast %d : {tile("f32", shape)}
%y = div %x, %w : {tile("f32", shape)}
{keep("%out", "%y", shape)}"""
    parameters = {"p": "ptr<f32>", "q": "ptr<f32>", "out": "ptr<f32>"}
    run(kernel(parameters, body, f"hint warps = {warps}"), x, divisors, out, arch=arch)
    check(out, x, divisors)


@pytest.mark.parametrize(
    "divisor", [3.0, 1.0, -7.5, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 1e-37, 5e37, 2e38, 1e-20]
)
def test_one_number(divisor):
    rng = np.random.default_rng(10)
    x = np.concatenate([numbers(rng, COLUMNS), near_one(rng, COLUMNS), np.zeros(512, np.float32)])
    x[600:1000:3] *= -1
    out = np.zeros(1024, np.float32)
    body = f"""%x = {whole("%p", "f32", (1024,))}
%w = broadcast %d : f32[1024]
%y = div %x, %w : f32[1024]
{keep("%out", "%y", (1024,))}"""
    parameters = {"p": "ptr<f32>", "d": "f32", "out": "ptr<f32>"}
    run(kernel(parameters, body, "hint warps = 1"), x, np.float32(divisor), out)
    check(out, x, np.float32(divisor))


@pytest.mark.parametrize("divisor", ["3.0e0", "4.0e0", "5", "nan", "-1.0e-1"])
@pytest.mark.parametrize("is_scalar", [False, True])
def test_constant(divisor, is_scalar):
    rng = np.random.default_rng(11)
    x = numbers(rng, 1024)
    out = np.zeros(1024, np.float32)
    constant = f"const {{value = {divisor}}}"
    made = (
        f"%c = {constant} : f32\n%w = broadcast %c : f32[1024]"
        if is_scalar
        else f"%w = {constant} : f32[1024]"
    )
    body = f"""%x = {whole("%p", "f32", (1024,))}
{made}
%y = div %x, %w : f32[1024]
{keep("%out", "%y", (1024,))}"""
    run(kernel({"p": "ptr<f32>", "out": "ptr<f32>"}, body, "hint warps = 1"), x, out)
    check(out, x, np.float32(divisor))


@pytest.mark.parametrize("mode", ["rz", "full"])
def test_other_modes_divide_each(mode):
    x = near_one(np.random.default_rng(12), 1024)
    out = np.zeros(1024, np.float32)
    body = f"""%x = {whole("%p", "f32", (1024,))}
%w = const {{value = 4.0e0}} : f32[1024]
%y = div %x, %w {{rm = {mode}}} : f32[1024]
{keep("%out", "%y", (1024,))}"""
    generated = run(kernel({"p": "ptr<f32>", "out": "ptr<f32>"}, body, "hint warps = 1"), x, out)
    assert "Divisor" not in generated.source
    np.testing.assert_array_equal(out, x / 4)
