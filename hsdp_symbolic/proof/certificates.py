"""Looks for proofs that an expression is positive: seen, or by certificates of polynomials. Trusted by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from sympy import Expr, Gt, Integer, Poly, S, Symbol, cancel, fraction, solve, together
from sympy.core.relational import Relational

from . import kernel
from .checks import strict, undecided
from .evidence import Check, Evidence, proved
from .kernel import Refused, Theorem
from .positivity import Proof, faces, polynomial
from .propositions import Less
from .search import given
from .signs import seen

MAX_POWER, MAX_CUTS, MAX_TRIED = 6, 4, 1000
"""How far the search goes: the power k, cuts within cuts, polynomials looked at."""

Certificate = tuple[tuple[Proof, ...], ...]
"""For numerator and denominator, a proof for each face."""


def certificate_of(expr: Expr) -> Certificate | None:
    """Certificates for numerator and denominator of `expr`, whose letters are not negative; None if none is found.

    >>> from hsdp_symbolic.symbols import p
    >>> certificate_of(2 + p - p**2 + p**3)
    ((('power', 1),), (('power', 0),))
    """
    found: list[tuple[Proof, ...]] = []
    for part in fraction(cancel(together(expr))):
        poly = polynomial(part)
        if poly is None:
            return None
        proofs = [proof for face in faces(poly) if (proof := find(face)) is not None]
        if len(proofs) < len(list(faces(poly))):
            return None
        found.append(tuple(proofs))
    return tuple(found)


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


def sign_on(expr: Expr, where: Sequence[Relational] = (), domain: Mapping[Symbol, Expr] | None = None) -> Theorem:
    """0 < expr or 0 ≤ expr, wherever `where` holds; `Refused` if it is not seen and no certificate is found.

    `domain` writes letters by others that `where` makes positive, as q = 1/(1 + p) does for q < 1: the sign is found
    in the new letters and read back.
    """
    domain = dict(domain or {})
    there = expr.subs(domain, simultaneous=True)
    found = _sign(there if seen(there) is not None else cancel(together(there)))
    if not domain:
        return found if found.proposition.right == expr else _as(found, expr, ())  # type: ignore[attr-defined]
    letters = sorted(
        set[Symbol]().union(*(value.free_symbols for value in domain.values())) - expr.free_symbols, key=str
    )
    (back,) = solve([value - symbol for symbol, value in domain.items()], letters, dict=True)
    ranges = [range_of(value, where) for value in back.values() if seen(value) is None]
    read = kernel.substitute(found, back, *ranges)
    return _as(read, expr, [*ranges, *strict(where)])


def _as(found: Theorem, expr: Expr, nonzero: Sequence[Theorem]) -> Theorem:
    old = found.proposition.right  # type: ignore[attr-defined]
    known = [each for each in nonzero if isinstance(each.proposition, Less)]
    return kernel.chain(found, kernel.cancel(old, expr, *known))


def _sign(expr: Expr) -> Theorem:
    if seen(expr) is not None:
        return kernel.positive(expr)
    certificate = certificate_of(expr)
    if certificate is None:
        raise Refused(f"no certificate found for {expr}")
    return kernel.polynomial(expr, certificate)


def range_of(value: Expr, where: Sequence[Relational]) -> Theorem:
    """0 < value or 0 ≤ value: what a relation says is not negative, times what is seen to be positive."""
    for relation in where:
        multiplier = cancel(together(value / (relation.gts - relation.lts)))
        if seen(multiplier) is not None:
            return kernel.combine(S.Zero, value, (multiplier, given(relation)), nonzero=strict(where))
    raise Refused(f"nothing says that {value} is not negative")


@dataclass(frozen=True)
class Positive(Check):
    """`expr` > 0 wherever `where` holds; `domain` as for `sign_on`."""

    expr: Expr
    where: tuple[Relational, ...] = ()
    domain: Mapping[Symbol, Expr] = field(default_factory=dict)

    def verify(self) -> Evidence:
        try:
            found = sign_on(self.expr, self.where, self.domain)
            if not isinstance(found.proposition, Less):
                return undecided(f"{self.expr} may be 0")
            return proved([found])
        except Refused as why:
            return undecided(str(why))

    def mutants(self) -> Iterator[tuple[str, Check]]:
        there = self.expr.subs(dict(self.domain), simultaneous=True)
        somewhere = there.subs(dict.fromkeys(there.free_symbols, Integer(1)))
        yield "sign flipped", replace(self, expr=-self.expr)
        yield "lowered by twice a value it takes", replace(self, expr=self.expr - 2 * somewhere)
        for place, relation in enumerate(self.where):
            yield f"without {relation}", replace(self, where=self.where[:place] + self.where[place + 1 :])

    def formula(self) -> Relational:
        return Gt(self.expr, 0, evaluate=False)
