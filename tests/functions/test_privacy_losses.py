"""Masses of privacy losses keep to their side: each operation against exact sums, single steps against 60 digits."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from hsdp_symbolic.arithmetic.engines import ENGINES, Arb
from hsdp_symbolic.errors import GridExhausted
from hsdp_symbolic.functions import privacy_losses, sampled_losses
from hsdp_symbolic.functions.privacy_losses import Curve, Losses, Scale, bracket, convolved, double, paid, rounded
from hsdp_symbolic.functions.sampled_losses import Pair, Step, composition, grid_step, losses, spread, step_grid
from tests.functions.sampled_reference import DIGITS, FEWER, gaussian, number, one_step, two_steps

BITS = 40


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def scale_of(engine="arb", *, bits=BITS, tail=36, guard=24, coarsen=0.0):
    return Scale(ENGINES[engine](bits + guard + 16), bits, guard, tail, coarsen)


def drawn(rng, scale, *, above, step=Fraction(1, 8), points=12):
    """Random masses: above, of 1 or more together, some of it infinite; below, of less than 1, and some of it owed."""
    weights = [rng.choice((0, rng.random(), rng.random() ** 6, rng.random() ** 20)) for _ in range(points)]
    weights[rng.randrange(points)] += 0.1
    whole, spare = 1 << scale.bits, rng.choice((0, rng.randrange(1 << scale.bits - 12)))
    masses = [int(weight / sum(weights) * (whole - spare)) for weight in weights]
    infinite = whole - sum(masses) if above else -spare
    return Losses(scale, above, step, rng.randint(-points, 2), masses, infinite, 1.0)


class Exact:
    """Masses as fractions, and the function of ε they stand for."""

    def __init__(self, step, masses, infinite):
        self.step, self.masses, self.infinite = step, masses, infinite

    @classmethod
    def of(cls, found):
        unit = Fraction(1, 1 << found.scale.bits)
        masses = {found.first + k: mass * unit for k, mass in enumerate(found.masses) if mass}
        return cls(found.step, masses, found.infinite * unit)

    def __call__(self, epsilon):
        terms = (
            number(mass) * -mpmath.expm1(number(epsilon - k * self.step))
            for k, mass in self.masses.items()
            if k * self.step > epsilon
        )
        return mpmath.fsum(terms) + number(self.infinite)

    def then(self, other):
        """ε ↦ Σ m_j·(this at ε − jh) + m_∞, m the masses of the other."""
        product = {}
        for k, mass in self.masses.items():
            for j, weight in other.masses.items():
                product[k + j] = product.get(k + j, 0) + mass * weight
        return Exact(self.step, product, self.infinite * sum(other.masses.values()) + other.infinite)


def places(exact, rng, count=12):
    """On the grid, between its points, and beyond both ends."""
    low, high = min(exact.masses) - 3, max(exact.masses) + 3
    on_grid = [k * exact.step for k in range(low, high + 1)]
    return on_grid + [Fraction(rng.uniform(float(on_grid[0]) - 1, float(on_grid[-1]) + 1)) for _ in range(count)]


def assert_side(found, exact, rng, *, within, places_of=None):
    """The function of `found` is on its side of the exact one everywhere, and no farther from it than this."""
    here = Exact.of(found)
    for epsilon in places(places_of or exact, rng):
        away = here(epsilon) - exact(epsilon)
        assert 0 <= (away if found.above else -away) <= within, (epsilon, away)


def check_times(rng, engine, above):
    """Two compositions, in either order, and what is infinite or owed with them."""
    scale = scale_of(engine)
    one, other = (drawn(rng, scale, above=above) for _ in range(2))
    found, first, second = one.times(other), Exact.of(one), Exact.of(other)
    for exact in (first.then(second), second.then(first)):
        # Nothing but tails, roundings, and what is infinite or owed in both is given away.
        assert_side(found, exact, rng, within=mpf(2) ** (3 - scale.tail) + abs(number(first.infinite)) * mpf(2) ** -9)
    assert all(mass >= 0 for mass in found.masses)


def check_power(rng, engine, above):
    """Up to five of a kind, each rounded to its side, on a grid that stays and on one that is made coarser."""
    count = rng.randint(1, 5)
    base = drawn(rng, scale_of(engine), above=above, points=7)
    exact = one = Exact.of(base)
    for _ in range(count - 1):
        exact = exact.then(one)
    assert_side(base.power(count), exact, rng, within=mpf("0.01"))
    coarse = replace(base, scale=scale_of(engine, coarsen=0.11))
    assert_side(coarse.power(count), exact, rng, within=1)


def check_trimmed(rng, engine, above):
    scale = scale_of(engine, tail=rng.randint(1, 12))
    found = drawn(rng, scale, above=above)
    assert_side(found.trimmed(), Exact.of(found), rng, within=mpf(2) ** (1 - scale.tail))


def check_coarser(rng, engine, above):
    found = drawn(rng, scale_of(engine), above=above, step=Fraction(1, rng.choice((4, 16, 64))))
    exact, coarser = Exact.of(found), found.coarser()
    assert coarser.step == 2 * found.step
    largest = number(max(exact.masses.values()))
    # Chords over two gaps bend by no more than the masses between; below, half a mass at the end may be owed.
    within = largest * (mpmath.expm1(number(found.step)) if above else 1) + mpf(2) ** (3 - coarser.scale.tail)
    assert_side(coarser, exact, rng, within=within)
    if above:
        here = Exact.of(coarser)
        for k in range(min(exact.masses) // 2 - 1, max(exact.masses) // 2 + 2):
            assert here(k * coarser.step) - exact(k * coarser.step) <= mpf(2) ** (2 - coarser.scale.tail)


def check_curve(rng, engine, above):
    """Values on the right side of the function, and no farther from it than a unit; so are the ε found for a δ."""
    found = drawn(rng, scale_of(engine), above=above)
    exact, curve, unit = Exact.of(found), Curve(found), mpf(2) ** -BITS
    for epsilon in places(exact, rng):
        value, here = number(curve.at(epsilon)), exact(epsilon)
        if above:
            assert min(1, here) <= value <= here + unit
        else:
            floor = max(mpf(0), -mpmath.expm1(number(epsilon)))
            assert max(here - unit, floor - unit) <= value <= max(here, floor)
    for _ in range(6):
        delta = max(curve.least, Fraction(0)) + Fraction(rng.random() ** 4) + Fraction(1, 1 << 20)
        epsilon = curve.solved(delta)
        near = max(Fraction(epsilon), found.step) / 10**5
        if above:
            assert exact(epsilon) <= number(delta)
            assert not epsilon or exact(epsilon - near) > number(delta)
        elif epsilon:
            assert exact(epsilon) >= number(delta) > exact(epsilon + near)
        else:
            assert exact(Fraction(0)) <= number(delta)


CHECKS = [check_times, check_power, check_trimmed, check_coarser, check_curve]


def run(check, seeds, engine="arb", sides=(True, False)):
    for seed in seeds:
        for above in sides:
            check(random.Random(seed), engine, above)


class TestMasses:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("check", CHECKS)
    def test_keep_their_side(self, check, engine):
        run(check, range(6 if engine == "arb" else 2), engine)

    @pytest.mark.slow
    @pytest.mark.parametrize("check", CHECKS)
    def test_keep_their_side_often(self, check):
        run(check, range(100, 150))

    def test_convolution_is_exact_but_for_one_rounding(self):
        rng = random.Random(1)
        for _ in range(40):
            left, right = (
                [rng.choice((0, 1, rng.getrandbits(15), rng.getrandbits(70))) for _ in range(rng.randint(1, 9))]
                for _ in range(2)
            )
            exact = [0] * (len(left) + len(right) - 1)
            for k, x in enumerate(left):
                for j, y in enumerate(right):
                    exact[k + j] += x * y
            for engine in ENGINES:
                for up in (True, False):
                    found = convolved(ENGINES[engine](64), left, right, 33, up=up)
                    assert found == [-(-x // 2**33) if up else x // 2**33 for x in exact]

    def test_paid_is_below_for_every_rising_function(self):
        """It is enough to look at steps: each rising function between 0 and 1 is a mean of them."""
        rng = random.Random(2)
        for _ in range(300):
            masses = [rng.randint(-20, 30) for _ in range(rng.randint(1, 12))]
            found, owed = paid(masses)
            assert min(found) >= 0
            assert owed >= 0
            assert all(sum(found[k:]) - owed <= sum(masses[k:]) for k in range(len(masses) + 1))
            assert owed == max(0, -min(sum(masses[k:]) for k in range(len(masses) + 1)))

    @pytest.mark.parametrize("engine", ENGINES)
    def test_brackets(self, engine):
        rng, over = random.Random(3), ENGINES[engine](100)
        with over.working():
            for _ in range(60):
                x = Fraction(rng.choice((-1, 1)) * rng.random()) ** rng.randint(1, 5) * rng.choice((1, 10**9))
                low, high = bracket(over, over.ball(x), 50)
                assert low <= x * 2**50 <= high <= low + 2
                factor = sorted((rng.randrange(2**50), rng.randrange(2**50)))
                whole = rng.randint(-(2**60), 2**60)
                ends = [whole * end for end in factor]
                assert privacy_losses.times(whole, tuple(factor), 50, up=True) == -(-max(ends) // 2**50)
                assert privacy_losses.times(whole, tuple(factor), 50, up=False) == min(ends) // 2**50
                assert over.bounds(double(over, float(x))) == (Fraction(float(x)),) * 2

    def test_grids_without_a_common_step_are_refused(self):
        rng = random.Random(5)
        ours, theirs = (drawn(rng, scale_of(), above=True, step=step) for step in (Fraction(1, 8), Fraction(1, 12)))
        with pytest.raises(ValueError, match="no common coarser one"):
            ours.times(theirs)

    def test_no_epsilon_on_the_grid(self):
        found = drawn(random.Random(4), scale_of(), above=True)
        curve = Curve(replace(found, infinite=1 << BITS - 3))
        with pytest.raises(GridExhausted):
            curve.solved(Fraction(1, 16))
        assert curve.solved(Fraction(1, 4)) >= 0


def wrong_side(convolve):
    return lambda *given, up: convolve(*given, up=not up)


def without_infinite(times):
    return lambda self, other: replace(times(self, other), infinite=0)


def tails_dropped(trimmed):
    return lambda self: replace(trimmed(self), infinite=self.infinite)


def swapped(moved):
    return lambda self, even, odd: moved(self, even, odd)[::-1]


def towards_zero(moved):
    """All of an odd point's mass goes down."""
    return lambda self, even, odd: [x + y for x, y in zip(even, [*odd, 0], strict=True)]


