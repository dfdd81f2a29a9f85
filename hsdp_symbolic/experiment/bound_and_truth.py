"""`hsdp simulate`: a statement's bound beside what the algorithm it is about really does.

The algorithm is run on a quadratic loss with records that differ by S_g (for cor:logistic: on softmax regression with
clipping). The divergence of its last iterates is estimated and, where their law is known, computed; the bound must not
be below it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from ..errors import ArgumentError, HsdpError, MissingArgument
from ..setting import Setting
from ..setting.gate import admit
from ..setting.letters import LETTERS
from .attack import DRAWN_ANEW, Instance, alike, bound_of, divergence, scheme_to_attack
from .losses import ClippedLogistic, Quadratic
from .renyi import Estimate, from_samples, grid_divergence, plug_in, rao_blackwell
from .simulate import Chains, Experiment, simulate

METHODS = ("rao_blackwell", "samples", "plug_in")


@dataclass(frozen=True)
class BoundAndTruth:
    """Estimate with interval, exact value where it is known, certified bound, and bound over exact (or estimate)."""

    label: str
    scheme: str
    method: str
    estimate: float
    ci: tuple[float, float]
    exact: float | None
    exact_by: str
    bound: float
    ratio: float
    samples: int
    seed: int

    def record(self) -> dict[str, object]:
        return asdict(self) | {"ci": list(self.ci)}

    @property
    def consistent(self) -> bool:
        """Whether the bound is not below what was seen: the exact value, or the lower end of the interval."""
        return self.bound >= (self.ci[0] if self.exact is None else self.exact)


def bound_and_truth(
    label: str,
    run: Setting,
    *,
    samples: int = 100_000,
    seed: int = 0,
    jobs: int | None = None,
    method: str = "rao_blackwell",
    level: float = 0.95,
    **letters: object,
) -> BoundAndTruth:
    """Simulate the algorithm of a statement at a setting, `samples` chains on each of the two datasets.

    The estimate is of R_α(neighbour ‖ original); the exact value is the larger of that and R_α(original ‖ neighbour).

    >>> run = Setting(n=10, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    >>> found = bound_and_truth("thm:shuffle", run, alpha=2, samples=20_000, seed=1)
    >>> found.consistent, found.exact_by
    (True, 'certified mixture')
    """
    scheme = scheme_to_attack(label)
    if method not in METHODS:
        raise ArgumentError("method", method, "no such estimator", f"use {', '.join(METHODS)}")
    if "alpha" not in letters:
        raise MissingArgument(label, "alpha", LETTERS["alpha"].meaning)
    order = admit("alpha", letters["alpha"])
    place = int(admit("j0", letters.get("j0", 0)))
    if method == "plug_in" and scheme not in ("fixed", "full_batch"):
        raise ArgumentError("method", method, f"the law under {scheme} batches is not Gaussian", "use rao_blackwell")
    if label == "cor:logistic":
        experiment, bound = _logistic(run, letters)
        method = "samples"
    else:
        bound = float(bound_of(label, run, order, place if scheme == "fixed" else None).upper())
        experiment = _quadratic(run, scheme, place)
    first, second = (
        simulate(experiment, samples, neighbour=neighbour, seed=seed, jobs=jobs, centres=method == "rao_blackwell")
        for neighbour in (True, False)
    )
    found = _estimate(method, first, second, float(order), experiment.noise, level)
    exact, by = (None, "not known") if label == "cor:logistic" else _exact(run, scheme, place, order, experiment)
    against = found.value if exact is None else exact
    return BoundAndTruth(
        label=label,
        scheme=scheme,
        method=found.method,
        estimate=found.value,
        ci=(found.low, found.high),
        exact=exact,
        exact_by=by,
        bound=bound,
        ratio=bound / against if against else float("inf"),
        samples=min(len(first.last), len(second.last)),
        seed=seed,
    )


def _number(run: Setting, name: str) -> float:
    """A letter as a double; refused if it is missing, huge or tiny."""
    if name not in run:
        letter = "sigma" if name == "sigma2" else name
        raise MissingArgument("the simulated algorithm", letter, LETTERS[letter].meaning)
    value = run[name]
    if value and not Fraction(1, 10**100) < value < 10**100:
        raise ArgumentError(name, str(value)[:40], "outside 1e-100 to 1e100", "simulate a less extreme setting")
    return float(value)


def _quadratic(run: Setting, scheme: str, place: int) -> Experiment:
    run, scheme = alike(run, scheme)
    size = int(run["n"])
    if size > 10**6:
        raise ArgumentError("n", size, "too many records to simulate", "use n up to 10^6; the bounds take any")
    b = size if scheme == "full_batch" else int(run["b"])
    sensitivity = _number(run, "S_g")
    if not sensitivity:
        raise ArgumentError("S_g", 0, "records that cannot differ leave nothing to simulate", "give S_g > 0")
    return Experiment(
        Quadratic(_number(run, "lam"), sensitivity),
        np.zeros(size),
        np.array([sensitivity]),
        eta=_number(run, "eta"),
        sigma=_number(run, "sigma2") ** 0.5,
        b=b,
        K=int(run["K"]),
        scheme=scheme,
        index=place * b if scheme == "fixed" else 0,
    )


def _logistic(run: Setting, letters: dict[str, object]) -> tuple[Experiment, float]:
    """Softmax regression on one feature; the records differ in feature and label."""
    from ..catalogue import statement

    needed = {name: letters[name] for name in statement("cor:logistic").needs if name in letters}
    bound = statement("cor:logistic").enclose_at(run, needed).upper()
    radius, multiplier = float(admit("L", letters["L"])), float(admit("sigma_mul", letters["sigma_mul"]))
    classes, clip, b = int(admit("classes", letters["classes"])), float(run["S_g"]) / 2, int(run["b"])
    one, other = (np.array([radius, *label]) for label in np.eye(classes)[:2])
    experiment = Experiment(
        ClippedLogistic(float(run["lam"]), radius, clip, 1, classes),
        np.tile(one, (int(run["n"]), 1)),
        other,
        eta=float(run["eta"]),
        sigma=(float(run["eta"]) / 2) ** 0.5 * multiplier * clip / b,
        b=b,
        K=int(run["K"]),
        scheme="shuffle",
    )
    return experiment, bound


def _estimate(method: str, first: Chains, second: Chains, alpha: float, noise: float, level: float) -> Estimate:
    if first.last.shape[1] > 1:  # along the line between the means: a projection cannot increase the divergence
        line = first.mean - second.mean
        first, second = (Chains(each.last @ line[:, None], None, each.wanted) for each in (first, second))
    if method == "plug_in":
        return plug_in(first, second, alpha, level=level)
    if method == "samples":
        return from_samples(first, second, alpha, level=level)
    return rao_blackwell(first, second, alpha, noise, level=level)


def _exact(run: Setting, scheme: str, place: int, order: Fraction, experiment: Experiment) -> tuple[float | None, str]:
    if scheme in DRAWN_ANEW:
        try:
            return grid_divergence(experiment, float(order)).value, "densities on a grid"
        except HsdpError:
            return None, "not known"
    batches = 1 if scheme == "full_batch" else int(run["n"] // run["b"])
    if int(run["K"]) * batches > 20_000 or (scheme == "shuffle" and int(run["K"]) * batches**2 > 10**6):
        return None, "not known"
    instance = Instance(scheme, (run["lam"],) * batches, place if scheme == "fixed" else None)
    by = "certified mixture" if scheme == "shuffle" else "Gaussian law, exact"
    return float(divergence(instance, run, order).upper()), by
