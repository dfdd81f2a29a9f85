"""Appendix D, D.1 and D.2, line by line: `lem:i_by_e_lower`, `lem:post_proc` and `lem:recursive`.

Lines between integrals are compared on their integrands, one coordinate at a time, or on the Gaussian pair
μ = N(a, v), ν = N(0, v), where both sides can be evaluated independently.
"""

from __future__ import annotations

from sympy import Derivative, Eq, Expr, Gt, Integer, Integral, Le, Piecewise, Rational, diff, erf, exp, log, oo, sqrt

from hsdp_symbolic import statement
from hsdp_symbolic.display import undisplay
from hsdp_symbolic.paper import gaussian
from hsdp_symbolic.proof.certificates import Positive, sign_on
from hsdp_symbolic.proof.checks import AtPoint, Certificate, Cited, Definition, Identity, Limit
from hsdp_symbolic.symbols import (
    ABBREVIATIONS,
    V0,
    E_alpha,
    L,
    M,
    M_x,
    R,
    R_at,
    S_g,
    W,
    a,
    a2,
    a_u,
    alpha,
    alpha_minus_1,
    b,
    b_v,
    c,
    dim,
    dR,
    e_s,
    eta,
    gap,
    hit,
    lam,
    n,
    nu,
    p1,
    p_at,
    p_prime_at,
    r_at,
    radius,
    rho0,
    sigma2,
    slack,
    t,
    tau,
    theta,
    u,
    u_at,
    v,
    y,
)

from ..claim import Claim, Group, Note
from ..formulas import gaussian_divergence, noisy_step, supposed
from ..quotes import Quotes

_LEMMA, _RATE, _STEP = "lem:i_by_e_lower", "lem:post_proc", "lem:recursive"
_ORDER = (alpha > 1,)
_ABOVE_ONE = {alpha: 1 + alpha_minus_1}


def groups() -> tuple[Group, ...]:
    return (_information, _information_proof, _diffusion, _green, _update, _characteristics, _ends)


def _tilted(polynomial: Expr) -> Expr:
    """E_ρ of a polynomial in θ, where ρ ∝ (μ/ν)^α·ν on the Gaussian pair."""
    return gaussian.expectation(polynomial, gaussian.tilted_mean(), v)


def _integrated(polynomial: Expr) -> Expr:
    """The same as an integral against the density of ρ, for SymPy to do: an independent way to it."""
    return Integral(polynomial * gaussian.normal_density(gaussian.tilted_mean(), v), (theta, -oo, oo))


def _tilted_kl() -> Expr:
    """KL(ρ‖ν) on the Gaussian pair, from the densities of ρ = N(αa, v) and ν = N(0, v)."""
    return _tilted((gaussian.log_density(gaussian.tilted_mean()) - gaussian.log_density(Integer(0))).expand())


def _moment_over(mean: Expr) -> Expr:
    """log of the mean of (μ(θ)/ν(θ))^α for θ ∼ N(mean, v): the exponent is linear in θ, with a Gaussian moment."""
    exponent = alpha * gaussian.log_ratio()
    return exponent.subs(theta, mean) + v * diff(exponent, theta) ** 2 / 2


