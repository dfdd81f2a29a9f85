"""Means of very many exponentials."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic import Setting, statement
from tests import oracle


class TestMeansOfManyTerms:
    """thm:shuffle with many batches is summed by blocks of series; term by term elsewhere."""

    @pytest.mark.parametrize("batches", [33, 64, 65, 300, 2000])
    @pytest.mark.parametrize("eta", ["1e-9", "1e-3", "0.05", "0.9"])
    def test_agrees_with_the_engine_that_adds_term_by_term(self, batches, eta):
        run = Setting(n=batches, b=1, K=3, eta=eta, lam=1, beta=1, sigma="0.1", S_g=1)
        for order in (2, 30, 300):
            blocks, terms = (statement("thm:shuffle").enclose(run, alpha=order, engine=e) for e in ("arb", "mpmath"))
            assert blocks.overlaps(terms)
            assert blocks.relative_width <= Fraction(1, 10**20)

    def test_many_terms_against_the_oracle(self):
        run = {"n": 30_000, "b": 1, "K": 2, "eta": Fraction(1, 10**4), "lam": 1, "beta": 1, "sigma": Fraction(1, 100)}
        run |= {"S_g": 1}
        found = statement("thm:shuffle").enclose(Setting(**run), alpha=20)
        with mpmath.workdps(40):
            truth = oracle.shuffle({**run, "alpha": 20})
            assert abs(oracle.to_mpf(found.lo) - truth) <= truth * mpmath.mpf(10) ** -19

    def test_no_number_of_terms_is_too_many(self):
        run = Setting(n=10**30, b=1, K=2, eta="1e-20", lam=1, beta=1, sigma="1e-12", S_g=1)
        bracket = statement("thm:shuffle").enclose(run, alpha=3)
        assert bracket.relative_width <= Fraction(1, 10**20)
        assert bracket.lo > 0
