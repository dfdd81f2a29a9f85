"""The figures the paper does not have."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.errors import ArgumentError, HsdpError
from hsdp_symbolic.examples.schemes import CASES, RUNS, rows
from hsdp_symbolic.meaning import Scheme
from hsdp_symbolic.plots import FIGURES, NEW, Request
from hsdp_symbolic.plots import new_figures as new
from hsdp_symbolic.plots.common import PAPER_SETTING as PAPER_RUN
from hsdp_symbolic.plots.draw import draw
from hsdp_symbolic.plots.values import COMPOSED, crossover, value, values
from proofs_check.claim import examine
from proofs_check.ledger import claims
from proofs_check.slips import slips

RUN = PAPER_RUN.replace(K=40)
SAMPLED, SHUFFLE = "thm:amp_samp_wo_replacement", "thm:shuffle"
DRAWN = [case for case in CASES if case.batch != 0]
"""The cases of the table of schemes that the figure of profiles draws: not the first batch."""


class TestCrossover:
    @pytest.mark.parametrize(
        ("label", "alpha", "first"),
        [
            (SHUFFLE, 15, 8),
            (SHUFFLE, 10, 8),
            (SAMPLED, 10, 34),
            (SAMPLED, 15, 48),
            (SAMPLED, 20, 89),
            (SAMPLED, 30, None),
        ],
    )
    def test_known_epochs(self, label, alpha, first):
        assert crossover(label, PAPER_RUN, (("alpha", alpha),)) == first

    def test_it_is_certified_on_both_sides(self):
        first = crossover(SAMPLED, PAPER_RUN, (("alpha", 10),))
        below = [
            statement(SAMPLED).enclose(RUN, alpha=10, K=K).hi < statement(COMPOSED).enclose(RUN, alpha=10, K=K).lo
            for K in (first - 1, first)
        ]
        assert below == [False, True]

    def test_a_bound_that_is_never_above(self):
        quick = PAPER_RUN.replace(S_g=0)
        assert crossover(SHUFFLE, quick, (("alpha", 10),)) is None, "0 is not below 0"

    def test_marked_in_the_figure(self):
        figure = NEW["crossover"](Request())
        marks = {text.words for panel in figure.panels for text in panel.texts}
        assert marks == {"$K=8$", "$K=29$", "$K=34$", "$K=48$"}


class TestRegions:
    def test_winners_are_the_certified_ones(self):
        figure = NEW["regions"](Request())
        rng = random.Random(7)
        winners = set()
        for panel, letters in zip(figure.panels, (("eta", "K"), ("n", "alpha")), strict=True):
            found = panel.regions
            for _ in range(25):
                column, row = rng.randrange(len(found.xs)), rng.randrange(len(found.ys))
                point = {"alpha": 15, "K": 40} | dict(zip(letters, (found.xs[column], found.ys[row]), strict=True))
                if "n" in point:
                    point["n"] = int(point["n"]) * 2
                point["K"] = int(point["K"])
                bounds = {}
                for label in found.names:
                    place = {"j0": point.get("n", 50) // 2 - 1} if "j0" in statement(label).needs else {}
                    known = {name: each for name, each in point.items() if name in statement(label).needs}
                    bounds[label] = statement(label).enclose(RUN, **known, **place)
                winner = found.names[found.least[row][column]]
                winners.add(winner)
                assert all(bounds[winner].lo <= other.hi for other in bounds.values())
                loser = max(bounds, key=lambda label: bounds[label].lo)
                assert bounds[loser].lo > bounds[winner].hi, "control: the test can tell a winner from a loser"
        assert len(winners) >= 2

    def test_boundaries_are_crossovers(self):
        (panel, _) = NEW["regions"](Request()).panels
        for line in panel.lines:
            eta, epoch = line.points[len(line.points) // 2]
            place = (("j0", 24),) if "j0" in statement(line.name).needs else ()
            assert crossover(line.name, PAPER_RUN.replace(eta=eta), (("alpha", 15), *place)) == epoch


class TestTightness:
    def test_no_bound_is_below_what_was_found(self):
        figure = NEW["tightness"](Request({"K": 10}))
        seen = 0
        for panel in figure.panels:
            if panel.name in "egh":
                continue  # e: densities on a grid, in TestGallery, marked slow; g and h: below
            dots = panel.curves[-1]
            for bound in panel.curves[:-1]:
                for at in dots.at:
                    if not str(bound.source).startswith("exact:"):
                        assert value(dots, at).lo * (1 - Fraction(1, 10**11)) <= value(bound, at).hi
                        seen += 1
        assert seen > 20

    def test_control_half_the_convex_bound_is(self):
        panel = NEW["tightness"](Request({"K": 10})).panels[2]
        bound, dots = panel.curves
        assert value(dots, 10).lo > value(bound, 10).hi / 2

    def test_exact_laws_are_attained_but_in_the_last_batch(self):
        pairs = {}
        for panel in NEW["tightness"](Request()).panels[-2:]:
            curves = panel.curves
            pairs |= {bound.name: (bound, law) for bound, law in zip(curves[::2], curves[1::2], strict=True)}
        assert list(pairs) == ["mu of gdp:cyclic j0=0", "mu of gdp:cyclic j0=24", "mu of gdp:gd"]
        for name, (bound, law) in pairs.items():
            ratios = [value(bound, at).hi / value(law, at).lo for at in (1, 7, 40)]
            if name.endswith("j0=24"):
                assert min(ratios) > 2
            else:
                assert all(1 <= ratio < 1 + Fraction(1, 10**20) for ratio in ratios)


class TestSlips:
    @pytest.fixture(scope="class")
    @classmethod
    def figure(cls):
        return slips(Request())

    def ends(self, panel, at):
        return [value(curve, at) for curve in panel.curves]

    def test_each_is_a_claim_of_the_ledger(self, figure):
        named = [note.split(") ")[1].split(", as the ledger")[0] for note in figure.notes[:-1]]
        known = {claim.id: claim for claim in claims()}
        assert len(named) == len(figure.panels) == 8
        assert set(named) <= known.keys()
        verdicts = {name: examine(known[name]).verdict for name in named}
        wrong = [name for name, verdict in verdicts.items() if verdict == "fails as printed, holds as corrected"]
        assert len(wrong) == 6, verdicts

    def test_what_they_do(self, figure):
        drawn = {panel.name: panel for panel in figure.panels}
        ours, _, balle = drawn["a"].curves
        assert value(ours, 1).hi < value(balle, 1).lo
        theorem, footnote = self.ends(drawn["b"], 40)
        assert footnote.hi < Fraction("-0.78") < 0 < theorem.lo
        derived, printed = self.ends(drawn["c"], 40)
        q = Fraction(49, 50)
        last = statement("eps0").exact(RUN, alpha=15, j=25)
        assert abs((derived.lo - last) / (printed.lo - last) - q**26) < Fraction(1, 10**15)
        exact, approximate = self.ends(drawn["d"], 60)
        assert approximate.hi < exact.lo
        order_30 = drawn["e"].curves[2]
        assert value(order_30, 200).lo > Fraction(3, 2) * value(order_30, 100).hi
        ours, composed = self.ends(drawn["f"], 50)
        assert ours.lo > composed.hi
        ours, composed = self.ends(drawn["g"], 5)
        assert (round(float(ours.lo), 5), round(float(composed.lo), 5)) == (0.20114, 0.17448)
        truth, printed = self.ends(drawn["h"], 50)
        assert printed.lo > truth.hi


class TestSharper:
    @pytest.fixture
    def figure(self):
        return FIGURES["sharper"](Request())

    def test_what_is_drawn(self, figure):
        drawn = [{curve.source for curve in panel.curves} for panel in figure.panels]
        assert drawn[0] | drawn[1] >= {label for label, _ in new.SHARPER}
        assert all(COMPOSED in sources for sources in drawn)
        assert all(panel.ylim == (0, 0.155) for panel in figure.panels)

    def test_a_grid_is_drawn_from_above(self, figure):
        curves = {curve.source: curve for panel in figure.panels for curve in panel.curves}
        for label, most in (("control:without_replacement", "0.03215"), ("control:reshuffle", "0.0196")):
            found = values(curves[label])
            assert found[0].hi == 0
            certified = statement(label).enclose(figure.run, alpha=15, rtol="1e-3")
            assert certified.lo <= found[-1].hi <= Fraction(most)
            assert all(a.hi <= b.hi for a, b in itertools.pairwise(found))

    def test_secret_hits_are_the_least_without_replacement(self, figure):
        curves = {curve.source: curve for panel in figure.panels for curve in panel.curves}
        ours = curves["secret:without_replacement"]
        assert (ours.at[0], ours.at[-1]) == (0, 40)
        for at in (10, 40):
            found = value(ours, at)
            assert Fraction("0.0145") < found.hi < Fraction("0.01473")
            for label in (new.SEEN, SAMPLED, "moments:without_replacement"):
                assert found.hi < value(curves[label], at).lo
        once = value(curves[new.SEEN], 1)
        assert abs(value(ours, 1).hi / once.hi - 1) < Fraction(1, 1000), "one epoch: composition"


class TestProfiles:
    @pytest.fixture(scope="class")
    @classmethod
    def figure(cls):
        return FIGURES["profiles"](Request())

    def test_the_statements_are_those_of_the_table_of_schemes(self, figure):
        drawn = [tuple(curve.source for curve in panel.curves) for panel in figure.panels]
        listed = [(case.seen, case.hidden, case.exact or case.hidden) for case in DRAWN]
        assert drawn == listed
        assert figure.run == RUNS["fig"]

    @pytest.mark.parametrize(
        "name", ["a", "b", "c", "d", *(pytest.param(name, marks=pytest.mark.slow) for name in "efg")]
    )
    def test_every_bound_is_between_the_law_and_composition(self, figure, name):
        panel = figure.panels["abcdefg".index(name)]
        seen, hidden, law = panel.curves
        for at in hidden.at:
            low, middle, high = (value(curve, at).hi for curve in (law, hidden, seen))
            assert 0 < low <= middle < high
            assert (low == middle) == (name == "b")
        for curve in panel.curves:
            assert all(value(curve, a).hi < value(curve, b).hi for a, b in itertools.pairwise(curve.at))

    @pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=str(case.scheme), marks=pytest.mark.slow if case.scheme == "poisson" else ())
            for case in DRAWN
        ],
    )
    def test_as_in_the_table_of_schemes(self, figure, case):
        """Drawn is at most half a per cent more than the table has, whose values are certified."""
        (curve,) = (
            curve
            for panel in figure.panels
            for curve in panel.curves
            if curve.source == case.hidden and curve.view == "epsilon"
        )
        (row,) = (row for row in rows(RUNS["fig"], scheme=case.scheme) if row.case == case)
        drawn = value(curve, Fraction(1, 10**5)).hi
        assert row.hidden.lo * (1 - Fraction(1, 10**11)) <= drawn <= row.hidden.hi * Fraction(1005, 1000)
        assert value(curve, Fraction(1, 10**4)).hi < drawn * Fraction(9, 10), "control: it can tell values of ε apart"

    def test_what_every_iterate_costs_as_balls_in_bins_is_composition_at_its_best_order(self, figure):
        (curve,) = (curve for curve in figure.panels[6].curves if curve.source == "composition:balls_in_bins")
        (row,) = (row for row in rows(RUNS["fig"], scheme=Scheme.BALLS_IN_BINS) if row.case.seen == curve.source)
        drawn = value(curve, Fraction(1, 10**5)).hi
        assert row.seen.hi <= drawn <= row.seen.hi * Fraction(10001, 10000)

    def test_the_legend_stands_where_an_eighth_panel_would_be(self, figure):
        assert [panel.legend for panel in figure.panels] == ["none"] * 6 + ["beside"]
        flat = [replace(curve, at=curve.at[:1]) for curve in figure.panels[0].curves]
        drawing = draw(replace(figure, panels=(replace(figure.panels[6], curves=tuple(flat)),) * 7))
        drawing.draw_without_rendering()
        *others, last = drawing.axes
        words = last.get_legend().get_window_extent()
        assert [text.get_text().split(":")[0] for text in last.get_legend().get_texts()] == [
            "every iterate",
            "last iterate",
            "quadratic loss",
        ]
        assert words.x0 > last.get_window_extent().x1
        assert words.x1 < drawing.bbox.x1
        assert words.y1 < others[3].get_window_extent().y0

    def test_delta_goes_up(self, figure):
        shown = replace(figure, panels=figure.panels[:1])
        drawing = draw(shown)
        (axes,) = drawing.axes
        (line,) = (line for line in axes.lines if line.get_gid() == "epsilon of gdp:cyclic j0=24")
        points = [(float(value(shown.panels[0].curves[1], at).hi), float(at)) for at in shown.panels[0].curves[1].at]
        assert [tuple(point) for point in line.get_xydata()] == points
        assert (axes.get_xlabel(), axes.get_ylabel()) == (r"$\varepsilon$", r"$\delta$")
        assert axes.yaxis.get_majorticklabels()[0].get_text() == "$10^{-3}$"


def test_a_request_beyond_the_limits_is_refused_in_python_too():
    with pytest.raises(ArgumentError, match="no such letter"):
        FIGURES["intro"](Request({"gamma": 1}))
    with pytest.raises(HsdpError, match="K"):
        FIGURES["intro"](Request({"K": 10**6}))
