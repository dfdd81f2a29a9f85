"""Attacks on the bounds: a search for a run whose exact divergence exceeds what a statement allows.

An instance is a quadratic loss whose curvature may differ from batch to batch, within what a statement allows,
started from a point, with records that differ by S_g. The law of its last iterate is Gaussian (a finite mixture for
random batches), so its divergence is exact, and a bound below it is wrong. The search must find nothing against a true
bound and something against a wrong one; but where a true bound is far above the worst instance, so is a slightly wrong
one, and the search cannot tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TypeVar

import numpy as np
from sympy import Expr

from .. import symbols
from ..catalogue import labels, statement, statements
from ..errors import ArgumentError, HypothesisError, NoEstimate, OutsideDoubleRange
from ..evaluate.enclosure import Enclosure, enclose
from ..evaluate.program import compile_expression
from ..functions.shift_control import ShiftControl
from ..meaning import Quantity
from ..setting import Setting
from ..statement import Statement
from .batches import SIMULATED
from .hit_patterns import count_patterns, quadratic_law
from .renyi import Mixture, grid_divergence, mixture_divergence
from .simulate import Experiment

OrderLike = int | str | Fraction
Real = TypeVar("Real", Fraction, float)

LIKE = {"balls_in_bins": "reshuffle", "poisson": "without_replacement"}
"""Schemes whose batches differ in size, and those by which the record is used as often and at the same places.

