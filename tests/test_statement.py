"""The views of a statement: what they need, and what they refuse."""

from __future__ import annotations

import pytest

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.errors import (
    ArgumentError,
    MissingArgument,
    UnknownArgument,
)

GOOD = {"n": 50, "b": 2, "K": 40, "eta": "0.02", "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}


@pytest.mark.parametrize(
    ("label", "changes", "told"),
    [
        (
            "thm:strconvexsmooth",
            {"eta": "0.4"},
            r"eta = 2/5: .* assumes eta < 2/\(beta \+ lam\); choose eta < .* = 2/5",
        ),
        ("thm:strconvexsmooth", {"eta": 1}, "choose eta <"),
        ("thm:strconvexsmooth", {"b": 26}, "b = 26: .* choose b <= n/2 = 25"),
        ("thm:strconvexsmooth", {"j0": 25}, "j0 = 25: .* choose j0 <= N - 1 = 24"),
        ("thm:strconvexsmooth", {"j0": -1}, "j0 = -1: .*whole number from 0"),
        ("thm:strconvexsmooth", {"j0": "1.5"}, "j0 = '1.5'"),
        ("thm:strconvexsmooth", {"alpha": 1}, "alpha = 1: .*> 1"),
        ("thm:strconvexsmooth", {"alpha": "0.5"}, "alpha = '0.5'"),
        ("thm:strconvexsmooth", {"alpha": float("nan")}, "alpha = nan: not a finite"),
        ("thm:strconvexsmooth", {"alpha": True}, "alpha = True"),
        ("thm:strconvexsmooth", {"K": 0}, "K = 0"),
        ("thm:convexsmooth", {"eta": "0.5"}, "choose eta < 2/beta = 1/2"),
        ("eps0", {"j": 0}, "choose j >= 1"),
        ("eps0", {"j": 26}, "choose j <= N = 25"),
        ("lem:LSIseq_convex", {"k": 0, "j": 0}, r"N\*k \+ j = 0"),
        ("lem:LSIseq_stronglyconvex", {"k": 40, "j": 0}, "choose k <= K - 1 = 39"),
        ("lem:recursive", {"hit": 2, "u": 1, "c": 1, "L": 1}, "hit = 2"),
    ],
)
@pytest.mark.parametrize("view", ["exact", "enclose", "upper", "lower", "numeric"])
@pytest.mark.smoke
def test_outside_the_hypotheses_there_is_no_number(label, changes, told, view):
    arguments = {"alpha": 15, "j0": 0, "j": 1, "k": 1, **changes}
    with pytest.raises(ArgumentError, match=told):
        getattr(statement(label), view)(Setting(**GOOD), **arguments)


class TestViewsAskForWhatTheyNeed:
    def test_missing_argument(self, figure_run):
        with pytest.raises(MissingArgument, match=r"^j0 = None: thm:strconvexsmooth needs it .*pass j0="):
            statement("thm:strconvexsmooth").upper(figure_run, alpha=15)

    def test_missing_parameter(self):
        with pytest.raises(MissingArgument, match="sigma"):
            statement("thm:convexsmooth").upper(Setting(n=4, b=1, K=1, eta="0.1", beta=1, S_g=1), alpha=2, j0=0)

    def test_a_parameter_it_does_not_need_may_be_missing(self):
        run = Setting(n=4, b=1, K=1, eta="0.1", beta=1, sigma=1, S_g=1)
        assert statement("thm:convexsmooth").upper(run, alpha=2, j0=0) > 0

    def test_unknown_argument(self, figure_run):
        with pytest.raises(UnknownArgument, match="thm:convexsmooth takes n, b, K, eta, beta, sigma, S_g, alpha, j0"):
            statement("thm:convexsmooth").upper(figure_run, order=2)

    def test_not_a_setting(self):
        with pytest.raises(UnknownArgument, match="is not a Setting"):
            statement("thm:convexsmooth").upper(GOOD, alpha=2, j0=0)

    def test_parameters_may_be_overridden_in_the_call(self, figure_run):
        found = statement("thm:strconvexsmooth")
        assert found.exact(figure_run, alpha=15, j0=3, K=2) == found.exact(figure_run.replace(K=2), alpha=15, j0=3)
        assert found.exact(figure_run, alpha=15, j0=3, sigma_squared=4) == found.exact(figure_run, alpha=15, j0=3)

    def test_zero_sensitivity_costs_nothing(self, figure_run):
        assert statement("thm:strconvexsmooth").upper(figure_run, alpha=15, j0=3, S_g=0) == 0
        assert statement("thm:strconvexsmooth").numeric(figure_run, alpha=15, j0=3, S_g=0) == 0
