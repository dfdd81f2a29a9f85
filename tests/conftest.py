"""Shared fixtures: the setting of the paper's figures, and seeded property tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.statement import Statement

settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """No statement is derived while tests are collected: every worker collects, and would pay for it again."""

    def refuse(self, *arguments, **options):
        raise AssertionError("a statement is built at import: parametrise by label, and ask for it within the test")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statement, "__init__", refuse)
        return (yield)


@pytest.fixture(scope="session")
def figure_run() -> Setting:
    """n = 50, b = 2, K = 40, η = 0.02, λ = 1, β = 4, σ = 2, S_g = 4: the setting of the paper's figures."""
    return Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)


@pytest.fixture
def only(monkeypatch):
    """Restricts the accountant to some statements, so that a test does not change as new ones join the catalogue."""

    def restrict(*chosen):
        found = [(statement(label), "") for label in chosen]
        monkeypatch.setattr("hsdp_symbolic.accounting.applicable.covering", lambda scheme, relation: found)

    return restrict


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory):
    """Tests neither read nor fill the user's cache of verdicts: all workers of a run share one, empty at first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield
