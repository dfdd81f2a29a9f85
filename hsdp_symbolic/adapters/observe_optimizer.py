"""What Opacus' optimiser does: every update, read at the moment it is made.

A step that nothing could account for (without noise, with noise drawn before, with records that came from elsewhere) is
an error, raised before the weights change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, repeat
from typing import Any

import torch
from opacus.optimizers import DPOptimizer, DPPerLayerOptimizer

from ..errors import ArgumentError, HsdpError
from ..setting.gate import to_fraction
from .observe_layer import LayerObserver, keep_hooks
from .observe_loader import LoaderObserver, random_state

PLAIN = {"momentum": 0, "maximize": False}
"""What a group of torch.optim.SGD must say for the step θ ← θ − lr·(g + weight_decay·θ); what else it says (dampening
and Nesterov without momentum, the choice of a kernel) changes nothing."""
CLIPPING_OF = {DPOptimizer: "flat", DPPerLayerOptimizer: "per_layer"}
PER_RECORD = ("hooks", "functorch", "ew")
"""Ways to compute gradients that keep one for every record."""
_NOT_SEEN = {
    "ghost": "per-record gradients are not kept, so it cannot be seen which records were summed, nor whether something "
    "else (a penalty with a backward pass of its own) entered the sum unclipped",
    "adaptive": "it releases how many gradients were clipped as well, and its noise is not that of the clip norm",
    "distributed": "each worker has batches and noise of its own",
}


@dataclass(frozen=True)
class ObservedUpdate:
    """One update: everything but the records it used."""

    noise_multiplier: Any
    max_grad_norm: Any
    divisor: int
    """What the sum of gradients, and its noise, is divided by."""
    accumulated: int
    """Batches of the loader that make the step."""
    optimiser: str
    settings: tuple[tuple[tuple[str, Any], ...], ...]
    """For each group of parameters."""


def refuse_unseen(*, grad_sample_mode: Any = "hooks", clipping: Any = "flat", rand_on_empty: Any = False) -> None:
    """An error for options of `make_private` that nothing here accounts for."""
    if rand_on_empty:
        problem = "a step from records that were made up cannot be told from one that skipped a batch"
        raise ArgumentError("rand_on_empty", rand_on_empty, problem, "use rand_on_empty=False")
    if grad_sample_mode not in PER_RECORD:
        raise ArgumentError("grad_sample_mode", grad_sample_mode, _NOT_SEEN["ghost"], "use grad_sample_mode='hooks'")
    if clipping not in CLIPPING_OF.values():
        why = _NOT_SEEN.get(clipping, "it is not known what it does")
        raise ArgumentError("clipping", clipping, why, "use clipping='flat'")


class OptimizerObserver:
    """Counts records before every step, and reads the rest as the wrapped optimiser is about to make it."""

    def __init__(
        self,
        optimizer: Any,
        module: Any,
        loader: LoaderObserver,
        layer: LayerObserver | None,
        fail: Callable[[HsdpError], None],
    ) -> None:
        if type(optimizer) not in CLIPPING_OF:
            kind = type(optimizer).__name__
            words = next(
                (words for name, words in _NOT_SEEN.items() if name in kind.lower()),
                "not an optimiser that is known here",
            )
            raise ArgumentError("optimizer", kind, words, "use clipping='flat' in one process")
        self.optimizer, self.loader, self.layer, self.fail = optimizer, loader, layer, fail
        self.clipping = CLIPPING_OF[type(optimizer)]
        self.optimiser_type = type(optimizer.original_optimizer)
        self.is_sgd = self.optimiser_type is torch.optim.SGD
        self.runs: list[tuple[ObservedUpdate, int]] = []
        """What was done, and how many times in a row."""
        self.uneven_samples = False
        """Whether the layer took gradients of other records than steps have used."""
        self._noise: set[bytes] = set()
        self._parts: list[int] = []
        self._clips: set[Any] = set()
        self._next: ObservedUpdate | None = None
        self._weights = list(getattr(module, "_module", module).parameters())
        """All there are: what this optimiser does not train must not change at all."""
        self._after: list[Any] | None = None
        self._expected: list[tuple[Any, Any, Any]] = []
        """Weights, what a plain gradient step should make of them, and how far rounding may take it from that."""
        self._pre_step = optimizer.pre_step
        optimizer.pre_step = self.pre_step  # every step() of Opacus calls it
        inner = optimizer.original_optimizer
        keep_hooks(
            inner,
            inner.register_step_pre_hook(self._before_update),
            inner.register_step_post_hook(self._after_update),
        )

    def __len__(self) -> int:
        """Updates made."""
        return sum(count for _, count in self.runs)

    def pre_step(self, closure: Any = None) -> Any:
        """Opacus' own `pre_step` (clip, add up and, unless this is only part of a batch, add noise), watched."""
        optimizer = self.optimizer
        self._parts += records_of(optimizer)
        self._clips.add(_clip_norms(optimizer))
        state = random_state(optimizer.generator, optimizer.params[0].device) if not optimizer.secure_mode else b""
        made = self._pre_step(closure)
        if not made:
            return made
        self._check_noise(state)
        records, self._parts = sum(self._parts), []
        clips, self._clips = self._clips, set()
        if len(clips) != 1:
            problem = "the clip norm changed between the parts of one batch"
            self._fail("max_grad_norm", sorted(map(str, clips)), problem, "change it between steps, if at all")
        try:
            accumulated = self.loader.step(records)
        except HsdpError as error:
            self.fail(error)
            raise
        if self.layer is not None and self.layer.take_samples() != records:
            self.uneven_samples = True
        mean = optimizer.loss_reduction == "mean"
        self._next = ObservedUpdate(
            noise_multiplier=_number(optimizer.noise_multiplier),
            max_grad_norm=next(iter(clips)),
            divisor=optimizer.expected_batch_size * optimizer.accumulated_iterations if mean else 1,
            accumulated=accumulated,
            optimiser=self.optimiser_type.__name__,
            settings=tuple(
                tuple((name, _number(value)) for name, value in sorted(group.items()) if name != "params")
                for group in optimizer.param_groups
            ),
        )
        self._expected = list(self._plain_update())
        return made

    def _plain_update(self) -> Iterator[tuple[Any, Any, Any]]:
        """What torch.optim.SGD should make of the noisy gradients; somebody else's hook could still change them."""
        for group in self.optimizer.param_groups if self.is_sgd else ():
            if group["momentum"] or group["maximize"]:
                return
            for weight in group["params"]:
                if weight.grad is not None:
                    old = weight.detach()
                    new = old - group["lr"] * (weight.grad + group["weight_decay"] * old)
                    size = old.abs().max() + new.abs().max() + (group["lr"] * weight.grad).abs().max()
                    yield weight, new, 16 * torch.finfo(weight.dtype).eps * size

    def _check_noise(self, state: bytes) -> None:
        if state and state in self._noise and self.optimizer.noise_multiplier:
            problem = f"step {len(self) + 1} draws the same noise as an earlier one, so their difference has none"
            self._fail("generator", "a state it had before", problem, "seed once, before the first pass")
        self._noise.add(state)

    def _before_update(self, inner: Any, args: Any, kwargs: Any) -> None:
        found, self._next = self._next, None
        if found is None:
            problem = "the wrapped optimiser made a step by itself, without clipping and noise"
            self._fail("optimizer.original_optimizer", "step()", problem, "call step() of what make_private returned")
            return
        if self._after is not None and not all(
            torch.equal(old, new.detach()) for old, new in zip(self._after, self._weights, strict=True)
        ):
            self._fail(
                "weights",
                "changed between steps",
                f"something other than the optimiser changed them before step {len(self) + 1}, and it cannot be seen "
                "whether it looked at the data",
                "change them before the first step or after the last; weights that are loaded begin another run, with "
                "an engine of its own",
            )
        if self.runs and self.runs[-1][0] == found:
            self.runs[-1] = (found, self.runs[-1][1] + 1)
        else:
            self.runs.append((found, 1))

    def _after_update(self, inner: Any, args: Any, kwargs: Any) -> None:
        expected, self._expected = self._expected, []
        if any(((weight.detach() - new).abs() > rounding).any() for weight, new, rounding in expected):
            self._fail(
                "optimizer",
                self.optimiser_type.__name__,
                f"step {len(self)} was not learning rate · (noisy gradient + weight decay · weights): a hook changed "
                "gradients after noise was added, and it cannot be seen whether it looked at the data",
                "remove the hook",
            )
        self._after = [weight.detach().clone() for weight in self._weights]

    def _fail(self, argument: str, value: object, problem: str, remedy: str) -> None:
        self.fail(ArgumentError(argument, value, problem, remedy))

    def values(self, name: str) -> tuple[Any, ...]:
        """The different values of a fact over all steps, in the order they came."""
        return tuple(dict.fromkeys(getattr(step, name) for step, _ in self.runs))

    def group_values(self, name: str) -> tuple[Any, ...]:
        """The different values of a setting of torch's optimiser over all steps and groups of parameters."""
        return tuple(dict.fromkeys(dict(group).get(name) for step, _ in self.runs for group in step.settings))

    @property
    def one_learning_rate_a_step(self) -> bool:
        """Whether every step had the same learning rate for all groups of parameters."""
        return all(len({dict(group).get("lr") for group in step.settings}) == 1 for step, _ in self.runs)

    def rates(self) -> Iterator[Any]:
        """The learning rate of every step, where each has one."""
        for step, count in self.runs:
            yield from repeat(dict(step.settings[0])["lr"], count)

    def noises(self) -> Iterator[Fraction]:
        """The noise of every step, as a multiple of the norm gradients were clipped to."""
        for step, count in self.runs:
            yield from repeat(_noise_per_clip(step, self.clipping), count)

    def least_noise_of(self, lengths: Iterable[int]) -> Iterator[Fraction]:
        """The smallest noise of so many steps, then of so many of the next, and so on."""
        noises = self.noises()
        for length in lengths:
            yield min(islice(noises, length))

    @property
    def least_noise(self) -> Fraction:
        """The smallest noise of any step."""
        return min(self.noises())


