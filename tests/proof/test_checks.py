"""Each kind of check, on claims that are wrong; and what may not pass for a proof."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sympy import Derivative, Eq, Ge, Integer, Le, Rational, exp

import hsdp_symbolic
import proofs_check
from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.checks import (
    EVERYWHERE,
    AtPoint,
    Certificate,
    Cited,
    Definition,
    Identity,
    Induction,
    Limit,
    Verdict,
    proved,
    surviving_mutants,
)
from hsdp_symbolic.proof.kernel import Refused, assume, combine, promise
from hsdp_symbolic.proof.propositions import AtMost
from hsdp_symbolic.symbols import K, N, Y, alpha, i, p, q
from hsdp_symbolic.symbols import j as index


@pytest.mark.smoke
class TestChecksCanFail:
    """Each kind of check, on a claim that is wrong."""

    def test_identity(self):
        assert Identity((q + 1) ** 2, q**2 + 1).verify().verdict is Verdict.REFUTED

    def test_identity_between_unknown_functions_is_undecided_not_refuted(self):
        from hsdp_symbolic.symbols import u_at

        assert Identity(u_at(q), u_at(2 * q)).verify().verdict is Verdict.UNDECIDED

    def test_induction_with_wrong_start(self):
        assert not Induction(i, i, 0, Integer(1), Y, Y + 1).verify().verdict.passes

    def test_induction_with_wrong_step(self):
        assert not Induction(i**2, i, 0, Integer(0), Y, Y + 1).verify().verdict.passes

    def test_certificate_with_a_negative_factor(self):
        assert not Certificate(q, Integer(0), ((-q,),)).verify().verdict.passes
        assert not Certificate(Integer(1), Integer(0), ((Integer(-1),),)).verify().verdict.passes

    def test_certificate_that_does_not_add_up(self):
        assert not Certificate(Integer(0), q, ((q**2,),)).verify().verdict.passes

    def test_limit(self):
        assert Limit(GeometricSum(1 / (1 + p), index), p, Integer(0), index).verify().verdict is Verdict.PROVED
        assert not Limit(GeometricSum(1 / (1 + p), index), p, Integer(0), index + 1).verify().verdict.passes

    def test_point(self):
        assert AtPoint(Rational(1, 3), Rational(1, 2), Le, "").verify().verdict is Verdict.CERTIFIED
        assert AtPoint(Rational(1, 2), Rational(1, 3), Le, "").verify().verdict is Verdict.REFUTED
        assert AtPoint(Rational(1, 2), Rational(1, 3), Eq, "").verify().verdict is Verdict.REFUTED

    def test_a_citation_whose_witness_fails_does_not_pass(self):
        assert not Cited("somebody", Identity(q, q + 1)).verify().verdict.passes

    def test_undecided_never_passes(self):
        assert not Verdict.UNDECIDED.passes
        assert not Verdict.REFUTED.passes


@pytest.mark.smoke
class TestNoForgery:
    """What an earlier version took for proofs on the strength of words."""

    @pytest.mark.parametrize(
        "forged",
        [
            Certificate(N, alpha, ((Integer(1), alpha - N),)),
            Certificate(N, alpha, ((Integer(1), Le(N, alpha)),)),
            Certificate(N, alpha, ((Integer(1), Le(N, alpha)),), (Le(N, alpha),)),
            Certificate(N, alpha, ((Rational(1, 2), Le(2 * N, 2 * alpha)),), (Le(2 * N, 2 * alpha),)),
            Certificate(N, alpha, ((Integer(1), Ge(alpha - N, 0)),), (Ge(alpha - N, 0),)),
            Certificate(N, alpha, ((Integer(1), assume(AtMost(N, alpha))),)),
            Certificate(q, q**2, ((Integer(1), q**2 - q),)),
            Certificate(alpha, Integer(1), ((Integer(1), Le(alpha, 1)),), (Le(alpha, 1),)),
            Certificate(q, 2 * q, ((q,),), (Le(K, 0),)),
        ],
        ids=str,
    )
    def test_it_is_refused(self, forged):
        assert not forged.verify().verdict.passes

    def test_a_hypothesis_is_printed(self):
        assert Certificate(q**2, q, ((q, q < 1),), (q < 1,)).verify().scope == "where q < 1"
        assert Identity((1 - q) ** 2, 1 - 2 * q + q**2).verify().scope == EVERYWHERE

    def test_a_divisor_that_may_be_0_needs_a_hypothesis(self):
        assert Identity((1 - q**2) / (1 - q), 1 + q).verify().verdict is Verdict.UNDECIDED
        claim = Identity((1 - q**2) / (1 - q), 1 + q, (q < 1,))
        assert claim.verify().verdict is Verdict.PROVED
        assert surviving_mutants(claim)[1] == []

    def test_a_hypothesis_nobody_needs_shows(self):
        idle = Identity((1 - q) ** 2, 1 - 2 * q + q**2, (q < 1,))
        assert surviving_mutants(idle)[1] == ["without q < 1"]

    def test_hypotheses_that_contradict_each_other_prove_nothing(self):
        claim = Certificate(Integer(1), Integer(0), ((Integer(1), q < 1), (Integer(1), q > 2)), (q < 1, q > 2))
        assert claim.verify().verdict is not Verdict.PROVED

    def test_two_equal_trees_are_a_definition(self):
        assert not Identity(q, q).verify().verdict.passes
        assert Definition(q, q).verify().verdict is Verdict.DEFINITION
        assert not Definition(q, q + 1).verify().verdict.passes
        assert surviving_mutants(Definition(q**2, q**2))[1] == []

    def test_derivatives_are_worked_out_when_they_are_checked(self):
        claim = Identity(Derivative(exp(p**2), p), 2 * p * exp(p**2))
        assert claim.verify().verdict is Verdict.PROVED
        assert surviving_mutants(claim)[1] == []

    def test_an_unkept_promise_is_no_proof(self):
        with pytest.raises(Refused):
            proved([promise(AtMost(q, q + 1), (), lambda: combine(q, q + 2, (Integer(2),)))])
        with pytest.raises(Refused):
            proved([])

    def test_only_one_function_says_proved(self):
        made = []
        for package in (hsdp_symbolic, proofs_check):
            for path in Path(package.__file__).parent.rglob("*.py"):
                for line in path.read_text(encoding="utf-8").splitlines():
                    if re.search(r"Evidence\(.*Verdict\.PROVED", line):
                        made.append((path.name, line.strip()))
        assert [name for name, _ in made] == ["evidence.py"]