def _information() -> list[Claim]:
    """The statement of `lem:i_by_e_lower`."""
    log_moment = (alpha - 1) * gaussian.renyi()
    wide, narrow = Rational(3, 2), Integer(1)
    tilted = 1 / _decay_rate(Integer(2), wide, narrow)  # the variance of ρ ∝ μ²/ν
    two_points = 2**alpha / 3 + Rational(2, 3) / 2**alpha  # E_α of μ = (2/3, 1/3) against ν = (1/3, 2/3)
    return [
        Claim(
            id="D/sentence-2:densities",
            label=_LEMMA,
            where="Appendix D, line 872",
            says="ν has density μ(θ), μ has density ν(θ), and E_α = E_(θ∼ν)[(μ(θ)/ν(θ))^α] = e^((α−1)R_α)",
            printed=Identity(_moment_over(a), log_moment),
            corrected=Identity(_moment_over(Integer(0)), log_moment),
            correction="the letters are swapped: μ(θ) is the density of μ and ν(θ) that of ν (Gaussian pair)",
            items=("D/sentence-2", "D/sentence-3"),
            consequence="text",
        ),
        Claim(
            id="D/sentence-2:order-one",
            label=_LEMMA,
            where="Appendix D, line 872",
            says="α = 1 is allowed: R_1, 0/0 by the definition for α > 1, is the limit KL(μ‖ν)",
            printed=Limit(
                log(two_points) / (alpha - 1),
                alpha,
                Integer(1),
                Rational(2, 3) * log(Integer(2)) - Rational(1, 3) * log(Integer(2)),
            ),
            items=("D/sentence-2",),
        ),
        Claim(
            id="D/sentence-2:one-law",
            label=_LEMMA,
            where="Appendix D, line 872",
            says="c is the LSI constant of ν, the second law, alone: also where μ has a smaller one",
            printed=AtPoint(
                Rational(2, 4) * (tilted - 1 - log(tilted)) / 2,
                (1 / narrow - 1 / wide) ** 2 * tilted,
                Le,
                "μ = N(0, 3/2), ν = N(0, 1), c = 1, α = 2: ρ = N(0, 3), (2c/α²)·KL(ρ‖ν) against I_α/E_α",
            ),
            sharper="lem:post_proc and lem:recursive ask for LSI of both laws, but only that of ν is ever used",
            items=("D/sentence-2", "D.1/sentence-2"),
            consequence="loose",
        ),
        Claim(
            id="D/lemma-1:source",
            label=_LEMMA,
            where="Appendix D, line 870",
            says="the lemma contains the bound (2c/α²)·R_α on I_α/E_α, as R_α does not decrease with its order: "
            "∂_α R_α ≥ 0 (van Erven & Harremoës 2014)",
            printed=Certificate(2 * c / alpha**2 * R, statement(_LEMMA).expr, ((2 * c / alpha * dR, *_ORDER),), _ORDER),
            items=("D/lemma-1",),
        ),
        Claim(
            id="D/sentence-3:finite",
            label=_LEMMA,
            where="Appendix D, line 872",
            says="the ratio I_α/E_α is defined for every μ with a smooth density (so E_α < ∞)",
            printed=AtPoint(
                _decay_rate(Integer(2), Integer(4), Integer(1)), Integer(0), Gt, "μ = N(0, 4), ν = N(0, 1), α = 2"
            ),
            corrected=Positive(_decay_rate(alpha, v, v + gap), _ORDER, _ABOVE_ONE),
            correction="E_α < ∞ must be asked for: it can fail where μ is the wider law, not (Gaussian) where ν is",
            items=("D/sentence-3",),
            consequence="text",
        ),
    ]


def _decay_rate(order: Expr, first: Expr, second: Expr) -> Expr:
    """2·(rate of −θ² in the exponent of μ^α·ν^(1−α)) for centred Gaussians; E_α is finite exactly if it is positive."""
    return order / first - (order - 1) / second


