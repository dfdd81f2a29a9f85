"""The printed LaTeX means what is computed: an independent reader turns it into the same numbers."""

from __future__ import annotations

import itertools
import math
import random
import re
from fractions import Fraction
from functools import cache

import mpmath
import pytest

from hsdp_symbolic import labels, statement
from hsdp_symbolic.display import undisplay
from hsdp_symbolic.errors import HypothesisError, ValueTooLarge
from hsdp_symbolic.evaluate.enclosure import enclose
from hsdp_symbolic.evaluate.program import compile_expression
from hsdp_symbolic.setting.letters import LETTERS
from hsdp_symbolic.tex import latex, views
from hsdp_symbolic.tex.macros import macro_name, macros
from proofs_check.soundness import _draw, _split
from tests.oracle import tame, to_mpf
from tests.points import few_steps, visible
from tests.tex.latex_reader import Book, Unreadable, holds, tokens

SETTINGS, MORE, DIGITS = 8, 20, 15
FEW, OFF = 3, mpmath.mpf("1e-4")
"""Settings of a statement about so many steps; and by how much the reader may be off where it uses grids."""
EXCLUDED = {
    "moments:without_replacement": "a recursion over functions of κ, not over numbers",
    "split:capped": "a recursion whose step is chosen by a condition in words",
    "control:without_replacement": "a dynamic programme over functions",
    "control:reshuffle": "a dynamic programme over functions",
    "expanding:reshuffle": "a product of matrices",
    "profile:reshuffle:expanding": "a mean over the places of all epochs",
    "profile:reshuffle": "a mean of what the least of all shifts spend",
    **dict.fromkeys(
        ("profile:balls_in_bins", "secret:balls_in_bins", "composition:balls_in_bins"),
        "a coefficient of a product of power series (tests/functions/test_bins_divergence.py enumerates the places)",
    ),
}
"""Statements whose LaTeX the reader cannot turn into numbers, and why. Recursions over numbers are iterated."""


def settings_of(found, seed):
    """Settings within the hypotheses, from the generator of `hsdp soundness`, small enough to add up term by term."""
    rng, turns = random.Random(f"{found.label}/{seed}"), itertools.count()
    while True:
        case = _draw(rng, found)
        if "n" in case:
            b = case.get("b", 1) if case.get("b", 1) <= 50 else rng.randint(1, 50)
            batches, epochs = rng.randint(2, 12), rng.choice([1, 2, rng.randint(1, 9)])
            counts = {
                "n": batches * b + (0 if "small_rate" in found.label else rng.randrange(b)),
                "b": b,
                "j0": rng.randrange(batches),
                "j": rng.randrange(1, batches),
                "split": batches,
                "K": epochs,
                "k": rng.randrange(epochs),
                "forgetting": rng.randint(1, 9),
            }
            case |= {name: value for name, value in counts.items() if name in case}
        if "alpha" in case and (found.label == "mironov2019" or rng.random() < 0.5):
            case["alpha"] = Fraction(rng.randint(2, 40))
        if {"sigma", "S_g", "b", "alpha"} <= case.keys() and case["S_g"]:
            case = tame({**case, "S_g": case["S_g"] * rng.randint(2, 9)}, rng)
        if {"sigma", "S_g", "b", "epsilon"} <= case.keys() and case["S_g"]:
            case["S_g"] *= rng.randint(2, 9)
            case |= visible(rng, case["eta"], case["S_g"], case["b"])
        if "T" in case:
            case |= {name: value for name, value in few_steps(rng).items() if case.get(name)}
        if "bias" in case:
            case["bias"] = next(turns) % 2
        if "classes" in case and rng.random() < 0.7:
            case["classes"] = 2
        if found.label == "conversion:delta":  # an exponential of R and ε: tame, as its digits are all written down
            case |= {name: Fraction(rng.randint(0, 500), 100) for name in ("R", "epsilon")}
        if found.label == "cor:logistic":
            case["eta"] = Fraction(rng.randint(1, 99), 100) / (2 * case["lam"] + (case["L"] ** 2 + 1) / 2)
        yield case


def admitted(found, count=SETTINGS):
    """`count` settings the statement accepts, or fewer if they take long, each with its enclosure."""
    takes_long = "T" in found.needs and found.label != "mironov2019"
    return _admitted(found.label, math.ceil(count * FEW / SETTINGS) if takes_long else count)


@cache
def _admitted(label, count):
    found = statement(label)
    accepted, rtol = [], found.within_reach(Fraction(1, 10**30))
    for case in settings_of(found, 0):
        run, arguments = _split(case)
        try:
            accepted.append((case, found.enclose(run, rtol=rtol, **arguments)))
        except (HypothesisError, ValueTooLarge):
            continue
        if len(accepted) == count:
            return accepted
    raise AssertionError


