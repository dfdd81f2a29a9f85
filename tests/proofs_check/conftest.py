"""What the tests of the audit share."""

from __future__ import annotations

import pytest

from proofs_check.claim import Entry
from proofs_check.report import examine_all


@pytest.fixture(scope="session")
def entries() -> list[Entry]:
    """Every claim with its verdict, decided in this run of the tests (the cache they share begins empty)."""
    return examine_all()
