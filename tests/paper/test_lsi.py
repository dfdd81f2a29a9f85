"""Change a hypothesis, and the certificate that leans on it fails."""

from __future__ import annotations

import pytest
from sympy import Integer

from hsdp_symbolic.proof.checks import (
    Certificate,
    Slack,
)
from hsdp_symbolic.symbols import N


@pytest.mark.smoke
class TestHypothesesAreUsed:
    """Change a hypothesis, and the certificate that leans on it fails."""

    def test_step_size(self):
        from hsdp_symbolic.paper.lsi import contraction
        from hsdp_symbolic.proof.derivation import Derivation
        from hsdp_symbolic.symbols import beta, eta, lam

        for factor, passes in ((2, True), (4, False), (3, False)):
            d = Derivation()
            contraction(d, lam, eta < factor / (lam + beta))
            assert all(step.check.verify().verdict.passes for step in d.steps) is passes

    def test_ranges(self):
        from hsdp_symbolic.symbols import b, j0, n

        for hypothesis, passes in ((b <= n / Integer(2), True), (b <= n, False)):
            certificate = Certificate(Integer(2), n / b, ((2 / b, Slack.of(hypothesis)),))
            assert certificate.verify().verdict.passes is passes
        for hypothesis, passes in ((j0 <= N - 1, True), (j0 <= N, False)):
            certificate = Certificate(Integer(1), N - j0, ((Integer(1), Slack.of(hypothesis)),))
            assert certificate.verify().verdict.passes is passes
