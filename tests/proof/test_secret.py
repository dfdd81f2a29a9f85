"""Secret hits: what the rules refuse, the other order of releases above all."""

from __future__ import annotations

import pytest
from sympy import Integer, Rational, S

from hsdp_symbolic.paper.descents import NOISE, contracts
from hsdp_symbolic.paper.draws import CHANCE
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.facts.epochs import drawn_each_time
from hsdp_symbolic.proof.facts.secret import (
    AfterHit,
    AnyApart,
    WillMeet,
    any_size,
    from_the_start,
    one_more_told,
    release_drift,
    release_hit,
    release_last,
)
from hsdp_symbolic.proof.kernel import Refused, Theorem, apply, assume, combine
from hsdp_symbolic.proof.propositions import Apart, AtMost, Lipschitz
from hsdp_symbolic.sharper.secret import drawn_profile
from hsdp_symbolic.sharper.secret_steps import DRAWN, PARTS, REACH, some_weight
from hsdp_symbolic.symbols import (
    b,
    cost_2,
    distance,
    k,
    most_1,
    noise_1,
    portion,
    q,
    rate,
    share,
    share_1,
    window,
    window_1,
)

PUT = {share_1: share, distance: REACH, window_1: window}


def _signs() -> tuple[Theorem, Theorem]:
    return kernel.loosen(kernel.positive(q)), kernel.positive(NOISE)


def _sized() -> Theorem:
    return apply(any_size, contracts(DRAWN, q), put={most_1: b})


def _independent() -> Theorem:
    return apply(drawn_each_time, put={rate: CHANCE, noise_1: NOISE})


def test_the_drift_is_not_released_before_the_hit() -> None:
    """After the drift of a step comes, towards its beginning, its hit: there is no rule that swaps them."""
    met, hidden = assume(WillMeet(DRAWN, k, PARTS, b, S.One)), assume(AfterHit(DRAWN, k, PARTS, b, S.One))
    apart = assume(AnyApart(DRAWN, REACH))
    assert isinstance(apply(release_hit, apart, _independent(), _signs()[1], hidden).proposition, WillMeet)
    with pytest.raises(Refused):
        apply(release_hit, apart, _independent(), _signs()[1], met)
    nothing = kernel.loosen(combine(S.Zero, S.Zero))
    free = [nothing, kernel.loosen(combine(S.Zero, S.One, (S.One,))), nothing]
    enough = assume(AtMost(S.Zero, S.Zero))
    put = {**PUT, portion: Integer(0), cost_2: Integer(0)}
    found = apply(release_drift, _sized(), *_signs(), *free, enough, met, put=put)
    assert isinstance(found.proposition, AfterHit)
    with pytest.raises(Refused):
        apply(release_drift, _sized(), *_signs(), *free, enough, hidden, put=put)


def test_a_drift_has_only_the_noise_that_is_left() -> None:
    with pytest.raises(Refused):
        apply(release_last, _sized(), *_signs(), assume(AtMost(q**2, NOISE)), put={**PUT, cost_2: S.One})


@pytest.mark.parametrize("moved", [Rational(-1, 2), Rational(3, 2)])
def test_a_portion_lies_between_0_and_1(moved: Rational) -> None:
    met = assume(WillMeet(DRAWN, k, PARTS, b, S.One))
    limits = assume(AtMost(S.Zero, moved)), assume(AtMost(moved, S.One))
    free, put = assume(AtMost(S.Zero, S.Zero)), {**PUT, portion: moved, cost_2: Integer(0)}
    with pytest.raises(Refused):
        apply(release_drift, _sized(), *_signs(), *limits, free, free, met, put=put)


def test_the_differing_pair_alone_is_not_enough() -> None:
    """S_g known for the two records only in which the datasets differ (label privacy): there is no rule for it."""
    hidden = assume(AfterHit(DRAWN, k, PARTS, b, S.One))
    with pytest.raises(Refused):
        apply(release_hit, assume(Apart(DRAWN, REACH)), _independent(), _signs()[1], hidden)


def test_some_noise_must_be_left_for_the_drift() -> None:
    assert [str(each) for each in some_weight().hypotheses] == ["1 ≤ k", "share < 1"]


@pytest.mark.parametrize("fact", [release_last, release_drift, release_hit, one_more_told, from_the_start])
def test_every_premise_is_asked_for(fact: kernel.Fact) -> None:
    with pytest.raises(Refused, match="premises"):
        apply(fact, *map(assume, fact.premises[:-1]))


def test_what_the_proof_assumes() -> None:
    """Lipschitz updates and all pairs of records; no convexity, no smoothness."""
    assumed = {type(each) for each in drawn_profile().hypotheses if each.assumable}
    assert assumed == {Lipschitz, AnyApart}
