"""Random batches: exact moments and controlled shifts, bracketed, and never below an exact law."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.rounded import expm1_bounds, log_mix
from hsdp_symbolic.errors import ArgumentError, GridExhausted, HypothesisError, TooManySteps
from hsdp_symbolic.experiment.attack import attack, campaign
from hsdp_symbolic.experiment.hit_patterns import patterns
from hsdp_symbolic.functions.convex_minorant import pattern_exact
from hsdp_symbolic.functions.shift_control import ShiftControl
from hsdp_symbolic.functions.shift_programme import Programme, bracket, grid

MOMENTS, CAPPED = "moments:without_replacement", "split:capped"
DRAWN, RESHUFFLED = "control:without_replacement", "control:reshuffle"


@pytest.mark.smoke
class TestRoundedFunctions:
    """Held against 60 digits, over twelve orders of magnitude and more."""

    def test_exponential(self):
        rng = np.random.default_rng(1)
        x = np.append(np.exp(rng.uniform(math.log(1e-250), math.log(200), 2000)), [0.0, 200.0, 0.25, 0.125])
        low, high = expm1_bounds(x)
        with mpmath.workdps(60):
            for a, b, c in zip(x.tolist(), low.tolist(), high.tolist(), strict=True):
                assert b <= mpmath.expm1(a) <= c
        assert np.all(high - low <= 3e-14 * (1 + x) * high)

    @pytest.mark.parametrize("weight", [0.0, 1e-30, 1e-3, 0.04, 0.5, 1.0])
    def test_log_mixture(self, weight):
        rng = np.random.default_rng(2)
        gap = np.append(np.exp(rng.uniform(math.log(1e-30), math.log(5000), 1000)), [0.0, 200.0])
        found = log_mix((weight, weight), gap)
        with mpmath.workdps(120):
            for a, below, above, least, most in zip(gap.tolist(), *(part.tolist() for part in found), strict=True):
                inside = 1 + weight * mpmath.expm1(a)
                assert below <= mpmath.log(inside) <= above
                assert least <= weight * mpmath.exp(a) / inside <= most
        if weight:
            assert np.all(found.above - found.below <= 1e-13 * (1 + gap) * found.above)

    def test_padding_is_needed(self):
        """Without the padding some results are on the wrong side: the check above can fail."""
        x = np.linspace(0.01, 50, 500)
        middle = sum(expm1_bounds(x)) / 2
        with mpmath.workdps(60):
            assert any(m < mpmath.expm1(a) for a, m in zip(x.tolist(), middle.tolist(), strict=True))
            assert any(m > mpmath.expm1(a) for a, m in zip(x.tolist(), middle.tolist(), strict=True))


def by_hand(programme, resolution=400):
    """The value by brute force: a fine uniform grid of choices in every step, nearest from above (a few steps only)."""
    q, c = float(programme.q), float(programme.cost)
    z = np.linspace(0, float(programme.farthest), resolution + 1)
    value = np.where(z == 0, 0.0, np.inf)
    fresh = used = value

    def hidden(w, y):
        return min(c * max(y - b, 0) ** 2 + a for a, b in zip(w, z, strict=True) if b <= y + 1e-12)

    for _ in range(programme.epochs):
        used = fresh
        for batch in reversed(range(programme.batches)):
            p = float(programme.chance(batch))
            fresh, used = (
                np.array(
                    [
                        np.logaddexp(
                            math.log(p) + hidden(used, q * a + 1),
                            (math.log(1 - p) if p < 1 else -math.inf) + hidden(fresh, q * a),
                        )
                        for a in z
                    ]
                ),
                np.array([hidden(used, q * a) for a in z]),
            )
    return float(fresh[0])


class TestBracket:
    @pytest.mark.parametrize("batches", [1, 3])
    def test_brute_force_lies_inside(self, batches):
        rng = random.Random(batches)
        for _ in range(2):
            programme = Programme(
                Fraction(rng.randint(1, 30), 10),
                Fraction(rng.randint(5, 19), 20),
                Fraction(1, 4),
                batches,
                4 // batches,
            )
            found, rough = bracket(programme, 1e-4), by_hand(programme, 150)
            assert found.lo <= rough  # one policy among all
            assert rough <= found.hi * 1.01

    def test_random_programmes_have_brackets_that_agree_across_grids(self):
        rng, narrowest = random.Random(3), 1.0
        for _ in range(25):
            batches = rng.choice([1, 2, 5])
            programme = Programme(
                Fraction(repr(math.exp(rng.uniform(math.log(1e-40), math.log(1e4))))),
                1 - Fraction(repr(math.exp(rng.uniform(math.log(1e-9), math.log(0.99))))),
                Fraction(1, batches + rng.randint(0, 40)),
                batches,
                rng.choice([1, 2, 7, 40]),
            )
            coarse, fine = bracket(programme, 0.2), bracket(programme, 5e-3)
            assert coarse.lo <= coarse.hi
            assert fine.hi - fine.lo <= 5e-3 * fine.hi
            assert coarse.lo <= fine.hi
            assert fine.lo <= coarse.hi
            narrowest = min(narrowest, fine.lo / fine.hi)
        assert narrowest > 0.99

    @pytest.mark.smoke
    def test_one_step_is_known(self):
        programme = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 1)
        found = bracket(programme, 1e-3)
        truth = math.log1p(0.04 * math.expm1(1.05))
        assert found.lo == pytest.approx(truth, rel=1e-11)
        assert found.lo <= truth * (1 + 1e-15)
        assert found.hi >= truth * (1 - 1e-15)

    def test_certain_hits_are_the_minorant(self):
        """With every step a hit there is nothing to be guessed: control is the best pattern bound."""
        programme = Programme(Fraction(1, 2), Fraction(9, 10), Fraction(1), 1, 12)
        found, exact = bracket(programme, 1e-3), float(pattern_exact([1] * 12, q="0.9"))  # U/2 = u at v = s = 1
        assert found.lo <= exact <= found.hi

    def test_foresight_only_helps(self):
        """Knowing all hits beforehand, the minorant for each pattern gives less, and not much less."""
        for scheme, batches in (("without_replacement", 1), ("reshuffle", 4)):
            run = Setting(n=4, b=1, K=2)
            programme = Programme(Fraction(1), Fraction(9, 10), Fraction(1, 4), batches, 8 // batches)
            mean = sum(
                float(chance) * math.exp(2 * pattern_exact(hits, q="0.9")) for chance, hits in patterns(run, scheme)
            )
            found = bracket(programme, 1e-3)
            assert math.log(mean) <= found.hi
            assert math.log(mean) >= 0.8 * found.lo

    def test_monotone_in_cost_contraction_rate_and_length(self):
        base = {"cost": Fraction(1), "q": Fraction(9, 10), "rate": Fraction(1, 10), "batches": 1, "epochs": 20}
        here = bracket(Programme(**base), 1e-3)
        for more in ({"cost": Fraction(2)}, {"q": Fraction(19, 20)}, {"rate": Fraction(1, 5)}, {"epochs": 40}):
            assert bracket(Programme(**{**base, **more}), 1e-3).lo > here.hi

    def test_the_grid_begins_at_nothing_and_reaches_everything(self):
        for farthest in (1.0, 3.5, 50.0, 1e6):
            z = grid(farthest, 100)
            assert z[0] == 0
            assert z[-1] == farthest
            assert np.all(np.diff(z) > 0)

    def test_any_number_of_epochs(self):
        limit = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 10**30)
        forty = Programme(Fraction(21, 20), Fraction(49, 50), Fraction(1, 25), 1, 1000)
        far, near = bracket(limit, 2e-3), bracket(forty, 2e-3)
        assert far.steps < 2000
        assert far.hi >= near.lo

    def test_what_is_refused(self):
        good = {"cost": Fraction(1), "q": Fraction(9, 10), "rate": Fraction(1, 10), "batches": 1, "epochs": 5}
        with pytest.raises(ArgumentError, match="alpha"):
            bracket(Programme(**{**good, "cost": Fraction(10) ** 200}), 1e-3)
        with pytest.raises(ArgumentError, match="alpha"):
            bracket(Programme(**{**good, "cost": Fraction(1, 10**200)}), 1e-3)
        with pytest.raises(ArgumentError, match="permutation"):
            bracket(Programme(**{**good, "batches": 11}), 1e-3)
        with pytest.raises(TooManySteps):
            bracket(Programme(**{**good, "q": 1 - Fraction(1, 10**9), "epochs": 10**9}), 1e-3)


class TestTable:
    """The numbers of the table at the figure setting, K = 40."""

    @pytest.mark.parametrize(("alpha", "value"), [(10, "0.0596711836073"), (15, "0.1083171272665778")])
    def test_moments(self, figure_run, alpha, value):
        found = statement(MOMENTS)
        digits = len(value) - 2 - 1
        assert float(found.enclose(figure_run, alpha=alpha).hi) == pytest.approx(float(value), abs=0.6 * 10**-digits)
        assert found.numeric(figure_run, alpha=alpha) == pytest.approx(float(value), rel=1e-12)

    @pytest.mark.parametrize(("label", "alpha", "most"), [(DRAWN, 10, 0.01775), (DRAWN, 15, 0.03215)])
    def test_control(self, figure_run, label, alpha, most):
        upper = statement(label).upper(figure_run, alpha=alpha)
        assert upper <= most
        assert statement(label).enclose(figure_run, alpha=alpha, rtol="1e-3").hi <= Fraction(upper) * Fraction(
            1001, 1000
        )

    def test_the_order_of_the_bounds(self, figure_run):
        values = [
            statement(label).upper(figure_run, alpha=15)
            for label in (RESHUFFLED, DRAWN, MOMENTS, "thm:amp_samp_wo_replacement")
        ]
        assert values == sorted(values)


class TestMoments:
    def test_the_recursion_as_stated(self):
        """M_(t+1)(c) = p·e^c·M_t(c) + (1 − p)·M_t(rc), by recursion, in 40 digits."""
        rng = random.Random(4)
        with mpmath.workdps(40):
            for _ in range(10):
                n, b, K = rng.randint(2, 9), 1, rng.randint(1, 3)
                run = Setting(n=n, b=b, K=K, eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1, sigma=1, S_g=2)
                alpha = rng.randint(2, 9)
                q, p = 1 - run["eta"], mpmath.mpf(1) / n
                r = mpmath.mpf((q * q).numerator) / (q * q).denominator
                c = alpha * (alpha - 1) * mpmath.mpf(run["eta"].numerator) / run["eta"].denominator
                row = [mpmath.mpf(1)] * (n * K + 1)
                for _ in range(n * K):
                    row = [p * mpmath.exp(c * r**m) * row[m] + (1 - p) * row[m + 1] for m in range(len(row) - 1)]
                truth = mpmath.log(row[0]) / (alpha - 1)
                found = statement(MOMENTS).enclose(run, alpha=alpha)
                assert mpmath.mpf(found.lo.numerator) / found.lo.denominator <= truth * (1 + mpmath.mpf(10) ** -35)
                assert mpmath.mpf(found.hi.numerator) / found.hi.denominator >= truth * (1 - mpmath.mpf(10) ** -35)
                assert statement(MOMENTS).numeric(run, alpha=alpha) == pytest.approx(float(truth), rel=1e-13)

    def test_never_above_the_paper_and_below_it_somewhere(self):
        rng, better = random.Random(5), 0
        paper, ours = statement("thm:amp_samp_wo_replacement"), statement(MOMENTS)
        for _ in range(25):
            run = Setting(
                n=rng.randint(2, 30), b=1, K=rng.randint(1, 4), eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1,
                sigma=rng.randint(1, 5), S_g=1,
            )  # fmt: skip
            alpha = rng.randint(2, 20)
            assert ours.enclose(run, alpha=alpha).lo <= paper.enclose(run, alpha=alpha).hi
            better += ours.enclose(run, alpha=alpha).hi < paper.enclose(run, alpha=alpha).lo
        assert better > 15

    def test_any_number_of_epochs(self, figure_run):
        far = statement(MOMENTS).enclose(figure_run, K=10**20, alpha=15, rtol="1e-9")
        assert far.overlaps(statement(MOMENTS).enclose(figure_run, K=400, alpha=15, rtol="1e-9"))
        with pytest.raises(TooManySteps):
            statement(MOMENTS).enclose(figure_run, K=10**9, alpha=60)  # p·e^(κρ₀) > 1: grows without bound

    @pytest.mark.smoke
    def test_both_engines(self, figure_run):
        statement(MOMENTS).enclose(figure_run, K=2, alpha=15, engine="both")


class TestCapped:
    def test_the_recursion_as_stated(self):
        rng, beyond = random.Random(6), 0
        with mpmath.workdps(40):
            for _ in range(15):
                n, K, alpha = rng.randint(2, 9), rng.randint(1, 6), rng.randint(2, 40)
                run = Setting(n=n, b=1, K=K, eta=Fraction(rng.randint(1, 99), 100), lam=1, beta=1, sigma=1, S_g=2)
                q = mpmath.mpf((1 - run["eta"]).numerator) / (1 - run["eta"]).denominator
                c = alpha * (alpha - 1) * (1 - q)
                s, p = mpmath.mpf(0), mpmath.mpf(1) / n
                for _ in range(n * K):
                    near = s <= c * q**2 / (1 - q**2)
                    beyond += not near
                    hit = s + c if near else (q * mpmath.sqrt(s) + mpmath.sqrt(c * (1 - q**2))) ** 2
                    s = mpmath.log(p * mpmath.exp(hit) + (1 - p) * mpmath.exp(q**2 * s))
                found = statement(CAPPED).enclose(run, alpha=alpha)
                assert float(found.hi) == pytest.approx(float(s / (alpha - 1)), rel=1e-15)
                assert statement(CAPPED).numeric(run, alpha=alpha) == pytest.approx(float(found.hi), rel=1e-13)
        assert beyond > 20

    def test_every_order_is_bounded_where_the_paper_grows(self, figure_run):
        found = statement(CAPPED)
        for alpha in (10, 60, 200):
            most = alpha * 0.005 * (1 + 0.98) / 0.02
            assert found.upper(figure_run, alpha=alpha, K=10**20) <= most
        assert found.upper(figure_run, alpha=60) < 30
        assert statement("thm:amp_samp_wo_replacement").lower(figure_run, alpha=60) > 200

    def test_never_above_the_paper(self):
        rng, better = random.Random(7), 0
        for _ in range(20):
            run = Setting(n=rng.randint(2, 9), b=1, K=rng.randint(1, 9), eta="0.3", lam=1, beta=1, sigma=1, S_g=2)
            alpha = rng.randint(2, 20)
            ours, paper = (statement(x).enclose(run, alpha=alpha) for x in (CAPPED, "thm:amp_samp_wo_replacement"))
            assert ours.lo <= paper.hi
            better += ours.hi < paper.lo
        assert better > 5

    def test_the_formula_is_no_bound_before_the_switch(self):
        """One hit from nothing: the exact divergence is ρ₀, the formula of the capped step would say ρ₀(1 − q²)."""
        run = Setting(n=1, b=1, K=1, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        exact = attack(CAPPED, run, 3)
        assert exact.found == pytest.approx(3 * 0.125)
        assert exact.ratio == pytest.approx(1)
        assert exact.found > 3 * 0.125 * (1 - 0.25)


class TestStatements:
    @pytest.mark.parametrize("label", [MOMENTS, CAPPED, DRAWN, RESHUFFLED])
    def test_no_exact_law_is_above(self, label):
        """Random small problems, all patterns of hits, certified divergence both ways round."""
        rng, close = random.Random(label), 0.0
        for _ in range(8):
            batches = rng.randint(1, 3)
            epochs = rng.randint(1, 6 // batches if label != RESHUFFLED else 2)
            ratio = Fraction(rng.randint(10, 20), 10)
            run = Setting(
                n=batches * 2 + (rng.randint(0, 1) if batches > 1 else 0),
                b=2,
                K=epochs,
                eta=Fraction(rng.randint(5, 95), 100) * 2 / (1 + ratio),
                lam=1,
                beta=ratio,
                sigma=1,
                S_g=Fraction(rng.randint(1, 30), 10),
            )
            found = attack(label, run, rng.randint(2, 20))
            assert not found.violated, found
            assert found.instance.split(",")[1].strip() == "all patterns of hits"
            close = max(close, 1 / found.ratio)
        assert close > 0.1

    @pytest.mark.parametrize("label", [DRAWN, RESHUFFLED])
    def test_campaign(self, label):
        (found,) = campaign(label)
        assert found.violations == 0
        assert found.attacks >= 5
        assert found.least_ratio < 1.001
        assert found.wrong_bounds["halved"].startswith("exposed")

    def test_one_epoch_of_a_permutation_is_shuffling(self):
        """With one epoch the two schemes are the same, so the exact law of one bounds the other's."""
        run = Setting(n=3, b=1, K=1, eta="0.95", lam=1, beta=1, sigma=1, S_g=1)
        assert attack(RESHUFFLED, run, 3).found == pytest.approx(attack("thm:shuffle", run, 3).found, rel=1e-6)

    def test_full_batches_are_gradient_descent(self):
        """Every record in every batch: certain hits, and the tight value of full-batch descent."""
        run = Setting(n=4, b=4, K=10, eta="0.1", lam=1, beta=1, sigma=1, S_g=1)
        q, K, alpha = Fraction(9, 10), 10, 3
        tight = alpha * Fraction(1, 10) / (4 * 16) * (1 + q) * (1 - q**K) / ((1 - q) * (1 + q**K))
        for label in (DRAWN, RESHUFFLED):
            assert tight in statement(label).enclose(run, alpha=alpha, rtol="1e-3")

    def test_numeric_is_on_the_safe_side_over_arrays(self, figure_run):
        for label in (DRAWN, RESHUFFLED):
            found = statement(label)
            table = found.numeric(figure_run, alpha=[[2], [10]], K=[1, 2, 40])
            assert table.shape == (2, 3)
            for row, alpha in enumerate((2, 10)):
                for column, K in enumerate((1, 2, 40)):
                    narrow = found.enclose(figure_run, alpha=alpha, K=K, rtol="2e-3")
                    assert float(narrow.lo) <= table[row, column] <= float(narrow.hi) * 1.002

    def test_without_sensitivity_there_is_nothing_to_pay(self, figure_run):
        for label in (MOMENTS, CAPPED, DRAWN, RESHUFFLED):
            assert statement(label).exact(figure_run.replace(S_g=0), alpha=15) == 0
            assert statement(label).numeric(figure_run.replace(S_g=0), alpha=15) == 0

    def test_records_left_out(self):
        """b does not divide n: the record may be in no batch of an epoch, and certified patterns agree."""
        run = Setting(n=5, b=2, K=2, eta="0.5", lam=1, beta=1, sigma=1, S_g=1)
        found = attack(RESHUFFLED, run, 4)
        assert not found.violated
        assert found.ratio < 3

    @pytest.mark.parametrize("label", [MOMENTS, CAPPED, DRAWN, RESHUFFLED])
    def test_hypotheses(self, figure_run, label):
        found = statement(label)
        with pytest.raises(HypothesisError, match="eta"):
            found.upper(figure_run, eta=1, alpha=15)
        with pytest.raises(ArgumentError, match="alpha"):
            found.upper(figure_run, alpha=1)
        with pytest.raises(ArgumentError, match="K"):
            found.upper(figure_run, alpha=15, K=0)

    def test_more_digits_than_a_grid_has_are_refused(self, figure_run):
        with pytest.raises(GridExhausted, match="rtol"):
            statement(DRAWN).enclose(figure_run, alpha=15, rtol="1e-20")

    def test_ranges(self, figure_run):
        whole = statement(DRAWN).enclose(figure_run, alpha=(10, 15), K=2)
        for alpha in (10, 12, 15):
            assert whole.overlaps(statement(DRAWN).enclose(figure_run, alpha=alpha, K=2))


