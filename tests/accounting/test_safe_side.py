"""What is given is reported on the safe side."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from hsdp_symbolic.accounting import compare, delta, epsilon
from hsdp_symbolic.accounting.several import Part, delta_of_all, epsilon_of_all
from hsdp_symbolic.arithmetic.doubles import double_above, double_below
from hsdp_symbolic.cli.accounting import _written

PROBABILITIES = ("1e-5", "1e-6", "1e-7", "1/3", "0.3", "1e-400", "123456789/10000000000001")


def reported(given):
    """The nearest double; rounded up where that would be 0 or infinite."""
    return double_above(given) if given > sys.float_info.max else float(given) or double_above(given)


class TestWhatIsGivenIsReportedOnTheSafeSide:
    @pytest.mark.parametrize("given", PROBABILITIES)
    def test_delta(self, figure_run, given):
        wanted = Fraction(given)
        found = [
            epsilon(figure_run, delta=given, scheme="shuffle", orders=[8], effort="quick").delta,
            epsilon_of_all([Part(figure_run, "shuffle")], delta=given, orders=[8]).delta,
            compare(figure_run, delta=given, scheme="shuffle", orders=[8], epochs=[1], effort="quick").delta,
        ]
        assert found == [reported(wanted)] * 3
        certified = [
            epsilon(figure_run, delta=each, scheme="shuffle", orders=[8], effort="quick").epsilon
            for each in (given, min(wanted, Fraction(found[0])))
        ]
        assert certified[0] == certified[1]  # what is certified is about the double that is reported

    @pytest.mark.parametrize("given", [*PROBABILITIES, "1e400"])
    def test_epsilon(self, figure_run, given):
        found = [
            delta(figure_run, epsilon=given, scheme="shuffle", orders=[8], effort="quick").epsilon,
            delta_of_all([Part(figure_run, "shuffle")], epsilon=given, orders=[8]).epsilon,
        ]
        assert found == [reported(Fraction(given))] * 2

    def test_the_least_over_all_orders_is_rounded_down(self, figure_run, monkeypatch):
        least = Fraction(1, 3)
        monkeypatch.setattr("hsdp_symbolic.accounting.guarantee.minimum", lambda *_: least)
        found = epsilon(figure_run, delta="1e-5", scheme="shuffle", orders=[8], effort="quick", certify_minimum=True)
        assert found.minimum == double_below(least)

    def test_a_calibrated_number_is_printed_digit_by_digit_or_rounded_up(self):
        assert repr(_written(Fraction("1.513061234567"))) == "1.513061234567"
        assert Fraction(repr(_written(Fraction("0.3")))) == Fraction("0.3")
        assert _written(Fraction(1, 3)) == double_above(Fraction(1, 3))
