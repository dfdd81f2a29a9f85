"""The divergence of any loss in one dimension, by densities on a grid, with an error estimate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import ArgumentError, NoEstimate, TooManySteps
from ..losses import Array
from ..simulate import Experiment

DensityUpdate = Callable[[bool, Array | None], Array]
"""What one update, with the record (True) or without, makes of a density; None stands for the start."""


@dataclass(frozen=True)
class GridValue:
    """A divergence computed on a grid, and how far it may be off (the change under refinement; not a proof)."""

    value: float
    error: float


def grid_divergence(experiment: Experiment, alpha: float, *, points_per_noise: float = 2.0) -> GridValue:
    """R_α between the last iterates on the two datasets, the larger of both directions, for any loss in one dimension.

    Densities are propagated exactly as the algorithm does: the update maps them, the noise convolves them, and a random
    batch mixes the two. Batches must differ only in whether they hold the record (all other records equal), and the
    start must be a point. The error is the change when the grid is made half as fine again and wider.
    """
    if not isinstance(alpha, (int, float)) or isinstance(alpha, bool) or not 1 < alpha < math.inf:
        raise ArgumentError("alpha", alpha, "the order must exceed 1", "give a finite number > 1")
    if experiment.dimension != 1 or experiment.background is None or callable(experiment.start):
        raise ArgumentError(
            "experiment",
            experiment.scheme,
            "needs one dimension, equal other records and a point start",
            "use simulate",
        )
    start = float(np.asarray(experiment.start).ravel()[0])
    coarse, fine = (
        _on_grid(experiment, start, alpha, points_per_noise * factor, width)
        for factor, width in ((1.0, 11.0), (1.5, 13.0))
    )
    if abs(fine - coarse) > 0.01 * fine:
        raise NoEstimate(f"the grid is not fine enough: {coarse:.4g} becomes {fine:.4g} when it is refined")
    return GridValue(fine, abs(fine - coarse) + 1e-14)


def _on_grid(run: Experiment, start: float, alpha: float, density: float, width: float) -> float:
    """The larger of the two directions, on one grid."""
    noise, q = run.noise, 1 - run.eta * run.loss.lam
    background = run.background
    assert background is not None
    reach = width * noise / math.sqrt(max(1 - q * q, 1 / (run.K * run.batches + 1)))
    steps = run.K * run.batches
    ends = [start]
    for record in (background, run.records[run.index], run.replacement):
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

    def law(neighbour: bool) -> Array:
        special = run.replacement if neighbour else run.records[run.index]

        def kernel(theta: Array, hit: bool) -> Array:
            drift = run.loss.gradient(theta, background) * (run.b - hit)
            drift = drift + run.loss.gradient(theta, special) if hit else drift
            centre = (theta - run.eta / run.b * drift)[:, 0]
            bell = np.exp(-((grid[:, None] - centre) ** 2) / (2 * noise**2)) / (noise * math.sqrt(2 * math.pi))
            return np.where(bell < 1e-280, 0.0, bell)  # numbers below the normal doubles are a hundred times slower

        kernels = {hit: kernel(grid[:, None], hit) * spacing for hit in (False, True)}
        firsts = {hit: kernel(np.array([[start]]), hit)[:, 0] for hit in (False, True)}

        def update(hit: bool, state: Array | None) -> Array:
            return firsts[hit] if state is None else kernels[hit] @ np.where(state < 1e-250, 0.0, state)

        return _propagate(run, update)

    laws = [law(False), law(True)]
    with np.errstate(divide="ignore"):
        logs = [np.log(each) for each in laws]
    return max(_grid_renyi(alpha, p, q, spacing) for p, q in (logs, logs[::-1]))


def _propagate(run: Experiment, update: DensityUpdate) -> Array:
    """The density of the last iterate under the batch scheme, from what one update does with and without the record."""
    epoch = _EPOCHS[run.scheme]
    state = epoch(run, update, None)
    for _ in range(run.K - 1):
        state = epoch(run, update, state)
    if run.scheme == "shuffle":
        chances = np.array([run.b / run.n] * run.batches + [_left_out(run)])
        return np.asarray(state @ chances)
    return state


def _left_out(run: Experiment) -> float:
    """The chance that a record is in no batch of an epoch, where batches do not use up all records."""
    return (run.n - run.batches * run.b) / run.n


def _in_order(run: Experiment, update: DensityUpdate, state: Array | None) -> Array:
    """An epoch of batches in the order given."""
    place = run.index // run.b
    state = update(place == 0, state)
    for j in range(1, run.batches):
        state = update(j == place, state)
    return state


def _at_every_place(run: Experiment, update: DensityUpdate, state: Array | None) -> Array:
    """An epoch for all places of the record at once, one column each, and a last one for the record left out."""
    for j in range(run.batches):
        hit = update(True, None if state is None else state[:, j])
        missed = update(False, state)
        state = np.tile(missed[:, None], run.batches + 1) if missed.ndim == 1 else missed
        state[:, j] = hit
    assert state is not None
    return state


def _at_a_random_place(run: Experiment, update: DensityUpdate, state: Array | None) -> Array:
    """An epoch after which the place of the record is forgotten.

    One sweep for all places: `unused` had no batch with the record so far, `used` (weighted) had one.
    """
    rate = run.b / run.n
    unused, used = update(False, state), rate * update(True, state)
    for _ in range(1, run.batches):
        hit = rate * update(True, unused)
        unused, used = update(False, unused), update(False, used) + hit
    return used + _left_out(run) * unused


def _sampled(run: Experiment, update: DensityUpdate, state: Array | None) -> Array:
    """An epoch of batches drawn afresh."""
    rate = run.b / run.n
    for _ in range(run.batches):
        state = rate * update(True, state) + (1 - rate) * update(False, state)
    assert state is not None
    return state


_EPOCHS = {
    "fixed": _in_order,
    "full_batch": _in_order,
    "shuffle": _at_every_place,
    "reshuffle": _at_a_random_place,
    "without_replacement": _sampled,
}


def _grid_renyi(alpha: float, log_p: Array, log_q: Array, spacing: float) -> float:
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
