"""Terms of Coq's real numbers, as trees: made from SymPy expressions, printed, and seen to be positive.

A tree is what Coq parses, so a subtree that another tree is put into is not simplified, as SymPy would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Expr,
    Integer,
    Lambda,
    Max,
    Mul,
    Pow,
    Rational,
    S,
    Subs,
    Symbol,
    binomial,
    exp,
    factorial,
    floor,
    log,
)
from sympy.core.function import AppliedUndef

from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.compounded import Compounded
from hsdp_symbolic.functions.cyclic_shifts import CyclicShifts
from hsdp_symbolic.functions.expected import Expected
from hsdp_symbolic.functions.expm1 import Expm1
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.functions.interface import BoundFunction
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.functions.pooled import Pooled
from hsdp_symbolic.proof.integrals import Coordinatewise, Everywhere, Integrated
from hsdp_symbolic.proof.signs import Sign, seen
from hsdp_symbolic.symbols import theta, uses_before, uses_within, xi


class Untranslated(Exception):
    """There is no translation of this into Coq yet."""


@dataclass(frozen=True)
class Tree:
    """A term: an operation, its operands, and what a leaf is."""

    op: str
    args: tuple[Tree, ...] = ()
    leaf: Any = None

    def __str__(self) -> str:
        return printed(self)


Env = Mapping[Basic, Tree]
"""What stands in the place of an expression."""


def number(value: int) -> Tree:
    return Tree("num", (), value)


def variable(symbol: Symbol) -> Tree:
    return Tree("var", (), symbol)


def call(name: str, *args: Tree) -> Tree:
    return Tree("call", args, name)


ZERO, ONE = number(0), number(1)
_FUNCTIONS: dict[type, str] = {GeometricSum: "gsum", LogMix: "log_mix", Expm1: "expm1", floor: "floor", exp: "exp"}
_FUNCTIONS |= {log: "ln", Abs: "Rabs", uses_before: "counted uses"}
_FUNCTIONS |= {Pooled: "pooled", CyclicShifts: "cyclic_shifts", factorial: "rfact", binomial: "rbinom"}
INDEXED: dict[type, tuple[str, tuple[tuple[int, int | None], ...]]] = {
    LogMeanExp: ("log_mean_exp", ((0, 1), (2, None))),
    MeanOver: ("mean_over", ((0, 1), (2, None))),
    Expected: ("expected", ((0, 1), (2, 1), (3, 1), (4, None), (5, None), (6, None))),
    Accumulated: ("accumulated", ((0, 1), (2, None))),
    Compounded: ("compounded", ((0, 1), (2, None), (3, None))),
}
"""Functions that bind a name: their name in Coq, and their arguments, each with the place of the name that it binds."""
RESERVED = {
    "exp",
    "ln",
    "floor",
    "in",
    "at",
    "by",
    "as",
    "if",
    "then",
    "else",
    "let",
    "fun",
    "forall",
    "exists",
    "using",
}
RESERVED |= {
    "R",
    "R1",
    "R2",
    "S",
    "O",
    "I",
    "N",
    "E",
    "P",
    "Z",
    "Q",
    "PI",
    "pow",
    "given",
    "fresh",
    "end",
    "where",
    "cos",
}
RESERVED |= {
    "whole",
    "given",
    "same",
    "power",
    "product",
    "parts",
    "logs",
    "slack",
    "Rmax",
    "cos",
    "D",
    "gap",
    "Every",
    "From",
    "sum",
    "left",
    "right",
    "order",
    "count",
    "beta",
    "Set",
    "Prop",
    "Type",
}


def name_of(symbol: Basic) -> str:
    """The name of a symbol in Coq."""
    word = str(getattr(symbol, "name", symbol)).replace("'", "_prime")
    word = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in word).lstrip("_") or "x"
    if type(symbol).__name__ == "Dummy":
        word = f"{word}__"
    return f"{word}_" if word in RESERVED else word


def tree_of(expr: Basic, env: Env | None = None) -> Tree:
    """The tree of an expression, with `env` in the place of what it names."""
    env = env or {}
    if expr in env:
        return env[expr]
    if isinstance(expr, Symbol):
        return variable(expr)
    match expr:
        case Integer():
            return number(int(expr)) if expr >= 0 else Tree("opp", (number(-int(expr)),))
        case Rational():
            return _signed(expr < 0, Tree("div", (number(abs(expr.p)), number(expr.q))))
        case Add():
            return _sum(expr, env)
        case Mul():
            return _product(expr, env)
        case Pow():
            return _power(expr, env)
        case exp():
            return call("exp", tree_of(expr.args[0], env))
        case Max():
            return reduce(lambda x, y: call("Rmax", x, y), (tree_of(each, env) for each in expr.args))
    return _called(expr, env)


XI = xi
"""The name of what is differentiated by."""
SPACE = ("p_at", "p_prime_at", "ratio_at")
"""Unknown functions of a point of the space."""


def is_spatial(expr: Basic) -> bool:
    return any(name_of(each.func) in SPACE for each in expr.atoms(AppliedUndef))


def _derivative(expr: Basic, env: Env) -> Tree:
    """Derivatives, one variable after the other."""
    if isinstance(expr, Subs):
        (inner,) = [expr.expr]
        if not isinstance(inner, Derivative) or len(expr.variables) != 1:
            raise Untranslated("a value of what is no derivative")
        (variable_,), (at,) = expr.variables, expr.point
        if inner.variables != (variable_,):
            raise Untranslated("a derivative at a point, by something else")
        return _by(inner.expr, variable_, tree_of(at, env), env)
    body, rest = expr.expr, tuple(expr.variables)
    at = tree_of(rest[-1], env)
    if len(rest) == 1:
        return _by(body, rest[0], at, env)
    if len(set(rest)) > 1 or rest[0] != theta or not is_spatial(body):
        raise Untranslated("a mixed derivative")
    inner_tree = _by(body, theta, variable(XI), {**env})
    return call("partial", Tree("text", (), "i_c"), Tree("lam", (inner_tree,), XI), at)


def _by(body: Expr, symbol: Symbol, at: Tree, env: Env) -> Tree:
    inside = {key: value for key, value in env.items() if not (isinstance(key, Basic) and symbol in key.free_symbols)}
    tree = tree_of(body, {**inside, symbol: variable(XI)})
    if symbol == theta and is_spatial(body):
        return call("partial", Tree("text", (), "i_c"), Tree("lam", (tree,), XI), at)
    return call("Derive", Tree("fun", (tree,), XI), at)


def _unknown(expr: AppliedUndef, env: Env) -> Tree:
    """An unknown function, or what stands in its place."""
    args = [tree_of(each, env) for each in expr.args]
    put = env.get(expr.func)
    if isinstance(put, Lambda):
        outside = {key: value for key, value in env.items() if key != expr.func}
        return tree_of(put.expr, {**outside, **dict(zip(put.variables, args, strict=True))})
    return Tree("call", tuple(args), name_of(expr.func))


def _integral(expr: Integrated, env: Env) -> Tree:
    body, at = expr.args
    inside = {key: value for key, value in env.items() if not (isinstance(key, Basic) and at in key.free_symbols)}
    tree = tree_of(body, inside)
    if isinstance(expr, Everywhere):
        return call("everywhere", Tree("lam", (tree,), at))
    return call("coordinatewise", Tree("lam2", (tree,), at))


def _called(expr: Basic, env: Env) -> Tree:
    if isinstance(expr, Derivative | Subs):
        return _derivative(expr, env)
    if isinstance(expr, Everywhere | Coordinatewise):
        return _integral(expr, env)
    if type(expr) in _FUNCTIONS:
        return call(_FUNCTIONS[type(expr)], *(tree_of(each, env) for each in expr.args))
    if type(expr) in INDEXED:
        word, layout = INDEXED[type(expr)]
        parts = []
        for place, binder in layout:
            if binder is None:
                parts.append(tree_of(expr.args[place], env))
                continue
            index = expr.args[binder]
            inner = {key: value for key, value in env.items() if index not in key.free_symbols}
            parts.append(Tree("fun", (tree_of(expr.args[place], inner),), index))
        return call(word, *parts)
    if expr is S.Exp1:
        return call("exp", ONE)
    if isinstance(expr, AppliedUndef) and not isinstance(expr, BoundFunction | uses_within):
        return _unknown(expr, env)
    raise Untranslated(f"{type(expr).__name__}")


def _signed(negative: bool, tree: Tree) -> Tree:
    return Tree("opp", (tree,)) if negative else tree


def _sum(expr: Expr, env: Env) -> Tree:
    terms = [_term(each, env) for each in expr.as_ordered_terms()]
    terms.sort(key=lambda each: each[0])  # what is subtracted comes last, so that no sum starts with a minus
    negative, found = terms[0]
    found = _signed(negative, found)
    for negative, tree in terms[1:]:
        found = Tree("sub" if negative else "add", (found, tree))
    return found


def _term(expr: Expr, env: Env) -> tuple[bool, Tree]:
    """Whether a term is subtracted, and its absolute value."""
    if expr in env:
        return False, env[expr]
    if expr.is_Number:
        return bool(expr < 0), tree_of(abs(expr), env)
    if isinstance(expr, Mul) and expr.args[0].is_Number and expr.args[0] < 0:
        return True, _factors((-expr.args[0], *expr.args[1:]), env)
    return False, _factors(expr.args, env) if isinstance(expr, Mul) else tree_of(expr, env)


def _product(expr: Expr, env: Env) -> Tree:
    negative, tree = _term(expr, env)
    return _signed(negative, tree)


def _factors(args: tuple[Expr, ...], env: Env) -> Tree:
    above: list[Tree] = []
    below: list[Tree] = []
    for each in args:
        if each in env:
            above.append(env[each])
        elif each.is_Rational:
            above += [tree_of(Integer(each.p), env)] if each.p != 1 else []
            below += [number(each.q)] if each.q != 1 else []
        elif isinstance(each, Pow) and each.exp.is_Integer and each.exp < 0:
            below.append(_raised(tree_of(each.base, env), -int(each.exp)))
        else:
            above.append(tree_of(each, env))
    top = _times(above)
    return Tree("div", (top, _times(below))) if below else top


def _times(trees: list[Tree]) -> Tree:
    return reduce(lambda x, y: Tree("mul", (x, y)), trees) if trees else ONE


def _raised(base: Tree, power: int) -> Tree:
    return base if power == 1 else Tree("pow", (base,), power)


TAKEN_POSITIVE: set[Expr] = set()
"""What the premises of the fact that is being written say is positive."""


def _power(expr: Pow, env: Env) -> Tree:
    base, power = expr.args
    if power.is_Integer and expr not in env:
        raised = _raised(tree_of(base, env), abs(int(power)))
        return raised if power > 0 else Tree("inv", (raised,))
    if power == S.Half:
        return call("sqrt", tree_of(base, env))
    taken = base in TAKEN_POSITIVE or any(each.name == "weight" for each in base.free_symbols)
    if not taken and seen(base) is not Sign.POSITIVE and not (is_spatial(base) and not base.atoms(Add)):
        raise Untranslated(f"a power of {base}, which may be 0")
    return Tree("rpow", (tree_of(base, env), tree_of(power, env)))


_LEVELS = {"add": 1, "sub": 1, "opp": 0, "mul": 2, "div": 2, "inv": 3, "pow": 4, "fun": -1}


_BINDERS = {"fun": "{} : R", "lam": "{} : point", "lam2": "(i_c : coordinate) ({} : point)"}
"""How a function of a number, of a point, and of a coordinate and a point begins."""


def printed(tree: Tree) -> str:
    """The tree as Coq reads it."""
    match tree.op:
        case "num":
            return str(tree.leaf)
        case "var":
            return name_of(tree.leaf)
        case "text":
            return str(tree.leaf)
        case "add" | "sub" | "mul" | "div":
            sign_ = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[tree.op]
            return f"({printed(tree.args[0])} {sign_} {printed(tree.args[1])})"
        case "opp":
            return f"(Ropp {printed(tree.args[0])})"
        case "inv":
            return f"(/ {printed(tree.args[0])})"
        case "pow":
            return f"({printed(tree.args[0])} ^ {tree.leaf})"
        case "rpow":
            return f"(Rpower {printed(tree.args[0])} {printed(tree.args[1])})"
        case "fun" | "lam" | "lam2":
            return f"(fun {_BINDERS[tree.op].format(name_of(tree.leaf))} => {printed(tree.args[0])})"
        case "call":
            return f"({' '.join((tree.leaf, *map(printed, tree.args)))})"
    raise ValueError(tree.op)


BINDERS = ("fun", "lam", "lam2")


def walk(tree: Tree) -> Iterator[Tree]:
    """The tree and what is in it, but for what depends on a name that it binds."""
    yield tree
    for each in tree.args:
        if each.op not in BINDERS:
            yield from walk(each)


# --- Signs ----------------------------------------------------------------------------------------------------------

POSITIVE = {"p_at", "p_prime_at", "ratio_at", "variance_at"}
NOT_NEGATIVE = {"factor_at", "jump_at", "shift_at", "away_at", "price_at"}
"""Unknown functions whose values have a sign."""
Known = Callable[[Tree], tuple[bool, str] | None]
"""What is known of the sign of a tree: whether it is positive (else at least 0), and a proof in Coq."""


def nothing(_: Tree) -> tuple[bool, str] | None:
    return None


def proof_of_sign(tree: Tree, known: Known = nothing) -> tuple[bool, str] | None:
    """Whether a tree is positive (else: at least 0), with a proof term; or nothing, if its sign cannot be seen."""
    found = known(tree)
    if found is not None:
        return found
    match tree.op:
        case "num":
            return (tree.leaf > 0), (f"(IZR_lt 0 {tree.leaf} eq_refl)" if tree.leaf > 0 else "(Rle_refl 0)")
        case "var":
            word = name_of(tree.leaf)
            if tree.leaf.is_positive:
                return True, f"{word}_pos"
            return (False, f"{word}_nn") if tree.leaf.is_nonnegative else None
        case "add" | "mul" | "div":
            return _of_two(tree, known)
        case "sub":
            return None
        case "inv":
            inner = proof_of_sign(tree.args[0], known)
            return (True, f"(Rinv_0_lt_compat _ {inner[1]})") if inner and inner[0] else None
        case "pow":
            return _of_power(tree, known)
        case "rpow":
            return True, f"(Rpower_pos {tree.args[0]} {tree.args[1]})"
        case "call":
            return _of_call(tree, known)
    return None


def _of_power(tree: Tree, known: Known) -> tuple[bool, str] | None:
    inner = proof_of_sign(tree.args[0], known)
    if inner is not None and inner[0]:
        return True, f"(pow_lt {tree.args[0]} {tree.leaf} {inner[1]})"
    if tree.leaf % 2 == 0:
        return False, f"(even_pow {tree.args[0]} {tree.leaf} {tree.leaf // 2} eq_refl)"
    return (False, f"(pow_le {tree.args[0]} {tree.leaf} {inner[1]})") if inner else None


def _of_two(tree: Tree, known: Known) -> tuple[bool, str] | None:
    found = [proof_of_sign(each, known) for each in tree.args]
    if found[0] is None or found[1] is None:
        return None
    (one, x), (other, y) = found[0], found[1]
    left, right = tree.args
    if tree.op == "add":
        word = {(1, 1): "lt_0", (1, 0): "lt_le_0", (0, 1): "le_lt_0", (0, 0): "le_le_0"}[one, other]
        return one or other, f"(Rplus_{word}_compat {left} {right} {x} {y})"
    if tree.op == "mul":
        if one and other:
            return True, f"(Rmult_lt_0_compat {left} {right} {x} {y})"
        x, y = (f"(Rlt_le _ _ {x})" if one else x), (f"(Rlt_le _ _ {y})" if other else y)
        return False, f"(Rmult_le_pos {left} {right} {x} {y})"
    if not other:
        return None
    return (one, f"(Rdiv_lt_0_compat {left} {right} {x} {y})") if one else (False, f"(div_nn {left} {right} {x} {y})")


def _of_call(tree: Tree, known: Known) -> tuple[bool, str] | None:
    args = tree.args
    if tree.leaf == "exp":
        return True, f"(exp_pos {args[0]})"
    if tree.leaf in ("gsum", "pooled", "cyclic_shifts"):
        return _of_shifts(tree, known)
    if tree.leaf == "sqrt":
        inner = proof_of_sign(args[0], known)
        return (True, f"(sqrt_lt_R0 _ {inner[1]})") if inner and inner[0] else (False, f"(sqrt_pos {args[0]})")
    if tree.leaf == "expm1":
        inner = proof_of_sign(args[0], known)
        return (inner[0], f"(expm1_{'pos' if inner[0] else 'nn'} _ {inner[1]})") if inner else None
    if tree.leaf in POSITIVE:
        return True, f"({tree.leaf}_pos {' '.join(map(str, args))})"
    if tree.leaf in NOT_NEGATIVE:
        return False, f"({tree.leaf}_nn {' '.join(map(str, args))})"
    if tree.leaf == "rfact":
        return True, f"(rfact_pos {args[0]})"
    if tree.leaf == "counted uses":
        return False, f"(counted_nn uses {args[0]} {args[1]})"
    return None


def _of_shifts(tree: Tree, known: Known) -> tuple[bool, str] | None:
    """Sums of powers, and shifts."""
    args = tree.args
    if tree.leaf == "gsum":
        x, k = proof_of_sign(args[0], known), proof_of_sign(args[1], known)
        if x is None:
            return None
        x_nn = f"(Rlt_le _ _ {x[1]})" if x[0] else x[1]
        if k is None:
            return None
        if k[0]:
            return True, f"(gsum_pos {args[0]} {args[1]} {x_nn} {whole(args[1])} {k[1]})"
        return False, f"(gsum_nn {args[0]} {args[1]} {x_nn} {k[1]})"
    if tree.leaf == "pooled":
        found = [proof_of_sign(each, known) for each in args]
        if None in found:
            return None
        signs = [f"(Rlt_le _ _ {each[1]})" if each[0] else each[1] for each in found if each]
        return True, f"(pooled_pos {args[0]} {args[1]} {' '.join(signs)})"
    found = [proof_of_sign(each, known) for each in args]
    if not all(each and each[0] for each in found):
        return None
    counts = [f"{whole(each)} {sign[1]}" for each, sign in zip(args[1:], found[1:], strict=True) if sign]
    return True, f"(cyclic_pos {' '.join(map(str, args))} {found[0][1] if found[0] else ''} {' '.join(counts)})"


def whole(tree: Tree) -> str:
    """A proof that a tree is a whole number, by its shape."""
    return f"(ltac:(whole) : whole {tree})"
