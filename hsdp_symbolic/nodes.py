"""SymPy nodes the paper's formulas need and SymPy lacks: some that compute, some that only display."""

from __future__ import annotations

from sympy import Add, Expr, Function, Max, Mul, S, Symbol, exp, log

from .symbols import i


class GeometricSum(Function):
    """1 + x + … + x^(k−1), kept whole: no 0/0 at x = 1, increasing in x ≥ 0 and in k.

    >>> from sympy import Rational
    >>> GeometricSum(Rational(1, 2), 3)
    7/4
    """

    nargs = 2

    @classmethod
    def eval(cls, x: Expr, k: Expr) -> Expr | None:
        if k in (S.Zero, S.One) or x is S.One:
            return k
        if x.is_Rational and k.is_Integer and 0 < k <= 64:
            return (1 - x**k) / (1 - x)
        return None

    def closed(self) -> Expr:
        """(1 − x^k)/(1 − x), for x ≠ 1."""
        x, k = self.args
        return (1 - x**k) / (1 - x)

    def _eval_is_nonnegative(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        x, k = self.args
        return True if x.is_nonnegative and k.is_positive else None

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None


class Expm1(Function):
    """e^x − 1, kept whole: no cancellation for small x."""

    nargs = 1

    def closed(self) -> Expr:
        return exp(self.args[0]) - 1


class LogMix(Function):
    """log(w·e^x + (1 − w)·e^y): overflow-safe for large, cancellation-free for small exponents."""

    nargs = 3

    def closed(self) -> Expr:
        w, x, y = self.args
        return log(w * exp(x) + (1 - w) * exp(y))


class LogMeanExp(Function):
    """log of the mean of e^body over index = 1, …, count.

    The body must be completely monotone in the index, a nonnegative mixture of decaying exponentials; the derivation
    that uses it proves so. The views lean on it: the first term is the largest, and `means` sums the rest. A body
    with `CyclicShifts` in the index is two such functions, joined where its edges pool.
    """

    nargs = 3  # body, index, count


class Accumulated(Function):
    """s after `count` steps of s ← s + increment(s) from s = 0; `increment` is given in `state`.

    The derivation that uses it proves what the views lean on: the map s ↦ s + increment(s) is increasing and convex,
    its increment decreasing; and wherever `room` is positive, s stays below the fixed point `ceiling`, at which the
    slope of the map is 1 − `gain`.
    """

    nargs = 6  # increment, state, count, room, ceiling, gain


class Compounded(Function):
    """u after `count` steps of u ← factor(k)·(u + cost), k = 0, 1, …, from u = 0; `factor` is given in `index`.

    The derivation that uses it proves that the factor increases with k and stays below `limit` < 1.
    """

    nargs = 5  # factor, index, cost, count, limit


class ShiftControl(Function):
    """log of the least moment that shifts chosen step by step can reach: the programme of `sharper.dynamic`.

    `cost` is κρ₀, `q` the contraction, `rate` the chance that a given batch holds the record; there are `batches` of
    them in each of `epochs` passes, and the record is in at most one of a pass. Views bracket it on a grid, so it is
    known to some digits only.
    """

    nargs = 5  # cost, q, rate, batches, epochs


class CappedMoment(Function):
    """s after `count` steps of s ← log(p·e^g(s) + (1 − p)·e^(q²s)) from s = 0, p the `rate`.

    g(s) = s + cost up to s = cost·q²/(1 − q²), and (q√s + √(cost·(1 − q²)))² beyond. Its derivation proves that the map
    increases with a slope of at most 1 and leads from cost·(1 + q)/(1 − q) no higher.
    """

    nargs = 4  # cost, q, rate, count


class HitMoment(Function):
    """log E[e^(cost·X)], X the sum over hits of q^(2·later misses), in `count` draws that hit with chance `rate`.

    M_T(c) of the recursion M_(t+1)(c) = p·e^c·M_t(c) + (1 − p)·M_t(q²c), M_0 = 1.
    """

    nargs = 4  # cost, q, rate, count


class SampledGaussian(Function):
    """log E[((1 − p) + p·e^(2xρ' − …))^α]: the log-moment of the sampled Gaussian mechanism (Mironov et al. 2019).

    p is the sampling rate, ρ = 1/(2·noise²), α the order: log Σ_k C(α, k) (1−p)^(α−k) p^k e^(ρk(k−1)) for whole α.
    """

    nargs = 3  # p, rho, alpha


class Pooled(Function):
    """Σ slope²·length over a greatest convex minorant of two edges: slope g and length y, then slope 1 and length 1.

    If g ≤ 1 both edges are convex as they are; if g > 1 the chord takes their place. Increasing in g and in y.

    >>> from sympy import Rational
    >>> Pooled(Rational(1, 2), 4).closed(), Pooled(2, 4).closed()
    (2, 81/5)
    """

    nargs = 2

    def closed(self) -> Expr:
        g, y = self.args
        return ((1 + g * y) ** 2 + Max(0, 1 - g) ** 2 * y) / (1 + y)

    def _eval_is_positive(self) -> bool | None:
        return True if all(arg.is_nonnegative for arg in self.args) else None


class CyclicShifts(Function):
    """The least Σa² of shifts that undo K hits, N updates apart, the last of them k updates before the end.

    A shift z ≥ 0 obeys z ← qz + hit − a and ends at 0. The derivation of `shift:cyclic` proves what the views lean on:
    `closed` is that minimum; it increases with q and K and decreases with N and k.
    """

    nargs = 4  # q, N, K, k

    def edges(self) -> tuple[Expr, Expr]:
        """Slope and length of the minorant's first edge, in units of its second."""
        q, N, K, k = self.args
        last = GeometricSum(q**-2, k)
        slope = q ** (N - 2) * (1 + q**N) * last / ((1 + q ** (N * (K - 1))) * GeometricSum(q**2, N))
        return slope, q**2 * GeometricSum(q**2, N * (K - 1)) / last

    def closed(self) -> Expr:
        """What the last hit costs by itself, times what the pooled edges make of it."""
        q, _, _, k = self.args
        return Pooled(*self.edges()) / GeometricSum(q**-2, k)

    def _eval_is_positive(self) -> bool | None:
        return True


class Display(Function):
    """A node that only says how something is written; `undisplay` turns it back into what it means."""

    def meaning(self) -> Expr:
        raise AttributeError(f"{type(self).__name__} has no meaning of its own")


class Dot(Display):
    """A product with a dot between factors."""

    def meaning(self) -> Expr:
        return Mul(*self.args)


class Plus(Display):
    """A sum in the order written."""

    def meaning(self) -> Expr:
        return Add(*self.args)


class Over(Display):
    """A fraction as written, not cancelled."""

    def meaning(self) -> Expr:
        top, bottom = self.args
        return top / bottom


class Named(Display):
    """An expression shown under a name of the paper's."""

    def meaning(self) -> Expr:
        return self.args[1]


class PowerSum(Display):
    """x + x² + … + x^k, with the sum written out."""

    def meaning(self) -> Expr:
        x, k = self.args
        return x * GeometricSum(x, k)


class LogAverage(Display):
    """log of the average of e^body over the position `place` of the record, from 0 to `count` − 1."""

    def meaning(self) -> Expr:
        body, place, count = self.args
        return LogMeanExp(body.subs(place, count - i), i, count)


class FirstEpoch(Display):
    """ε₀^j(α), the paper's name for the first-epoch bound."""


def times(*factors: Expr | int) -> Expr:
    """A product in the order written, without dots."""
    return Mul(*factors, evaluate=False)


def undisplay(expr: Expr, first_epoch: Expr | None = None, index: Symbol | None = None) -> Expr:
    """What a display tree means, with ε₀^j(α) replaced by `first_epoch` (given in `index`)."""
    if first_epoch is not None:
        expr = expr.replace(FirstEpoch, lambda j, _: first_epoch.subs(index, j))
    return expr.replace(lambda node: isinstance(node, Display), lambda node: node.meaning()).doit()
