"""The patterns of hits of each scheme, with their probabilities."""

from __future__ import annotations

import pytest

from hsdp_symbolic import Setting
from hsdp_symbolic.errors import ArgumentError
from hsdp_symbolic.experiment.hit_patterns import MAX_PATTERNS, count_patterns, patterns


class TestPatternsOfSchemes:
    def test_chances_add_up_and_hits_have_the_right_rate(self):
        for scheme, run in (
            ("without_replacement", Setting(n=5, b=2, K=3)),
            ("reshuffle", Setting(n=5, b=2, K=3)),
            ("shuffle", Setting(n=7, b=2, K=3)),
        ):
            found = list(patterns(run, scheme))
            assert sum(chance for chance, _ in found) == 1
            assert len(found) <= count_patterns(run, scheme) <= MAX_PATTERNS
            for step in range(len(found[0][1])):
                assert sum(chance for chance, hits in found if hits[step]) == run["b"] / run["n"]

    def test_too_many_are_refused(self):
        with pytest.raises(ArgumentError, match="scheme"):
            list(patterns(Setting(n=50, b=2, K=40), "without_replacement"))
        with pytest.raises(ArgumentError, match="scheme"):
            list(patterns(Setting(n=4, b=2, K=1), "fixed"))
