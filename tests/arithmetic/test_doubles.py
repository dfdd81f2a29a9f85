"""Doubles are rounded to the safe side in every rounding mode, and trusted in one only."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import platform
import random
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.accounting import epsilon
from hsdp_symbolic.arithmetic.doubles import double_above, double_below, require_nearest
from hsdp_symbolic.arithmetic.rounded import require_nearest_arrays
from hsdp_symbolic.errors import HsdpError, RoundingMode
from hsdp_symbolic.evaluate import numeric
from hsdp_symbolic.experiment.renyi.mixtures import Mixture, mixture_divergence
from hsdp_symbolic.functions.shift_control import bracket
from proofs_check.prove import prove_over
from tests import skips

X86 = platform.machine() in ("x86_64", "AMD64") and sys.platform == "linux"
DOWN, UP, TO_ZERO = 0x400, 0x800, 0xC00
FLUSH, ZEROS = 1 << 15, 1 << 6
"""Bits of the control word: tiny results become 0, tiny operands count as 0."""
WRONG = ("down", "up", "to zero", "flush", "zeros")


def bits(x: float) -> int:
    """A double as an integer: comparing doubles depends on the mode."""
    (found,) = struct.unpack("<Q", struct.pack("<d", x))
    return int(found)


def c_library() -> ctypes.CDLL:
    """Where `fesetround` is; modes are numbered, and the control word lies, as on Linux with x86-64."""
    if not X86:
        skips.skip(missing="x86-64")
    return ctypes.CDLL(ctypes.util.find_library("m"))


@contextmanager
def arithmetic(mode: str):
    """This thread's doubles in another mode."""
    libm = c_library()
    before, changed = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    assert libm.fegetenv(before) == libm.fegetenv(changed) == 0
    (word,) = struct.unpack_from("<I", changed, 28)
    struct.pack_into("<I", changed, 28, word | {"flush": FLUSH, "zeros": ZEROS}.get(mode, 0))
    try:
        libm.fesetenv(changed)
        libm.fesetround({"down": DOWN, "up": UP, "to zero": TO_ZERO}.get(mode, 0))
        yield
    finally:
        libm.fesetenv(before)
        numeric._recordings.clear()  # scalars on them were rounded as they are not elsewhere


def samples() -> list[Fraction]:
    rng, top = random.Random(3), Fraction(2) ** 1024
    found = [Fraction(0), Fraction(1), Fraction(1, 3), top, top - 1, top - Fraction(2) ** 970, Fraction(2) ** 2000]
    found += [Fraction(2) ** -k * Fraction(n, 4) for k in (1022, 1023, 1074, 1075, 5000) for n in (1, 3, 4, 5, 7)]
    for _ in range(300):
        size, top_bits, bottom_bits = rng.choice((0, rng.randint(-1100, 1020))), rng.randint(1, 90), rng.randint(1, 90)
        found.append(Fraction(rng.getrandbits(top_bits), rng.getrandbits(bottom_bits) + 1) * Fraction(2) ** size)
    return found + [-x for x in found]


class TestRoundingToASide:
    @given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction))
    def test_next_to_the_number(self, x):
        below, above = double_below(x), double_above(x)
        assert below <= x <= above
        assert below == above or math.nextafter(below, math.inf) == above

    def test_beyond_all_doubles(self):
        largest = sys.float_info.max
        assert (double_below(Fraction(10) ** 400), double_above(Fraction(10) ** 400)) == (largest, math.inf)
        assert (double_below(-(Fraction(10) ** 400)), double_above(-(Fraction(10) ** 400))) == (-math.inf, -largest)
        assert (double_below(Fraction(1, 10**400)), double_above(Fraction(1, 10**400))) == (0, 5e-324)
        assert double_above(Fraction(largest)) == largest
        assert double_above(Fraction(1, 2 ** (2**25))) == 5e-324

    @pytest.mark.parametrize("mode", WRONG)
    def test_in_every_mode(self, mode):
        numbers = samples()
        right = [(bits(double_below(x)), bits(double_above(x))) for x in numbers]
        with arithmetic(mode):
            found = [(bits(double_below(x)), bits(double_above(x))) for x in numbers]
        assert found == right