def agrees(value, bracket):
    """Whether a value is the enclosed one to at least 15 digits, or within what comes from a grid."""
    low, high = (to_mpf(end) for end in (bracket.lo, bracket.hi))
    size = max(abs(low), abs(high), mpmath.mpf(10) ** -120)
    if high - low > mpmath.mpf(10) ** -DIGITS * size:
        off = OFF * size + mpmath.mpf("1e-12")
        return low - off <= value <= high + off
    return abs(value - low) <= mpmath.mpf(10) ** -DIGITS * size


@pytest.fixture(autouse=True)
def precise():
    with mpmath.workdps(160):
        yield


@pytest.mark.parametrize("label", [label for label in labels() if label not in EXCLUDED])
class TestRoundTrip:
    @pytest.mark.parametrize("count", [SETTINGS, pytest.param(MORE, marks=pytest.mark.slow)])
    def test_latex_to_numbers(self, label, count):
        found = statement(label)
        book = Book(found.latex().split("\n"))
        for case, bracket in admitted(found, count):
            assert agrees(book.value(case), bracket), case

    def test_definitions_beside_it(self, label):
        found = statement(label)
        book = Book(found.latex().split("\n"))
        for name, expr in found.also:
            letters_of = {symbol.name for symbol in undisplay(expr).free_symbols}
            if tuple(tokens(name)) not in book.aside or not letters_of <= {*LETTERS, "sigma2", "N", "m", "q"}:
                continue  # a rule for every index, or in terms of other names
            for case, _ in admitted(found, 5):
                letters = {"alpha": Fraction(7, 2), **{each: Fraction(value) for each, value in case.items()}}
                exact = {**letters, "sigma2": letters.get("sigma", Fraction(1)) ** 2}
                program = compile_expression(undisplay(expr))
                if program.leaves <= exact.keys():  # else it is for an index of a sum
                    assert agrees(book.value(letters, name), enclose(program, exact, rtol="1e-30")), (name, case)

    def test_a_wrong_formula_is_noticed(self, label):
        found = statement(label)
        cases = admitted(found)
        mutants = list(mutated(found.latex()))
        assert mutants
        for text in mutants:
            assert not survives(text, cases), text

    def test_numbers_put_in_are_the_same_formula(self, label):
        found = statement(label)
        for case, bracket in admitted(found, 5):
            run, arguments = _split(case)
            first, *others = logical_lines(views.values(found, run, **arguments)[1].rows)
            formula, sign, stated = re.fullmatch(r"(.*) (\\leq|\\geq|\\in|=) (.*)", first).groups()
            named = {name: case[name] for name in ("n", "b", "K") if name in case}  # for S_K^0 and n/b
            assert agrees(Book([formula, *others]).value(named), bracket), case
            assert is_safely_rounded(sign, stated, bracket, stated_digits(found)), case

    def test_printed_hypotheses_decide_as_the_statement_does(self, label):
        found = statement(label)
        printed = [part.tex for part in views.hypotheses(found)[0].parts if isinstance(part, views.Maths)]
        assert len(printed) == len(found.hypotheses)
        cases, decided = settings_of(found, 1), set()
        for case, factor in ((next(cases), factor) for _ in range(30) for factor in (1, 3, 10**4)):
            changed = {**case, "eta": case["eta"] * factor} if "eta" in case else case
            run, arguments = _split(changed)
            try:
                found.point(run, **arguments)
                admits = True
            except HypothesisError:
                admits = False
            named = {"classes": "c", "lipschitz": "c"}
            letters = {named.get(name, name): value for name, value in changed.items()}
            assert all(holds(each, letters) for each in printed) == admits, case
            decided.add(admits)
        beyond_the_letters = [h for h in found.hypotheses if "eta" in map(str, h.free_symbols)]
        assert decided == ({True, False} if beyond_the_letters else decided | {True})

    def test_macros_expand_to_the_statement(self, label):
        file = macros([statement(label)])
        (body,) = re.findall(rf"^\\newcommand{{{re.escape(macro_name(label))}}}{{(.*)}}$", file, re.M)
        assert expanded(body, file) == latex(statement(label).shown)


