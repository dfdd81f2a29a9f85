"""Polynomial certificates and their integer checker."""

from __future__ import annotations

import random

import pytest
from sympy import Mul, Pow, Rational, Symbol, pi, sqrt

from hsdp_symbolic.proof.certificates import Positive, certificate_of
from hsdp_symbolic.proof.checks import Verdict, surviving_mutants
from hsdp_symbolic.proof.kernel import Refused, polynomial
from hsdp_symbolic.proof.positivity import certifies, check
from hsdp_symbolic.symbols import gap, p, q

x, y, z = (Symbol(name, positive=True) for name in "xyz")

POSITIVE = [
    x**2 - x * y + y**2,
    x**2 - Rational(19, 10) * x * y + y**2,
    x**3 + y**3 + z**3 - Rational(29, 10) * x * y * z,
    1 + q - 3 * q**2 + 2 * q**3 + 2 * q**4,
    (x + 1) / (x**2 - x + 1),
    1 + gap - gap**2 + gap**3,
]
NOT_POSITIVE = [x - y, x**2 - 2 * x * y + y**2, x**2 - Rational(21, 10) * x * y + y**2, x - 1, gap, -x, x - x]


class TestCertificates:
    @pytest.mark.parametrize("expr", POSITIVE, ids=str)
    def test_found_and_replayed(self, expr):
        found = certificate_of(expr)
        assert found
        assert certifies(expr, found)
        assert polynomial(expr, found)

    @pytest.mark.parametrize("expr", NOT_POSITIVE, ids=str)
    def test_none_for_what_is_not_positive(self, expr):
        assert not certificate_of(expr)
        with pytest.raises(Refused):
            polynomial(expr, ((("power", 0),), (("power", 0),)))

    def test_the_checker_believes_no_false_proof(self):
        """Random proofs for random polynomials: whatever it accepts is positive at random points."""
        rng, accepted = random.Random(2), 0

        def guess(depth):
            if depth == 0 or rng.random() < 0.4:
                return ("power", rng.randrange(5))
            i, j = rng.sample(range(3), 2)
            return ("cut", i, j, *(guess(depth - 1) for _ in range(3)))

        for _ in range(3000):
            terms = {(e, f, 4 - e - f): rng.randint(-2, 6) for e in range(5) for f in range(5 - e)}
            if check(terms, guess(3)):
                accepted += 1
                for _ in range(20):
                    at = [rng.choice([1, 10, 100]) * rng.randint(1, 2) for _ in range(3)]
                    assert sum(c * at[0] ** e[0] * at[1] ** e[1] * at[2] ** e[2] for e, c in terms.items()) > 0
        assert accepted > 20

    @pytest.mark.smoke
    def test_a_tampered_certificate_fails(self):
        expr = x**2 - x * y + y**2
        found = certificate_of(expr)
        assert not certifies(expr - 3 * x * y, found)
        assert not certifies(expr, ((("power", 0),), found[1]))
        assert not certifies(expr, found[:1])

    def test_a_divisor_that_may_be_0_is_refused(self):
        """(x − 1)/(x − 1) is some number at x = 1, and nothing is known of it."""
        hidden = Mul(x - 1, Pow(2 * x - 2, -1), evaluate=False)
        assert not certifies(hidden, ((("power", 0),), (("power", 0),)))
        assert not certifies((x**2 - 1) / (x - 1), ((("power", 0),), (("power", 0),)))

    def test_what_is_no_rational_polynomial_gets_no_certificate(self):
        assert certificate_of(sqrt(2) * p + 1) is None
        assert certificate_of(pi * p + 1) is None

    @pytest.mark.smoke
    def test_the_check_and_its_control(self):
        claim = Positive(5 - q, (q < 1,), {q: 1 / (1 + p)})
        assert claim.verify().verdict is Verdict.PROVED
        assert claim.verify().scope == "where q < 1"
        assert surviving_mutants(claim) == (3, [])
        assert Positive(5 - q, (), {q: 1 / (1 + p)}).verify().verdict is Verdict.UNDECIDED
        assert Positive(q - 1, (q < 1,), {q: 1 / (1 + p)}).verify().verdict is Verdict.UNDECIDED
