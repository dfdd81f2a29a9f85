r"""An independent reader of the printed LaTeX: text in, numbers out.

It knows the notation of the paper as a reader of the paper does, and nothing of SymPy, of the package's symbols or of
its printer: a tokeniser, a grammar, and mpmath. Whatever it does not understand is an error.

    expression  = ["-"] product { ("+" | "-") product }
    product     = factor { ["\cdot"] factor }
    factor      = atom [ "^" argument ]
    atom        = number | letter | name of the paper | n/b | (expression) | \frac | \binom | \sqrt | e^{…} | \log(…)
                | \max(…) | \min(…) | \lfloor … \rfloor | \lceil … \rceil | \sum_{s=a}^{b} product
                | \underset{range}{Avg} product | cases | X_{index}^{index}(\alpha), defined by an equation beside it
                | name(expression, …; expression), for \delta_{\mathrm{G}} and other functions with a rule of their own
                | \mathrm{P}(\mathrm{Bin}(expression, expression) > expression)

A function whose LaTeX is not made of sums, products and the like needs one rule here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

from tests.experiment import drift_oracle as oracle
from tests.tex import sampled

Number = Any
Scope = dict[str, Number]
Meaning = Callable[[Scope], Number]


class Unreadable(ValueError):
    """The reader met something it does not understand."""


_TOKEN = re.compile(r"\s+|\\[A-Za-z]+|\\[\\ ]|\d+(?:\.\d+)?|[A-Za-z]|[{}()\[\]^_&+\-=<>/,;']")

_SIZES = (r"\scriptstyle", r"\left", r"\right", r"\bigl", r"\bigr", r"\ ")

NAMES = {
    r"\eta": "eta",
    r"\lambda": "lam",
    r"\beta": "beta",
    r"\alpha": "alpha",
    r"S_g": "S_g",
    r"j_0": "j0",
    r"\sigma_{mul}": "sigma_mul",
    r"\sigma": "sigma",
    r"R_\alpha(\mu_1\Vert\nu_1)": "R1",
    r"R_\alpha(\mu_2\Vert\nu_2)": "R2",
    r"\partial_\alpha R_\alpha": "dR",
    r"R_\alpha": "R",
    r"\varepsilon_{norm}": "eps_norm",
    r"\kappa": "kappa",
    r"s_\varphi": "slope",
    r"\mathrm{bias}": "bias",
    r"\beta_0": "beta0",
    r"\lambda_0": "lam0",
    r"p_1": "w1",
    r"\delta": "delta",
    "m": "split",
    "a": "removed",
    r"\nu": "window",
    "g": "share",
    "r": "forgetting",
    "w": "noise_ratio",
    **{letter: letter for letter in ("n", "b", "K", "T", "j", "k", "t", "c", "L", "u")},
}
"""How the paper writes its letters, the longer names first where one begins another."""

_RELATIONS = {
    r"\leq": lambda x, y: x <= y,
    r"\geq": lambda x, y: x >= y,
    "=": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
}


def tokens(text: str) -> list[str]:
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            raise Unreadable(f"no token at {text[place : place + 20]!r}")
        place = match.end()
        if not match[0].isspace() and match[0] not in _SIZES:
            found.append(match[0])
    return found


_NAMES = sorted(((tokens(text), name) for text, name in NAMES.items()), key=lambda pair: -len(pair[0]))


class Reader:
    """Reads one formula; the names S, u and ε with indices are looked up in the `book` of equations beside it."""

    def __init__(self, text: str, book: Book) -> None:
        self.tokens, self.place, self.book = tokens(text), 0, book
        self.bound: list[str] = []

    # The stream

    @property
    def here(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def ahead(self, *wanted: str) -> bool:
        return self.tokens[self.place : self.place + len(wanted)] == list(wanted)

    def take(self, *wanted: str) -> None:
        if not self.ahead(*wanted):
            raise Unreadable(f"expected {' '.join(wanted)}, found {' '.join(self.tokens[self.place : self.place + 6])}")
        self.place += len(wanted)

    def whole(self, rule: Callable[[], Any]) -> Any:
        found = rule()
        if self.here:
            raise Unreadable(f"left over: {' '.join(self.tokens[self.place :])}")
        return found

    # The grammar

    def expression(self) -> Meaning:
        negative = self.ahead("-")
        if negative:
            self.take("-")
        first = self.product()
        total: Meaning = (lambda scope: -first(scope)) if negative else first
        while self.here in ("+", "-"):
            total = self._added(total, self._sign())
        return total

    def _sign(self) -> int:
        sign = 1 if self.here == "+" else -1
        self.place += 1
        return sign

    def _added(self, left: Meaning, sign: int) -> Meaning:
        right = self.product()
        return lambda scope: left(scope) + sign * right(scope)

    def product(self) -> Meaning:
        factors = [self.factor()]
        while True:
            if self.here == r"\cdot":
                self.take(r"\cdot")
            elif self.here in _ENDS or self.here in _RELATIONS:
                return _product(factors)
            factors.append(self.factor())

    def factor(self) -> Meaning:
        base = self.atom()
        if not self.ahead("^"):
            return base
        self.take("^")
        power = self.argument()
        return lambda scope: _power(base(scope), power(scope))

    def argument(self) -> Meaning:
        """What stands in braces, or one token."""
        if self.ahead("{"):
            return self.group("{", "}")
        return self.atom()

    def group(self, start: str, end: str) -> Meaning:
        self.take(start)
        inside = self.expression()
        self.take(end)
        return inside

    def atom(self) -> Meaning:
        token = self.here
        if re.fullmatch(r"\d+(\.\d+)?", token):
            self.place += 1
            value = _number(token)
            return lambda scope: value
        if token in self.bound:
            self.place += 1
            return _value_of(token)
        if self.ahead("n", "/", "b"):  # the paper's footnote: n/b is rounded down
            self.take("n", "/", "b")
            return lambda scope: mpmath.floor(scope["n"] / scope["b"])
        named = self.named()
        if named is not None:
            return named
        if token in _RULES:
            self.place += 1
            return _RULES[token](self)
        if token == r"\varepsilon" and not self.ahead(token, "_"):
            self.place += 1
            return _value_of("epsilon")
        if token in ("S", "u", r"\varepsilon"):
            head, *indices = self.indexed()
            return lambda scope: self.book.term(head, [index(scope) for index in indices])
        raise Unreadable(f"what is {token!r}, before {' '.join(self.tokens[self.place + 1 : self.place + 6])}?")

    def named(self) -> Meaning | None:
        """A function with a rule of its own, a name defined beside the formula, or a letter; None if it is none."""
        for written, meaning in _FUNCTIONS:
            if self.ahead(*written):
                self.take(*written)
                return self.of_numbers(meaning)
        if self.ahead(*_CHANCE):
            return self.chance()
        for name in self.book.names:
            if self.ahead(*name):
                self.place += len(name)
                return self.book.meaning_of(name)
        for written, name in _NAMES:
            if self.ahead(*written) and not self.ahead("u", "_"):
                self.place += len(written)
                return _value_of(name)
        return None

    def indexed(self) -> tuple[Any, ...]:
        r"""X_a^b(\alpha): the head and the meanings of its indices."""
        head = self.here
        self.place += 1
        self.take("_")
        indices = [self.argument()]
        if self.ahead("^"):
            self.take("^")
            indices.append(self.argument())
        if self.ahead("(", r"\alpha", ")"):
            self.take("(", r"\alpha", ")")
        return (head, *indices)

    # Rules for commands; the command itself has been taken

    def fraction(self) -> Meaning:
        top, bottom = self.group("{", "}"), self.group("{", "}")
        return lambda scope: top(scope) / bottom(scope)

    def binomial(self) -> Meaning:
        top, bottom = self.group("{", "}"), self.group("{", "}")
        return lambda scope: mpmath.binomial(top(scope), bottom(scope))

    def root(self) -> Meaning:
        inside = self.group("{", "}")
        return lambda scope: mpmath.sqrt(inside(scope))

    def parenthesis(self) -> Meaning:
        self.place -= 1
        return self.group("(", ")")

    def exponential(self) -> Meaning:
        self.take("^")
        power = self.group("{", "}")
        return lambda scope: mpmath.exp(power(scope))

    def logarithm(self) -> Meaning:
        braced = self.ahead("{")
        if braced:
            self.take("{")
        inside = self.group("(", ")")
        if braced:
            self.take("}")
        return lambda scope: mpmath.log(inside(scope))

    def several(self, choose: Callable[[list[Number]], Number]) -> Meaning:
        self.take("(")
        options = [self.expression()]
        while self.ahead(","):
            self.take(",")
            options.append(self.expression())
        self.take(")")
        return lambda scope: choose([option(scope) for option in options])

    def rounded(self, end: str, towards: Callable[[Number], Number]) -> Meaning:
        braced = self.ahead("{")
        inside = self.group("{", "}") if braced else self.expression()
        self.take(end)
        return lambda scope: towards(inside(scope))

    def summation(self) -> Meaning:
        self.take("_", "{")
        index = self.here
        self.place += 1
        self.take("=")
        first = self.expression()
        self.take("}", "^")
        last = self.argument()
        self.bound.append(index)
        body = self.product()
        self.bound.pop()
        return lambda scope: mpmath.fsum(
            body({**scope, index: mpmath.mpf(value)}) for value in range(_whole(first(scope)), _whole(last(scope)) + 1)
        )

    def average(self) -> Meaning:
        """Over a ≤ i < b, or a ≤ i ≤ b."""
        self.take("{")
        first = self.expression()
        self.take(r"\leq")
        written, name = next((pair for pair in _NAMES if self.ahead(*pair[0])), ([self.here], self.here))
        self.take(*written)
        strict = self.ahead("<")
        self.take("<" if strict else r"\leq")
        last = self.expression()
        self.take("}", "{", "A", "v", "g", "}")
        self.bound.append(name)
        body = self.product()
        self.bound.pop()

        def mean(scope: Scope) -> Number:
            over = range(_whole(first(scope)), _whole(last(scope)) + (0 if strict else 1))
            return mpmath.fsum(body({**scope, name: mpmath.mpf(value)}) for value in over) / len(over)

        return mean

    def of_numbers(self, meaning: Callable[..., Number]) -> Meaning:
        """(a, b, …; z)."""
        self.take("(")
        arguments = [self.expression()]
        while self.ahead(","):
            self.take(",")
            arguments.append(self.expression())
        self.take(";")
        arguments.append(self.expression())
        self.take(")")
        return lambda scope: meaning(*(argument(scope) for argument in arguments))

    def chance(self) -> Meaning:
        self.take(*_CHANCE)
        count = self.expression()
        self.take(",")
        rate = self.expression()
        self.take(")", ">")
        most = self.expression()
        self.take(")")
        return lambda scope: sampled.more_than(count(scope), rate(scope), most(scope))

    def cases(self) -> Meaning:
        self.take("{", "c", "a", "s", "e", "s", "}")
        rows = [self._case()]
        while self.ahead(r"\\"):
            self.take(r"\\")
            rows.append(self._case())
        self.take(r"\end", "{", "c", "a", "s", "e", "s", "}")

        def chosen(scope: Scope) -> Number:
            return next(value(scope) for value, condition in rows if condition(scope))

        return chosen

    def _case(self) -> tuple[Meaning, Callable[[Scope], bool]]:
        value = self.expression()
        self.take("&")
        for sign, holds in ((r"\in", 1), (r"\notin", 0)):
            if self.ahead("i", "_", "0", sign):
                self.take("i", "_", "0", sign, "B", "_", "k", "^", "j")
                return value, _hit_is(holds)
        if self.ahead(r"\text"):
            self.take(r"\text", "{", *"otherwise", "}")
            return value, lambda scope: True
        return value, self.relation()

    def relation(self) -> Callable[[Scope], bool]:
        left = self.expression()
        sign = self.here
        if sign not in _RELATIONS:
            raise Unreadable(f"no relation: {sign!r}")
        self.place += 1
        right = self.expression()
        return lambda scope: bool(_RELATIONS[sign](left(scope), right(scope)))


_ENDS = {"", "+", "-", ")", "}", "]", "&", ",", ";", r"\\", r"\end", r"\rfloor", r"\rceil"}
_RULES: dict[str, Callable[[Reader], Meaning]] = {
    r"\frac": Reader.fraction,
    r"\binom": Reader.binomial,
    r"\sqrt": Reader.root,
    "(": Reader.parenthesis,
    "e": Reader.exponential,
    r"\log": Reader.logarithm,
    r"\max": lambda reader: reader.several(max),
    r"\min": lambda reader: reader.several(min),
    r"\lfloor": lambda reader: reader.rounded(r"\rfloor", mpmath.floor),
    r"\lceil": lambda reader: reader.rounded(r"\rceil", mpmath.ceil),
    r"\sum": Reader.summation,
    r"\underset": Reader.average,
    r"\begin": Reader.cases,
}


def _profile(mu: Number, epsilon: Number) -> Number:
    """The largest P(A) − e^ε·Q(A) for N(μ, 1) and N(0, 1): A is where the loss μx − μ²/2 exceeds ε."""
    if mu == 0:
        return max(mpmath.mpf(0), 1 - mpmath.exp(epsilon))
    edge = epsilon / mu + mu / 2
    with mpmath.extradps(60):
        return (
            mpmath.erfc((edge - mu) / mpmath.sqrt(2)) / 2 - mpmath.exp(epsilon) * mpmath.erfc(edge / mpmath.sqrt(2)) / 2
        )


def _profile_inverse(mu: Number, delta: Number) -> Number:
    if _profile(mu, mpmath.mpf(0)) <= delta:
        return mpmath.mpf(0)
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    while _profile(mu, high) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _profile(mu, middle) > delta else (low, middle)
    return low


_FUNCTIONS = [
    (tokens(name), meaning)
    for name, meaning in (
        (r"\delta_{\mathrm{G}}", _profile),
        (r"\varepsilon_{\mathrm{G}}", _profile_inverse),
        (r"\mathrm{R}_{\mathrm{C}}^{\mathrm{secret}}", sampled.secret_divergence(sampled.divergence_replaced)),
        (r"\mathrm{R}_{\mathrm{P}}^{\mathrm{secret}}", sampled.secret_divergence(sampled.divergence_removed)),
        (r"\mathrm{R}_{\mathrm{C}}", sampled.divergence(sampled.divergence_replaced)),
        (r"\delta_{\mathrm{C}}^{\mathrm{secret}}", sampled.secret_profile(oracle.sampled)),
        (r"\delta_{\mathrm{P}}^{\mathrm{secret}}", sampled.secret_profile(oracle.removed, oracle.added)),
        (r"\delta_{\mathrm{C}}", sampled.profile(oracle.sampled)),
        (r"\delta_{\mathrm{P}}", sampled.profile(oracle.removed, oracle.added)),
    )
]
"""How functions are written, and their values; the longer name first where one begins another."""
_CHANCE = tokens(r"\mathrm{P}(\mathrm{Bin}(")
_REMARKS = (r"\quad \text{where}\ ", r"\quad \qquad ")
"""How lines begin that say in words what `_FUNCTIONS` are."""


class Book:
    """The equations of one statement: the first says what is bounded, the others define names used in it."""

    def __init__(self, lines: list[str]) -> None:
        self.known: dict[tuple[Any, ...], Number] = {}
        self.stepping = False
        self.letters: Scope = {}
        first, *others = lines
        self.left, self.sign, right = split(first)
        definitions = [found for found in map(_definition, others) if found]
        self.names = [tuple(tokens(left)) for left, _ in definitions if _indices(left) is None]
        self.rules = [(*_indices(left), self.read(text)) for left, text in definitions if _indices(left) is not None]
        self.aside = {tuple(tokens(left)): self.read(text) for left, text in definitions if _indices(left) is None}
        self.formula = self.read(right)

    def read(self, text: str) -> Meaning:
        reader = Reader(text, self)
        found: Meaning = reader.whole(reader.expression)
        return found

    def meaning_of(self, name: tuple[str, ...]) -> Meaning:
        """What a name beside the formula stands for, where it is used (under the indices of sums around it)."""
        return lambda scope: self.aside[name](scope)

    def value(self, letters: Mapping[str, Fraction | int], name: str | None = None) -> Number:
        """The first right-hand side at these letters, or that of the definition of `name`."""
        self.known.clear()
        self.letters = {("c" if key == "lipschitz" else key): _number(value) for key, value in letters.items()}
        return (self.formula if name is None else self.aside[tuple(tokens(name))])(self.letters)

    def term(self, head: str, indices: list[Number]) -> Number:
        """X at these indices, by the one rule whose left-hand side matches; a recursion is taken from the bottom up."""
        key = (head, *map(_whole, indices))
        if key not in self.known and self.stepping:
            raise _Needs(key)
        waiting = [key]
        while waiting and key not in self.known:
            self.stepping = True
            try:
                self.known[waiting[-1]] = self._apply(waiting[-1])
                waiting.pop()
            except _Needs as needed:
                if len(waiting) > 10**5:
                    raise Unreadable(f"{key} is not reached by its recursion") from None
                waiting.append(needed.key)
            finally:
                self.stepping = False
        return self.known[key]

    def _apply(self, key: tuple[Any, ...]) -> Number:
        head, *indices = key
        fitting = []
        for name, patterns, meaning in self.rules:
            letters = _match(patterns, indices) if name == head and len(patterns) == len(indices) else None
            if letters is not None:
                fitting.append((letters, meaning))
        if len(fitting) != 1:
            raise Unreadable(f"{len(fitting)} rules for {key}")
        letters, meaning = fitting[0]
        return meaning({**self.letters, **letters})


_INDEXED = re.compile(r"(S|u|\\varepsilon)_(?:\{([^{}]*)\}|(\w))(?:\^(?:\{([^{}]*)\}|(\w)))?(?:\(\\alpha\))?")


def _definition(line: str) -> tuple[str, str] | None:
    """Both sides of a definition; None for a remark, which whoever chooses the letters must heed."""
    if line == r"\quad \text{for whole orders}\ \alpha" or line.startswith(_REMARKS):
        return None
    match = re.fullmatch(r"\\quad\\text\{(?:with|where)\}\\quad (.*)", line)
    if not match:
        raise Unreadable(f"what kind of line is {line!r}?")
    left, sign, right = split(match[1])
    if sign != "=":
        raise Unreadable(f"a definition by {sign}")
    return left.strip(), right


def _indices(left: str) -> tuple[str, list[str]] | None:
    """Head and index patterns of a name defined for every index, such as S_k^{j+1}; None for any other name."""
    match = _INDEXED.fullmatch(left)
    if not match:
        return None
    patterns = [each.replace(" ", "") for each in match.groups()[1:] if each is not None]
    return (match[1], patterns) if all(_INDEX.fullmatch(each) for each in patterns) else None


_INDEX = re.compile(r"(\d+)|([a-z])(?:\+(\d+))?")


class _Needs(Exception):
    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key


def _match(patterns: list[str], indices: list[int]) -> Scope | None:
    """The letters for which the index patterns (0, j, j+1) are these indices."""
    found: Scope = {}
    for pattern, index in zip(patterns, indices, strict=True):
        number, letter, more = _INDEX.fullmatch(pattern).groups()
        if number is not None:
            if int(number) != index:
                return None
        elif index < int(more or 0):
            return None
        else:
            found[letter] = mpmath.mpf(index - int(more or 0))
    return found


def split(line: str) -> tuple[str, str, str]:
    """Left side, relation and right side, at the first relation outside all braces."""
    depth = 0
    for place, character in enumerate(line):
        depth += {"{": 1, "}": -1}.get(character, 0)
        sign = next((sign for sign in _RELATIONS if line.startswith(sign, place)), None)
        if sign and depth == 0 and not line.startswith(r"\left", place):
            return line[:place], sign, line[place + len(sign) :]
    raise Unreadable(f"no relation in {line!r}")


def holds(relation: str, letters: Mapping[str, Fraction | int]) -> bool:
    r"""Whether a printed hypothesis, such as \eta < \frac{2}{\lambda + \beta}, is true."""
    scope = {key: _number(value) for key, value in letters.items()}
    for alternative in relation.split(r" \text{ or } "):
        reader = Reader(alternative, Book(["x = 0"]))
        if reader.whole(reader.relation)(scope):
            return True
    return False


def _number(value: Any) -> Number:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def _hit_is(wanted: int) -> Callable[[Scope], bool]:
    return lambda scope: bool(scope["hit"] == wanted)


def _value_of(name: str) -> Meaning:
    def found(scope: Scope) -> Number:
        if name not in scope:
            raise Unreadable(f"no value for {name}")
        return scope[name]

    return found


def _whole(value: Number) -> int:
    if value != int(value):
        raise Unreadable(f"an index or a limit of {value}")
    return int(value)


def _power(base: Number, power: Number) -> Number:
    found = base**power
    if not isinstance(found, mpmath.mpf):
        raise Unreadable(f"a power {base}^{power} that is no real number")
    return found


def _product(factors: list[Meaning]) -> Meaning:
    if len(factors) == 1:
        return factors[0]
    return lambda scope: mpmath.fprod(factor(scope) for factor in factors)
