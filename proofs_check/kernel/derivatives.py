"""Derivatives of trees, each with a proof in Coq: sums, products, quotients, powers, and unknown functions."""

from __future__ import annotations

from dataclasses import dataclass

from .trees import SPACE, XI, Known, Tree, Untranslated, call, number, proof_of_sign


@dataclass(frozen=True)
class Line:
    """What is differentiated by: a number, or a coordinate of a point."""

    at: Tree
    by_coordinate: bool
    known: Known

    @property
    def short(self) -> str:
        """The line, and where on it the point is."""
        return f"(fun t : R => move i_c t {self.at}) 0" if self.by_coordinate else f"(fun t : R => t) {self.at}"

    @property
    def head(self) -> str:
        """The line, the point, and that the line passes through it."""
        return f"{self.short} {self.at} {f'(move_0 i_c {self.at})' if self.by_coordinate else 'eq_refl'}"

    @property
    def kind(self) -> str:
        return "point" if self.by_coordinate else "R"

    def function(self, tree: Tree) -> str:
        return f"(fun xi : {self.kind} => {tree})"

    def here(self, tree: Tree) -> Tree:
        """The value of a function at the point."""
        if tree.op == "var" and tree.leaf == XI:
            return self.at
        if tree.op in ("fun", "lam") and tree.leaf == XI:
            return tree
        return Tree(tree.op, tuple(map(self.here, tree.args)), tree.leaf)


Derived = tuple[Tree, str]
"""A derivative, and a proof that it is one."""


def parts_of(tree: Tree, known: Known) -> tuple[Tree, Line]:
    """What a derivative differentiates, and by what."""
    if tree.leaf == "Derive":
        body, at = tree.args
        return body.args[0], Line(at, False, known)
    _, body, at = tree.args
    return body.args[0], Line(at, True, known)


def evaluated(tree: Tree, known: Known) -> tuple[Tree, str] | None:
    """The value of a derivative, with a proof of the equality; nothing if it is that of an unknown function."""
    body, line = parts_of(tree, known)
    if body.op == "call" and body.leaf in ("Derive", "partial"):
        return None  # a second derivative of an unknown function
    value, proof = derive(body, line)
    if str(value) == str(tree):
        return None
    word = (
        f"partial_is i_c {line.function(body)} {line.at}"
        if line.by_coordinate
        else f"Derive_is {line.function(body)} {line.at}"
    )
    return value, f"exact ({word} _ {proof})"


def _varies(tree: Tree) -> bool:
    if tree.op == "var":
        return bool(tree.leaf == XI)
    if tree.op in ("fun", "lam") and tree.leaf == XI:
        return False
    return any(map(_varies, tree.args))


def derive(tree: Tree, line: Line) -> Derived:
    if not _varies(tree):
        return number(0), f"(al_const {line.short} {tree})"
    if tree.op == "var":
        return number(1), f"(al_id {line.at})"
    if tree.op in ("add", "sub", "opp"):
        found = [derive(each, line) for each in tree.args]
        word = {"add": "al_plus", "sub": "al_minus", "opp": "al_opp"}[tree.op]
        functions = " ".join(line.function(each) for each in tree.args)
        holes = " _" * len(found)
        proofs = " ".join(proof for _, proof in found)
        return Tree(tree.op, tuple(value for value, _ in found)), f"({word} {line.short} {functions}{holes} {proofs})"
    if tree.op in ("mul", "div"):
        (a, p), (b, r) = (derive(each, line) for each in tree.args)
        f, g = map(line.here, tree.args)
        functions = " ".join(line.function(each) for each in tree.args)
        cross = Tree("mul", (a, g)), Tree("mul", (f, b))
        if tree.op == "mul":
            return Tree("add", cross), f"(al_mult {line.head} {functions} _ _ {p} {r})"
        value = Tree("div", (Tree("sub", cross), Tree("pow", (g,), 2)))
        return value, f"(al_div {line.head} {functions} _ _ {p} {r} {_nonzero(g, line)})"
    return _of_function(tree, line)


def _nonzero(tree: Tree, line: Line) -> str:
    return f"(not_eq_sym (neg_pos _ {_positive(tree, line)}))"


def _positive(tree: Tree, line: Line) -> str:
    sign = proof_of_sign(tree, line.known)
    if sign is None or not sign[0]:
        return f"(ltac:(first [positively | counting]) : 0 < {tree})"
    return sign[1]


