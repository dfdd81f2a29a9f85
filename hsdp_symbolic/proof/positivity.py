"""Exact certificates that a polynomial is positive on the positive orthant, and a checker that needs only integers.

The polynomial is made homogeneous by one more variable, x₀ = 1. A certificate says either "times (x₀ + … + x_n)^k all
coefficients are nonnegative" (Pólya), or "cut the orthant along x_i = x_j and look at each side": x_i > x_j is the
orthant again, in x_i − x_j and x_j (and on the cut itself the former is 0). `find` searches for one with SymPy;
`check` replays it and imports nothing. Variables are positive; one that may be 0 (a `nonnegative` symbol) is set to 0
in a certificate of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

from sympy import Expr, Gt, Integer, Poly, Symbol, cancel, fraction, together
from sympy.core.relational import Relational
from sympy.polys.polyerrors import BasePolynomialError

from ..symbols import x0
from .checks import ALL_PARAMETERS, Check, Evidence, Method, Verdict

Coefficients = dict[tuple[int, ...], int]
"""Exponents of x₀, …, x_n → coefficient."""
Proof = tuple[Any, ...]
"""("power", k), or ("cut", i, j, proof for x_i > x_j, for x_j > x_i, for x_i = x_j)."""

MAX_POWER, MAX_CUTS, MAX_TRIED = 6, 4, 1000
"""How far the search goes: the power k, cuts within cuts, polynomials looked at."""


def check(terms: Coefficients, proof: Proof) -> bool:
    """Whether `proof` shows a homogeneous polynomial with integer coefficients to be positive."""
    if proof[0] == "power":
        for _ in range(proof[1]):
            terms = _collect(((*e[:i], e[i] + 1, *e[i + 1 :]), c) for e, c in terms.items() for i in range(len(e)))
        return bool(terms) and all(c >= 0 for c in terms.values()) and any(terms.values())
    _, i, j, first, second, between = proof
    above, below = _shift(terms, i, j), _shift(terms, j, i)
    level = {e: c for e, c in above.items() if e[i] == 0}
    return check(above, first) and check(below, second) and check(level, between)


def _shift(terms: Coefficients, i: int, j: int) -> Coefficients:
    """x_i replaced by x_i + x_j."""
    shifted: list[tuple[tuple[int, ...], int]] = []
    for exponents, coefficient in terms.items():
        binomial = 1
        for k in range(exponents[i] + 1):  # k factors x_j out of x_i^e
            moved = list(exponents)
            moved[i], moved[j] = moved[i] - k, moved[j] + k
            shifted.append((tuple(moved), coefficient * binomial))
            binomial = binomial * (exponents[i] - k) // (k + 1)
    return _collect(shifted)


def _collect(pairs: Iterator[tuple[tuple[int, ...], int]] | list[tuple[tuple[int, ...], int]]) -> Coefficients:
    total: Coefficients = {}
    for exponents, coefficient in pairs:
        total[exponents] = total.get(exponents, 0) + coefficient
    return total


def find(poly: Poly, cuts: int = MAX_CUTS, budget: Iterator[int] | None = None) -> Proof | None:
    """A certificate for a homogeneous polynomial, if a short one is found among MAX_TRIED polynomials."""
    budget = iter(range(MAX_TRIED)) if budget is None else budget
    if next(budget, None) is None:
        return None
    total = Poly(sum(poly.gens), *poly.gens)
    product = poly
    for power in range(MAX_POWER + 1):
        if not product.is_zero and all(c >= 0 for c in product.coeffs()):
            return ("power", power)
        product = product * total
    if any(poly.eval(dict.fromkeys(poly.gens, 1) | {g: 1000}) < 0 for g in poly.gens) or not cuts:
        return None  # it is negative there, or the search has gone deep enough
    for x, y in combinations(poly.gens, 2):
        sides = [Poly(poly.as_expr().subs(a, new), *poly.gens) for a, new in ((x, x + y), (y, x + y), (x, y))]
        proofs = []
        for side in sides:
            found = find(side, cuts - 1, budget)
            if found is None:
                break
            proofs.append(found)
        if len(proofs) == len(sides):
            return ("cut", poly.gens.index(x), poly.gens.index(y), *proofs)
    return None


@dataclass(frozen=True)
class Certified:
    """A polynomial over the positive orthant with a certificate of its positivity: plain data, ready to be stored."""

    variables: tuple[str, ...]
    terms: Coefficients
    proof: Proof

    @property
    def holds(self) -> bool:
        """Whether the certificate is right, replayed with integers alone."""
        return check(self.terms, self.proof)


def certify(expr: Expr, domain: Mapping[Symbol, Expr] | None = None) -> tuple[Certified, ...] | None:
    """Certificates for numerator and denominator of `expr`, its domain mapped to the orthant; None if none is found.

    >>> from hsdp_symbolic.symbols import p, q
    >>> found = certify(2 - q, {q: 1 / (1 + p)})
    >>> [(each.terms, each.holds) for each in found]
    [({(1, 0): 2, (0, 1): 1}, True), ({(1, 0): 1, (0, 1): 1}, True)]
    """
    parts = fraction(cancel(together(expr.subs(dict(domain or {}), simultaneous=True))))
    found = []
    for part in parts:
        try:
            poly = Poly(part, *(sorted(part.free_symbols, key=str) or [x0]), domain="QQ")
        except BasePolynomialError:
            return None
        if not all(g.is_nonnegative for g in poly.gens):
            return None
        _, poly = poly.clear_denoms(convert=True)
        for face in _faces(poly):
            proof = find(face)
            if proof is None:
                return None
            terms = {tuple(map(int, e)): int(c) for e, c in face.terms()}
            found.append(Certified(tuple(map(str, face.gens)), terms, proof))
    return tuple(found)


def _faces(poly: Poly) -> Iterator[Poly]:
    """The polynomial, and what is left of it where variables that may be 0 are; made homogeneous."""
    weak = [g for g in poly.gens if not g.is_positive]
    for zeros in chain.from_iterable(combinations(weak, size) for size in range(len(weak) + 1)):
        rest = Poly(poly.as_expr().subs(dict.fromkeys(zeros, 0)), *poly.gens)
        yield rest.homogenize(x0)


@dataclass(frozen=True)
class Positive(Check):
    """`expr` > 0 on its domain, by a certificate that is found and then replayed."""

    expr: Expr
    domain: Mapping[Symbol, Expr]

    def verify(self) -> Evidence:
        found = certify(self.expr, self.domain)
        if found is None:
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "no certificate found")
        if not all(each.holds for each in found):
            return Evidence(Method.CERTIFICATE, Verdict.UNDECIDED, ALL_PARAMETERS, "the certificate does not replay")
        size = sum(len(each.terms) for each in found)
        detail = f"polynomial certificate of {size} terms, replayed in integers: {found[0].proof}"
        return Evidence(Method.CERTIFICATE, Verdict.PROVED, ALL_PARAMETERS, detail)

    def mutants(self) -> Iterator[tuple[str, Check]]:
        point = dict.fromkeys(self.expr.subs(dict(self.domain)).free_symbols, Integer(1))
        somewhere = self.expr.subs(dict(self.domain)).subs(point)
        yield "sign flipped", replace(self, expr=-self.expr)
        yield "lowered by twice a value it takes", replace(self, expr=self.expr - 2 * somewhere)

    def formula(self) -> Relational:
        return Gt(self.expr, 0, evaluate=False)