def one_unit(values):
    def changed(curve, epsilon):
        return values(curve, epsilon) + Fraction(-2 if curve.losses.above else 2, 1 << BITS)

    return changed


def chords(moved):
    """Chords of the function itself, which are above it."""
    return lambda self, even, odd: [0, *self._moved_out(even, odd), 0]


MUTATIONS = {
    "products rounded to the wrong side, above": (check_times, True, privacy_losses, "convolved", wrong_side),
    "products rounded to the wrong side, below": (check_times, False, privacy_losses, "convolved", wrong_side),
    "infinite mass dropped": (check_times, True, Losses, "times", without_infinite),
    "what is owed forgotten": (check_times, False, Losses, "times", without_infinite),
    "infinite mass dropped in powers": (check_power, True, Losses, "times", without_infinite),
    "tails dropped": (check_trimmed, True, Losses, "trimmed", tails_dropped),
    "odd masses moved down": (check_coarser, True, Losses, "_moved_out", towards_zero),
    "coarser masses mirrored": (check_coarser, True, Losses, "_moved_out", swapped),
    "chords for masses below": (check_coarser, False, Losses, "_moved_in", chords),
    "values too low": (check_curve, True, Curve, "at", one_unit),
    "values too high": (check_curve, False, Curve, "at", one_unit),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mistakes_are_noticed(mutation, monkeypatch):
    check, above, owner, name, change = MUTATIONS[mutation]
    monkeypatch.setattr(owner, name, change(getattr(owner, name)))
    with pytest.raises(AssertionError):
        run(check, range(8), sides=(above,))


def step_losses(scale, pair, rate, cost, fineness, *, above):
    size = spread(rate, cost)
    step = grid_step(3 * fineness * size)
    with scale.engine.working():
        kind = Step(scale.engine, scale.engine.ball(cost))
        grid = step_grid(scale, pair, step, rate, kind.mu, even=8 * size)
        return losses(pair, [((1 << scale.fine,) * 2, kind)], grid, above=above)


def check_step(rng, pair, engine="arb"):
    """One step: above and below its closed form at every ε, negative ones too, and close to it."""
    rate = Fraction(rng.choice((rng.uniform(0.001, 0.999), 10 ** rng.uniform(-4, 0), 1.0)))
    cost = Fraction(10 ** rng.uniform(-4, 0.7))
    scale, fineness = scale_of(engine, bits=70, tail=46), rng.choice((0.05, 0.02))
    p, mu, size = number(rate), mpmath.sqrt(number(cost)), spread(rate, cost)
    both = [step_losses(scale, pair, rate, cost, fineness, above=above) for above in (False, True)]
    curves, exact = [Curve(each) for each in both], [Exact.of(each) for each in both]
    for deviations in [rng.uniform(-6, 6) for _ in range(24)] + [0, -100, 100]:
        epsilon = Fraction(deviations * size)
        truth = one_step(pair, p, mu, number(epsilon))
        assert exact[0](epsilon) <= truth <= exact[1](epsilon), (rate, cost, deviations)
        low, high = (number(curve.at(epsilon)) for curve in curves)
        assert low <= truth <= high
        # A chord over a gap of `fineness` deviations is off by its square, in units of the bend.
        assert high - low <= 12 * fineness**2 * min(1, 3 * size) + mpf(2) ** -44, (rate, cost, deviations)


def check_steps(seeds, pair):
    for seed in seeds:
        check_step(random.Random(seed), pair)


def check_two_steps(rng, pair):
    rate, cost = Fraction(rng.uniform(0.02, 0.9)), Fraction(10 ** rng.uniform(-2.5, 0.3))
    scale = scale_of(bits=70, tail=46, coarsen=rng.choice((0.0, 0.02)))
    p, mu, size = number(rate), mpmath.sqrt(number(cost)), spread(rate, cost)
    curves = []
    for above in (False, True):
        with scale.engine.working():
            costs = [(scale.engine.ball(cost), 2)]
            step = grid_step(0.06 * size)
            curves.append(Curve(composition(scale, pair, rate, costs, step, 8 * size, above=above)))
    with mpmath.workdps(FEWER):
        for deviations in (rng.uniform(-2, 0), rng.uniform(0, 1.5), rng.uniform(1.5, 4)):
            epsilon = Fraction(deviations * size)
            low, high = (number(curve.at(epsilon)) for curve in curves)
            assert low <= two_steps(pair, p, mu, number(epsilon)) <= high
            assert high - low <= 0.01 * min(1, 3 * size)


class TestSteps:
    @pytest.mark.parametrize("pair", Pair)
    def test_one_step(self, pair):
        check_steps(range(3), pair)
        check_step(random.Random(9), pair, "mpmath")

    @pytest.mark.slow
    @pytest.mark.parametrize("pair", Pair)
    def test_one_step_often(self, pair):
        check_steps(range(50, 65), pair)

    @pytest.mark.parametrize("pair", Pair)
    def test_two_steps(self, pair):
        check_two_steps(random.Random(1), pair)

    @pytest.mark.slow
    @pytest.mark.parametrize("pair", Pair)
    def test_two_steps_often(self, pair):
        for seed in range(10, 14):
            check_two_steps(random.Random(seed), pair)

    @pytest.mark.parametrize("pair", Pair)
    def test_no_sampling_is_a_gaussian(self, pair):
        scale, cost = scale_of(bits=70, tail=46), Fraction(1, 10)
        with scale.engine.working():
            costs = [(scale.engine.ball(cost), 5)]
            sides = [
                Curve(composition(scale, pair, Fraction(1), costs, Fraction(1, 64), 3.0, above=above))
                for above in (False, True)
            ]
        for k in range(-12, 20):
            low, high = (number(side.at(Fraction(k, 8))) for side in sides)
            assert low <= gaussian(mpmath.sqrt(mpf("0.5")), mpf(k) / 8) <= high <= low + mpf("1e-3")

    def test_wrong_values_are_noticed(self, monkeypatch):
        """Values rounded down, lines too high, and one direction in place of the other."""
        value, lines, whole = Step.value, Step.lines, sampled_losses.from_values

        def lower(step, grid, place):
            return value(step, grid, place) * 999_999 // 10**6

        def higher(step, grid, place):
            return tuple(x + (1 << grid.scale.fine - 20) for x in lines(step, grid, place))

        def other(pair, *given, above):
            return whole(Pair.REMOVE, *given, above=above)

        for owner, name, changed in (
            (Step, "value", lower),
            (Step, "lines", higher),
            (sampled_losses, "from_values", other),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, changed)
                with pytest.raises(AssertionError):
                    check_steps(range(3), Pair.ADD)

    def test_rounding_to_a_side(self):
        assert [rounded(x, 3, up=True) for x in (-9, -8, 7, 8, 9)] == [-1, -1, 1, 1, 2]
        assert [rounded(x, 3, up=False) for x in (-9, -8, 7, 8, 9)] == [-2, -1, 0, 1, 1]
        assert isinstance(scale_of().engine, Arb)
