"""`Observed`: what happened in an Opacus run, and why hidden-state bounds do not cover it, if they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..accounting.losses import ScalarLoss, SoftmaxLoss
from ..accounting.update import Update
from ..meaning import Scheme
from ..setting.gate import to_fraction
from .observe_layer import LayerObserver
from .observe_loader import LoaderObserver, Order
from .observe_optimizer import PLAIN, OptimizerObserver

_PLAIN_STEPS = "hidden-state bounds are about plain gradient steps"
_ONE_KIND = "hidden-state bounds are about steps of one kind"
CLIP_OFFSET = Fraction(1, 10**6)
"""Opacus scales a gradient g by C/(‖g‖ + this): it begins to clip a hair below C."""


@dataclass(frozen=True)
class Observed:
    """What was seen of a run. Where a fact has several values, they changed, or differ between groups of parameters."""

    model: str
    n: int
    order: str
    orders: int
    """How many different orders of the records the passes came in."""
    scheme: Scheme
    sample_rate: float | None
    passes: int
    whole_passes: int
    steps: int
    batch_sizes: tuple[int, ...]
    """Records in a step."""
    accumulation: tuple[int, ...]
    """Batches of the loader in a step."""
    divisors: tuple[int, ...]
    optimiser: tuple[str, ...]
    learning_rates: tuple[Any, ...]
    momentum: tuple[Any, ...]
    weight_decays: tuple[Any, ...]
    clipping: str
    max_grad_norms: tuple[Any, ...]
    noise_multipliers: tuple[Any, ...]
    largest_input_norm: float | None
    """Of the inputs the layer was trained on, if a loss with a feature norm was declared."""
    reasons: tuple[str, ...]
    """Why no hidden-state bound covers this run; empty if nothing was seen that rules them out."""

    def __str__(self) -> str:
        """In plain English, a line for each topic."""
        drawn = self.order if self.sample_rate is None else f"{self.order} ({self.sample_rate})"
        if self.sample_rate is None and 1 < self.passes != self.orders != 1:
            drawn = f"at random, in {self.orders} different orders"
        elif self.sample_rate is None and self.orders == 1 < self.passes:
            drawn = Order.SEQUENTIAL if self.order == Order.SEQUENTIAL else "at random, every pass in the same order"
        lines = [
            f"{self.model}, trained on {self.n} records",
            f"batches: {drawn}; {_few(self.batch_sizes)} records in a step"
            + ("" if self.accumulation in ((), (1,)) else f", from {_few(self.accumulation)} batches of the loader"),
            f"{self.steps} steps; passes over the data: {self.passes}, of them {self.whole_passes} whole; accounted "
            f"for as scheme {self.scheme}",
            f"{_few(self.optimiser)}: learning rate {_few(self.learning_rates)}, momentum {_few(self.momentum)}, "
            f"weight decay {_few(self.weight_decays)}",
            f"{self.clipping} clipping to {_few(self.max_grad_norms)}, noise multiplier {_few(self.noise_multipliers)}",
            f"sums of gradients divided by {_few(self.divisors)}",
        ]
        if self.largest_input_norm is not None:
            lines.append(f"the largest input had norm {self.largest_input_norm:.9g}")
        return "\n".join([*lines, *(f"composition only: {reason}" for reason in self.reasons)])


def observe(
    model: str,
    loader: LoaderObserver,
    optimizer: OptimizerObserver,
    layer: LayerObserver | None,
    loss: Update | None,
    declared: Scheme | None,
) -> Observed:
    """The record of a run so far."""
    trained = loader.trained
    return Observed(
        model=model,
        n=loader.n,
        order=loader.order.value,
        orders=loader.distinct_orders,
        scheme=observed_scheme(loader, declared),
        sample_rate=loader.sample_rate,
        passes=len(trained),
        whole_passes=sum(found.whole for found in trained),
        steps=len(optimizer),
        batch_sizes=tuple(dict.fromkeys(size for found in trained for size in found.steps)),
        accumulation=optimizer.values("accumulated"),
        divisors=optimizer.values("divisor"),
        optimiser=optimizer.values("optimiser") or (optimizer.optimiser_type.__name__,),
        learning_rates=optimizer.group_values("lr"),
        momentum=optimizer.group_values("momentum"),
        weight_decays=optimizer.group_values("weight_decay"),
        clipping=optimizer.clipping,
        max_grad_norms=optimizer.values("max_grad_norm"),
        noise_multipliers=optimizer.values("noise_multiplier"),
        largest_input_norm=None if layer is None else layer.feature_norm,
        reasons=tuple(_reasons(loader, optimizer, loss)),
    )


def observed_scheme(loader: LoaderObserver, declared: Scheme | None) -> Scheme:
    """The scheme a run is accounted for as; where some orders repeat and others do not, that is a fixed order."""
    trained = loader.trained
    if loader.order is Order.POISSON:
        return Scheme.POISSON
    if trained and all(found.steps == [loader.n] for found in trained):
        return Scheme.FULL_BATCH
    if loader.order is Order.RANDOM and loader.distinct_orders == len(trained):
        return Scheme.RESHUFFLE
    # One order, used again and again: that it was drawn at random is not seen, and has to be said.
    return Scheme.SHUFFLE if declared is Scheme.SHUFFLE and loader.distinct_orders == 1 else Scheme.FIXED


def step_size(loader: LoaderObserver) -> int:
    """Records in a full step."""
    return max((size for found in loader.trained for size in found.steps), default=1)


def is_even(loader: LoaderObserver) -> bool:
    """Whether every pass is made of full steps and at most one shorter one, the last, all passes alike."""
    size, first = step_size(loader), loader.trained[0].steps
    used = sum(first)
    if any(found.steps != first for found in loader.trained) or any(each != size for each in first[:-1]):
        return False
    return used == loader.n or (first[-1] == size and loader.n - used == loader.n % size)


def _reasons(loader: LoaderObserver, optimizer: OptimizerObserver, loss: Update | None) -> Iterator[str]:
    """Why hidden-state bounds do not cover the run; composition does in all these cases."""
    if not len(optimizer):
        return
    yield from _about_updates(optimizer)
    if loader.order is not Order.POISSON:  # which draws every batch afresh: a pass is nothing to it
        yield from _about_passes(loader)
    if optimizer.uneven_samples:
        yield "gradients of other records were computed than steps have used"
    (norm, *others) = optimizer.values("max_grad_norm")
    if isinstance(loss, SoftmaxLoss) and loss.classes > 2 and not others and optimizer.clipping == "flat":
        clip = to_fraction("max_grad_norm", norm)
        if loss.never_bites(clip) and not loss.never_bites(max(clip - CLIP_OFFSET, clip / 2)):
            yield (
                f"gradients are clipped to {norm}, which is just enough never to clip one of softmax regression, but "
                f"Opacus begins to clip {float(CLIP_OFFSET)} earlier; use max_grad_norm >= {float(clip) + 1e-5:.6g}"
            )


def _about_updates(optimizer: OptimizerObserver) -> Iterator[str]:
    """What of the updates themselves rules out hidden-state bounds; learning rate and noise may change."""
    if not optimizer.is_sgd:
        yield f"{_PLAIN_STEPS}, and the optimiser is {optimizer.optimiser_type.__name__}"
        return
    for name, plain in PLAIN.items():
        values = optimizer.group_values(name)
        if values != (plain,):
            yield f"{_PLAIN_STEPS}, and {name} is {_few(values)}; use {name}={plain}"
    for name, says in (("lr", "learning rate"), ("weight_decay", "weight decay")):
        values = optimizer.group_values(name)
        if len(values) > 1 and not (name == "lr" and optimizer.one_learning_rate_a_step):
            yield f"{_ONE_KIND}, and the {says} is not the same throughout: {_few(values)}"
    if 0 in optimizer.group_values("lr"):
        yield "some steps have a learning rate of 0: they add no noise; let the schedule end above it (eta_min)"
    if optimizer.clipping != "flat":
        yield "gradients are clipped layer by layer, and not as one vector; use clipping='flat'"
    for name, says in (("max_grad_norm", "clip norm"), ("divisor", "divisor")):
        values = optimizer.values(name)
        if len(values) > 1:
            yield f"{_ONE_KIND}, and the {says} changes: {_few(values)}"


def _about_passes(loader: LoaderObserver) -> Iterator[str]:
    trained = loader.trained
    broken = [number for number, found in enumerate(trained, 1) if not found.whole]
    if broken == [len(trained)]:
        last = trained[-1]
        yield (
            f"the last pass over the data is not finished ({last.used} of {last.planned} batches used), and "
            "hidden-state bounds hold at the end of one"
        )
    elif broken:
        found = trained[broken[0] - 1]
        yield f"pass {broken[0]} over the data was broken off: {found.used} of {found.planned} batches used"
    elif not is_even(loader):
        sizes = tuple(dict.fromkeys(tuple(found.steps) for found in trained))
        yield f"steps are not of one size in every pass: {_few(sizes)} records"
    if 1 < loader.distinct_orders < len(trained):
        yield f"{len(trained)} passes came in {loader.distinct_orders} different orders, so some were repeated"


def widened(loss: Update | None, layer: LayerObserver | None) -> Update | None:
    """The declared loss, its feature norm a little larger if rounding took an input above it."""
    from dataclasses import replace

    from .observe_layer import NORM_TOLERANCE

    if layer is None or not layer.exceeds or not isinstance(loss, (ScalarLoss, SoftmaxLoss)):
        return loss
    return replace(loss, feature_norm=loss.feature_norm * (1 + NORM_TOLERANCE))


def _few(values: tuple[Any, ...], most: int = 4) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return shown + (", …" if len(values) > most else "") if values else "none"
