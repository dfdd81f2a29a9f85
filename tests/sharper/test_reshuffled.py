"""`profile:reshuffle`: proved, and what it gives."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import S

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.proof.kernel import Refused, assume, loosen, swap
from hsdp_symbolic.proof.propositions import AtMost
from hsdp_symbolic.sharper import reshuffled
from hsdp_symbolic.symbols import N, i, k, q

FIGURE = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)


class TestReshuffled:
    def test_it_is_proved(self):
        assert statement("profile:reshuffle").verify()

    def test_epsilon_at_the_figures_setting(self):
        found = statement("profile:reshuffle").epsilon(FIGURE, "1e-5")
        assert Fraction("0.2578") < found.lo <= found.hi < Fraction("0.2580")

    def test_every_number_of_known_places_is_a_bound_and_more_are_better(self):
        found = [statement("profile:reshuffle").epsilon(FIGURE, "1e-5", known=known).hi for known in (1, 2, 3)]
        assert found == sorted(found, reverse=True)
        assert [round(float(each), 4) for each in found] == [0.2612, 0.2591, 0.2579]

    def test_never_above_a_fixed_order_with_the_record_last(self):
        last = statement("gdp:cyclic").epsilon(FIGURE, "1e-5", j0=24)
        assert statement("profile:reshuffle").epsilon(FIGURE, "1e-5").hi < last.lo

    def test_an_early_hit_needs_a_contraction(self):
        """Without q < 1, what a hit adds need not shrink: the step that carries it on is refused."""
        so_far = assume(reshuffled._state(N * k + i, reshuffled._uses(i)))
        room = assume(AtMost(i + 1, N))

        def terms(case, *shrinks):
            return (reshuffled._hit(N * k + i),), *shrinks, (S.One, loosen(swap(case)))

        with pytest.raises(Refused, match="not seen to be equal"):
            reshuffled._either(so_far, i, room, reshuffled._uses(i + 1), terms)
        shrinks = (reshuffled._uses(i), assume(AtMost(q, S.One)))
        found = reshuffled._either(so_far, i, room, reshuffled._uses(i + 1), lambda case: terms(case, shrinks))
        assert AtMost(q, S.One) in found.hypotheses
