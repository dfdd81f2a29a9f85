"""Errors are ours, and travel."""

from __future__ import annotations

import pickle

from hsdp_symbolic.errors import (
    ArgumentError,
    TooManySteps,
    ValueTooLarge,
)


def test_errors_cross_from_one_process_to_another():
    for error in (ArgumentError("n", -1, "negative", "give more"), ValueTooLarge(10**9), TooManySteps(10**9, "a mean")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
