"""The sharper bounds: their numbers, their optimality, and that they are never above the paper's or below the truth."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sympy import Rational

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting.split import best_split
from hsdp_symbolic.errors import ArgumentError, HypothesisError
from hsdp_symbolic.evaluate.enclosure import exact
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.experiment.attack import attack
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from proofs_check.prove import Outcome, prove_over, replay

TABLE = {
    ("shift:cyclic", 10, 0): "0.0047747779299173",
    ("shift:cyclic", 15, 0): "0.0071621668948760",
    ("shift:cyclic", 10, 24): "0.0547747779193567",
    ("shift:cyclic", 15, 24): "0.0821621668790351",
    ("strconvexsmooth:factor", 10, 24): "0.0547822692226",
    ("strconvexsmooth:factor", 15, 24): "0.0821734038339",
    ("thm:strconvexsmooth", 15, 0): "0.0139008201950308",
    ("thm:strconvexsmooth", 15, 24): "0.0871296232726143",
    ("shift:shuffle", 10, None): "0.0118928239808808",
    ("shift:shuffle", 15, None): "0.0191953124399091",
    ("shuffle:factor", 10, None): "0.0121548998595",
    ("shuffle:factor", 15, None): "0.0195547139062",
    ("thm:shuffle", 15, None): "0.0245109333448522",
}
"""At the figure setting, K = 40: computed elsewhere with 60 digits."""


@pytest.mark.parametrize(("label", "alpha", "place"), TABLE)
def test_numbers_at_the_figure_setting(figure_run, label, alpha, place):
    digits = TABLE[label, alpha, place]
    arguments = {"alpha": alpha} | ({} if place is None else {"j0": place})
    found = statement(label).enclose(figure_run, **arguments)
    half_a_digit = Fraction(1, 2 * 10 ** len(digits[2:]))
    assert abs(found.lo - Fraction(digits)) <= half_a_digit
    assert abs(found.hi - Fraction(digits)) <= half_a_digit
    assert statement(label).numeric(figure_run, **arguments) == pytest.approx(float(found.hi), rel=1e-14)


def minorant_cost(weights, hits):
    """Σ(ΔH)²/Δx over the greatest convex minorant of the points (Σw², Σw·hit), in exact arithmetic."""
    points = [(Fraction(0), Fraction(0))]
    for weight, hit in zip(weights, hits, strict=True):
        points.append((points[-1][0] + weight**2, points[-1][1] + weight * hit))
    hull = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-1][0]) >= (y - hull[-1][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return sum((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in pairwise(hull))


def cyclic_pattern(q, batches, epochs, place):
    updates = batches * epochs
    return [q ** (updates - 1 - t) for t in range(updates)], [int(t % batches == place) for t in range(updates)]


def cost_of(q, batches, epochs, place):
    """The closed form of the least Σa², as a rational."""
    node = CyclicShifts(*(rational(x) for x in (q, batches, epochs, batches - place)))
    return exact(compile_expression(node), {})


def rational(x):
    return Rational(*Fraction(x).as_integer_ratio())


@pytest.mark.parametrize("q", ["1", "999/1000", "9/10", "1/2", "1/10"])
def test_the_closed_form_is_the_greatest_convex_minorant(q):
    """Exactly, for every batch of every small problem, in both regimes."""
    q, regimes = Fraction(q), set()
    for batches in range(1, 7):
        for epochs in range(1, 6):
            for place in range(batches):
                found = cost_of(q, batches, epochs, place)
                assert found == minorant_cost(*cyclic_pattern(q, batches, epochs, place))
                chord = sum(w * h for w, h in zip(*cyclic_pattern(q, batches, epochs, place), strict=True)) ** 2
                chord /= sum(w**2 for w in cyclic_pattern(q, batches, epochs, place)[0][place:])
                regimes.add(found == chord)
    assert regimes == {True, False}


def test_no_shifts_do_better():
    """Random feasible shifts, and small changes of the best ones, cost at least as much."""
    rng = random.Random(3)
    for _ in range(200):
        q, batches, epochs = Fraction(rng.randint(1, 20), 20), rng.randint(1, 5), rng.randint(1, 4)
        place = rng.randrange(batches)
        least, distance, spent = cost_of(q, batches, epochs, place), Fraction(0), Fraction(0)
        for update in range(batches * epochs):
            distance = q * distance + (update % batches == place)
            last = update == batches * epochs - 1
            shift = distance if last else distance * Fraction(rng.randint(0, 8), 8)
            distance, spent = distance - shift, spent + shift**2
        assert distance == 0
        assert spent >= least


def draw(rng):
    lam = Fraction(rng.randint(1, 100), 10)
    b = rng.choice([1, 2, 3])
    return Setting(
        n=b * rng.randint(2, 12) + rng.randrange(b),
        b=b,
        K=rng.choice([1, 2, 3, 7, 50]),
        eta=Fraction(rng.randint(1, 99), 100) / lam,
        lam=lam,
        beta=lam,
        sigma=Fraction(rng.randint(1, 30), 10),
        S_g=Fraction(rng.randint(1, 30), 10),
    )


def test_between_the_exact_law_and_the_paper():
    rng, tight = random.Random(4), 0
    for _ in range(150):
        run = draw(rng)
        batches, order = int(run["n"] // run["b"]), rng.randint(2, 20)
        place, split = rng.randrange(batches), rng.randint(1, batches)
        at = {"alpha": order, "j0": place}
        law, ours, factor, paper = (
            statement(label).exact(run, **at)
            for label in ("exact:fixed_order", "shift:cyclic", "strconvexsmooth:factor", "thm:strconvexsmooth")
        )
        assert law <= ours <= factor <= paper
        assert ours <= statement("strconvexsmooth:split").exact(run, split=split, **at)
        rho = run["eta"] * run["S_g"] ** 2 / (4 * run["sigma2"] * run["b"] ** 2)
        assert ours <= run["K"] * order * rho
        assert (ours == law) or place
        tight += ours == law
        gd, law = (statement(label).exact(run, alpha=order) for label in ("shift:gd", "exact:full_batch"))
        assert gd == law == statement("split:gd").exact(run, alpha=order)
        shuffles = [
            statement(label).enclose(run, alpha=order) for label in ("shift:shuffle", "shuffle:factor", "thm:shuffle")
        ]
        assert shuffles[0].lo <= shuffles[1].hi
        assert shuffles[1].lo <= shuffles[2].hi
    assert tight >= 20


def test_the_convex_bound_is_the_paper_s():
    run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    for place in (0, 7, 24):
        ours, theirs = (
            statement(label).exact(run, alpha=15, j0=place) for label in ("shift:convex", "thm:convexsmooth")
        )
        assert ours == theirs


@pytest.mark.parametrize(
    ("label", "place", "epochs"),
    [("shift:cyclic", 0, 1), ("shift:cyclic", 0, 5), ("shift:gd", None, 5), ("split:gd", None, 5)],
)
def test_attained_by_the_quadratic_loss(figure_run, label, place, epochs):
    found = attack(label, figure_run.replace(K=epochs, beta=1), 15, place=place)
    assert not found.violated
    assert found.ratio == pytest.approx(1, rel=1e-12)


def test_tight_in_the_limit_for_the_first_half(figure_run):
    for place in range(25):
        ratio = 1.0
        for epochs in (10, 100, 1000):
            bound, law = (
                statement(label).enclose(figure_run, alpha=2, j0=place, K=epochs)
                for label in ("shift:cyclic", "exact:fixed_order")
            )
            ratio = float(bound.hi / law.lo)
        assert (ratio < 1 + 1e-9) is (place <= 12)


class TestSplit:
    def test_best_split_is_best(self):
        rng = random.Random(5)
        for _ in range(30):
            run = draw(rng)
            batches = int(run["n"] // run["b"])
            values = [
                statement("strconvexsmooth:split").exact(run, alpha=2, j0=0, split=m) for m in range(1, batches + 1)
            ]
            assert values[best_split(run) - 1] <= min(values) * (1 + Fraction(1, 10**12))

    def test_known_optima(self, figure_run):
        assert best_split(figure_run.replace(K=2)) == 25
        assert best_split(figure_run.replace(K=10**9)) == 12
        assert 12 < best_split(figure_run.replace(K=4)) < 25

    def test_arrays_that_end_at_the_whole_epoch(self, figure_run):
        found = statement("strconvexsmooth:split")
        values = found.numeric(figure_run, alpha=15, j0=3, split=[1, 24, 25])
        alone = [float(found.exact(figure_run, alpha=15, j0=3, split=m)) for m in (1, 24, 25)]
        np.testing.assert_allclose(values, alone, rtol=1e-13)

    def test_refusals(self, figure_run):
        found = statement("strconvexsmooth:split")
        with pytest.raises(HypothesisError, match="split"):
            found.upper(figure_run, alpha=15, j0=3, split=26)
        with pytest.raises(ArgumentError, match="split"):
            found.upper(figure_run, alpha=15, j0=3, split=0)
        with pytest.raises(ArgumentError, match="splits to compare"):
            best_split(figure_run.replace(n=10**9))


def test_hypotheses_are_checked(figure_run):
    for label in ("shift:cyclic", "shift:shuffle", "shift:gd", "split:gd", "strconvexsmooth:factor", "shuffle:factor"):
        found = statement(label)
        at = {"alpha": 15, "j0": 0} if "j0" in found.needs else {"alpha": 15}
        with pytest.raises(HypothesisError, match="eta"):
            found.upper(figure_run, eta="0.4", **at)
        with pytest.raises(ArgumentError, match="alpha"):
            found.upper(figure_run, **{**at, "alpha": 1})
    with pytest.raises(HypothesisError, match="j0"):
        statement("shift:cyclic").upper(figure_run, alpha=15, j0=25)
    assert statement("shift:cyclic").upper(figure_run.replace(b=50), alpha=15, j0=0) > 0, "one batch is allowed"


BOX = {"n": 50, "b": 2, "lam": 1, "beta": 4, "sigma": 2, "S_g": 4, "alpha": 15}


class TestOverBoxes:
    def test_ranges_of_the_mean(self, figure_run):
        found, rng = statement("shift:shuffle"), random.Random(6)
        whole = found.enclose(figure_run, alpha=15, eta=("0.019", "0.02"), K=(30, 40), n=(50, 60))
        for _ in range(20):
            point = {"eta": Fraction(rng.randint(190, 200), 10**4), "K": rng.randint(30, 40), "n": rng.randint(50, 60)}
            value = found.enclose(figure_run, alpha=15, **point)
            assert whole.lo <= value.lo
            assert value.hi <= whole.hi

    @pytest.mark.parametrize(
        ("claim", "letters"),
        [
            ("shift:cyclic < strconvexsmooth:factor", {"K": (20, 60), "eta": ("0.019", "0.02"), "j0": (0, 8)}),
            ("shift:shuffle < shuffle:factor", {"K": (30, 40), "eta": "0.02"}),
            ("shift:gd < thm:GD_tighter", {"K": (2, 60), "eta": ("0.01", "0.02")}),
        ],
    )
    def test_strictly_smaller_on_a_box(self, claim, letters):
        proof = prove_over({**BOX, **letters}, claim)
        assert proof.verdict is Outcome.PROVED
        assert replay(proof)

    def test_a_false_claim_is_refuted(self):
        box = {**BOX, "K": (30, 40), "eta": "0.02"}
        assert prove_over(box, "shift:shuffle > shuffle:factor").verdict is Outcome.REFUTED