def _of_function(tree: Tree, line: Line) -> Derived:
    if tree.op == "inv":
        a, p = derive(tree.args[0], line)
        f = line.here(tree.args[0])
        value = Tree("div", (Tree("opp", (a,)), Tree("pow", (f,), 2)))
        return value, f"(al_inv {line.head} {line.function(tree.args[0])} _ {p} {_nonzero(f, line)})"
    if tree.op == "pow":
        a, p = derive(tree.args[0], line)
        n, f = tree.leaf, line.here(tree.args[0])
        raised = f if n == 2 else Tree("pow", (f,), n - 1)
        value = Tree("mul", (Tree("mul", (number(n), a)), raised))
        shape = f"(al_pow {line.head} {n} {line.function(tree.args[0])} _ {p})"
        return (
            value,
            f"(ltac:(let H := fresh in pose proof {shape} as H; cbn [pred] in H; "
            "rewrite ?pow_1, INR_IZR_INZ in H; exact H))",
        )
    if tree.op == "rpow":
        (a, p), (b, r) = (derive(each, line) for each in tree.args)
        f, e = map(line.here, tree.args)
        inner = Tree("add", (Tree("mul", (b, call("ln", f))), Tree("mul", (e, Tree("mul", (a, Tree("inv", (f,))))))))
        functions = " ".join(line.function(each) for each in tree.args)
        proof = f"(al_rpow {line.head} {functions} _ _ {p} {r} {_positive(f, line)})"
        return Tree("mul", (inner, Tree("rpow", (f, e)))), proof
    if tree.op == "call" and tree.leaf in ("exp", "ln"):
        a, p = derive(tree.args[0], line)
        f, function = line.here(tree.args[0]), line.function(tree.args[0])
        if tree.leaf == "exp":
            return Tree("mul", (a, call("exp", f))), f"(al_exp {line.head} {function} _ {p})"
        return Tree("mul", (a, Tree("inv", (f,)))), f"(al_ln {line.head} {function} _ {p} {_positive(f, line)})"
    if tree.op == "call":
        return _of_unknown(tree, line)
    raise Untranslated(f"the derivative of {tree.leaf or tree.op}")


def _of_unknown(tree: Tree, line: Line) -> Derived:
    word, args = str(tree.leaf), tree.args
    here = [line.here(each) for each in args]
    if word in SPACE and line.by_coordinate and str(args[0]) == "xi":
        smooth = f"({word}_smooth {line.at} i_c)"
        if word != "ratio_at":
            smooth = f"(proj2 ({word}_smooth {line.at} {here[1]} {_positive(here[1], line)}) i_c)"
        function = Tree("lam", (tree,), XI)
        value = call("partial", Tree("text", (), "i_c"), function, line.at)
        return value, f"(al_partial i_c {function} {line.at} {smooth})"
    if word in ("p_at", "p_prime_at") and not line.by_coordinate and str(args[1]) == "xi":
        smooth = f"(proj1 ({word}_smooth {here[0]} {line.at} {_positive(line.at, line)}))"
        function = Tree("fun", (tree,), XI)
        return call("Derive", function, line.at), f"(al_unknown {function} {line.at} {smooth})"
    if word == "renyi_at" and not line.by_coordinate:
        (a, p), (b, r) = (derive(each, line) for each in args)
        xi = Tree("var", (), XI)
        first = call("Derive", Tree("fun", (Tree("call", (xi, here[1]), word),), XI), here[0])
        second = call("Derive", Tree("fun", (Tree("call", (here[0], xi), word),), XI), here[1])
        smooth = f"({word}_smooth {here[0]} {here[1]} {_positive(here[0], line)} {_positive(here[1], line)})"
        functions = " ".join(line.function(each) for each in args)
        value = Tree("add", (Tree("mul", (first, a)), Tree("mul", (second, b))))
        if str(args[0]) == "xi" and not _varies(args[1]):
            value, chosen = first, True
        elif str(args[1]) == "xi" and not _varies(args[0]):
            value, chosen = second, True
        else:
            chosen = False
        proof = f"(al_2d renyi_at {functions} {line.at} _ _ {p} {r} {smooth})"
        if chosen:
            plain = "rewrite ?Rmult_0_r, ?Rmult_1_r, ?Rplus_0_l, ?Rplus_0_r in H; exact H"
            proof = f"(ltac:(let H := fresh in pose proof {proof} as H; cbv beta in H; {plain}))"
        return value, proof
    raise Untranslated(f"the derivative of {word}")