All other records are alike in an attack, so nobody sees where they are. Of the record that is added or removed S_g is
the whole gradient, and the noise and the divisor are the same whatever the batch.
"""
DRAWN_ANEW = ("without_replacement", "reshuffle", *LIKE)
"""Schemes that draw batches during the run: the law has a component for each pattern of hits (see `hit_patterns`)."""
FEW_PATTERNS = 64
"""Up to this many patterns are enumerated and the divergence certified; for more, densities are put on a grid."""
CURVATURES = 8
"""Values the search tries for the curvature of each batch, from the least to the largest allowed."""


@dataclass(frozen=True)
class Instance:
    """Curvatures of the batches, in order; `place` is j0, the batch of the record, where the order is fixed."""

    scheme: str
    curvatures: tuple[Fraction, ...]
    place: int | None = None
    start: Fraction = Fraction(0)
    """Variance of the (Gaussian) start; 0 for a point."""

    def describe(self) -> str:
        least, most = float(min(self.curvatures)), float(max(self.curvatures))
        spread = f"curvature {least:g}" if least == most else f"curvatures {least:g} to {most:g}"
        return f"{self.scheme}, {spread}" + ("" if self.place is None else f", j0 = {self.place}")


def law(instance: Instance, run: Setting) -> tuple[Mixture, Mixture]:
    """The exact laws of the last iterate on the two datasets.

    With contraction c_j = 1 − ηh_j in batch j, an epoch multiplies a distance by C = Π c_j, and adds
    (ηS_g/b)·Π_(i>j0) c_i; it multiplies a variance by C² and adds 2ησ²·Σ_j Π_(i>j) c_i².
    """
    factors = [1 - run["eta"] * h for h in instance.curvatures]
    after = [Fraction(1)]
    for factor in reversed(factors[1:]):
        after.append(after[-1] * factor)
    after.reverse()  # after[j] = Π_(i>j) c_i
    whole = after[0] * factors[0]
    size = run["n"] if instance.scheme == "full_batch" else run["b"]
    jump = run["eta"] * run["S_g"] / size
    epochs = run["K"]
    variance = 2 * run["eta"] * run["sigma2"] * sum(a * a for a in after) * _series(whole**2, epochs)
    variance += instance.start * whole ** (2 * int(epochs))
    gaps = [jump * a * _series(whole, epochs) for a in after]
    if instance.scheme == "shuffle":
        rate = run["b"] / run["n"]
        left_out = 1 - rate * len(gaps)
        parts = [(rate, gap) for gap in gaps] + ([(left_out, Fraction(0))] if left_out else [])
        return Mixture(tuple(parts), variance), Mixture.of([0], variance)
    gap = gaps[instance.place or 0]
    return Mixture.of([gap], variance), Mixture.of([0], variance)


def _series(x: Real, count: Real) -> Real:
    """1 + x + … + x^(count − 1), for numbers of any kind."""
    return count if x == 1 else (1 - x ** int(count)) / (1 - x)


@cache
def divergence(instance: Instance, run: Setting, alpha: OrderLike) -> Enclosure:
    """The divergence of order α of an instance, certified: the larger of R(first ‖ second) and R(second ‖ first)."""
    first, second = law(instance, run)
    if len(first.parts) == 1:
        value = Fraction(alpha) * first.means[0] ** 2 / (2 * first.variance)
        return Enclosure(value, value)
    found = [mixture_divergence(alpha, *pair, rtol="1e-9") for pair in ((first, second), (second, first))]
    return max(found, key=lambda each: each.hi)


@cache
def worst_instance(label: str, run: Setting, alpha: OrderLike, *, place: int | None = None, seed: int = 0) -> Instance:
    """The instance with the largest divergence that a search over curvatures, one batch at a time, finds.

    The search begins from several choices of curvatures. Under shuffling records carry their curvature along, so all
    batches have the same. A random start is tried too (its variance only adds to the noise, so a point wins).
    """
    scheme = scheme_to_attack(label)
    batches = 1 if scheme == "full_batch" else int(run["n"] // run["b"])
    least = run["lam"] if _is_strongly_convex(label) else Fraction(0)
    most = run["beta"]
    levels = sorted({least + (most - least) * Fraction(k, CURVATURES - 1) for k in range(CURVATURES)})
    score = _score(scheme, run, float(Fraction(alpha)), place)
    rng = np.random.default_rng(seed)
    starts = [[least] * batches, [most] * batches, [least if j >= batches / 2 else most for j in range(batches)]]
    starts += [[levels[k] for k in rng.integers(len(levels), size=batches)] for _ in range(2)]
    if scheme == "shuffle":
        return max(
            (Instance(scheme, (level,) * batches) for level in levels), key=lambda each: score(list(each.curvatures))
        )
    best: tuple[float, list[Fraction]] = (-math.inf, starts[0])
    for start in starts:
        here, value, improved = list(start), score(start), True
        while improved:
            improved = False
            for j in range(batches):
                for level in levels:
                    trial = [*here[:j], level, *here[j + 1 :]]
                    if (found := score(trial)) > value * (1 + 1e-12):
                        here, value, improved = trial, found, True
        if value > best[0]:
            best = value, here
    steepest = Instance(scheme, tuple(best[1]), place)
    spread = replace(steepest, start=run["sigma2"])
    return max(steepest, spread, key=lambda each: divergence(each, run, alpha).hi)


def _is_strongly_convex(label: str) -> bool:
    return "lam" in statement(label).needs


def targets() -> dict[str, str]:
    """Label → batch scheme, for every bound on the last iterate: what can be attacked."""
    return {each.label: each.scheme for each in statements() if is_target(each)}


def is_target(found: Statement) -> bool:
    """Whether a statement bounds a divergence of the last iterate of an algorithm we can run."""
    return found.scheme in (*SIMULATED, *LIKE) and found.kind != "law" and found.quantity is Quantity.DIVERGENCE


def alike(run: Setting, scheme: str) -> tuple[Setting, str]:
    """The run, and the scheme by which to simulate it; as balls in bins no record is left out of an epoch."""
    if scheme == "balls_in_bins":
        run = run.replace(n=run["n"] // run["b"] * run["b"])
    return run, LIKE.get(scheme, scheme)


def scheme_to_attack(label: str) -> str:
    """How the batches of the algorithm are made that a statement is about; refused where there is none to attack."""
    if label in labels() and is_target(found := statement(label)):
        return found.scheme
    if label in labels() and (twins := _twins(found)):
        raise ArgumentError(
            "label", label, "no Rényi divergence, which is what an attack computes", f"use {', '.join(twins)}"
        )
    raise ArgumentError("label", label, "no algorithm to attack it with", f"use {', '.join(targets())}")


def _twins(found: Statement) -> list[str]:
    """Targets about the same batches, neighbours and release; if some end in the same word as the label, only these."""
    if found.quantity is Quantity.DIVERGENCE:
        return []

    def about(each: Statement) -> tuple[object, ...]:
        return each.scheme, each.neighbouring, each.released

    same = [each for each in targets() if about(statement(each)) == about(found)]
    return [each for each in same if each.split(":")[-1] == found.label.split(":")[-1]] or same


def _score(scheme: str, run: Setting, alpha: float, place: int | None) -> Callable[[list[Fraction]], float]:
    """A fast approximation of the divergence in float64, to guide the search."""
    eta, sigma2, jump = float(run["eta"]), float(run["sigma2"]), float(run["eta"] * run["S_g"])
    jump /= float(run["n"] if scheme == "full_batch" else run["b"])
    epochs = float(run["K"])

    def score(curvatures: list[Fraction]) -> float:
        factors = 1 - eta * np.array([float(h) for h in curvatures])
        after = np.append(np.cumprod(factors[::-1])[::-1][1:], 1.0)
        whole = after[0] * factors[0]
        variance = 2 * eta * sigma2 * (after**2).sum() * _series(whole**2, epochs)
        gaps = jump * after * _series(whole, epochs)
        if scheme == "shuffle":
            # For means close together beside the noise, R_α is near that of the average shift plus its variance.
            pairs = gaps[:, None] * gaps / variance
            return float(np.log(np.mean(np.exp(np.minimum(alpha * (alpha - 1) / 2 * pairs, 500)))) / (alpha - 1))
        return float(alpha * gaps[place or 0] ** 2 / (2 * variance))

    return score


@dataclass(frozen=True)
class Attack:
    """The outcome of one attack: the bound, the worst divergence found, and the instance that has it."""

    label: str
    setting: str
    bound: Enclosure
    found: float
    instance: str
    violated: bool

    @property
    def ratio(self) -> float:
        """Bound over worst divergence found: 1 where the bound is attained."""
        return float(self.bound.hi) / self.found if self.found else math.inf


def suited(run: Setting, found: Statement) -> Setting:
    """The run, with a Lipschitz constant where a statement needs one: quadratic losses that are convex have 1."""
    return run.replace(lipschitz=1) if "lipschitz" in found.needs and "lipschitz" not in run else run


def bound_of(label: str, run: Setting, alpha: OrderLike, place: int | None, expr: Expr | None = None) -> Enclosure:
    """The certified value of a statement (or of a changed expression of it) at a setting."""
    found = statement(label)
    run, batches = suited(run, found), int(run["n"] // run["b"])
    known = {"alpha": alpha, "j0": place, "j": batches - (place or 0), "split": (batches + 1) // 2}
    extra = {name: value for name, value in known.items() if name in found.needs and value is not None}
    extra |= found.choices(run, extra)
    if expr is None:
        return found.enclose_at(run, extra)
    values = found._admit(run, extra)
    return enclose(compile_expression(expr), values, rtol=found.rtol)


def attack(label: str, run: Setting, alpha: OrderLike, *, place: int | None = None, expr: Expr | None = None) -> Attack:
    """Search for an instance whose exact divergence exceeds the bound; `expr` attacks a changed bound instead."""
    scheme = scheme_to_attack(label)
    place = place if scheme == "fixed" else None
    if scheme == "fixed" and place is None:
        place = 0
    bound = bound_of(label, run, alpha, place, expr)
    shown = f"{run}, alpha = {alpha}"
    if scheme in DRAWN_ANEW and count_patterns(run, scheme) <= FEW_PATTERNS:
        curvature, worst = _enumerated(run, Fraction(alpha), scheme)
        what = f"{scheme}, all patterns of hits, curvature {float(curvature):g}"
        return Attack(label, shown, bound, float(worst.hi), what, worst.lo > bound.hi)
    if scheme in DRAWN_ANEW:
        value, error = _sampled(run, float(Fraction(alpha)), scheme)
        return Attack(label, shown, bound, value, "sampled quadratic, on a grid", value - 10 * error > float(bound.hi))
    instance = worst_instance(label, run, alpha, place=place)
    worst = divergence(instance, run, alpha)
    return Attack(label, shown, bound, float(worst.hi), instance.describe(), worst.lo > bound.hi)


@cache
def _enumerated(run: Setting, alpha: Fraction, scheme: str) -> tuple[Fraction, Enclosure]:
    """Quadratic descent with all patterns of hits enumerated: the worse of two curvatures, its certified divergence."""
    found = []
    for curvature in {run["lam"], run["beta"]}:
        laws = quadratic_law(run, scheme, curvature)
        found += [(curvature, mixture_divergence(alpha, *pair, rtol="1e-9")) for pair in (laws, laws[::-1])]
    return max(found, key=lambda each: each[1].hi)


def _sampled(run: Setting, alpha: float, scheme: str) -> tuple[float, float]:
    """Quadratic descent by densities on a grid: divergence and error estimate, for the worse of two curvatures."""
    return _on_a_grid(*alike(run, scheme), alpha)


@cache
def _on_a_grid(run: Setting, scheme: str, alpha: float) -> tuple[float, float]:
    from .losses import Quadratic

    found = []
    for curvature in {float(run["lam"]), float(run["beta"])}:
        sensitivity = float(run["S_g"])
        experiment = Experiment(
            Quadratic(curvature, sensitivity),
            np.zeros(int(run["n"])),
            np.array([sensitivity]),
            eta=float(run["eta"]),
            sigma=float(run["sigma2"]) ** 0.5,
            b=int(run["b"]),
            K=int(run["K"]),
            scheme=scheme,
        )
        value = grid_divergence(experiment, alpha)
        found.append((value.value, value.error))
    return max(found)


def wrong_bounds(label: str) -> Iterator[tuple[str, Expr]]:
    """Bounds made too small on purpose: halved, exponents doubled, one batch too many."""
    expr = statement(label).expr
    yield "halved", expr / 2
    contraction = next((q for q in symbols.CONTRACTIONS if expr.has(q)), None)
    if contraction is not None:
        yield "exponents doubled", expr.subs(contraction, contraction**2)
    if expr.has(symbols.N) and not expr.has(ShiftControl):  # which refuses more batches than a permutation has
        yield "one batch too many", expr.subs(symbols.N, symbols.N + 1)


FIGURE = Setting(n=50, b=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
_FAST = Setting(n=2, b=1, eta="0.95", lam=1, beta="1.05", sigma=1, S_g="0.1")
_SETTINGS = (
    *((FIGURE.replace(K=K), 15) for K in (1, 5)),
    *((_FAST.replace(K=K), alpha) for K in (1, 2) for alpha in (2, 200)),
    (_FAST.replace(n=3, K=1, eta="0.99", beta=1), 2),
    (_FAST.replace(K=1, S_g=10), 50),
    (_FAST.replace(n=4, b=4, K=2, eta="0.9"), 3),
)
"""Settings and orders to attack at: that of the paper's figures, and some whose updates contract very fast."""
_LARGE_BATCHES = Setting(n=2, b=1, eta="0.4", lam=1, beta="1.2", sigma=1, S_g=1)
_OF_ANY_SIZE = (
    (_LARGE_BATCHES.replace(K=2), 2),
    (_LARGE_BATCHES.replace(K=3, S_g="0.2"), 200),
    (_LARGE_BATCHES.replace(n=3, K=2, eta="0.2"), 4),
)
"""More of them, where batches differ in size: the updates of the largest contract too."""


