"""Where the kernel writes a logarithm out, and which cases of a claim an induction may use."""

from __future__ import annotations

import pytest
from sympy import E, Integer, S, exp

from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.proof.kernel import Refused, also, assume, cancel, combine, induct, positive, substitute, unfold
from hsdp_symbolic.proof.propositions import AtMost, Less
from hsdp_symbolic.symbols import k, kappa, q, u, w1, y


def test_a_mixture_with_a_negative_weight_is_not_written_out() -> None:
    """e to a real is positive; −5e + 6 is not."""
    node = LogMix(Integer(-5), Integer(1), Integer(0))
    assert substitute(positive(exp(y)), {y: node}).proposition == Less(S.Zero, exp(node))
    with pytest.raises(Refused):
        cancel(exp(node), 6 - 5 * E)


def test_it_is_where_a_theorem_says_that_it_is_positive() -> None:
    inside = w1 * exp(u) + (1 - w1)
    with pytest.raises(Refused):
        cancel(exp(LogMix(w1, u, Integer(0))), inside)
    known = combine(S.Zero, inside, (w1, exp(u)), (assume(AtMost(w1, S.One)),))
    assert cancel(exp(LogMix(w1, u, Integer(0))), inside, known).hypotheses == (AtMost(w1, S.One),)


def test_a_definition_asks_for_it_too() -> None:
    with pytest.raises(Refused, match="give a theorem"):
        unfold(HitMoment(kappa, q, w1, k), 1)


def test_an_induction_uses_no_other_case_of_what_is_restricted() -> None:
    """P(k, u) says k·u ≤ (k + 1)·u. The step may use P(k, u + 1), unless something is assumed of u."""
    here, there = (AtMost(k * each, (k + 1) * each) for each in (u, u + 1))
    base = combine(S.Zero, u, (u,))
    step = also(combine((k + 1) * u, (k + 2) * u, (u,)), assume(here), assume(there))
    assert induct(k, 0, base, step, None, [{u: u + 1}]).hypotheses == ()
    with pytest.raises(Refused, match="restricts"):
        induct(k, 0, base, also(step, assume(AtMost(u, S.One))), None, [{u: u + 1}])
    with pytest.raises(Refused, match="restricts"):
        induct(k, 0, base, step)
    with pytest.raises(Refused, match="u >= 0"):
        induct(k, 0, base, step, None, [{u: u - 1}])
