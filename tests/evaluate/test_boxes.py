"""Ranges: sound and close over boxes of parameters."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from hsdp_symbolic import Setting, labels, statement
from hsdp_symbolic.errors import ArgumentError, HypothesisError, UnsupportedNode
from hsdp_symbolic.evaluate.boxes import Range, centre, halves, is_count, range_of, ranged
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.binomial_tail import BinomialTail
from hsdp_symbolic.functions.bins_divergence import BinsDivergence
from hsdp_symbolic.functions.bins_seen import BinsSeen
from hsdp_symbolic.functions.capped_moment import CappedMoment
from hsdp_symbolic.functions.compounded import Compounded
from hsdp_symbolic.functions.gap_moment import GapMoment
from hsdp_symbolic.functions.gap_profile import GapProfile
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.functions.reshuffled_profile import ReshuffledProfile
from hsdp_symbolic.functions.sampled_divergence import SampledDivergence
from hsdp_symbolic.functions.sampled_gaussian import SampledGaussian
from hsdp_symbolic.functions.sampled_profile import SampledProfile
from hsdp_symbolic.functions.secret_divergence import SecretDivergence
from hsdp_symbolic.functions.secret_profile import SecretProfile
from hsdp_symbolic.functions.shift_control import ShiftControl
from hsdp_symbolic.symbols import lam, w1
from tests.points import draw_few_steps, draw_point

RUN = {"n": 50, "b": 2, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}
BINS = (BinsDivergence, BinsSeen)
SAMPLED = (SampledDivergence, SampledProfile, SecretDivergence, SecretProfile, GapProfile, *BINS)
"""Integrals and distributions of losses or costs: few steps, and few values."""
RECURSIVE = (
    LogMeanExp,
    MeanOver,
    Accumulated,
    Compounded,
    SampledGaussian,
    CappedMoment,
    HitMoment,
    ShiftControl,
    ReshuffledProfile,
    GapMoment,
    *SAMPLED,
)
LOOSE = {"prop:smooth_strcvx_clip:rate", "prop:smooth_strcvx_clip:rate_clip"}  # no manifestly monotone form is known


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
    if found.label == "unlearn:expanding":
        fixed |= {"n", "b"}  # refused: a power of c falls if c ≥ 1, which is a hypothesis that ranges do not know
    if found.expr.has(SecretDivergence, SecretProfile):
        fixed |= {"eta", "lam", "window", "share"}  # refused: what is hidden better in one part is so worse in another
    if found.expr.has(*BINS):
        fixed |= {"n", "b"}  # refused: a batch more is a place more to hide in, and a step more to wait for it
    if found.expr.has(BinsDivergence):
        fixed |= {"eta", "lam", "window", "known"}  # refused: as above, and more epochs that are secret are fewer told
        fixed |= {"degree"}  # refused: neither rising nor falling
    if found.expr.has(BinomialTail):
        fixed |= {"beta"}  # refused: that β − λ > 0 is among the hypotheses, which ranges do not know
    free = sorted(found._program.leaves - fixed)
    if found.expr.has(*SAMPLED):
        return rng.sample(free, 1)
    return rng.sample(free, min(len(free), rng.randint(1, 3)))


def is_closed(found):
    return not found.expr.has(*RECURSIVE)


TAKES_LONG = {"exact:fixed_order", "prop:smooth_strcvx_clip:rate"}


@pytest.mark.parametrize("boxes", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "label", [pytest.param(label, marks=[pytest.mark.slow] * (label in TAKES_LONG)) for label in labels()]
)
def test_ranges_are_sound(label, boxes):
    found = statement(label)
    check = check_sound_and_close if is_closed(found) else check_sound
    check(found, boxes)


def check_sound_and_close(found, boxes):
    """Contains every value, and at most 1.2 times the true width, for boxes of 1 %."""
    rng = random.Random(found.label)
    tried = 0
    for _ in range(boxes):
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


def check_sound(found, boxes):
    """Contains every value; a sum or recursion is too slow for wide boxes."""
    rng = random.Random(found.label)
    for _ in range(boxes):
        point = {**draw_point(rng, batches=40, smallest_step=1e-4), "K": Fraction(3)}
        if found.expr.has(*SAMPLED):
            point = draw_few_steps(rng)
        if found.expr.has(GapProfile):
            point |= {"K": Fraction(3)}
        if found.expr.has(*BINS):
            point |= in_bins(point)
        box = widened(point, choices(found, rng))
        range_found = range_of(found.expr, box)
        for value in values_inside(found, box, rng):
            assert range_found.lo <= value.hi
            assert value.lo <= range_found.hi


def in_bins(point):
    """100 epochs, the last secret, the copy drifting in some of its steps; orders have a letter of their own."""
    batches = Fraction(point["n"] // point["b"])
    return {"K": Fraction(100), "window": min(point["window"], batches), "degree": Fraction(point["alpha"] // 1)}


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


HALF = {"w1": Range(Fraction(1, 10), Fraction(9, 10)), "lam": Fraction(1)}


@pytest.mark.parametrize(
    "expr", [LogMix(w1, w1, lam), LogMix(w1 * (1 - w1), lam, 0 * lam), LogMix(w1, lam - w1, -w1)], ids=str
)
def test_a_range_no_rule_covers_is_an_error_not_a_number(expr):
    with pytest.raises(UnsupportedNode, match="narrow it"):
        range_of(expr, HALF)


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
