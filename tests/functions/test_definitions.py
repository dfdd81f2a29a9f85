"""The equations by which proofs unfold a function hold of the values that are computed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import Expr, Integer, Rational, S, Symbol, exp, log

from hsdp_symbolic.errors import UnsupportedNode
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.functions.accumulated import Accumulated
from hsdp_symbolic.functions.capped_hit import CappedHit
from hsdp_symbolic.functions.capped_moment import CappedMoment
from hsdp_symbolic.functions.expected import Expected
from hsdp_symbolic.functions.hit_moment import HitMoment
from hsdp_symbolic.functions.interface import BoundFunction
from hsdp_symbolic.functions.log_mean_exp import LogMeanExp
from hsdp_symbolic.functions.log_mix import LogMix
from hsdp_symbolic.functions.mean_over import MeanOver
from hsdp_symbolic.symbols import i, q, s_log, state

HALF, THIRD = Rational(1, 2), Rational(1, 3)
INCREMENT = LogMix(THIRD, HALF, -s_log / 3)
NODES = [
    LogMeanExp(1 / i, i, Integer(3)),
    MeanOver(exp(1 / i), i, Integer(3)),
    HitMoment(HALF, Rational(4, 5), THIRD, Integer(3)),
    Accumulated(INCREMENT, s_log, Integer(3), Integer(-1), S.One, HALF),
]


def value(expr: Expr) -> Fraction:
    """The middle of an enclosure."""
    found = enclose(compile_expression(expr), {}, rtol="1e-15")
    return (found.lo + found.hi) / 2


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_definition_agrees_with_what_is_computed(node: BoundFunction) -> None:
    _, (left, right) = node.definition()
    assert abs(value(left) - value(right)) < Fraction(1, 10**12)


@pytest.mark.parametrize("cost", [THIRD, Integer(4)])
def test_capped_recursion_is_computed_as_it_is_defined(cost: Expr) -> None:
    """Both forms of the hit step occur: the first step is below the switch, later ones are beyond it."""
    ratio, rate = Rational(3, 5), HALF
    here, forms = 0.0, set()
    for count in range(1, 7):
        forms.add(here <= float(cost * ratio**2 / (1 - ratio**2)))
        hit = float(CappedHit(cost, ratio, Rational(here)).closed())
        here = float(log(rate * exp(hit) + (1 - rate) * exp(float(ratio**2) * here)))
        assert here == pytest.approx(float(value(CappedMoment(cost, ratio, rate, Integer(count)))), rel=1e-12)
    assert forms == {True, False}


def test_expected_is_a_mean_over_draws() -> None:
    node = Expected(state**2, state, state + 1, state / 2, THIRD, Integer(1), Integer(3))
    (start, first), (_, step) = node.definition()
    assert (start.args[5], first) == (0, 9)
    assert [each.args[-1] for each in sorted(step.atoms(Expected), key=lambda each: -each.args[-1])] == [
        4,
        Rational(3, 2),
    ]


@pytest.mark.parametrize("count", [Symbol("no_count", real=True), q, Integer(-1)])
def test_a_recursion_has_a_whole_number_of_steps(count: Expr) -> None:
    for node in (
        LogMeanExp(1 / i, i, count),
        MeanOver(1 / i, i, count),
        HitMoment(HALF, HALF, HALF, count),
        CappedMoment(HALF, HALF, HALF, count),
    ):
        with pytest.raises(UnsupportedNode, match="count"):
            node.definition()