def _information_proof() -> list[Claim]:
    """The proof of `lem:i_by_e_lower`."""
    r, log_ratio, log_moment = r_at(theta), gaussian.log_ratio(), gaussian.log_moment()
    total = R_at(alpha)
    log_e = (alpha - 1) * total
    coordinate = 2 * Integral(exp(-radius / v), (radius, 0, oo))  # ∫ e^(−|θ|/v), a Laplace law per coordinate
    normal = (2 * v) ** (-dim)
    after_exchange = 2 * c / alpha * diff(log_moment, alpha) - 2 * c / alpha**2 * log_moment
    in_divergence = 2 * c / alpha * (total + (alpha - 1) * diff(total, alpha)) - 2 * c / alpha**2 * (alpha - 1) * total
    return [
        Claim(
            id="D/sentence-5:normalised",
            label=_LEMMA,
            where="Appendix D, line 882",
            says="ρ = (μ/ν)^α·ν/E_α integrates to 1 (on the Gaussian pair it is the density of N(αa, v))",
            printed=Identity(
                (alpha * log_ratio + gaussian.log_density(Integer(0)) - log_moment).expand(),
                gaussian.log_density(alpha * a),
            ),
            items=("D/sentence-4", "D/sentence-5"),
        ),
        Claim(
            id="D/display-6:gaussian",
            label=_LEMMA,
            where="Appendix D, lines 885-889",
            says="I_α/E_α = J(ρ‖ν)/α²: on the Gaussian pair, from log(μ/ν) and from the density of ρ",
            printed=Identity(
                _integrated(
                    diff(gaussian.log_density(gaussian.tilted_mean()) - gaussian.log_density(Integer(0)), theta) ** 2
                )
                / alpha**2,
                _tilted(diff(log_ratio, theta) ** 2),
            ),
            items=("D/display-2", "D/display-6"),
        ),
        Claim(
            id="D/display-5:constant",
            label=_LEMMA,
            where="Appendix D, lines 887-889",
            says="∇log E_α = 0: ∇log(μ/ν)^α − ∇log E_α = ∇log(ρ/ν)",
            printed=Identity(Derivative(log(r**alpha / E_alpha), theta), alpha * diff(r, theta) / r),
            items=("D/display-4", "D/display-5"),
        ),
        Claim(
            id="D/display-7:definition",
            label=_LEMMA,
            where="Appendix D, line 894, with the definition in Appendix B, line 849",
            says="the LSI as defined, (2/c)·E‖∇g‖² at g² = ρ/ν, is the right-hand side J(ρ‖ν)/(2c)",
            printed=Identity(2 / c * Derivative(sqrt(r), theta) ** 2, r * diff(log(r), theta) ** 2 / (2 * c)),
            items=("D/sentence-7", "D/display-7"),
        ),
        Claim(
            id="D/display-9:dimension",
            label=_LEMMA,
            where="Appendix D, line 900",
            says="KL(ρ‖ν) is an integral over ℝⁿ, n the size of the dataset (a density on ℝ^d integrates to 1 there)",
            printed=Identity(coordinate**n * normal, Integer(1)),
            corrected=Identity(coordinate**dim * normal, Integer(1)),
            correction="ℝ^d: laws of parameters live in dimension d",
            items=("D/display-9",),
            consequence="formula",
        ),
        Claim(
            id="D/display-10:gaussian",
            label=_LEMMA,
            where="Appendix D, lines 900-901",
            says="KL(ρ‖ν) = E_ν[(μ/ν)^α·(α·log(μ/ν) − log E_α)]/E_α: both sides on the Gaussian pair",
            printed=Identity(_integrated((alpha * log_ratio - log_moment).expand()), _tilted_kl()),
            items=("D/display-9", "D/display-10"),
        ),
        Claim(
            id="D/display-13:gaussian",
            label=_LEMMA,
            where="Appendix D, lines 899-909",
            says="(2c/α²)·KL(ρ‖ν) = (2c/α)·∂_α log E_α − (2c/α²)·log E_α: both sides on the Gaussian pair",
            printed=Identity(2 * c / alpha**2 * _tilted_kl(), after_exchange),
            items=("D/display-8", "D/display-11", "D/display-12", "D/display-13"),
        ),
        Claim(
            id="D/display-13:exchange",
            label=_LEMMA,
            where="Appendix D, lines 907-909",
            says="∂_α and E_ν may be exchanged because the densities are smooth (so E_α is finite near a finite E_2)",
            printed=AtPoint(
                Rational(9, 4) * Rational(1, 4) - Rational(1, 2),
                Integer(0),
                Le,
                "ν = N(0, 1), μ/ν ∝ e^(x²/4)/(1+x²), E_2 ∝ ∫(1+x²)⁻² < ∞; rate of x² in the exponent at α = 9/4",
            ),
            corrected=Cited(
                "dominated convergence, for E_α finite near α",
                Identity(_tilted(log_ratio), diff(log_moment, alpha)),
            ),
            correction="smoothness in θ does not suffice; E finite for orders in a neighbourhood of α does",
            items=("D/display-13",),
            consequence="argument",
        ),
        Claim(
            id="D/display-14:from-moment",
            label=_LEMMA,
            where="Appendix D, line 914",
            says="with log E_α = (α−1)R_α the line before becomes this one",
            printed=Identity(2 * c / alpha * Derivative(log_e, alpha) - 2 * c / alpha**2 * log_e, in_divergence),
            items=("D/sentence-8", "D/display-14"),
        ),
        Claim(
            id="D/display-15:statement",
            label=_LEMMA,
            where="Appendix D, lines 914-915",
            says="and that is the right-hand side of the lemma",
            printed=Identity(in_divergence, statement(_LEMMA).expr.subs({R: total, dR: diff(total, alpha)})),
            items=("D/display-15", "D/display-1"),
        ),
    ]


