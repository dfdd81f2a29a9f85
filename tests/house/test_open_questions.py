"""The numbers in proofs_check/OPEN.md, computed again."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.experiment import plans
from hsdp_symbolic.experiment.plans import Plan
from hsdp_symbolic.experiment.quadratic_profile import quadratic_profile
from hsdp_symbolic.experiment.small_runs import Update, exact_pair
from hsdp_symbolic.functions.convex_minorant import pattern_bound
from hsdp_symbolic.meaning import Scheme
from tests.experiment import drift_oracle as oracle
from tests.experiment.small_cases import Bent
from tests.experiment.test_small_runs import ONE, both, worst

TEXT = " ".join((Path(__file__).parents[2] / "proofs_check" / "OPEN.md").read_text(encoding="utf-8").split())
FIGURE = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
DELTA = "1e-5"
EPOCHS = (1, 4, 10, 40, 400)
COLUMNS = [pytest.param(*each, marks=[] if each[1] == 40 else pytest.mark.slow) for each in enumerate(EPOCHS)]


def row(words: str) -> list[str]:
    """The cells of the table row that begins with these words, but the first."""
    return re.findall(rf"\| {re.escape(words)}[^|]*\|([^|]*(?:\|[^|]*){{4}})\|", TEXT)[0].split("|")


def is_rounded_up(shown: str, value: float) -> bool:
    """Whether a number is shown with its digits, rounded up; what is computed on a grid may vary by 1e-3."""
    unit = Decimal(1).scaleb(Decimal(shown).as_tuple().exponent)
    low, high = (Decimal(value * (1 + side)).quantize(unit, ROUND_CEILING) for side in (-1e-3, 1e-3))
    return low <= Decimal(shown) <= high


@pytest.mark.parametrize(
    ("column", "K"),
    [pytest.param(*each, marks=[] if each[1] == 40 else pytest.mark.slow) for each in enumerate(EPOCHS)],
)
def test_secret_hits_against_composition(column, K):
    run = FIGURE.replace(K=K)
    for label in ("profile:without_replacement", "profile:composition:without_replacement"):
        words = "by secret hits" if label == "profile:without_replacement" else "all iterates seen"
        assert is_rounded_up(row(words)[column].strip(), statement(label).epsilon(run, DELTA).upper())
    least = quadratic_profile(run, Scheme.WITHOUT_REPLACEMENT).epsilon(float(DELTA))
    assert float(row("the quadratic loss")[column].strip(" ~")) == pytest.approx(least, abs=1e-4)


def test_divergences():
    secret = statement("secret:without_replacement")
    for alpha, shown in ((10, "0.00979"), (15, "0.01472")):
        found = secret.upper(FIGURE, alpha=alpha, **secret.choices(FIGURE, {"alpha": alpha}))
        assert shown in TEXT
        assert is_rounded_up(shown, found)
    for alpha, shown in ((10, "0.01755"), (15, "0.03179")):
        assert shown in TEXT
        assert is_rounded_up(shown, statement("control:without_replacement").upper(FIGURE, alpha=alpha))


class TestConditionsOfSecretHits:
    """As in tests/experiment/test_small_runs.py, with their digits."""

    @staticmethod
    def says(words: str, true: float, bound: float) -> bool:
        (cells,) = re.findall(rf"\| {re.escape(words)}[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|", TEXT)
        return [float(cell) for cell in cells] == [float(f"{value:.4g}") for value in (true, bound)]

    def test_any_two_records(self):
        plan, others = plans.without_replacement(10, 1, 1), [-50.0] * 9
        found = worst(both(plan, [0.5, *others], [-0.5, *others]), 0.3)
        assert self.says("S_g bounds the difference", found, oracle.sampled(0.1, 0.5)(0.3))

    def test_not_cut(self):
        rate, epsilon = 0.9, 2.0
        alone = rate * (1 - rate) + rate**2 / 2
        cut = Plan((((1 - rate) ** 2, ((),)), (alone, ((0,),)), (alone, ((1,),))))
        found = worst(exact_pair(ONE, ([2.0, -2.0], cut), ([-2.0], plans.poisson(1, rate, 1))), epsilon)
        bound = max(pair(rate, 1.0)(epsilon) for pair in (oracle.removed, oracle.added))
        assert self.says("Poisson batches are not cut", found, bound)

    def test_one_divisor(self):
        plan, records = plans.poisson(4, 0.5, 1), ([2.0, 0.0, 0.0, 0.0], np.zeros(4))
        actual = Update(ONE.loss, eta=0.5, sigma=1.0, divisor=None)
        found = worst(both(plan, *records, actual), 1.0)
        assert self.says("sums are divided by one number", found, oracle.sampled(0.5, 0.5)(1.0))

    def test_large_batches(self):
        rate, steps, factor, mu = 0.9, 4, 0.1, 0.5
        steep = 2 * (1 + factor)
        update = Update(Bent(1.8, 1.8 + steep, 4 * mu), eta=0.5, sigma=1.0, divisor=1, start=20.0)
        records = np.array([[0.0, 200 * mu, 0.0, 0.01], [0.0, steep, 0.0, 1e3]])
        many, few = plans.poisson(2, rate, steps), plans.poisson(1, rate, steps)
        found = worst(exact_pair(update, (records, many), (records[1:], few), reach=9.0), 1.0)
        bound = max(
            oracle.secret_delta(pair, rate, mu, factor, steps, 1, 0.9, 1.0) for pair in (oracle.removed, oracle.added)
        )
        assert self.says("batches too large to contract", found, bound)


class TestPermutations:
    def test_secret_ones_are_no_balls_in_bins(self):
        """Two batches of one record, both iterates seen: θ ← θ + x + N(0, 1), or 0 in place of x."""
        step = 0.02
        at = np.arange(-7, 7, step)
        bell = {mean: np.exp(-((at - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for mean in (-0.3, 0.0, 0.3)}

        def either(one: float, other: float):
            return (np.outer(bell[one], bell[other]) + np.outer(bell[other], bell[one])) / 2

        def delta(first, second) -> float:
            both = ((first, second), (second, first))
            return max(np.maximum(p - math.exp(0.5) * q, 0).sum() for p, q in both) * step**2

        bins = delta(either(0.3, 0.0), either(0.0, 0.0))
        permuted = delta(either(0.3, -0.3), either(0.0, -0.3))
        assert f"δ is {permuted:.5f} for a permutation where balls in bins have {bins:.5f}" in TEXT

    def test_reshuffling_against_shuffling_once(self):
        once, anew = oracle.shuffle_costs(1.0, 2, 1, 2), oracle.reshuffle_costs(1.0, 2, 1, 2, 2)
        means = [math.fsum(chance * cost for chance, cost in costs) for costs in (anew, once)]
        assert "the mean of U is {:.4f} against {:.2f}".format(*means) in TEXT

    def test_later_hits_where_updates_expand(self):
        early, later = (2 * pattern_bound(hits, q=2.0) for hits in ([1, 1, 0, 0], [1, 0, 1, 0]))
        assert f"have U = {early:.4f}, hits in the first and third {later:.1f}" in TEXT
        assert later < early

    def test_the_profile(self):
        assert "(ε = 0.2579 with m = 3" in TEXT
        assert is_rounded_up("0.2579", statement("profile:reshuffle").epsilon(FIGURE, DELTA, known=3).upper())
        assert f"~{quadratic_profile(FIGURE, Scheme.RESHUFFLE).epsilon(float(DELTA)):.4f}" in TEXT


def test_the_lipschitz_constant_of_a_clipped_update():
    """In the plane of the gradient and of the direction that H keeps; S is the sin² of their angle."""
    q, a = 1 - 0.5 * 0.01, 0.5
    largest = max(
        np.linalg.norm([[q, 0], [-a * math.sqrt(S * (1 - S)), q - a * S]], 2) for S in np.linspace(0, 1, 2001)
    )
    assert largest == pytest.approx(q / math.sqrt(1 - a / (4 * q)), rel=1e-6)
    assert f"is {largest:.4f}. It contracts" in TEXT


def test_the_last_batch():
    shifts, exact = statement("shift:cyclic"), 15 * 0.005
    last = shifts.upper(FIGURE, alpha=15, j0=24)
    assert f"the best shifts give {last:.5f} (α = 15)" in TEXT
    assert f"at most U = {last / exact:.4f} times too large" in TEXT
    y = math.fsum(0.92 ** (2 * i) for i in range(1, 25))
    assert f"2y/(1 + y)² = ~{exact * 2 * y / (1 + y) ** 2:.4f}" in TEXT
    assert f"α·ρ₀/(1 + y) = {exact / (1 + y):.4f} and the bound is {exact:.3f}" in TEXT
    assert shifts.upper(FIGURE, alpha=15, j0=24, K=1) == pytest.approx(exact)
