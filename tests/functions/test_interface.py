"""A function of the bounds is one class: defined here, it has every view, and nobody else knows it by name."""

from __future__ import annotations

import ast
import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sympy import Integer

import hsdp_symbolic
from hsdp_symbolic import statements
from hsdp_symbolic.arithmetic.engines import ENGINES
from hsdp_symbolic.errors import ArgumentError, NotRational, UnsupportedNode
from hsdp_symbolic.evaluate.boxes import Range, range_of
from hsdp_symbolic.evaluate.enclosure import enclose, exact
from hsdp_symbolic.evaluate.numeric import evaluate
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.evaluate.trend import sign, trend
from hsdp_symbolic.functions.interface import BoundFunction, OfNumbers, OfSteps, Pointwise, Trend
from hsdp_symbolic.proof.algebra import is_zero
from hsdp_symbolic.setting.arrays import Samples
from hsdp_symbolic.symbols import K, alpha, eta, lam, sigma2
from hsdp_symbolic.tex import latex

PACKAGE = Path(hsdp_symbolic.__file__).parent


class Saturated(Pointwise):
    """x/(1 + x), which rises from 0 to 1."""

    nargs = 1
    is_closed_in_proofs = True

    def closed(self):
        return self.args[0] / (1 + self.args[0])

    @classmethod
    def exact(cls, over, x):
        return over.mul(x, over.power(over.add(Fraction(1), x), Fraction(-1)))

    @classmethod
    def doubles(cls, over, x):
        x = over.value(x)
        return x * (1.0 / (1.0 + x))

    def sign(self, sign):
        return sign(self.args[0])

    def trend(self, rules):
        return rules.of(self.args[0])

    def tex(self, printer):
        return rf"\operatorname{{sat}}\left({printer._print(self.args[0])}\right)"


class LogFactorial(OfNumbers):
    """log 1 + … + log k."""

    nargs = 1

    @classmethod
    def vanishes(cls, *numbers):
        return numbers[0] in (0, 1)

    @classmethod
    def enclosed(cls, over, *numbers):
        return over.log(Fraction(np.prod([Integer(i) for i in range(1, int(numbers[0]) + 1)])))

    @classmethod
    def array(cls, *arguments: Any):
        counts = np.asarray(arguments[0], dtype=float)
        return np.array([sum(np.log(i) for i in range(1, int(k) + 1)) for k in counts.ravel()]).reshape(counts.shape)

    def sign(self, sign):
        return 1

    def trend(self, rules):
        return rules.of(self.args[0])


class OneAndMore(OfSteps):
    """1 + x·k after k steps, which is not 0 at x = 0."""

    nargs = 2

    @classmethod
    def enclosed(cls, over, *numbers):
        return 1 + numbers[0] * numbers[1]

    @classmethod
    def curve(cls, *numbers):
        return [1 + float(numbers[0]) * k for k in range(1, int(numbers[1]) + 1)]


class Mute(Pointwise):
    """A function that says nothing of itself."""

    nargs = 1


def samples(values):
    return Samples(np.array(values), min(values), max(values))


class TestOfValues:
    bound = alpha * Saturated(eta * lam) / sigma2
    at: ClassVar = {"alpha": Fraction(3), "eta": Fraction(1, 2), "lam": Fraction(1, 2), "sigma2": Fraction(2)}

    def test_exact(self):
        assert exact(compile_expression(self.bound), self.at) == Fraction(3, 10)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_enclosed(self, engine):
        found = enclose(compile_expression(Saturated(alpha ** Integer(1) / 3) + 1), self.at, engine=engine)
        assert Fraction(3, 2) in found

    def test_over_an_array(self):
        etas = [0.25, 0.5, 1.0]
        found = evaluate(compile_expression(self.bound), {**self.at, "eta": samples(etas)})
        assert found == pytest.approx([1.5 * (x / 2) / (1 + x / 2) for x in etas], rel=1e-15)

    def test_direction(self):
        assert trend(self.bound, eta) is Trend.UP
        assert trend(self.bound, sigma2) is Trend.DOWN
        assert sign(Saturated(eta)) == 1

    def test_over_a_box(self):
        found = range_of(self.bound, {**self.at, "eta": Range(Fraction(1, 2), Fraction(2))})
        assert found.lo == Fraction(3, 10)
        assert found.hi == Fraction(3, 4)

    def test_in_a_proof(self):
        assert is_zero(Saturated(eta) * (1 + eta) - eta)
        assert not is_zero(Saturated(eta) - eta)

    def test_printed(self):
        assert latex(1 + Saturated(eta)) == r"1 + \operatorname{sat}\left(\eta\right)"
        assert latex(Saturated(eta) ** 2) == r"\left(\operatorname{sat}\left(\eta\right)\right)^{2}"