def _diffusion() -> list[Claim]:
    """The proof of `lem:post_proc`, without Green's identity."""
    f, g, r = p_at(theta, tau), p_prime_at(theta, tau), r_at(theta)
    spread = v + 2 * sigma2 * t
    inserted = -alpha * sigma2 * statement(_LEMMA).expr  # c stands for c_t, display-22
    return [
        Claim(
            id="D.1/lemma-1:standard",
            label=_RATE,
            where="Appendix D.1, line 924",
            says="N(0, 2tσ²·I) is called the standard Gaussian (variance 1 per coordinate)",
            printed=Identity(gaussian.expectation(theta**2, Integer(0), 2 * t * sigma2), Integer(1)),
            corrected=Identity(
                Integral(theta**2 * gaussian.normal_density(Integer(0), 2 * tau * sigma2), (theta, -oo, oo)),
                2 * tau * sigma2,
            ),
            correction="a centred Gaussian with variance 2tσ² per coordinate",
            items=("D.1/lemma-1",),
            consequence="text",
        ),
        Claim(
            id="D.1/sentence-4:same-moment",
            label=_RATE,
            where="Appendix D.1, line 936",
            says="E_α = ∫ p^α/p'^(α−1) is the E_α of the lemma before, E_(θ∼p')[(p/p')^α], in the same order of laws",
            printed=Identity(f**alpha / g ** (alpha - 1), (f / g) ** alpha * g),
            items=("D.1/sentence-4", "D.1/display-4"),
        ),
        Claim(
            id="D.1/display-9:derivative",
            label=_RATE,
            where="Appendix D.1, lines 949-950",
            says="∂_t(p^α/p'^(α−1)) = α(p/p')^(α−1)·∂_t p − (α−1)(p/p')^α·∂_t p'",
            printed=Identity(
                diff(f**alpha / g ** (alpha - 1), tau),
                alpha * f ** (alpha - 1) / g ** (alpha - 1) * diff(f, tau)
                - (alpha - 1) * f**alpha / g**alpha * diff(g, tau),
            ),
            items=("D.1/display-8", "D.1/display-9"),
        ),
        Claim(
            id="D.1/display-20:gaussian",
            label=_RATE,
            where="Appendix D.1, lines 978-982",
            says="∂_t R_α = −ασ²·I_α/E_α: both sides on the Gaussian pair with variance v + 2σ²t",
            printed=Identity(
                Derivative(gaussian.renyi().subs(v, spread), t),
                -alpha * sigma2 * _tilted(diff(gaussian.log_ratio(), theta) ** 2).subs(v, spread),
            ),
            items=("D.1/display-16", "D.1/display-20"),
        ),
        Claim(
            id="D.1/sentence-7:same-information",
            label=_RATE,
            where="Appendix D.1, line 985",
            says="I_α = ∫ (p/p')^(α−2)·‖∇(p/p')‖²·p' is the I_α of the lemma before, E_(θ∼p')[(p/p')^α·‖∇log(p/p')‖²]",
            printed=Identity(
                r ** (alpha - 2) * diff(r, theta) ** 2 * g,
                r**alpha * diff(log(r), theta) ** 2 * g,
            ),
            items=("D.1/sentence-7", "D.1/display-19"),
        ),
        Claim(
            id="D.1/display-24:algebra",
            label=_RATE,
            where="Appendix D.1, lines 1000-1001",
            says="−ασ² times lem:i_by_e_lower at c_t is −2σ²c_t·(R_α/α + (α−1)·∂_α R_α)",
            printed=Identity(inserted, -c * 2 * sigma2 * (R / alpha + (alpha - 1) * dR)),
            items=("D.1/display-21", "D.1/display-23", "D.1/display-24", "D.1/display-1"),
        ),
    ]


