"""Every statement has the values it had, to the last bit."""

from __future__ import annotations

import json
from functools import cache

import pytest

from hsdp_symbolic import labels, statement
from tests.golden import values


@cache
def kept():
    return json.loads(values.VALUES.read_text())


@pytest.mark.parametrize("label", labels())
def test_values_are_those_kept(label):
    assert label in kept(), "python -m tests.golden keeps the values of a new statement"
    found = values.values_of(statement(label))
    wrong = {
        (run, view): {"kept": kept()[label][run].get(view), "found": value}
        for run, views in found.items()
        for view, value in views.items()
        if not values.same(kept()[label][run].get(view), value)
    }
    assert not wrong, "python -m tests.golden writes what is kept anew"
    assert values.same(kept()[label], found), "a view is gone"


def test_no_statement_is_forgotten():
    assert list(kept()) == list(labels())


def test_another_last_bit_is_noticed():
    """A value is kept whole: the nearest other enclosure, rational or double reads differently."""
    shuffled = statement("thm:shuffle")
    found = shuffled.enclose(values.RUNS["figure"], alpha=6)
    low, high = values.ends(shuffled, found)
    assert values.bits(found.lo + (found.hi - found.lo) / 2**40) not in (low, high)
    assert not values.same([low, high], [high, low])


def test_another_digit_is_noticed():
    """Where the last bits may differ, six digits may not; and what is text is not a number."""
    told = {"arb": [0.25, 0.26], "exact": "NotRational"}
    assert values.same(told, {"arb": [0.25, 0.26 * (1 + 1e-9)], "exact": "NotRational"})
    for other in ({"arb": [0.25, 0.260001]}, {"arb": [0.25]}, {"exact": 0.25}, {"arb": "0.25"}):
        assert not values.same(told, told | other)
    assert not values.same(told, {"arb": [0.25, 0.26]})
