"""Noise and the divergence of two laws: what the theorems claim, and on what they rest."""

from __future__ import annotations

import pytest
from sympy import Rational

from hsdp_symbolic.meaning import Quantity
from hsdp_symbolic.paper.postprocessing import diffusion_rate, information_lower_bound, noise_shrinks, one_step
from hsdp_symbolic.proof.about import unneeded, verified
from hsdp_symbolic.proof.facts.definitions import PAIR
from hsdp_symbolic.proof.kernel import closed, rests_on
from hsdp_symbolic.proof.propositions import LogSobolev, Noised, PerOrder
from hsdp_symbolic.symbols import L, R, alpha, c, cost_1, dR, eta, hit, inverse, noise_2, sigma2, t, u

STATEMENTS = (information_lower_bound, diffusion_rate, one_step)


@pytest.mark.parametrize("make", STATEMENTS)
def test_each_is_proved_and_needs_all_it_assumes(make):
    found = make()
    assert len(verified(found.label, found.theorem)) > 50
    assert unneeded(found.theorem) == []
    assert found.as_printed


def test_noise_shrinks_any_divergence_from_what_it_was():
    theorem = noise_shrinks()
    assert closed(theorem)
    assert theorem.proposition == PerOrder(Noised(PAIR, noise_2), cost_1 * inverse / (inverse + noise_2))
    assert theorem.hypotheses[:2] == (PerOrder(PAIR, cost_1), LogSobolev(PAIR, inverse))
    assert unneeded(theorem) == []


def test_the_bound_is_a_number_also_where_the_laws_are_points():
    assert noise_shrinks().proposition.value.subs({inverse: 0, noise_2: 1}) == 0


def test_the_cited_facts_are_these():
    cited = {fact.name for fact in rests_on(noise_shrinks()) if not fact.is_definition}
    assert cited == {
        *("heat_first", "heat_second", "green_first", "green_second"),
        *("differentiated_by_order", "differentiated_by_noise", "noise_smooths", "through_densities"),
        *("kl_below_fisher", "lsi_convolution", "noise_processing"),
    }


def test_what_is_bounded():
    quantities = [make().quantity for make in STATEMENTS]
    assert quantities == [Quantity.INFORMATION, Quantity.DIVERGENCE_STEP, Quantity.DIVERGENCE_STEP]
    assert [make().relation for make in STATEMENTS] == [">=", "<=", "<="]


def test_gaussians_of_equal_variance_attain_each():
    """N(m, w) against N(0, w), m² = 2, w = 1: R = α, I/E = 2, and noise of variance v leaves α/(1 + v)."""
    letters = {R: alpha, dR: 1, c: 1}
    assert information_lower_bound().expr.subs(letters).simplify() == 2
    rate = diffusion_rate().expr.subs({**letters, L: 1, t: 0, sigma2: Rational(1, 2)})
    assert rate.simplify() == -alpha
    kept = one_step().expr.subs({hit: 0, u: 1, c: 1, L: 1, eta: 1, sigma2: 1})
    assert kept == Rational(1, 3)
