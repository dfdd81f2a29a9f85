"""Polynomial certificates, their integer checker, and sums of very many exponentials."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest
from sympy import Rational, Symbol, pi, sqrt

from hsdp_symbolic import Setting, statement
from hsdp_symbolic.proof.checks import Verdict, surviving_mutants
from hsdp_symbolic.proof.positivity import Certified, Positive, certify, check
from hsdp_symbolic.symbols import gap, p, q
from proofs_check.soundness import _rounding, compare, report, soundness
from tests import oracle

x, y, z = (Symbol(name, positive=True) for name in "xyz")

POSITIVE = [
    x**2 - x * y + y**2,
    x**2 - Rational(19, 10) * x * y + y**2,
    x**3 + y**3 + z**3 - Rational(29, 10) * x * y * z,
    1 + q - 3 * q**2 + 2 * q**3 + 2 * q**4,
    (x + 1) / (x**2 - x + 1),
    1 + gap - gap**2 + gap**3,
]
NOT_POSITIVE = [x - y, x**2 - 2 * x * y + y**2, x**2 - Rational(21, 10) * x * y + y**2, x - 1, gap, -x, x - x]


class TestCertificates:
    @pytest.mark.parametrize("expr", POSITIVE, ids=str)
    def test_found_and_replayed(self, expr):
        found = certify(expr)
        assert found
        assert all(each.holds for each in found)

    @pytest.mark.parametrize("expr", NOT_POSITIVE, ids=str)
    def test_none_for_what_is_not_positive(self, expr):
        assert not certify(expr)

    def test_the_checker_believes_no_false_proof(self):
        """Random proofs for random polynomials: whatever it accepts is positive at random points."""
        rng, accepted = random.Random(2), 0

        def guess(depth):
            if depth == 0 or rng.random() < 0.4:
                return ("power", rng.randrange(5))
            i, j = rng.sample(range(3), 2)
            return ("cut", i, j, *(guess(depth - 1) for _ in range(3)))

        for _ in range(3000):
            terms = {(e, f, 4 - e - f): rng.randint(-2, 6) for e in range(5) for f in range(5 - e)}
            if check(terms, guess(3)):
                accepted += 1
                for _ in range(20):
                    at = [rng.choice([1, 10, 100]) * rng.randint(1, 2) for _ in range(3)]
                    assert sum(c * at[0] ** e[0] * at[1] ** e[1] * at[2] ** e[2] for e, c in terms.items()) > 0
        assert accepted > 20

    @pytest.mark.smoke
    def test_a_tampered_certificate_fails(self):
        (first, _) = certify(x**2 - x * y + y**2)
        lowered = {**first.terms, (1, 1, 0): first.terms.get((1, 1, 0), 0) - 3}
        assert not Certified(first.variables, lowered, first.proof).holds
        assert not Certified(first.variables, first.terms, ("power", 0)).holds

    def test_what_is_no_rational_polynomial_gets_no_certificate(self):
        assert certify(sqrt(2) * p + 1) is None
        assert certify(pi * p + 1) is None

    @pytest.mark.smoke
    def test_the_check_and_its_control(self):
        claim = Positive(5 - q, {q: 1 / (1 + p)})
        assert claim.verify().verdict is Verdict.PROVED
        assert surviving_mutants(claim) == (2, [])
        assert Positive(q - 1, {q: 1 / (1 + p)}).verify().verdict is Verdict.UNDECIDED


class TestMeansOfManyTerms:
    """thm:shuffle with many batches is summed by blocks of series; term by term elsewhere."""

    @pytest.mark.parametrize("batches", [33, 64, 65, 300, 2000])
    @pytest.mark.parametrize("eta", ["1e-9", "1e-3", "0.05", "0.9"])
    def test_agrees_with_the_engine_that_adds_term_by_term(self, batches, eta):
        run = Setting(n=batches, b=1, K=3, eta=eta, lam=1, beta=1, sigma="0.1", S_g=1)
        for order in (2, 30, 300):
            blocks, terms = (statement("thm:shuffle").enclose(run, alpha=order, engine=e) for e in ("arb", "mpmath"))
            assert blocks.overlaps(terms)
            assert blocks.relative_width <= Fraction(1, 10**20)

    def test_many_terms_against_the_oracle(self):
        case = {"n": 30_000, "b": 1, "K": 2, "eta": Fraction(1, 10**4), "lam": 1, "beta": 1, "sigma": Fraction(1, 100)}
        case |= {"S_g": 1, "alpha": 20, "j0": 0}
        run, arguments = oracle.split(case)
        found = statement("thm:shuffle").enclose(Setting(**run), alpha=arguments["alpha"])
        with mpmath.workdps(40):
            truth = oracle.shuffle(case)
            assert abs(oracle.to_mpf(found.lo) - truth) <= truth * mpmath.mpf(10) ** -19

    def test_no_number_of_terms_is_too_many(self):
        run = Setting(n=10**30, b=1, K=2, eta="1e-20", lam=1, beta=1, sigma="1e-12", S_g=1)
        bracket = statement("thm:shuffle").enclose(run, alpha=3)
        assert bracket.relative_width <= Fraction(1, 10**20)
        assert bracket.lo > 0


class TestSoundnessRun:
    def test_a_small_seeded_run_finds_nothing(self):
        tally = soundness(cases=800, seed=7, jobs=2)
        assert not tally.violations, tally.violations
        assert tally.effective.total() >= 800
        assert len(tally.effective) == len(statements_())
        assert "violations: 0" in report(tally)

    def test_the_settings_do_not_depend_on_the_number_of_jobs(self):
        one, two = (soundness(cases=120, seed=1, jobs=jobs) for jobs in (1, 2))
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
        assert "outside" in compare(statement("thm:shuffle"), figure_run, {"alpha": 15})

    def test_a_double_on_the_wrong_side_or_too_far_is_noticed(self, figure_run):
        truth = statement("thm:GD_baseline").enclose(figure_run, alpha=15, rtol="1e-40")
        up, down = truth.upper(), truth.lower()
        assert not _rounding(up, truth, up=True)
        assert "wrong side" in _rounding(down, truth, up=True)
        assert "2 ulp" in _rounding(up * (1 + 1e-15), truth, up=True)
        assert "infinite" in _rounding(float("inf"), truth, up=True)


def statements_():
    from hsdp_symbolic.catalogue import statements

    return statements()
