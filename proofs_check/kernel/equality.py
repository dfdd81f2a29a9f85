"""Equality of two trees: powers, logarithms and sums are written in common letters, and the rest is Coq's `field`.

Python only says how a power splits; every step is proved in Coq.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count

from sympy import Dummy, Expr, Pow, Rational, S, cancel, expand, ilcm, together

from hsdp_symbolic.symbols import fresh

from .derivatives import evaluated
from .trees import BINDERS, Known, Tree, call, name_of, nothing, number, proof_of_sign, tree_of, walk

_ATOMS = ("rpow", "call")


_OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


def back(tree: Tree, letters: dict[str, Dummy], meaning: dict[Dummy, Tree]) -> Expr:
    """A tree as a SymPy expression, in letters for all that is not a sum, product or whole power."""
    if tree.op in _OPERATORS:
        return _OPERATORS[tree.op](*(back(each, letters, meaning) for each in tree.args))
    match tree.op:
        case "num":
            return S(tree.leaf)
        case "var":
            return tree.leaf
        case "opp":
            return -back(tree.args[0], letters, meaning)
        case "inv":
            return 1 / back(tree.args[0], letters, meaning)
        case "pow":
            return back(tree.args[0], letters, meaning) ** tree.leaf
    if tree.op == "call" and tree.leaf == "exp" and _plain(tree.args[0]) == 0:
        return S.One
    if tree.op == "call" and tree.leaf == "ln" and _plain(tree.args[0]) == 1:
        return S.Zero
    if tree.op == "call" and tree.leaf in ("Derive", "partial"):
        value = evaluated(tree, nothing)
        if value is not None:
            return back(value[0], letters, meaning)
    key = canonical(tree)
    if key not in letters:
        letters[key] = fresh(f"a{len(letters)}", positive=True)
        meaning[letters[key]] = tree
    return letters[key]


def canonical(tree: Tree) -> str:
    """Atoms of one value, as far as arithmetic within tells, have one canonical form."""
    if tree.op == "text":
        return str(tree.leaf)
    if tree.op == "call" and tree.leaf in ("Derive", "partial") and (value := evaluated(tree, nothing)) is not None:
        return canonical(value[0])
    if tree.op in ("call", "rpow"):
        return f"{tree.op} {tree.leaf} " + "; ".join(map(canonical, tree.args))
    if tree.op in BINDERS:
        return f"fun {tree.leaf}. {canonical(tree.args[0])}"
    return str(_plain(tree))


def _normal(expr: Expr) -> Expr:
    """Expanded; reduced first if it divides by letters."""
    found = expand(expr)
    if any(each.exp.is_negative and not each.base.is_number for each in found.atoms(Pow)):
        return expand(cancel(together(expr)))
    return found


def _plain(tree: Tree) -> Expr:
    letters: dict[str, Dummy] = {}
    meaning: dict[Dummy, Tree] = {}
    found = _normal(back(tree, letters, meaning))
    return found.xreplace({letter: fresh("{" + key + "}", positive=True) for key, letter in letters.items()})


@dataclass(frozen=True)
class Nonzero:
    """A hypothesis of the form 0 < e that is in the context: its name, and e."""

    name: str
    tree: Tree


@dataclass
class Letters:
    """What atoms are written in: the generators, each with a proof that it is positive, if it is."""

    known: Known
    close: bool
    facts: list[str] = field(default_factory=list)
    generators: dict[str, Tree] = field(default_factory=dict)
    representative: dict[str, Tree] = field(default_factory=dict)
    done: dict[str, Tree] = field(default_factory=dict)
    closing: list[tuple[Tree, str]] = field(default_factory=list)
    steps: dict[tuple[str, Expr], Rational] = field(default_factory=dict)
    letters: dict[str, Dummy] = field(default_factory=dict)
    meaning: dict[Dummy, Tree] = field(default_factory=dict)
    bases: dict[str, Tree] = field(default_factory=dict)
    """Sums that are raised to powers, by their value."""
    positive: Sequence[Nonzero] = ()
    counted: set[tuple[object, ...]] = field(default_factory=set)
    """The factorials and binomial coefficients that occur."""

    def rewritten(self, tree: Tree) -> Tree:
        """The tree with its atoms written in generators."""
        if tree.op in _ATOMS:
            return self._atom(tree)
        return Tree(tree.op, tuple(self.rewritten(each) for each in tree.args), tree.leaf)

    def _atom(self, tree: Tree) -> Tree:
        text = str(tree)
        if text not in self.done:
            self.done[text] = self._written(tree)
        return self.done[text]

    def _written(self, tree: Tree) -> Tree:
        if tree.op == "rpow":
            found = self._split(tree.args[0], self.back(tree.args[1]))
            if str(found) != str(tree):
                self.facts.append(f"({tree} = {found})|power")
            return found
        if tree.leaf == "exp":
            found = self._split(None, self.back(tree.args[0]))
            if str(found) != str(tree):
                self.facts.append(f"({tree} = {found})|power")
            return found
        if tree.leaf in ("Derive", "partial") and (worked := evaluated(tree, self.known)) is not None:
            value = self.rewritten(worked[0])
            self.facts.append(f"({tree} = {value})|transitivity {worked[0]}; [{worked[1]} | cong]")
            return value
        if tree.leaf == "ln" and (split := self._logarithm(tree)) is not None:
            return split
        if tree.leaf == "expm1":
            inner = self._atom(call("exp", tree.args[0]))
            less = Tree("sub", (inner, number(1)))
            self.facts.append(f"({tree} = {less})|unfold expm1; cong")
            return less
        if tree.leaf == "gsum" and (sum_ := self._evaluated(tree)) is not None:
            return sum_
        if tree.leaf == "gsum" and self.close and not _is_num(tree.args[0]):
            return self._closed(tree)
        if tree.leaf in ("rfact", "rbinom") and (counted := self._previous(tree)) is not None:
            return counted
        return self._opaque(tree)

    def _previous(self, tree: Tree) -> Tree | None:
        """A factorial by that of one less, a binomial coefficient by that of one more, where these occur too."""
        args = [_plain(each) for each in tree.args]
        step = -1 if tree.leaf == "rfact" else 1
        other = tuple(each + step for each in args)
        if (tree.leaf, *other) not in self.counted:
            return None
        near = call(tree.leaf, *(tree_of(each) for each in other))
        inner = self._atom(near)
        if tree.leaf == "rfact":
            n = tree_of(args[0])
            found = Tree("mul", (n, inner))
            self.facts.append(
                f"({tree} = {found})|transitivity (rfact {n}); [f_equal; same|]; rewrite (rfact_prev {n}) by "
                f"(first [whole | positively | lra]); apply f_equal; "
                f"first [reflexivity | transitivity {near}; [f_equal; same | cong]]"
            )
            return found
        n, k = (tree_of(each) for each in other)
        found = Tree("mul", (Tree("div", (k, n)), inner))
        self.facts.append(
            f"({tree} = {found})|transitivity (rbinom ({n} - 1) ({k} - 1)); [f_equal; same|]; "
            f"rewrite (rbinom_prev {n} {k}) by (first [whole | positively | lra]); cong"
        )
        return found

    def _evaluated(self, tree: Tree) -> Tree | None:
        """A geometric sum of no or of one term, or of ones."""
        x, k = tree.args
        count, ratio = _plain(k), _plain(x)
        if count in (0, 1):
            found = number(int(count))
            at = "" if k.op == "num" else f"transitivity (gsum {x} {count}); [f_equal; same|]; "
            self.facts.append(f"({tree} = {found})|{at}exact (gsum_{count} {x})")
            return found
        if ratio == 1:
            found = self.rewritten(k)
            at = "" if x.op == "num" else f"transitivity (gsum 1 {k}); [f_equal; same|]; "
            self.facts.append(f"({tree} = {found})|{at}rewrite gsum_of_1; [cong | whole]")
            return found
        return None

    def _logarithm(self, tree: Tree) -> Tree | None:
        """The logarithm of a product as a sum."""
        if _plain(tree.args[0]) == 1:
            self.facts.append(f"({tree} = 0)|replace {tree.args[0]} with 1 by same; exact ln_1")
            return number(0)
        parts = self.powers(tree.args[0], S.One)
        if len(parts) == 1 and parts[0][0] is not None and parts[0][1] == 1:
            return None
        found: Tree | None = None
        for base, power in parts:
            times = tree_of(_normal(power), dict(self.meaning))
            term = times if base is None else Tree("mul", (times, call("ln", base)))
            found = term if found is None else Tree("add", (found, term))
        found = found or number(0)
        value = self.rewritten(found)
        self.facts.append(
            f"({tree} = {value})|transitivity {found}; [logs; first [ring | field; repeat split; unzero] | cong]"
        )
        return value

    def _opaque(self, tree: Tree) -> Tree:
        key = canonical(tree)
        first = self.representative.setdefault(key, tree)
        self.generators.setdefault(str(first), first)
        if str(first) != str(tree):
            self.facts.append(f"({tree} = {first})|" + within(tree, first, self.known))
        return first

    def _closed(self, tree: Tree) -> Tree:
        x, k = tree.args
        powers = Tree("rpow", (x, k))
        raised = self._atom(powers)
        below = Tree("sub", (number(1), self.rewritten(x)))
        found = Tree("div", (Tree("sub", (number(1), raised)), below))
        self.closing.append((x, str(tree)))
        sign_x = proof_of_sign(x, self.known)
        pos_x = f"exact {sign_x[1]}" if sign_x and sign_x[0] else "positively"
        self.facts.append(f"({tree} = {found})|rewrite (gsum_closed {x} {k}); [cong | {pos_x} | not_one | whole]")
        return found

    def _split(self, base: Tree | None, exponent: Expr) -> Tree:
        above: list[Tree] = []
        below: list[Tree] = []
        for each, power in self.powers(base, exponent):
            for term in _normal(power).as_ordered_terms():
                times, monomial = _coefficient(term)
                if times == 0:
                    continue
                if (
                    each is None
                    and monomial in self.meaning
                    and self.meaning[monomial].leaf == "ln"
                    and times.is_Integer
                ):
                    self._positive(self.meaning[monomial].args[0])
                    inner = self.rewritten(self.meaning[monomial].args[0])
                    (above if times > 0 else below).append(_raise(inner, abs(int(times))))
                    continue
                step = self.steps.get((str(each), monomial), S.One)
                raised = _raise(self._generator(each, monomial * step), abs(int(times / step)))
                (above if times > 0 else below).append(raised)
        top = reduce(lambda x, y: Tree("mul", (x, y)), above) if above else number(1)
        return Tree("div", (top, reduce(lambda x, y: Tree("mul", (x, y)), below))) if below else top

    def powers(self, base: Tree | None, exponent: Expr) -> list[tuple[Tree | None, Expr]]:
        """A power as a product of powers of what is no product."""
        if base is None:
            return [(None, exponent)]
        match base.op:
            case "mul":
                return self.powers(base.args[0], exponent) + self.powers(base.args[1], exponent)
            case "div":
                return self.powers(base.args[0], exponent) + self.powers(base.args[1], -exponent)
            case "inv":
                return self.powers(base.args[0], -exponent)
            case "pow":
                return self.powers(base.args[0], exponent * base.leaf)
            case "rpow":
                return self.powers(base.args[0], exponent * self.back(base.args[1]))
            case "num" if base.leaf == 1:
                return []
            case "call" if base.leaf == "exp":
                return [(None, exponent * self.back(base.args[0]))]
            case "add" | "sub":
                return self._of_sum(base, exponent)
        return [(base, exponent)]

    def _of_sum(self, base: Tree, exponent: Expr) -> list[tuple[Tree | None, Expr]]:
        """A sum has one form among all that are equal to it; that may be a product."""
        value = cancel(together(self.back(base)))
        first = self.bases.get(str(value))
        if first is None:
            first = tree_of(value, dict(self.meaning))
            if value.is_Add or not self._has_positive_factors(first):
                first = base
            self.bases[str(value)] = first
        if str(first) != str(base):
            self.facts.append(
                f"(0 < {base})|replace {base} with {first} by ({equal(first, base, self.known)}); positively"
            )
            self.facts.append(f"(ln {base} = ln {first})|f_equal; {equal(base, first, self.known)}")
        return [(first, exponent)] if first.op in ("add", "sub") else self.powers(first, exponent)

    def _has_positive_factors(self, tree: Tree) -> bool:
        if tree.op in ("mul", "div", "inv", "pow"):
            return all(map(self._has_positive_factors, tree.args))
        sign = proof_of_sign(tree, self.known)
        return sign is not None and sign[0]

    def _positive(self, tree: Tree) -> None:
        """Say that what a logarithm is of is positive, if a hypothesis says so in other words."""
        for each in self.positive:
            if str(each.tree) != str(tree) and cancel(self.back(each.tree) - self.back(tree)) == 0:
                self.facts.append(
                    f"(0 < {tree})|replace {tree} with {each.tree} by "
                    f"({equal(each.tree, tree, self.known)}); exact {each.name}"
                )
                return

    def back(self, tree: Tree) -> Expr:
        return back(tree, self.letters, self.meaning)

    def _generator(self, base: Tree | None, exponent: Expr) -> Tree:
        power = tree_of(exponent, dict(self.meaning))
        if base is None:
            found = call("exp", power)
        elif exponent == 1:
            return self.rewritten(base) if base.op in _ATOMS else base
        else:
            found = Tree("rpow", (base, power))
        self.generators.setdefault(str(found), found)
        return found

    def scan(self, trees: Iterable[Tree]) -> None:
        """Find the least common part of rational multiples in exponents, so that generators have whole powers."""
        dens: dict[tuple[str, Expr], int] = {}
        for tree in trees:
            for each in walk(tree):
                if each.op == "call" and each.leaf in ("rfact", "rbinom"):
                    self.counted.add((each.leaf, *map(_plain, each.args)))
                found: list[tuple[Tree | None, Expr]] = []
                if each.op == "rpow" or (each.op == "call" and each.leaf == "gsum" and self.close):
                    found = self.powers(each.args[0], self.back(each.args[1]))
                elif each.op == "call" and each.leaf in ("exp", "expm1"):
                    found = [(None, self.back(each.args[0]))]
                for base, power in found:
                    for term in _normal(power).as_ordered_terms():
                        times, monomial = _coefficient(term)
                        if times != 0:
                            key = (str(base), monomial)
                            dens[key] = int(ilcm(dens.get(key, 1), times.q))
        self.steps = {key: Rational(1, value) for key, value in dens.items()}


def _coefficient(term: Expr) -> tuple[Rational, Expr]:
    times, monomial = term.as_coeff_Mul()
    return (times, monomial) if times.is_Rational else (S.One, term)


def _is_num(tree: Tree) -> bool:
    return tree.op == "num" or (tree.op == "div" and all(each.op == "num" for each in tree.args))


def _raise(base: Tree, power: int) -> Tree:
    return base if power == 1 else Tree("pow", (base,), power)


def within(left: Tree, right: Tree, known: Known = nothing) -> str:
    """A proof that two calls of one function are equal, because their arguments are."""
    goals = []
    for mine, theirs in zip(left.args, right.args, strict=True):
        if str(mine) == str(theirs):
            continue
        if mine.op in BINDERS:
            goals.append(f"({extensional(mine, theirs, known)})")
        else:
            goals.append("(" + equal(mine, theirs, known) + ")")
    if not goals:
        return "reflexivity"
    return f"f_equal; [{' | '.join(goals)}]"


def extensional(mine: Tree, theirs: Tree, known: Known) -> str:
    """A proof that two functions are equal, because their values are."""
    word = name_of(mine.leaf)
    intro = f"apply functional_extensionality; intro {word}"
    if mine.op == "lam2":
        intro = f"apply functional_extensionality; intro i_c; {intro}"
    return f"{intro}; {equal(mine.args[0], theirs.args[0], known, close=True)}"


def equal(left: Tree, right: Tree, known: Known = nothing, nonzero: Sequence[Nonzero] = (), close: bool = False) -> str:
    """Tactics that prove left = right."""
    if str(left) == str(right):
        return "reflexivity"
    if left.op in BINDERS:
        return extensional(left, right, known)
    lines, left, right, letters = _begun(left, right, known, nonzero, close)
    new_left, new_right = letters.rewritten(left), letters.rewritten(right)
    apart = [(each.name, each.tree, letters.rewritten(each.tree)) for each in nonzero]
    divisors = _divisors(left, right, *(each.tree for each in nonzero))
    for old, sign in ((each, proof_of_sign(each, known)) for each in divisors):
        if sign is not None and sign[0] and old.op != "num":
            name = f"S{unused()}"
            lines.append(f"pose proof {sign[1]} as {name}")
            apart.append((name, old, letters.rewritten(old)))
    equations = [(f"A{unused()}", *each.split("|", 1)) for each in letters.facts]
    lines += [f"assert ({name} : {text}) by ({proof})" for name, text, proof in equations]
    for name, old, new in apart:
        fact, proof = f"K{unused()}", f"exact (not_eq_sym (neg_pos _ {name}))"
        if str(old) != str(new):
            proof = f"replace {new} with {old} by cong; {proof}"
        lines.append(f"assert ({fact} : {new} <> 0) by ({proof})")
    if str(new_left) != str(left):
        lines.append(f"transitivity {new_left}; [cong|]")
    if str(new_right) != str(right):
        lines.append(f"transitivity {new_right}; [|symmetry; cong]")
    if equations:
        lines.append("clear " + " ".join(name for name, _, _ in equations))
    return "; ".join([*lines, *_named(letters, known), "same"])


def _begun(
    left: Tree, right: Tree, known: Known, nonzero: Sequence[Nonzero], close: bool
) -> tuple[list[str], Tree, Tree, Letters]:
    """The letters in which both sides are written: with sums as they are if that is enough, else in closed form."""
    letters = _lettered(left, right, known, nonzero, False)
    if not close or _agree(letters, letters.rewritten(left), letters.rewritten(right)):
        return [], left, right, letters
    mixed = _mixed(left), _mixed(right)
    changed = (str(mixed[0]), str(mixed[1])) != (str(left), str(right))
    lines = [f"change ({mixed[0]} = {mixed[1]})"] if changed else []
    return lines, *mixed, _lettered(*mixed, known, nonzero, True)


def _lettered(left: Tree, right: Tree, known: Known, nonzero: Sequence[Nonzero], close: bool) -> Letters:
    letters = Letters(known, close, positive=nonzero)
    letters.scan([left, right, *(each.tree for each in nonzero)])
    letters.rewritten(left), letters.rewritten(right)
    return letters


def _named(letters: Letters, known: Known) -> list[str]:
    """Every generator gets a name, and is then any number, or any positive one."""
    lines = []
    for each in sorted(letters.generators.values(), key=lambda each: -len(str(each))):
        sign, name = proof_of_sign(each, known), f"G{unused()}"
        if sign is not None:
            lines.append(f"pose proof {sign[1]} as {name}_sign")
        lines.append(f"set ({name} := {each}) in *; clearbody {name}")
    return lines


def _mixed(tree: Tree) -> Tree:
    """The tree with what `log_mix` stands for in its place."""
    args = tuple(map(_mixed, tree.args))
    if tree.op == "call" and tree.leaf == "log_mix":
        w, x, y = args
        parts = Tree("mul", (w, call("exp", x))), Tree("mul", (Tree("sub", (number(1), w)), call("exp", y)))
        return call("ln", Tree("add", parts))
    return Tree(tree.op, args, tree.leaf)


def _agree(letters: Letters, left: Tree, right: Tree) -> bool:
    """Whether two trees are one rational function of their atoms."""
    return bool(cancel(letters.back(left) - letters.back(right)) == 0)


_COUNT = count()


def unused() -> int:
    """A number that no name in this proof has."""
    return next(_COUNT)


def begin() -> None:
    """Count names from 0 again, at the start of a proof."""
    global _COUNT
    _COUNT = count()


def _divisors(*trees: Tree) -> list[Tree]:
    found: dict[str, Tree] = {}
    for tree in trees:
        for each in walk(tree):
            if each.op == "div":
                found.setdefault(str(each.args[1]), each.args[1])
            elif each.op == "inv":
                found.setdefault(str(each.args[0]), each.args[0])
    return list(found.values())