@dataclass(frozen=True)
class Campaign:
    """The result of all attacks on one statement: on the bound itself, and on bounds made wrong on purpose."""

    label: str
    attacks: int
    violations: int
    least_ratio: float
    wrong_bounds: dict[str, str]

    def record(self) -> dict[str, object]:
        return dict(vars(self))


def campaign(label: str | None = None) -> Iterator[Campaign]:
    """Attack one statement, or all of them, at those of a few settings that its hypotheses admit."""
    known = [name for name in targets() if name != "cor:logistic"]  # the bound of thm:shuffle in other letters
    chosen = known if label is None else [statement(label).label]
    if label is not None and chosen[0] not in known:
        scheme_to_attack(chosen[0])
        raise ArgumentError("label", label, "no algorithm to attack it with", f"use {', '.join(known)}")
    for name in chosen:
        aims = [
            (run, alpha, place)
            for run, alpha in (*_SETTINGS, *(_OF_ANY_SIZE if scheme_to_attack(name) in LIKE else ()))
            for place in _places(name, run)
            if _admits(name, run, alpha, place)
        ]
        found = [attack(name, run, alpha, place=place) for run, alpha, place in aims]
        exposed = {}
        for what, expr in wrong_bounds(name):
            caught = [t for t in aims if attack(name, t[0], t[1], place=t[2], expr=expr).violated]
            exposed[what] = (
                f"exposed at {len(caught)} of {len(aims)}" if caught else "not exposed: the bound is too loose for that"
            )
        yield Campaign(
            name, len(found), sum(each.violated for each in found), min(each.ratio for each in found), exposed
        )


