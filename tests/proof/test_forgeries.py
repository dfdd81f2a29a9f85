"""Forgeries: a false bound cannot be registered, and a false corollary is rejected whichever input it was made by.

The first ones are those that an earlier version took for proved: halved factors, wrong exponents, "obvious" slacks.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from sympy import Expr, Ge, Gt, Integer, S

from hsdp_symbolic import catalogue
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.meaning import Quantity
from hsdp_symbolic.paper import fixed_order, lsi
from hsdp_symbolic.paper.descents import FIXED_ORDER, by_contraction, losses_assumed
from hsdp_symbolic.proof import controls, kernel
from hsdp_symbolic.proof.about import verified
from hsdp_symbolic.proof.evidence import Verdict
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.kernel import Fact, Refused, Theorem, apply, assume, combine, compare, proof_of
from hsdp_symbolic.proof.propositions import (
    Abbreviation,
    AtMost,
    Equal,
    From,
    InOrder,
    Less,
    PerOrder,
    Renyi,
    ShuffledOnce,
)
from hsdp_symbolic.proof.search import claimed
from hsdp_symbolic.statement import Statement
from hsdp_symbolic.symbols import K, N, alpha, eta, j0, lam, q, rho0

PROVED: tuple[Callable[[], Statement], ...] = (
    lsi.lsi_convex,
    lsi.lsi_strongly_convex,
    fixed_order.first_epoch,
    fixed_order.convex,
    fixed_order.strongly_convex,
)


def _claims(value: Any, run: Any = FIXED_ORDER, steps: Any = K * N) -> Theorem:
    """A promise of another bound than thm:convexsmooth, with that theorem's proof."""
    return claimed(
        Renyi(From(run, Integer(0), steps), alpha, value),
        fixed_order.convex().hypotheses,
        losses_assumed(run, fixed_order.b, S.Zero),
        lambda: proof_of(fixed_order.convex().theorem),
    )


def _as_convex(theorem: Theorem, **changes: Any) -> Statement:
    """thm:convexsmooth, resting on another theorem."""
    return replace(fixed_order.convex(), theorem=theorem, **changes)


# --- What was once taken for proved ---------------------------------------------------------------------------------

FALSE_BOUNDS: dict[str, Callable[[Expr], Expr]] = {
    "K − 1 epochs taken for one": lambda true: true.subs(K - 1, 1),
    "half of it": lambda true: true / 2,
    "ρ₀ halved": lambda true: true.subs(rho0, rho0 / 2),
    "α dropped": lambda true: true / alpha,
    "N squared": lambda true: true.subs(N, N**2),
    "the record always in the first batch": lambda true: true.subs(j0, 0),
}


def true_bound() -> Expr:
    return fixed_order.convex().expr


@pytest.mark.parametrize("name", FALSE_BOUNDS)
def test_a_false_bound_is_not_what_the_proof_concludes(name: str) -> None:
    false = FALSE_BOUNDS[name](true_bound())
    assert false != true_bound()
    forged = _as_convex(_claims(false))  # a promise is cheap; it is not kept
    with pytest.raises(Refused, match="was proved"):
        verified(forged.label, forged.theorem)


def test_half_the_steps() -> None:
    with pytest.raises(Refused):
        verified("half", _as_convex(_claims(true_bound(), steps=K * N / 2)).theorem)


def test_another_way_to_make_batches() -> None:
    shuffled = replace(FIXED_ORDER, batches=ShuffledOnce(N, 1 / N))
    forged = _as_convex(_claims(true_bound(), shuffled))
    with pytest.raises(Refused):
        verified("shuffled", forged.theorem)
    with pytest.raises(TypeError, match=r"index\.py says"):
        catalogue._check("thm:convexsmooth", forged)


def test_a_contraction_squared() -> None:
    """q for q² in the exponent of the first-epoch bound."""
    honest = fixed_order.first_epoch()
    run = fixed_order.descent(InOrder(N, Integer(0)))
    forged = claimed(
        replace(honest.proposition, epsilon=honest.expr.subs(q, q**2)),  # type: ignore[call-arg]
        honest.hypotheses,
        by_contraction(run),
        lambda: proof_of(honest.theorem),
    )
    with pytest.raises(Refused, match="was proved"):
        verified(honest.label, forged)


def test_no_slack_is_obvious() -> None:
    """α − N ≥ 0 and q² − q ≥ 0 were once accepted because a sentence said so."""
    for low, high in ((N, alpha), (q, q**2)):
        with pytest.raises(Refused, match="cannot be seen"):
            combine(low, high, (high - low,))


def test_a_wrong_domain_is_no_domain() -> None:
    """α ≤ 1 was once proved through the substitution α = 1/(1 + p), which leaves out α > 1."""
    inside = kernel.combine(1 / (1 + eta), S.One, (eta / (1 + eta),))
    with pytest.raises(Refused):
        kernel.chain(kernel.cancel(alpha, 1 / (1 + eta)), inside)
    with pytest.raises(Refused):
        kernel.combine(alpha, S.One, (1 - alpha,))


# --- Further false corollaries --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PROVED, ids=lambda make: make.__name__)
def test_fifty_false_corollaries(make: Callable[[], Statement]) -> None:
    """One input of one rule changed: it refuses, or proves something else."""
    tried = list(controls.sample(make().theorem, 50, seed=17))
    assert len(tried) >= 40
    assert [what for what, check in tried if check.verify().verdict is Verdict.PROVED] == []


