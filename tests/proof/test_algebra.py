"""Zero and sign of expressions with symbolic exponents, and mutants of expressions."""

from __future__ import annotations

import pytest
from sympy import Symbol, log

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.algebra import is_zero
from hsdp_symbolic.proof.mutants import mutations
from hsdp_symbolic.proof.signs import Sign, seen
from hsdp_symbolic.symbols import N, alpha, m, p, q
from hsdp_symbolic.symbols import j as index


@pytest.mark.smoke
class TestAlgebra:
    def test_zero_with_symbolic_exponents(self):
        assert is_zero(q ** (2 * (N - m)) * q ** (2 * m) - q ** (2 * N))
        assert is_zero(GeometricSum(q, N + m) - GeometricSum(q, N) - q**N * GeometricSum(q, m))
        assert not is_zero(GeometricSum(q, N + m) - GeometricSum(q, N) - q**m * GeometricSum(q, m))

    def test_zero_with_logarithms(self):
        assert is_zero(log(q**2 * alpha) - 2 * log(q) - log(alpha))
        assert not is_zero(log(q**2 * alpha) - log(q) - log(alpha))

    def test_positivity_needs_the_domain(self):
        assert seen(1 - q) is None
        assert seen((1 - q).subs(q, 1 / (1 + p))) is Sign.POSITIVE
        assert seen((q - 1).subs(q, 1 / (1 + p))) is None

    def test_positivity_refuses_generators_of_unknown_sign(self):
        assert seen(Symbol("x", real=True) + 1) is None

    def test_mutants_are_genuine(self):
        expr = 2 * q**2 / GeometricSum(q**2, index)
        found = list(mutations(expr, limit=50))
        assert len(found) >= 5
        assert all(not is_zero(variant - expr) for _, variant in found)
        assert any("shifted" in what for what, _ in found)
        assert any("exponent" in what for what, _ in found)
