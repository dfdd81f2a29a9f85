"""Rules for hypotheses and definitions: assume, add, discharge, distinguish cases."""

from __future__ import annotations

from sympy import Symbol

from ...symbols import ABBREVIATIONS
from ..propositions import Abbreviation, AtMost, Either, Equal, Less, Proposition
from .defined import is_number, require_defined, signs_of
from .theorem import Concluded, Refused, Theorem, require, rule, union
from .values import in_range


@rule
def assume(proposition: Proposition) -> Concluded:
    """p ⊢ p."""
    require(not isinstance(proposition, Abbreviation), "a definition is made by `abbreviate`, not assumed")
    return Concluded(proposition, (proposition,))


@rule
def under(theorem: Theorem, hypotheses: tuple[Proposition, ...]) -> Concluded:
    """The same under these hypotheses, in this order: all it has, and perhaps more."""
    missing = [each for each in theorem.hypotheses if each not in hypotheses]
    require(not missing, "it also rests on: {}", "; ".join(map(str, missing)))
    added = [each for each in hypotheses if isinstance(each, Abbreviation) and each not in theorem.hypotheses]
    require(not added, "definitions are made by `abbreviate`: {}", "; ".join(map(str, added)))
    return Concluded(theorem.proposition, hypotheses)


@rule
def also(theorem: Theorem, *others: Theorem) -> Concluded:
    """The same, under the hypotheses of the others too."""
    return Concluded(theorem.proposition)


@rule
def cut(theorem: Theorem, *lemmas: Theorem) -> Concluded:
    """Without the hypotheses that the lemmas prove; what these rest on comes in their place. a < b proves a ≤ b.

    a = b proves that a is short for b, which says no more; so a definition goes once a value was put for its symbol.
    """
    kept = list(theorem.hypotheses)
    for lemma in lemmas:
        found = lemma.proposition
        proved = [found, AtMost(found.left, found.right)] if isinstance(found, Less) else [found]
        if isinstance(found, Equal):
            proved.append(Abbreviation(found.left, found.right))
        require(any(each in theorem.hypotheses for each in proved), "not among the hypotheses: {}", found)
        kept = [each for each in kept if each not in proved]
    return Concluded(theorem.proposition, union([kept, *(each.hypotheses for each in lemmas)]))


@rule
def abbreviate(symbol: Symbol, *ranges: Theorem) -> Concluded:
    """symbol = what it abbreviates, once that was proved to lie in the symbol's range."""
    require(symbol in ABBREVIATIONS, "{} abbreviates nothing", symbol)
    meaning = ABBREVIATIONS[symbol]
    in_range(symbol, meaning, ranges)
    definition = Abbreviation(symbol, meaning)
    return Concluded(Equal(symbol, meaning), union([(definition,), *(each.hypotheses for each in ranges)]))


@rule
def cases(first: Theorem, second: Theorem, *ranges: Theorem) -> Concluded:
    """p, from proofs under a ≤ b and under b ≤ a (or b < a), for real a and b whose divisors are not 0.

    That is seen, or the theorems say so.
    """
    require(first.proposition == second.proposition, "the two cases prove different things")
    for one in first.hypotheses:
        if isinstance(one, AtMost | Less):
            for other in (AtMost(one.right, one.left), Less(one.right, one.left)):
                if other in second.hypotheses and not (isinstance(one, Less) and isinstance(other, Less)):
                    require_defined([one.left, one.right], *ranges)
                    for side in (one.left, one.right):
                        is_real = is_number(side, **signs_of(ranges))
                        require(is_real, "{} need not be real: there may be a third case", side)
                    used = (each.hypotheses for each in ranges)
                    rest = union([_without(first, one), _without(second, other), *used])
                    return Concluded(first.proposition, rest)
    raise Refused("no hypothesis of one is the opposite of a hypothesis of the other")


@rule
def each_case(either: Theorem, *proofs: Theorem) -> Concluded:
    """p, from one of several things and a proof of p under each of them."""
    require(isinstance(either.proposition, Either), "the first theorem is no choice")
    conclusions = {each.proposition for each in proofs}
    require(len(conclusions) == 1, "the cases prove different things")
    (conclusion,) = conclusions
    hypotheses = [either.hypotheses]
    wanted = either.proposition.cases  # type: ignore[attr-defined]
    require(len(wanted) == len(proofs), "there must be one proof for each case")
    for case, proof in zip(wanted, proofs, strict=True):
        require(case in proof.hypotheses, "no proof under {}", case)
        hypotheses.append(_without(proof, case))
    return Concluded(conclusion, union(hypotheses))


def _without(theorem: Theorem, hypothesis: Proposition) -> tuple[Proposition, ...]:
    return tuple(each for each in theorem.hypotheses if each != hypothesis)
