"""`hsdp schemes`: the table of all ways of making batches, certified from above, with laws to hold it against."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hsdp_symbolic.cli import main
from hsdp_symbolic.cli.schemes import DIGITS
from hsdp_symbolic.examples.schemes import CASES, RUNS, Row, rows
from hsdp_symbolic.meaning import SCHEMES

FIGURE = {
    "fixed order, first batch": "0.09456093",
    "fixed order, last batch": "0.3580185",
    "full batch": "0.07377018",
    "shuffled once": "0.2611562",
}
"""To seven digits, rounded up."""
AT_MOST = {
    "reshuffled every epoch": "0.2595",
    "without replacement": "0.1475",
    "Poisson, add/remove": "0.0667",
    "balls in bins": "0.0729",
}


@pytest.fixture(scope="module")
def figure() -> dict[str, Row]:
    return {row.case.words: row for row in rows(RUNS["fig"], name="fig")}


def consistent(row: Row) -> None:
    """Nothing was refused, and every number is on its side of the others."""
    assert row.refused == {}
    assert row.lower.lo <= row.hidden.hi <= row.seen.hi
    if row.paper is not None:
        assert row.hidden.hi < row.paper.lo


class TestTheFigureSetting:
    def test_every_scheme_has_its_row(self, figure):
        assert list(figure) == [case.words for case in CASES]
        assert {row.case.scheme for row in figure.values()} == set(SCHEMES)

    @pytest.mark.parametrize("words", FIGURE)
    def test_closed_forms_to_seven_digits(self, figure, words):
        assert figure[words].hidden.decimals(DIGITS)[1] == FIGURE[words]

    @pytest.mark.parametrize("words", AT_MOST)
    def test_what_takes_a_grid(self, figure, words):
        assert figure[words].hidden.hi <= Fraction(AT_MOST[words])
        assert figure[words].choices

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
    def test_bounds_and_laws_are_in_order(self, figure, case):
        consistent(figure[case.words])

    @pytest.mark.parametrize("words", ["fixed order, first batch", "full batch"])
    def test_two_are_exact(self, figure, words):
        assert figure[words].hidden.hi / figure[words].lower.lo < 1 + Fraction(1, 10**10)

    def test_control_a_bound_a_fifth_smaller_would_be_below_its_law(self, figure):
        for words in ("without replacement", "Poisson, add/remove"):
            assert figure[words].hidden.hi * Fraction(4, 5) < figure[words].lower.lo

    def test_at_a_smaller_delta(self):
        (row,) = rows(RUNS["fig"], delta="1e-8", scheme="without_replacement")
        consistent(row)
        assert row.hidden.hi <= Fraction("0.2275")


@pytest.mark.slow
class TestLargeRuns:
    @pytest.mark.parametrize("name", [name for name in RUNS if name != "fig"])
    def test_in_order(self, name):
        for row in rows(RUNS[name], name=name):
            consistent(row)

    @pytest.mark.parametrize(
        ("scheme", "most"), [("without_replacement", "0.350"), ("poisson", "0.1345"), ("shuffle", "1.35944")]
    )
    def test_sixty_thousand_records(self, scheme, most):
        (row,) = rows(RUNS["R1"], scheme=scheme)
        assert row.hidden.hi <= Fraction(most)


class TestCommand:
    OWN = ("--n", "50", "--b", "2", "--K", "40", "--eta", "0.02", "--lam", "1", "--beta", "4", "--S_g", "4")

    def test_table(self, capsys):
        assert main(["schemes", "--scheme", "fixed"]) == 0
        title, head, first, last, *_ = capsys.readouterr().out.splitlines()
        assert title.startswith("fig at delta = 1e-5: n = 50, b = 2")
        assert head.split()[0] == "batches"
        assert first.split()[-5:] == ["0.09456093", "2.594384", "0.09456092", "0.1509915", "gdp:cyclic"]
        assert last.split()[-5:] == ["0.3580185", "2.594384", "0.1606851", "0.4069025", "gdp:cyclic"]

    def test_it_says_that_shuffling_makes_no_balls_in_bins(self, capsys):
        assert main(["schemes", "--scheme", "full_batch"]) == 0
        assert "of shuffled records, which make room for one\nanother, that bound is false" in capsys.readouterr().out

    def test_json_and_a_run_of_one_s_own(self, capsys):
        assert main(["schemes", *self.OWN, "--sigma_squared", "4", "--scheme", "shuffle", "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        assert found["lower"] <= found["hidden"] <= 0.2611562
        assert (found["run"], found["setting"]["n"], found["refused"]) == ("", "50", {})
        assert found["statements"]["hidden"] == "profile:shuffle"

    def test_what_is_refused_is_said(self, capsys):
        steep = [word if word != "0.02" else "0.4" for word in self.OWN]
        assert main(["schemes", *steep, "--sigma", "2", "--scheme", "shuffle"]) == 0
        shown = capsys.readouterr().out
        assert "shuffled once, hidden: eta = 2/5: profile:shuffle assumes eta < 2/(beta + lam)" in shown

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--run", "R4"], "run = 'R4': no such run; use one of fig, R1"),
            (["--run", "R1", "--all"], "which run is meant?"),
            (["--run", "R1", "--n", "5"], "--run and letters"),
            (["--n", "5"], "b = None: not given (size of a mini-batch); add --b"),
            (["--delta", "0"], "give a small number such as 1e-5"),
            (["--delta", "2"], "a probability lies between 0 and 1"),
            (["--scheme", "sorted"], "scheme = 'sorted': no such way of making batches"),
        ],
    )
    def test_errors(self, capsys, words, said):
        assert main(["schemes", *words]) == 2
        assert said in capsys.readouterr().err


def test_records_without_influence_cost_nothing():
    found = list(rows(RUNS["fig"].replace(K=2, S_g=0)))
    assert {(row.hidden.hi, row.seen.hi, row.lower.hi) for row in found} == {(0, 0, 0)}


def test_the_last_iterate_costs_no_more_than_all():
    """Where every batch is full there is nothing to keep secret, and composition is a little smaller."""
    run = RUNS["fig"].replace(b=50, K=1)
    assert all(row.hidden.hi <= row.seen.hi for row in rows(run, scheme="without_replacement"))


def test_names_of_runs_in_any_case(capsys):
    assert main(["schemes", "--run", "FIG", "--scheme", "full_batch"]) == 0
    assert "0.07377018" in capsys.readouterr().out