@pytest.mark.parametrize("mode", WRONG)
class TestOtherModesAreRefused:
    def test_the_check_itself(self, mode):
        for check in (require_nearest, require_nearest_arrays):
            check()
            with arithmetic(mode), pytest.raises(RoundingMode, match="fesetround"):
                check()
            check()

    @pytest.mark.parametrize("label", ["control:reshuffle", "control:without_replacement"])
    def test_dynamic_programmes(self, mode, label):
        run = Setting(n=6, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        found = statement(label)
        right = found.enclose(run, alpha=7)
        bracket.cache_clear()
        with arithmetic(mode), pytest.raises(RoundingMode):
            found.enclose(run, alpha=7)
        assert found.enclose(run, alpha=7) == right

    @pytest.mark.parametrize("engine", ["arb", "mpmath", "both"])
    def test_enclosures(self, figure_run, mode, engine):
        found = statement("thm:shuffle")
        found.enclose(figure_run, alpha=15)
        with arithmetic(mode), pytest.raises(RoundingMode):
            found.enclose(figure_run, alpha=15, engine=engine)

    def test_everything_else_that_is_certified(self, figure_run, mode):
        box = {"n": 50, "b": 2, "K": 80, "eta": ("0.01", "0.011"), "lam": 1, "beta": 4, "sigma": 2, "S_g": 4}
        one, two = (Mixture.of([mean], 1) for mean in ("1/2", 0))
        refused = [
            lambda: statement("thm:shuffle").enclose(figure_run, alpha=15, eta=("0.01", "0.011")),
            lambda: prove_over({**box, "alpha": 10}, "thm:shuffle < mironov2019"),
            lambda: mixture_divergence(3, one, two),
        ]
        for view in refused:
            with arithmetic(mode), pytest.raises(RoundingMode):
                view()
        with arithmetic(mode), pytest.raises(HsdpError, match="do not round to nearest"):
            epsilon(figure_run, delta="1e-5", scheme="shuffle", effort="quick")

    def test_only_the_thread_in_question(self, figure_run, mode):
        """Modes belong to threads: one that was there before is not affected."""
        found, start = [], threading.Event()

        def work():
            start.wait()
            found.append(statement("thm:shuffle").upper(figure_run, alpha=15))

        right = statement("thm:shuffle").upper(figure_run, alpha=15)
        other = threading.Thread(target=work)
        other.start()
        with arithmetic(mode):
            start.set()
            other.join()
            with pytest.raises(RoundingMode):
                statement("thm:shuffle").upper(figure_run, alpha=15)
        assert found == [right]


def test_a_mode_that_changes_on_the_way_is_noticed(monkeypatch):
    """Another library may change it in the middle of a dynamic programme."""
    run = Setting(n=6, b=2, K=2, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
    from hsdp_symbolic.functions import shift_programme as dynamic

    bracket.cache_clear()
    libm = c_library()
    close = dynamic._Above.close
    monkeypatch.setattr(dynamic._Above, "close", lambda self: (libm.fesetround(UP), close(self))[1])
    try:
        with pytest.raises(RoundingMode):
            statement("control:reshuffle").enclose(run, alpha=7)
    finally:
        libm.fesetround(0)


def test_what_is_loaded_in_another_mode_is_the_same():
    """Constants are made of integers, so that it does not matter how the loading thread rounds."""
    c_library()
    script = (
        "import ctypes, ctypes.util; m = ctypes.CDLL(ctypes.util.find_library('m')); m.fesetround(int({}))\n"
        "from hsdp_symbolic.arithmetic.rounded import _COEFFICIENTS\n"
        "from hsdp_symbolic.arithmetic.doubles import require_nearest\n"
        "m.fesetround(0); require_nearest(); print([x.hex() for x in _COEFFICIENTS])"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", script.format(mode)], capture_output=True, text=True, check=True).stdout
        for mode in (0, DOWN, UP)
    }
    assert len(outputs) == 1
    expected = [(1.0 / math.factorial(j + 1)).hex() for j in range(12, -1, -1)]
    assert outputs.pop().strip() == str(expected)


def test_arrays_of_numpy_follow_the_mode():
    """What the check rests on: NumPy's operations round as the thread does."""
    one = np.ones(19)
    with arithmetic("up"):
        raised = one + 2.0**-60
    assert np.all(raised > 1)
