"""`Facts.v`: what a proof may be about, and every cited fact as a field of a module type, under its own name."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sympy import Derivative, S, Symbol
from sympy.core.function import UndefinedFunction

from hsdp_symbolic.meaning import Neighbouring
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.integrals import Coordinatewise
from hsdp_symbolic.proof.kernel import Fact
from hsdp_symbolic.proof.propositions import Anything, Batches, Less, Proposition, Term
from hsdp_symbolic.symbols import theta

from .trees import POSITIVE, SPACE, TAKEN_POSITIVE, Untranslated, is_spatial, name_of
from .words import (
    _LOGICAL,
    anythings,
    constructor,
    kind_premise,
    kinds_of_terms,
    others,
    sort_of_field,
    symbols_in,
    terms,
    unknown_functions,
    variable_for,
    written,
)


@dataclass(frozen=True)
class Binders:
    """What a theorem in Coq is about: terms, numbers, and what is known of each."""

    anything: tuple[tuple[Anything, str], ...]
    symbols: tuple[Symbol, ...]
    functions: tuple[UndefinedFunction, ...] = ()
    place: tuple[str, ...] = ()
    """The coordinate, and the point, that are spoken of."""

    @property
    def names(self) -> list[str]:
        found = [variable_for(each) for each, _ in self.anything] + [name_of(each) for each in self.functions]
        return [*found, *self.place, *(name_of(each) for each in self.symbols)]

    @property
    def declared(self) -> str:
        """For `forall`."""
        sorts = [f"({variable_for(each)} : {sort})" for each, sort in self.anything]
        sorts += [f"({name_of(each)} : {_KIND[name_of(each)]})" for each in self.functions]
        sorts += [f"({each} : {'coordinate' if each == 'i_c' else 'point'})" for each in self.place]
        numbers = " ".join(name_of(each) for each in self.symbols)
        return " ".join([*sorts, *([f"({numbers} : R)"] if numbers else [])])

    def ranges(self) -> list[tuple[str, str]]:
        """Name and statement of what is known of them."""
        found = [(f"{variable_for(each)}_kind", f"{kind} {variable_for(each)}") for each, kind in self._kinds()]
        for function in self.functions:
            found += ranges_of_function(name_of(function))
        for symbol in self.symbols:
            found += ranges_of(symbol)
        return found

    def _kinds(self) -> list[tuple[Anything, str]]:
        return [(each, kind) for each, _ in self.anything if (kind := kind_premise(each))]


_KIND = {
    "p_at": "point -> R -> R",
    "p_prime_at": "point -> R -> R",
    "ratio_at": "point -> R",
    "renyi_at": "R -> R -> R",
}
_KIND |= dict.fromkeys(("factor_at", "jump_at", "shift_at", "away_at", "price_at", "variance_at"), "R -> R")
"""Unknown functions, each with its type."""


def ranges_of_function(word: str) -> list[tuple[str, str]]:
    """What is known of an unknown function."""
    if word in ("p_at", "p_prime_at"):
        return [(f"{word}_pos", f"(forall x s, 0 < {word} x s)"), (f"{word}_smooth", f"smooth_density {word}")]
    if word == "ratio_at":
        return [(f"{word}_pos", f"(forall x, 0 < {word} x)"), (f"{word}_smooth", f"smooth_ratio {word}")]
    if word == "renyi_at":
        return [(f"{word}_smooth", f"smooth_divergence {word}")]
    return [
        (f"{word}_{'pos' if word in POSITIVE else 'nn'}", f"(forall t, 0 {'<' if word in POSITIVE else '<='} {word} t)")
    ]


def ranges_of(symbol: Symbol) -> list[tuple[str, str]]:
    word = name_of(symbol)
    found = []
    if symbol.is_positive:
        found.append((f"{word}_pos", f"0 < {word}"))
    elif symbol.is_nonnegative:
        found.append((f"{word}_nn", f"0 <= {word}"))
    if symbol.is_integer:
        found.append((f"{word}_wh", f"whole {word}"))
    return found


def binders_of(*parts: Term) -> Binders:
    """What propositions are about, in a fixed order."""
    found: dict[Anything, str] = {}
    symbols: set[Symbol] = set()
    functions: dict[str, UndefinedFunction] = {}
    coordinate = False
    for part in parts:
        for each in unknown_functions(part):
            if name_of(each) not in _KIND:
                raise Untranslated(f"the unknown function {each}")
            functions[name_of(each)] = each
        found |= anythings(part)
        symbols |= symbols_in(part)
        coordinate = coordinate or _names_coordinate(part)
    ordered = sorted(found.items(), key=lambda each: variable_for(each[0]))
    by_name = sorted(symbols, key=lambda each: (name_of(each), getattr(each, "dummy_index", 0)))
    if len({name_of(each) for each in by_name}) < len(by_name):
        raise Untranslated("two symbols of one name")
    is_space = any(name in SPACE for name in functions)
    place = ("i_c",) * coordinate + ("theta",) * (is_space and theta in symbols)
    numbers = tuple(each for each in by_name if not (is_space and each == theta))
    return Binders(tuple(ordered), numbers, tuple(functions[name] for name in sorted(functions)), place)


def _names_coordinate(part: Term) -> bool:
    """Whether it differentiates by a coordinate outside an integral."""
    for each in part.expressions():
        outside = each.replace(Coordinatewise, lambda *_: S.Zero) if each.has(Coordinatewise) else each
        if any(theta in node.variables and is_spatial(node.expr) for node in outside.atoms(Derivative)):
            return True
    return False


def stated(binders: Binders, premises: list[str], conclusion: str) -> str:
    every = f"forall {binders.declared}, " if binders.declared else ""
    arrows = [*(statement for _, statement in binders.ranges()), *premises]
    return every + "".join(f"{each} -> " for each in arrows) + conclusion


def split_binders(fact: Fact) -> tuple[Binders, Binders]:
    """What a fact is about, and what its premises hold for all of."""
    parts = (*fact.premises, fact.conclusion, *(each for under in fact.assumable() for each in under))
    everything = binders_of(*parts)
    outer = tuple(each for each in everything.symbols if each not in fact.eigen)
    inner = tuple(each for each in everything.symbols if each in fact.eigen)
    own = tuple(each for each in everything.functions if each not in fact.eigen)
    eigen = tuple(each for each in everything.functions if each in fact.eigen)
    return Binders(everything.anything, outer, own, everything.place), Binders((), inner, eigen)


def is_general(fact: Fact, premise: Proposition, under: tuple[Proposition, ...] = ()) -> bool:
    """Whether a premise must hold for all of what the fact's premises may be asked of, or may assume something."""
    if not fact.eigen:
        return bool(under)
    return bool(set(fact.eigen) & (symbols_in(premise) | unknown_functions(premise)))


