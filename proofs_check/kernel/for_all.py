"""Rules for all: other values, induction, facts."""

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Integer, Lambda, Symbol

from hsdp_symbolic.proof.kernel import Theorem
from hsdp_symbolic.proof.kernel.values import replacer
from hsdp_symbolic.proof.propositions import Anything, AtMost, Less, Proposition, Term

from .derivatives import Line, derive
from .facts import Binders, binders_of, is_general, ranges_of, ranges_of_function, split_binders
from .trees import TAKEN_POSITIVE, XI, Tree, Untranslated, name_of, number, proof_of_sign, tree_of, variable
from .using import Work, conclude, conversion, environment, have, in_range, instance, note_sign, paired, ranged, turned
from .words import kind_premise, variable_for, written


def substitute(work: Work) -> None:
    inputs = work.inputs()
    theorem, put = inputs["theorem"], dict(inputs["put"])
    ranges = ranged(work, inputs["ranges"])
    env = environment(put)
    mine = {*work.binders.symbols, *work.bound}
    for symbol in binders_of(theorem.proposition, *theorem.hypotheses).symbols:
        if symbol not in mine:
            env.setdefault(symbol, number(1))
    proof = instance(work, theorem, put, ranges, env)
    conclude(work, theorem.proposition, env, proof)


def induct(work: Work) -> None:
    inputs = work.inputs()
    index, start, base, step, upper = (inputs[key] for key in ("index", "start", "base", "step", "upper"))
    if inputs["others"]:
        raise Untranslated("an induction over several values")
    claim = work.node.proposition
    word = name_of(index)
    limit = None if upper is None else AtMost(index, upper)
    low = AtMost(Integer(start), index)

    def at(tree: Tree) -> str:
        return written(claim, {index: tree})

    i = Tree("text", (), "i")
    before = [(each, name) for each, name in work.given if each not in (low, limit)]
    premise = "" if limit is None else f"{written(limit, {index: i})} -> "
    work.say(f"cut (forall i, whole i -> {start} <= i -> {premise}{at(i)})")
    low_proof = next((name for each, name in work.given if each == low), None)
    sign = f"{word}_nn" if not index.is_positive else f"(Rlt_le _ _ {word}_pos)"
    if start > 0 and low_proof is None:
        raise Untranslated("an induction that starts nowhere")
    lower = low_proof or sign
    limit_proof = "" if limit is None else " " + next(name for each, name in work.given if each == limit)
    work.say(f"[intros every; exact (every {word} {word}_wh {lower}{limit_proof})|]")
    clear = [each for each, _ in ranges_of(index)]
    clear += [name for each, name in work.given if index in each.free_symbols]
    work.say(f"clear {' '.join(reversed(clear))}; clear {word}")
    inner = Work(work.node, work.names, work.binders, [], list(before), list(work.extra), work.used)
    inner.bound = frozenset([index])
    base_env = {index: number(start)}
    pairs = turned(paired(claim, base_env, base.proposition))
    first = ("" if limit is None else "intros _; ") + conversion(inner, pairs, instance(inner, base))
    inner.given += [(claim, "IH"), (low, "least")]
    if limit is not None:
        inner.given.append((AtMost(index + 1, upper), "most"))
    ranges = [f"{word}_wh", "least"]
    intro = f"intros {word} {word}_wh least IH"
    if limit is not None:
        intro += "0 most"
    if index.is_positive:
        intro += f"; assert ({word}_pos : 0 < {word}) by lra"
    elif index.is_nonnegative:
        intro += f"; assert ({word}_nn : 0 <= {word}) by lra"
    if limit is not None:
        upper_tree = tree_of(upper)
        add = tree_of(index + 1)
        intro += f"; assert (IH : {written(claim)}) by (apply IH0; lra)"
        del upper_tree, add
    succ = {index: Tree("add", (variable(index), number(1)))}
    pairs = turned(paired(claim, succ, step.proposition))
    if limit is not None:  # the limit as it is written may differ from i + 1 <= upper by arithmetic
        have_limit, want_limit = written(AtMost(index + 1, upper), succ if False else {}), ""
        del have_limit, want_limit
        intro += f"; assert (most1 : {written(AtMost(index + 1, upper))}) by lra"
        inner.given = [(each, "most1" if name == "most" else name) for each, name in inner.given]
    second = f"{intro}; {conversion(inner, pairs, instance(inner, step))}"
    del ranges
    work.say(f"refine (whole_ind (fun i => {premise}{at(i)}) {start} _ _ (whole_num {start})); [{first} | {second}]")


