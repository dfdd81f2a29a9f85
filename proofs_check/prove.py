"""`prove_over`: an inequality between statements over a whole box of parameters, by branch and bound.

The box is cut in two until, on every piece, certified ranges of the two sides are apart (or a hypothesis fails, so
that nothing is claimed there); a point where the reverse is certain refutes the claim. The cuts are the certificate:
anyone can walk them again, with the other engine, and check each piece (`replay`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from sympy import Add, Expr, Or
from sympy.core.relational import Relational

from hsdp_symbolic import symbols
from hsdp_symbolic.arithmetic.engines import ENGINES, Engine
from hsdp_symbolic.catalogue import statement
from hsdp_symbolic.errors import ArgumentError, MissingArgument, UnsupportedNode
from hsdp_symbolic.evaluate.boxes import (
    PRECISION,
    Box,
    Range,
    admit_range,
    centre,
    halves,
    natural_range,
    ranged,
    vertices,
    widest,
)
from hsdp_symbolic.evaluate.branch_and_bound import branch_and_bound
from hsdp_symbolic.evaluate.enclosure import Enclosure, certainly, enclose, value_of
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.files import require_writable, write_atomically
from hsdp_symbolic.progress import Ticker
from hsdp_symbolic.setting.gate import admit
from hsdp_symbolic.setting.letters import LETTERS
from hsdp_symbolic.statement import Statement

FORMAT = "hsdp box proof 1"
DEFAULT_BUDGET = 20_000
OK, OUTSIDE, OPEN = "ok", "outside", "?"
MOST_VERTICES = 64
"""Corners of a piece that are tried as counterexamples."""
_CLAIM = re.compile(r"\s*(\S+)\s*(<=|<|>=|>)\s*(\S+)\s*", re.ASCII)


@dataclass(frozen=True)
class Inequality:
    """left `relation` right wherever all hypotheses hold."""

    left: Expr
    relation: str
    right: Expr
    hypotheses: tuple[Relational, ...]
    text: str

    @classmethod
    def between(cls, left: Statement, relation: str, right: Statement) -> Inequality:
        """Between the bounds of two statements, under the hypotheses of both."""
        if relation in (">", ">="):
            return cls.between(right, {">": "<", ">=": "<="}[relation], left)
        if left.quantity is not right.quantity:
            about = [
                f"{each.label} bounds {each.quantity.words if each.quantity else 'no run'}" for each in (left, right)
            ]
            raise ArgumentError(
                "claim", f"{left.label} {relation} {right.label}", ", ".join(about), "compare like with like"
            )
        hypotheses = tuple(dict.fromkeys(left.hypotheses + right.hypotheses))
        return cls(left.expr, relation, right.expr, hypotheses, f"{left.label} {relation} {right.label}")

    @classmethod
    def parse(cls, text: str) -> Inequality:
        """From text such as `thm:shuffle < mironov2019`."""
        match = _CLAIM.fullmatch(text)
        if not match:
            raise ArgumentError("claim", text, "not an inequality", "write LABEL < LABEL (or <=, >, >=)")
        return cls.between(statement(match[1]), match[2], statement(match[3]))

    @cached_property
    def quotient(self) -> Expr:
        """left/right, term by term, so that common factors cancel; equivalent where right > 0."""
        left, right = (symbols.with_costs_spelled(side) for side in (self.left, self.right))
        return Add(*(term / right for term in Add.make_args(left)))

    @cached_property
    def letters(self) -> frozenset[str]:
        """Everything that needs a value."""
        sides = [self.left, self.right]
        for hypothesis in self.hypotheses:
            for each in hypothesis.args if isinstance(hypothesis, Or) else (hypothesis,):
                sides += [each.lhs, each.rhs]
        return frozenset().union(*(compile_expression(side).leaves for side in sides))


class Outcome(StrEnum):
    """What came of a box, by interval arithmetic: `proved` means there. A verdict of the ledger asks for a theorem."""

    PROVED = "proved"
    UNDECIDED = "undecided"
    REFUTED = "refuted"


@dataclass
class BoxProof:
    """The outcome: a verdict, the cuts in the order of a depth-first walk, and the counterexample if there is one."""

    claim: str
    box: Box
    verdict: Outcome = Outcome.UNDECIDED
    cuts: list[str] = field(default_factory=lambda: [OPEN])
    counterexample: dict[str, Fraction] | None = None

    @property
    def pieces(self) -> int:
        return sum(cut in (OK, OUTSIDE, OPEN) for cut in self.cuts)

    @property
    def open_pieces(self) -> int:
        return self.cuts.count(OPEN)

    def __str__(self) -> str:
        told = f"{self.verdict}: {self.claim} over {_describe(self.box)}"
        if self.counterexample is not None:
            return f"{told}; fails at {_describe(self.counterexample)}"
        outside = self.cuts.count(OUTSIDE)
        beyond = f", {outside} of them outside the hypotheses" if outside else ""
        left = f", {self.open_pieces} still open" if self.open_pieces else ""
        return f"{told} ({self.pieces} piece{'s' if self.pieces > 1 else ''}{beyond}{left})"

    def save(self, path: str | Path) -> None:
        """Write the certificate; it holds everything `replay` and a later `prove_over` need."""
        point = self.counterexample
        record: dict[str, object] = {
            "format": FORMAT,
            "claim": self.claim,
            "box": {name: _plain(value) for name, value in sorted(self.box.items())},
            "verdict": str(self.verdict),
            "counterexample": point and {name: str(value) for name, value in sorted(point.items())},
            "cuts": " ".join(self.cuts),
        }
        write_atomically(path, json.dumps(record, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> BoxProof:
        """Read a certificate. Nothing in it is trusted: `replay` and `prove_over` check every piece again."""
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError(f"format {record['format']!r}")
            point = record["counterexample"]
            return cls(
                str(record["claim"]),
                {_known(name): _restored(name, value) for name, value in record["box"].items()},
                Outcome(record["verdict"]),
                record["cuts"].split(),
                point and {_known(name): admit(_gate(name), value) for name, value in point.items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArgumentError(
                "file", str(path), f"not a certificate ({error})", "give a file `hsdp prove` wrote"
            ) from error


def prove_over(
    box: Mapping[str, object],
    claim: str | Inequality,
    *,
    budget: int = DEFAULT_BUDGET,
    file: str | Path | None = None,
    engine: str = "arb",
) -> BoxProof:
    """Prove or refute `claim` over `box` (letter → number or pair); undecided if `budget` pieces do not suffice.

    With `file`, the certificate is written there, also after Ctrl-C, and an existing one is continued.

    >>> run = dict(n=50, b=2, K=(80, 120), eta=("0.01", "0.02"), lam=1, beta=4, sigma=2, S_g=4, alpha=(10, 15))
    >>> print(prove_over(run, "thm:shuffle < mironov2019").verdict)
    proved
    """
    inequality = Inequality.parse(claim) if isinstance(claim, str) else claim
    if engine not in ENGINES:
        raise ArgumentError("engine", engine, "no such engine", f"use {' or '.join(ENGINES)}")
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ArgumentError("budget", budget, "not a positive number of pieces", f"give e.g. {DEFAULT_BUDGET}")
    proof = BoxProof(inequality.text, _admit_box(box, inequality))
    settled = False
    if file is not None:
        require_writable(file)
        if Path(file).exists():
            earlier = BoxProof.load(file)
            settled = earlier.verdict is not Outcome.UNDECIDED
            if (earlier.claim, dict(earlier.box)) != (proof.claim, dict(proof.box)):
                raise ArgumentError(
                    "file", str(file), "holds the certificate of another claim or box", "choose a new file"
                )
            proof.cuts = earlier.cuts
    try:
        _Prover(inequality, engine).run(proof, budget)
    finally:
        if file is not None and not (settled and proof.verdict is Outcome.UNDECIDED):
            proof.save(file)
    return proof


def replay(proof: BoxProof, claim: str | Inequality | None = None, *, engine: str = "mpmath") -> bool:
    """Whether a certificate holds: every piece checked again, by default with the engine that did not make it.

    The pieces cover the box because they come from cutting it in two, again and again.
    """
    inequality = claim if isinstance(claim, Inequality) else Inequality.parse(claim or proof.claim)
    if engine not in ENGINES:
        raise ArgumentError("engine", engine, "no such engine", f"use {' or '.join(ENGINES)}")
    if proof.box.keys() != inequality.letters:
        raise ArgumentError(
            "file", sorted(proof.box), f"needs {sorted(inequality.letters)}", "make the certificate again"
        )
    prover = _Prover(inequality, engine)
    if proof.verdict is Outcome.REFUTED:
        point = proof.counterexample
        return point is not None and _inside(point, proof.box) and prover.fails_at(point)
    if proof.verdict is not Outcome.PROVED:
        return False
    ticker, pieces = Ticker(), [piece for piece in _Piece.tree(proof.box, proof.cuts).walk() if not piece.parts]
    for number, piece in enumerate(pieces):
        ticker.say(f"{number} of {len(pieces)} pieces checked")
        if piece.mark == OPEN or prover.decide(piece.box) != piece.mark:
            return False
    ticker.clear()
    return True


class _Piece:
    """A node of the tree of cuts: a mark, or a letter across which the box is cut and the two halves."""

    def __init__(self, box: Box, depth: int = 0) -> None:
        self.box, self.depth, self.mark = box, depth, OPEN
        self.parts: tuple[_Piece, ...] = ()

    def cut(self, name: str) -> None:
        self.mark = name
        self.parts = tuple(_Piece(half, self.depth + 1) for half in halves(self.box, name))

    def walk(self) -> Iterator[_Piece]:
        """This piece and all below it, first halves first; pieces may be cut while walking."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield here
            waiting += reversed(here.parts)

    @classmethod
    def tree(cls, box: Box, cuts: list[str]) -> _Piece:
        """The tree a list of cuts stands for; an error if they do not divide this box."""
        root, marks = cls(box), iter(cuts)
        for piece in root.walk():
            mark = next(marks, None)
            if mark in (OK, OUTSIDE, OPEN):
                piece.mark = mark
            elif mark in ranged(piece.box):
                piece.cut(mark)
            else:
                raise ArgumentError("file", mark, "the cuts do not divide the box", "make the certificate again")
        if next(marks, None) is not None:
            raise ArgumentError("file", "cuts", "there are more cuts than pieces", "make the certificate again")
        return root


