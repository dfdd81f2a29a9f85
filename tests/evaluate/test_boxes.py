"""Ranges, monotonicity rules and box proofs."""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction

import pytest
from sympy import Symbol

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.errors import ArgumentError, HypothesisError, MissingArgument, UnknownLabel, UnsupportedNode
from hsdp_symbolic.evaluate.boxes import Range, centre, halves, is_count, range_of, ranged
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.trend import trend
from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.capped_moment import CappedMoment
from hsdp_symbolic.functions.compounded import Compounded
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.interface import Trend
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.functions.sampled_gaussian import SampledGaussian
from hsdp_symbolic.functions.shift_control import ShiftControl
from hsdp_symbolic.proof.checks import Verdict, surviving_mutants
from hsdp_symbolic.proof.monotone import LargestTerm, Monotone
from hsdp_symbolic.symbols import K, N, alpha, eta, i, lam, n, rho0, sigma, sigma2, w1
from proofs_check.prove import BoxProof, Inequality, prove_over, replay

RUN = {"n": 50, "b": 2, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}
RECURSIVE = (LogMeanExp, Accumulated, Compounded, SampledGaussian, CappedMoment, HitMoment, ShiftControl)
LOOSE = {"prop:smooth_strcvx_clip:rate", "prop:smooth_strcvx_clip:rate_clip"}  # no manifestly monotone form is known
CLOSED = [s for s in statements() if not s.expr.has(*RECURSIVE)]
SUMS = [s for s in statements() if s not in CLOSED]


def draw_point(rng, *, batches=2000, smallest_step=1e-7, epochs=1e9):
    """A point inside every statement's hypotheses (those of the limit and of the clipped statements included)."""

    def between(low, high):
        return Fraction(repr(math.exp(rng.uniform(math.log(low), math.log(high)))))

    b, number, step = rng.choice([1, 20, 200]), int(between(5, batches)), between(smallest_step, 0.9)
    strength, order = between(0.01, 100), 1 + between(0.01, 50)
    cost = between(1e-6, 1) / (order * (order - 1))  # ρ₀
    sensitivity = between(0.1, 10)
    point = {
        "n": number * b,
        "b": b,
        "K": int(between(2, epochs)),
        "eta": step / strength,
        "lam": strength,
        "beta": strength * Fraction(21, 20),
        "S_g": sensitivity,
        "alpha": order,
        "j0": rng.randrange(number - 1),
        "sigma2": step / strength * sensitivity**2 / (4 * cost * b**2),
        "j": rng.randrange(1, number),
        "split": rng.randrange(1, number - 1),
        "k": 1,
        "t": between(0.01, 1),
        "c": between(0.1, 10),
        "L": between(0.01, 0.1),
        "R": between(0.1, 10),
        "hit": 1,
        "dR": between(0.1, 10),
        "u": between(0.1, 10),
        "R1": between(0.1, 1),
        "R2": between(1, 10),
        "w1": between(0.01, 0.9),
        "removed": Fraction(3, 2),
        "delta": between(1e-8, 0.1),
        "epsilon": between(0.1, 10),
        "sigma_mul": between(1, 100),
        "classes": 2,
        "eps_norm": between(0.1, 1),
        "kappa": Fraction(1, 4),
        "bias": 1,
    }
    return {name: Fraction(value) for name, value in point.items()}


