"""Rules for integrals, derivatives and limits refuse what does not follow, and unknown functions stay unknown."""

from __future__ import annotations

import pytest
from sympy import Derivative, Integer, Lambda, Piecewise, S, Subs, exp, log

from hsdp_symbolic.proof import kernel
from hsdp_symbolic.proof.facts import all_facts
from hsdp_symbolic.proof.facts.definitions import PAIR, RUN
from hsdp_symbolic.proof.facts.diffusion import (
    DIFFUSE,
    HAVE_DENSITIES,
    SECOND,
    Converges,
    kl_below_fisher,
    through_densities,
)
from hsdp_symbolic.proof.facts.losses import lipschitz_update
from hsdp_symbolic.proof.integrals import Coordinatewise, Everywhere
from hsdp_symbolic.proof.kernel import Refused, apply, assume, cancel, linear, rewrite, substitute, under_integral
from hsdp_symbolic.proof.propositions import AtMost, Equal, GradientSteps, Less, LogSobolev, PerOrder
from hsdp_symbolic.proof.witnesses import WITNESSES, mutants
from hsdp_symbolic.proof.witnesses import diffusion as _witnesses
from hsdp_symbolic.symbols import (
    G,
    P,
    X,
    alpha,
    cost_1,
    cost_2,
    distance,
    eta,
    factor,
    inverse,
    little,
    noise_2,
    p_at,
    ratio_at,
    renyi_at,
    tau,
    theta,
    value_at,
)

DENSITY = p_at(theta, tau)


class TestIntegrals:
    def test_constants_and_sums_come_out(self):
        found = linear(Everywhere(2 * tau * DENSITY - alpha * DENSITY**2, theta)).proposition
        assert found.right == 2 * tau * Everywhere(DENSITY, theta) - alpha * Everywhere(DENSITY**2, theta)

    def test_what_depends_on_the_variable_stays(self):
        found = linear(Coordinatewise(theta * DENSITY, theta)).proposition
        assert found.right == Coordinatewise(theta * DENSITY, theta)

    def test_an_equality_at_some_points_says_nothing_of_integrals(self):
        with pytest.raises(Refused, match="restricts theta"):
            under_integral(Everywhere, assume(Equal(theta, S.Zero)), theta)

    def test_nor_does_one_of_a_variable_with_a_sign(self):
        with pytest.raises(Refused, match="any real number"):
            under_integral(Everywhere, cancel(tau + tau, 2 * tau), tau)

    def test_no_derivative_goes_under_an_integral_by_itself(self):
        integral = Everywhere(DENSITY, theta)
        assert kernel.work_out(Derivative(integral**2, tau)).proposition.right == 2 * integral * Derivative(
            integral, tau
        )

    def test_the_variable_cannot_be_replaced_nor_captured(self):
        theorem = linear(Everywhere(2 * distance * DENSITY, theta))
        for put in ({theta: Integer(1)}, {distance: theta}):
            with pytest.raises(Refused, match="theta"):
                substitute(theorem, put)


class TestDerivatives:
    def test_a_value_is_not_differentiated_with_what_it_is_put_into(self):
        """∂(ατ²)/∂τ = 2ατ, at α = τ, is 2τ²; not the derivative of τ³."""
        found = substitute(kernel.work_out(Derivative(renyi_at(alpha, tau), tau) + Derivative(tau, tau)), {alpha: tau})
        assert found.proposition.left.has(Subs)
        square = substitute(kernel.work_out(Derivative(alpha * tau**2, tau)), {alpha: tau}).proposition
        assert square.right == 2 * tau**2
        assert square.left.doit() == 2 * tau**2

    def test_an_equality_at_some_points_does_not_go_under_a_derivative(self):
        slope = kernel.work_out(Derivative(tau**2, tau))
        with pytest.raises(Refused, match="restricted"):
            rewrite(slope, assume(Equal(tau**2, tau)))