def _green() -> list[Claim]:
    """Green's identity in the proof of `lem:post_proc`."""
    f, g = p_at(theta, tau), p_prime_at(theta, tau)
    weight, slope = (f / g) ** (alpha - 1), diff(gaussian.log_ratio(), theta)
    score = diff(gaussian.log_density(Integer(0)), theta)
    by_parts = diff(alpha * sigma2 * weight * diff(f, theta), theta) - diff(alpha * sigma2 * weight, theta) * diff(
        f, theta
    )
    r, h = r_at(theta), p_prime_at(theta)  # p/p' and p', so that p = r·h
    after = -alpha * diff(r ** (alpha - 1), theta) * diff(r * h, theta)
    after += (alpha - 1) * diff(r**alpha, theta) * diff(h, theta)
    return [
        Claim(
            id="D.1/display-13:by-parts",
            label=_RATE,
            where="Appendix D.1, lines 960-961",
            says="Green: w·Δp is the divergence of w·∇p less ∇w·∇p, w = ασ²(p/p')^(α−1) (one coordinate)",
            printed=Identity(by_parts, alpha * sigma2 * f ** (alpha - 1) / g ** (alpha - 1) * diff(f, theta, 2)),
            items=("D.1/display-12", "D.1/display-13"),
        ),
        Claim(
            id="D.1/display-13:unit-ball",
            label=_RATE,
            where="Appendix D.1, line 963",
            says="B_r, over which the limit r → ∞ is taken, is the unit ball with radius r",
            printed=Identity(radius, Integer(1)),
            corrected=Limit(erf(radius / sqrt(2 * v)), radius, oo, Integer(1)),
            correction="the ball of radius r; only then do integrals over B_r tend to those over ℝ^d (N(0, v))",
            items=("D.1/display-13",),
            consequence="text",
        ),
        Claim(
            id="D.1/display-15:second-term",
            label=_RATE,
            where="Appendix D.1, line 971",
            says="−(α−1)σ²·∫(p/p')^α·Δp' = (α−1)σ²·∫∇(p/p')^α·∇p', boundary terms vanish (Gaussian pair)",
            printed=Cited(
                "Green's first identity, with the decay of p_t and p_t'",
                Identity(
                    -(alpha - 1) * sigma2 * _tilted(diff(score, theta) + score**2),
                    (alpha - 1) * sigma2 * _tilted(alpha * slope * score),
                ),
            ),
            items=("D.1/display-15",),
        ),
        Claim(
            id="D.1/display-18:common-factor",
            label=_RATE,
            where="Appendix D.1, lines 979-981",
            says="the integrand −α∇(p/p')^(α−1)·∇p + (α−1)∇(p/p')^α·∇p' is −α(α−1)(p/p')^(α−2)·‖∇(p/p')‖²·p'",
            printed=Identity(after, -alpha * (alpha - 1) * r ** (alpha - 2) * diff(r, theta) ** 2 * h),
            items=("D.1/sentence-6", "D.1/display-17", "D.1/display-18", "D.1/display-19"),
        ),
    ]


def _update() -> list[Claim]:
    """The statement of `lem:recursive`, and what its proof starts from."""
    quadratic = lam * theta**2 / 2
    other = gaussian.renyi().subs(a, a2)
    later = 1 + p1 * (1 + t / (nu + gap))  # the order at time t on the characteristic from 1 + p1, noise of variance t
    return [
        Claim(
            id="D.2/sentence-2:gradient",
            label=_STEP,
            where="Appendix D.2, line 1016 (and Section 3, line 366)",
            says="the update map is θ − (η/b)·Σℓ(θ; x_i): for ℓ = λθ²/2 it is (1−ηλ)θ",
            printed=Identity(theta - eta * quadratic, (1 - eta * lam) * theta),
            corrected=Identity(theta - eta * diff(quadratic, theta), (1 - eta * lam) * theta),
            correction="the gradient sign is missing: ∇ℓ(θ; x_i), as in the proof and in the algorithm",
            items=("D.2/sentence-2", "D.2/sentence-3"),
            consequence="formula",
        ),
        Claim(
            id="D.2/sentence-5:time-zero",
            label=_STEP,
            where="Appendix D.2, line 1027",
            says="the laws at t = 0 are those before the update (variance v on the Gaussian, map Lθ)",
            printed=Identity(noisy_step(v, L, Integer(0)), v),
            corrected=Cited(
                "van Erven & Harremoës 2014 (data processing; witness: the second of two coordinates is left out)",
                Certificate(gaussian.renyi(), gaussian.renyi() + other, ((other,),)),
            ),
            correction="p_0 is the law after the map f; R_α(p_0‖p_0') ≤ R_α before the update needs data processing",
            items=("D.2/sentence-5",),
            consequence="argument",
        ),
        Claim(
            id="D.2/sentence-4:finite-orders",
            label=_STEP,
            where="Appendix D.2, lines 1027-1029",
            says="the inequality can be solved from t = 0 at every order: R(α, 0) < ∞",
            printed=AtPoint(
                _decay_rate(Integer(2), Integer(2), Integer(1)),
                Integer(0),
                Gt,
                "N(0, 2) against N(0, 1), order 2: rate of decay of the integrand",
            ),
            corrected=Positive(_decay_rate(later, nu + gap + t, nu + t), (p1 * gap < nu,), {p1: nu / (gap + slack)}),
            correction="R(α, 0) may be ∞ where R_α' < ∞; finiteness along the characteristic must be shown, "
            "as here for N(0, ν+gap) against N(0, ν), given R_α' < ∞ (that is (α'−1)·gap < ν)",
            items=("D.2/sentence-4", "D.2/display-2"),
            consequence="argument",
        ),
    ]


