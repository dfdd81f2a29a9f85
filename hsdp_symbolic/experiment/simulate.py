"""`alg:noisymBGD` as a program: many chains (independent runs) of noisy mini-batch descent on neighbouring datasets.

Chains are run in chunks that fit the cache. Each chunk has a random generator of its own, made from the seed and the
number of the chunk: the result depends on the seed alone, not on the number of threads. Memory does not grow with the
number of epochs; what is kept is the last iterate of each chain (and, on request, the centre of the Gaussian it was
drawn from).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError, HsdpError
from ..progress import Ticker
from .batches import SIMULATED, Batches, Hits, Places
from .losses import Array, Loss, finite, measure

CHAINS_AT_ONCE = 16384
"""Chains that are run together: a chunk's few arrays stay in the cache."""
MAX_CHAINS = 10**9
Start = npt.ArrayLike | Callable[[np.random.Generator, int, int], npt.ArrayLike]
"""Where the chains begin: a number, d numbers, or a function of (rng, chains, d)."""


@dataclass(frozen=True)
class Experiment:
    """One algorithm and two neighbouring datasets: `records`, and the same with record `index` replaced.

    `scheme` says how batches of size b are formed from the n records: `fixed` (in the order given), `shuffle` (one
    permutation per chain, kept for all epochs), `reshuffle` (a new one every epoch), `without_replacement` (every batch
    drawn afresh), `full_batch` (b = n, one update an epoch). `start` is a point, or a function of (rng, chains, d).
    """

    loss: Loss
    records: Array
    replacement: Array
    eta: float
    sigma: float
    b: int
    K: int
    scheme: str = "fixed"
    index: int = 0
    start: Start = 0.0

    def __post_init__(self) -> None:
        records, replacement = _as_records(self.records, self.replacement)
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "replacement", replacement)
        self._check_run()
        special = records[[self.index]]
        try:
            measure(self.loss, np.vstack([special, np.delete(records, self.index, axis=0), replacement]))
        except (ValueError, IndexError) as error:
            if isinstance(error, HsdpError):
                raise
            shape = f"{records.shape[1]} numbers"
            raise ArgumentError(
                "records", shape, f"the loss cannot take them ({error})", "give records it accepts"
            ) from error

    def _check_run(self) -> None:
        for name in ("b", "K"):
            _require_count(name, getattr(self, name), low=1)
        for name in ("eta", "sigma"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
                raise ArgumentError(name, value, "not a positive finite number", "give e.g. 0.02")
        if self.scheme not in SIMULATED:
            raise ArgumentError("scheme", self.scheme, "no such batch scheme", f"use {', '.join(SIMULATED)}")
        if self.scheme == "full_batch" and self.b != self.n:
            raise ArgumentError("b", self.b, "a full batch has all records", f"give b = {self.n}")
        if self.b > self.n:
            raise ArgumentError("b", self.b, f"larger than the dataset of {self.n}", "choose b <= n")
        _require_count("index", self.index, low=0, high=self.n - 1)

    @property
    def n(self) -> int:
        return len(self.records)

    @property
    def batches(self) -> int:
        """Updates in an epoch."""
        return self.n // self.b

    @property
    def dimension(self) -> int:
        return self.loss.dimension or self.records.shape[1]

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of one update."""
        return float((2 * self.eta) ** 0.5 * self.sigma)

    @property
    def background(self) -> Array | None:
        """What all records but `index` are equal to, if they are equal: then only the place of that one matters."""
        others = np.delete(self.records, self.index, axis=0)
        first: Array = others[0] if len(others) else self.records[0]
        return first if (others == first).all() else None

    def dataset(self, neighbour: bool) -> Array:
        records = self.records.copy()
        if neighbour:
            records[self.index] = self.replacement
        return records


@dataclass(frozen=True)
class Chains:
    """The last iterates, one row per chain; `centres` are the means of the Gaussian laws they were drawn from."""

    last: Array
    centres: Array | None
    wanted: int

    @property
    def complete(self) -> bool:
        return len(self.last) == self.wanted

    @property
    def mean(self) -> Array:
        return np.asarray(self.last.mean(axis=0))

    @property
    def variance(self) -> Array:
        return np.asarray(self.last.var(axis=0, ddof=1))


def simulate(
    experiment: Experiment,
    chains: int,
    *,
    neighbour: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    centres: bool = False,
) -> Chains:
    """Run `chains` independent chains on one of the two datasets; Ctrl-C returns what is complete by then.

    >>> from hsdp_symbolic.experiment.losses import Quadratic
    >>> run = Experiment(Quadratic(1.0, 4.0), np.zeros(6), 4.0, eta=0.02, sigma=2.0, b=2, K=3)
    >>> found = simulate(run, 1000, neighbour=True, seed=1)
    >>> found.last.shape, bool(abs(found.mean[0] - 0.1) < 0.1)
    ((1000, 1), True)
    """
    _require_count("chains", chains, low=1, high=MAX_CHAINS)
    _require_count("seed", seed, low=0, high=2**63)
    jobs = os.cpu_count() or 1 if jobs is None else jobs
    _require_count("jobs", jobs, low=1, high=1024)
    # Where all records differ every chain has a permutation of its own: fewer at a time.
    chunk = CHAINS_AT_ONCE if experiment.background is not None else max(64, min(CHAINS_AT_ONCE, 2**21 // experiment.n))
    sizes = [min(chunk, chains - begin) for begin in range(0, chains, chunk)]
    last = np.empty((chains, experiment.dimension))
    kept = np.empty_like(last) if centres else None
    program = _Program(experiment, neighbour)
    ticker, stop, done = Ticker(), threading.Event(), 0

    def work(number: int) -> None:
        if stop.is_set():
            return
        sequence = np.random.SeedSequence(seed, spawn_key=(int(neighbour), number))
        rng = np.random.Generator(np.random.SFC64(sequence))
        place = slice(number * chunk, number * chunk + sizes[number])

        def pause(made: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if number == done:  # only the chunk that is waited for reports
                finished = done * chunk + sizes[number] * made / (experiment.K * program.updates)
                rate = finished * experiment.K * program.updates / max(ticker.seconds, 1e-9)
                left = ticker.seconds * (chains / max(finished, 1) - 1)
                ticker.say(f"{finished:,.0f} of {chains:,} chains, {rate / 1e6:.0f} M updates/s, {left:.0f} s left")

        program.run(rng, last[place], None if kept is None else kept[place], pause)

    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(work, number) for number in range(len(sizes))]
        try:
            for finished in waiting:
                finished.result()
                done += 1
        except KeyboardInterrupt:
            stop.set()
        except BaseException:
            stop.set()
            raise
    ticker.clear()
    whole = sum(sizes[:done])
    return Chains(last[:whole], None if kept is None else kept[:whole], chains)


class _Program:
    """The updates on one dataset, to be run on any chunk of chains."""

    def __init__(self, experiment: Experiment, neighbour: bool) -> None:
        self._of = experiment
        self._records = experiment.dataset(neighbour)
        self._special = self._records[experiment.index]
        self._background = experiment.background
        self._batches = Batches(experiment.scheme, experiment.n, experiment.b, experiment.K)
        self.updates = experiment.batches

    def run(self, rng: np.random.Generator, out: Array, centres: Array | None, pause: Callable[[int], None]) -> None:
        """Fill `out` with last iterates, one chain a row; `pause` is called now and then with the updates made."""
        run = self._of
        theta = self._start(rng, out.shape)
        noise = np.empty_like(theta)
        advance = self._affine if run.loss.affine and self._background is not None else self._general
        for made, update in enumerate(advance(theta, rng)):
            if made % 64 == 0:
                pause(made)
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused below
                update()
            if centres is not None:
                centres[...] = theta  # after the last update, this is what stays
            rng.standard_normal(out=noise)
            noise *= run.noise
            theta += noise
        if not np.isfinite(theta).all():
            raise ArgumentError("eta", run.eta, "the iterates overflow", "choose a smaller step size")
        # Under `shuffle` the chains of a chunk are sorted by the record's place: put them back in random order.
        order = rng.permutation(len(theta)) if run.scheme == "shuffle" else slice(None)
        out[...] = theta[order]
        if centres is not None:
            centres[...] = centres[order]

    def _start(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        start = self._of.start
        try:
            theta = np.array(start(rng, *shape) if callable(start) else np.broadcast_to(start, shape), dtype=float)
        except (TypeError, ValueError) as error:
            raise ArgumentError("start", start, str(error), "give a number, d numbers or a function") from error
        if theta.shape != shape or not np.isfinite(theta).all():
            raise ArgumentError(
                "start",
                getattr(theta, "shape", None),
                "not finite or not of shape (chains, d)",
                "return finite numbers of it",
            )
        return theta

    def _affine(self, theta: Array, rng: np.random.Generator) -> Iterator[Callable[[], None]]:
        """θ ← qθ + η·(mean of the batch), in place."""
        run, flat = self._of, theta.reshape(-1) if theta.shape[1] == 1 else theta
        assert self._background is not None
        q = 1 - run.eta * run.loss.lam
        base, extra = run.eta * self._background, run.eta * (self._special - self._background) / run.b
        moves = bool(np.any(base))
        for hits in self._batches.hits(run.index, rng, len(theta)):

            def update(hits: Hits = hits) -> None:
                np.multiply(flat, q, out=flat)
                if moves:
                    np.add(flat, base, out=flat)
                if hits is True:
                    np.add(flat, extra, out=flat)
                elif hits is not None:
                    flat[hits] += extra

            yield update

    def _general(self, theta: Array, rng: np.random.Generator) -> Iterator[Callable[[], None]]:
        """θ ← θ − (η/b)·Σ ∇ℓ(θ; x), by the loss's own gradient."""
        run, background = self._of, self._background
        if background is not None:
            for hits in self._batches.hits(run.index, rng, len(theta)):

                def update(hits: Hits = hits) -> None:
                    gradient = run.b * self._gradient(theta, background)
                    if hits is not None:
                        chosen = theta if hits is True else theta[hits]
                        swap = self._gradient(chosen, self._special) - self._gradient(chosen, background)
                        gradient[... if hits is True else hits] += swap
                    np.subtract(theta, (run.eta / run.b) * gradient, out=theta)

                yield update
            return
        for members in self._batches.members(rng, len(theta)):

            def step(members: Places = members) -> None:
                gradient = np.zeros_like(theta)
                for slot in range(run.b):
                    gradient += self._gradient(theta, self._records[members[..., slot]])
                np.subtract(theta, (run.eta / run.b) * gradient, out=theta)

            yield step

    def _gradient(self, theta: Array, record: Array) -> Array:
        return finite(self._of.loss.gradient(theta, record), theta)


def _as_records(given: npt.ArrayLike, replaced: npt.ArrayLike) -> tuple[Array, Array]:
    """The records as finite rows, and what replaces one of them as another."""
    try:
        records = np.array(given, dtype=float)
        replacement = np.array(replaced, dtype=float).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ArgumentError("records", "no numbers", str(error), "give arrays of floats") from error
    records = records[:, None] if records.ndim == 1 else records
    for name, value in (("records", records), ("replacement", replacement)):
        if not np.isfinite(value).all():
            raise ArgumentError(name, value.tolist()[:3], "not all finite", "remove NaN and infinities")
    if records.ndim != 2 or not len(records) or records.shape[1] != replacement.size:
        raise ArgumentError("records", records.shape, "not n records of the replacement's length", "give shape (n, d)")
    return records, replacement


def _require_count(name: str, value: object, *, low: int, high: int | None = None) -> None:
    whole = int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None
    if whole is None or whole < low or (high is not None and whole > high):
        reach = f"from {low}" + ("" if high is None else f" to {high}")
        raise ArgumentError(name, value, "not a whole number in range", f"give a whole number {reach}")
