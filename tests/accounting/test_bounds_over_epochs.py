"""Comparisons of bounds and schemes, and where they cross."""

from __future__ import annotations

import pytest

from hsdp_symbolic import HsdpError, Setting
from hsdp_symbolic.accounting import (
    compare,
    epsilon,
)


def test_comparison_and_crossovers(figure_run, only):
    only("thm:strconvexsmooth", "balle2019", "composition:fixed")
    found = compare(figure_run, delta="1e-5", scheme="fixed")
    curves = dict(found.curves)
    assert found.epochs == (1, 2, 5, 10, 20, 40)
    (crossing,) = found.crossovers
    assert (crossing.K, crossing.before, crossing.after) == (7, "balle2019", "thm:strconvexsmooth")
    assert crossing.certified
    for K, smaller, larger in ((6, "balle2019", "thm:strconvexsmooth"), (7, "thm:strconvexsmooth", "balle2019")):
        values = {
            entry.label: entry.value
            for entry in epsilon(figure_run.replace(K=K), delta="1e-5", scheme="fixed").considered
        }
        assert values[smaller] < values[larger]
    assert curves["thm:strconvexsmooth"][-1] == epsilon(figure_run, delta="1e-5", scheme="fixed").epsilon


def test_a_comparison_across_schemes_that_do_not_apply(figure_run):
    bare = Setting(**{k: v for k, v in figure_run.exact_strings().items() if k != "lam"})
    found = compare(bare, delta="1e-5", scheme="shuffle", epochs=[3, 1])
    assert found.epochs == (1, 3)
    assert "thm:shuffle" in dict(found.does_not_apply)
    with pytest.raises(HsdpError, match="an empty list"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[])
    with pytest.raises(HsdpError, match="not a whole number"):
        compare(figure_run, delta="1e-5", scheme="shuffle", epochs=[1.5])
