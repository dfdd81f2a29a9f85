"""The NumPy side of means, recursions and the sampled Gaussian: stable in float64, vectorised where it pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..arithmetic.tape import Tape, Traced
from ..errors import OutsideDoubleRange, TooManySteps
from ..evaluate.program import Program
from ..setting.arrays import Array, Samples

MAX_STEPS = 2 * 10**7
_BLOCK = 1 << 14
_STRIDE = 256
"""Steps between two looks at whether a recursion has settled."""


def log_mix(weight: Array, rest: Array, x: Array, y: Array, *, out: Array) -> Array:
    """log(w·e^x + v·e^y), w + v = 1: by expm1 for small exponents, shifted by the larger for others."""
    top = np.maximum(x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.log1p(weight * np.expm1(x) + rest * np.expm1(y))
        far = top + np.log(weight * np.exp(x - top) + rest * np.exp(y - top))
    out[...] = np.where(np.abs(top) <= 30, near, far)
    return out


def powers(exponent: Array, log_q: Array, k: Array, *, out: Array) -> Array:
    """1 + x + … + x^(k−1) for x = q^exponent, where the exponent may be 0."""
    log_x = exponent * log_q
    with np.errstate(invalid="ignore"):
        out[...] = np.where(log_x == 0, k, np.expm1(k * log_x) / np.expm1(log_x))
    return out


def pooled(slope: Array, rise: Array, length: Array, *, out: Array) -> Array:
    """`nodes.Pooled`, with rise = slope·length given apart."""
    with np.errstate(over="ignore", invalid="ignore"):
        out[...] = np.where(slope >= 1, (1 + rise) ** 2 / (1 + length), 1 + slope * rise)
    return out


def log_mean_exp(body: Program, index: str, counts: Fraction | Array, values: Mapping[str, Any]) -> Array:
    """log of the mean of e^body over index = 1 … count, for a body that does not increase with the index."""
    if isinstance(counts, Fraction):
        return _log_mean_exp(body, index, int(counts), values)
    distinct = np.unique(counts)
    parts = [_log_mean_exp(body, index, int(count), values) for count in distinct.tolist()]
    shape = np.broadcast_shapes(counts.shape, *(part.shape for part in parts))
    out = np.empty(shape)
    for count, part in zip(distinct, parts, strict=True):
        np.copyto(out, part, where=np.broadcast_to(counts == count, shape))
    return out


def _log_mean_exp(body: Program, index: str, count: int, values: Mapping[str, Any]) -> Array:
    from ..evaluate.numeric import evaluate

    widened = {
        name: Samples(value.array[..., None], value.least, value.greatest) if isinstance(value, Samples) else value
        for name, value in values.items()
        if name in body.leaves
    }

    def exponents(first: int, last: int) -> Array:
        indices = np.arange(first, last + 1, dtype=np.float64)
        return evaluate(body, {**widened, index: Samples(indices, first, last)})

    x = exponents(1, min(count, 64))
    largest = x[..., 0].copy()
    small = largest <= 600  # expm1 does not overflow, and log1p of the mean loses nothing
    block = max(64, _BLOCK // max(1, largest.size))
    total = np.zeros(largest.shape)
    starts = [1, *range(65, count + 1, block)]
    for start in starts:
        if start > MAX_STEPS:
            raise TooManySteps(count, "a mean")
        if start > 1:
            x = exponents(start, min(count, start + block - 1))
        if np.all(small):
            terms = np.expm1(x)
        else:
            terms = np.where(small[..., None], np.expm1(np.minimum(x, 600)), np.exp(x - largest[..., None]))
        total += terms.sum(axis=-1)
        if np.all(small & ((count - start) * terms[..., -1] <= 1e-18 * total)):
            break
    if np.all(small):
        return np.log1p(total / count)
    return np.where(small, np.log1p(total / count), largest + np.log(np.where(small, 1.0, total / count)))


def accumulated(parts: tuple[Any, ...], values: Mapping[str, Any]) -> Array:
    """s after count steps of s ← s + increment(s), with compensated summation; stops once what is left is known."""
    from ..evaluate.numeric import evaluate_any

    increment, name, count, room, ceiling, gain = parts
    state, step_from = _stepper(increment, {name: 0.0}, values)
    lost, before = np.zeros_like(state[name]), np.zeros_like(state[name])
    highest, gain_there = _ceiling(room, ceiling, gain, values)

    longest = float(np.max(np.asarray(evaluate_any(count, values), dtype=np.float64), initial=0.0))
    unsettled = np.isfinite(highest) & (MAX_STEPS * gain_there < 20) & (longest * gain_there < 1000)
    if longest > MAX_STEPS and np.any(unsettled):
        raise TooManySteps(int(longest), "a recursion")

    def advance() -> None:
        step = step_from()
        step -= lost
        before[...] = state[name]
        np.add(state[name], step, out=state[name])
        np.subtract(state[name], before, out=lost)
        np.subtract(lost, step, out=lost)

    def close(remaining: float) -> tuple[Array, Array]:
        now = state[name].copy()
        top = np.minimum(now + remaining * np.maximum(step_from(), 0), highest)
        state[name][...] = top
        bottom = np.minimum(now + remaining * np.maximum(step_from(), 0), top)
        state[name][...] = now
        # The distance to the fixed point shrinks at least as fast as it does there.
        covered = -np.expm1(remaining * np.log1p(-gain_there))
        settled = np.where(np.isfinite(highest), now + covered * (highest - now), bottom)
        return np.minimum(np.maximum(bottom, settled), top), top

    return _iterate(state[name], count, values, advance, close)


def compounded(parts: tuple[Any, ...], values: Mapping[str, Any]) -> Array:
    """u after count steps of u ← factor(k)·(u + cost); stops once the factors have settled."""
    from ..evaluate.numeric import evaluate_raw

    factor, name, cost_program, count, limit_program = parts
    cost, limit = (evaluate_raw(part, values) for part in (cost_program, limit_program))
    state, factor_now = _stepper(factor, {name: 0.0}, values)
    here = np.zeros(np.broadcast_shapes(state[name].shape, cost.shape))

    def advance() -> None:
        np.add(here, cost, out=here)
        np.multiply(here, factor_now(), out=here)
        state[name] += 1

    def close(remaining: float) -> tuple[Array, Array]:
        ends = []
        for kept in (factor_now(), limit):
            power = np.exp(remaining * np.log(kept))
            ends.append(power * here + cost * kept * (1 - power) / (1 - kept))
        return ends[0], ends[1]

    return _iterate(here, count, values, advance, close)


def _stepper(
    program: Program, start: dict[str, float], values: Mapping[str, Any]
) -> tuple[dict[str, Array], Callable[[], Array]]:
    """Arrays for the bound names of `program`, and a function that evaluates it at their current contents."""
    from ..evaluate.numeric import Float64

    needed = {leaf: values[leaf] for leaf in program.leaves if leaf not in start}
    shape = np.broadcast_shapes(*(value.array.shape for value in needed.values() if isinstance(value, Samples)))
    state = {name: np.full(shape, first) for name, first in start.items()}
    tape = Tape()
    everything = {**needed, **{name: Samples(array, 0.0, math.inf) for name, array in state.items()}}
    algebra = Float64(tape, everything)
    inputs = algebra.traced(program.leaves)
    result = algebra.value(program.run(algebra, inputs))
    assert isinstance(result, Traced)
    return state, tape.stepper(result, [inputs[name] for name in state], everything)


def _iterate(
    state: Array,
    count: Program,
    values: Mapping[str, Any],
    advance: Callable[[], None],
    close: Callable[[float], tuple[Array, Array]],
) -> Array:
    """The state after each of the counts asked for; ends early where `close` brackets what is left to rounding."""
    from ..evaluate.numeric import evaluate_any

    counts = np.asarray(evaluate_any(count, values), dtype=np.float64)
    out = np.empty(np.broadcast_shapes(state.shape, counts.shape))
    milestones = np.unique(counts).tolist()
    done, position = 0, 0
    while position < len(milestones):
        if done == milestones[position]:
            np.copyto(out, state, where=np.broadcast_to(counts == milestones[position], out.shape))
            position += 1
            continue
        if done % _STRIDE == 0:
            with np.errstate(over="ignore", invalid="ignore"):
                bottom, top = close(milestones[-1] - done)
            if np.all(top - bottom <= 2e-16 * top):
                for end in milestones[position:]:
                    bottom, top = close(end - done)
                    np.copyto(out, bottom + (top - bottom) / 2, where=np.broadcast_to(counts == end, out.shape))
                break
            if done >= MAX_STEPS:
                raise TooManySteps(int(milestones[-1]), "a recursion")
        stride = int(min(_STRIDE - done % _STRIDE, milestones[position] - done))
        for _ in range(stride):
            advance()
        done += stride
    return out


def _ceiling(room: Program, ceiling: Program, gain: Program, values: Mapping[str, Any]) -> tuple[Array, Array]:
    """The fixed point and the gain there, where there is one; infinity and 0 elsewhere."""
    from ..evaluate.numeric import evaluate_raw

    try:
        with np.errstate(all="ignore"):
            exists = evaluate_raw(room, values) > 0
            highest = np.where(exists, evaluate_raw(ceiling, values), np.inf)
            return highest, np.where(exists, evaluate_raw(gain, values), 0.0)
    except (ZeroDivisionError, OutsideDoubleRange):  # every record in every batch, or a moment beyond the doubles
        return np.array(np.inf), np.array(0.0)


def sampled_gaussian(rate: Any, rho: Any, order: Any) -> Array:
    """The log-moment of the sampled Gaussian mechanism, elementwise."""
    excess = order - 1  # exact, before anything is rounded to a double
    try:
        p, r, a = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (rate, rho, excess)))
    except OverflowError:
        raise OutsideDoubleRange("the cost of a step") from None
    flat = [
        _sampled_gaussian(*triple)
        for triple in zip(p.ravel().tolist(), r.ravel().tolist(), a.ravel().tolist(), strict=True)
    ]
    return np.array(flat).reshape(p.shape)


@lru_cache(maxsize=1 << 14)
def _sampled_gaussian(rate: float, rho: float, beta: float) -> float:
    """Of order 1 + β: by the trapezoidal rule, as a sum of nonnegative excesses over 1 while the moment is moderate."""
    order = 1 + beta
    if rate == 1 or rho == 0:
        return rho * order * beta
    if rho > 4 * (45 + order):  # so little noise that the two cases, record drawn or not, hardly mix
        logs = order * math.log1p(-rate), order * math.log(rate) + rho * order * beta
        if logs[1] > 2:
            return float(np.logaddexp(*logs))
        drawn = rate * math.expm1(beta * math.log(rate) + rho * order * beta)
        return math.log1p((1 - rate) * math.expm1(beta * math.log1p(-rate)) + drawn)
    spread = math.sqrt(2 * rho)
    strip = min(math.sqrt(2 * 45.0), 3 / spread)
    step = 2 * math.pi * strip / (strip**2 / 2 + 45.0)
    reach = math.sqrt(2 * (45.0 + order * math.log(2))) + 1
    near = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    far = near + round(order * spread / step)
    nodes = step * np.union1d(near, far)
    tilt = spread * nodes - rho
    gauss = -(nodes**2) / 2 - 0.5 * math.log(2 * math.pi) + math.log(step)
    with np.errstate(over="ignore", under="ignore"):
        base = np.logaddexp(math.log1p(-rate) if rate < 1 else -math.inf, math.log(rate) + tilt)
        logs = order * base + gauss
        if logs.max() > 2:
            return float(np.logaddexp.reduce(logs))
        x = rate * np.expm1(tilt)
        ell = np.log1p(x)
        excess = beta * _relative_entropy(x) + (1 + x) * _exp_minus_linear(beta * ell)
        return math.log1p(float(np.sum(np.exp(gauss) * excess)))


def _relative_entropy(x: Array) -> Array:
    """(1 + x)·log(1 + x) − x ≥ 0, without cancellation."""
    series = x**2 * sum((-1) ** k * x ** (k - 2) / (k * (k - 1)) for k in range(2, 14))
    return np.where(np.abs(x) < 0.05, series, (1 + x) * np.log1p(x) - x)


def _exp_minus_linear(y: Array) -> Array:
    """e^y − 1 − y ≥ 0, without cancellation."""
    series = y**2 * sum(y ** (k - 2) / math.factorial(k) for k in range(2, 16))
    return np.where(np.abs(y) < 0.5, series, np.expm1(y) - y)
