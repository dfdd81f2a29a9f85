"""The nodes of a statement's proof as Coq lemmas, in order, each statement proved once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from hsdp_symbolic.proof.kernel import Theorem, nodes

from .rules import lemma_of, statement_of
from .trees import Untranslated
from .using import Lemma


@dataclass
class Book:
    """All lemmas so far: by the statement that they prove, and by the node of a proof."""

    failing: frozenset[str] = frozenset()
    """Lemmas that Coq is known to refuse: they are left open."""
    by_statement: dict[str, Lemma] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    kept: list[Theorem] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    """Open lemmas, each with the reason."""

    def add(self, theorem: Theorem) -> list[Lemma]:
        """The lemmas of a proof that are new."""
        new: list[Lemma] = []
        for node in nodes(theorem):
            if id(node) in self.names:
                continue
            try:
                statement = statement_of(node)
            except Untranslated as why:
                self.names[id(node)] = f"unspeakable: {why}"
                self.kept.append(node)
                continue
            name = "s_" + sha256(statement.encode()).hexdigest()[:10]
            self.names[id(node)] = name
            self.kept.append(node)
            if statement in self.by_statement:
                continue
            lemma = self._lemma(node, name, statement)
            self.by_statement[statement] = lemma
            new.append(lemma)
        return new

    def _lemma(self, node: Theorem, name: str, statement: str) -> Lemma:
        try:
            if name in self.failing:
                raise Untranslated(f"{node.rule}: Coq does not follow")
            found = lemma_of(node, name, self.names)
            silent = [each for each in found.uses if each.startswith("unspeakable")]
            if silent:
                raise Untranslated(f"rests on what has no words in Coq: {silent[0]}")
            return found
        except Untranslated as why:
            self.reasons[name] = f"{node.rule}: {why}"
            from .facts import binders_of

            return Lemma(name, node, binders_of(node.proposition, *node.hypotheses), statement, "", ())


def digest(parts: Iterable[str]) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()
