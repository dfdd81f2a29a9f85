"""When certificates show that an expression is positive wherever its letters are; replayed in integers. Trusted.

Numerator and denominator are polynomials, made homogeneous by one more variable, x₀ = 1. A certificate says either
"times (x₀ + … + x_n)^k all coefficients are nonnegative" (Pólya), or "cut the orthant along x_i = x_j and look at each
side": x_i > x_j is the orthant again, in x_i − x_j and x_j (and on the cut itself the former is 0). Variables are
positive; one that may be 0 (a `nonnegative` symbol) is set to 0 in a certificate of its own. `certificates.py` finds
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from sympy import Expr, Poly, cancel, fraction, together
from sympy.polys.polyerrors import BasePolynomialError

from ..symbols import x0
from .signs import divisors, is_nonzero

Coefficients = dict[tuple[int, ...], int]
"""Exponents of x₀, …, x_n → coefficient."""
Proof = tuple[Any, ...]
"""("power", k), or ("cut", i, j, proof for x_i > x_j, for x_j > x_i, for x_i = x_j)."""


def certifies(expr: Expr, certificate: Sequence[Sequence[Proof]]) -> bool:
    """Whether the proofs, for every face of numerator and denominator, show that `expr` is positive."""
    parts = fraction(cancel(together(expr)))
    if not all(is_nonzero(divisor, parts[1:]) for divisor in divisors(expr)):
        return False
    polynomials = [polynomial(part) for part in parts]
    if None in polynomials or len(certificate) != len(parts):
        return False
    for each, proofs in zip(polynomials, certificate, strict=True):
        shown = [coefficients(face) for face in faces(each)]  # type: ignore[arg-type]
        if len(shown) != len(proofs) or not all(map(check, shown, proofs)):
            return False
    return True


def polynomial(part: Expr) -> Poly | None:
    """With whole coefficients, in letters that are not negative; None for anything else."""
    try:
        found = Poly(part, *(sorted(part.free_symbols, key=str) or [x0]), domain="QQ")
    except BasePolynomialError:
        return None
    return found.clear_denoms(convert=True)[1] if all(letter.is_nonnegative for letter in found.gens) else None


def faces(poly: Poly) -> Iterator[Poly]:
    """The polynomial, and what is left of it where variables that may be 0 are; made homogeneous."""
    weak = [letter for letter in poly.gens if not letter.is_positive]
    for zeros in chain.from_iterable(combinations(weak, size) for size in range(len(weak) + 1)):
        rest = Poly(poly.as_expr().subs(dict.fromkeys(zeros, 0)), *poly.gens)
        yield rest.homogenize(x0)


def coefficients(poly: Poly) -> Coefficients:
    """As integers."""
    return {tuple(map(int, powers)): int(c) for powers, c in poly.terms()}


def check(terms: Coefficients, proof: Proof) -> bool:
    """Whether `proof` shows a homogeneous polynomial with integer coefficients to be positive."""
    if proof[0] == "power":
        for _ in range(proof[1]):
            terms = _collect(((*e[:i], e[i] + 1, *e[i + 1 :]), c) for e, c in terms.items() for i in range(len(e)))
        return bool(terms) and all(c >= 0 for c in terms.values()) and any(terms.values())
    _, i, j, first, second, between = proof
    above, below = _shift(terms, i, j), _shift(terms, j, i)
    level = {e: c for e, c in above.items() if e[i] == 0}
    return i != j and check(above, first) and check(below, second) and check(level, between)


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


def _collect(pairs: Iterable[tuple[tuple[int, ...], int]]) -> Coefficients:
    total: Coefficients = {}
    for exponents, coefficient in pairs:
        total[exponents] = total.get(exponents, 0) + coefficient
    return total