class TestUnknownFunctions:
    def test_values_keep_their_range(self):
        theorem = kernel.positive(ratio_at(theta))
        assert substitute(theorem, {ratio_at: Lambda(theta, exp(theta))}).proposition == Less(S.Zero, exp(theta))
        with pytest.raises(Refused, match="range"):
            substitute(theorem, {ratio_at: Lambda(theta, theta)})

    def test_what_is_differentiated_is_smooth(self):
        theorem = kernel.work_out(Derivative(value_at(theta) ** 2, theta))
        step = Piecewise((1, theta > 0), (2, True))
        with pytest.raises(Refused, match="smooth"):
            substitute(theorem, {value_at: Lambda(theta, step)})

    def test_and_does_not_hold_the_variable_otherwise(self):
        theorem = kernel.work_out(Derivative(value_at(tau) ** 2, tau))
        with pytest.raises(Refused, match="constant"):
            substitute(theorem, {value_at: Lambda(theta, theta * tau)})

    def test_facts_ask_the_same(self):
        premises = (
            assume(LogSobolev(PAIR, inverse)),
            assume(HAVE_DENSITIES),
            assume(Equal(Everywhere(-SECOND, theta), S.One)),
            assume(Converges(Coordinatewise(S.Zero, theta))),
        )
        with pytest.raises(Refused, match="range"):
            apply(kl_below_fisher, *premises, put={ratio_at: Lambda(theta, -S.One)})


class TestWhateverTheValues:
    def test_nothing_is_put_for_what_must_be_arbitrary(self):
        trivial = assume(AtMost(S.Zero, S.Zero))
        premises = assume(GradientSteps(RUN, eta)), trivial, assume(AtMost(S.Zero, factor))
        with pytest.raises(Refused, match="put nothing"):
            apply(lipschitz_update, *premises, put={X: S.Zero, P: S.Zero, G: S.Zero})

    def test_densities_are_arbitrary_too(self):
        """A bound that speaks of the densities is no bound."""
        bound = alpha * renyi_at(Integer(2), noise_2)
        premises = assume(PerOrder(PAIR, cost_1)), assume(Less(S.Zero, noise_2))
        claim = assume(AtMost(renyi_at(alpha, noise_2), bound))
        with pytest.raises(Refused, match="restricts"):
            apply(through_densities, *premises, claim, put={cost_2: renyi_at(Integer(2), noise_2)})

    def test_what_may_be_assumed_of_densities_is_not_assumed_elsewhere(self):
        finite = kernel.also(assume(PerOrder(PAIR, cost_1)), assume(DIFFUSE))
        claim = kernel.also(assume(AtMost(renyi_at(alpha, noise_2), alpha * cost_2)), assume(DIFFUSE))
        with pytest.raises(Refused, match="restricts"):
            apply(through_densities, finite, assume(Less(S.Zero, noise_2)), claim, put={cost_2: cost_2})


class TestLimits:
    def test_a_bound_for_every_positive_number_holds_at_zero(self):
        bound = kernel.combine(S.Zero, alpha * little / (1 + little), (alpha * little / (1 + little),))
        assert kernel.at_zero(bound, little).proposition == AtMost(S.Zero, S.Zero)

    @pytest.mark.parametrize(
        "claim",
        [AtMost(little, alpha), AtMost(S.One, 1 / little), AtMost(S.One, exp(1 / little)), AtMost(alpha, log(little))],
    )
    def test_not_if_it_is_restricted_or_breaks_off_there(self, claim):
        with pytest.raises(Refused):
            kernel.at_zero(assume(claim), little)


@pytest.mark.parametrize("name", [name for name, found in WITNESSES.items() if found.__module__ == _witnesses.__name__])
def test_facts_hold_where_they_can_be_checked_and_stronger_ones_do_not(name):
    fact = all_facts()[name]
    assert all(WITNESSES[name](fact))
    for stronger in mutants(fact):
        assert not all(WITNESSES[name](stronger))
