"""The hidden-state accountant for Opacus: `register(…)`, then `PrivacyEngine(accountant="hidden_state")`.

Opacus makes an accountant without arguments, so `register` takes the facts of the run. What they must match:

* `scheme`: Opacus samples by Poisson unless `make_private(…, poisson_sampling=False)`; a loader with `shuffle=True`
  reshuffles every epoch ("reshuffle"); "shuffle" is a dataset permuted once and a loader with `shuffle=False`.
* `drop_last=True` where the batch size does not divide n.
* The optimiser is plain SGD with step `learning_rate`, no momentum. Its `weight_decay` is the regulariser's λ, added
  after clipping.
* `lam` and `beta` are proved for the loss by you, or by `hsdp_symbolic.accounting.logistic`.
"""

from __future__ import annotations

from typing import Any

from opacus.accountants import IAccountant, register_accountant

from ..accounting.accountant import MECHANISM, HiddenStateAccountant


class OpacusAccountant(HiddenStateAccountant, IAccountant):
    """`HiddenStateAccountant` as an Opacus `IAccountant`; its optimiser hook is Opacus' own."""


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