def apply(work: Work) -> None:
    inputs = work.inputs()
    fact, premises, put, ranges = inputs["fact"], inputs["premises"], inputs["put"] or {}, inputs["ranges"]
    binding: dict[Any, Any] = dict(put)
    for template, premise in zip(fact.premises, premises, strict=True):
        _bind(template, premise.proposition, binding, fact)
    env = environment(binding)
    change = replacer(binding)
    outer, inner = split_binders(fact)
    for symbol in outer.symbols:
        if symbol not in work.binders.symbols:
            env.setdefault(symbol, number(1))
    usable = []
    for place, each in enumerate((*premises, *ranges)):
        if isinstance(each.proposition, AtMost | Less) and not (each.proposition.free_symbols & set(fact.eigen)):
            name = have(work, each, f"V{place}")
            usable.append((each, name))
            note_sign(work, each.proposition, name)
    args: list[str] = []
    for anything, sort in outer.anything:
        args.append(str(env.get(anything) or _own(work, anything, sort)))
    chosen = [_function(work, each, env.get(each)) for each in outer.functions]
    args += [text for text, _ in chosen] + list(outer.place)
    values = []
    for symbol in outer.symbols:
        value = env.get(symbol)
        if value is None and symbol in work.binders.symbols:
            value = variable(symbol)
        values.append((symbol, value))
        args.append("1" if value is None else str(value))
    args += ["ltac:(kind)" for each, _ in outer.anything if kind_premise(each)]
    args += [proof for _, proofs in chosen for proof in proofs]
    for symbol, value in values:
        if value is not None and symbol not in env:
            args += [each for each, _ in ranges_of(symbol)]
        else:
            args += in_range(work, symbol, value, usable, binding.get(symbol, symbol))
    for template, premise, under in zip(fact.premises, premises, fact.assumable(), strict=True):
        args.append(
            _premise(work, fact, template, premise, [each.changed(change) for each in under], under, env, inner)
        )
    proof = f"({fact.name} {' '.join(args)})" if args else fact.name
    TAKEN_POSITIVE.update(each.right for each in fact.premises if isinstance(each, Less) and each.left == 0)
    try:
        conclude(work, fact.conclusion, env, proof)
    finally:
        TAKEN_POSITIVE.clear()


def _function(work: Work, function: Any, put: Lambda | None) -> tuple[str, list[str]]:
    """What stands for an unknown function, and what is known of it."""
    word = name_of(function)
    if put is None:
        return word, [name for name, _ in ranges_of_function(word)]
    if word != "ratio_at":
        raise Untranslated(f"what stands for {word}")
    (place,) = put.variables
    body = tree_of(put.expr)
    inner = tree_of(put.expr, {place: variable(XI)})
    sign = proof_of_sign(body, work.known)
    if sign is None or not sign[0]:
        raise Untranslated("a ratio that may be 0")
    line = Line(Tree("var", (), place), True, work.known)
    _, smooth = derive(inner, line)
    at = f"{name_of(place)} : point"
    text = f"(fun {at} => {body})"
    return text, [
        f"(fun {at} => {sign[1]})",
        f"(fun ({at}) (i_c : coordinate) => partially_from i_c {line.function(inner)} {name_of(place)} _ {smooth})",
    ]


def _own(work: Work, anything: Anything, sort: str) -> str:
    return variable_for(anything) if anything in dict(work.binders.anything) else f"default_{sort}"


def _premise(
    work: Work,
    fact: Any,
    template: Proposition,
    premise: Theorem,
    assumed: list[Proposition],
    under: Sequence[Proposition],
    env: Mapping[Any, Any],
    inner: Binders,
) -> str:
    if is_general(fact, template, tuple(under)):
        sub = Work(work.node, work.names, work.binders, [], list(work.given), list(work.extra), work.used)
        sub.bound = frozenset(inner.symbols)
        names = [f"U{place}" for place in range(len(under))]
        intro = [*inner.names, *(name for name, _ in inner.ranges())]
        lines = []
        for name, said, raw in zip(names, assumed, under, strict=True):
            have_pairs = paired(raw, env, said)
            lines.append(f"assert ({name}_ : {written(said)}) by ({conversion(sub, have_pairs, name)})")
            sub.given.append((said, f"{name}_"))
        pairs = turned(paired(template, env, premise.proposition))
        tail = conversion(sub, pairs, instance(sub, premise))
        return f"ltac:(intros {' '.join([*intro, *names])}; {'; '.join([*lines, tail])})"
    pairs = turned(paired(template, env, premise.proposition))
    proof = instance(work, premise)
    if all(str(one) == str(other) for one, other in pairs):
        return proof
    return f"(ltac:({conversion(work, pairs, proof)}) : {written(template, env)})"


def _bind(template: object, given: object, binding: dict[Any, Any], fact: Any) -> None:
    if isinstance(template, Anything | Symbol):
        if template not in fact.eigen:
            binding.setdefault(template, given)
    elif isinstance(template, Term):
        for mine, theirs in zip(template.parts(), given.parts(), strict=True):  # type: ignore[attr-defined]
            _bind(mine, theirs, binding, fact)
