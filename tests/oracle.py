"""An independent reading of the theorems in mpmath, written from the paper and not from the package.

Also draws settings over the whole domain the views promise to handle.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath


def to_mpf(value: Any) -> mpmath.mpf:
    value = Fraction(value)
    return _whole(value.numerator) / _whole(value.denominator)


def _whole(number: int) -> mpmath.mpf:
    """A whole number; mpmath would take the factor 2^k out of a large one byte by byte."""
    twos = (number & -number).bit_length() - 1 if number else 0
    return mpmath.ldexp(number >> twos, twos)


def step_cost(v: dict[str, Any], size: str = "b") -> mpmath.mpf:
    """αηS_g²/(4σ²·size²)."""
    cost = to_mpf(v["alpha"]) * to_mpf(v["eta"]) * to_mpf(v["S_g"]) ** 2
    return cost / (4 * to_mpf(v["sigma"]) ** 2 * to_mpf(v[size]) ** 2)


def contraction(v: dict[str, Any]) -> mpmath.mpf:
    return 1 - to_mpf(v["eta"]) * to_mpf(v["lam"])


def first_epoch(v: dict[str, Any], j: int) -> mpmath.mpf:
    q = contraction(v)
    return step_cost(v) * q ** (2 * (j - 1)) * (1 - q**2) / (1 - q ** (2 * j))


def whole_epochs(v: dict[str, Any]) -> mpmath.mpf:
    number = v["n"] // v["b"]
    half = number // 2
    decay = contraction(v) ** (2 * (number - half))
    return first_epoch(v, half) * (1 - decay ** (v["K"] - 1)) / (1 - decay)


def strongly_convex(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem 3.3 as printed, to the current mpmath precision."""
    return whole_epochs(v) + first_epoch(v, v["n"] // v["b"] - v["j0"])


def convex(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem D.4 as printed, with ⌊n/b⌋ for n/b (the paper's footnote)."""
    number = v["n"] // v["b"]
    return step_cost(v) * (mpmath.mpf(v["K"] - 1) / number + mpmath.mpf(1) / (number - v["j0"]))


def shuffle(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem 4.2 as printed."""
    number, beta = v["n"] // v["b"], to_mpf(v["alpha"]) - 1
    average = mpmath.fsum(mpmath.exp(beta * first_epoch(v, number - j0)) for j0 in range(number)) / number
    return whole_epochs(v) + mpmath.log(average) / beta


def without_replacement(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem 4.3 as printed: the recursion for S itself."""
    beta, rate = to_mpf(v["alpha"]) - 1, to_mpf(Fraction(v["b"], v["n"]))
    growth, power, moment = mpmath.exp(beta * step_cost(v)), contraction(v) ** 2, mpmath.mpf(1)
    for _ in range(v["K"] * (v["n"] // v["b"])):
        moment = rate * growth * moment + (1 - rate) * moment**power
    return mpmath.log(moment) / beta


def gradient_descent(v: dict[str, Any]) -> mpmath.mpf:
    """Theorem D.6 as printed."""
    x = 1 - to_mpf(v["eta"]) * to_mpf(v["lam"]) / 2
    return 2 * step_cost(v, "n") * x * (1 - x ** v["K"]) / (1 - x)


def gradient_descent_recursion(v: dict[str, Any]) -> mpmath.mpf:
    """eqn:GD_recursive_complex, step by step."""
    q2, u, total = contraction(v) ** 2, mpmath.mpf(0), mpmath.mpf(0)
    for k in range(v["K"]):
        total = total + q2**k
        u = (u + 2 * step_cost(v, "n")) * (1 - 1 / (2 * total))
    return u


def _exponential(v: dict[str, Any], size: str) -> mpmath.mpf:
    decay = to_mpf(v["lam"]) * to_mpf(v["eta"]) * v["K"] / 2
    return 4 * step_cost(v, size) / (to_mpf(v["eta"]) * to_mpf(v["lam"])) * -mpmath.expm1(-decay)


def chourasia(v: dict[str, Any]) -> mpmath.mpf:
    return _exponential(v, "n")


def naive(v: dict[str, Any]) -> mpmath.mpf:
    return _exponential(v, "b")


def balle(v: dict[str, Any]) -> mpmath.mpf:
    """Appendix D.6, for any j0."""
    eta, lam, beta = (to_mpf(v[name]) for name in ("eta", "lam", "beta"))
    number, base = v["n"] // v["b"], 1 - 2 * eta * beta * lam / (beta + lam)

    def one_pass(j0: int) -> mpmath.mpf:
        if j0 == number - 1:
            return step_cost(v)
        return step_cost(v) / (number - j0 - 1) * base ** (mpmath.mpf(number - j0) / 2)

    return (v["K"] - 1) * one_pass(0) + one_pass(v["j0"])


def mironov(v: dict[str, Any]) -> mpmath.mpf:
    """Section 3.3 of Mironov et al.: the binomial sum for whole orders, direct integration for others."""
    order, rate = to_mpf(v["alpha"]), to_mpf(Fraction(v["b"], v["n"]))
    rho = step_cost(v) / order
    if order == int(order):
        whole = int(order)
        moment = mpmath.fsum(
            mpmath.binomial(whole, k) * (1 - rate) ** (whole - k) * rate**k * mpmath.exp(rho * k * (k - 1))
            for k in range(whole + 1)
        )
    else:
        spread = mpmath.sqrt(2 * rho)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return (1 - rate + rate * mpmath.exp(spread * x - rho)) ** order * mpmath.npdf(x)

        far = order * spread
        moment = mpmath.quad(integrand, [-40, -10, 0, 10, *mpmath.linspace(10, far + 40, 12)[1:]])
    return v["K"] * (v["n"] // v["b"]) * mpmath.log(moment) / (order - 1)


def kept_epochs(v: dict[str, Any]) -> mpmath.mpf:
    """The first term of Theorem 3.3 with the factor its proof gives."""
    number = v["n"] // v["b"]
    return contraction(v) ** (2 * (number - number // 2)) * whole_epochs(v)


def strongly_convex_factor(v: dict[str, Any]) -> mpmath.mpf:
    return kept_epochs(v) + first_epoch(v, v["n"] // v["b"] - v["j0"])


def shuffle_factor(v: dict[str, Any]) -> mpmath.mpf:
    return shuffle(v) - whole_epochs(v) + kept_epochs(v)


def shift_cyclic(v: dict[str, Any]) -> mpmath.mpf:
    """The two regimes of the greatest convex minorant, for one hit per epoch."""
    q, number = contraction(v), v["n"] // v["b"]
    after, epochs = number - v["j0"], v["K"]
    w0, v0 = q ** (after - 1), (1 - q ** (2 * after)) / (1 - q**2)
    w = w0 * (1 - q ** (number * epochs)) / (1 - q**number)
    total = (1 - q ** (2 * (number * (epochs - 1) + after))) / (1 - q**2)
    if w0 / v0 <= w / total:
        return step_cost(v) * w**2 / total
    rest = q ** (number * (epochs - 1))
    return step_cost(v) * (
        w0**2 / v0 + q ** (2 * number - 2) * (1 - q**2) * (1 - rest) / ((1 - q**number) ** 2 * (1 + rest))
    )


def shift_shuffle(v: dict[str, Any]) -> mpmath.mpf:
    number, beta = v["n"] // v["b"], to_mpf(v["alpha"]) - 1
    return (
        mpmath.log(mpmath.fsum(mpmath.exp(beta * shift_cyclic({**v, "j0": j})) for j in range(number)) / number) / beta
    )


def shift_descent(v: dict[str, Any]) -> mpmath.mpf:
    q, K = contraction(v), v["K"]
    return step_cost(v, "n") * (1 + q) * (1 - q**K) / ((1 - q) * (1 + q**K))


def gaussian(v: dict[str, Any], divergence: mpmath.mpf) -> mpmath.mpf:
    """μ² of the Gaussians with this divergence at the order α, which is α·μ²/2."""
    return 2 * divergence / to_mpf(v["alpha"])


def gaussian_cyclic(v: dict[str, Any]) -> mpmath.mpf:
    return gaussian(v, shift_cyclic(v))


def gaussian_descent(v: dict[str, Any]) -> mpmath.mpf:
    return gaussian(v, shift_descent(v))


def gaussian_law(v: dict[str, Any]) -> mpmath.mpf:
    """The squared distance of the means over the variance, for a quadratic loss: every step scales both by q."""
    q, number, epochs = contraction(v), v["n"] // v["b"], v["K"]
    distance = q ** (number - v["j0"] - 1) * (1 - q ** (number * epochs)) / (1 - q**number)
    return gaussian(v, step_cost(v)) * distance**2 * (1 - q**2) / (1 - q ** (2 * number * epochs))


def gaussian_profile(cost: mpmath.mpf, epsilon: Any) -> mpmath.mpf:
    """The largest P(A) − e^ε·Q(A) for N(μ, 1) and N(0, 1), μ² = `cost`: A is where the loss μx − μ²/2 exceeds ε."""
    mu, at = mpmath.sqrt(cost), to_mpf(epsilon)
    return mpmath.ncdf(mu / 2 - at / mu) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu)


def profile_shuffle(v: dict[str, Any]) -> mpmath.mpf:
    """δ at ε: the mean over the places of a record."""
    number = v["n"] // v["b"]
    places = ({**v, "j0": j0} for j0 in range(number))
    return mpmath.fsum(gaussian_profile(gaussian_cyclic(place), v["epsilon"]) for place in places) / number


def composed_without_replacement(v: dict[str, Any]) -> mpmath.mpf:
    """T times the divergence of one step, for whole orders: R^α and R by binomials, R^(1−α) by integration.

    R is 1 − p + p·e^(μx − μ²/2) at x > μ/2, where the pair has the ratio R, as it has 1/R on a mirror image of that.
    """
    order, rate = int(v["alpha"]), to_mpf(Fraction(v["b"], v["n"]))
    mu = mpmath.sqrt(2 * step_cost(v) / order)

    def power(whole: int) -> mpmath.mpf:
        return mpmath.fsum(
            mpmath.binomial(whole, k)
            * (1 - rate) ** (whole - k)
            * rate**k
            * mpmath.exp(mu**2 / 2 * k * (k - 1))
            * mpmath.ncdf((k - mpmath.mpf(1) / 2) * mu)
            for k in range(whole + 1)
        )

    def inverse(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x) * (1 - rate + rate * mpmath.exp(mu * x - mu**2 / 2)) ** (1 - order)

    below = mpmath.quad(inverse, [mu / 2 + step for step in range(0, 25, 3)])
    return v["T"] * mpmath.log(power(order) - power(1) + below + mpmath.ncdf(mu / 2)) / (order - 1)


def gaussian_expanding(v: dict[str, Any]) -> mpmath.mpf:
    """μ² of a fixed order for c-Lipschitz updates: a hit is hidden in the steps up to the next."""
    number, ratio = v["n"] // v["b"], to_mpf(v["lipschitz"]) ** -2

    def share(steps: int) -> mpmath.mpf:
        return mpmath.mpf(1) / steps if ratio == 1 else (1 - ratio) / (1 - ratio**steps)

    return 2 * step_cost({**v, "alpha": 1}) * ((v["K"] - 1) * share(number) + share(number - v["j0"]))


def forgotten(v: dict[str, Any]) -> mpmath.mpf:
    """μ²: the distance the record's K uses left, at most, each at the end of an epoch, over the noise of r steps."""
    q, r, number = contraction(v), v["forgetting"], v["n"] // v["b"]
    left = q**r * (1 - q ** (number * v["K"])) / (1 - q**number)
    return gaussian(v, step_cost(v)) * left**2 * (1 - q**2) / (1 - q ** (2 * r)) / to_mpf(v["noise_ratio"])


def forgotten_convex(v: dict[str, Any]) -> mpmath.mpf:
    return gaussian(v, step_cost(v)) * v["K"] ** 2 / (v["forgetting"] * to_mpf(v["noise_ratio"]))


def forgotten_descent(v: dict[str, Any]) -> mpmath.mpf:
    """The squared distance of the means over the variance, after K steps with the record and r without."""
    q, r, K = contraction(v), v["forgetting"], v["K"]
    left = q**r * (1 - q**K) / (1 - q)
    spread = to_mpf(v["noise_ratio"]) * (1 - q ** (2 * r)) + q ** (2 * r) * (1 - q ** (2 * K))
    return gaussian(v, step_cost(v, "n")) * left**2 * (1 - q**2) / spread


def forgotten_expanding(v: dict[str, Any]) -> mpmath.mpf:
    """μ²: every use of the record but the last costs all of it; of the last, training and what follows hide parts."""
    ratio, r, number = to_mpf(v["lipschitz"]) ** -2, v["forgetting"], v["n"] // v["b"]
    squares = mpmath.mpf(r) if ratio == 1 else (1 - ratio**r) / (1 - ratio)
    last = 1 / (1 + to_mpf(v["noise_ratio"]) * ratio**number * squares)
    return gaussian(v, step_cost(v)) * (v["K"] - 1 + last)


THEOREMS = {
    "thm:strconvexsmooth": strongly_convex,
    "thm:convexsmooth": convex,
    "thm:GD_tighter": gradient_descent,
    "thm:GD_baseline": chourasia,
    "thm:naive_RDP_baseline": naive,
    "balle2019": balle,
    "strconvexsmooth:factor": strongly_convex_factor,
    "shift:cyclic": shift_cyclic,
    "shift:convex": convex,
    "shift:gd": shift_descent,
    "split:gd": shift_descent,
    "gdp:cyclic": gaussian_cyclic,
    "gdp:gd": gaussian_descent,
    "gdp:exact:fixed_order": gaussian_law,
    "unlearn:zero_out": forgotten,
    "unlearn:convex": forgotten_convex,
    "unlearn:every_step": forgotten_descent,
}
"""Closed forms, which are good to the ends of the domain."""

SUMS = {
    "thm:shuffle": (shuffle, {"batches": 300}),
    "shuffle:factor": (shuffle_factor, {"batches": 300}),
    "shift:shuffle": (shift_shuffle, {"batches": 300}),
    "thm:amp_samp_wo_replacement": (without_replacement, {"batches": 40, "epochs": 12}),
    "thm:GD_tighter:recursion": (gradient_descent_recursion, {"epochs": 300}),
    "mironov2019": (mironov, {"batches": 10**6, "order": 60}),
}
"""Statements with a sum or a recursion, which this oracle does term by term, and what it can afford."""


def draw(
    rng: random.Random, *, batches: float = 1e6, epochs: float = 1e9, order: float = 1e4, log_cost: float = 0
) -> dict[str, Any]:
    """A setting over the whole domain: ηλ from 1e-15 to 0.99, n/b to 10⁶, K to 10⁹, α from 1 + 1e-6 to 10⁴.

    The bounds on batches, epochs and orders may be lowered for a slow oracle.
    """

    def log_uniform(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    lam = Fraction(repr(log_uniform(1e-3, 1e3)))
    eta = Fraction(repr(log_uniform(1e-15, 0.989))) / lam
    number, b = int(log_uniform(2, batches)), rng.choice([1, 2, 7, 128])
    return {
        "n": number * b + rng.randrange(b),
        "b": b,
        "K": rng.choice([1, 2, int(log_uniform(1, epochs)), int(epochs)]),
        "eta": eta,
        "lam": lam,
        "beta": lam,
        "sigma": Fraction(repr(log_uniform(1e-3, 1e3))),
        "S_g": Fraction(repr(log_uniform(1e-3, 1e3))),
        "alpha": Fraction(repr(1 + log_uniform(1e-6, order - 1))) if rng.random() < 0.7 else rng.randint(2, int(order)),
        "j0": rng.choice([0, number - 1, rng.randrange(number), max(0, number - int(log_uniform(1, 1e3)))]),
        "forgetting": rng.choice([1, int(log_uniform(1, 1e6))]),
        "noise_ratio": Fraction(repr(log_uniform(1e-3, 1e3))),
    }


def split(v: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of the run, and the other letters."""
    arguments = {name: v[name] for name in ("alpha", "j0", "forgetting", "noise_ratio")}
    return {name: value for name, value in v.items() if name not in arguments}, arguments


def tame(v: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The same with the cost of a step, α(α−1)ρ₀, between 1e-20 and 300: where a slow oracle can follow."""
    wanted = math.exp(rng.uniform(math.log(1e-20), math.log(300)))
    order = float(v["alpha"])
    rho = wanted / (order * max(order - 1, 1e-6))
    sigma = math.sqrt(float(v["eta"]) * float(v["S_g"]) ** 2 / (4 * rho * v["b"] ** 2))
    return {**v, "sigma": Fraction(repr(sigma))}
