"""The soundness run: both engines and the NumPy view against each other."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hsdp_symbolic import labels, statement
from proofs_check.soundness import _rounding, faults_at, report, soundness


class TestSoundnessRun:
    @pytest.mark.parametrize("cases", [200, pytest.param(2000, marks=pytest.mark.slow)])
    def test_a_seeded_run_finds_nothing(self, cases):
        tally = soundness(cases=cases, seed=1, jobs=2)
        assert not tally.violations, tally.violations
        assert tally.effective.total() >= cases
        assert set(tally.effective) == set(labels())
        assert "violations: 0" in report(tally)

    @pytest.mark.slow
    def test_the_settings_do_not_depend_on_the_number_of_jobs(self):
        one, two = (soundness(cases=24, seed=1, jobs=jobs) for jobs in (1, 2))
        assert one.effective == two.effective

    @pytest.mark.parametrize("shift", [Fraction(1, 10**15), Fraction(-1, 10**15)])
    def test_a_shifted_enclosure_is_noticed(self, monkeypatch, figure_run, shift):
        from hsdp_symbolic.evaluate import enclosure
        from hsdp_symbolic.evaluate.enclosure import Enclosure

        real = enclosure._at_precision

        def wrong(program, values, engine, tolerance):
            found = real(program, values, engine, tolerance)
            if found is None or engine.name == "mpmath":
                return found
            return Enclosure(found.lo * (1 + shift), found.hi * (1 + shift))

        monkeypatch.setattr(enclosure, "_at_precision", wrong)
        assert "outside" in faults_at(statement("thm:shuffle"), figure_run, {"alpha": 15})

    def test_a_double_on_the_wrong_side_or_too_far_is_noticed(self, figure_run):
        truth = statement("thm:GD_baseline").enclose(figure_run, alpha=15, rtol="1e-40")
        up, down = truth.upper(), truth.lower()
        assert not _rounding(up, truth, up=True)
        assert "wrong side" in _rounding(down, truth, up=True)
        assert "2 ulp" in _rounding(up * (1 + 1e-15), truth, up=True)
        assert "infinite" in _rounding(float("inf"), truth, up=True)
