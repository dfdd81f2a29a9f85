"""Distances and moments of balls in bins, against enumeration."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, HypothesisError, OutsideDoubleRange
from hsdp_symbolic.functions.bin_distances import told_distances
from hsdp_symbolic.functions.bin_moments import Bins, added_moments, drift_of, removed_moments
from hsdp_symbolic.functions.bins_divergence import ROUGH_CELLS, BinsDivergence, _enclosed
from hsdp_symbolic.functions.bins_faint import faint
from proofs_check.soundness import _draw, _split, faults_at

AWAY = np.array([0.0, 0.4, 1.7])


@pytest.mark.parametrize(("factor", "count", "told"), [("0.9", 3, 4), ("0.5", 2, 6), ("1", 4, 3)])
@pytest.mark.parametrize("cells", [4, 64])
def test_means_of_convex_rising_functions_are_between_those_of_both_laws(factor, count, told, cells):
    q = float(Fraction(factor))
    places = product(range(count), repeat=told)
    exact = np.array([sum(q ** (count * e + i) for e, i in enumerate(found)) for found in places])
    low, high = (told_distances(Fraction(factor), count, told, cells, above=above) for above in (False, True))
    for function in (np.exp, lambda z: np.exp(3 * z * z / told**2), lambda z: z):
        truth = function(exact).mean()
        below, above = (float((function(law.away) * law.chances).sum()) for law in (low, high))
        assert below <= truth * (1 + 1e-12)
        assert above >= truth * (1 - 1e-12)
        assert cells < 64 or above - below < 0.01 * truth


@pytest.mark.parametrize(
    "bins",
    [
        Bins(2, Fraction(1, 4), Fraction(9, 10), 2, 3),
        Bins(3, Fraction(1), Fraction(1), 1, 2),
        Bins(4, Fraction(1, 9), Fraction(1, 2), 1, 4),
        Bins(2, Fraction(1, 4), Fraction(9, 10), 2, 1),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_moments_are_means_over_the_places_of_all_copies(bins, engine):
    order, q, cost = 3, float(bins.factor), float(bins.cost)
    steps = bins.count * bins.known
    reached = sum(q ** (2 * i) for i in range(bins.window))
    made = ENGINES[engine](96)
    with made.working():
        low, high = (removed_moments(made, bins, order, AWAY, above=above) for above in (False, True))
        whole = Fraction(order)
        added_low, added_high = (added_moments(made, bins, whole, AWAY, above=above) for above in (False, True))
    for row, z in enumerate(AWAY):
        shifts = [z * q**steps * q**i / reached if i < bins.window else 0.0 for i in range(steps)]
        squares = sum(a * a for a in shifts)
        truth = math.exp(math.comb(order, 2) * cost * squares)
        for epoch in range(bins.known):
            total = 0.0
            for places in product(range(bins.count), repeat=order):
                used = [places.count(place) for place in range(bins.count)]
                drift = [shifts[epoch * bins.count + place] for place in range(bins.count)]
                total += math.exp(
                    cost * sum(math.comb(c, 2) + (order - 1) * a * c for c, a in zip(used, drift, strict=True))
                )
            truth *= total / bins.count**order
        assert low[row] <= truth * (1 + 1e-13)
        assert high[row] >= truth * (1 - 1e-13)
        assert high[row] == pytest.approx(truth, rel=1e-9)
        exponent = order * (order - 1) * cost / 2 * (squares + 2 * sum(shifts) / bins.count)
        assert added_low[row] <= math.exp(exponent) * (1 + 1e-13)
        assert added_high[row] == pytest.approx(math.exp(exponent), rel=1e-9)


def test_a_copy_meets_the_run():
    """Σ q^i·a_i = q^(Nm)·z, whatever the stairs."""
    bins, engine = Bins(50, Fraction(1, 4), Fraction(49, 50), 4, 170), ENGINES["arb"](96)
    with engine.working():
        shifts = [float(engine.bounds(each)[1]) for each in drift_of(engine, bins).shifts]
    total = sum(0.98**i * shifts[i // bins.stride] for i in range(bins.window))
    assert total == pytest.approx(0.98**200, rel=1e-12)
    assert len(shifts) <= 64


def test_it_rises_with_cost_epochs_and_order():
    start = [Fraction(x) for x in ("5", "0.1", "0.9", "4", "2", "7", "3")]
    base = float(BinsDivergence.array(*start))
    for place, more in ((1, Fraction(1, 5)), (3, Fraction(5)), (6, Fraction(5))):
        assert float(BinsDivergence.array(*start[:place], more, *start[place + 1 :])) > base


def test_what_no_run_has_is_refused():
    good = [Fraction(x) for x in ("5", "0.1", "0.9", "4", "2", "7", "3")]
    for place, bad in ((0, "0"), (2, "1.5"), (4, "5"), (5, "11"), (5, "0")):
        with pytest.raises(ArgumentError):
            BinsDivergence.array(*good[:place], Fraction(bad), *good[place + 1 :])
    with pytest.raises(OutsideDoubleRange, match="use composition:balls_in_bins"):
        BinsDivergence.array(good[0], Fraction(10**6), *good[2:])


FAINT = [
    (Bins(2, Fraction(1, 10**3), Fraction(9, 10), 1, 2), 3, 3),
    (Bins(3, Fraction(1, 10**4), Fraction(1), 2, 2), 4, 5),
    (Bins(50, Fraction(1, 10**5), Fraction(49, 50), 3, 100), 40, 7),
    (Bins(1, Fraction(1, 10**4), Fraction(1, 2), 2, 2), 6, 3),
    (Bins(4, Fraction(1, 10**4), Fraction(1, 3), 2, 5), 2, 2),
]


class TestNextToNothing:
    """Losses so small that a moment is 1 in doubles."""

    @pytest.mark.parametrize(("bins", "epochs", "order"), FAINT)
    @pytest.mark.parametrize("engine", ENGINES)
    def test_the_mean_loss_brackets_what_the_grid_has(self, bins, epochs, order, engine):
        low, high = faint(engine, 96, bins, epochs, order, Fraction(1, 20))
        below, above = _enclosed(engine, bins, epochs, order, 1024)
        assert low <= above
        assert below <= high
        assert low < high <= Fraction(107, 100) * low

    def test_it_is_what_enumeration_gives(self):
        """Two told epochs of two batches, one that is secret, three copies; record removed."""
        bins, order, q = FAINT[0][0], 3, 0.9
        cost, reached = float(bins.cost), 1 + q * q
        total = 0.0
        for told in product(range(2), repeat=2):
            z = q ** told[0] + q ** (2 + told[1])
            shifts = [z * q**2 * q**i / reached for i in range(2)]
            pairs = math.comb(order, 2) * sum(a * a for a in shifts)
            for places in product(range(2), repeat=order):
                used = [places.count(place) for place in range(2)]
                steps = zip(used, shifts, strict=True)
                pairs_of = sum(math.comb(c, 2) + (order - 1) * a * c for c, a in steps)
                total += math.expm1(cost * (pairs + pairs_of)) / 2 ** (2 + order)
        removed = math.log1p(total) / (order - 1)
        low, high = faint("arb", 96, bins, 3, order, Fraction(1, 20))
        fixed = cost / 2 * (1 - 1 / 2)
        assert float(low) - fixed <= removed * (1 + 1e-12)
        assert removed <= float(high)
        assert removed > 0.99 * (float(low) - fixed)

    @pytest.mark.parametrize("cost", ["1e-16", "1e-24", "1e-60", "1e-400"])
    def test_however_small_it_is_known_to_a_relative_width(self, cost):
        for engine in ENGINES:
            noise = 1 / (2 * Fraction(cost))
            run = Setting(n=50, b=2, K=40, eta=1, lam="0.02", beta="0.03", sigma_squared=noise, S_g=2)
            found = statement("secret:balls_in_bins").enclose(run, alpha=8, known=4, window=80, engine=engine)
            assert 0 < found.lo < found.hi < Fraction(21, 20) * found.lo
            again = statement("secret:balls_in_bins").enclose(run, alpha=8, known=4, window=80, rtol="1e-6")
            assert found.overlaps(again)
            assert again.relative_width <= Fraction(1, 10**6)

    def test_where_the_grid_answers_nothing_is_larger_than_on_it(self):
        """The mean loss is rounded up by as much as losses vary, which a grid may know better."""
        for bins, epochs, order in FAINT:
            row = (bins.count, bins.cost, bins.factor, epochs, bins.known, bins.window, order - 1)
            on_grid = _enclosed("arb", bins, epochs, order, ROUGH_CELLS)[1]
            assert Fraction(float(BinsDivergence.array(*map(Fraction, row)))) <= on_grid * (1 + Fraction(1, 2**52))

    def test_control_what_is_not_small_is_left_to_the_grid(self):
        assert faint("arb", 96, Bins(2, Fraction(1, 4), Fraction(9, 10), 1, 2), 3, 3, Fraction(1, 20)) is None
        assert faint("arb", 96, Bins(2, Fraction(1, 200), Fraction(1), 1, 2), 30, 3, Fraction(1, 20)) is None


def test_random_settings_are_answered_not_refused():
    found, rng, answered = statement("secret:balls_in_bins"), random.Random(3), 0
    for _ in range(100):
        try:
            fault = faults_at(found, *_split(_draw(rng, found)))
        except HypothesisError:
            continue
        answered += 1
        assert not fault
    assert answered > 20
