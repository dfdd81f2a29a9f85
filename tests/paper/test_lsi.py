"""Change a hypothesis, and the proof that leans on it is refused."""

from __future__ import annotations

import pytest
from sympy import Integer, S

from hsdp_symbolic.paper import descents
from hsdp_symbolic.paper.descents import ANY, contraction
from hsdp_symbolic.proof.kernel import Refused, combine
from hsdp_symbolic.proof.search import given
from hsdp_symbolic.symbols import N, b, beta, eta, j0, lam, n


@pytest.mark.smoke
class TestHypothesesAreUsed:
    @pytest.mark.parametrize(("factor", "passes"), [(2, True), (3, False), (4, False)])
    def test_step_size(self, monkeypatch, factor, passes):
        changed = (*descents.STRONGLY_CONVEX[:2], eta < factor / (lam + beta))
        monkeypatch.setattr(descents, "STRONGLY_CONVEX", changed)
        prove = contraction.__wrapped__
        if passes:
            assert prove(ANY, lam).proposition.constant == 1 - eta * lam
        else:
            with pytest.raises(Refused):
                prove(ANY, lam)

    @pytest.mark.parametrize(("hypothesis", "passes"), [(b <= n / Integer(2), True), (b <= n, False)])
    def test_two_batches(self, hypothesis, passes):
        self.holds(passes, Integer(2), n / b, (2 / b, given(hypothesis)))

    @pytest.mark.parametrize(("hypothesis", "passes"), [(j0 <= N - 1, True), (j0 <= N, False)])
    def test_the_batch_exists(self, hypothesis, passes):
        self.holds(passes, Integer(1), N - j0, (S.One, given(hypothesis)))

    @staticmethod
    def holds(passes, left, right, term):
        if passes:
            combine(left, right, term)
        else:
            with pytest.raises(Refused):
                combine(left, right, term)
