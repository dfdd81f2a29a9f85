"""Every rule of the Python kernel as a way to a Coq lemma from the lemmas of its premises."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sympy import Basic, Lambda, Symbol

from hsdp_symbolic.proof.facts.diffusion import Converges
from hsdp_symbolic.proof.kernel import Theorem, proof_of
from hsdp_symbolic.proof.propositions import AtMost, Either, Equal, Less
from hsdp_symbolic.symbols import theta

from .equality import begin, equal, unused
from .facts import Binders, binders_of, ranges_of, split_binders, stated
from .for_all import apply, induct, substitute
from .functions import at_zero, linear, rises, under_integral, work_out
from .numbers import (
    abbreviate,
    cancelled,
    combine,
    floor_at_least,
    floor_at_most,
    greater,
    mean,
    monotone,
    next_whole,
    positive,
)
from .recursions import unfold
from .trees import Untranslated, name_of, tree_of
from .using import Lemma, Lines, Work, have, instance, provided, trees_in
from .words import written


def _assume(work: Work) -> None:
    found = provided(work, work.node.proposition)
    if found is None:
        raise Untranslated("an assumption that is missing")
    work.say(f"exact {found[1]}")


def _same(work: Work) -> None:
    premise = proof_of(work.node) if work.node.rule == "promise" else work.node.premises[0]
    work.say(f"exact {instance(work, premise)}")


def _cut(work: Work) -> None:
    theorem, *lemmas = work.node.premises
    for place, each in enumerate(lemmas):
        work.given.append((each.proposition, have(work, each, f"P{place}")))
    work.say(f"exact {instance(work, theorem)}")


def _swap(work: Work) -> None:
    work.say(f"exact (eq_sym {instance(work, work.node.premises[0])})")


def _loosen(work: Work) -> None:
    (premise,) = work.node.premises
    word = {Equal: "Req_le _ _", Less: "Rlt_le _ _", AtMost: ""}[type(premise.proposition)]
    work.say(f"exact ({word} {instance(work, premise)})")


_CHAIN = {
    (Equal, Equal): ("eq_trans", Equal),
    (Equal, AtMost): ("eq_le", AtMost),
    (Equal, Less): ("eq_lt", Less),
    (AtMost, Equal): ("le_eq", AtMost),
    (Less, Equal): ("lt_eq", Less),
    (AtMost, AtMost): ("Rle_trans _ _ _", AtMost),
    (AtMost, Less): ("Rle_lt_trans _ _ _", Less),
    (Less, AtMost): ("Rlt_le_trans _ _ _", Less),
    (Less, Less): ("Rlt_trans _ _ _", Less),
}


def _chain(work: Work) -> None:
    first, *rest = work.node.premises
    proof, kind = instance(work, first), type(first.proposition)
    for each in rest:
        word, kind = _CHAIN[kind, type(each.proposition)]
        proof = f"({word} {proof} {instance(work, each)})"
    work.say(f"exact {proof}")


def _squeeze(work: Work) -> None:
    low, high = work.node.premises
    work.say(f"exact (Rle_antisym _ _ {instance(work, low)} {instance(work, high)})")


def _rewrite(work: Work) -> None:
    theorem, equality = work.node.premises
    if not isinstance(theorem.proposition, Converges):
        work.say(f"pose proof {instance(work, equality)} as E")
    old, new = equality.proposition.left, equality.proposition.right  # type: ignore[attr-defined]
    env = {old: tree_of(new)}
    if isinstance(theorem.proposition, Converges):
        _rewrite_within(work, theorem, equality, env)
        return
    before, after = trees_in(theorem.proposition), trees_in(theorem.proposition, env)
    wanted = trees_in(work.node.proposition)
    lines = []
    for was, middle, want in zip(before, after, wanted, strict=True):
        if str(was) != str(want):
            second = equal(middle, want, work.known)
            lines.append(
                f"assert (Q{unused()} : {was} = {want}) by (transitivity {middle}; [cong | clear E; {second}])"
            )
    proof = instance(work, theorem)
    tail = f"refine (eq_ind _ (fun p : Prop => p) {proof} _ _); clear E; cong" if lines else f"exact {proof}"
    work.say("; ".join([*lines, tail]))


def _rewrite_within(work: Work, theorem: Theorem, equality: Theorem, env: Mapping[Any, Any]) -> None:
    """What is rewritten depends on the point of the space."""
    (was,), (want,) = (tree_of(each.integral).args for each in (theorem.proposition, work.node.proposition))  # type: ignore[attr-defined]
    (middle,) = tree_of(theorem.proposition.integral, env).args  # type: ignore[attr-defined]
    word = name_of(was.leaf)
    intro = f"apply functional_extensionality; intro i_c; apply functional_extensionality; intro {word}"
    proof, rest = instance(work, equality), equal(middle.args[0], want.args[0], work.known)
    steps = f"transitivity {middle.args[0]}; [pose proof {proof} as E; cong | {rest}]"
    work.say(f"assert (Q : {was} = {want}) by ({intro}; {steps})")
    work.say(f"refine (eq_ind _ (fun p : Prop => p) {instance(work, theorem)} _ _); cong")


def _weaken(work: Work) -> None:
    theorem, comparison = work.node.premises
    found = theorem.proposition
    if isinstance(comparison.proposition, Equal) and found.relation == "=":
        work.say(f"pose proof {instance(work, comparison)} as E")
        work.say(f"refine (eq_ind _ (fun p : Prop => p) {instance(work, theorem)} _ _); cong")
        return
    proof = instance(work, comparison)
    if isinstance(comparison.proposition, Equal):
        proof = f"(Req_le {'' if found.relation == '<=' else '_sym'} _ _ {proof})".replace("Req_le _sym", "Req_le_sym")
    elif isinstance(comparison.proposition, Less):
        proof = f"(Rlt_le _ _ {proof})"
    word = "at_most_weaken" if found.relation == "<=" else "at_least_weaken"
    work.say(f"exact ({word} _ _ _ {instance(work, theorem)} {proof})")


def _cases(work: Work) -> None:
    first, second = work.node.premises[:2]
    for one in first.hypotheses:
        if not isinstance(one, AtMost | Less):
            continue
        for other in (AtMost(one.right, one.left), Less(one.right, one.left)):
            if other in second.hypotheses and not (isinstance(one, Less) and isinstance(other, Less)):
                left, right = trees_in(one)
                strict = isinstance(one, Less), isinstance(other, Less)
                sub = [
                    Work(work.node, work.names, work.binders, [], list(work.given), list(work.extra), work.used)
                    for _ in "12"
                ]
                here, there = "Here", "Here"
                if strict[0]:
                    test = f"destruct (Rlt_le_dec {left} {right}) as [Here|Here]"
                elif strict[1]:
                    test = f"destruct (Rle_lt_dec {left} {right}) as [Here|Here]"
                else:
                    test = f"destruct (Rle_lt_dec {left} {right}) as [Here|Here]"
                    there = "(Rlt_le _ _ Here)"
                sub[0].given.append((one, here))
                sub[1].given.append((other, there))
                work.say(f"{test}; [exact {instance(sub[0], first)} | exact {instance(sub[1], second)}]")
                return
    raise Untranslated("two cases that are not opposite")


def _each_case(work: Work) -> None:
    either, *proofs = work.node.premises
    assert isinstance(either.proposition, Either)
    lines = []
    for place, (case, proof) in enumerate(zip(either.proposition.cases, proofs, strict=True)):
        sub = Work(work.node, work.names, work.binders, [], [*work.given, (case, "Here")], list(work.extra), work.used)
        lines.append(f"exact {instance(sub, proof)}")
        del place
    shape = "Here"
    for _ in range(len(lines) - 1):
        shape = f"[Here|{shape}]" if shape != "Here" else "[Here|Here]"
    work.say(f"destruct {instance(work, either)} as {shape}; [{' | '.join(lines)}]")


RULES: dict[str, Callable[[Work], None]] = {
    "assume": _assume,
    "promise": _same,
    "also": _same,
    "under": _same,
    "cut": _cut,
    "swap": _swap,
    "loosen": _loosen,
    "chain": _chain,
    "squeeze": _squeeze,
    "substitute": substitute,
    "rewrite": _rewrite,
    "weaken": _weaken,
    "positive": positive,
    "cancel": cancelled,
    "combine": combine,
    "abbreviate": abbreviate,
    "floor_at_least": floor_at_least,
    "floor_at_most": floor_at_most,
    "next_whole": next_whole,
    "greater": greater,
    "induct": induct,
    "unfold": unfold,
    "apply": apply,
    "cases": _cases,
    "each_case": _each_case,
    "work_out": work_out,
    "monotone": monotone,
    "under_integral": under_integral,
    "linear": linear,
    "rises": rises,
    "at_zero": at_zero,
    "mean": mean,
    "plain_mean": mean,
    "mean_at_most": mean,
}


def lemma_of(node: Theorem, name: str, names: Mapping[int, str]) -> Lemma:
    """The Coq lemma of one node, its premises having theirs."""
    if node.rule not in RULES:
        raise Untranslated(f"the rule {node.rule}")
    binders = binders_of(node.proposition, *node.hypotheses)
    statement = statement_of(node, binders)
    begin()
    work = Work(node, names, binders)
    work.given = [(each, f"H{place}") for place, each in enumerate(node.hypotheses)]
    intro = [*binders.names, *(name for name, _ in binders.ranges()), *(name for _, name in work.given)]
    passing = _passing(node, binders)
    for symbol in passing:
        work.say(_any_value(symbol))
    work.binders = replace(binders, symbols=(*binders.symbols, *passing))
    RULES[node.rule](work)
    head = f"intros {' '.join(intro)}. " if intro else ""
    proof = head + " ".join(f"{line}." if not line.endswith(".") else line for line in _joined(work.lines))
    return Lemma(name, node, binders, statement, proof, tuple(dict.fromkeys(work.used)))


def _passing(node: Theorem, binders: Binders) -> list[Symbol]:
    """Symbols that premises or inputs speak of and the conclusion does not: any value does."""
    inputs = dict(node.inputs)
    found: set[Symbol] = set()
    for each in node.premises:
        found |= set(binders_of(each.proposition, *each.hypotheses).symbols) if _speaks(each) else set()
    if node.rule in ("combine", "cancel"):
        flat = [inputs["left"], inputs["right"], *(one for term in inputs.get("terms", ()) for one in term)]
        found |= {s for each in flat if isinstance(each, Basic) for s in each.free_symbols}
    if node.rule in ("substitute", "apply"):
        values = (inputs["put"] or {}).values()
        found |= {
            s for each in values if not isinstance(each, Lambda) for s in each.free_symbols if isinstance(s, Symbol)
        }
    bound = (
        {inputs.get("symbol")}
        if node.rule == "at_zero"
        else {inputs.get("index")}
        if node.rule in ("induct", "mean", "plain_mean", "mean_at_most")
        else set()
    )
    if node.rule == "apply":
        fact = inputs["fact"]
        bound = set(fact.eigen)
        found |= set(split_binders(fact)[0].symbols)
    if binders.functions:
        bound = {*bound, theta}
    ordered = sorted(found - bound - set(binders.symbols), key=name_of)
    taken = {name_of(each) for each in binders.symbols}
    return [each for each in ordered if name_of(each) not in taken]


def _speaks(theorem: Theorem) -> bool:
    try:
        binders_of(theorem.proposition, *theorem.hypotheses)
    except Untranslated:
        return False
    return True


def _any_value(symbol: Symbol) -> str:
    word = name_of(symbol)
    ranges = [
        f"assert ({name} : {said}) by (unfold {word}; {'apply (whole_num 1)' if said.startswith('whole') else 'lra'})"
        for name, said in ranges_of(symbol)
    ]
    return "; ".join([f"pose ({word} := 1)", *ranges, f"clearbody {word}"])


def _joined(lines: Lines) -> Lines:
    """A line that begins with a bracket says what the goals of the line before are for."""
    found: Lines = []
    for line in lines:
        if line.startswith("["):
            found[-1] = f"{found[-1]}; {line}"
        else:
            found.append(line)
    return found


def statement_of(node: Theorem, binders: Binders | None = None) -> str:
    binders = binders or binders_of(node.proposition, *node.hypotheses)
    return stated(binders, [written(each) for each in node.hypotheses], written(node.proposition))