def mutated(text):
    """Wrong versions of a printed statement: a sign, an exponent, a limit, a letter."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if number and not re.search(r"quad (S|u|\\varepsilon|\\mu)_", line):
            continue  # an aside, which the value does not depend on
        start = min(line.index(sign) for sign in (r"\leq", r"\geq", "=") if sign in line) if number == 0 else 0
        for wrong, right in SLIPS:
            for match in re.finditer(wrong, line):
                if match.start() >= start:
                    slipped = line[: match.start()] + right + line[match.end() :]
                    yield "\n".join([*lines[:number], slipped, *lines[number + 1 :]])


SLIPS = [
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r"\^\{2\}", "^{3}"),
    (r"2s", "3s"),
    (r"=0\}", "=1}"),
    (r"\\frac\{1\}", r"\\frac{2}"),
    (r"j\+1", "j+2"),
    (r"S_g", r"S_g S_g"),
]


def survives(text, cases):
    """Whether a wrong formula gives the right value everywhere."""
    try:
        book = Book(text.split("\n"))
        return all(agrees(book.value(case), bracket) for case, bracket in cases)
    except (Unreadable, ZeroDivisionError, ValueError):
        return False


def logical_lines(rows):
    """The rows of a display, with broken formulas put together again."""
    lines = []
    for row in rows:
        text = re.sub(r"&(\\q?quad)?", "", row)
        if row.startswith("&") and not row.startswith("& "):
            lines[-1] += f" {text}"
        elif row.startswith("& "):
            lines.append(rf"\quad {text.strip()}")
        else:
            lines.append(rf"\quad{text}" if text.startswith(r"\text") else text)
    return [re.sub(r"\s+", " ", line) for line in lines]


def stated_digits(found):
    """How many digits of a value are stated, at least: four where it comes from a grid."""
    return 3 if found.within_reach(Fraction(0)) else 11


def is_safely_rounded(sign, stated, bracket, digits):
    """Whether a stated value is on the safe side of the true one, and the same to so many digits."""
    numbers = [
        Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
        for mantissa, exponent in re.findall(r"(-?[\d.]+)(?: \\cdot 10\^\{(-?\d+)\})?", stated)
    ]
    room = abs(bracket.hi) / 10**digits
    near = all(bracket.lo - room <= number <= bracket.hi + room for number in numbers)
    if sign == "=":
        return numbers == [bracket.lo] == [bracket.hi]
    if sign == r"\in":
        return near and numbers[0] <= bracket.lo <= bracket.hi <= numbers[1]
    return near and (numbers[0] >= bracket.hi if sign == r"\leq" else numbers[0] <= bracket.lo)


def expanded(body, file):
    """What TeX would make of the macros, as text."""
    letters = dict(re.findall(r"^\\newcommand\{(\\hsdpVar\w+)\}\{(.*)\}$", file, re.M))
    body = re.sub(r"\\hsdpFirstEpoch\{(.*?)\}\{\{\\hsdpVaralpha\}\}", r"\\varepsilon_0^{\1}({\\hsdpVaralpha})", body)
    body = re.sub(r"\\hsdpAvg\{(.*?\}\})?(.*?\{\\hsdpVarN\})\}", r"\\underset{\2}{Avg}", body)
    while r"\hsdpVar" in body:
        body = re.sub(r"\{(\\hsdpVar\w+)\}", lambda match: letters[match[1]], body)
    return body


class TestTheReaderRefuses:
    @pytest.mark.parametrize(
        "text",
        [
            r"x = \foo{1}",
            r"x = s",
            r"x = \frac{1}",
            r"x = (1 + 2",
            r"x = 1 + 2)",
            r"x = 2^{3}^{4}",
            r"x = b/n",
            r"x = \sum_{s=0} s",
            r"x = \mathbb{E} 1",
            r"x = T_k^j(\alpha)",
            r"x = 1 % comment",
            r"x",
        ],
    )
    def test_what_it_does_not_understand(self, text):
        with pytest.raises(Unreadable):
            Book([text]).value({"n": 1, "b": 1})

    def test_names_defined_beside_the_formula(self):
        lines = [
            r"x \leq \underset{0 \leq j_0 < n/b}{Avg} \varepsilon_{j_0}",
            r"\quad\text{with}\quad \varepsilon_{j_0} = \Psi\left(g, \ell\right)",
            r"\quad\text{with}\quad g = j_0",
            r"\quad\text{with}\quad \ell = 3",
            r"\quad\text{with}\quad \Psi(g, \ell) = \ell + g^{2}",
        ]
        assert Book(lines).value({"n": 4, "b": 1}) == 3 + Fraction(14, 4)

    def test_names_nobody_defines(self):
        with pytest.raises(Unreadable, match="0 rules"):
            Book([r"x = S_K^0(\alpha)"]).value({"K": 1})

    def test_what_it_does(self):
        text = r"x = \max\left(1, \sqrt{\frac{n}{b}}\right) \cdot \lceil \frac{n/b}{2} \rceil - \binom{4}{2} 2^3 n/b"
        assert Book([text]).value({"n": 9, "b": 4}) == Fraction(3, 2) * 1 - 6 * 8 * 2
