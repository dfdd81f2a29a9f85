"""Rényi divergences of the laws themselves: certified for Gaussian mixtures, on a grid in one dimension, from samples.

Every estimate comes with an interval; where the samples cannot support one there is an error, not a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from .enclosure import PRECISION_CAP, Enclosure
from .engines import ENGINES, Engine, Unbounded
from .errors import ArgumentError, NoEstimate, PrecisionExhausted, TooManySteps
from .intervals import MAX_NODES
from .setting import to_fraction
from .simulate import Chains

GROUPS = 50
"""Groups of chains for the jackknife: enough for a normal interval, few enough to be large."""
MIN_CHAINS = 1000
MIN_EFFECTIVE = 50


# --- Gaussian mixtures, certified -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixture:
    """Σ weight·N(mean, variance): exact weights that add up to 1, exact means, one exact variance."""

    parts: tuple[tuple[Fraction, Fraction], ...]
    variance: Fraction

    def __post_init__(self) -> None:
        if self.variance <= 0:
            raise ArgumentError("variance", self.variance, "not positive", "give the variance of the components")
        if not self.parts or any(weight <= 0 for weight, _ in self.parts) or sum(w for w, _ in self.parts) != 1:
            raise ArgumentError("parts", len(self.parts), "weights must be positive and add up to 1", "normalise them")

    @classmethod
    def of(cls, means: Sequence[Any], variance: Any, weights: Sequence[Any] | None = None) -> Mixture:
        """From numbers in any exact form; equal weights unless given.

        >>> Mixture.of(["0", "1/2"], 1).parts
        ((Fraction(1, 2), Fraction(0, 1)), (Fraction(1, 2), Fraction(1, 2)))
        """

        def exact(name: str, value: Any) -> Fraction:
            return value if isinstance(value, Fraction) else to_fraction(name, value)

        places = [exact("mean", mean) for mean in means]
        if not places:
            raise ArgumentError("means", means, "a mixture has at least one component", "give one mean or more")
        shares = [Fraction(1, len(places))] * len(places) if weights is None else [exact("weight", w) for w in weights]
        return cls(tuple(zip(shares, places, strict=True)), exact("variance", variance))

    @property
    def means(self) -> list[Fraction]:
        return [mean for _, mean in self.parts]


def mixture_divergence(
    alpha: Any, first: Mixture, second: Mixture, *, rtol: Any = "1e-12", engine: str = "arb"
) -> Enclosure:
    """R_α(first ‖ second), enclosed: the trapezoidal rule with its error, and the tails left out, bounded.

    With all means of `second` within r of the origin and V the variance, |f(x + ia)| ≤ e^(a²/2V)·cos(ar/V)^(1−α)·f(x)
    for the integrand f = p^α·q^(1−α) and ar/V < π/2; with the same for half the range of the means of `first`, neither
    density has a zero in that strip. So the rule with step h errs by at most the fraction
    δ = 2e^(a²/2V)cos(ar/V)^(1−α)/(e^(2πa/h) − 1) (Trefethen & Weideman 2014, Theorem 5.1). By Jensen q is at least a
    Gaussian at its mean, times e^(−variance of means/2V), which bounds f by Gaussians beyond the last nodes.

    >>> one, two = (Mixture.of([mean], 1) for mean in ("1/2", 0))
    >>> Fraction(3, 8) in mixture_divergence(3, one, two)
    True
    """
    order, tolerance = to_fraction("alpha", alpha), to_fraction("rtol", rtol)
    if order <= 1:
        raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
    if first.variance != second.variance:
        raise ArgumentError("variance", first.variance, f"not that of the other, {second.variance}", "use one variance")
    first, second = (_standard(each) for each in (first, second))
    if first == second:
        return Enclosure(Fraction(0), Fraction(0))
    precision = 96
    while precision <= min(PRECISION_CAP, 4096):
        machine = ENGINES[engine](precision)
        with machine.working():
            try:
                found = _trapezoid(order, first, second, machine)
            except Unbounded:
                found = None
        if found is not None and found.relative_width <= tolerance:
            return found
        precision *= 2
    raise PrecisionExhausted(precision // 2, rtol)


def _standard(mixture: Mixture) -> Mixture:
    """The same up to scale: equal means merged, in order, and a variance between 1/4 and 4 (a power of 4 taken out)."""
    size = mixture.variance.numerator.bit_length() - mixture.variance.denominator.bit_length()
    unit = Fraction(2) ** (size // 2)
    weights: dict[Fraction, Fraction] = {}
    for weight, mean in mixture.parts:
        weights[mean] = weights.get(mean, Fraction(0)) + weight
    parts = tuple((weight, mean / unit) for mean, weight in sorted(weights.items()))
    return Mixture(parts, mixture.variance / unit**2)


def _trapezoid(order: Fraction, first: Mixture, second: Mixture, engine: Engine) -> Enclosure:
    variance = second.variance
    origin = (min(second.means) + max(second.means)) / 2
    radius = max(second.means) - origin
    ps = [(weight, mean - origin) for weight, mean in first.parts]
    qs = [(weight, mean - origin) for weight, mean in second.parts]
    digits = engine.precision * math.log(2) + 10
    v, r, a_order = float(variance), float(radius), float(order)
    strip = math.sqrt(2 * v * digits)
    half_range = (max(first.means) - min(first.means)) / 2
    if widest := max(r, float(half_range)):
        strip = min(strip, v / widest)
    a = Fraction(strip)
    if a * max(radius, half_range) > Fraction(3, 2) * variance:
        raise Unbounded
    loss = strip**2 / (2 * v) - (a_order - 1) * math.log(math.cos(strip * r / v))
    step = Fraction(2 * math.pi * strip / (loss + digits) * 0.99)
    average = sum(weight * mean for weight, mean in qs)
    spread = sum(weight * mean**2 for weight, mean in qs)
    shifts = [order * end - (order - 1) * average for end in (min(m for _, m in ps), max(m for _, m in ps))]
    reach = math.sqrt(
        2 * v * (digits + (a_order - 1) * float(spread) / (2 * v) + max(float(s) ** 2 for s in shifts) / (2 * v))
    )
    low, high = (
        round((min(0.0, float(shifts[0])) - reach) / float(step)) - 2,
        round((max(0.0, float(shifts[1])) + reach) / float(step)) + 2,
    )
    if high - low > MAX_NODES:
        raise TooManySteps(high - low, "a trapezoidal rule")
    tilts = [
        [(engine.ball(w), engine.ball(m / variance), engine.ball(-m * m / (2 * variance))) for w, m in side]
        for side in (ps, qs)
    ]
    total: Any = engine.ball(Fraction(0))
    for node in range(low, high + 1):
        x = node * step
        ball = engine.ball(x)
        sums = []
        for side in tilts:
            value: Any = engine.ball(Fraction(0))
            for weight, slope, constant in side:
                value = engine.add(value, engine.mul(weight, engine.exp(engine.add(engine.mul(slope, ball), constant))))
            sums.append(engine.log(value))
        exponent = engine.add(engine.mul(engine.ball(order), sums[0]), engine.mul(engine.ball(1 - order), sums[1]))
        total = engine.add(total, engine.exp(engine.add(exponent, engine.ball(-x * x / (2 * variance)))))
    pi = engine.pi()
    half_log = engine.mul(
        engine.ball(Fraction(-1, 2)),
        engine.log(engine.mul(engine.ball(2 * variance), pi)),
    )
    logarithm = engine.add(engine.add(engine.log(total), engine.log(engine.ball(step))), half_log)
    cosine = _cosine_below(a * radius / variance)
    factor = engine.mul(
        engine.exp(engine.ball(a * a / (2 * variance))),
        engine.exp(engine.mul(engine.ball(1 - order), engine.log(engine.ball(cosine)))),
    )
    growth = engine.add(
        engine.exp(engine.mul(engine.ball(2 * a / step), pi)),
        engine.ball(Fraction(-1)),
    )
    delta = _upper(engine, engine.mul(engine.mul(engine.ball(Fraction(2)), factor), engine.inverse(growth)))
    tail = Fraction(0)
    for shift, distance in ((shifts[0], -low * step + shifts[0]), (shifts[1], high * step - shifts[1])):
        beyond = distance - step
        if beyond <= 0:
            raise Unbounded
        exponent = ((order - 1) * spread + shift**2 - beyond**2) / (2 * variance)
        tail += _upper(engine, engine.exp(engine.ball(exponent)))
    if delta + tail > Fraction(1, 2):
        raise Unbounded
    bounds = engine.bounds(logarithm)
    if bounds is None:
        raise Unbounded
    # log I lies between log S − log(1 + δ) ≥ log S − δ and log(S + T) − log(1 − δ) ≤ log S + T/S + 2δ, and S ≥ 1/2.
    low_end, high_end = (bounds[0] - delta) / (order - 1), (bounds[1] + 2 * tail + 2 * delta) / (order - 1)
    return Enclosure(max(low_end, Fraction(0)), max(high_end, Fraction(0)))


def _upper(engine: Engine, value: Any) -> Fraction:
    bounds = engine.bounds(value)
    if bounds is None:
        raise Unbounded
    return max(bounds[1], Fraction(0))


def _cosine_below(angle: Fraction) -> Fraction:
    """1 − x²/2 + x⁴/24 − x⁶/720 ≤ cos x, positive for 0 ≤ x ≤ 1.5."""
    if angle > Fraction(3, 2):
        raise Unbounded
    square = angle * angle
    return 1 - square / 2 + square**2 / 24 - square**3 / 720


# --- One dimension, on a grid -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GridValue:
    """A divergence computed on a grid, and how far it may be off (the change under refinement; not a proof)."""

    value: float
    error: float


def grid_divergence(experiment: Any, alpha: float, *, points_per_noise: float = 2.0) -> GridValue:
    """R_α between the last iterates on the two datasets, both ways round taken, for any loss in one dimension.

    Densities are propagated exactly as the algorithm does: the update maps them, the noise convolves them, and a random
    batch mixes the two. Batches must differ only in whether they hold the record (all other records equal), and the
    start must be a point. The error is the change when the grid is refined by a half and widened.
    """
    if not isinstance(alpha, (int, float)) or isinstance(alpha, bool) or not 1 < alpha < math.inf:
        raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
    if experiment.dimension != 1 or experiment.background is None or callable(experiment.start):
        raise ArgumentError(
            "experiment", experiment.scheme, "needs one dimension, equal other records and a point start", "simulate it"
        )
    coarse, fine = (
        _on_grid(experiment, alpha, points_per_noise * factor, width) for factor, width in ((1.0, 11.0), (1.5, 13.0))
    )
    if abs(fine - coarse) > 0.01 * fine:
        raise NoEstimate(f"the grid is not fine enough: {coarse:.4g} becomes {fine:.4g} when it is refined")
    return GridValue(fine, abs(fine - coarse) + 1e-14)


def _on_grid(run: Any, alpha: float, density: float, width: float) -> float:
    """The larger of the two directions, on one grid."""
    noise, q = run.noise, 1 - run.eta * run.loss.lam
    start = float(np.ravel(run.start)[0])
    reach = width * noise / math.sqrt(max(1 - q * q, 1 / (run.K * run.batches + 1)))
    steps = run.K * run.batches
    ends = [start]
    for record in (run.background, run.records[run.index], run.replacement):
        theta = np.array([[start]])
        for _ in range(min(steps, 20_000)):
            moved = theta - run.eta * run.loss.gradient(theta, record)
            ends.append(float(moved[0, 0]))
            if abs(moved[0, 0] - theta[0, 0]) < 1e-12:
                break
            theta = moved
    apart = alpha * abs(run.eta * run.loss.sensitivity / run.b) * min(steps, 1 / max(1 - q, 1e-9))
    low, high = min(ends) - reach - apart, max(ends) + reach + apart
    points = math.ceil((high - low) / noise * density)
    if points > 6000:
        raise TooManySteps(points, "a grid")
    grid = np.linspace(low, high, points)
    spacing = grid[1] - grid[0]

    def law(neighbour: bool) -> Any:
        special = run.replacement if neighbour else run.records[run.index]

        def kernel(theta: Any, hit: bool) -> Any:
            drift = run.loss.gradient(theta, run.background) * (run.b - hit)
            drift = drift + run.loss.gradient(theta, special) if hit else drift
            centre = (theta - run.eta / run.b * drift)[:, 0]
            bell = np.exp(-((grid[:, None] - centre) ** 2) / (2 * noise**2)) / (noise * math.sqrt(2 * math.pi))
            return np.where(bell < 1e-280, 0.0, bell)  # numbers below the normal doubles are a hundred times slower

        kernels = {hit: kernel(grid[:, None], hit) * spacing for hit in (False, True)}
        firsts = {hit: kernel(np.array([[start]]), hit)[:, 0] for hit in (False, True)}

        def through(pattern: Any, state: Any) -> Any:
            for hit in pattern:
                state = firsts[hit] if state is None else kernels[hit] @ np.where(state < 1e-250, 0.0, state)
            return state

        return _propagate(run, through)

    laws = [law(False), law(True)]
    with np.errstate(divide="ignore"):
        logs = [np.log(each) for each in laws]
    return max(_grid_renyi(alpha, p, q, spacing) for p, q in (logs, logs[::-1]))


def _propagate(run: Any, through: Any) -> Any:
    """The density of the last iterate under the batch scheme, from what one update does with and without the record."""
    n_batches, rate = run.batches, run.b / run.n

    def epoch(place: int) -> list[bool]:
        return [j == place for j in range(n_batches)]

    left_out = (run.n - n_batches * run.b) / run.n
    if run.scheme in ("fixed", "full_batch"):
        return through(epoch(run.index // run.b) * run.K, None)
    state = None
    if run.scheme == "shuffle":  # all places at once, one column each, and a last one for the record left out
        for j in [*range(n_batches)] * run.K:
            hit = through([True], None if state is None else state[:, j])
            state = through([False], state)
            state = np.tile(state[:, None], n_batches + 1) if state.ndim == 1 else state
            state[:, j] = hit
        return state @ np.array([rate] * n_batches + [left_out])
    if run.scheme == "without_replacement":
        for _ in range(run.K * n_batches):
            state = rate * through([True], state) + (1 - rate) * through([False], state)
        return state
    for _ in range(run.K):
        # One sweep for all places of the record: `unused` had no batch with it so far, `used` (weighted) had one.
        unused, used = state, None
        for _ in range(n_batches):
            hit = rate * through([True], unused)
            unused, used = through([False], unused), hit if used is None else through([False], used) + hit
        state = used + left_out * unused
    return state


def _grid_renyi(alpha: float, log_p: Any, log_q: Any, spacing: float) -> float:
    keep = np.minimum(log_p, log_q) > math.log(1e-230)  # further out too much has been rounded away
    exponent = alpha * log_p[keep] + (1 - alpha) * log_q[keep]
    top = exponent.max()
    if max(exponent[0], exponent[-1]) > top - 30:
        raise NoEstimate(
            f"order {alpha:g} looks further into the tails than a grid of doubles reaches; use a lower order"
        )
    # Densities are normalised by their own sums, so that what the grid loses in mass is lost by both.
    masses = [np.log(np.exp(each[keep]).sum() * spacing) for each in (log_p, log_q)]
    integral = top + math.log(np.exp(exponent - top).sum() * spacing) - alpha * masses[0] + (alpha - 1) * masses[1]
    return max(float(integral / (alpha - 1)), 0.0)


# --- Estimates from samples -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A divergence estimated from chains, with a confidence interval at `level`."""

    value: float
    low: float
    high: float
    method: str
    level: float
    samples: int

    def __contains__(self, truth: object) -> bool:
        return isinstance(truth, (int, float, Fraction)) and self.low <= truth <= self.high