def _growth(when: Expr) -> Expr:
    """1 + 2cσ²·time/L², as the paper prints it."""
    return 1 + c * 2 * when * sigma2 / L**2


def _characteristics() -> list[Claim]:
    """From the inequality for R to the one along characteristics."""
    decay = 2 * sigma2 / (L**2 / c + 2 * t * sigma2)
    rate = Integral(2 * sigma2 / (V0 + 2 * tau * sigma2), (tau, 0, t))  # V0 stands for L²/c
    z = y - log(_growth(t)) + log(_growth(eta))
    wave = exp(a_u * z + b_v * t)  # exponentials e^(Az + Bτ): on them a first-order operator shows its coefficients
    total, per_order = R_at(alpha, t), u_at(alpha, t)  # with `e_s` for 2σ²c_t
    right = (-e_s * (total / alpha + (alpha - 1) * diff(total, alpha))).subs(total, alpha * per_order).doit()
    start = r_at(exp(y) + 1) / (exp(y) + 1)  # ε(α)/α at α = e^y + 1
    growing = u_at(t) * (1 + 2 * t * sigma2 / V0)
    along = Le(diff(u_at(t), t), -2 * sigma2 / (V0 + 2 * t * sigma2) * u_at(t))  # eqn:pde4, z being fixed
    return [
        Claim(
            id="D.2/display-3:substitution",
            label=_STEP,
            where="Appendix D.2, lines 1029-1038",
            says="dividing by α, with R = αu: ∂_t u ≤ −2σ²c_t·(u + (α−1)·∂_α u)",
            printed=Identity(right / alpha, -e_s * (per_order + (alpha - 1) * diff(per_order, alpha))),
            items=("D.2/sentence-7", "D.2/display-3"),
        ),
        Claim(
            id="D.2/display-4:initial",
            label=_STEP,
            where="Appendix D.2, line 1047",
            says="at y = ln(α−1) the initial value ε(e^y + 1)/(e^y + 1) is ε(α)/α",
            printed=Identity(start, r_at(alpha) / alpha, by=(supposed(y, log(alpha - 1)),)),
            items=("D.2/sentence-8", "D.2/display-4"),
        ),
        Claim(
            id="D.2/sentence-9:integral",
            label=_STEP,
            where="Appendix D.2, lines 1054 and 1078",
            says="∫₀ᵗ 2σ²/(V + 2sσ²) ds = ln(1 + 2tσ²/V), V = L²/c",
            printed=Identity(rate, log(V0 + 2 * t * sigma2) - log(V0)),
            items=("D.2/sentence-9", "D.2/display-7"),
        ),
        Claim(
            id="D.2/display-5:chain-rule",
            label=_STEP,
            where="Appendix D.2, line 1059",
            says="∂_t u = ∂_τ u − 2σ²c_t·∂_z u, on u = e^(Az + Bτ) with any A and B",
            printed=Identity(diff(wave, t) / wave, b_v - a_u * decay),
            items=("D.2/display-5",),
        ),
        Claim(
            id="D.2/display-6:transport",
            label=_STEP,
            where="Appendix D.2, lines 1059-1069",
            says="∂_t u + 2σ²c_t·(u + ∂_y u) = ∂_τ u + 2σ²c_t·u: the derivative in z cancels",
            printed=Identity((diff(wave, t) + decay * (wave + diff(wave, y))) / wave, b_v + decay),
            items=("D.2/sentence-10", "D.2/display-6"),
        ),
        Claim(
            id="D.2/display-6:initial",
            label=_STEP,
            where="Appendix D.2, line 1069",
            says="at τ = 0, y = z − ln(1 + 2cησ²/L²): z less that logarithm is y again",
            printed=Identity(exp(z - log(_growth(eta))) + 1, exp(y) + 1, by=(supposed(t, Integer(0)),)),
            items=("D.2/display-6",),
        ),
        Claim(
            id="D.2/display-7:log-of-zero",
            label=_STEP,
            where="Appendix D.2, lines 1078 and 1083",
            says="ln u(z, τ) and ln u(z, 0) exist: u > 0",
            printed=AtPoint(gaussian.renyi().subs(a, 0), Integer(0), Gt, "equal laws, as before the first use"),
            corrected=Certificate(
                diff(growing, t),
                Integer(0),
                ((1 + 2 * t * sigma2 / V0, along),),
                (along,),
            ),
            correction="before the record is first used u = 0; without logarithms, u·(1 + 2cτσ²/L²) does not increase",
            items=("D.2/display-7", "D.2/display-8", "D.2/sentence-11"),
            consequence="argument",
        ),
    ]


