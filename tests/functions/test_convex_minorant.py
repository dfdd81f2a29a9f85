"""The best shifts for any pattern of hits: optimal, certified, fast."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction

import numpy as np
import pytest

from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.functions.convex_minorant import edges, pattern_bound, pattern_exact, pattern_upper


def quadratic_programme(hits, q, v, s):
    """min Σ a²/(2v) over a with z_(t+1) = q·z_t + s·hit − a ≥ 0, z_T = 0, by its optimality conditions, in rationals.

    The optimum has z_t = 0 exactly at some set of times; between two of them all a_t/(v_t·P_t) are equal (the
    gradient of the cost along the only constraint left), so each stretch has a closed form. The programme is convex,
    so the cheapest feasible chain of stretches is the optimum; all chains are tried, shared beginnings once.
    """
    best = [Fraction(0)]
    for end in range(1, len(hits) + 1):
        found = (best[begin] + cost for begin in range(end) if (cost := stretch(hits, q, v, s, begin, end)) is not None)
        best.append(min(found))
    return best[-1]


def stretch(hits, q, v, s, begin, end):
    """The cost from one time with nothing to hide to the next, with none in between; None if some z_t is negative."""
    left = [Fraction(1)] * (end - begin)
    for i in range(end - begin - 2, -1, -1):
        left[i] = left[i + 1] * q[begin + i + 1]
    jumps = [s[t] if hits[t] else Fraction(0) for t in range(begin, end)]
    slope = sum(map(Fraction.__mul__, left, jumps)) / sum(p * p * v[begin + i] for i, p in enumerate(left))
    z = Fraction(0)
    for i, p in enumerate(left):
        z = q[begin + i] * z + jumps[i] - slope * p * v[begin + i]
        if z < 0:
            return None
    return slope * slope * sum(p * p * v[begin + i] for i, p in enumerate(left)) / 2


class TestOptimality:
    @pytest.mark.parametrize("most", [8, pytest.param(10, marks=pytest.mark.slow)])
    def test_every_pattern_is_the_quadratic_programme(self, most):
        checked = 0
        for steps in range(1, most + 1):
            q, one = [Fraction(9, 10)] * steps, [Fraction(1)] * steps
            for hits in itertools.product((0, 1), repeat=steps):
                assert pattern_exact(hits, q="0.9") == quadratic_programme(hits, q, one, one)
                checked += 1
        assert checked == 2 ** (most + 1) - 2

    def test_with_steps_that_differ(self):
        rng = random.Random(6)
        for _ in range(150):
            steps = rng.randint(1, 7)
            hits = [rng.randint(0, 1) for _ in range(steps)]
            q = [Fraction(rng.randint(1, 10), 10) for _ in range(steps)]
            v = [Fraction(rng.randint(1, 9), 4) for _ in range(steps)]
            s = [Fraction(rng.randint(0, 9), 4) for _ in range(steps)]
            assert pattern_exact(hits, q=q, v=v, s=s) == quadratic_programme(hits, q, v, s)

    def test_no_feasible_shifts_cost_less(self):
        """Random feasible shifts, none cheaper: the negative control is a minorant with a vertex left out."""
        rng, q = random.Random(7), Fraction(4, 5)
        for _ in range(200):
            hits = [rng.randint(0, 1) for _ in range(rng.randint(2, 12))]
            z, cost = Fraction(0), Fraction(0)
            for step, hit in enumerate(hits):
                y = q * z + hit
                removed = y if step == len(hits) - 1 else y * Fraction(rng.randint(0, 10), 10)
                z, cost = y - removed, cost + removed**2 / 2
            assert pattern_exact(hits, q=q) <= cost

    def test_a_path_that_is_not_feasible_would_cost_less(self):
        """One straight line for a hit in the last step would hide the jump before it happens."""
        hits = [0, 0, 1]
        assert pattern_exact(hits, q=1) == Fraction(1, 2)
        assert Fraction(1, 2 * 3) < pattern_exact(hits, q=1)


class TestExpansion:
    """Updates that are not contractions: q_t > 1."""

    def test_every_pattern_up_to_seven_steps_is_the_quadratic_programme(self):
        for steps, factor in itertools.product(range(1, 8), (Fraction(11, 10), Fraction(3))):
            q, one = [factor] * steps, [Fraction(1)] * steps
            for hits in itertools.product((0, 1), repeat=steps):
                assert pattern_exact(hits, q=factor) == quadratic_programme(hits, q, one, one)

    def test_with_steps_that_differ(self):
        rng = random.Random(12)
        for _ in range(300):
            steps = rng.randint(1, 7)
            hits = [rng.randint(0, 1) for _ in range(steps)]
            q = [Fraction(rng.randint(0, 25), 10) for _ in range(steps)]
            v = [Fraction(rng.randint(1, 9), 4) for _ in range(steps)]
            s = [Fraction(rng.randint(0, 9), 4) for _ in range(steps)]
            exact = pattern_exact(hits, q=q, v=v, s=s)
            assert exact == quadratic_programme(hits, q, v, s)
            upper, near = (view(hits, q=q, v=v, s=s) for view in (pattern_upper, pattern_bound))
            assert exact <= Fraction(upper) <= exact * (1 + Fraction("1e-14"))
            assert near == pytest.approx(float(exact), rel=1e-13)

    def test_sums_over_all_steps_would_lose_the_late_ones(self):
        """What the first steps weigh drowns the rest in sums of doubles: that bound is too small."""
        hits, q = [1, 0, 0, 0, 0] * 40, 1.4
        weight = np.append(np.cumprod(np.full(199, q))[::-1], 1.0)
        x, height = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight**2, weight * hits))
        lost = 0.0
        for block in range(40):
            run, rise = (float(part[5 * block + 5] - part[5 * block]) for part in (x, height))
            lost += rise**2 / run / 2 if run else 0.0
        exact = float(pattern_exact(hits, q="1.4"))
        assert lost < 0.6 * exact
        assert pattern_bound(hits, q=q) == pytest.approx(exact, rel=1e-12)
        assert exact <= pattern_upper(hits, q="1.4") <= exact * (1 + 1e-13)

    def test_many_steps(self):
        """Weights that no double can hold."""
        for factor in (1.5, 0.01):
            hits = np.arange(20_000) % 10 == 0
            value = pattern_bound(hits, q=factor)
            assert value == pytest.approx(2000 * pattern_bound(hits[:10], q=factor) if factor > 1 else value)
            assert 0 <= value < 2000

    def test_never_more_than_every_hit_by_itself(self):
        """To hide each hit at once is feasible, whatever q_t."""
        rng = random.Random(13)
        for _ in range(200):
            hits = [rng.randint(0, 1) for _ in range(rng.randint(1, 12))]
            q = [Fraction(rng.randint(0, 40), 10) for _ in hits]
            assert pattern_exact(hits, q=q) <= Fraction(sum(hits), 2)

    def test_an_earlier_hit_may_cost_more(self):
        """Not so for contractions (`tests/functions/test_reshuffled_profile.py`)."""
        assert pattern_exact([1, 1, 0, 0], q=2) == Fraction(37, 42) > pattern_exact([1, 0, 1, 0], q=2) == Fraction(4, 5)


class TestViews:
    def test_three_views_agree(self):
        rng = np.random.default_rng(8)
        for _ in range(300):
            steps = int(rng.integers(1, 40))
            hits = rng.random(steps) < rng.random()
            q = [Fraction(int(x), 20) for x in rng.integers(0, 21, steps)]
            v = [Fraction(int(x), 4) for x in rng.integers(1, 9, steps)]
            s = [Fraction(int(x), 4) for x in rng.integers(0, 9, steps)]
            exact = pattern_exact(hits, q=q, v=v, s=s)
            upper = pattern_upper(hits, q=q, v=v, s=s)
            near = pattern_bound(hits, q=[float(x) for x in q], v=[float(x) for x in v], s=[float(x) for x in s])
            assert Fraction(upper) >= exact
            assert upper <= float(exact) * (1 + 1e-14)
            assert near == pytest.approx(float(exact), rel=1e-12, abs=1e-300)

    def test_a_wrong_vertex_costs_tightness_never_truth(self, monkeypatch):
        """Whatever the doubles say, the certified path is feasible."""
        hits, q = [1, 0, 1, 1, 0, 0, 1, 0], "0.9"
        exact, rng = pattern_exact(hits, q=q), random.Random(9)
        for _ in range(50):
            chosen = sorted(rng.sample(range(1, len(hits)), rng.randint(0, 4)))
            claimed = [0, *chosen, len(hits)]
            monkeypatch.setattr("hsdp_symbolic.functions.convex_minorant.vertices", lambda *_, claimed=claimed: claimed)
            assert Fraction(pattern_upper(hits, q=q)) >= exact

    def test_the_table(self):
        rows = {(0, 10): "0.0047747779299173", (0, 15): "0.0071621668948760"}
        rows |= {(24, 10): "0.0547747779193567", (24, 15): "0.0821621668790351"}
        for (place, alpha), value in rows.items():
            hits = np.arange(1000) % 25 == place
            assert alpha * 2 * 0.005 * pattern_bound(hits, q=0.98) == pytest.approx(float(value), rel=1e-14)
            assert alpha * 2 * 0.005 * pattern_upper(hits, q="0.98") == pytest.approx(float(value), rel=1e-14)

    def test_a_million_steps_in_a_second(self):
        """Without hits that far back, underflowing weights are nothing: the answer is that of the last steps."""
        rng = np.random.default_rng(10)
        for q in (0.98, 1.0, rng.uniform(0.9, 1, 10**6)):
            hits = rng.random(10**6) < 0.04
            begin = time.process_time()
            value = pattern_bound(hits, q=q)
            assert time.process_time() - begin < 1
            assert value > 0
            if np.ndim(q) == 0 and q < 1:
                assert value == pytest.approx(pattern_bound(hits[-5000:], q=q), rel=1e-13)

    def test_the_long_way_round_gives_the_same_edges(self, monkeypatch):
        """Falling slopes may be pooled in any order."""
        rng = np.random.default_rng(11)
        steps = np.ones(3000), rng.uniform(0.9, 1.1, 3000), rng.random(3000), rng.random(3000) ** 8
        fast = edges(*steps)
        monkeypatch.setattr("hsdp_symbolic.functions.convex_minorant._ROUNDS", 1)
        slow = edges(*steps)
        np.testing.assert_array_equal(fast.begin, slow.begin)
        np.testing.assert_allclose(fast.rise**2 / fast.run, slow.rise**2 / slow.run, rtol=1e-12)

    @pytest.mark.parametrize(
        ("argument", "changed"),
        [
            ("hits", {"hits": []}),
            ("hits", {"hits": [0, 2]}),
            ("hits", {"hits": [[0, 1]]}),
            ("q", {"q": -0.5}),
            ("q", {"q": float("inf")}),
            ("q", {"q": float("nan")}),
            ("q", {"q": [0.5, 0.5, 0.5]}),
            ("v", {"v": 0}),
            ("v", {"v": "inf"}),
            ("s", {"s": -1}),
            ("s", {"s": None}),
        ],
    )
    def test_what_is_refused(self, argument, changed):
        given = {"hits": [0, 1], "q": 0.9, "v": 1, "s": 1, **changed}
        hits = given.pop("hits")
        for view in (pattern_bound, pattern_exact, pattern_upper):
            with pytest.raises(ArgumentError, match=argument):
                view(hits, **given)