class _Prover:
    """Decides pieces of a box, and cuts those it cannot decide."""

    def __init__(self, inequality: Inequality, engine: str) -> None:
        self._claim, self._name = inequality, engine
        self._engine: Engine = ENGINES[engine](PRECISION)
        self._conditions = [c.args if isinstance(c, Or) else (c,) for c in inequality.hypotheses]

    def run(self, proof: BoxProof, budget: int) -> None:
        """Check the settled pieces again, then cut open ones, large before small, until `budget` new ones are examined.

        `proof` is consistent whenever this is left; it counts as proved only if every piece was checked in this run.
        """
        ticker = Ticker()
        root = _Piece.tree(proof.box, proof.cuts)
        proof.verdict, proof.counterexample = Outcome.UNDECIDED, None
        settled = [piece for piece in root.walk() if piece.mark in (OK, OUTSIDE)]
        waiting = [piece for piece in root.walk() if piece.mark == OPEN]
        try:
            for checked, piece in enumerate(settled):
                ticker.say(f"{proof.claim}: {checked} of {len(settled)} pieces checked again")
                if self.decide(piece.box) != piece.mark:
                    piece.mark = OPEN
                    waiting.append(piece)
            branch_and_bound(
                waiting,
                rank=lambda piece: piece.depth,
                cut=lambda piece: self._examine(piece, proof),
                enough=lambda *_: proof.verdict is Outcome.REFUTED,
                budget=budget,
                report=lambda used, left: ticker.say(f"{proof.claim}: {used} pieces examined, {left} open"),
            )
            if all(piece.mark != OPEN for piece in root.walk()):
                proof.verdict = Outcome.PROVED
        finally:
            proof.cuts = [piece.mark for piece in root.walk()]
            ticker.clear()

    def _examine(self, piece: _Piece, proof: BoxProof) -> tuple[_Piece, ...]:
        """Mark a piece; if that leaves it open, look for a counterexample in it, or cut it: its parts."""
        piece.mark = self.decide(piece.box)
        if piece.mark != OPEN:
            return ()
        for point in (centre(piece.box), *itertools.islice(vertices(piece.box), MOST_VERTICES)):
            if self.fails_at(point):
                proof.verdict, proof.counterexample = Outcome.REFUTED, point
                return ()
        if ranged(piece.box):
            piece.cut(self._choose(piece.box))
        return piece.parts

    def decide(self, box: Box) -> str:
        """OK if the claim is certain on the whole box, OUTSIDE if a hypothesis fails on all of it, OPEN otherwise.

        A limit on η, or λ ≤ β, may cut through the box: the ranges only need every contraction to be positive.
        """
        inside = True
        with self._engine.working():
            for alternatives in self._conditions:
                pairs = [(h.rel_op, self._range(h.lhs, box), self._range(h.rhs, box)) for h in alternatives]
                if all(left and right and certainly(_OPPOSITE[op], left, right) for op, left, right in pairs):
                    return OUTSIDE
                inside &= self._assured(alternatives, box)
            if inside and self._holds(box):
                return OK
        if not ranged(box) and inside:
            return OK if self._certain(centre(box), self._claim.relation) else OPEN
        return OPEN

    def _assured(self, alternatives: tuple[Relational, ...], box: Box) -> bool:
        """Whether one of the alternatives holds on the whole box, or is a limit on η or λ (by β) that need not."""
        pairs = ((h.rel_op, self._range(h.lhs, box), self._range(h.rhs, box)) for h in alternatives)
        if any(left and right and certainly(op, left, right) for op, left, right in pairs):
            return True
        limits = len(alternatives) == 1 and alternatives[0].lhs in (symbols.eta, symbols.lam)
        return limits and alternatives[0].rel_op in ("<", "<=") and self._contracts(box)

    def _contracts(self, box: Box) -> bool:
        """Whether every contraction factor in the claim is positive on the whole box."""
        used = (self._claim.left + self._claim.right).free_symbols & symbols.CONTRACTIONS.keys()
        return all((found := self._range(q, box)) is not None and found.lo > 0 for q in used)

    def _holds(self, box: Box) -> bool:
        """Whether the ranges of the sides are apart, or that of their quotient is below 1."""
        left, right = self._range(self._claim.left, box), self._range(self._claim.right, box)
        if left is None or right is None:
            return False
        if certainly(self._claim.relation, left, right):
            return True
        strict = self._claim.relation == "<"
        if right.lo < 0 or (strict and right.lo == 0):
            return False
        quotient = self._range(self._claim.quotient, box)  # left is this times right, also where right is 0
        return quotient is not None and certainly(self._claim.relation, quotient, _ONE)

    def _choose(self, box: Box) -> str:
        """The letter to cut across: the one whose width costs most, seen by what fixing it alone would give."""
        middle = centre(box)
        with self._engine.working():
            doubtful = [h for group in self._conditions if not self._assured(group, box) for h in group]
            leaves = {leaf for h in doubtful for side in (h.lhs, h.rhs) for leaf in compile_expression(side).leaves}
            if at_stake := ranged(box) & leaves:
                return widest(box, at_stake)
            gains = {}
            for name in ranged(box):
                found = self._range(self._claim.quotient, {**box, name: middle[name]})
                gains[name] = found.hi if found else None
        known = {name: gain for name, gain in gains.items() if gain is not None}
        if not known or len(set(gains.values())) == 1:
            return widest(box, gains)
        least = min(known.values())
        return widest(box, [name for name, gain in known.items() if gain == least])

    def _range(self, expr: Expr, box: Box) -> Enclosure | None:
        try:
            found = natural_range(expr, box, self._engine)
        except UnsupportedNode:  # no rule for ranges of so many letters: fewer will do
            return None
        return None if found is None else Enclosure(*found)

    def fails_at(self, point: Mapping[str, Fraction]) -> bool:
        """Whether all hypotheses hold at a point and the claim certainly does not."""
        values = dict(point)
        for alternatives in self._conditions:
            sides = [
                (h.rel_op, *(value_of(compile_expression(s), values) for s in (h.lhs, h.rhs))) for h in alternatives
            ]
            if not any(certainly(*side) for side in sides):
                return False
        return self._certain(values, _OPPOSITE[self._claim.relation])

    def _certain(self, point: Mapping[str, Fraction], relation: str) -> bool:
        sides = (self._claim.left, self._claim.right)
        return certainly(relation, *(enclose(compile_expression(s), point, engine=self._name) for s in sides))


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_ONE = Enclosure(Fraction(1), Fraction(1))


