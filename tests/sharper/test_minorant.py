"""What is proved of the best shifts of a pattern is true of those that pooling finds."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from sympy import Lambda

from hsdp_symbolic.functions.convex_minorant import exact_edges, pattern_exact
from hsdp_symbolic.functions.sum_over import SumOver
from hsdp_symbolic.proof.facts.spending import LeastSpent, Rising, Shifted
from hsdp_symbolic.proof.kernel import Refused, apply, assume, closed, positive
from hsdp_symbolic.proof.propositions import AtMost, Equal, Gaussian
from hsdp_symbolic.sharper import minorant
from hsdp_symbolic.symbols import T, away_at, price_at, time_1


def drawn(rng, largest):
    """Hits, factors, variances and jumps of a few steps."""
    steps = rng.randint(1, 9)
    hits = [rng.randint(0, 1) for _ in range(steps)]
    factors = [Fraction(rng.randint(0, largest), 10) for _ in range(steps)]
    variances = [Fraction(rng.randint(1, 9), 4) for _ in range(steps)]
    return hits, factors, variances, [Fraction(rng.randint(0, 9), 4) for _ in range(steps)]


def prices(hits, factors, variances, jumps):
    """w_t = 2·slope·(what later steps of the same edge multiply), step by step."""
    edges = exact_edges(hits, q=factors, v=variances, s=jumps)
    ends = [*(each.begin for each in edges[1:]), len(hits)]
    found = []
    for edge, end in zip(edges, ends, strict=True):
        weight, backwards = Fraction(1), []
        for step in range(end - 1, edge.begin - 1, -1):
            backwards.append(2 * edge.rise / edge.run * weight)
            weight *= factors[step]
        found += reversed(backwards)
    return found


class TestPooledSteps:
    @pytest.mark.parametrize("largest", [10, 25])
    def test_prices_rise_only_where_nothing_is_left(self, largest):
        """`Shifted` and `Rising`, exactly, for contractions and for updates that expand."""
        rng = random.Random(largest)
        for _ in range(500):
            hits, factors, variances, jumps = drawn(rng, largest)
            price = prices(hits, factors, variances, jumps)
            away, spent = Fraction(0), Fraction(0)
            for step, here in enumerate(price):
                before = price[step - 1] if step else Fraction(0)
                assert before <= factors[step] * here
                assert before == factors[step] * here or away == 0
                away = factors[step] * away + jumps[step] * hits[step] - variances[step] * here / 2
                spent += variances[step] * here**2 / 4
                assert away >= 0
            assert away == 0
            assert spent == 2 * pattern_exact(hits, q=factors, v=variances, s=jumps)


class TestProofs:
    def test_the_best_shifts_are_a_bound_and_no_shifts_spend_less(self):
        best, least = minorant.best_shifts(), minorant.least_shifts()
        assert closed(best)
        assert closed(least)
        assert isinstance(best.proposition, Gaussian)
        assert isinstance(least.proposition, LeastSpent)
        assert best.proposition.cost == least.proposition.least == SumOver(minorant._LEAST, time_1, T)

    def test_what_is_assumed(self):
        kinds = {type(each) for each in minorant.least_shifts().hypotheses}
        assert kinds == {Shifted, Rising, Equal}
        assert Equal(away_at(T), 0) in minorant.least_shifts().hypotheses

    def test_prices_that_fall_are_refused(self):
        """Without `Rising`, a price cannot be exchanged for a lower one."""
        found = minorant.priced().proposition
        lower = assume(AtMost(price_at(time_1), found.price))
        with pytest.raises(Refused):
            apply(minorant.higher_price, assume(found), lower)

    def test_a_shift_may_be_any_function(self):
        """The bound for any shifts speaks of all of them: that of the best is the one with their shift put in."""
        assert minorant.any_shifts().proposition != minorant.best_shifts().proposition
        assert any(
            isinstance(each, Shifted) and each.shift == Lambda(time_1, minorant._SHIFT)
            for each in minorant.best_shifts().hypotheses
        )
        assert positive(price_at(time_1)).proposition == AtMost(0, price_at(time_1))
