"""Controls: of every theorem a wrong version that Coq must refuse; numbers at which its hypotheses hold together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from sympy import Basic, Expr, Rational, Symbol

from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.proof.propositions import Abbreviation, AtMost, Either, Equal, Less, Proposition

from .facts import binders_of, ranges_of, stated
from .layout import file_name, theorem_name
from .trees import Untranslated, name_of
from .words import written

_USUAL = {
    "n": 50,
    "b": 2,
    "K": 3,
    "eta": "1/50",
    "lam": 1,
    "beta": 4,
    "sigma": 2,
    "S_g": 4,
    "alpha": 15,
    "lipschitz": 2,
}
_USUAL |= {"j0": 1, "N": 25, "m": 12, "delta": "1/100", "epsilon": 2, "L": 1, "sigma_mul": 2, "w1": "1/2"}
_OTHERS = (1, 2, Fraction(1, 2), 3, Fraction(1, 10), 10)


def wrong(proposition: Proposition) -> Proposition:
    """Half of what is bounded, or one more than what is equal."""
    if proposition.value_at is not None:
        at_least = proposition.relation == ">="
        return replace(proposition, **{proposition.value_at: proposition.value * (2 if at_least else Rational(1, 2))})
    if isinstance(proposition, Equal):
        return Equal(proposition.left, proposition.right + 1)
    if isinstance(proposition, AtMost | Less):
        return type(proposition)(proposition.left + abs(proposition.right) + 1, proposition.right)
    raise Untranslated("no wrong version")


def refusals(labels: Iterable[str]) -> str:
    """A file that compiles only if Coq takes each theorem for what its statement says, not for a wrong version."""
    lines = []
    for label in labels:
        theorem = statement(label).theorem
        binders = binders_of(theorem.proposition, *theorem.hypotheses)
        premises = [written(each) for each in theorem.hypotheses]
        word, proof = theorem_name(label), f"{file_name(label)}.{theorem_name(label)}"
        lines.append(f"Require {file_name(label)}.")
        lines.append(f"Definition right_{word} : {stated(binders, premises, written(theorem.proposition))} := {proof}.")
        claim = stated(binders, premises, written(wrong(theorem.proposition)))
        lines.append(f"Check ({claim}).\nFail Definition wrong_{word} : {claim} := {proof}.")
    return "\n".join(["Require Import Base Deriv Facts Trusted.\nImport T.", *lines, ""])


def points(labels: Iterable[str]) -> tuple[str, dict[str, str]]:
    """A file that shows numbers at which the hypotheses of every theorem hold; and for which none was found."""
    lines, missing = ["Require Import Base Deriv."], {}
    for label in labels:
        try:
            lines.append(_point(label))
        except Untranslated as why:
            missing[label] = str(why)
    return "\n".join([*lines, ""]), missing


def _point(label: str) -> str:
    theorem = statement(label).theorem
    numeric = [each for each in theorem.hypotheses if isinstance(each, Abbreviation | AtMost | Less | Equal | Either)]
    symbols = sorted(set[Symbol]().union(*(each.free_symbols for each in (*numeric, theorem.proposition))), key=name_of)
    put = _found(numeric, symbols)
    parts = [said for symbol in symbols for _, said in ranges_of(symbol)] + [written(each) for each in numeric]
    if not parts:
        return f"(* {label}: no hypotheses about numbers *)"
    names = " ".join(name_of(each) for each in symbols)
    witnesses = ", ".join(
        f"({value.p} / {value.q})" if value.q != 1 else f"{value.p}" for value in (put[s] for s in symbols)
    )
    together = " /\\ ".join(parts)
    return (
        f"Lemma point_{theorem_name(label)} : exists {names} : R, {together}.\n"
        f"Proof. exists {witnesses}. repeat split; at_numbers. Qed."
    )


def _found(numeric: Sequence[Proposition], symbols: Sequence[Symbol]) -> dict[Symbol, Rational]:
    """Numbers at which all of these hold."""
    short = {each.symbol: each.meaning for each in numeric if isinstance(each, Abbreviation)}
    free = [each for each in symbols if each not in short]
    usual = {each: Rational(str(_USUAL[each.name])) for each in free if each.name in _USUAL}
    open_ = [each for each in free if each not in usual]
    if len(open_) > 4:
        choices: Iterable[tuple[object, ...]] = [tuple(1 for _ in open_)]
    else:
        choices = product(_OTHERS, repeat=len(open_))
    for values in choices:
        put = usual | {each: Rational(str(value)) for each, value in zip(open_, values, strict=True)}
        put |= {symbol: _value(meaning, short, put) for symbol, meaning in short.items()}
        if all(_holds(each, put) for each in numeric) and all(_in_range(symbol, put[symbol]) for symbol in symbols):
            return put
    raise Untranslated("no point found")


def _value(expr: Expr, short: dict[Symbol, Expr], put: dict[Symbol, Rational]) -> Rational:
    found: Basic = expr
    while found.free_symbols & short.keys():
        found = found.subs(short)
    found = found.subs(put)
    if not isinstance(found, Rational):
        raise Untranslated(f"{expr} is not rational there")
    return found


def _in_range(symbol: Symbol, value: Rational) -> bool:
    if symbol.is_integer and not value.is_integer:
        return False
    return bool(value > 0 if symbol.is_positive else value >= 0 if symbol.is_nonnegative else True)


def _holds(said: Proposition, put: dict[Symbol, Rational]) -> bool:
    if isinstance(said, Either):
        return any(_holds(each, put) for each in said.cases)
    if isinstance(said, Abbreviation):
        return bool(said.meaning.subs(put) == put[said.symbol])
    left, right = said.left.subs(put), said.right.subs(put)  # type: ignore[attr-defined]
    if not (left.is_Rational and right.is_Rational):
        raise Untranslated("hypotheses that are not rational")
    return bool(
        left < right if isinstance(said, Less) else left <= right if isinstance(said, AtMost) else left == right
    )
