"""Rules about numbers: signs, equalities, inequalities, whole numbers, means, directions."""

from collections.abc import Sequence
from typing import Any

from sympy import Max, S

from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.proof.kernel import Theorem
from hsdp_symbolic.proof.propositions import AtMost, Equal, Less

from .directions import trend
from .equality import Nonzero, equal
from .trees import XI, Tree, Untranslated, name_of, number, proof_of_sign, tree_of, variable
from .using import Lines, Work, by_polynomial, conversion, instance, note_sign, provided, put_xi, ranged, trees_in


def positive(work: Work) -> None:
    expr = work.inputs()["expr"]
    tree = tree_of(expr)
    strict = isinstance(work.node.proposition, Less)
    sign = proof_of_sign(tree, work.known)
    if sign is not None and (sign[0] or not strict):
        work.say(f"exact {sign[1] if sign[0] == strict else f'(Rlt_le _ _ {sign[1]})'}")
        return
    proof = by_polynomial(work, tree, expr)
    if proof is None:
        raise Untranslated("a sign that is not seen")
    work.say(proof)


def cancelled(work: Work) -> None:
    inputs = work.inputs()
    left, right = tree_of(inputs["left"]), tree_of(inputs["right"])
    work.say(equality(work, left, right, inputs["nonzero"], inputs["by"]))


def equality(
    work: Work, left: Tree, right: Tree, nonzero: Sequence[Theorem], by: Sequence[Theorem], more: Sequence[Nonzero] = ()
) -> str:
    """left = right, with meanings put in and divisors that theorems say are not 0."""
    lines: Lines = []
    apart = list(more)
    for place, each in enumerate(nonzero):
        said = each.proposition
        lines.append(f"pose proof {instance(work, each)} as Z{place}")
        if said.left == 0:  # type: ignore[attr-defined]
            apart.append(Nonzero(f"Z{place}", tree_of(said.right)))  # type: ignore[attr-defined]
        else:
            lines.append(f"pose proof (slack_strictly _ _ Z{place}) as Y{place}")
            apart.append(Nonzero(f"Y{place}", Tree("sub", (tree_of(said.right), tree_of(said.left)))))  # type: ignore[attr-defined]
    for place, each in enumerate(by):
        said = each.proposition
        lines.append(f"pose proof {instance(work, each)} as B{place}")
        old, new = tree_of(said.left), tree_of(said.right)  # type: ignore[attr-defined]
        changed = [_put(tree, str(old), new) for tree in (left, right)]
        if str(changed[0]) != str(left):
            lines.append(f"transitivity {changed[0]}; [cong|]")
        if str(changed[1]) != str(right):
            lines.append(f"transitivity {changed[1]}; [|symmetry; cong]")
        left, right = changed
        for at, one in enumerate(apart):
            moved = _put(one.tree, str(old), new)
            if str(moved) != str(one.tree):
                name = f"{one.name}_{place}"
                lines.append(
                    f"assert ({name} : 0 < {moved}) by (replace {moved} with {one.tree} by cong; exact {one.name})"
                )
                apart[at] = Nonzero(name, moved)
    for each in by:
        lines.append(f"clear B{by.index(each)}")
    lines.append(equal(left, right, work.known, apart, close=True))
    return "; ".join(lines)


def _put(tree: Tree, old: str, new: Tree) -> Tree:
    if str(tree) == old:
        return new
    return Tree(tree.op, tuple(_put(each, old, new) for each in tree.args), tree.leaf)


def combine(work: Work) -> None:
    inputs = work.inputs()
    left, right = tree_of(inputs["left"]), tree_of(inputs["right"])
    total: Tree | None = None
    strictly: list[Nonzero] = []
    seen_: dict[str, str] = {}
    for term in inputs["terms"]:
        product: Tree | None = None
        for factor in term:
            tree, name, strict = _factor(work, factor, seen_)
            if strict and isinstance(factor, Theorem):
                strictly.append(Nonzero(name, tree))
            product = tree if product is None else Tree("mul", (product, tree))
        product = product or number(1)
        total = product if total is None else Tree("add", (total, product))
    total = total or number(0)
    word = "by_sum_strictly" if isinstance(work.node.proposition, Less) else "by_sum"
    proof = equality(work, Tree("sub", (right, left)), total, inputs["nonzero"], inputs["by"], strictly)
    work.say(f"apply ({word} _ _ {total}); [{proof} | product]")


def _factor(work: Work, factor: Any, seen_: dict[str, str]) -> tuple[Tree, str, bool]:
    name = f"F{len(seen_)}"
    if isinstance(factor, Theorem):
        said = factor.proposition
        strict = isinstance(said, Less)
        word = "slack_strictly" if strict else "slack"
        zero = said.left == 0  # type: ignore[attr-defined]
        right, left = tree_of(said.right), tree_of(said.left)  # type: ignore[attr-defined]
        tree = right if zero else Tree("sub", (right, left))
        if str(tree) not in seen_:
            proof = instance(work, factor)
            work.say(f"pose proof {proof if zero else f'({word} _ _ {proof})'} as {name}")
            seen_[str(tree)] = name
        return tree, seen_[str(tree)], strict
    tree = tree_of(factor)
    sign = proof_of_sign(tree, work.known)
    strict = bool(sign and sign[0])
    if str(tree) not in seen_:
        seen_[str(tree)] = name
        if sign is not None:
            work.say(f"pose proof ({sign[1]} : 0 {'<' if strict else '<='} {tree}) as {name}")
        else:
            from hsdp_symbolic.proof.signs import Sign, seen

            strict = seen(factor) is Sign.POSITIVE
            reduced = by_polynomial(work, tree, factor)
            if reduced is None:
                raise Untranslated("a sign that is not seen")
            work.say(f"assert ({name} : 0 {'<' if strict else '<='} {tree}) by ({reduced})")
    return tree, seen_[str(tree)], strict


