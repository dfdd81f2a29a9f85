"""The hidden-state accountant for Opacus: `register(…)`, then `PrivacyEngine(accountant="hidden_state")`.

Opacus makes an accountant without arguments, so `register` takes the facts of the run. At every step the optimiser is
compared with them: plain SGD, step size, clip norm, batch size, and a `weight_decay` of at least λ. What cannot be seen
from there is for you to get right:

* `scheme`: Opacus samples by Poisson unless `make_private(…, poisson_sampling=False)`; a loader with `shuffle=True`
  reshuffles every epoch ("reshuffle"); "shuffle" is a dataset permuted once and a loader with `shuffle=False`.
* `lam` and `beta` are proved for the loss by you, or by `hsdp_symbolic.accounting.regression`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opacus.accountants import IAccountant, register_accountant

from ..accounting.accountant import MECHANISM, DoesNotCompose, HiddenStateAccountant
from ..errors import ArgumentError
from ..setting import to_fraction


class OpacusAccountant(HiddenStateAccountant, IAccountant):
    """`HiddenStateAccountant` as an Opacus `IAccountant`."""

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """Opacus' own hook, after a look at the optimiser where a hidden-state bound will rely on it."""
        count: Callable[[Any], None] = super().get_optimizer_hook_fn(sample_rate)

        def hook(optimizer: Any) -> None:
            if self._facts["lam"] is not None and not self.released:
                self._check(optimizer)
            count(optimizer)

        return hook

    def _check(self, optimizer: Any) -> None:
        """Composition does not mind how noisy gradients are used; hidden-state bounds do."""
        from torch.optim import SGD

        if type(optimizer.original_optimizer) is not SGD:
            kind = type(optimizer.original_optimizer).__name__
            raise ArgumentError(
                "optimizer", kind, "hidden-state bounds are for plain gradient steps", "use torch.optim.SGD"
            )
        if optimizer.loss_reduction != "mean":
            raise ArgumentError("loss_reduction", optimizer.loss_reduction, "the paper's step is a mean", "use 'mean'")
        setting = self._run(1, self._usual_rate() or 1, 1).setting
        expected = {"max_grad_norm": setting["S_g"] / 2, "expected_batch_size": setting["b"]}
        for name, value in expected.items():
            if to_fraction(name, getattr(optimizer, name)) != value:
                raise ArgumentError(
                    name, getattr(optimizer, name), f"the accountant was told {value}", "tell it this value"
                )
        for group in optimizer.param_groups:
            if group["momentum"] != 0:
                raise ArgumentError(
                    "momentum", group["momentum"], "no hidden-state bound covers it", "use momentum = 0"
                )
            if to_fraction("lr", group["lr"]) != setting["eta"]:
                raise DoesNotCompose("learning_rate", group["lr"], f"the accountant was told {setting['eta']}")
            if to_fraction("weight_decay", group["weight_decay"]) < setting["lam"]:
                raise ArgumentError(
                    "weight_decay",
                    group["weight_decay"],
                    f"clipped gradients are bounded, so strong convexity lam = {setting['lam']} has to come from it",
                    "use weight_decay >= lam",
                )


def register(*, force: bool = False, **facts: Any) -> type[OpacusAccountant]:
    """Register "hidden_state" with Opacus for runs of these facts (the arguments of `HiddenStateAccountant`).

    Opacus raises if the name is taken, unless `force=True`. Bad facts are refused here.
    """

    class Registered(OpacusAccountant):
        def __init__(self) -> None:
            super().__init__(**facts)

    Registered()
    register_accountant(MECHANISM, Registered, force=force)
    return Registered
