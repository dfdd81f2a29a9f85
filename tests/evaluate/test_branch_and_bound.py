"""Branch and bound: least rank first, ties in order of arrival, a budget, and an end."""

from __future__ import annotations

from fractions import Fraction

from hsdp_symbolic.evaluate.branch_and_bound import branch_and_bound

Ends = tuple[Fraction, Fraction]


def _halves(ends: Ends) -> list[Ends]:
    middle = sum(ends, Fraction(0)) / 2
    return [(ends[0], middle), (middle, ends[1])]


def _below(ends: Ends) -> Fraction:
    """A lower bound of x² − x over [low, high], for low ≥ 0."""
    return ends[0] ** 2 - ends[1]


def _silent(cut: int, waiting: int) -> None:
    pass


def test_a_minimum_is_found_and_never_overestimated():
    wide: Ends = (Fraction(0), Fraction(2))
    found = branch_and_bound(
        [wide],
        rank=_below,
        cut=_halves,
        enough=lambda least, ends: ends[1] - ends[0] < Fraction(1, 1000),
        budget=10**4,
        report=_silent,
    )
    assert found is not None
    assert Fraction(-251, 1000) < found <= Fraction(-1, 4)


def test_the_least_rank_is_next_and_ties_keep_their_order():
    seen: list[str] = []

    def cut(piece: str) -> list[str]:
        seen.append(piece)
        return [piece + "x", piece + "y"] if len(piece) == 1 else []

    found = branch_and_bound(["b", "a", "cc"], rank=len, cut=cut, enough=lambda *_: False, budget=100, report=_silent)
    assert found is None
    assert seen == ["b", "a", "cc", "bx", "by", "ax", "ay"]


def test_the_budget_limits_the_cuts_and_each_turn_is_reported():
    turns: list[tuple[int, int]] = []
    found = branch_and_bound(
        [1],
        rank=lambda piece: piece,
        cut=lambda piece: [piece + 1, piece + 1],
        enough=lambda *_: False,
        budget=3,
        report=lambda *turn: turns.append(turn),
    )
    assert turns == [(0, 1), (1, 2), (2, 3)]
    assert found == 3


def test_what_is_good_enough_is_not_cut():
    cuts: list[int] = []

    def cut(piece: int) -> list[int]:
        cuts.append(piece)
        return []

    found = branch_and_bound(
        [5, 3, 4], rank=lambda piece: piece, cut=cut, enough=lambda least, _: least >= 4, budget=9, report=_silent
    )
    assert (found, cuts) == (4, [3])
