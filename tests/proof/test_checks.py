"""Each kind of check, on claims that are wrong."""

from __future__ import annotations

import pytest
from sympy import Integer, Rational

from hsdp_symbolic.functions.geometric import GeometricSum
from hsdp_symbolic.proof.checks import (
    AtPoint,
    Certificate,
    Cited,
    Identity,
    Induction,
    Limit,
    Slack,
    Verdict,
)
from hsdp_symbolic.symbols import Y, i, p, q
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
