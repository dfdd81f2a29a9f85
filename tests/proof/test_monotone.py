"""Which way a bound goes as a letter grows: the rules, and what they refuse."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from sympy import Integer, Symbol

from hsdp_symbolic import statement, statements
from hsdp_symbolic.errors import GridExhausted, TooManySteps
from hsdp_symbolic.evaluate.boxes import is_count
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.trend import trend
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.checks import Verdict, surviving_mutants
from hsdp_symbolic.proof.kernel import Refused
from hsdp_symbolic.proof.monotone import LargestTerm, Monotone
from hsdp_symbolic.proof.propositions import Less
from hsdp_symbolic.symbols import K, N, alpha, eta, gap, i, lam, m, more, n, rho0, sigma, sigma2
from tests.evaluate.test_boxes import BINS, SAMPLED, in_bins, is_closed
from tests.points import draw_few_steps, draw_point


class TestMonotone:
    def test_directions_agree_with_values(self):
        """Every trend of every statement, held against certified values at random pairs of points."""
        rng = random.Random(4)
        assert (
            sum(seen_directions(found, rng, draw_point, rtol="1e-60") for found in filter(is_closed, statements()))
            > 125
        )

    def test_directions_of_sampled_runs_agree_with_values(self):
        """The same for few steps on batches drawn afresh, whose values are known to fewer digits."""
        rng, sampled = random.Random(5), [found for found in statements() if found.expr.has(*SAMPLED)]
        assert (
            sum(seen_directions(found, rng, draw_few_steps, rtol=found.rtol, by=2, pairs=1) for found in sampled) > 25
        )

    def test_what_is_not_monotone_is_unknown(self):
        assert trend(statement("thm:strconvexsmooth").expr, eta) is None
        assert trend(eta * (1 - eta * lam), eta) is None
        assert trend(rho0 - rho0 * eta, sigma2) is None
        assert trend((K - 2) * rho0, sigma2) is None
        assert trend(1 / (n - alpha), alpha) is None

    def test_checks_reject_their_mutants(self):
        (mean,) = statement("thm:shuffle").expr.atoms(LogMeanExp)
        largest = LargestTerm(mean, alpha * (alpha - 1) * rho0)
        for check in (largest, Monotone(statement("thm:shuffle").expr, alpha, Trend.UP)):
            assert check.verify().verdict is Verdict.PROVED
            tried, survivors = surviving_mutants(check)
            assert tried == 3
            assert not survivors


def seen_directions(found, rng, draw, *, rtol, by=Fraction(51, 50), pairs=2):
    """How often the value of a statement went the way it must as one letter grew, `by` this factor if no count."""
    seen = 0
    for name in sorted(found._program.leaves - {"classes", "hit", "bias", "k", "j"}):
        direction = trend(found.expr, Symbol(name, **_assumptions(name)))
        if direction in (None, Trend.FLAT):
            continue
        for _ in range(pairs):
            low = draw(rng)
            if found.expr.has(*BINS):
                low |= in_bins(low)
            high = {**low, name: low[name] + 1 if is_count(name) else low[name] * by}
            if name in ("n", "b"):
                high[name] = low[name] * 2
            try:
                first, second = (
                    enclose(found._program, {leaf: at[leaf] for leaf in found._program.leaves}, rtol=rtol)
                    for at in (low, high)
                )
            except (GridExhausted, TooManySteps):  # one of the two is next to nothing, or takes very many steps
                continue
            below, above = (first, second) if direction is Trend.UP else (second, first)
            assert below.lo <= above.hi, (found.label, name)
            seen += below.hi < above.lo
    return seen


def _assumptions(name):
    from hsdp_symbolic import symbols

    return next(s for s in vars(symbols).values() if isinstance(s, Symbol) and s.name == name).assumptions0


def test_trends_lean_on_no_contract_a_node_does_not_keep():
    assert trend(LogMeanExp(eta * i, i, N), n) is None  # the terms rise with the index
    assert trend(LogMeanExp(eta / i, i, N), n) is Trend.DOWN
    assert trend(sigma, sigma2) is Trend.UP


@pytest.mark.parametrize(("expr", "symbol"), [(1 / N, N), (1 / sigma, sigma), (N - m, m)], ids=str)
def test_letters_that_are_rewritten_do_not_move(expr, symbol):
    """⌊n/b⌋ and σ are replaced before directions are looked for: taken as constant, they would prove 1 ≤ 1/2."""
    with pytest.raises(Refused):
        kernel.monotone(expr, symbol, kernel.compare(Integer(1), Integer(2)))
    with pytest.raises(Refused):
        kernel.moves(expr, symbol, more if symbol.is_integer else gap)


def test_what_a_direction_presumes_is_assumed_at_both_ends():
    found = kernel.moves(rho0 * alpha, alpha, gap)
    assert set(found.hypotheses) == {Less(Integer(1), alpha), Less(Integer(1), alpha + gap)}
    assert Monotone(rho0 * alpha, alpha, Trend.UP).verify().scope == "where 1 < alpha"


def test_abbreviations_move_with_their_letters():
    found = kernel.moves(rho0, sigma2, gap).proposition
    assert found.left.subs(gap, 0) == found.right
    assert found.right.has(sigma2)