def fact_statement(fact: Fact) -> str:
    """A fact in Coq."""
    outer, inner = split_binders(fact)
    premises = []
    TAKEN_POSITIVE.clear()
    TAKEN_POSITIVE.update(each.right for each in fact.premises if isinstance(each, Less) and each.left == 0)
    for premise, under in zip(fact.premises, fact.assumable(), strict=True):
        if is_general(fact, premise, under):
            premises.append("(" + stated(inner, [written(each) for each in under], written(premise)) + ")")
        else:
            premises.append(written(premise))
    found = stated(outer, premises, written(fact.conclusion))
    TAKEN_POSITIVE.clear()
    return found


def _inductive() -> str:
    names = " | ".join(f"neighbouring_{each.name}" for each in Neighbouring)
    lines = [f"Inductive neighbouring : Set := {names}."]
    for sort, kinds in {**terms(), "thing": tuple(others().values())}.items():
        lines.append(f"Inductive {sort} : Set :=")
        for kind in kinds:
            try:
                sorts = [f" ({field.name}_ : {sort_of_field(kind, field.name)})" for field in fields(kind)]
            except Untranslated as why:
                lines.append(f"(* not translated: {why} *)")
                continue
            lines.append(f"  | {constructor(kind)}{''.join(sorts)}")
        lines[-1] += "."
    for word, chosen in (("given", "are_given"), ("fresh", "are_fresh")):
        cases = []
        for kind in terms()["batches"]:
            if getattr(kind, chosen) or (word == "fresh" and kind.are_given):  # type: ignore[attr-defined]
                cases.append(f"  | {constructor(kind)}{' _' * len(fields(kind))} => True")
        lines += [f"Definition {word} (b : batches) : Prop := match b with", *cases, "  | _ => False end."]
    lines.append("Lemma given_fresh b : given b -> fresh b. Proof. destruct b; simpl; tauto. Qed.")
    lines.append("Ltac kind := first [assumption | exact I | apply given_fresh; assumption].")
    lines.append("Definition default_batches : batches := mk_NeverUsed.")
    lines.append("Definition default_descent : descent := mk_Descent mk_NeverUsed 1 neighbouring_REPLACE_ONE.")
    lines.append("Definition default_laws : laws := mk_From default_descent 0 0.")
    lines.append("Definition default_thing : thing := mk_ConvexRecords 1.")
    return "\n".join(lines)


def predicates() -> dict[str, type[Proposition]]:
    found = {}
    for kind in kinds_of_terms():
        if issubclass(kind, Proposition) and kind not in (Proposition, *_LOGICAL):
            found[kind.__name__] = kind
    return dict(sorted(found.items()))


def _predicate(kind: type[Proposition]) -> list[str]:
    sorts = [(field.name, sort_of_field(kind, field.name)) for field in fields(kind)]
    word, arrows = kind.__name__, "".join(f"{sort} -> " for _, sort in sorts)
    if kind.value_at is None or kind.relation == "=":
        return [f"Parameter {word} : {arrows}Prop."]
    at = "at_most" if kind.relation == "<=" else "at_least"
    variables = " ".join(f"({name}_ : {sort})" for name, sort in sorts)
    applied = " ".join("v" if name == kind.value_at else f"{name}_" for name, _ in sorts)
    return [
        f"Parameter {word}_by : {arrows}Prop.",
        f"Definition {word} {variables} : Prop := {at} (fun v => {word}_by {applied}) {kind.value_at}_.",
    ]


def facts_file() -> tuple[str, dict[str, str]]:
    """The file, and the facts that are not in it, each with the reason."""
    vocabulary, left_out = [], {}
    for word, kind in predicates().items():
        try:
            vocabulary += _predicate(kind)
        except Untranslated as why:
            left_out[word] = str(why)
    axioms = []
    for name, fact in all_facts().items():
        unspeakable = {type(each).__name__ for each in (*fact.premises, fact.conclusion)} & left_out.keys()
        try:
            if unspeakable:
                raise Untranslated(", ".join(sorted(unspeakable)))
            axioms.append(f"Axiom {name} : {fact_statement(fact)}.")
        except Untranslated as why:
            left_out[name] = str(why)
    text = f"""(* Generated. What proofs are about, and the cited facts, one field for each, under its own name. *)
Require Import Base Deriv.
{_inductive()}

Module Type FACTS.
Parameter uses : R -> R -> nat.
Parameter everywhere : integral point.
Parameter coordinatewise : integral2.
{chr(10).join(vocabulary)}

{chr(10).join(axioms)}
End FACTS.
"""
    return text, left_out


__all__ = ["Batches", "Binders", "binders_of", "fact_statement", "facts_file", "split_binders", "stated"]
