"""One bin: the record is in every batch, so that nothing is secret and everything is Gaussian."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Integer, Rational, ceiling, exp

from ...functions.bins_divergence import BinsDivergence
from ...functions.bins_seen import BinsSeen
from ...functions.bins_window import BinsWindow
from ...symbols import (
    cost_1,
    count,
    distance,
    epochs_1,
    epsilon_1,
    factor,
    hidden,
    known_1,
    noise_1,
    order,
    steps,
    whole,
    window_1,
)
from ..facts.bins import epoch_seen, secret_places, whole_order
from ..kernel import Fact
from . import witness

_ONE = {count: Integer(1), known_1: Integer(1), window_1: Integer(1), epochs_1: Integer(1), factor: Rational(1, 2)}


def _window(batches: Expr, cost: Expr, q: Expr, known: Expr, window: Expr, drift: Expr, at: Expr) -> Expr:
    """One step, which uses the record and drifts."""
    assert (batches, known, window) == (1, 1, 1)
    return exp(at * (at - 1) * cost * (1 + drift) ** 2 / 2)


@witness(secret_places)
def _moves_and_drifts(fact: Fact) -> Iterator[bool]:
    """N(s + a, v) from N(0, v): e^(α(α − 1)(s + a)²/(2v))."""
    for apart, drifts, variance, less in ((1, 2, 3, 1), (2, Rational(1, 2), 5, 3)):
        put = {**_ONE, distance: apart, hidden: drifts, noise_1: variance, whole: less}
        value = fact.conclusion.value.subs(put).replace(BinsWindow, _window)
        truth = exp(Rational(less * (less + 1), 2 * variance) * (apart + drifts) ** 2)
        yield bool(value.evalf() >= truth.evalf() * (1 - 1e-12))


@witness(whole_order)
def _rises(fact: Fact) -> Iterator[bool]:
    """αμ²/2, at an order between two whole ones."""
    for at, cost in ((Rational(5, 2), 3), (Integer(4), Rational(1, 3))):
        value = fact.conclusion.value.subs({**_ONE, order: at, cost_1: cost})
        value = value.replace(BinsDivergence, lambda *args: (ceiling(args[6]) + 1) * args[1] / 2)
        yield bool(value >= at * cost / 2)


@witness(epoch_seen)
def _adds(fact: Fact) -> Iterator[bool]:
    """One more step that uses the record, every iterate seen."""
    for apart, variance, at, before in ((1, 2, 3, 5), (3, 1, Rational(3, 2), 0)):
        put = {**_ONE, distance: apart, noise_1: variance, order: at, epsilon_1: before, steps: 4}
        value = fact.conclusion.value.subs(put).replace(BinsSeen, lambda *args: (args[2] + 1) * args[1] / 2)
        yield bool(value >= before + at * Rational(apart) ** 2 / (2 * variance))