def abbreviate(work: Work) -> None:
    found = provided(work, work.node.proposition)
    if found is None:
        raise Untranslated("a definition that is missing")
    work.say(f"exact {found[1]}")


def floor_at_least(work: Work) -> None:
    (premise,) = work.node.premises
    said = premise.proposition
    least, most = tree_of(said.left), tree_of(said.right)  # type: ignore[attr-defined]
    found = Less if isinstance(said, Less) else AtMost
    proof = instance(work, premise)
    proof = f"(Rlt_le _ _ {proof})" if found is Less else f"(Req_le _ _ {proof})" if isinstance(said, Equal) else proof
    work.say(f"pose proof (floor_at_least {least} {most} ltac:(whole) {proof}) as P")
    wanted = trees_in(work.node.proposition)
    work.say(conversion(work, [(least, wanted[0]), (Tree("call", (most,), "floor"), wanted[1])], "P"))


def floor_at_most(work: Work) -> None:
    expr = tree_of(work.inputs()["expr"])
    wanted = trees_in(work.node.proposition)
    work.say(
        conversion(work, [(Tree("call", (expr,), "floor"), wanted[0]), (expr, wanted[1])], f"(floor_at_most {expr})")
    )


def next_whole(work: Work) -> None:
    (premise,) = work.node.premises
    left, right = trees_in(premise.proposition)
    proof = f"(next_whole {left} {right} ltac:(whole) ltac:(whole) {instance(work, premise)})"
    pairs = list(zip((Tree("add", (left, number(1))), right), trees_in(work.node.proposition), strict=True))
    work.say(f"pose proof {proof} as P")
    work.say(conversion(work, pairs, "P"))


def greater(work: Work) -> None:
    (premise,) = work.node.premises
    said = premise.proposition
    left, _ = trees_in(said)
    proof = instance(work, premise)
    proof = (
        f"(Rlt_le _ _ {proof})"
        if isinstance(said, Less)
        else f"(Req_le _ _ {proof})"
        if isinstance(said, Equal)
        else proof
    )
    wanted = work.node.proposition.left  # type: ignore[attr-defined]
    if isinstance(wanted, Max) and len(wanted.args) == 2:
        first, _ = (tree_of(each) for each in wanted.args)
        word = "Rmax_is" if str(first) == str(left) else "Rmax_left _ _"
        work.say(f"exact ({word}{' _ _' if word == 'Rmax_is' else ''} {proof})")
        return
    raise Untranslated("a maximum that SymPy rewrites")


def mean(work: Work) -> None:
    inputs = work.inputs()
    theorem, index, count = inputs["theorem"], inputs["index"], inputs["count"]
    word = name_of(index)
    said = work.node.proposition
    is_log = any(isinstance(each, LogMeanExp) for each in (said.left, said.right))  # type: ignore[attr-defined]
    sub = Work(work.node, work.names, work.binders, [], list(work.given), list(work.extra), work.used)
    sub.bound = frozenset([index])
    sub.given += [(AtMost(S.One, index), "low"), (AtMost(index, count), "high")]
    proof = instance(sub, theorem)
    kind = type(theorem.proposition)
    if kind is Less:
        proof = f"(Rlt_le _ _ {proof})"
    lemma = {"mean": "log_mean", "plain_mean": "mean"}.get(work.node.rule, "log_mean_at_most")
    if work.node.rule != "mean_at_most":
        lemma += "_eq" if kind is Equal else "_le"
    elif kind is Equal:
        proof = f"(Req_le _ _ {proof})"
    del is_log
    tree = tree_of(count)
    sign = (
        f"assert ({word}_pos : 0 < {word}) by lra; "
        if index.is_positive
        else f"assert ({word}_nn : 0 <= {word}) by lra; "
    )
    sign = sign if index.is_nonnegative else ""
    least = f"ltac:(first [lra | apply (next_whole_0 {tree}); [whole | first [positively | lra]]])"
    work.say(f"apply ({lemma} _ _ {tree} ltac:(whole) {least}); intros {word} {word}_wh low high; {sign}exact {proof}")


def monotone(work: Work) -> None:
    """What never falls (or never rises) with a number, read off the tree."""
    inputs = work.inputs()
    expr, symbol, theorem = inputs["expr"], inputs["symbol"], inputs["theorem"]
    ranged(work, inputs["ranges"])
    low, high = trees_in(theorem.proposition)
    proof = instance(work, theorem)
    if isinstance(theorem.proposition, Less | Equal):
        proof = f"({'Rlt_le' if isinstance(theorem.proposition, Less) else 'Req_le'} _ _ {proof})"
    work.say(f"pose proof ({proof} : {low} <= {high}) as step")
    note_sign(work, theorem.proposition, "step" if isinstance(theorem.proposition, AtMost) else proof)
    body = tree_of(expr, {symbol: variable(XI)})
    rising, found = trend(body, low, high, work.known)
    ends = [put_xi(body, each) for each in ((low, high) if rising >= 0 else (high, low))]
    work.say(f"pose proof ({found} : {ends[0]} <= {ends[1]}) as P")
    work.say(conversion(work, list(zip(ends, trees_in(work.node.proposition), strict=True)), "P"))
