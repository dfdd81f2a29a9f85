"""Amplification by Gaussian post-processing: `lem:i_by_e_lower`, `lem:post_proc`, `lem:recursive`.

The theorems behind them are derived in `paper.diffusion`; here they are read in the letters of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sympy import Derivative, Eq, Expr, Piecewise, S, Symbol

from ..display import Dot, Over, Plus, times
from ..proof import kernel
from ..proof.facts.definitions import PAIR, inverse_of_constant
from ..proof.facts.diffusion import (
    DIFFUSE,
    HAVE_DENSITIES,
    INFORMATION,
    MOMENT,
    Diffusing,
    Hits,
    InformationAtLeast,
    Known,
    RateAtMost,
    hit_or_not,
    information_at_least,
    known_divergence,
    known_slope,
    not_hit,
    rate_at_most,
)
from ..proof.kernel import Theorem, apply, assume, cancel, chain, combine, substitute, swap
from ..proof.propositions import (
    Anything,
    Equal,
    From,
    Less,
    Lipschitz,
    LogSobolevConstant,
    Mapped,
    Pair,
    PerOrder,
)
from ..proof.search import claimed, given, short, use
from ..statement import Statement
from ..symbols import (
    L,
    R,
    S_g,
    alpha,
    b,
    c,
    dR,
    eta,
    hit,
    noise_2,
    renyi_at,
    rho0,
    sigma2,
    spread_0,
    start,
    steps,
    t,
    tau,
    u,
)
from . import diffusion
from .descents import ANY, ORDER, apart, contracts
from .diffusion import noise_shrinks
from .lsi import after_map
from .steps import after_shared, after_use, used

_RUN = From(ANY, start, steps)
_SPEED = 2 * sigma2
"""How fast the variance of the noise grows with t."""


def _spread(pair: Pair | Anything) -> Theorem:
    """1/c, for laws with log-Sobolev constant c."""
    return apply(inverse_of_constant, assume(LogSobolevConstant(pair, c)), kernel.positive(c))


def _known(known: Known, put: Mapping[Symbol, Expr], *ranges: Theorem) -> tuple[Theorem, Theorem]:
    """R ≤ R_α and dR ≤ ∂_α R_α, as the letters are said to be equal to these."""
    facts = (apply(fact, assume(known), put=put, ranges=ranges) for fact in (known_divergence, known_slope))
    divergence, slope = (kernel.loosen(swap(each)) for each in facts)
    return divergence, slope


_GIVEN = Known(HAVE_DENSITIES.divergence, alpha, R, dR)
_LEAST = 2 * c / alpha**2 * (R + alpha * (alpha - 1) * dR)


def _information() -> Theorem:
    """lem:i_by_e_lower, with R_α and its derivative as letters."""
    dense = assume(HAVE_DENSITIES)
    divergence, slope = _known(_GIVEN, {})
    found = combine(
        _LEAST,
        INFORMATION / MOMENT,
        (S.One, kernel.cut(diffusion.information(), _spread(PAIR))),
        (2 * c / alpha**2, divergence),
        (2 * c / alpha, given(ORDER), slope),
    )
    return apply(information_at_least, dense, found, given(ORDER))


@cache
def information_lower_bound() -> Statement:
    """`lem:i_by_e_lower`: the ratio I_α/E_α is bounded below by the divergence and its derivative in the order."""
    return Statement(
        label="lem:i_by_e_lower",
        kind="lemma",
        assumes=(
            "μ and ν satisfy a log-Sobolev inequality with constant c; they have smooth densities, and R_α and I_α are "
            "finite at every order, in both directions",
        ),
        title="Fisher-type information against the divergence",
        where="Lemma D.1 (Appendix D)",
        says="Lower bound on I_α/E_α for laws with LSI constant c, given R_α and its derivative in the order.",
        bounds=r"\frac{I_\alpha(\mu\Vert\nu)}{E_\alpha(\mu\Vert\nu)}",
        theorem=claimed(
            InformationAtLeast(PAIR, HAVE_DENSITIES.first, HAVE_DENSITIES.second, alpha, _LEAST),
            (ORDER,),
            (HAVE_DENSITIES, LogSobolevConstant(PAIR, c), _GIVEN),
            _information,
        ),
        hypotheses=(ORDER,),
        shown=Plus(Dot(Over(2 * c, alpha**2), R), Dot(Over(2 * c, alpha**2), times(alpha, alpha - 1), dR)),
    )


_MAPPED = Mapped(_RUN)
_FLOWS = Diffusing(_MAPPED, DIFFUSE.first, DIFFUSE.second, DIFFUSE.divergence)
_GIVEN_AT = Known(HAVE_DENSITIES.divergence.subs(tau, _SPEED * t), alpha, R, dR)
_CONSTANT = 1 / (L**2 / c + _SPEED * t)
"""c_t: the log-Sobolev constant after the map and the noise."""
_FASTEST = -_CONSTANT * 2 * sigma2 * (R / alpha + (alpha - 1) * dR)


def _rate() -> Theorem:
    """lem:post_proc, with R_α and its derivative as letters, and t for the noise."""
    time = combine(S.Zero, _SPEED * t, (_SPEED, assume(Less(S.Zero, t))))
    flows, spread = assume(_FLOWS), after_map(_spread(_RUN), contracts(ANY, L))
    mapped = use(diffusion.rate(), flows, spread, put={PAIR: _MAPPED, spread_0: L**2 / c})
    here = substitute(mapped, {tau: _SPEED * t}, time)
    divergence, slope = _known(_GIVEN_AT, {tau: _SPEED * t}, time)
    worked = kernel.work_out(Derivative(renyi_at(alpha, _SPEED * t), t))
    bound = combine(
        worked.proposition.right,  # type: ignore[attr-defined]
        _FASTEST,
        (_SPEED, here),
        (_SPEED * _CONSTANT / alpha, divergence),
        (_SPEED * _CONSTANT, given(ORDER), slope),
    )
    return apply(rate_at_most, flows, chain(worked, bound), kernel.positive(_SPEED), put={noise_2: _SPEED})


@cache
def diffusion_rate() -> Statement:
    """`lem:post_proc`: the partial differential inequality for the divergence under added Gaussian noise."""
    return Statement(
        label="lem:post_proc",
        kind="lemma",
        assumes=(
            "μ and ν satisfy a log-Sobolev inequality with constant c; the map is L-Lipschitz; R_α of the mapped laws "
            "is finite at every order, in both directions; t > 0",
        ),
        title="Rate of the divergence under additive Gaussian noise",
        where="Lemma 3.1 (proof in Appendix D.1)",
        says="Upper bound on ∂R_α/∂t while Gaussian noise is added after an L-Lipschitz map.",
        bounds=r"\frac{\partial}{\partial t} R_\alpha(p_t \Vert p_t')",
        theorem=claimed(
            RateAtMost(_MAPPED, DIFFUSE.divergence, alpha, _SPEED, t, _FASTEST),
            (ORDER,),
            (Lipschitz(ANY, L), LogSobolevConstant(_RUN, c), _FLOWS, _GIVEN_AT),
            _rate,
        ),
        hypotheses=(ORDER,),
        shown=Dot(-1 / (L**2 / c + 2 * t * sigma2), times(2, sigma2), Plus(Over(R, alpha), Dot(alpha - 1, dR))),
        uses=("lem:i_by_e_lower",),
    )


_KEPT = 1 / (1 + 2 * c * eta * sigma2 / L**2)
_BEFORE = PerOrder(_RUN, u)
_HITS = Hits(ANY.batches, start + steps, hit)
_AFTER = Piecewise((u + rho0, Eq(hit, 1)), (u * _KEPT, True))


def _with_record() -> Theorem:
    """u + ρ₀, if hit = 1."""
    is_hit = assume(Equal(hit, S.One))
    found = after_use(assume(_BEFORE), used(ANY, b, rho0, short(rho0)))
    return kernel.weaken(found, cancel(found.proposition.value, _AFTER, by=[is_hit]))


def _without_record() -> Theorem:
    """u/(1 + 2cησ²/L²), if hit = 0."""
    is_missed = assume(Equal(hit, S.Zero))
    unused = apply(not_hit, assume(_HITS), is_missed)
    found = after_shared(assume(_BEFORE), unused, _spread(_RUN), contracts(ANY, L))
    return kernel.weaken(found, cancel(found.proposition.value, _AFTER, by=[is_missed]))


def _one_step() -> Theorem:
    return kernel.each_case(apply(hit_or_not, assume(_HITS)), _with_record(), _without_record())


@cache
def one_step() -> Statement:
    """`lem:recursive`: what one noisy update does to the divergence over its order."""
    growth = Plus(1, Over(2 * c * eta * sigma2, L**2))
    return Statement(
        label="lem:recursive",
        kind="lemma",
        assumes=("both laws satisfy a log-Sobolev inequality with constant c; the update map is L-Lipschitz",),
        title="One noisy update",
        where="Lemma 3.2 (proof in Appendix D.2)",
        says="R_α/α after one update, from a bound u on R_a/a before it at every order a; what counts is order α' if "
        "the record is not in the batch (hit = 0), and α if it is (hit = 1).",
        bounds=r"\frac{R_\alpha(\theta_k^{j+1}\Vert{\theta'}_k^{j+1})}{\alpha}",
        theorem=claimed(
            PerOrder(From(ANY, start, steps + 1), _AFTER),
            (),
            (_BEFORE, LogSobolevConstant(_RUN, c), Lipschitz(ANY, L), apart(ANY, b).proposition, _HITS),
            _one_step,
        ),
        hypotheses=(),
        shown=Piecewise(
            (Plus(u, Over(eta * S_g**2, times(4, sigma2, b**2))), Eq(hit, 1)),
            (Dot(u, 1 / growth), True),
        ),
        also=((r"\alpha'", Plus(Over(alpha - 1, growth), 1)),),
        uses=("lem:post_proc",),
    )


__all__ = ["diffusion_rate", "information_lower_bound", "noise_shrinks", "one_step"]