@pytest.mark.slow
@pytest.mark.parametrize("make", PROVED, ids=lambda make: make.__name__)
def test_no_change_goes_unnoticed(make: Callable[[], Statement]) -> None:
    assert controls.survivors(make().theorem) == []


def test_samples_are_the_same_each_time() -> None:
    theorem = lsi.lsi_convex().theorem
    first, again = ([what for what, _ in controls.sample(theorem, 20, seed=3)] for _ in range(2))
    assert first == again
    assert first != [what for what, _ in controls.sample(theorem, 20, seed=4)]


def test_an_unused_step_is_a_survivor() -> None:
    """The controls notice a premise that does nothing: a rewriting that rewrites nothing."""
    idle = kernel.rewrite(compare(Integer(0), Integer(1)), assume(Equal(eta, lam)))
    assert controls.survivors(idle)


# --- Registration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["expr", "terms", "quantity", "relation", "scheme", "proposition", "functions"])
def test_what_the_theorem_says_cannot_be_given(field: str) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword|field"):
        replace(fixed_order.convex(), **{field: None})
    with pytest.raises((FrozenInstanceError, AttributeError)):
        setattr(fixed_order.convex(), field, None)


def test_other_hypotheses_than_the_theorem_has() -> None:
    honest = fixed_order.convex()
    for relations in (honest.hypotheses[1:], (*honest.hypotheses, Gt(eta, 1)), (Ge(K, 2), *honest.hypotheses[2:])):
        with pytest.raises(TypeError, match="not those of its theorem"):
            replace(honest, hypotheses=relations)


@pytest.mark.parametrize(
    "change",
    [
        {"side": "left"},
        {"side": "title"},
        {"kind": "fact"},
        {"names_it": True},
        {"bounded": Quantity.DELTA},
        {"theorem": None},
        {"theorem": "proved"},
    ],
    ids=str,
)
def test_metadata_that_lie_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        replace(fixed_order.convex(), **change)


def test_a_bound_cannot_assume_itself() -> None:
    honest = fixed_order.convex()
    bound = PerOrder(From(FIXED_ORDER, Integer(0), K * N), Integer(0))
    at_once = kernel.promise(
        honest.proposition, (*honest.theorem.hypotheses, bound), lambda: proof_of(honest.theorem), ""
    )
    for theorem in (assume(honest.proposition), at_once):
        with pytest.raises(TypeError, match="cannot assume"):
            replace(honest, theorem=theorem)


def test_an_abbreviation_cannot_be_given_another_meaning() -> None:
    honest = fixed_order.convex()
    other = Abbreviation(q, 1 - 2 * eta * lam)
    theorem = kernel.promise(honest.proposition, (*honest.theorem.hypotheses, other), lambda: honest.theorem, "")
    with pytest.raises(TypeError, match="cannot assume"):
        replace(honest, theorem=theorem)


def test_a_fact_of_ones_own_is_not_believed() -> None:
    honest = fixed_order.convex()
    mine = Fact("mine", "Me 2024", (), honest.proposition)
    theorem = kernel.promise(
        honest.proposition, honest.theorem.hypotheses, lambda: kernel.under(apply(mine), honest.theorem.hypotheses), ""
    )
    with pytest.raises(Refused):
        verified(honest.label, replace(honest, theorem=theorem).theorem)
    assert mine not in all_facts().values()


def test_statements_have_no_subclasses() -> None:
    with pytest.raises(TypeError, match="no subclasses"):
        type("Mine", (Statement,), {"expr": property(lambda self: Integer(0))})


def test_statements_are_stored_by_their_label() -> None:
    honest = catalogue.statement("thm:convexsmooth")
    assert pickle.loads(pickle.dumps(honest)) is honest
    assert copy.copy(honest) is honest
    assert copy.deepcopy(honest) is honest
    for store in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="not the catalogue's"):
            store(replace(honest, title="Mine"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("proposition", Less(Integer(1), Integer(0))),
        ("hypotheses", ()),
        ("rule", "assume"),
        ("_proof", compare(Integer(0), Integer(1))),
        ("inputs", (("prove", lambda: compare(Integer(0), Integer(1))),)),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_tampering_with_a_theorem_is_noticed(field: str, value: object) -> None:
    made = _claims(true_bound())
    object.__setattr__(made, field, value)
    with pytest.raises((Refused, KeyError, TypeError)):
        verified("tampered", made)


def test_tampering_with_a_statement_is_noticed() -> None:
    for field, value in (
        ("theorem", compare(Integer(0), Integer(1))),
        ("hypotheses", ()),
        ("terms", None),
        ("theorem", _claims(true_bound() / 2)),
    ):
        forged = replace(fixed_order.convex(), title="Mine")
        object.__setattr__(forged, field, value)
        with pytest.raises((TypeError, Refused)):
            forged.verify()


def test_positive_sums_are_asked_for() -> None:
    """Σ_(s<i) q^s is not positive for i = 0: whoever divides by it must say that i ≥ 1."""
    assert kernel.positive(GeometricSum(q, fixed_order.i)).proposition == AtMost(
        Integer(0), GeometricSum(q, fixed_order.i)
    )
