"""Distances and moments of balls in bins, against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, OutsideDoubleRange
from hsdp_symbolic.functions.bin_distances import told_distances
from hsdp_symbolic.functions.bin_moments import Bins, added_moments, drift_of, removed_moments
from hsdp_symbolic.functions.bins_divergence import BinsDivergence

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
    with pytest.raises(OutsideDoubleRange):
        BinsDivergence.array(good[0], Fraction(10**6), *good[2:])