def widened(point, names, width=Fraction(1, 100)):
    box = dict(point)
    for name in names:
        high = point[name] * (1 + width)
        box[name] = Range(point[name], Fraction(high // 1) if is_count(name) else high)
        if box[name].lo == box[name].hi:
            box[name] = point[name]
    return box


def values_inside(found, box, rng):
    """Certified values at all corners, and at points in between along each letter."""
    varying = sorted(ranged(box))
    points = [
        dict(zip(varying, ends, strict=True)) for ends in itertools.product(*((box[v].lo, box[v].hi) for v in varying))
    ]
    corners = list(points)
    for name in varying:
        for part in range(1, 6):
            inside = box[name].lo + (box[name].hi - box[name].lo) * Fraction(part, 6)
            if is_count(name):  # n/b is floored, so the extreme may lie at any corner of the others
                points += [{**corner, name: Fraction(inside // 1)} for corner in corners]
            else:
                points.append({**rng.choice(corners), name: inside})
    for chosen in {tuple(sorted(p.items())): p for p in points}.values():
        at = {**box, **chosen}
        rtol = "1e-40" if found.rtol == "1e-20" else found.rtol  # a grid has only so many digits
        yield enclose(found._program, {leaf: at[leaf] for leaf in found._program.leaves}, rtol=rtol)


def choices(found, rng):
    """Up to three letters of a statement to widen."""
    fixed = {"classes", "hit", "bias", "k", "j"}
    if found.label == "conversion:delta":
        fixed |= {"alpha"}  # refused: neither rising nor falling
    if found.scheme == "reshuffle":
        fixed |= {"n", "b"}  # refused: a record used early in a permutation is not used late
    free = sorted(found._program.leaves - fixed)
    return rng.sample(free, min(len(free), rng.randint(1, 3)))


@pytest.mark.parametrize("found", CLOSED, ids=lambda s: s.label)
def test_ranges_are_sound_and_close(found):
    """Contains every value, and at most 1.2 times the true width, for boxes of 1 %."""
    rng = random.Random(found.label)
    tried = 0
    for _ in range(4):
        box = widened(draw_point(rng), choices(found, rng))
        if not ranged(box):
            continue
        inside = list(values_inside(found, box, rng))
        least, most = min(v.hi for v in inside), max(v.lo for v in inside)
        range_found = range_of(found.expr, box)
        assert range_found.lo <= least, box
        assert most <= range_found.hi, box
        if most - least > abs(most) * Fraction(1, 10**30) and found.label not in LOOSE:
            tried += 1
            assert range_found.hi - range_found.lo <= Fraction(12, 10) * (most - least), box
    assert tried >= 1 or found.label in LOOSE


@pytest.mark.parametrize("found", SUMS, ids=lambda s: s.label)
def test_ranges_of_sums_are_sound(found):
    rng = random.Random(found.label)
    for _ in range(3):
        point = {**draw_point(rng, batches=40, smallest_step=1e-4), "K": Fraction(3)}
        box = widened(point, choices(found, rng))
        range_found = range_of(found.expr, box)
        for value in values_inside(found, box, rng):
            assert range_found.lo <= value.hi
            assert value.lo <= range_found.hi


@pytest.mark.smoke
class TestRangesInEnclose:
    def test_the_examples_of_the_documentation(self):
        found, run = statement("thm:strconvexsmooth"), Setting(**RUN, K=40)
        whole = found.enclose(run, eta=("0.01", "0.03"), alpha=15, j0=24)
        for step in ("0.01", "0.02", "0.03"):
            point = found.enclose(run, eta=step, alpha=15, j0=24)
            assert whole.lo <= point.hi
            assert point.lo <= whole.hi
        assert found.upper(run, eta=("0.01", "0.03"), alpha=15, j0=24) >= whole.hi
        assert found.enclose(run, eta=("0.02", "0.02"), alpha=15, j0=24) == found.enclose(run, alpha=15, j0=24)

    def test_both_engines_agree(self):
        found, run = statement("thm:shuffle"), Setting(**RUN, K=40)
        both = found.enclose(run, sigma=(1, 2), alpha=(2, 3), engine="both")
        assert both.lo <= found.enclose(run, sigma=2, alpha=2).hi
        assert both.hi >= found.enclose(run, sigma=1, alpha=3).lo

    @pytest.mark.parametrize(
        ("change", "error", "says"),
        [
            ({"eta": ("0.03", "0.01")}, ArgumentError, "wrong way round"),
            ({"eta": ("0.03",)}, ArgumentError, "two ends"),
            ({"eta": ("0.01", "nan")}, ArgumentError, "not a finite number"),
            ({"eta": (0, "0.01")}, ArgumentError, "out of range"),
            ({"eta": ("0.01", "0.5")}, HypothesisError, "eta < 2"),
            ({"j0": (20, 25)}, HypothesisError, "j0 <= N - 1"),
            ({"alpha": (1, 2)}, ArgumentError, "out of range"),
        ],
    )
    def test_what_is_refused(self, change, error, says):
        with pytest.raises(error, match=says):
            statement("thm:strconvexsmooth").enclose(Setting(**RUN, K=40), **{"alpha": 15, "j0": 24, **change})

    def test_the_exact_view_takes_no_range(self):
        with pytest.raises(ArgumentError, match="tuple"):
            statement("thm:strconvexsmooth").exact(Setting(**RUN, K=40), alpha=(2, 3), j0=0)


class TestCutting:
    @pytest.mark.parametrize(("name", "low", "high"), [("K", 3, 4), ("K", 1, 10**6), ("eta", 1, 2), ("eta", 1, 10**9)])
    def test_the_halves_cover_the_box(self, name, low, high):
        box = {name: Range(Fraction(low), Fraction(high)), "b": Fraction(1)}
        left, right = halves(box, name)
        ends = [(v.lo, v.hi) if isinstance(v, Range) else (v, v) for v in (left[name], right[name])]
        assert ends[0][0] == low
        assert ends[1][1] == high
        assert ends[1][0] - ends[0][1] == (1 if is_count(name) else 0)
        assert ends[0][0] <= centre(box)[name] <= ends[1][1]


class TestMonotone:
    def test_directions_agree_with_values(self):
        """Every trend of every statement, held against certified values at random pairs of points."""
        rng, effective = random.Random(4), 0
        for found in CLOSED:
            for name in sorted(found._program.leaves - {"classes", "hit", "bias", "k", "j"}):
                direction = trend(found.expr, Symbol(name, **_assumptions(name)))
                if direction is None:
                    continue
                for _ in range(4):
                    low = draw_point(rng)
                    high = {**low, name: low[name] + (1 if is_count(name) else low[name] / 50)}
                    if name in ("n", "b"):
                        high[name] = low[name] * 2
                    first, second = (
                        enclose(found._program, {leaf: at[leaf] for leaf in found._program.leaves}, rtol="1e-60")
                        for at in (low, high)
                    )
                    if direction is Trend.UP:
                        assert first.lo <= second.hi, (found.label, name)
                    elif direction is Trend.DOWN:
                        assert first.hi >= second.lo, (found.label, name)
                    effective += direction is not Trend.FLAT
        assert effective > 250

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


def _assumptions(name):
    from hsdp_symbolic import symbols

    return next(s for s in vars(symbols).values() if isinstance(s, Symbol) and s.name == name).assumptions0


BOX = {**RUN, "K": (60, 120), "eta": ("0.01", "0.02"), "alpha": (5, 30)}


class TestProveOver:
    @pytest.mark.smoke
    def test_proves_and_replays_with_the_other_engine(self, tmp_path):
        proof = prove_over(BOX, "thm:shuffle < mironov2019", file=tmp_path / "proof.json")
        assert proof.verdict is Verdict.PROVED
        assert proof.pieces > 1
        stored = BoxProof.load(tmp_path / "proof.json")
        assert (stored.cuts, dict(stored.box)) == (proof.cuts, dict(proof.box))
        assert replay(stored)
        assert replay(stored, engine="arb")

    def test_finds_a_counterexample_that_holds_up(self):
        proof = prove_over({**BOX, "K": (1, 100)}, "thm:shuffle < mironov2019")
        assert proof.verdict is Verdict.REFUTED
        assert replay(proof)
        point = dict(proof.counterexample)
        run = Setting(
            sigma_squared=point.pop("sigma2"), **{k: point.pop(k) for k in ("n", "b", "K", "eta", "lam", "beta", "S_g")}
        )
        assert statement("thm:shuffle").lower(run, **point) >= statement("mironov2019").upper(run, **point)

    def test_the_reverse_is_refuted(self):
        assert prove_over(BOX, "thm:shuffle > mironov2019").verdict is Verdict.REFUTED

    def test_a_budget_leaves_it_undecided_and_a_file_continues(self, tmp_path):
        hard = {**BOX, "K": (50, 1000), "eta": ("0.01", "0.03"), "alpha": (3, 60)}
        file = tmp_path / "proof.json"
        first = prove_over(hard, "thm:shuffle < mironov2019", budget=6, file=file)
        assert first.verdict is Verdict.UNDECIDED
        assert first.open_pieces > 0
        assert not replay(first)
        for _ in range(40):
            proof = prove_over(hard, "thm:shuffle < mironov2019", budget=40, file=file)
            if proof.verdict is not Verdict.UNDECIDED:
                break
        assert proof.verdict is Verdict.PROVED
        assert replay(BoxProof.load(file), engine="arb")

    def test_an_interrupted_run_keeps_what_it_has(self, tmp_path, monkeypatch):
        from proofs_check.prove import _Prover

        real, calls = _Prover.decide, iter(range(100))

        def impatient(self, box):
            if next(calls) == 4:
                raise KeyboardInterrupt
            return real(self, box)

        monkeypatch.setattr(_Prover, "decide", impatient)
        file = tmp_path / "proof.json"
        with pytest.raises(KeyboardInterrupt):
            prove_over({**BOX, "eta": ("0.01", "0.03"), "alpha": (3, 60)}, "thm:shuffle < mironov2019", file=file)
        stored = BoxProof.load(file)
        assert stored.verdict is Verdict.UNDECIDED
        assert len(stored.cuts) >= 4

    @pytest.mark.parametrize("forge", ["verdict", "cuts", "claim", "box", "counterexample"])
    def test_a_forged_certificate_does_not_replay(self, tmp_path, forge):
        file = tmp_path / "proof.json"
        prove_over({**BOX, "K": (1, 100)}, "thm:shuffle < mironov2019", file=file)
        record = json.loads(file.read_text())
        record |= {"verdict": "proved", "cuts": "ok", "counterexample": None}
        if forge == "cuts":
            record["cuts"] = "K ok ok"
        elif forge == "claim":
            record["claim"] = "thm:shuffle > mironov2019"
        elif forge == "box":
            record["box"]["K"] = ["1", "2"]
        elif forge == "counterexample":
            record |= {
                "verdict": "refuted",
                "counterexample": {**record["box"], "K": "200", "alpha": "15", "eta": "1/50"},
            }
        file.write_text(json.dumps(record))
        assert not replay(BoxProof.load(file))

    def test_cuts_that_do_not_divide_the_box_are_refused(self, tmp_path):
        file = tmp_path / "proof.json"
        prove_over(BOX, "thm:shuffle < mironov2019", file=file)
        record = json.loads(file.read_text())
        for cuts in ("K ok", "n ok ok", "ok ok", "nonsense", ""):
            file.write_text(json.dumps({**record, "cuts": cuts}))
            with pytest.raises(ArgumentError, match="cuts"):
                replay(BoxProof.load(file))

    def test_pieces_outside_the_hypotheses_claim_nothing(self):
        proof = prove_over(
            {**BOX, "eta": ("0.1", "0.9"), "alpha": (14, 15), "K": (100, 120)}, "thm:shuffle < mironov2019"
        )
        assert proof.verdict is Verdict.PROVED
        assert "outside" in proof.cuts
        nowhere = prove_over({**BOX, "eta": ("0.5", "0.6")}, "thm:shuffle < mironov2019")
        assert nowhere.cuts == ["outside"]

    def test_equality_is_not_strict(self):
        same = {"n": 50, "K": 3, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4, "alpha": (2, 3)}
        assert prove_over({**same, "alpha": 2}, "thm:GD_tighter <= thm:GD_tighter").verdict is Verdict.PROVED
        assert prove_over(same, "thm:GD_tighter < thm:GD_tighter").verdict is Verdict.REFUTED
        assert prove_over(same, "thm:GD_baseline <= thm:GD_baseline").verdict is Verdict.PROVED

    @pytest.mark.parametrize(
        ("box", "claim", "error"),
        [
            (BOX, "thm:shuffle mironov2019", ArgumentError),
            (BOX, "thm:shuffle < nonsense", UnknownLabel),
            ({**BOX, "zeta": 3}, "thm:shuffle < mironov2019", ArgumentError),
            ({"n": 50}, "thm:shuffle < mironov2019", MissingArgument),
            ({**BOX, "K": ("nan", 3)}, "thm:shuffle < mironov2019", ArgumentError),
        ],
    )
    def test_what_is_refused(self, box, claim, error):
        with pytest.raises(error):
            prove_over(box, claim)

    @pytest.mark.parametrize("bad", [{"budget": 0}, {"budget": True}, {"engine": "both"}])
    def test_options_are_checked(self, bad):
        with pytest.raises(ArgumentError):
            prove_over(BOX, "thm:shuffle < mironov2019", **bad)

    def test_any_expression_will_do(self):
        claim = Inequality(eta * (1 - eta * lam), "<", rho0 * 0 + eta, (), "eta(1 - eta lam) < eta")
        proof = prove_over({"eta": ("0.1", "0.9"), "lam": (1, "1.1")}, claim)
        assert proof.verdict is Verdict.PROVED
        assert replay(proof, claim)


HALF = {"w1": Range(Fraction(1, 10), Fraction(9, 10)), "lam": Fraction(1)}


@pytest.mark.parametrize(
    "expr", [LogMix(w1, w1, lam), LogMix(w1 * (1 - w1), lam, 0 * lam), LogMix(w1, lam - w1, -w1)], ids=str
)
def test_a_range_no_rule_covers_is_an_error_not_a_number(expr):
    with pytest.raises(UnsupportedNode, match="narrow it"):
        range_of(expr, HALF)


def test_trends_lean_on_no_contract_a_node_does_not_keep():
    assert trend(LogMeanExp(eta * i, i, N), n) is None  # the terms rise with the index
    assert trend(LogMeanExp(eta / i, i, N), n) is Trend.DOWN
    assert trend(sigma, sigma2) is Trend.UP


def test_steps_so_small_that_everything_nearly_cancels():
    """η·Σ q^s hardly depends on η: its range over a percent of η is as narrow as it is."""
    run = Setting(n=1000, b=10, K=10**9, eta="1e-6", lam=1, beta=2, sigma=1, S_g=1)
    for label, extra in (("thm:GD_tighter", {}), ("thm:strconvexsmooth", {"j0": 3}), ("exact:full_batch", {})):
        found = statement(label).enclose(run, eta=("0.000001", "0.00000101"), alpha=5, **extra)
        steps = [Fraction(1, 10**6) * (1 + Fraction(k, 1000)) for k in range(11)]
        inside = [statement(label).enclose(run, eta=step, alpha=5, rtol="1e-40", **extra) for step in steps]
        least, most = min(v.hi for v in inside), max(v.lo for v in inside)
        assert found.lo <= least < most <= found.hi
        assert found.hi - found.lo <= Fraction(12, 10) * (most - least)


def test_steps_below_the_first_precisions_resolution():
    run = Setting(n=500, b=2, K=40, eta="1e-29", lam=1, beta=4, sigma=2, S_g=4)
    both = statement("thm:shuffle").enclose(run, alpha=15, engine="both")
    assert both.relative_width <= Fraction(1, 10**20)


def test_no_sensitivity_costs_nothing_at_any_step():
    run = Setting(n=6, b=2, K=2, eta="0.0123456789", lam=1, beta=4, sigma=2, S_g=0)
    for label in ("thm:shuffle", "thm:amp_samp_wo_replacement", "mironov2019"):
        assert statement(label).enclose(run, alpha=3).hi == 0


class TestResuming:
    BOX = (("n", 10), ("K", (3, 9)), ("eta", ("0.1", "0.5")), ("lam", 1), ("beta", 1), ("sigma", 1), ("alpha", 2))
    CLAIM = "thm:GD_tighter < thm:GD_baseline"

    def test_a_small_budget_gets_there_in_the_end(self, tmp_path):
        file, pieces = tmp_path / "proof.json", []
        for _ in range(30):
            proof = prove_over({**dict(self.BOX), "S_g": 1}, self.CLAIM, budget=60, file=file)
            pieces.append(proof.pieces)
            if proof.verdict is Verdict.PROVED:
                break
        assert proof.verdict is Verdict.PROVED
        assert len(pieces) > 3
        # What is proved stays so, whatever the budget of a later call.
        assert prove_over({**dict(self.BOX), "S_g": 1}, self.CLAIM, budget=1, file=file).verdict is Verdict.PROVED
        assert BoxProof.load(file).verdict is Verdict.PROVED

    def test_a_counterexample_in_a_corner_is_found(self):
        proof = prove_over({**dict(self.BOX), "S_g": (0, 1)}, self.CLAIM)
        assert proof.verdict is Verdict.REFUTED
        assert proof.counterexample["S_g"] == 0
        assert prove_over({**dict(self.BOX), "S_g": (0, 1)}, self.CLAIM.replace("<", "<=")).verdict is Verdict.PROVED

    def test_lam_and_beta_may_range_together(self):
        box = {**dict(self.BOX), "S_g": 1, "K": 3, "eta": "0.1", "lam": (1, 2), "beta": (1, 2)}
        assert prove_over(box, self.CLAIM, budget=100).verdict is Verdict.PROVED

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["box"].pop("n"),
            lambda record: record.update(claim=3),
            lambda record: record.update(verdict="refuted", counterexample=record["box"]),
            lambda record: record["box"].update(zeta="1"),
            lambda record: record.update(cuts=None),
        ],
    )
    def test_malformed_certificates_are_refused_in_words(self, tmp_path, change):
        file = tmp_path / "proof.json"
        prove_over({**dict(self.BOX), "S_g": 1, "eta": "0.3"}, self.CLAIM, file=file)
        record = json.loads(file.read_text())
        change(record)
        file.write_text(json.dumps(record))
        with pytest.raises(ArgumentError):
            replay(BoxProof.load(file))

    def test_a_file_that_is_no_certificate(self, tmp_path):
        file = tmp_path / "proof.json"
        file.write_text("[" * 100_000)
        with pytest.raises(ArgumentError, match="not a certificate"):
            BoxProof.load(file)
        with pytest.raises(ArgumentError, match="engine"):
            replay(prove_over({**dict(self.BOX), "S_g": 1, "eta": "0.3"}, self.CLAIM), engine="both")

    def test_sigma_given_twice(self):
        with pytest.raises(ArgumentError, match="one of the two"):
            prove_over({**dict(self.BOX), "S_g": 1, "sigma_squared": 1}, self.CLAIM)
        with pytest.raises(ArgumentError, match="one of the two"):
            statement("thm:GD_tighter").enclose(Setting(n=5), sigma=(1, 2), sigma_squared=(1, 4), alpha=2)
