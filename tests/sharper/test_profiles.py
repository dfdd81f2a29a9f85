"""Gaussian and other profiles: what mpmath finds, and what they share with the divergences of the same runs."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.arithmetic.engines import ENGINES
from tests import oracle

RUN = {"n": 13, "b": 2, "K": 3, "eta": "0.1", "lam": 1, "beta": 4, "sigma": "0.5", "S_g": 2}
SAME = {
    "gdp:cyclic": "shift:cyclic",
    "gdp:convex": "shift:convex",
    "gdp:gd": "shift:gd",
    "gdp:composition:fixed": "composition:fixed",
    "gdp:composition:full_batch": "composition:full_batch",
    "gdp:exact:fixed_order": "exact:fixed_order",
    "gdp:exact:full_batch": "exact:full_batch",
}
"""Statements that say of a profile what another says of the divergence, which is α·μ²/2 for Gaussians."""


@pytest.mark.parametrize("label", SAME)
@pytest.mark.parametrize("changes", [{}, {"K": 1}, {"n": 40, "eta": "0.3"}])
def test_gaussians_have_the_divergence_that_is_bounded(label, changes):
    run, j0 = Setting(**RUN | changes), {"j0": 2}
    for order in (2, Fraction(7, 2)):
        divergence = statement(SAME[label]).exact(run, alpha=order, **j0)
        assert statement(label).exact(run, **j0) * order / 2 == divergence


@pytest.mark.parametrize("epsilon", [0, "0.01", "0.5", 3])
@pytest.mark.parametrize("changes", [{}, {"K": 1}, {"n": 40, "eta": "0.3", "sigma": 3}])
def test_a_shuffled_profile_is_a_mean_over_places(epsilon, changes):
    found, case = statement("profile:shuffle"), {**RUN, **changes}
    with mpmath.workdps(60):
        truth = oracle.profile_shuffle({**case, "alpha": 2, "epsilon": epsilon})
        for engine in ENGINES:
            bracket = found.enclose(Setting(**case), epsilon=epsilon, engine=engine)
            assert oracle.to_mpf(bracket.lo) <= truth * (1 + mpmath.mpf(10) ** -40), engine
            assert truth <= oracle.to_mpf(bracket.hi) * (1 + mpmath.mpf(10) ** -40), engine
        assert found.numeric(Setting(**case), epsilon=epsilon) == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize("label", ["seen:without_replacement", "seen:poisson_replace"])
@pytest.mark.parametrize("order", [2, 3, 17])
def test_steps_on_drawn_batches_spend_what_binomials_say(label, order):
    found = statement(label)
    with mpmath.workdps(40):
        for sigma in ("0.5", 2, 50):
            case = {**RUN, "sigma": sigma}
            truth = oracle.composed_without_replacement({**case, "alpha": order, "T": 18})
            bracket = found.enclose(Setting(**case), alpha=order)  # T is that of K epochs
            assert abs(oracle.to_mpf(bracket.lo) / truth - 1) < mpmath.mpf(10) ** -18
            assert found.numeric(Setting(**case), alpha=order) == pytest.approx(float(truth), rel=1e-12)