def _admit_box(box: Mapping[str, object], claim: Inequality) -> Box:
    values: dict[str, Fraction | Range] = {}
    for name, value in box.items():
        if name not in LETTERS and name != "sigma_squared":
            raise ArgumentError("box", name, "no such letter", f"use {', '.join(LETTERS)}")
        values[name] = admit_range(name, value)
    if "sigma" in values and "sigma_squared" in values:
        raise ArgumentError("sigma_squared", box["sigma_squared"], "sigma is given too", "give one of the two")
    if "sigma" in values:
        values["sigma2"] = values.pop("sigma") ** 2
    if "sigma_squared" in values:
        values["sigma2"] = values.pop("sigma_squared")
    for name in sorted(claim.letters - values.keys()):
        letter = "sigma" if name == "sigma2" else name
        raise MissingArgument(claim.text, letter, LETTERS[letter].meaning)
    return {name: value for name, value in values.items() if name in claim.letters}


def _inside(point: Mapping[str, Fraction], box: Box) -> bool:
    """Whether a point lies in a box."""
    ends = ((point[name], *((v.lo, v.hi) if isinstance(v, Range) else (v, v))) for name, v in box.items())
    return point.keys() == box.keys() and all(low <= value <= high for value, low, high in ends)


def _describe(box: Box) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(box.items()))


def _plain(value: Fraction | Range) -> str | list[str]:
    return [str(value.lo), str(value.hi)] if isinstance(value, Range) else str(value)


def _restored(name: str, value: object) -> Fraction | Range:
    return admit_range(_gate(name), value)


def _gate(name: str) -> str:
    return "sigma_squared" if name == "sigma2" else name


def _known(name: str) -> str:
    if name not in LETTERS and name != "sigma2":
        raise ValueError(f"no letter {name!r}")
    return name
