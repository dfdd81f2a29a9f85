"""The tape that NumPy expressions run on."""

from __future__ import annotations

import numpy as np

from hsdp_symbolic.arithmetic.tape import Tape


class TestTape:
    def test_scalar_factors_merge_without_overflow(self):
        tape = Tape()
        x = tape.read(lambda _: np.array([1.0, 2.0]), 2.0)
        np.testing.assert_array_equal(tape.play(((x * 1e200) * 1e-200) * 3.0), [3.0, 6.0])

    def test_a_bare_input_is_copied(self):
        tape, source = Tape(), np.array([1.0, 2.0])
        result = tape.play(tape.read(lambda _: source, 2.0))
        result[0] = 9
        assert source[0] == 1.0

    def test_common_subexpressions_are_computed_once(self):
        tape = Tape()
        x = tape.read(lambda _: np.arange(3.0), 2.0)
        np.testing.assert_array_equal(tape.play(np.exp(x) * np.exp(x)), np.exp(np.arange(3.0)) ** 2)
        assert len(tape._calls) == 2
