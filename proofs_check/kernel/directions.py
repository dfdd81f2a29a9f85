"""What rises or falls with a number, read off a tree, with a proof in Coq."""

from __future__ import annotations

from .derivatives import Line, _varies
from .trees import Known, Tree, Untranslated, proof_of_sign, whole

Trend = tuple[int, str]
"""1, 0 or −1; and a proof that the value at one end is at most that at the other."""


def _sign(part: Tree, known: Known) -> str:
    found = proof_of_sign(part, known)
    if found is None:
        raise Untranslated("a direction that depends on a sign")
    return f"(Rlt_le _ _ {found[1]})" if found[0] else found[1]


def _positive(part: Tree, known: Known) -> str:
    found = proof_of_sign(part, known)
    if found is None or not found[0]:
        raise Untranslated("a direction that depends on a sign")
    return found[1]


def _of_two(tree: Tree, low: Tree, high: Tree, known: Known) -> Trend:
    """A product, a quotient or a sum."""
    if tree.op == "mul":
        left, right = tree.args
        for constant, other, word in ((left, right, "l"), (right, left, "r")):
            if not _varies(constant):
                way, proof = trend(other, low, high, known)
                return way, f"(Rmult_le_compat_{word} {constant} _ _ {_sign(constant, known)} {proof})"
    if tree.op == "div" and not _varies(tree.args[1]):
        way, proof = trend(tree.args[0], low, high, known)
        return way, f"(div_le _ _ {tree.args[1]} {_positive(tree.args[1], known)} {proof})"
    if tree.op == "add":
        found = [trend(each, low, high, known) for each in tree.args]
        ways = {way for way, _ in found} - {0}
        if len(ways) == 1:
            return ways.pop(), f"(Rplus_le_compat _ _ _ _ {found[0][1]} {found[1][1]})"
    raise Untranslated(f"how {tree.op} responds")


def trend(tree: Tree, low: Tree, high: Tree, known: Known) -> Trend:
    """How a tree in `xi` responds to it, from `step : low <= high`."""

    if not _varies(tree):
        return 0, f"(Rle_refl {tree})"
    if tree.op == "var":
        return 1, "step"
    if tree.op == "call" and tree.leaf == "exp":
        way, proof = trend(tree.args[0], low, high, known)
        return way, f"(exp_le _ _ {proof})"
    if tree.op in ("mul", "div", "add"):
        return _of_two(tree, low, high, known)
    if tree.op == "rpow" and not _varies(tree.args[1]):
        base, power = tree.args
        way, proof = trend(base, low, high, known)
        least = Line(low if way >= 0 else high, False, known).here(base)
        return way, f"(Rpower_le _ _ {power} {_positive(least, known)} {_sign(power, known)} {proof})"
    if tree.op == "call" and tree.leaf == "gsum" and not _varies(tree.args[0]) and tree.args[1].op == "var":
        x = tree.args[0]
        return 1, f"(gsum_le {x} {low} {high} {_sign(x, known)} {whole(low)} {whole(high)} {_sign(low, known)} step)"
    raise Untranslated(f"how {tree.leaf or tree.op} responds")
