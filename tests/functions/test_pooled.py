"""The pooled factor: one node, three algebras."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.evaluate.enclosure import enclose, exact
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.pooled import Pooled
from hsdp_symbolic.symbols import c, u


class TestPooled:
    """One node, three algebras."""

    @pytest.mark.parametrize(("g", "y"), [("1/3", "5"), ("1", "5"), ("7/2", "5"), ("3", "0"), ("1/3", "1e-300")])
    def test_views_agree(self, g, y):
        from hsdp_symbolic.evaluate.numeric import evaluate

        program = compile_expression(Pooled(u, c))
        values = {"u": Fraction(g), "c": Fraction(y)}
        g, y = values.values()
        truth = (1 + g * y) ** 2 / (1 + y) if g >= 1 else 1 + g**2 * y
        assert exact(program, values) == truth
        assert truth in enclose(program, values)
        assert float(evaluate(program, values)) == pytest.approx(float(truth), rel=1e-15)

    def test_an_undecided_kink_costs_next_to_nothing(self):
        """g = 1/(1 + q^(N(K−1))), which no precision tells from 1: the enclosure is thin all the same."""
        run = Setting(n=10**6, b=1, K=7, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        found = statement("shift:cyclic").enclose(run, alpha=3, j0=5 * 10**5)
        assert found.relative_width < Fraction(1, 10**20)