class TestOfNumbers:
    def test_zero_is_exact_and_the_rest_is_not(self):
        program = compile_expression(LogFactorial(K))
        assert exact(program, {"K": Fraction(0)}) == 0
        with pytest.raises(NotRational):
            exact(program, {"K": Fraction(3)})

    @pytest.mark.parametrize("engine", ENGINES)
    def test_enclosed(self, engine):
        found = enclose(compile_expression(LogFactorial(K)), {"K": Fraction(5)}, engine=engine)
        assert float(found.lo) == pytest.approx(np.log(120), rel=1e-15)

    def test_over_an_array(self):
        found = evaluate(compile_expression(LogFactorial(K)), {"K": samples([1.0, 3.0, 5.0])})
        assert found == pytest.approx(np.log([1, 6, 120]), rel=1e-15)

    def test_direction(self):
        assert trend(LogFactorial(K), K) is Trend.UP


class TestOfSteps:
    program = compile_expression(OneAndMore(eta, K))

    def test_it_is_not_taken_for_zero_where_its_first_argument_is(self):
        with pytest.raises(NotRational):
            exact(self.program, {"eta": Fraction(0), "K": Fraction(3)})
        assert enclose(self.program, {"eta": Fraction(0), "K": Fraction(3)}).lo == 1
        assert evaluate(self.program, {"eta": samples([0.0, 1.0]), "K": Fraction(3)}).tolist() == [1.0, 4.0]

    def test_one_run_for_all_counts(self):
        assert evaluate(self.program, {"eta": Fraction(2), "K": samples([1.0, 3.0])}).tolist() == [3.0, 7.0]

    def test_no_steps_are_refused(self):
        with pytest.raises(ArgumentError, match="at least one step"):
            evaluate(self.program, {"eta": Fraction(2), "K": samples([0.0, 3.0])})


def test_what_a_function_does_not_say_is_not_guessed():
    program = compile_expression(Mute(eta))
    with pytest.raises(NotRational):
        exact(program, {"eta": Fraction(1)})
    with pytest.raises(NotRational):
        enclose(program, {"eta": Fraction(1)})
    with pytest.raises(UnsupportedNode, match="Mute has no NumPy view"):
        evaluate(program, {"eta": samples([1.0, 2.0])})
    with pytest.raises(UnsupportedNode, match="method `tex`"):
        latex(Mute(eta))
    assert trend(Mute(eta), eta) is None
    assert sign(Mute(eta)) == 0


OF_LISTS = {
    "functions.loss_profiles",
    "functions.mixture_profile",
    "functions.scheduled_set",
    "functions.scheduled_shifts",
}
"""What the accountant does with lists of groups or of steps, which are in no expression: no functions of the bounds."""


@pytest.mark.parametrize("room", ["arithmetic", "evaluate", "tex", "accounting"])
def test_nobody_knows_a_function_by_name(room):
    """Engines, views, box rules, printer and accountant ask a function for what they need."""
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "functions":
                allowed = {"functions.interface"} | (OF_LISTS if room == "accounting" else set())
                assert node.module in allowed, f"{path.name} imports {node.module}"


@pytest.mark.parametrize("name", sorted(OF_LISTS))
def test_what_is_done_with_lists_is_no_function_of_the_bounds(name):
    module = importlib.import_module(f"hsdp_symbolic.{name}")
    assert not [kind.__name__ for kind in every(BoundFunction) if kind.__module__ == module.__name__]


def test_every_function_says_which_way_it_goes_or_has_a_closed_form():
    for path in (PACKAGE / "functions").glob("*.py"):
        importlib.import_module(f"hsdp_symbolic.functions.{path.stem}")
    silent = [
        kind.__name__
        for kind in every(BoundFunction)
        if kind.__module__.startswith("hsdp_symbolic")
        and kind.__module__ != BoundFunction.__module__
        and kind.trend is BoundFunction.trend
        and kind.closed is BoundFunction.closed
        and not kind.only_in_proofs
    ]
    assert silent == []


def test_no_bound_has_a_function_that_only_proofs_use():
    for found in statements():
        assert not any(node.only_in_proofs for node in found.expr.atoms(BoundFunction)), found.label


def every(kind):
    for each in kind.__subclasses__():
        yield each
        yield from every(each)
