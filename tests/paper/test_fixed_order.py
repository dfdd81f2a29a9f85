"""The theorem on a fixed order, beside what its proof derives."""

from __future__ import annotations

from sympy import Symbol

from hsdp_symbolic import statement
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.algebra import is_zero
from hsdp_symbolic.symbols import K, N, m, q
from hsdp_symbolic.symbols import j as index


def test_the_theorem_is_the_derived_bound_over_the_dropped_factor():
    """Term by term: the first terms differ by exactly q^(2(N−m)), the second terms agree."""
    theorem, eps0 = statement("thm:strconvexsmooth"), statement("eps0")
    decay = q ** (2 * (N - m))
    first, second = (
        eps0.expr.subs(index, m) * GeometricSum(decay, K - 1),
        eps0.expr.subs(index, N - Symbol("j0", integer=True, nonnegative=True)),
    )
    assert is_zero(theorem.expr - first - second)
    assert not is_zero(theorem.expr - decay * first - second)