class TestOutOfReach:
    """Refused at once, or answered: neither a hang nor an error that names nothing."""

    RUN = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)

    @pytest.mark.parametrize("view", ["enclose", "numeric"])
    @pytest.mark.parametrize(
        ("label", "changes"),
        [
            (RESHUFFLED, {"n": 10**30}),  # a pass is followed step by step, however soon it would settle
            (RESHUFFLED, {"n": 10**6}),
            (MOMENTS, {"lam": "1e-14", "K": 10**12}),
            (MOMENTS, {"lam": "1e-20", "K": 10**12}),
        ],
    )
    def test_too_long(self, label, changes, view):
        with pytest.raises(TooManySteps):
            getattr(statement(label), view)(self.RUN.replace(**changes), alpha=15)

    @pytest.mark.parametrize("lam", ["1e-17", "1e-20"])
    def test_a_contraction_that_rounds_to_1(self, lam):
        run = self.RUN.replace(lam=lam, K=4)
        found = statement(MOMENTS).enclose(run, alpha=15)
        assert found.lo <= statement("composition:without_replacement").enclose(run, alpha=15).hi
        assert statement(MOMENTS).numeric(run, alpha=15) == pytest.approx(found.upper(), rel=1e-11)

    @pytest.mark.parametrize(("changes", "order"), [({"n": 2, "K": 1}, 10**6), ({}, 10**6), ({"sigma": "1e-40"}, 2)])
    def test_moments_beyond_any_number_that_can_be_written_down(self, changes, order):
        run = self.RUN.replace(**changes)
        found, paper = (statement(x).enclose(run, alpha=order) for x in (MOMENTS, "thm:amp_samp_wo_replacement"))
        capped = statement(CAPPED).enclose(run, alpha=order)
        assert capped.lo <= found.hi
        assert found.lo <= paper.hi


def test_moments_over_arrays_of_programmes():
    costs, epochs = np.array([[0.5], [1.0]]), np.array([1, 10, 3])
    table = ShiftControl.array(costs, Fraction(9, 10), Fraction(1, 10), Fraction(1), epochs)
    assert table.shape == (2, 3)
    assert np.all(np.diff(table[:, [0, 2, 1]], axis=1) > 0)
    assert table[0, 0] == pytest.approx(math.log1p(0.1 * math.expm1(0.5)), rel=1e-12)


def test_control_is_not_always_below_the_moments():
    """Said in OPEN.md."""
    run = Setting(n=11, b=3, K=8, eta="0.3", lam=1, beta=1, sigma=2, S_g=1)
    controlled = statement("control:without_replacement").enclose(run, alpha=5, rtol="1e-3")
    assert controlled.lo > Fraction("1.015") * statement("moments:without_replacement").enclose(run, alpha=5).hi
