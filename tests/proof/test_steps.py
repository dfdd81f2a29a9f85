"""Every step of every derivation holds, and every step's check rejects wrong versions of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sympy import Float, Integer, Rational, Symbol, log

from hsdp_symbolic import labels, statement, statements
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.algebra import is_manifestly_nonnegative, is_zero
from hsdp_symbolic.proof.checks import (
    AtPoint,
    Certificate,
    Cited,
    Identity,
    Induction,
    Limit,
    Slack,
    Verdict,
    surviving_mutants,
)
from hsdp_symbolic.proof.mutants import mutations
from hsdp_symbolic.symbols import K, N, Y, alpha, i, m, p, q
from hsdp_symbolic.symbols import j as index

STEPS = {
    repr(step.check): pytest.param(step, id=f"{label}-{number}")
    for label in reversed(labels())  # a step that several statements share is examined once, under the first of them
    for number, step in reversed(list(enumerate(statement(label).steps, start=1)))
}
SAMPLE = 2
"""Mutants of a step tried every time; all of them by `-m slow` and by `hsdp verify --controls`."""


@pytest.mark.parametrize("step", STEPS.values())
def test_every_step_holds_and_its_mutants_do_not(step):
    evidence = step.check.verify()
    assert evidence.verdict is (Verdict.CITED if isinstance(step.check, Cited) else Verdict.PROVED), evidence
    mutants = list(step.check.mutants())
    assert mutants
    for what, mutant in random.Random(step.says).sample(mutants, min(SAMPLE, len(mutants))):
        assert not mutant.verify().verdict.passes, what


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS.values())
def test_no_mutant_survives(step):
    tried, survivors = surviving_mutants(step.check)
    assert tried >= 1
    assert survivors == []


def test_the_two_primitive_lsi_facts_and_the_analytic_facts_are_the_only_citations():
    references = {step.check.reference for s in statements() for step in s.steps if isinstance(step.check, Cited)}
    assert references == {
        "Vempala & Wibisono 2019, Lemma 16",
        "Vempala & Wibisono 2019, Lemma 17",
        "Vempala & Wibisono 2019, Section 2.2",
        "Green's first identity, with the decay of p_t and p_t'",
        "dominated convergence, for E_α finite near α",
        "dominated convergence, for Gaussian convolutions",
        "van Erven & Harremoës 2014, Theorem 9",
        "van Erven & Harremoës 2014, Theorem 13",
        "Mironov 2017, Proposition 1",
        "Mironov, Talwar & Zhang 2019, Theorems 4, 5 and Section 3.3",
        "Balle et al. 2019, Theorem 5",
        "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 20",
        "Feldman, Mironov, Talwar & Thakurta 2018, Lemma 21",
        "Jensen's inequality",
        "Hölder's inequality",
    }
    guarantees = (Path(__file__).parents[2] / "proofs_check" / "GUARANTEES.md").read_text()
    authors = ("Vempala & Wibisono", "van Erven & Harremoës", "Mironov 2017", "Feldman et al.", "Balle et al.")
    for name in (*authors, "Jensen", "Hölder"):
        assert name in guarantees


def test_statements_hold_no_inexact_number():
    for s in statements():
        for expr in (s.expr, s.shown, *(side for h in s.hypotheses for side in h.args)):
            assert not expr.atoms(Float), s.label


def test_what_a_statement_rests_on_is_in_the_catalogue():
    assert {label for s in statements() for label in s.uses} <= set(labels())


def test_the_theorem_is_the_derived_bound_over_the_dropped_factor():
    """Term by term: the first terms differ by exactly q^(2(N−m)), the second terms agree."""
    theorem, eps0 = statement("thm:strconvexsmooth"), statement("eps0")
    decay = q ** (2 * (N - m))
    first, second = (
        eps0.expr.subs(index, m) * GeometricSum(decay, K - 1),
        eps0.expr.subs(index, N - Symbol("j0", integer=True, nonnegative=True)),
    )
    assert is_zero(theorem.expr - first - second)
    assert not is_zero(theorem.expr - decay * first - second)


@pytest.mark.smoke
class TestChecksCanFail:
    """Each kind of check, on a claim that is wrong."""

    def test_identity(self):
        assert Identity((q + 1) ** 2, q**2 + 1).verify().verdict is Verdict.REFUTED

    def test_identity_between_unknown_functions_is_undecided_not_refuted(self):
        from hsdp_symbolic.symbols import loss

        assert Identity(loss(q), loss(2 * q)).verify().verdict is Verdict.UNDECIDED

    def test_induction_with_wrong_start(self):
        assert not Induction(i, i, 0, Integer(1), Y, Y + 1).verify().verdict.passes

    def test_induction_with_wrong_step(self):
        assert not Induction(i**2, i, 0, Integer(0), Y, Y + 1).verify().verdict.passes

    def test_certificate_with_negative_multiplier(self):
        wrong = Certificate(q, Integer(0), ((-q, Slack(Integer(1), "")),))
        assert wrong.verify().verdict is Verdict.UNDECIDED

    def test_certificate_that_does_not_add_up(self):
        assert not Certificate(Integer(0), q, ((q**2, Slack(Integer(1), "")),)).verify().verdict.passes

    def test_certificate_with_a_negative_slack(self):
        assert (
            not Certificate(Integer(1), Integer(0), ((Integer(1), Slack(Integer(-1), "trust me")),))
            .verify()
            .verdict.passes
        )
        assert not Certificate(q, Integer(0), ((Integer(1), Slack(-q, "trust me")),)).verify().verdict.passes

    def test_limit(self):
        assert Limit(GeometricSum(1 / (1 + p), index), p, Integer(0), index).verify().verdict is Verdict.PROVED
        assert not Limit(GeometricSum(1 / (1 + p), index), p, Integer(0), index + 1).verify().verdict.passes

    def test_point(self):
        from sympy import Le

        assert AtPoint(Rational(1, 3), Rational(1, 2), Le, "").verify().verdict is Verdict.CERTIFIED
        assert AtPoint(Rational(1, 2), Rational(1, 3), Le, "").verify().verdict is Verdict.REFUTED

    def test_a_citation_whose_witness_fails_does_not_pass(self):
        assert not Cited("somebody", Identity(q, q + 1)).verify().verdict.passes

    def test_undecided_never_passes(self):
        assert not Verdict.UNDECIDED.passes
        assert not Verdict.REFUTED.passes


@pytest.mark.smoke
class TestAlgebra:
    def test_zero_with_symbolic_exponents(self):
        assert is_zero(q ** (2 * (N - m)) * q ** (2 * m) - q ** (2 * N))
        assert is_zero(GeometricSum(q, N + m) - GeometricSum(q, N) - q**N * GeometricSum(q, m))
        assert not is_zero(GeometricSum(q, N + m) - GeometricSum(q, N) - q**m * GeometricSum(q, m))

    def test_zero_with_logarithms(self):
        assert is_zero(log(q**2 * alpha) - 2 * log(q) - log(alpha))
        assert not is_zero(log(q**2 * alpha) - log(q) - log(alpha))

    def test_positivity_needs_the_domain(self):
        assert not is_manifestly_nonnegative(1 - q, {})
        assert is_manifestly_nonnegative(1 - q, {q: 1 / (1 + p)})
        assert not is_manifestly_nonnegative(q - 1, {q: 1 / (1 + p)})

    def test_positivity_refuses_generators_of_unknown_sign(self):
        assert not is_manifestly_nonnegative(Symbol("x", real=True) + 1, {})

    def test_mutants_are_genuine(self):
        expr = 2 * q**2 / GeometricSum(q**2, index)
        found = list(mutations(expr, limit=50))
        assert len(found) >= 5
        assert all(not is_zero(variant - expr) for _, variant in found)
        assert any("shifted" in what for what, _ in found)
        assert any("exponent" in what for what, _ in found)


@pytest.mark.smoke
class TestHypothesesAreUsed:
    """Change a hypothesis, and the certificate that leans on it fails."""

    def test_step_size(self):
        from hsdp_symbolic.paper.lsi import contraction
        from hsdp_symbolic.proof.derivation import Derivation
        from hsdp_symbolic.symbols import beta, eta, lam

        for factor, passes in ((2, True), (4, False), (3, False)):
            d = Derivation()
            contraction(d, lam, eta < factor / (lam + beta))
            assert all(step.check.verify().verdict.passes for step in d.steps) is passes

    def test_ranges(self):
        from hsdp_symbolic.symbols import b, j0, n

        for hypothesis, passes in ((b <= n / Integer(2), True), (b <= n, False)):
            certificate = Certificate(Integer(2), n / b, ((2 / b, Slack.of(hypothesis)),))
            assert certificate.verify().verdict.passes is passes
        for hypothesis, passes in ((j0 <= N - 1, True), (j0 <= N, False)):
            certificate = Certificate(Integer(1), N - j0, ((Integer(1), Slack.of(hypothesis)),))
            assert certificate.verify().verdict.passes is passes


def test_no_two_symbols_of_the_alphabet_are_one():
    from sympy import Symbol as SymPySymbol

    from hsdp_symbolic import symbols

    found = [value for value in vars(symbols).values() if isinstance(value, SymPySymbol)]
    assert len(found) == len(set(found)) == len({symbol.name for symbol in found if symbol.name != "t"}) + 1
