"""The equations that define functions of the bounds."""

from typing import Any

from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.compounded import Compounded
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from hsdp_symbolic.functions.expected import Expected
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.functions.pooled import Pooled

from .equality import equal
from .trees import INDEXED, Tree, Untranslated, call, number, proof_of_sign, tree_of
from .using import Work, trees_in

_EQUATIONS: dict[type, tuple[str, ...]] = {
    GeometricSum: ("gsum_0", "gsum_next"),
    LogMeanExp: ("log_mean_1", "log_mean_next"),
    MeanOver: ("mean_1", "mean_next"),
    Expected: ("expected_0", "expected_next"),
    Accumulated: ("accumulated_0", "accumulated_next"),
    Compounded: ("compounded_0", "compounded_next"),
}


_COUNTS = {GeometricSum: 1, LogMeanExp: 2, MeanOver: 2, Expected: 5, Accumulated: 2, Compounded: 3}
"""Where the count stands among the arguments."""


def unfold(work: Work) -> None:
    """One of the equations that define a function."""
    inputs = work.inputs()
    node, place = inputs["node"], inputs["place"]
    left, right = trees_in(work.node.proposition)
    if isinstance(node, Pooled | CyclicShifts):
        work.say(f"unfold {left.leaf}; cbv zeta")
        proof = equal(_body(node), right, work.known)
        work.say(f"transitivity {_body(node)}; [reflexivity | {proof}]")
        return
    kind = type(node)
    if kind not in _EQUATIONS:
        raise Untranslated(f"the equations of {kind.__name__}")
    lemma = _EQUATIONS[kind][place]
    here = tree_of(node)
    count = node.args[_COUNTS[kind]]
    if place == 0:
        at_count = [spot for spot, _ in INDEXED[kind][1]].index(_COUNTS[kind]) if kind in INDEXED else _COUNTS[kind]
        others = [str(each) for spot, each in enumerate(here.args) if spot != at_count]
        work.say(f"etransitivity; [exact ({lemma} {' '.join(others)})|]")
        work.say(f"cbv beta; {equal(_first(node), right, work.known)}")
        return
    at = tree_of(count)
    sign = proof_of_sign(at, work.known)
    lower = "ltac:(counting)" if sign is None else f"(Rlt_le _ _ {sign[1]})" if sign[0] else sign[1]
    if kind is GeometricSum and sign is None and (base := proof_of_sign(here.args[0], work.known)) and base[0]:
        lemma, lower = "gsum_next_", base[1]
    more = Tree(
        here.op,
        tuple(
            Tree("add", (each, number(1))) if str(each) == str(at) and each.op != "fun" else each for each in here.args
        ),
        here.leaf,
    )
    second = equal(more, left, work.known)
    work.say(f"transitivity {more}; [symmetry; {second}|]")
    ordered = [str(each) for each in here.args]
    work.say(f"etransitivity; [exact ({lemma} {' '.join(ordered)} ltac:(whole) {lower})|]")
    work.say(f"cbv beta; {equal(_next(node, here), right, work.known)}")


def _first(node: Any) -> Tree:
    """What a function is at its first count, as its equation has it."""
    match node:
        case LogMeanExp() | MeanOver():
            body, index, _ = node.args
            return tree_of(body, {index: number(1)})
        case Expected():
            return tree_of(node.args[0], {node.args[1]: tree_of(node.args[-1])})
    return number(0)


def _next(node: Any, here: Tree) -> Tree:
    """What a function is at the next count, as its equation has it."""
    one = number(1)
    match node:
        case GeometricSum():
            return Tree("add", (one, Tree("mul", (here.args[0], here))))
        case LogMeanExp() | MeanOver():
            body, index, count = node.args
            k = tree_of(count)
            after = tree_of(body, {index: Tree("add", (k, one))})
            is_log = isinstance(node, LogMeanExp)
            each, last = (call("exp", here), call("exp", after)) if is_log else (here, after)
            mean = Tree("div", (Tree("add", (Tree("mul", (k, each)), last)), Tree("add", (k, one))))
            return call("ln", mean) if is_log else mean
        case Expected():
            _, state, hit, miss, rate, _, at = node.args
            ends = [
                Tree("call", (*here.args[:-1], tree_of(each, {state: tree_of(at)})), here.leaf) for each in (hit, miss)
            ]
            r = tree_of(rate)
            return Tree("add", (Tree("mul", (r, ends[0])), Tree("mul", (Tree("sub", (one, r)), ends[1]))))
        case Accumulated():
            return Tree("add", (here, tree_of(node.args[0], {node.args[1]: here})))
        case Compounded():
            factor, index, cost, count, _ = node.args
            return Tree("mul", (tree_of(factor, {index: tree_of(count)}), Tree("add", (here, tree_of(cost)))))
    raise Untranslated(type(node).__name__)


def _body(node: Any) -> Tree:
    """What `pooled` and `cyclic_shifts` stand for in the base."""
    one = number(1)
    if isinstance(node, Pooled):
        g, y = map(tree_of, node.args)
        chord = Tree("pow", (Tree("add", (one, Tree("mul", (g, y)))),), 2)
        rest = Tree("mul", (Tree("pow", (call("Rmax", number(0), Tree("sub", (one, g))),), 2), y))
        return Tree("div", (Tree("add", (chord, rest)), Tree("add", (one, y))))
    q, n, hits, k = map(tree_of, node.args)
    square = Tree("pow", (q,), 2)
    last = call("gsum", Tree("inv", (square,)), k)
    before = Tree("mul", (n, Tree("sub", (hits, one))))

    def raised(power: Tree) -> Tree:
        return Tree("rpow", (q, power))

    above = Tree("mul", (Tree("mul", (raised(Tree("sub", (n, number(2)))), Tree("add", (one, raised(n))))), last))
    below = Tree("mul", (Tree("add", (one, raised(before))), call("gsum", square, n)))
    slope = Tree("div", (above, below))
    length = Tree("div", (Tree("mul", (square, call("gsum", square, before))), last))
    return Tree("div", (call("pooled", slope, length), last))
