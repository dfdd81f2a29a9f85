"""Facts: each is stated once, used, cited properly, and checked on a case where it can be computed."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module

import pytest
from sympy import Basic, Integer, Rational, S

from hsdp_symbolic.catalogue import statements
from hsdp_symbolic.lemmas import LEMMAS
from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.facts import PARTS, all_facts, regression
from hsdp_symbolic.proof.facts.clipping import clipped_convex
from hsdp_symbolic.proof.facts.definitions import before_first_use
from hsdp_symbolic.proof.facts.gaussian_laws import used_in_turn
from hsdp_symbolic.proof.facts.mixtures import one_more_place
from hsdp_symbolic.proof.facts.regression import Jacobian, Somewhere
from hsdp_symbolic.proof.kernel import Fact, Refused, Theorem, apply, assume, combine, rests_on
from hsdp_symbolic.proof.propositions import AtMost, Less, Proposition
from hsdp_symbolic.proof.witnesses import load, mutants
from hsdp_symbolic.symbols import (
    Delta_2,
    G,
    P,
    X,
    after,
    bias_1,
    clip_1,
    coefficient_1,
    coefficient_2,
    coefficient_3,
    count,
    decay_1,
    epoch,
    factor,
    features_1,
    norm_2,
    p_own,
    place,
    t_squares,
    v_1,
    w_variance,
    whole,
)

CITED = sorted(name for name, fact in all_facts().items() if not fact.is_definition)
PAPER = re.compile(r"\b(1[89]|20)\d\d\b")


def test_no_two_facts_share_a_name() -> None:
    every = [
        each
        for part in PARTS
        for each in vars(import_module(f"hsdp_symbolic.proof.facts.{part}")).values()
        if isinstance(each, Fact)
    ]
    assert {fact.name for fact in every} == set(all_facts())
    assert set(every) == set(all_facts().values())


def test_facts_are_named_as_their_variables() -> None:
    for part in PARTS:
        for name, each in vars(import_module(f"hsdp_symbolic.proof.facts.{part}")).items():
            assert not isinstance(each, Fact) or each.name == name


@pytest.mark.parametrize("name", CITED)
def test_a_cited_fact_names_a_paper(name: str) -> None:
    """Authors and a year."""
    assert PAPER.search(all_facts()[name].reference)


@pytest.mark.parametrize("name", sorted(all_facts()))
def test_a_fact_says_what_it_means(name: str) -> None:
    fact = all_facts()[name]
    assert fact.note
    assert str(fact)


@pytest.mark.parametrize("name", CITED)
def test_a_cited_fact_has_a_witness(name: str) -> None:
    """It holds where it can be computed; a version that claims too much does not."""
    fact, check = all_facts()[name], load()[name]
    assert all(check(fact))
    assert len(list(check(fact))) > 0
    wrong = [each for each in mutants(fact) if each.conclusion != fact.conclusion]
    assert all(not all(check(each)) for each in wrong)
    assert wrong or fact.conclusion.value_at is None or fact.conclusion.value == 0


@pytest.mark.slow
def test_every_fact_is_used() -> None:
    """By a statement, or by a theorem that views or sentences rely on."""
    theorems = [one for each in statements() for one in (each.theorem, *each.beside)]
    theorems += [lemma.theorem() for lemma in LEMMAS]
    used = frozenset[Fact]().union(*map(rests_on, theorems))
    assert {fact.name for fact in all_facts().values()} - {fact.name for fact in used} == set()


def test_what_is_clipped_says_nothing_of_what_is_not() -> None:
    """Where gradients are never clipped, everything follows from one that is: but not what is said of the others."""
    size = {count: Integer(3), features_1: Integer(1), bias_1: Integer(1), clip_1: Integer(10), decay_1: Integer(0)}

    def here(said: Proposition) -> Theorem:
        return assume(said.changed(lambda part: part.subs(size) if isinstance(part, Basic) else part))

    clipped, point = here(regression.BENT), here(Somewhere(regression.AT))
    longer = apply(regression.clip_is_shorter, clipped)
    squares, norm = apply(regression.squares_at_most_one, point), apply(regression.feature_norm, point)
    residual = combine(regression.RESIDUAL, Integer(2), (S.One, squares), (2 * p_own,))
    shorter = combine(regression.RESIDUAL * norm_2, Integer(4), (Integer(2), norm), (norm_2, residual))
    never = kernel.chain(longer, shorter)
    assert never.proposition == Less(Integer(100), Integer(4))
    loss = Delta_2 + norm_2 * t_squares
    wrong = combine(S.Zero, 2 * w_variance - loss, (never, (loss + w_variance**2 + 1) / 96), ((w_variance + 1) ** 2,))
    change = regression.BENT_CHANGE + Delta_2
    gain = 2 * regression.BENT_PRODUCT
    vacuous = combine(
        S.Zero, gain - change, (never, (change + gain**2 + 1) / 96), ((gain + S.Half) ** 2,), (Rational(3, 4),)
    )
    direction = here(Jacobian(regression.GRADIENT, X, P, G))
    coefficients = {coefficient_1: Integer(-1), coefficient_2: Integer(2), coefficient_3: Integer(-1)}
    premises = [direction, *map(kernel.loosen, (wrong, vacuous))]
    with pytest.raises(Refused, match="restricts"):
        apply(regression.clipped_or_not, *premises, put=coefficients)
    every = tuple({each for part in regression.clipped_or_not.under_each for each in part})
    careless = replace(regression.clipped_or_not, under=every, under_each=())
    assert apply(careless, *premises, put=coefficients).hypotheses == (direction.proposition,)


def test_a_range_does_not_follow_from_what_a_premise_may_assume() -> None:
    """An assumption on symbols of which there are none proves anything, also of a value that is put somewhere."""
    impossible = AtMost(S.One, v_1), AtMost(v_1, S.Zero)
    mine = Fact("mine", "", impossible[:1], AtMost(S.Zero, place), "nothing", eigen=(v_1,), under=impossible)
    above, below = map(assume, impossible)
    absurd = combine(S.Zero, Integer(-1), (S.One, above), (S.One, below))
    with pytest.raises(Refused, match="place >= 0"):
        apply(mine, above, put={place: Integer(-1)}, ranges=[absurd])


def test_no_step_is_before_the_first() -> None:
    """The record in batch 1 of 3: step −2 would be used, in the epoch before the first, and would be before any use."""
    last = combine(S.One, Integer(2), (S.One,))
    with pytest.raises(Refused, match="epoch >= 0"):
        apply(used_in_turn, kernel.loosen(last), put={count: Integer(3), place: S.One, epoch: Integer(-1)})
    early = kernel.loosen(combine(Integer(-1), S.One, (Integer(2),)))
    with pytest.raises(Refused, match="after >= 0"):
        apply(before_first_use, early, kernel.loosen(last), put={count: Integer(3), place: S.One, after: Integer(-2)})


def test_a_loss_is_not_smooth_with_a_negative_constant() -> None:
    """A record without features has no two points to speak of, so that of these anything can be proved."""
    asked = clipped_convex.premises[-1]
    assert asked == AtMost(S.Zero, factor)
    assert not asked.free_symbols & set(clipped_convex.eigen)


def test_the_last_places_are_among_all() -> None:
    assert AtMost(whole + 1, count) in one_more_place.premises