def _places(label: str, run: Setting) -> tuple[int | None, ...]:
    return tuple(sorted({0, int(run["n"] // run["b"]) - 1})) if scheme_to_attack(label) == "fixed" else (None,)


def _admits(label: str, run: Setting, alpha: int, place: int | None) -> bool:
    if label == "eqn:proof_strongly_convex_first_epoch" and run["K"] != 1:
        return False
    try:
        bound_of(label, run, alpha, place)
        scheme = scheme_to_attack(label)
        if scheme in DRAWN_ANEW and count_patterns(run, scheme) > FEW_PATTERNS:
            _sampled(run, float(alpha), scheme)
    except (HypothesisError, ArgumentError, NoEstimate, OutsideDoubleRange):
        return False
    return True


TIGHTNESS_EPOCHS = (1, 5, 10, 25, 40, None)
"""K of the tightness table; None stands for the limit of many epochs (300 for convex loss, where there is none)."""


def tightness(chosen: tuple[str, ...] | None = None, alpha: int = 15) -> list[dict[str, str | float | None]]:
    """The rows of `hsdp tightness`: bound over worst divergence found, at the setting of the paper's figures."""
    rows = []
    for label in chosen or targets():
        if label == "cor:logistic":
            continue  # the bound of thm:shuffle in other letters
        for place in (0, 24) if scheme_to_attack(label) == "fixed" else (None,):
            row: dict[str, str | float | None] = {"label": label, "j0": place}
            for epochs in TIGHTNESS_EPOCHS:
                run = FIGURE.replace(K=10**4 if epochs is None else epochs)
                row[f"K={epochs or '∞'}"] = _ratio(label, run, alpha, place, limit=epochs is None)
            rows.append(row)
    return rows


def _ratio(label: str, run: Setting, alpha: int, place: int | None, *, limit: bool) -> float | None:
    """Bound over worst divergence found; None where the bound is not about this number of epochs."""
    if label == "eqn:proof_strongly_convex_first_epoch" and run["K"] != 1:
        return None
    if label.endswith(":limit") and not limit:
        return None
    if (scheme := scheme_to_attack(label)) in DRAWN_ANEW:
        settled = run.replace(K=300) if limit else run  # the law has settled by then, to all digits of the ratio
        return float(bound_of(label, run, alpha, None).hi) / _sampled(settled, float(alpha), scheme)[0]
    enough = 3000 if scheme_to_attack(label) == "full_batch" else 300  # epochs after which the start is forgotten
    searched = run.replace(K=enough) if limit else run
    if limit and label == "balle2019":
        return math.inf  # composition grows with every epoch
    bound = bound_of(label, run if _is_strongly_convex(label) else searched, alpha, place)
    instance = worst_instance(label, searched, alpha, place=place)
    return float(bound.hi) / float(divergence(instance, searched, alpha).hi)
