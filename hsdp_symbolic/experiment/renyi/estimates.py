"""The divergence estimated from chains, with a confidence interval; an error where there are too few to tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from ...errors import ArgumentError, NoEstimate
from ..losses import Array
from ..simulate import Chains

JACKKNIFE_GROUPS = 50
"""Groups of chains for the jackknife: enough for a normal interval, few enough to be large."""
MIN_CHAINS = 1000
MIN_EFFECTIVE = 50
"""Chains that must have been near a place before the density estimated there is trusted."""


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

    def divergence(p: Array, q: Array) -> float:
        return gaussian_divergence(alpha, p.mean(), p.var(ddof=1), q.mean(), q.var(ddof=1))

    return _jackknife(divergence, ps, qs, "plug-in Gaussian", level)


def rao_blackwell(first: Chains, second: Chains, alpha: float, noise: float, *, level: float = 0.95) -> Estimate:
    """From the centres of the last update: given these, the law of the last iterate is a known Gaussian.

    Averaging these laws, not samples from them, lowers the variance (Rao and Blackwell). Centres are counted in bins of
    a fiftieth of the noise; far out, where few chains have been, each tail counts as one outcome (which can only
    lower the divergence).
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
    counts = [
        np.stack([np.histogram(group, edges)[0] for group in np.array_split(side, JACKKNIFE_GROUPS)])
        for side in (ps, qs)
    ]
    densities = [(kernel @ side.T).T for side in counts]  # groups × points
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

    def terms(leave_out: int | None) -> Array:
        logs = []
        for side, size in zip(masses, sizes, strict=True):
            total, number = side.sum(axis=0), size.sum()
            if leave_out is not None:
                total, number = total - side[leave_out], number - size[leave_out]
            logs.append(np.log(np.maximum(total * spacing / number, 1e-300)))
        return np.asarray(alpha * logs[0] + (1 - alpha) * logs[1])

    def divergence(leave_out: int | None) -> float:
        exponent = terms(leave_out)
        top = exponent.max()
        return float((top + math.log(np.exp(exponent - top).sum())) / (alpha - 1))

    support = np.concatenate([[0], effective[slice(*edges_of_core)], [0]])
    shares = [side.sum(axis=0) * spacing / size.sum() for side, size in zip(masses, sizes, strict=True)]
    _require_support(shares[0], shares[1], support, alpha, most=0.1)
    left_out = [divergence(g) for g in range(JACKKNIFE_GROUPS)]
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
        np.stack(
            [
                np.bincount(np.searchsorted(edges, group), minlength=bins)
                for group in np.array_split(side, JACKKNIFE_GROUPS)
            ]
        )
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
    return _from_jackknife(
        divergence(None), [divergence(g) for g in range(JACKKNIFE_GROUPS)], method, level, len(pooled)
    )


def _flat(first: Chains, second: Chains, alpha: float, level: float) -> tuple[Array, Array]:
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


def _require_support(p: Array, q: Array, effective: Array, alpha: float, *, most: float) -> None:
    """Refuse where more than the fraction `most` of the divergence rests on regions that hardly any chain has reached.

    A region's share is that of its terms p^α·q^(1−α) − αp + (α−1)q, which are nonnegative.
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


def _jackknife(statistic: Callable[[Array, Array], float], ps: Array, qs: Array, method: str, level: float) -> Estimate:
    groups = list(
        zip(
            np.array_split(np.arange(len(ps)), JACKKNIFE_GROUPS),
            np.array_split(np.arange(len(qs)), JACKKNIFE_GROUPS),
            strict=True,
        )
    )
    left_out = [statistic(np.delete(ps, g), np.delete(qs, h)) for g, h in groups]
    return _from_jackknife(statistic(ps, qs), left_out, method, level, len(ps) + len(qs))


def _from_jackknife(whole: float, left_out: list[float], method: str, level: float, samples: int) -> Estimate:
    """The jackknife's bias-corrected value and interval, cut off at 0, below which no divergence is."""
    parts = np.array(left_out)
    count = len(parts)
    value = count * whole - (count - 1) * parts.mean()
    error = math.sqrt((count - 1) / count * ((parts - parts.mean()) ** 2).sum())
    width = NormalDist().inv_cdf(0.5 + level / 2) * (1 + 1 / count) * error
    if not math.isfinite(value) or not math.isfinite(width):
        raise NoEstimate("the estimate is not finite; use a lower order or more chains")
    return Estimate(max(value, 0.0), max(value - width, 0.0), max(value + width, 0.0), method, level, samples)
