"""Using one lemma in the proof of another: what stands for what, ranges, and numbers that differ in form only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sympy import Basic, Lambda, S, Symbol, cancel, expand, fraction, together

from hsdp_symbolic.proof.algebra import normal_form
from hsdp_symbolic.proof.facts.diffusion import Converges
from hsdp_symbolic.proof.kernel import Theorem
from hsdp_symbolic.proof.kernel.values import replacer
from hsdp_symbolic.proof.propositions import Abbreviation, Anything, AtMost, Equal, Less, Proposition, Term
from hsdp_symbolic.symbols import fresh

from .derivatives import Line
from .equality import back, equal, unused
from .facts import Binders, binders_of, ranges_of, ranges_of_function
from .trees import Tree, Untranslated, name_of, number, proof_of_sign, tree_of, variable
from .words import kind_premise, variable_for, written

Lines = list[str]


@dataclass
class Lemma:
    """A node of a proof in Coq: its statement, and the tactics that prove it."""

    name: str
    theorem: Theorem
    binders: Binders
    statement: str
    proof: str
    uses: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"Lemma {self.name} : {self.statement}.\nProof. {self.proof} Qed.\n"


Hypothesis = tuple[Proposition, str]


@dataclass
class Work:
    """What a rule needs to write one proof."""

    node: Theorem
    names: Mapping[int, str]
    """The lemma of each theorem, by identity."""
    binders: Binders
    lines: Lines = field(default_factory=list)
    given: list[Hypothesis] = field(default_factory=list)
    extra: list[tuple[Tree, bool, str]] = field(default_factory=list)
    """Signs that are known besides those of symbols: of what, whether strictly, by which proof."""
    used: list[str] = field(default_factory=list)
    bound: frozenset[Any] = frozenset()
    """Names that the proof itself introduces."""

    def known(self, tree: Tree) -> tuple[bool, str] | None:
        text = str(tree)
        for each, strict, proof in self.extra:
            if str(each) == text:
                return strict, proof
        if tree.op == "var" and not tree.leaf.is_positive:
            for said, name in self.given:
                if isinstance(said, AtMost) and said.right == tree.leaf and said.left.is_positive:
                    return True, f"(Rlt_le_trans 0 _ _ {sure(said.left)} {name})"
                if said == Less(S.Zero, tree.leaf):
                    return True, name
        if tree.op == "sub":
            return self._difference(tree)
        return None

    def _difference(self, tree: Tree) -> tuple[bool, str] | None:
        """The sign of a difference, from hypotheses that bound it."""
        letters: dict[str, Any] = {}
        value = expand(back(tree, letters, {}))
        if letters:
            return None
        if value.is_positive or value.is_nonnegative:
            strict = bool(value.is_positive)
            return strict, f"(ltac:(counting) : 0 {'<' if strict else '<='} {tree})"
        for said, _ in self.given:
            if isinstance(said, AtMost | Less):
                more = expand(value - (said.right - said.left))
                if more.is_nonnegative:
                    strict = isinstance(said, Less) or bool(more.is_positive)
                    return strict, f"(ltac:(counting) : 0 {'<' if strict else '<='} {tree})"
        return None

    def say(self, line: str) -> None:
        self.lines.append(line)

    def inputs(self) -> dict[str, Any]:
        return dict(self.node.inputs)


def sure(expr: Any) -> str:
    """A proof that a number is positive."""
    found = proof_of_sign(tree_of(expr))
    assert found is not None
    return found[1]


def conversion(work: Work, pairs: Sequence[tuple[Tree, Tree]], proof: str) -> str:
    """Tactics for a goal that differs from what `proof` proves in numbers only: `pairs` of these, proved and wanted."""
    lines, done = [], set[tuple[str, str]]()
    for have, want in pairs:
        key = (str(have), str(want))
        if key[0] != key[1] and key not in done:
            done.add(key)
            lines.append(f"assert (Q{unused()} : {have} = {want}) by ({equal(have, want, work.known)})")
    if not done:
        return f"exact {proof}"
    return "; ".join([*lines, f"refine (eq_ind _ (fun p : Prop => p) {proof} _ _); cong"])


def paired(template: object, env: Mapping[Any, Any], simple: object) -> list[tuple[Tree, Tree]]:
    """Numbers of a proposition with `env` put in, each with the number that stands there when all is simplified."""
    if isinstance(template, Anything) and template in env:
        return []
    if isinstance(template, Lambda):
        return []
    if isinstance(template, Converges):
        assert isinstance(simple, Converges)
        return [tuple(each.args[0] for each in pair) for pair in paired(template.integral, env, simple.integral)]  # type: ignore[misc]
    if isinstance(template, Basic):
        numbers = {key: value for key, value in env.items() if isinstance(value, Tree | Lambda)}
        assert isinstance(simple, Basic)
        return [(tree_of(template, numbers), tree_of(simple))]
    if isinstance(template, Abbreviation) and isinstance(simple, Equal):
        return paired(template.symbol, env, simple.left) + paired(template.meaning, env, simple.right)
    if isinstance(template, Equal) and isinstance(simple, Abbreviation):
        return paired(template.left, env, simple.symbol) + paired(template.right, env, simple.meaning)
    if isinstance(template, Term):
        assert isinstance(simple, Term)
        parts = zip(template.parts(), simple.parts(), strict=True)
        return [pair for mine, theirs in parts for pair in paired(mine, env, theirs)]
    if isinstance(template, tuple):
        assert isinstance(simple, tuple)
        return [pair for mine, theirs in zip(template, simple, strict=True) for pair in paired(mine, env, theirs)]
    return []


def turned(pairs: list[tuple[Tree, Tree]]) -> list[tuple[Tree, Tree]]:
    return [(other, one) for one, other in pairs]


def trees_in(part: object, env: Mapping[Any, Any] | None = None) -> list[Tree]:
    numbers = {key: value for key, value in (env or {}).items() if isinstance(value, Tree | Lambda)}
    return [tree_of(each, numbers) for each in _expressions(part)]


def _expressions(part: object) -> list[Basic]:
    return [each for each in part.expressions() if not isinstance(each, Lambda)] if isinstance(part, Term) else []


def provided(work: Work, wanted: Proposition) -> tuple[Proposition, str] | None:
    """A hypothesis or lemma in the context that says this."""
    for said, name in work.given:
        if said == wanted:
            return said, name
        if isinstance(wanted, AtMost) and said == Less(wanted.left, wanted.right):
            return wanted, f"(Rlt_le _ _ {name})"
        if isinstance(wanted, Abbreviation) and said == Equal(wanted.symbol, wanted.meaning):
            return wanted, name
        if isinstance(said, Abbreviation) and wanted == Equal(said.symbol, said.meaning):
            return wanted, name
    return None


def supply(work: Work, wanted: Proposition, env: Mapping[Any, Any], change: Callable[[object], object]) -> str:
    """A proof of a proposition with `env` put in."""
    now = wanted.changed(change)
    found = provided(work, now)
    if found is None:
        raise Untranslated(f"nothing proves {now}")
    text = written(wanted, env)
    if text == written(found[0]):
        return found[1]
    pairs = turned(paired(wanted, env, now))
    return f"(ltac:({conversion(work, pairs, found[1])}) : {text})"


def in_range(
    work: Work, symbol: Symbol, value: Tree | None, ranges: Sequence[tuple[Theorem, str]], expr: Any
) -> list[str]:
    """Proofs that a value lies in the range of a symbol."""
    found = []
    if value is None:
        return ["ltac:(lra)" if each.startswith("0") else "(whole_num 1)" for _, each in ranges_of(symbol)]
    sign = proof_of_sign(value, work.known)
    for _, said in ranges_of(symbol):
        if said.startswith("whole"):
            found.append(f"(ltac:(whole) : whole {value})")
        elif said.startswith("0 <="):
            found.append(sign_term(work, value, sign, False, ranges, expr))
        else:
            found.append(sign_term(work, value, sign, True, ranges, expr))
    return found


def sign_term(
    work: Work,
    value: Tree,
    sign: tuple[bool, str] | None,
    strict: bool,
    ranges: Sequence[tuple[Theorem, str]],
    expr: Any,
) -> str:
    if sign is not None and (sign[0] or not strict):
        return sign[1] if sign[0] == strict else f"(Rlt_le _ _ {sign[1]})"
    relation = "<" if strict else "<="
    for theorem, name in ranges:
        said = theorem.proposition
        if not isinstance(said, AtMost | Less) or expr is None:
            continue
        more = normal_form(expr - (said.right - said.left), lambda node: False)
        if more.is_number and more.is_nonnegative and (isinstance(said, Less) or more.is_positive or not strict):
            gap = Tree("add", (Tree("sub", (tree_of(said.right), tree_of(said.left))), tree_of(more)))
            same = equal(gap, value, work.known)
            tactic = f"first [lra | replace {value} with {gap} by ({same}); pose proof {name}; lra]"
            return f"(ltac:({tactic}) : 0 {relation} {value})"
    proof = by_polynomial(work, value, expr)
    if proof is None:
        raise Untranslated(f"the range of {expr}")
    return f"(ltac:({proof}) : 0 {relation} {value})"


def by_polynomial(work: Work, tree: Tree, expr: Any) -> str | None:
    """The sign of what is a polynomial without negative coefficients once fractions are reduced."""
    if expr is None:
        return None
    counts = sorted((s for s in expr.free_symbols if s.is_integer and s.is_positive), key=str)
    from_one = {symbol: fresh(symbol.name, integer=True, nonnegative=True) for symbol in counts}
    for put in ({}, from_one):
        top, bottom = fraction(cancel(together(expr.subs({s: 1 + f for s, f in put.items()}, simultaneous=True))))
        less = {f: Tree("sub", (variable(s), number(1))) for s, f in put.items()}
        new = tree_of(top, less) if bottom == 1 else Tree("div", (tree_of(top, less), tree_of(bottom, less)))
        extra = [(each, False, f"{name_of(s)}_less") for s, each in zip(put, less.values(), strict=True)]

        def known(each: Tree, extra: list[tuple[Tree, bool, str]] = extra) -> tuple[bool, str] | None:
            return next(((s, p) for t, s, p in extra if str(t) == str(each)), None) or work.known(each)

        sign = proof_of_sign(new, known)
        if sign is not None:
            steps = [
                f"assert ({word}_less : 0 <= {word} - 1) by (apply slack; "
                f"pose proof (next_whole 0 {word} (whole_num 0) {word}_wh {word}_pos); lra)"
                for word in map(name_of, put)
            ]
            weaken = f"first [exact {sign[1]} | exact (Rlt_le _ _ {sign[1]})]"
            return "; ".join([*steps, f"replace {tree} with {new} by ({equal(new, tree, known)})", weaken])
    return None


def instance(
    work: Work,
    premise: Theorem,
    put: Mapping[Any, Any] | None = None,
    ranges: Sequence[tuple[Theorem, str]] = (),
    env: Mapping[Any, Any] | None = None,
) -> str:
    """The lemma of a premise, applied: `put` says what stands for what, as expressions; `env` as trees and text."""
    put = dict(put or {})
    env = dict(env) if env is not None else environment(put)
    change = replacer(put) if put else (lambda part: part)
    name = work.names[id(premise)]
    work.used.append(name)
    binders = binders_of(premise.proposition, *premise.hypotheses)
    mine = set(work.binders.symbols)
    args: list[str] = []
    for anything, sort in binders.anything:
        text = env.get(anything)
        if text is None:
            text = variable_for(anything) if anything in dict(work.binders.anything) else f"default_{sort}"
        args.append(str(text))
    args += [name_of(each) for each in binders.functions] + list(binders.place)
    values: list[tuple[Symbol, Tree | None, Any]] = []
    for symbol in binders.symbols:
        value = env.get(symbol, variable(symbol) if symbol in mine or symbol in work.bound else None)
        values.append((symbol, value, put.get(symbol, symbol)))
        args.append("1" if value is None else str(value))
    args += ["ltac:(kind)" for each, _ in binders.anything if kind_premise(each)]
    args += [name for each in binders.functions for name, _ in ranges_of_function(name_of(each))]
    for symbol, value, expr in values:
        if symbol not in env and value is not None:
            args += [each for each, _ in ranges_of(symbol)]
        else:
            args += in_range(work, symbol, value, ranges, expr)
    args += [supply(work, each, env, change) for each in premise.hypotheses]
    return f"({name} {' '.join(args)})" if args else name


def environment(put: Mapping[Any, Any]) -> dict[Any, Any]:
    """What stands for what, as trees and as text."""
    found: dict[Any, Any] = {}
    for key, value in put.items():
        if isinstance(key, Symbol):
            found[key] = tree_of(value)
        elif isinstance(key, Anything):
            found[key] = written(value)
        elif isinstance(value, Lambda):
            found[key] = value
        else:
            raise Untranslated("what stands for a function")
    return found


def have(work: Work, premise: Theorem, label: str) -> str:
    """Put what a premise says into the context."""
    work.say(f"pose proof {instance(work, premise)} as {label}")
    return label


def conclude(work: Work, have_: Proposition, env: Mapping[Any, Any], proof: str) -> None:
    """The goal, from a proof of a proposition with `env` put in."""
    pairs = paired(have_, env, work.node.proposition)
    work.say(conversion(work, pairs, proof))


def ranged(work: Work, ranges: Sequence[Theorem]) -> list[tuple[Theorem, str]]:
    found = []
    for place, each in enumerate(ranges):
        name = have(work, each, f"R{place}")
        found.append((each, name))
        note_sign(work, each.proposition, name)
    return found


def note_sign(work: Work, said: Proposition, name: str) -> None:
    """Remember the sign that a theorem tells."""
    if isinstance(said, AtMost | Less):
        strict = isinstance(said, Less)
        if said.left == 0:
            work.extra.append((tree_of(said.right), strict, name))
        else:
            word = "slack_strictly" if strict else "slack"
            tree = tree_of(said.right - said.left)
            relation = "<" if strict else "<="
            work.extra.append((tree, strict, f"(ltac:(pose proof ({word} _ _ {name}); lra) : 0 {relation} {tree})"))


def put_xi(tree: Tree, value: Tree) -> Tree:
    return Line(value, False, work_nothing).here(tree)


def work_nothing(_: Tree) -> None:
    return None
