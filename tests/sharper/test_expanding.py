"""Updates that need not contract: what the bounds say, and exact runs whose maps are c-Lipschitz and no more."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from sympy import S

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import epsilon_at
from hsdp_symbolic.errors import ArgumentError, HsdpError, NoEstimate, TooManySteps
from hsdp_symbolic.evaluate.trend import trend
from hsdp_symbolic.experiment import plans
from hsdp_symbolic.experiment.small_runs import Pair, Update, exact_pair
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.lemmas import LEMMAS
from hsdp_symbolic.proof.kernel import closed
from hsdp_symbolic.symbols import j0, lipschitz

from .. import oracle as oracle_of_papers
from ..experiment import drift_oracle as oracle
from ..experiment.small_cases import Bent

PROFILES = {"shuffle": "profile:shuffle:expanding", "reshuffle": "profile:reshuffle:expanding"}
LABELS = "gdp:expanding", *PROFILES.values(), "expanding:reshuffle"
FIGURE = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
ETA = Fraction(1, 2)
ORDERS = 1.25, 2.0, 4.0
CONSTANTS = tuple(map(Fraction, ("1", "1.02", "1.1", "1.3", "2")))


def share(c: float, gap: int) -> float:
    """u, from its definition."""
    return 1 / math.fsum(c ** (-2 * s) for s in range(gap))


def spent(c: float, batches: int, places: tuple[int, ...]) -> float:
    """Σ u(gap to the next hit, or to the end)."""
    times = [batches * epoch + place for epoch, place in enumerate(places)] + [batches * len(places)]
    return math.fsum(share(c, after - before) for before, after in pairwise(times))


def run_of(batches: int, epochs: int, c: Fraction, mu: Fraction, b: int = 1) -> Setting:
    """A hit costs μ at once: steps of 1/2 and noise N(0, 1)."""
    return Setting(n=batches * b, b=b, K=epochs, eta=ETA, sigma=1, S_g=2 * b * mu, lipschitz=c)


class TestProofs:
    @pytest.mark.parametrize("label", LABELS)
    def test_proved_and_on_which_terms(self, label):
        found = statement(label)
        assert found.verify()
        assert found.asks == "lipschitz"
        assert not {"lam", "beta"} & set(found.needs), "nothing is asked of the losses"

    def test_lemmas(self):
        found = {each.name: each.theorem() for each in LEMMAS if each.label in LABELS}
        assert len(found) == 7
        for each in found.values():
            closed(each)

    def test_at_one_it_is_the_bound_for_convex_losses(self):
        ours, theirs = statement("gdp:expanding"), statement("gdp:convex")
        assert (ours.expr.subs(lipschitz, S.One) - theirs.expr).simplify() == 0
        for place in (0, 7, 24):
            assert ours.exact(FIGURE, lipschitz=1, j0=place) == theirs.exact(FIGURE, j0=place)
            printed = statement("thm:convexsmooth").exact(FIGURE, alpha=15, j0=place)
            assert ours.exact(FIGURE, lipschitz=1, j0=place) * Fraction(15, 2) == printed

    def test_later_places_cost_more(self):
        assert trend(statement("gdp:expanding").expr, j0) is Trend.UP


class TestNumbers:
    @pytest.mark.parametrize("c", ["1", "1.000000000001", "1.0001", "1.5", "10", "1000000"])
    @pytest.mark.parametrize("batches", [2, 25, 100_000])
    def test_doubles_are_near_the_enclosure(self, c, batches):
        """However large or near to 1 the constant is; and never above composition."""
        found, run = statement("gdp:expanding"), FIGURE.replace(n=2 * batches, lipschitz=c)
        for place in (0, batches // 2, batches - 1):
            bracket = found.enclose(run, j0=place)
            near = Fraction(float(found.numeric(run, j0=place)))
            assert abs(near - bracket.lo) <= Fraction(1, 10**13) * bracket.lo
            assert bracket.lo <= statement("gdp:composition:fixed").exact(run)

    def test_as_an_independent_reading_has_it(self):
        rng, found = random.Random(4), statement("gdp:expanding")
        with mpmath.workdps(60):
            for _ in range(200):
                case = oracle_of_papers.draw(rng)
                case["lipschitz"] = 1 + rng.choice([Fraction(0), Fraction(1, 10 ** rng.randint(1, 14)), Fraction(7)])
                run, arguments = oracle_of_papers.split(case)
                truth = oracle_of_papers.gaussian_expanding(case)
                bracket = found.enclose(Setting(**run), **arguments)
                assert abs(oracle_of_papers.to_mpf(bracket.hi) - truth) <= truth * mpmath.mpf(10) ** -19
                assert abs(found.numeric(Setting(**run), **arguments) - truth) <= truth * mpmath.mpf(10) ** -13

    def test_arrays_of_constants(self):
        found, run = statement("gdp:expanding"), FIGURE.replace(n=200)
        many = found.numeric(run, lipschitz=np.array([1.0, 1.25, 3.0]), j0=40)
        one_by_one = [float(found.numeric(run, lipschitz=c, j0=40)) for c in (1, "1.25", 3)]
        assert many == pytest.approx(one_by_one, rel=1e-13)

    def test_one_batch_is_composition(self):
        """The next hit comes with the next step: nothing is hidden."""
        run = Setting(n=8, b=8, K=30, eta="0.1", sigma=2, S_g=3, lipschitz="1.1")
        composed = statement("gdp:composition:fixed").exact(run)
        assert statement("gdp:expanding").exact(run, j0=0) == composed
        alpha = 3
        found = statement("expanding:reshuffle").enclose(run, alpha=alpha)
        assert found.lo <= alpha * composed / 2 <= found.hi

    @pytest.mark.parametrize("engine", ["arb", "mpmath"])
    @pytest.mark.parametrize(("c", "batches", "epochs", "mu"), [
        ("1", 3, 4, "0.5"), ("1.3", 4, 3, "2"), ("1.02", 2, 6, "0.001"), ("5", 3, 3, "1"),
    ])  # fmt: skip
    def test_the_product_of_matrices_is_the_mean_over_all_places(self, engine, c, batches, epochs, mu):
        run, alpha = run_of(batches, epochs, Fraction(c), Fraction(mu)), 3
        cost = alpha * (alpha - 1) * float(mu) ** 2 / 2
        every = product(range(batches), repeat=epochs)
        excess = math.fsum(math.expm1(cost * spent(float(c), batches, places)) for places in every)
        wanted = math.log1p(excess / batches**epochs) / (alpha - 1)
        found = statement("expanding:reshuffle").enclose_at(run, {"alpha": alpha}, engine=engine)
        assert float(found.lo) == pytest.approx(wanted, rel=1e-13)
        assert found.hi - found.lo <= Fraction(1, 10**18) * found.hi
        assert float(statement("expanding:reshuffle").numeric(run, alpha=alpha)) == pytest.approx(wanted, rel=1e-13)

    def test_vectors_that_have_settled_stand_for_all_further_epochs(self):
        """As long a run, with and without looking; and a long one in no time."""
        found, run = statement("expanding:reshuffle"), run_of(6, 37, Fraction("1.1"), Fraction(1, 2))
        alpha, c, N, K = 2, 1.1, 6, 37
        weights = [math.exp(alpha * (alpha - 1) / 8 * share(c, gap)) for gap in range(1, 2 * N)]
        matrix = np.array([[weights[N - j + k - 1] / N for k in range(N)] for j in range(N)])
        vector = np.array([weights[N - j - 1] for j in range(N)])
        for _ in range(K - 1):
            vector = matrix @ vector
        assert float(found.enclose(run, alpha=alpha).hi) == pytest.approx(math.log(vector.mean()), rel=1e-13)
        long = run_of(1000, 1000, Fraction("1.001"), Fraction(1))
        bracket = found.enclose(long, alpha=4)
        assert bracket.hi - bracket.lo <= Fraction(1, 10**19) * bracket.hi
        assert float(found.numeric(long, alpha=4)) == pytest.approx(float(bracket.hi), rel=1e-13)

    def test_the_profile_is_the_mean_over_all_places(self):
        for c, batches, epochs, mu in (("1", 3, 4, "0.5"), ("1.3", 4, 3, "2"), ("5", 3, 3, "1")):
            run = run_of(batches, epochs, Fraction(c), Fraction(mu))
            every = list(product(range(batches), repeat=epochs))
            costs = [(1 / len(every), spent(float(c), batches, places)) for places in every]
            for epsilon in ("0.1", "1", "4"):
                wanted = oracle.mixed_delta(costs, float(mu), float(epsilon))
                found = statement("profile:reshuffle:expanding").delta(run, epsilon)
                assert float(found.lo) <= wanted * (1 + 1e-9)
                assert wanted <= float(found.hi) * (1 + 1e-9)
                assert found.hi - found.lo <= found.hi / 1000

    def test_the_profile_gives_a_smaller_epsilon_than_divergences(self):
        """By a twelfth or more, at the δ of interest, and never more than composition."""
        for c, batches, epochs, mu in (("1", 21, 15, "0.25"), ("1.05", 21, 15, "0.25"), ("1.3", 6, 10, "0.25")):
            run, delta = run_of(batches, epochs, Fraction(c), Fraction(mu)), "1e-5"
            profile = statement("profile:reshuffle:expanding").epsilon(run, delta).hi
            divergence = statement("expanding:reshuffle")
            by_order = (epsilon_at(divergence.enclose(run, alpha=a).hi, order=a, delta=delta).hi for a in range(4, 40))
            assert profile < Fraction(11, 12) * min(by_order)
            assert profile < statement("gdp:composition:fixed").epsilon(run, delta).lo

    def test_what_is_too_much_is_refused(self):
        found = statement("expanding:reshuffle")
        with pytest.raises(ArgumentError, match="batches"):
            found.enclose(run_of(10**5, 2, Fraction(1), Fraction(1)), alpha=2)
        with pytest.raises(TooManySteps):
            found.enclose_at(run_of(2000, 20, Fraction(1), Fraction(1)), {"alpha": 2}, engine="mpmath")
        with pytest.raises(HsdpError, match="lipschitz"):
            found.enclose(run_of(4, 2, Fraction(1), Fraction(1)).replace(lipschitz="0.9"), alpha=2)


# --- Exact runs -----------------------------------------------------------------------------------------------------


def random_run(scheme: str, rng: np.random.Generator) -> tuple[Setting, Update, np.ndarray, np.ndarray, int]:
    """Records whose maps are c-Lipschitz: lines, kinked ones, and such that turn round or stand still on a stretch."""
    n, b = [(1, 1), (2, 1), (3, 1), (4, 2), (2, 2), (3, 3)][int(rng.integers(6))]
    epochs = int(rng.integers(1, max(2, 6 // (n // b) + 1)))
    c, mu = CONSTANTS[int(rng.integers(len(CONSTANTS)))], Fraction(int(rng.choice([3, 5, 10, 20])), 10)
    if c ** (epochs * (n // b)) > 20:
        c = CONSTANTS[int(rng.integers(4))]
    run = run_of(n // b, epochs, c, mu, b)
    clip, steepest = float(2 * b * mu) / 2, float(2 * c / ETA)

    def draw() -> list[float]:
        steepness = steepest * float(rng.choice([0.0, 0.5, 1.0, rng.random()]))
        bend = float(rng.random()) if steepness else 0.0
        width = bend * clip / steepness if steepness else 0.0
        sign = float(rng.choice([-1.0, 1.0]) if rng.random() < 0.7 else rng.uniform(-1, 1))
        return [(1 - bend) * clip * sign, steepness, rng.normal(scale=1.5), width]

    records, index = np.array([draw() for _ in range(n)]), int(rng.integers(n))
    if rng.random() < 0.5:  # the others may do anything that is c-Lipschitz: stand still, or turn round
        for other in set(range(n)) - {index}:
            records[other] = 0.0, steepest * float(rng.choice([0.0, 0.5, 1.0])), 0.0, 50.0
    second = records.copy()
    records[index], second[index] = ([clip, 0, 0, 0], [-clip, 0, 0, 0]) if rng.random() < 0.5 else (draw(), draw())
    lam = float((1 - c) / ETA)
    update = Update(Bent(lam, lam + steepest, 2 * clip), float(ETA), 1.0, b, float(rng.choice([0.0, rng.normal()])))
    return run, update, records, second, index // b


def numbers_of(run: Setting) -> tuple[float, float, int, int]:
    """c, μ, batches, epochs."""
    return float(run["lipschitz"]), float(run["S_g"] / run["b"] / 2), int(run["n"] / run["b"]), int(run["K"])


def plan_of(scheme: str, run: Setting) -> plans.Plan:
    maker = {"fixed": plans.fixed, "shuffle": plans.shuffle, "reshuffle": plans.reshuffle}[scheme]
    return maker(*(int(run[name]) for name in ("n", "b", "K")))


def worst_ratio(scheme: str, number: int, seed: int) -> tuple[float, int]:
    """Exact value over bound, the largest in both directions, and how many were compared."""
    run, update, records, second, place = random_run(scheme, np.random.default_rng([seed, number, len(scheme)]))
    plan = plan_of(scheme, run)
    pair = exact_pair(update, (records, plan), (second, plan))
    c, mu, batches, epochs = numbers_of(run)
    found = []
    for laws in (pair, pair.reversed):
        for epsilon in (0.0, mu / 4, mu, 5 * mu / 2):
            found.append(laws.delta(epsilon) / (delta_bound(scheme, run, place, epsilon) + 1e-12))
        for alpha in ORDERS:
            try:
                value = laws.divergence(alpha)
            except NoEstimate:
                continue
            if scheme == "reshuffle":
                bound = float(statement("expanding:reshuffle").enclose(run, alpha=Fraction(alpha)).hi)
            elif scheme == "fixed":
                bound = alpha / 2 * float(statement("gdp:expanding").exact(run, j0=place))
            else:
                costs = [(1 / batches, spent(c, batches, (j,) * epochs)) for j in range(batches)]
                bound = oracle.mixed_divergence(costs, mu, alpha)
            found.append(value / (bound + 1e-12))
    return max(found), len(found)


def delta_bound(scheme: str, run: Setting, place: int, epsilon: float) -> float:
    exact = Fraction(repr(epsilon))
    if scheme == "fixed":
        return float(statement("gdp:expanding").delta(run, exact, j0=place).hi)
    return float(statement(PROFILES[scheme]).delta(run, exact).hi)


class TestNoBoundIsBroken:
    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_by_maps_that_expand(self, scheme):
        found = [worst_ratio(scheme, number, seed=1) for number in range(40)]
        assert sum(count for _, count in found) > 40 * 8
        assert max(ratio for ratio, _ in found) <= 1 + 1e-9

    @pytest.mark.slow
    @pytest.mark.parametrize("scheme", ["fixed", "shuffle", "reshuffle"])
    def test_by_many_maps_that_expand(self, scheme):
        found = [worst_ratio(scheme, number, seed=2)[0] for number in range(250)]
        assert 0.9 < max(found) <= 1 + 1e-9

    def test_affine_maps_in_the_plane(self):
        """The law is Gaussian: mean and variance are carried along, whatever c-Lipschitz matrices the steps have."""
        rng, ratios = np.random.default_rng(3), []
        for _ in range(300):
            batches, epochs = int(rng.integers(1, 6)), int(rng.integers(1, 5))
            c, place = float(rng.choice([1.0, 1.05, 1.4, 3.0])), int(rng.integers(batches))
            ratios.append(gaussian_square(rng, c, batches, epochs, place) / spent(c, batches, (place,) * epochs))
        assert max(ratios) <= 1 + 1e-9

    def test_attained(self):
        """One epoch, the record first: θ ← cθ. And for c = 1 in any number of epochs."""
        for c, epochs in ((1.0, 5), (1.05, 1), (1.5, 1), (4.0, 1)):
            steps = 4 * epochs
            away = math.fsum(c ** (steps - 1 - 4 * epoch) for epoch in range(epochs))
            exact = away**2 / math.fsum(c ** (2 * s) for s in range(steps))
            assert exact == pytest.approx(spent(c, 4, (0,) * epochs), rel=1e-12)

    def test_it_is_what_the_best_shifts_spend(self):
        """For c ≥ 1 and a fixed order no shifts do better: the convex minorant returns to 0 before each hit."""
        for c, batches, epochs in product((1.0, 1.01, 1.3, 2.0), (1, 2, 5), (1, 2, 4)):
            for place in range(batches):
                best = oracle.uniform_cost(c, oracle.pattern(batches, (place,) * epochs))
                assert best == pytest.approx(spent(c, batches, (place,) * epochs), rel=1e-9)

    def test_any_pattern_is_at_most_the_sum_over_gaps(self):
        """Not only one hit an epoch: every pattern of seven steps. After a short gap, to wait for a long one pays."""
        cheaper = 0
        for c, pattern in product((0.8, 1.0, 1.1, 2.0), product((0, 1), repeat=7)):
            times = [*(time for time, hit in enumerate(pattern) if hit), 7]
            most = math.fsum(share(c, after - before) for before, after in pairwise(times))
            exact = oracle.uniform_cost(c, list(pattern))
            assert exact <= most * (1 + 1e-12)
            assert most <= sum(pattern) * (1 + 1e-12)
            cheaper += exact < most * 0.999
        assert cheaper > 100


def gaussian_square(rng: np.random.Generator, c: float, batches: int, epochs: int, place: int) -> float:
    """μ² of a run of affine maps in the plane, hits being of unit length and noise N(0, I)."""
    mean, covariance = np.zeros(2), np.zeros((2, 2))
    for step in range(batches * epochs):
        left, _, right = np.linalg.svd(rng.normal(size=(2, 2)))
        squeeze = float(rng.choice([c, rng.uniform(0, c)]))
        matrix = left @ np.diag([c, squeeze]) @ right if rng.random() < 0.7 else c * np.eye(2)
        mean, covariance = matrix @ mean, matrix @ covariance @ matrix.T + np.eye(2)
        if step % batches == place:
            mean = mean + (mean / np.linalg.norm(mean) if mean.any() and rng.random() < 0.8 else np.array([1.0, 0.0]))
    return float(mean @ np.linalg.solve(covariance, mean))


def one_epoch(c: float, mu: float, slopes: list[float], scheme: str = "fixed") -> Pair:
    """One record a batch, whose maps are straight lines of these slopes; the first is pulled by 2μ, or by nothing."""
    lam = (1 - c) / float(ETA)
    steep = [[0.0, (c - slope) / float(ETA), 0.0, 1e3] for slope in slopes]
    first, second = np.array(steep), np.array(steep)
    first[0, 0] = 2 * mu
    plan = plan_of(scheme, Setting(n=len(slopes), b=1, K=1))
    return exact_pair(Update(Bent(lam, 9.0, 2 * mu), float(ETA), 1.0, 1), (first, plan), (second, plan), reach=16.0)


class TestWrongBoundsAreExposed:
    def test_a_smaller_constant(self):
        """q or 1 claimed where steps expand by c."""
        exact = one_epoch(1.5, 1.0, [1.5, 1.5, 1.5]).divergence(2.0)
        right, wrong = (run_of(3, 1, Fraction(c), Fraction(1)) for c in ("1.5", "1"))
        assert exact == pytest.approx(float(statement("gdp:expanding").exact(right, j0=0)), rel=1e-9)
        assert exact > 1.5 * float(statement("gdp:expanding").exact(wrong, j0=0))
        q = wrong.replace(lam="0.2", beta=3)
        assert exact > 1.5 * float(statement("gdp:cyclic").enclose(q, j0=0).hi)

    def test_a_gap_one_step_longer(self):
        exact = one_epoch(1.5, 1.0, [1.5, 1.5, 1.5]).divergence(2.0)
        assert exact > 1.05 * share(1.5, 4)

    def test_the_mean_of_costs_in_place_of_the_mean_of_moments(self):
        """Both maps forget where they were: a hit that comes first is gone, one that comes last is all there."""
        mu, alpha = 2.0, 4.0
        exact = one_epoch(1.0, mu, [0.0, 0.0], "reshuffle").divergence(alpha)
        run = run_of(2, 1, Fraction(1), Fraction(mu))
        assert exact <= float(statement("expanding:reshuffle").enclose(run, alpha=4).hi)
        assert exact > 1.05 * alpha * mu**2 / 2 * (spent(1.0, 2, (0,)) + spent(1.0, 2, (1,))) / 2

    def test_the_next_place_in_the_wrong_epoch(self):
        """A gap of N − j + j' taken for N + j − j' gives another mean."""
        batches, epochs, cost = 3, 3, 1.0
        right = [spent(1.2, batches, places) for places in product(range(3), repeat=3)]
        wrong = [
            math.fsum(share(1.2, batches + one - other) for one, other in pairwise(places))
            + share(1.2, batches - places[-1])
            for places in product(range(3), repeat=3)
        ]
        means = [math.log(math.fsum(math.exp(cost * x) for x in each) / batches**epochs) for each in (right, wrong)]
        assert abs(means[0] - means[1]) > 0.05
        run = run_of(batches, epochs, Fraction("1.2"), Fraction(1))  # α(α − 1)ρ₀ = 1 at α = 2
        assert float(statement("expanding:reshuffle").enclose(run, alpha=2).hi) == pytest.approx(means[0], rel=1e-12)
