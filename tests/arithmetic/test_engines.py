"""The two engines: padded, careful with huge exponents, and alone with their precision."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import mpmath
import pytest

from hsdp_symbolic import statement
from hsdp_symbolic.arithmetic.engines import ENGINES, EXPONENT_CAP, Arb, PaddedMpmath, dyadic


@pytest.mark.smoke
class TestMpmathIsPadded:
    """Bare mpmath intervals miss the truth on these inputs; ours must not."""

    WITNESS = Fraction(174898072770839, 2**46)

    def test_exp_witness(self):
        truth = self._truth("exp", self.WITNESS)
        engine = PaddedMpmath(53)
        bare = engine._lib.libmpi.mpi_exp(engine.ball(self.WITNESS), 53)
        assert not self._contains(engine.bounds(bare), truth), "mpmath has been mended: the padding may be dropped"
        assert self._contains(engine.bounds(engine.exp(engine.ball(self.WITNESS))), truth)

    def test_log_near_one(self):
        engine, rng = PaddedMpmath(113), random.Random(7)
        missed = 0
        for _ in range(400):
            x = 1 + Fraction(rng.getrandbits(12) + 1, 2**112)
            truth = self._truth("log", x)
            missed += not self._contains(engine.bounds(engine._lib.libmpi.mpi_log(engine.ball(x), 113)), truth)
            assert self._contains(engine.bounds(engine.log(engine.ball(x))), truth), x
        assert missed > 0, "mpmath has been mended: the padding may be dropped"

    @pytest.mark.parametrize("precision", [53, 113, 200])
    def test_random_arguments(self, precision):
        engine, rng = PaddedMpmath(precision), random.Random(precision)
        for _ in range(300):
            x = Fraction(rng.getrandbits(50) + 1, 2 ** rng.randrange(40, 60))
            for name in ("exp", "log"):
                truth = self._truth(name, x)
                assert self._contains(engine.bounds(getattr(engine, name)(engine.ball(x))), truth), (name, x)

    @staticmethod
    def _truth(name, x):
        with flint.ctx.workprec(2000):
            value = getattr(flint.arb(flint.fmpq(x.numerator, x.denominator)), name)()
            return Arb(2000).bounds(value)

    @staticmethod
    def _contains(outer, inner):
        return outer[0] <= inner[0] and inner[1] <= outer[1]


class TestEngines:
    @pytest.mark.parametrize("engine", ENGINES.values())
    def test_powers_of_huge_exponent(self, engine):
        working = engine(256)
        with working.working():
            low, high = working.bounds(working.power(working.ball(Fraction(49, 50)), 2 * 10**6 + 1))
        exact_power = Fraction(49, 50) ** (2 * 10**3 + 1)
        with working.working():
            small = working.bounds(working.power(working.ball(Fraction(49, 50)), 2 * 10**3 + 1))
        assert 0 < low <= high
        assert small[0] <= exact_power <= small[1]

    @pytest.mark.parametrize("engine", ENGINES.values())
    def test_unbounded_results_are_no_bounds(self, engine):
        working = engine(64)
        with working.working():
            straddling = working.add(
                working.ball(Fraction(1, 3)), working.mul(working.ball(Fraction(-1)), working.ball(Fraction(1, 3)))
            )
            assert working.bounds(working.inverse(straddling)) is None
            assert working.bounds(working.log(straddling)) is None

    def test_global_precision_is_left_alone(self, figure_run):
        with flint.ctx.workprec(77), mpmath.workprec(99):
            statement("thm:strconvexsmooth").enclose(figure_run, alpha=15, j0=24, engine="both")
            assert flint.ctx.prec == 77
            assert mpmath.mp.prec == 99

    def test_dyadic_rounds_outwards_beyond_the_cap(self):
        tiny = -2 * EXPONENT_CAP
        assert dyadic(1, tiny, up=False) == 0 < dyadic(1, tiny, up=True)
        assert dyadic(-1, tiny, up=True) == 0 > dyadic(-1, tiny, up=False)
        assert dyadic(-3, 4, up=True) == -48