def _ends() -> list[Claim]:
    """From the solution back to the statement of `lem:recursive`."""
    factor = _growth(eta)
    step = statement(_STEP)
    ((_, order),) = step.also
    kept = step.expr.subs(hit, 0)
    lowered = exp(y - log(W)) + 1  # W stands for 1 + 2cησ²/L²
    solution = r_at(lowered) / lowered / W
    short_order = (alpha - 1) / W + 1
    printed_order = (alpha - 1) / factor + 1
    solved, initial = u <= M_x / (1 + p1), M_x <= M  # eqn:sol_uztau_eta with g = 1 + p1; the start in eqn:pde4
    return [
        Claim(
            id="D.2/sentence-12:equivalent",
            label=_STEP,
            where="Appendix D.2, lines 1083-1094",
            says="u(z,η) ≤ u(z,0)/g (eqn:sol_uztau_eta) is equivalent to u(y,η) ≤ (bound on u(z,0))/g",
            printed=AtPoint(
                Integer(1), Rational(1, 2), Le, "g = 2, u(z,0) = 1, its bound 2, u(z,η) = 1: the latter holds"
            ),
            corrected=Certificate(
                u,
                M / (1 + p1),
                ((solved,), (1 / (1 + p1), initial)),
                (solved, initial),
            ),
            correction="it follows, with the initial condition; the unnumbered display before is what is equivalent",
            items=("D.2/sentence-12", "D.2/display-9", "D.2/display-10"),
            consequence="text",
        ),
        Claim(
            id="D.2/display-11:back",
            label=_STEP,
            where="Appendix D.2, lines 1094-1107",
            says="at y = ln(α−1) the bound on u(y,η) is ε(α')/α'·(1 + 2cησ²/L²)⁻¹",
            printed=Identity(
                solution,
                r_at(short_order) / short_order / W,
                by=(supposed(y, log(alpha - 1)),),
                nonzero=(sign_on(short_order, _ORDER, _ABOVE_ONE),),
            ),
            items=("D.2/sentence-13", "D.2/sentence-14", "D.2/display-11", "D.2/sentence-15", "D.2/display-12"),
        ),
        Claim(
            id="D.2/display-13:order",
            label=_STEP,
            where="Appendix D.2, lines 1018 and 1115",
            says="α' = (α−1)(1 + 2cησ²/L²)⁻¹ + 1, in proof and statement alike",
            printed=Definition(undisplay(order), (alpha - 1) * factor ** (-1) + 1),
            items=("D.2/display-1", "D.2/display-13"),
        ),
        Claim(
            id="D.2/display-13:lower-order",
            label=_STEP,
            where="Appendix D.2, line 1115",
            says="α' is lower than α wherever noise is added: 1 < α' < α",
            printed=Positive((alpha - printed_order) * (printed_order - 1), _ORDER, _ABOVE_ONE),
            items=("D.2/display-13",),
        ),
        Claim(
            id="D.2/sentence-16:not-a-member",
            label=_STEP,
            where="Appendix D.2, line 1110",
            says="the contraction holds if i₀ ≠ B (index against set: always so), thus also in a step with the record",
            printed=AtPoint(
                ABBREVIATIONS[rho0].subs({eta: 1, S_g: 1, b: 1, sigma2: 1}),
                kept.subs(u, 0),
                Le,
                "u = 0 before, i₀ ∈ B, Gaussian pair, η = S_g = b = σ = 1",
            ),
            corrected=Quotes(_STEP, Piecewise((u + rho0, Eq(hit, 1)), (u * factor ** (-1), True))),
            correction="i₀ ∉ B is meant: the second case of lem:recursive",
            items=("D.2/sentence-16", "D.2/display-13"),
            consequence="formula",
        ),
        Claim(
            id="D.2/sentence-17:sensitivity",
            label=_STEP,
            where="Appendix D.2, line 1117",
            says="a step with the record costs the Gaussian mechanism's R_α: shift ηS_g/b, variance 2ησ², order α",
            printed=Identity(
                gaussian_divergence(eta * S_g / b, 2 * eta * sigma2), alpha * eta * S_g**2 / (4 * sigma2 * b**2), _ORDER
            ),
            items=("D.2/sentence-17",),
        ),
    ]