def gaussian_divergence(alpha: float, mean1: float, var1: float, mean2: float, var2: float) -> float:
    """R_α(N(mean1, var1) ‖ N(mean2, var2)); refused where it is infinite.

    >>> gaussian_divergence(2, 0.5, 1, 0, 1)
    0.25
    """
    mixed = (1 - alpha) * var1 + alpha * var2
    if mixed <= 0:
        raise NoEstimate(f"the divergence of order {alpha:g} is infinite for variances {var1:.4g} and {var2:.4g}")
    spread = math.log(mixed) - (1 - alpha) * math.log(var1) - alpha * math.log(var2)
    return alpha * (mean1 - mean2) ** 2 / (2 * mixed) - spread / (2 * (alpha - 1))


def plug_in(first: Chains, second: Chains, alpha: float, *, level: float = 0.95) -> Estimate:
    """Means and variances put into the Gaussian formula: for laws that are Gaussian (affine updates, fixed order)."""
    ps, qs = _flat(first, second, alpha, level)

    def divergence(p: Any, q: Any) -> float:
        return gaussian_divergence(alpha, p.mean(), p.var(ddof=1), q.mean(), q.var(ddof=1))

    return _jackknife(divergence, ps, qs, "plug-in Gaussian", level)


def rao_blackwell(first: Chains, second: Chains, alpha: float, noise: float, *, level: float = 0.95) -> Estimate:
    """From the centres of the last update: given them, the law of the last iterate is known exactly.

    Both densities are averages of Gaussians around the centres, which are counted in bins of a fiftieth of the noise;
    far out, where few chains have been, each tail counts as one outcome (which can only lower the divergence).
    """
    if first.centres is None or second.centres is None:
        raise ArgumentError(
            "chains", "no centres", "the centres of the last update were not kept", "simulate with centres=True"
        )
    _flat(first, second, alpha, level)
    if not noise > 0:
        raise ArgumentError("noise", noise, "not positive", "give the standard deviation of one update's noise")
    ps, qs = (each.centres[:, 0] for each in (first, second))  # type: ignore[index]
    low, high = min(ps.min(), qs.min()), max(ps.max(), qs.max())
    bins = max(8, math.ceil((high - low) / (noise / 50)))
    if bins > 20_000:
        raise NoEstimate(f"the centres spread over {bins:,} bins of a fiftieth of the noise; use the samples alone")
    edges = np.linspace(low, high + 1e-12 * max(1.0, abs(high)), bins + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    y = np.linspace(low - 8 * noise, high + 8 * noise, max(200, math.ceil((high - low + 16 * noise) / noise * 5)))
    kernel = np.exp(-((y[:, None] - middle) ** 2) / (2 * noise**2)) / (noise * math.sqrt(2 * math.pi))
    counts = [np.stack([np.histogram(group, edges)[0] for group in np.array_split(side, GROUPS)]) for side in (ps, qs)]
    densities = [(kernel @ side.T).T for side in counts]  # GROUPS × points
    sizes = [side.sum(axis=1) for side in counts]
    spacing = y[1] - y[0]
    effective = np.minimum(*(side.sum(axis=0) for side in densities)) * (2 * math.sqrt(math.pi) * noise)
    core = np.flatnonzero(effective >= MIN_EFFECTIVE)
    if not core.size:
        raise NoEstimate("the two sets of chains hardly overlap; use more chains or a run with more noise")
    edges_of_core = [core[0], core[-1] + 1]
    # The two tails, where few chains have been, count as one outcome each.
    masses = [
        np.concatenate(
            [part.sum(axis=1, keepdims=True), side[:, slice(*edges_of_core)], rest.sum(axis=1, keepdims=True)], 1
        )
        for side, part, rest in ((side, side[:, : edges_of_core[0]], side[:, edges_of_core[1] :]) for side in densities)
    ]

    def terms(leave_out: int | None) -> Any:
        logs = []
        for side, size in zip(masses, sizes, strict=True):
            total, number = side.sum(axis=0), size.sum()
            if leave_out is not None:
                total, number = total - side[leave_out], number - size[leave_out]
            logs.append(np.log(np.maximum(total * spacing / number, 1e-300)))
        return alpha * logs[0] + (1 - alpha) * logs[1]

    def divergence(leave_out: int | None) -> float:
        exponent = terms(leave_out)
        top = exponent.max()
        return float((top + math.log(np.exp(exponent - top).sum())) / (alpha - 1))

    support = np.concatenate([[0], effective[slice(*edges_of_core)], [0]])
    shares = [side.sum(axis=0) * spacing / size.sum() for side, size in zip(masses, sizes, strict=True)]
    _require_support(shares[0], shares[1], support, alpha, most=0.1)
    left_out = [divergence(g) for g in range(GROUPS)]
    return _from_jackknife(divergence(None), left_out, "Rao-Blackwell", level, len(ps) + len(qs))


def from_samples(first: Chains, second: Chains, alpha: float, *, level: float = 0.95, bins: int = 32) -> Estimate:
    """From the last iterates alone: the divergence of their laws over `bins` equally likely bins.

    Binning is post-processing, so this estimates a lower bound on the divergence: close to it where the log-ratio of
    the densities varies little within a bin.
    """
    ps, qs = _flat(first, second, alpha, level)
    pooled = np.concatenate([ps, qs])
    edges = np.quantile(pooled, np.linspace(0, 1, bins + 1)[1:-1])
    counts = [
        np.stack([np.bincount(np.searchsorted(edges, group), minlength=bins) for group in np.array_split(side, GROUPS)])
        for side in (ps, qs)
    ]
    totals = [side.sum(axis=0) for side in counts]
    shares = [total / total.sum() for total in totals]
    if min(total.min() for total in totals) < MIN_EFFECTIVE:
        raise NoEstimate(f"a bin holds fewer than {MIN_EFFECTIVE} chains; use more chains or fewer bins")
    ends = np.full(bins, float(MIN_EFFECTIVE))
    ends[[0, -1]] = 0  # what happens inside the outermost bins is not seen
    _require_support(shares[0], shares[1], ends, alpha, most=0.6)

    def divergence(leave_out: int | None) -> float:
        logs = []
        for side in counts:
            total = side.sum(axis=0) - (0 if leave_out is None else side[leave_out])
            logs.append(np.log(total / total.sum()))
        return math.log(np.exp(alpha * logs[0] + (1 - alpha) * logs[1]).sum()) / (alpha - 1)

    method = f"samples only, a lower bound from {bins} bins"
    return _from_jackknife(divergence(None), [divergence(g) for g in range(GROUPS)], method, level, len(pooled))


def _flat(first: Chains, second: Chains, alpha: float, level: float) -> tuple[Any, Any]:
    """The two samples as flat arrays, after the checks all estimators share."""
    if not isinstance(alpha, (int, float)) or isinstance(alpha, bool) or not 1 < alpha < math.inf:
        raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
    if not isinstance(level, float) or not 0 < level < 1:
        raise ArgumentError("level", level, "not a confidence level", "give e.g. 0.95")
    for chains in (first, second):
        if chains.last.shape[1] != 1:
            raise NoEstimate("estimates from samples are for one dimension; project the chains first")
        if len(chains.last) < MIN_CHAINS:
            raise NoEstimate(f"{len(chains.last)} chains are too few for an interval; use at least {MIN_CHAINS}")
    return first.last[:, 0], second.last[:, 0]


def _require_support(p: Any, q: Any, effective: Any, alpha: float, *, most: float) -> None:
    """Refuse where more than the fraction `most` of the divergence rests on regions that hardly any chain has reached.

    With the terms p^α·q^(1−α) − αp + (α−1)q, which are nonnegative, a region is judged by its part of the divergence.
    """
    p, q = np.maximum(p, 1e-300), np.maximum(q, 1e-300)
    exponent = alpha * np.log(p) + (1 - alpha) * np.log(q)
    if exponent.max() > 600:
        raise NoEstimate(f"the divergence of order {alpha:g} is beyond what samples can tell; use a lower order")
    terms = np.exp(exponent) - alpha * p + (alpha - 1) * q
    bare = terms[effective < MIN_EFFECTIVE].sum() / max(terms.sum(), 1e-300)
    if bare > most:
        raise NoEstimate(
            f"{bare:.0%} of the divergence of order {alpha:g} comes from where fewer than {MIN_EFFECTIVE} chains have "
            "been; use a lower order or more chains"
        )


def _jackknife(statistic: Any, ps: Any, qs: Any, method: str, level: float) -> Estimate:
    groups = list(
        zip(np.array_split(np.arange(len(ps)), GROUPS), np.array_split(np.arange(len(qs)), GROUPS), strict=True)
    )
    left_out = [statistic(np.delete(ps, g), np.delete(qs, h)) for g, h in groups]
    return _from_jackknife(statistic(ps, qs), left_out, method, level, len(ps) + len(qs))


def _from_jackknife(whole: float, left_out: list[float], method: str, level: float, samples: int) -> Estimate:
    """The bias-corrected value and its interval; the divergence is not negative, so neither is the interval."""
    parts = np.array(left_out)
    count = len(parts)
    value = count * whole - (count - 1) * parts.mean()
    error = math.sqrt((count - 1) / count * ((parts - parts.mean()) ** 2).sum())
    width = NormalDist().inv_cdf(0.5 + level / 2) * (1 + 1 / count) * error
    if not math.isfinite(value) or not math.isfinite(width):
        raise NoEstimate("the estimate is not finite; use a lower order or more chains")
    return Estimate(max(value, 0.0), max(value - width, 0.0), max(value + width, 0.0), method, level, samples)
