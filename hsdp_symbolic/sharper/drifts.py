"""One step of a drifted copy, in units: what every bound by shifts is made of.

A drifted copy (`proof.facts.drift`) is z·s away from the first run, s = ηS_g/size being how far two update maps of a
step that uses the record can be apart; a step turns z into Lz, or Lz + 1 if it uses the record, and hides a of it
(a shift). Costs are multiples of ρ: a step adds 2ρ·a² to μ², and so ρ·a² to R_a/a.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, S

from ..paper.descents import NOISE, apart, contracts
from ..proof import kernel
from ..proof.facts.definitions import BATCHES, RUN
from ..proof.facts.drift import (
    Drift,
    apart_at,
    apart_unused,
    drift_end,
    drift_maps,
    drift_start,
    gaussian_to_renyi,
    hide,
    lipschitz_at,
    noise_at,
)
from ..proof.kernel import Theorem, apply, cancel, combine, rewrite
from ..proof.propositions import AtMost, Descent, Less
from ..proof.search import equal_bound, short
from ..symbols import S_g, eta, hidden, noise_1, steps


@dataclass(frozen=True)
class Units:
    """A run, the size of its batches, its Lipschitz constant L, and the symbol ρ that is short for s²/(2·noise)."""

    run: Descent
    size: Expr
    factor: Expr
    rho: Expr
    nonzero: tuple[Theorem, ...] = ()
    """That 1 − L is not 0, if L is not 1: geometric sums in L are written out."""

    @property
    def unit(self) -> Expr:
        return eta * S_g / self.size

    def state(self, steps: Expr, away: Expr, spent: Expr) -> Drift:
        """After so many steps a drifted copy is `away` units off; Σa² was `spent`."""
        return Drift(self.run, steps, self.unit * away, 2 * self.rho * spent)

    def started(self) -> Theorem:
        """Both runs start at one point."""
        return apply(drift_start, put={RUN: self.run})

    def unused(self, before: Theorem, unused: Theorem) -> Theorem:
        """The next maps, which do not use the record."""
        return self._maps(before, apply(apart_unused, unused, put={noise_1: self.run.noise}))

    def used(self, before: Theorem) -> Theorem:
        """The next maps, which may use the record."""
        size = kernel.loosen(kernel.positive(self.unit))
        at = {steps: before.proposition.steps}  # type: ignore[attr-defined]
        return self._maps(before, apply(apart_at, apart(self.run, self.size), size, put=at))

    def _maps(self, before: Theorem, apart_: Theorem) -> Theorem:
        at = {steps: before.proposition.steps}  # type: ignore[attr-defined]
        return apply(drift_maps, apply(lipschitz_at, contracts(self.run, self.factor), put=at), apart_, before)

    def hiding(self, maps: Theorem, shift: Expr | Theorem, after: Drift, left: Theorem, *nonzero: Theorem) -> Theorem:
        """The noise of the step hides `shift` ≥ 0 units, which leaves what `left` says is not negative: `after`."""
        size = shift if isinstance(shift, Theorem) else kernel.positive(shift)
        away = maps.proposition.distance  # type: ignore[attr-defined]
        assert isinstance(size.proposition, AtMost | Less)
        taken = self.unit * size.proposition.right
        known = (*self.nonzero, *nonzero)
        rest = left.proposition
        spare = () if rest.left == rest.right else ((self.unit, left),)  # type: ignore[attr-defined]
        room = combine(taken, away, *spare, nonzero=known)
        not_negative = combine(S.Zero, taken, (self.unit, size), nonzero=known)
        noise = kernel.positive(NOISE)
        here = {BATCHES: self.run.batches, noise_1: NOISE, steps: maps.proposition.steps}  # type: ignore[attr-defined]
        level = apply(noise_at, put=here)
        found = apply(hide, maps, level, kernel.loosen(not_negative), kernel.loosen(room), noise, put={hidden: taken})
        old = found.proposition
        if old.steps != after.steps:  # type: ignore[attr-defined]
            found = rewrite(found, cancel(old.steps, after.steps))  # type: ignore[attr-defined]
        away = found.proposition.distance  # type: ignore[attr-defined]
        if away != after.distance:
            found = rewrite(found, cancel(away, after.distance, *known))
        return equal_bound(found, after.cost, *known, by=[short(self.rho)])

    def gaussian(self, met: Theorem) -> Theorem:
        """μ² ≤ 2ρ·Σa², once the copy has met the first run."""
        return apply(drift_end, met)

    def ended(self, met: Theorem) -> Theorem:
        """R_a ≤ a·ρ·Σa², once the copy has met the first run."""
        found = apply(gaussian_to_renyi, self.gaussian(met))
        return equal_bound(found, met.proposition.value / 2)