def notes() -> list[Note]:
    return [
        Note("D/sentence-1", "restates", "the lemma is what lem:post_proc is built on", _RATE),
        Note(
            "D/lemma-1",
            "attributes",
            "where the bound on I_α/E_α is said to be from",
            "Vempala & Wibisono 2019, Lemma 5",
        ),
        Note("D/lemma-1", "restates", "the lemma itself", _LEMMA),
        Note("D/sentence-6", "definition", "relative Fisher information J(ρ‖ν) = E_ν[(ρ/ν)·‖∇log(ρ/ν)‖²]"),
        Note("D/display-3", "definition", "(μ/ν)^α/E_α is ρ/ν"),
        Note("D/display-4", "restates", "the power moves inside the logarithm", "D/display-5:constant"),
        Note("D/display-7", "restates", "LSI against relative Fisher information", "D/display-7:definition"),
        Note("D/display-8", "restates", "LSI inserted", _LEMMA),
        Note("D/display-13", "layout", "E_α is set in the letter of the expectation"),
        Note("D.1/lemma-1", "restates", "the lemma of Section 3", _RATE),
        Note("D.1/sentence-1", "definition", "f maps parameters to parameters"),
        Note("D.1/sentence-2", "restates", "LSI for both laws, f Lipschitz, α > 1", _RATE),
        Note("D.1/sentence-3", "restates", "both laws diffuse without drift", _RATE),
        Note("D.1/display-2", "restates", "Fokker–Planck equation for p", _RATE),
        Note("D.1/display-3", "restates", "Fokker–Planck equation for p'", _RATE),
        Note("D.1/display-5", "restates", "R_α is log E_α over α−1", _RATE),
        Note("D.1/display-6", "restates", "derivative of the logarithm", _RATE),
        Note("D.1/display-7", "restates", "E_α written as an integral", "D.1/sentence-4:same-moment"),
        Note("D.1/sentence-5", "restates", "derivative and integral exchanged", _RATE),
        Note("D.1/display-10", "restates", "left side of the next line", _RATE),
        Note("D.1/display-11", "restates", "Fokker–Planck equations inserted", _RATE),
        Note("D.1/display-14", "restates", "Green's identity, first term", "D.1/display-13:by-parts"),
        Note("D.1/sentence-8", "attributes", "LSI under maps and noise", "Vempala & Wibisono 2019, Lemmas 16 and 17"),
        Note("D.1/display-22", "restates", "the constant after map and noise", _RATE),
        Note("D.1/sentence-9", "restates", "the constant after map and noise", _RATE),
        Note("D.2/sentence-1", "restates", "quasi-convexity: a fixed start is the worst case", "thm:convexsmooth"),
        Note("D.2/lemma-1", "restates", "the lemma of Section 3", _STEP),
        Note("D.2/sentence-6", "definition", "R(α, t) = R_α(p_t‖p_t')"),
        Note("D.2/display-2", "restates", "lem:post_proc with its constant written out", _RATE),
        Note("D.2/sentence-12", "definition", "z is y at t = η"),
        Note("D.2/display-14", "restates", "data processing", _STEP),
        Note("D.2/display-15", "restates", "a factor α is missing", f"{_STEP}/composition"),
    ]
