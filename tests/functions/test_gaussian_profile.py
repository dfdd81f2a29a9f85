"""Gaussian profiles and their inverse: both engines, doubles, directions, and values from elsewhere."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from sympy import Integer, Rational, Symbol

from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, NotRational, OutsideDoubleRange
from hsdp_symbolic.evaluate.enclosure import Enclosure, enclose, exact
from hsdp_symbolic.evaluate.intervals import Intervals
from hsdp_symbolic.evaluate.numeric import evaluate
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.evaluate.trend import sign, trend
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from hsdp_symbolic.functions.gaussian_epsilon import GaussianEpsilon
from hsdp_symbolic.functions.gaussian_profile import GaussianProfile
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.proof.signs import Sign
from hsdp_symbolic.proof.signs import sign as seen_sign
from hsdp_symbolic.setting.arrays import Samples
from hsdp_symbolic.symbols import K, N, S_g, delta, epsilon, eta, hit, i, q, sigma2
from hsdp_symbolic.tex import latex
from tests.tex.latex_reader import Book

PROFILE = compile_expression(GaussianProfile(S_g, epsilon))
INVERSE = compile_expression(GaussianEpsilon(S_g, delta))
NARROW = Fraction(1, 10**20)


def profile_of(cost, at, **options):
    return enclose(PROFILE, {"S_g": Fraction(cost), "epsilon": Fraction(at)}, **options)


def epsilon_of(cost, at, **options):
    return enclose(INVERSE, {"S_g": Fraction(cost), "delta": Fraction(at)}, **options)


def samples(values):
    return Samples(np.array(values), min(values), max(values))


def in_doubles(program, names, points):
    return evaluate(
        program, {name: samples(column) for name, column in zip(names, zip(*points, strict=True), strict=True)}
    )


def rational(x):
    return Fraction(*map(int, mpmath.libmp.to_rational(x._mpf_)))


@cache
def by_distribution(cost, at):
    """Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), with so many digits that cancellation does not matter."""
    with mpmath.workdps(450):
        cost, at = (mpmath.mpf(x.numerator) / x.denominator for x in map(Fraction, (cost, at)))
        mu = mpmath.sqrt(cost)
        return rational(mpmath.ncdf(-at / mu + mu / 2) - mpmath.exp(at) * mpmath.ncdf(-at / mu - mu / 2))


@cache
def by_integral(cost, at):
    """The mean of (1 − e^(ε − loss))₊, the loss being normal with mean μ²/2 and variance μ²."""
    with mpmath.workdps(60):
        cost, at = (mpmath.mpf(x.numerator) / x.denominator for x in map(Fraction, (cost, at)))
        mu = mpmath.sqrt(cost)

        place = at / mu - mu / 2
        centre, width = max(mpmath.mpf(0), -place), 1 / max(mpmath.mpf(1), place)

        def beyond(s):
            """In units of the largest density and of 1 − e^(−μ), lest `quad` take a small number for 0."""
            return mpmath.expm1(-mu * s) / mpmath.expm1(-mu) * mpmath.exp((centre - s) * (place + (s + centre) / 2))

        unit = -mpmath.expm1(-mu) * mpmath.npdf(place + centre)
        edges = [0, *(centre + width * x for x in (0.5, 1, 2, 4, 8, 16, 32, 64, 128))]
        return rational(unit * mpmath.quad(beyond, edges))


def nasty(rng):
    """Cost and ε, both exact doubles: costs from 1e-20 to 1e6, ε from −50 to 700, with many in the tail."""
    while True:
        cost = 10 ** rng.uniform(-20, 6)
        at = rng.choice(
            (
                rng.uniform(-50, 700),
                cost**0.5 * rng.uniform(0, 37.5) + cost / 2,
                -(10 ** rng.uniform(-20, 1.69)),
                10 ** rng.uniform(-20, 2.8),
            )
        )
        if at <= 700 and (at - cost / 2) / cost**0.5 < 37:  # δ may be as small as 1e-300
            return cost, at


class TestEnclosures:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("cost", ["1e-20", "0.0001", "0.01", "1", "9", "400"])
    @pytest.mark.parametrize("deviations", ["-2", "0", "0.5", "3", "8", "30"])
    @pytest.mark.smoke
    def test_two_references(self, cost, deviations, engine):
        cost = Fraction(cost)
        at = cost / 2 + Fraction(deviations) * Fraction(float(cost) ** 0.5)
        found = profile_of(cost, at, engine=engine, rtol="1e-30")
        assert found.relative_width <= Fraction(1, 10**30)
        for other in (by_distribution(cost, at), by_integral(cost, at)):
            assert abs(other / found.hi - 1) < Fraction(1, 10**28)

    def test_engines_agree_and_are_narrow(self):
        rng = random.Random(1)
        for _ in range(300):
            cost, at = nasty(rng)
            one, other = (profile_of(cost, at, engine=engine) for engine in ENGINES)
            assert one.overlaps(other), (cost, at)
            assert max(one.relative_width, other.relative_width) <= NARROW
            assert one.lo > 0

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(("cost", "at"), [("1e-4", "3"), ("1e-30", "1e-13"), ("1e10", "7e9"), ("1e30", "6e29")])
    def test_far_below_doubles(self, cost, at, engine):
        found = profile_of(Fraction(cost), Fraction(at), engine=engine)
        assert 0 < found.lo <= found.hi < Fraction(1, 10**1000) or found.hi <= Fraction(1, 1 << 2**25)
        assert found.hi > Fraction(1, 10**2000) or found.hi <= Fraction(1, 1 << 2**25) or found.relative_width <= NARROW

    def test_tiny_and_narrow(self):
        cost, at = Fraction(1, 100), Fraction(9)  # about e^(−4050)
        found = profile_of(cost, at, engine="both")
        assert found.relative_width <= NARROW
        assert Fraction(1, 10**1770) < found.lo < Fraction(1, 10**1755)
        assert abs(by_distribution(cost, at) / found.lo - 1) < NARROW

    @pytest.mark.parametrize("engine", ENGINES)
    def test_mutants_are_outside(self, engine):
        """Wrong signs, a forgotten half, a forgotten exponential: none is mistaken for the profile."""
        cost, at = Fraction(1, 4), Fraction(3, 5)
        found = profile_of(cost, at, engine=engine)
        with mpmath.workdps(40):
            mu, e = mpmath.mpf(1) / 2, mpmath.mpf(3) / 5
            cdf, exp = mpmath.ncdf, mpmath.exp
            right = cdf(-e / mu + mu / 2) - exp(e) * cdf(-e / mu - mu / 2)
            wrong = (
                cdf(-e / mu - mu / 2) - exp(e) * cdf(-e / mu + mu / 2),
                cdf(-e / mu + mu / 2) - cdf(-e / mu - mu / 2),
                cdf(-e / mu + mu / 2) - exp(-e) * cdf(-e / mu - mu / 2),
                cdf(-e / mu + mu) - exp(e) * cdf(-e / mu - mu),
                cdf(-e * mu + mu / 2) - exp(e) * cdf(-e * mu - mu / 2),
                cdf(-e / mu + mu / 2),
            )
        margin = Fraction(1, 10**18)
        wide = Enclosure(found.lo * (1 - margin), found.hi * (1 + margin))
        assert rational(right) in wide
        assert not any(rational(each) in wide for each in wrong)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_negative_epsilon_is_the_other_side(self, engine):
        """δ(−ε) = 1 − e^(−ε) + e^(−ε)·δ(ε)."""
        for cost, at in (("0.01", "0.3"), ("4", "50"), ("1e-10", "1e-6")):
            cost, at = Fraction(cost), Fraction(at)
            left = profile_of(cost, -at, engine=engine)
            right = profile_of(cost, at, engine=engine)
            with mpmath.workdps(60):
                fall = rational(mpmath.exp(-mpmath.mpf(at.numerator) / at.denominator))
            assert abs(left.lo / (1 - fall + fall * right.lo) - 1) < Fraction(1, 10**18)

    def test_no_distance(self):
        for at in (0, Fraction(1, 3), 5):
            assert exact(PROFILE, {"S_g": Fraction(0), "epsilon": Fraction(at)}) == 0
            assert profile_of(0, at) == Enclosure(Fraction(0), Fraction(0))
        found = profile_of(0, -1)
        assert float(found.lo) == pytest.approx(1 - np.exp(-1), rel=1e-15)
        with pytest.raises(NotRational):
            exact(PROFILE, {"S_g": Fraction(0), "epsilon": Fraction(-1)})

    def test_it_is_not_rational(self):
        with pytest.raises(NotRational):
            exact(PROFILE, {"S_g": Fraction(1), "epsilon": Fraction(1)})

    def test_a_negative_cost_is_refused(self):
        with pytest.raises(ArgumentError, match="cost"):
            profile_of(-1, 1)

    @pytest.mark.parametrize("kind", ENGINES.values())
    def test_wide_intervals_are_bracketed_by_their_ends(self, kind):
        engine = kind(96)
        with engine.working():
            over = Intervals(engine)
            costs = engine.interval(Fraction(1, 4), Fraction(1, 2))
            found = over.bounds(GaussianProfile.ball(over, costs, engine.interval(Fraction(1), Fraction(2))))
            from_zero = over.bounds(GaussianProfile.ball(over, engine.interval(Fraction(-1), Fraction(1)), Fraction(1)))
        low, high = profile_of(Fraction(1, 4), 2), profile_of(Fraction(1, 2), 1)
        assert found[0] <= low.hi
        assert found[1] >= high.lo
        assert found[1] - found[0] <= (high.hi - low.lo) * Fraction(1001, 1000)
        assert from_zero[0] <= 0
        assert from_zero[1] >= profile_of(1, 1).lo


class TestDoubles:
    def test_close_to_the_enclosure_everywhere(self):
        rng = random.Random(2)
        points = [nasty(rng) for _ in range(800)]
        found = in_doubles(PROFILE, ("S_g", "epsilon"), points)
        seen = 0
        for (cost, at), value in zip(points, found.tolist(), strict=True):
            bracket = profile_of(Fraction(cost), Fraction(at))
            if bracket.hi >= Fraction(1, 10**300):
                seen += 1
                assert abs(Fraction(value) / bracket.hi - 1) < Fraction(1, 10**13), (cost, at)
        assert seen > 700

    def test_numbers_that_are_no_doubles(self):
        """δ near 1e-290 changes by 1e-13 if a cost or ε is rounded; so they are not."""
        for cost, at in ((Fraction(1, 3), Fraction(211, 10)), (Fraction(1, 300), Fraction(211, 100))):
            value = float(evaluate(PROFILE, {"S_g": cost, "epsilon": at}))
            assert 0 < value < 1e-250
            assert abs(Fraction(value) / profile_of(cost, at).hi - 1) < Fraction(1, 10**14)

    def test_beyond_doubles(self):
        assert in_doubles(PROFILE, ("S_g", "epsilon"), [(1e-20, 700.0), (1e300, 3.0), (1e-300, 0.0)]).tolist() == [
            0.0,
            1.0,
            pytest.approx(1e-150 / np.sqrt(2 * np.pi), rel=1e-14),
        ]
        with pytest.raises(OutsideDoubleRange):
            evaluate(PROFILE, {"S_g": Fraction(1, 10**400), "epsilon": Fraction(0)})

    def test_no_distance(self):
        found = in_doubles(PROFILE, ("S_g", "epsilon"), [(0.0, 1.0), (0.0, 0.0), (0.0, -1.0)])
        assert found.tolist() == [0.0, 0.0, pytest.approx(-np.expm1(-1.0))]

    def test_a_large_array(self):
        costs = np.linspace(0.01, 2, 5000)
        found = evaluate(PROFILE, {"S_g": Samples(costs, 0.01, 2.0), "epsilon": Fraction(1, 2)})
        assert np.all(np.diff(found) > 0)
        assert found[-1] == pytest.approx(float(profile_of(2, Fraction(1, 2)).lo), rel=1e-14)


class TestInverse:
    @pytest.mark.parametrize("engine", ENGINES)
    def test_round_trip(self, engine):
        rng = random.Random(3)
        for _ in range(60):
            cost, share = Fraction(10 ** rng.uniform(-12, 4)), Fraction(10 ** rng.uniform(-280, -0.1))
            found = epsilon_of(cost, share, engine=engine)
            if found.hi == 0:
                assert profile_of(cost, 0).hi <= share
                continue
            assert found.relative_width <= NARROW
            assert profile_of(cost, found.lo, rtol="1e-40").lo >= share
            assert profile_of(cost, found.hi, rtol="1e-40").hi <= share

    def test_engines_agree(self):
        for cost, share in (
            ("0.01", "1e-5"),
            ("1e-20", "1e-20"),
            ("100", "0.5"),
            ("1e12", "1e-300"),
            ("1e-60", "1e-40"),
        ):
            one, other = (epsilon_of(cost, share, engine=engine) for engine in ENGINES)
            assert one.overlaps(other)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_nothing_where_delta_is_large(self, engine):
        at_none = profile_of(1, 0)
        above, below = (at_none.hi * (1 + sign * Fraction(1, 10**6)) for sign in (1, -1))
        assert epsilon_of(1, above, engine=engine) == Enclosure(Fraction(0), Fraction(0))
        assert epsilon_of(1, below, engine=engine).lo > 0
        assert exact(INVERSE, {"S_g": Fraction(1), "delta": Fraction(1)}) == 0
        assert exact(INVERSE, {"S_g": Fraction(0), "delta": Fraction(1, 100)}) == 0

    def test_any_width(self):
        found = epsilon_of("0.01", "1e-5", rtol=Fraction(1, 10**300))
        assert found.relative_width <= Fraction(1, 10**300)
        assert profile_of("0.01", found.hi, rtol=Fraction(1, 10**310)).hi <= Fraction("1e-5")

    def test_doubles(self):
        rng = random.Random(4)
        points = [(10 ** rng.uniform(-20, 8), 10 ** rng.uniform(-300, -0.001)) for _ in range(300)]
        for (cost, share), value in zip(points, in_doubles(INVERSE, ("S_g", "delta"), points).tolist(), strict=True):
            bracket = epsilon_of(cost, share)
            # Where ε is much smaller than μ, it hangs on the last digits of δ.
            assert abs(Fraction(value) - bracket.hi) <= (bracket.hi + Fraction(cost**0.5)) / 10**13, (cost, share)
            if bracket.hi == 0:
                assert value == 0
        assert float(evaluate(INVERSE, {"S_g": Fraction(1), "delta": Fraction(1, 10**1000)})) == pytest.approx(
            float(epsilon_of(1, Fraction(1, 10**1000)).hi), rel=1e-14
        )

    @pytest.mark.parametrize("share", [0, Fraction(-1, 2)])
    def test_no_delta_is_refused(self, share):
        with pytest.raises(ArgumentError, match="delta above 0"):
            epsilon_of(1, share)
        with pytest.raises(ArgumentError, match="delta above 0"):
            evaluate(INVERSE, {"S_g": samples([1.0, 2.0]), "delta": Fraction(share)})

    def test_a_negative_cost_is_refused(self):
        with pytest.raises(ArgumentError, match="cost"):
            epsilon_of(-1, "1e-5")


FIGURE = {"n": Fraction(50), "b": Fraction(2), "K": Fraction(40), "eta": Fraction(1, 50), "lam": Fraction(1)}
R1 = {"n": Fraction(60000), "b": Fraction(600), "K": Fraction(20), "eta": Fraction(1, 10), "lam": Fraction(1, 10)}
_COST = {"fig": Rational(1, 100), "R1": Rational(1, 4)}
"""The cost of one hit: 0.1² at the figure setting, (2/z)² for a noise multiplier of 4."""


class TestRuns:
    """ε of whole runs, computed elsewhere in doubles."""

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(
        ("run", "cost", "after", "share", "digits"),
        [
            (FIGURE, _COST["fig"], N, "1e-5", "0.0945609"),
            (FIGURE, _COST["fig"], Integer(1), "1e-5", "0.3580185"),
            (FIGURE, _COST["fig"], Integer(1), "1e-8", "0.5169831"),
            (R1, _COST["R1"], Integer(1), "1e-5", "2.00061"),
            ({**FIGURE, "b": Fraction(50)}, _COST["fig"] / 625, Integer(1), "1e-5", "0.0737702"),
        ],
    )
    def test_fixed_order(self, run, cost, after, share, digits, engine):
        """The first batch is followed by n/b updates, the last by one; the full batch costs (b/n)² as much."""
        node = GaussianEpsilon(cost * CyclicShifts(q, N, K, after), Rational(share))
        found = enclose(compile_expression(node), run, engine=engine)
        unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
        assert abs(found.hi - Fraction(digits)) <= unit / 2
        assert found.relative_width <= NARROW

    @pytest.mark.parametrize(
        ("run", "cost", "share", "digits"),
        [
            (FIGURE, _COST["fig"], "1e-5", "0.2611562"),
            (FIGURE, _COST["fig"], "1e-8", "0.4489055"),
            (R1, _COST["R1"], "1e-5", "1.35943"),
        ],
    )
    def test_shuffled_once(self, run, cost, share, digits):
        """The mean of the profiles crosses δ within the last digit."""
        unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
        node = MeanOver(GaussianProfile(cost * CyclicShifts(q, N, K, i), epsilon), i, N)
        ends = [
            enclose(compile_expression(node), {**run, "epsilon": Fraction(digits) + side * unit / 2}, engine="both")
            for side in (-1, 1)
        ]
        assert ends[0].lo > Fraction(share) > ends[1].hi


class TestDirections:
    def test_profile(self):
        node = GaussianProfile(S_g**2 / sigma2, epsilon)
        assert trend(node, S_g) is Trend.UP
        assert trend(node, sigma2) is Trend.DOWN
        assert trend(node, epsilon) is Trend.DOWN
        assert trend(GaussianProfile(eta, eta), eta) is None
        assert sign(node) == 1

    def test_inverse(self):
        node = GaussianEpsilon(S_g**2 / sigma2, delta)
        assert trend(node, S_g) is Trend.UP
        assert trend(node, sigma2) is Trend.DOWN
        assert trend(node, delta) is Trend.DOWN
        assert sign(node) == 1

    def test_values_go_the_same_way(self):
        rng = random.Random(5)
        for _ in range(100):
            cost, at = nasty(rng)
            cost, at, more = Fraction(cost), Fraction(at), 1 + Fraction(rng.uniform(1e-6, 0.5))
            here = profile_of(cost, at)
            assert profile_of(cost * more, at).lo >= here.lo
            assert profile_of(cost, at + abs(at) * (more - 1)).hi <= here.hi

    def test_signs_that_proofs_see(self):
        unknown, negative = Symbol("no_sign", real=True), Symbol("below", negative=True)
        assert seen_sign(GaussianProfile(hit, unknown)) is Sign.NONNEGATIVE
        assert seen_sign(GaussianProfile(sigma2, unknown)) is Sign.POSITIVE
        assert seen_sign(GaussianProfile(hit, negative)) is Sign.POSITIVE
        assert seen_sign(GaussianProfile(unknown, S_g)) is None
        assert seen_sign(GaussianEpsilon(hit, sigma2)) is Sign.NONNEGATIVE
        assert seen_sign(GaussianEpsilon(unknown, sigma2)) is None
        assert GaussianProfile(Integer(0), S_g) == 0
        assert GaussianProfile(Integer(0), unknown) != 0


class TestPrinted:
    @pytest.mark.parametrize("node", [GaussianProfile(eta * S_g**2, epsilon), GaussianEpsilon(eta * S_g**2, delta)])
    def test_read_back(self, node):
        letters = {
            "eta": Fraction(1, 50),
            "S_g": Fraction(3, 2),
            "epsilon": Fraction(2, 5),
            "delta": Fraction(1, 10**5),
        }
        note = next(iter(node.atoms(type(node)))).tex_note(None)
        with mpmath.workdps(50):
            book = Book([rf"x = {latex(1 + 2 * node)}", rf"\quad {note}"])
            found = enclose(compile_expression(1 + 2 * node), letters)
            assert abs(rational(book.value(letters)) / found.hi - 1) < Fraction(1, 10**15)

    def test_latex(self):
        assert latex(GaussianProfile(eta, epsilon)) == r"\delta_{\mathrm{G}}\left(\sqrt{\eta}; \varepsilon\right)"
        assert latex(GaussianEpsilon(eta, delta)) == r"\varepsilon_{\mathrm{G}}\left(\sqrt{\eta}; \delta\right)"
