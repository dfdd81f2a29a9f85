"""Derivations that are written down when asked for."""

from __future__ import annotations

import pytest

from hsdp_symbolic.proof.derivation import Derivation
from hsdp_symbolic.symbols import alpha


class TestDerivationsPutOff:
    def test_steps_come_in_order_and_once(self):
        written = []

        def prove(d, name):
            written.append(name)
            d.identity(name, alpha, alpha)

        d = Derivation()
        d.identity("first", alpha, alpha)
        d.later(prove, "second")
        d.identity("third", alpha, alpha)
        assert not written
        assert [step.says for step in d.steps] == ["first", "second", "third"]
        assert len(d.steps) == 3
        assert d.steps[1].says == "second"
        assert written == ["second"]

    def test_a_proof_that_fails_to_be_written_is_not_lost(self):
        def fails(d):
            raise ArithmeticError

        d = Derivation()
        d.later(fails)
        for _ in range(2):
            with pytest.raises(ArithmeticError):
                len(d.steps)