def records_of(optimizer: Any) -> list[int]:
    """Records of each backward pass since zero_grad."""
    found = getattr(optimizer.params[0], "grad_sample", None) if optimizer.params else None
    if found is None:
        return []
    return [len(each) for each in found] if isinstance(found, list) else [len(found)]


def _clip_norms(optimizer: Any) -> Any:
    if isinstance(optimizer, DPPerLayerOptimizer):
        return (_number(optimizer.max_grad_norm), *map(_number, optimizer.max_grad_norms))
    return _number(optimizer.max_grad_norm)


def _noise_per_clip(step: ObservedUpdate, clipping: str) -> Fraction:
    """Noise over clip norm. If layers are clipped apart, Opacus' total norm may be rounded down, and noise with it."""
    noise = to_fraction("noise_multiplier", step.noise_multiplier)
    if clipping == "flat":
        return noise
    total, *norms = (to_fraction("max_grad_norm", each) for each in step.max_grad_norm)
    return noise * min(Fraction(1), total**2 / sum(each**2 for each in norms))  # x <= √x below 1


def _number(value: Any) -> Any:
    """A tensor as a number, a list (Adam's betas) as a tuple, so that they can be compared."""
    if isinstance(value, torch.Tensor):
        return value.item() if value.numel() == 1 else tuple(value.tolist())
    return tuple(value) if isinstance(value, list) else value
