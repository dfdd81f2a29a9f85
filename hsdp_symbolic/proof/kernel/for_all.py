"""Rules for all: other values, induction, facts, larger bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sympy import Basic, Expr, Integer, Symbol
from sympy.core.function import AppliedUndef

from ..propositions import Anything, AtMost, Equal, Proposition, Term
from .defined import falling
from .theorem import Concluded, Fact, Refused, Theorem, left_of, require, right_of, rule, union
from .values import check_put, free_in, has_plain_range, in_range, refuse_capture, replacer, unrestricted


@rule
def substitute(theorem: Theorem, put: Mapping[Any, Any], *ranges: Theorem) -> Concluded:
    """The same with other values for symbols, terms or unknown functions; values lie in the symbols' ranges.

    That is seen, or the theorems say so. A function is replaced by a `Lambda` whose values are seen to lie in its
    range; its variables are its own, and where it is differentiated it is smooth.
    """
    check_put(put, ranges)
    for where in (theorem.proposition, *theorem.hypotheses):
        touched = put.keys() | free_in(each for each in put.values() if isinstance(each, Basic))
        require(falling(where).isdisjoint(touched), "{}: the symbol that falls stays as it is", where)
        for part in where.expressions():
            refuse_capture(part, put)
    change = replacer(put)
    hypotheses = [each.changed(change) for each in theorem.hypotheses]
    return Concluded(theorem.proposition.changed(change), union([hypotheses, *(each.hypotheses for each in ranges)]))


@rule
def induct(
    index: Symbol,
    start: int,
    base: Theorem,
    step: Theorem,
    upper: Expr | None = None,
    others: Sequence[Mapping[Symbol, Expr]] = (),
) -> Concluded:
    """P for every index ≥ start (and ≤ upper), from P at the start and P(index) ⊢ P(index + 1).

    The step may also assume start ≤ index and index + 1 ≤ upper; and P(index) for other values of symbols on which
    nothing else depends, since base and step then hold for all their values: `others` say which.
    """
    require(bool(index.is_integer and index.is_nonnegative), "{} does not count", index)
    require(
        has_plain_range(index) and start >= (1 if index.is_positive else 0), "{} starts later than {}", index, start
    )
    claim = _claimed(step, index)
    for part in claim.expressions():
        refuse_capture(part, {index: index + 1}, *others)
    at_start = claim.changed(lambda part: part.subs(index, start) if isinstance(part, Basic) else part)
    require(base.proposition == at_start, "the base is {}, not {}", base.proposition, at_start)
    discharged: list[Proposition] = [claim]
    kept: list[Proposition] = []
    lowest = AtMost(Integer(start), index)
    discharged.append(lowest)
    if start > 0:
        kept.append(lowest)
    if upper is not None:
        require(index not in upper.free_symbols, "{} depends on {}", upper, index)
        discharged.append(AtMost(index + 1, upper))
        kept.append(AtMost(index, upper))
    for put in others:
        for symbol, value in put.items():
            require(symbol != index and index not in value.free_symbols, "{}: not another case of the claim", value)
            in_range(symbol, value, ())
        discharged.append(claim.changed(replacer(put)))
    rest = [each for each in step.hypotheses if each not in discharged]
    for each in (*rest, *base.hypotheses, *kept[start > 0 :]):
        fixed = {symbol for put in others for symbol in put} & each.free_symbols
        require(not fixed, "{} restricts {}", each, fixed)
    for each in (*rest, *base.hypotheses):
        require(index not in each.free_symbols, "{} restricts {}", each, index)
    return Concluded(claim, union([kept, base.hypotheses, rest]))


def _claimed(step: Theorem, index: Symbol) -> Proposition:
    """The hypothesis of an induction step whose successor is its conclusion."""
    for each in step.hypotheses:
        later = each.changed(lambda part: part.subs(index, index + 1) if isinstance(part, Basic) else part)
        if later == step.proposition and index in each.free_symbols:
            return each
    raise Refused(f"no hypothesis of the step becomes its conclusion, {step.proposition}, for {index} + 1")


@rule
def weaken(theorem: Theorem, comparison: Theorem) -> Concluded:
    """A larger upper bound (or a smaller lower bound) than the one a theorem gives."""
    found = theorem.proposition
    require(found.value_at is not None, "{} bounds nothing", found)
    exact = isinstance(comparison.proposition, Equal)
    ends = (left_of(comparison), right_of(comparison))
    old, new = ends if exact or found.relation == "<=" else ends[::-1]
    require(found.relation != "=" or exact, "an exact value cannot be weakened")
    require(found.value == old, "the bound is {}, not {}", found.value, old)
    return Concluded(replace(found, **{found.value_at: new}))  # type: ignore[arg-type]


@rule
def apply(
    fact: Fact, *premises: Theorem, put: Mapping[Any, Any] | None = None, ranges: Sequence[Theorem] = ()
) -> Concluded:
    """What a fact concludes from its premises; `put` says what stands for what the premises leave open.

    Values lie in the ranges of the symbols they stand for, as is seen or as premises or `ranges` say. What a fact lets
    its premises assume (`under`, or `under_each` of its own) may be assumed where `eigen` is spoken of.
    """
    require(len(premises) == len(fact.premises), "{} has {} premises", fact.name, len(fact.premises))
    binding: dict[Any, Any] = dict(put or {})
    require(binding.keys().isdisjoint(fact.eigen), "{} must hold for all {}: put nothing there", fact.name, fact.eigen)
    for template, premise in zip(fact.premises, premises, strict=True):
        _match(template, premise.proposition, binding, fact)
    check_put(binding, (*premises, *ranges), fact.eigen)
    usable = unrestricted((*premises, *ranges), binding, fact.eigen)
    allowed = fact.assumable()
    spoken_of = (*fact.premises, *union(allowed), fact.conclusion)
    for part in (each for where in spoken_of for each in where.expressions()):
        refuse_capture(part, binding, ranges=usable)
    change = replacer(binding)
    for template, premise in zip(fact.premises, premises, strict=True):
        wanted = template.changed(change)
        require(premise.proposition == wanted, "{} asks for: {}; given: {}", fact.name, wanted, premise.proposition)
    assumed = [each.changed(change) for each in fact.under]
    used = [tuple(each for each in one.hypotheses if not (fact.eigen and each in assumed)) for one in ranges]
    for template, premise, under in zip(fact.premises, premises, allowed, strict=True):
        general = not fact.eigen or not _mentioned(template).isdisjoint(fact.eigen)
        assumed = [each.changed(change) for each in under]
        used.append(tuple(each for each in premise.hypotheses if not (general and each in assumed)))
    hypotheses = union(used)
    conclusion = fact.conclusion.changed(change)
    for each in (*hypotheses, conclusion):
        require(_mentioned(each).isdisjoint(fact.eigen), "{}: {} restricts {}", fact.name, each, fact.eigen)
    return Concluded(conclusion, hypotheses, facts=frozenset([fact]))


def _mentioned(proposition: Proposition) -> set[Any]:
    """The symbols and unknown functions in a proposition."""
    unknown = {node.func for part in proposition.expressions() for node in part.atoms(AppliedUndef)}
    return proposition.free_symbols | unknown


def _match(template: object, given: object, binding: dict[Any, Any], fact: Fact) -> None:
    """Bind what stands alone in a field of the template to what stands there in what is given."""
    if isinstance(template, Anything | Symbol):
        if template not in fact.eigen:
            binding.setdefault(template, given)
    elif isinstance(template, Term):
        require(type(template) is type(given), "{} asks for: {}; given: {}", fact.name, template, given)
        for mine, theirs in zip(template.parts(), given.parts(), strict=True):  # type: ignore[attr-defined]
            _match(mine, theirs, binding, fact)
