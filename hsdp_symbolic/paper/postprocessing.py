"""Amplification by Gaussian post-processing: `lem:i_by_e_lower`, `lem:post_proc`, `lem:recursive`.

Integral identities are checked on their integrands, one coordinate at a time, so they hold in any dimension. Cited, not
proved: Green's identity, that a log-Sobolev inequality (LSI) with constant c means KL ≤ Fisher/2c, exchanging
derivative and integral, data processing. Two Gaussians of equal variance attain every inequality of this module and
serve as the witness throughout.
"""

from __future__ import annotations

from functools import cache

from sympy import Derivative, Eq, Expr, Integer, Lambda, Lt, Piecewise, Rational, diff, exp, integrate, log, pi

from ..display import Dot, Over, Plus, times
from ..meaning import Quantity
from ..proof.checks import AtPoint, Certificate, Identity, Slack, SolvesPDE
from ..proof.derivation import Derivation
from ..statement import Statement
from ..symbols import (
    ABBREVIATIONS,
    KL,
    V0,
    E_alpha,
    E_at,
    I_alpha,
    L,
    M,
    M_x,
    R,
    R_at,
    S_g,
    a,
    a2,
    alpha,
    alpha_minus_1,
    b,
    c,
    dim,
    dR,
    eta,
    hit,
    p_at,
    p_prime_at,
    r_at,
    radius,
    rho0,
    sigma2,
    t,
    tau,
    theta,
    u,
    u_at,
    v,
    w,
    y,
)
from . import gaussian
from .lsi import cite_lsi_facts, noisy_step

_R = R_at(alpha)


@cache
def information_lower_bound() -> Statement:
    """`lem:i_by_e_lower`: the ratio I_α/E_α is bounded below by the divergence and its derivative in the order."""
    d = Derivation()
    r = r_at(theta)
    tilt = r**alpha / E_alpha  # ρ/ν, the density of the tilted law against ν
    d.identity("ρ = (μ/ν)^α·ν/E_α is a density: its integrand is that of E_α, over E_α.", tilt * E_alpha, r**alpha)
    start = r**alpha * diff(log(r), theta) ** 2 / E_alpha
    d.identity("By definition of ρ, I_α/E_α = E_ν[(ρ/ν)·‖∇log(μ/ν)‖²].", start, tilt * diff(log(r), theta) ** 2)
    squared = d.identity(
        "Moving the power inside: = α⁻²·E_ν[(ρ/ν)·‖∇log(μ/ν)^α‖²].",
        tilt * diff(log(r), theta) ** 2,
        tilt * diff(log(r**alpha), theta) ** 2 / alpha**2,
    )
    d.identity(
        "E_α does not depend on θ, so = α⁻²·E_ν[(ρ/ν)·‖∇log(ρ/ν)‖²] = J(ρ‖ν)/α², a relative Fisher information.",
        squared,
        tilt * diff(log(tilt), theta) ** 2 / alpha**2,
    )
    kl = gaussian.expectation(gaussian.log_ratio(), a, v)
    fisher = gaussian.expectation(diff(gaussian.log_ratio(), theta) ** 2, a, v)
    reference = "Vempala & Wibisono 2019, Section 2.2"
    d.cite(
        "LSI with constant c ⇔ KL(ρ‖ν) ≤ J(ρ‖ν)/(2c) for all ρ (witness: equality for N(a, v), N(0, v), c = 1/v) …",
        reference,
        Identity(kl, fisher / (2 / v)),
    )
    d.cite(
        "… and strict inequality, in this direction, for ρ = N(0, 2), ν = N(0, 1): KL = (1 − log 2)/2, J = 1/2, c = 1.",
        reference,
        AtPoint((1 - log(2)) / 2, Rational(1, 4), Lt, "ρ = N(0, 2), ν = N(0, 1)"),
    )
    d.identity(
        "KL(ρ‖ν) = E_ν[(μ/ν)^α·(α·log(μ/ν) − log E_α)]/E_α.",
        (tilt * log(tilt)).expand(force=True),
        (r**alpha * (alpha * log(r) - log(E_alpha)) / E_alpha).expand(),
    )
    d.identity("(μ/ν)^α·log(μ/ν) = ∂_α (μ/ν)^α.", r**alpha * log(r), diff(r**alpha, alpha))
    d.identity(
        "So (2c/α²)·KL(ρ‖ν) = (2c/α)·E_ν[∂_α (μ/ν)^α]/E_α − (2c/α²)·(log E_α/E_α)·E_ν[(μ/ν)^α].",
        (2 * c / alpha**2 * tilt * log(tilt)).expand(force=True),
        2 * c / alpha * diff(r**alpha, alpha) / E_alpha - 2 * c / alpha**2 * log(E_alpha) / E_alpha * r**alpha,
    )
    tilted = gaussian.expectation(gaussian.log_ratio(), gaussian.tilted_mean(), v)
    d.cite(
        "Derivative and expectation may be exchanged: E_ν[∂_α (μ/ν)^α]/E_α = ∂_α log E_α (witness: Gaussian pair).",
        "dominated convergence, for E_α finite near α",
        Identity(tilted, diff(gaussian.log_moment(), alpha)),
    )
    log_e = (alpha - 1) * _R
    rate = d.identity(
        "E_α = e^((α−1)R_α), so (2c/α)·∂_α log E_α − (2c/α²)·log E_α = (2c/α²)·(R_α + α(α−1)·∂_α R_α).",
        2 * c / alpha * diff(log_e, alpha) - 2 * c / alpha**2 * log_e,
        2 * c / alpha**2 * (_R + alpha * (alpha - 1) * diff(_R, alpha)),
    )
    expr = _as_numbers(rate)
    d.at_most(
        "Together: (2c/α²)·KL ≤ J/α² = I_α/E_α, so I_α/E_α is at least this (here I stands for J).",
        2 * c / alpha**2 * KL,
        I_alpha / alpha**2,
        [(1 / alpha**2, Slack(I_alpha - 2 * c * KL, "LSI: KL ≤ J/(2c)"))],
    )
    score = diff(gaussian.log_ratio(), theta) ** 2
    d.identity(
        "Attained: for the Gaussian pair with c = 1/v both sides equal a²/v².",
        gaussian.expectation(score, gaussian.tilted_mean(), v),
        rate.subs(_R, gaussian.renyi()).doit().subs(c, 1 / v),
    )
    return Statement(
        label="lem:i_by_e_lower",
        kind="lemma",
        assumes=("ν satisfies a log-Sobolev inequality with constant c; μ and ν have smooth densities",),
        title="Fisher-type information against the divergence",
        where="Lemma D.1 (Appendix D)",
        says="Lower bound on I_α/E_α for laws with LSI constant c, given R_α and its derivative in the order.",
        bounds=r"\frac{I_\alpha(\mu\Vert\nu)}{E_\alpha(\mu\Vert\nu)}",
        quantity=Quantity.INFORMATION,
        relation=">=",
        expr=expr,
        shown=d.printed(
            expr, Plus(Dot(Over(2 * c, alpha**2), R), Dot(Over(2 * c, alpha**2), times(alpha, alpha - 1), dR))
        ),
        hypotheses=(alpha > 1,),
        steps=d.steps,
    )


def _as_numbers(expr: Expr) -> Expr:
    """The unknown function R_α and its derivative as the numbers a caller supplies."""
    return expr.subs(Derivative(_R, alpha), dR).subs(_R, R)


def _entropy_production(d: Derivation) -> None:
    """∂_t R_α = −ασ²·I_α/E_α along the heat flow."""
    kernel = (4 * pi * sigma2 * tau) ** (-dim / 2) * exp(-(radius**2) / (4 * sigma2 * tau))
    laplacian = diff(kernel, radius, 2) + (dim - 1) / radius * diff(kernel, radius)
    d.identity(
        "The Gaussian kernel of variance 2tσ² per coordinate solves ∂_t p = σ²Δp in any dimension d; so does "
        "its convolution with any law (Fokker–Planck).",
        diff(kernel, tau) / kernel,
        sigma2 * laplacian / kernel,
    )
    d.identity(
        "R_α = log E_α/(α−1), so ∂_t R_α = ∂_t E_α/((α−1)·E_α).",
        diff(log(E_at(tau)) / (alpha - 1), tau),
        diff(E_at(tau), tau) / ((alpha - 1) * E_at(tau)),
    )
    f, g = p_at(theta, tau), p_prime_at(theta, tau)
    r = f / g
    rate = d.identity(
        "∂_t of the integrand p^α·p'^(1−α) of E_α.",
        diff(f**alpha * g ** (1 - alpha), tau),
        alpha * r ** (alpha - 1) * diff(f, tau) - (alpha - 1) * r**alpha * diff(g, tau),
    )
    d.cite(
        "∂_t and the integral may be exchanged (witness: Gaussian pair, both sides of ∂_t log E_α).",
        "dominated convergence, for Gaussian convolutions",
        _time_exchange(),
    )
    heat = {diff(f, tau): sigma2 * diff(f, theta, 2), diff(g, tau): sigma2 * diff(g, theta, 2)}
    d.identity(
        "Substituting both Fokker–Planck equations.",
        rate.subs(heat),
        alpha * sigma2 * r ** (alpha - 1) * diff(f, theta, 2) - (alpha - 1) * sigma2 * r**alpha * diff(g, theta, 2),
    )
    d.later(_cite_green)
    after_green = -alpha * diff(r ** (alpha - 1), theta) * diff(f, theta) + (alpha - 1) * diff(r**alpha, theta) * diff(
        g, theta
    )
    common = d.identity(
        "After Green's identity in both terms: the powers of p/p' come out.",
        after_green,
        alpha * (alpha - 1) * r ** (alpha - 2) * diff(r, theta) * (-diff(f, theta) + r * diff(g, theta)),
    )
    integrand = d.identity(
        "−∇p + (p/p')∇p' = −p'·∇(p/p').",
        common,
        -alpha * (alpha - 1) * r ** (alpha - 2) * diff(r, theta) ** 2 * g,
    )
    d.identity(
        "This is −α(α−1) times the integrand (p/p')^α·‖∇log(p/p')‖²·p' of I_α …",
        integrand,
        -alpha * (alpha - 1) * r**alpha * diff(log(r), theta) ** 2 * g,
    )
    d.identity(
        "… so ∂_t R_α = σ²/((α−1)·E_α)·(−α(α−1)·I_α) = −ασ²·I_α/E_α.",
        sigma2 / ((alpha - 1) * E_alpha) * (-alpha * (alpha - 1) * I_alpha),
        -alpha * sigma2 * I_alpha / E_alpha,
    )


@cache
def diffusion_rate() -> Statement:
    """`lem:post_proc`: the partial differential inequality for the divergence under added Gaussian noise."""
    d = Derivation()
    d.later(_entropy_production)
    d.later(cite_lsi_facts)
    c_t = 1 / noisy_step(1 / c, L, t)
    d.identity(
        "The LSI constant after the map and noise of variance 2tσ² is c_t.", c_t, 1 / (L**2 / c + 2 * t * sigma2)
    )
    bound = -c_t * 2 * sigma2 * (R / alpha + (alpha - 1) * dR)
    d.later(_rate_bounded, c_t, bound)
    return Statement(
        label="lem:post_proc",
        kind="lemma",
        assumes=("μ and ν satisfy a log-Sobolev inequality with constant c; the map is L-Lipschitz",),
        title="Rate of the divergence under additive Gaussian noise",
        where="Lemma 3.1 (proof in Appendix D.1)",
        says="Upper bound on ∂R_α/∂t while Gaussian noise is added after an L-Lipschitz map.",
        bounds=r"\frac{\partial}{\partial t} R_\alpha(p_t \Vert p_t')",
        quantity=Quantity.DIVERGENCE_STEP,
        relation="<=",
        expr=bound,
        shown=d.printed(
            bound, Dot(-1 / (L**2 / c + 2 * t * sigma2), times(2, sigma2), Plus(Over(R, alpha), Dot(alpha - 1, dR)))
        ),
        hypotheses=(alpha > 1,),
        steps=d.steps,
        uses=("lem:i_by_e_lower",),
    )


def _rate_bounded(d: Derivation, c_t: Expr, bound: Expr) -> None:
    """∂_t R_α is at most `bound`, and equals it for Gaussians."""
    lower = information_lower_bound().expr.subs(c, c_t)
    d.at_most(
        "With lem:i_by_e_lower at c_t (I stands for I_α/E_α), −ασ²·I_α/E_α is at most the right-hand side.",
        -alpha * sigma2 * I_alpha,
        bound,
        [(alpha * sigma2, Slack(I_alpha - lower, "lem:i_by_e_lower"))],
    )
    spread = noisy_step(v, L, t)
    gaussian_r = gaussian.renyi().subs({a: L * a, v: spread}, simultaneous=True)
    d.identity(
        "Attained: for the Gaussian pair (c = 1/v) both sides agree at every t.",
        diff(gaussian_r, t),
        bound.subs({dR: diff(gaussian_r, alpha), R: gaussian_r, c: 1 / v}, simultaneous=True),
    )


def _time_exchange() -> Identity:
    """∂_t log E_α of N(a, v + 2σ²t) against N(0, v + 2σ²t), outside and inside the integral."""
    spread = v + 2 * sigma2 * t
    outside = diff(gaussian.log_moment().subs(v, spread), t)
    # Inside: ∂_t log of the integrand p^α·p'^(1−α), whose tilted law is N(α·a, v + 2σ²t).
    exponent = (alpha * gaussian.log_ratio() + gaussian.log_density(Integer(0))).subs(v, spread)
    inside = gaussian.expectation(diff(exponent - log(spread) / 2, t), alpha * a, spread)
    return Identity(outside, inside)


def _cite_green(d: Derivation) -> None:
    """Green's identity, seen on the Gaussian pair, where (p/p')^(α−1)·p is proportional to N(α·a, v)."""
    weight_slope = (alpha - 1) * diff(gaussian.log_ratio(), theta)
    score = diff(gaussian.log_density(a), theta)
    mean = gaussian.tilted_mean()
    d.cite(
        "∫ g·Δp = −∫ ∇g·∇p, boundary terms vanish (witness: g = (p/p')^(α−1), Gaussian pair).",
        "Green's first identity, with the decay of p_t and p_t'",
        Identity(
            gaussian.expectation(diff(score, theta) + score**2, mean, v),
            -gaussian.expectation(weight_slope * score, mean, v),
        ),
    )


@cache
def one_step() -> Statement:
    """`lem:recursive`: what one noisy update does to the divergence over its order."""
    d = Derivation()
    d.later(_cite_data_processing, "the map f alone costs nothing, R of f#μ, f#ν is at most R of μ, ν")
    # 2σ²·c_t, read off lem:post_proc by setting R = α, ∂_α R = 0; V0 stands for L²/c.
    decay = -diffusion_rate().expr.subs({R: alpha, dR: 0}, simultaneous=True).subs(c, L**2 / V0)
    growth = 1 + 2 * t * sigma2 / V0
    d.later(_characteristics, decay, growth)
    factor = growth.subs({V0: L**2 / c, t: eta})
    kept = d.identity(
        "At t = η: the divergence over its order is multiplied by (1 + 2cησ²/L²)⁻¹, and α' − 1 = (α − 1)·(same).",
        1 / factor,
        1 / (1 + 2 * c * eta * sigma2 / L**2),
    )
    d.at_most(
        "The order stays admissible: α' > 1 whenever α > 1 (so a bound R_a ≤ a·u for all orders a passes through).",
        Integer(0),
        (alpha - 1) * kept,
        [((alpha - 1) * kept, Slack(Integer(1), "α > 1"))],
        domain={alpha: 1 + alpha_minus_1},
    )
    d.later(_sensitive_step)
    spread = noisy_step(v, L, eta)
    before = gaussian.renyi() / alpha
    d.identity(
        "Attained without the record: the Gaussian pair contracts by exactly this factor.",
        before.subs({a: L * a, v: spread}, simultaneous=True),
        before * kept.subs(c, 1 / v),
    )
    expr = Piecewise((u + rho0, Eq(hit, 1)), (u * kept, True))
    growth = Plus(1, Over(2 * c * eta * sigma2, L**2))
    shown = Piecewise(
        (Plus(u, Over(eta * S_g**2, times(4, sigma2, b**2))), Eq(hit, 1)),
        (Dot(u, 1 / growth), True),
    )
    order = Plus(Over(alpha - 1, growth), 1)
    return Statement(
        label="lem:recursive",
        kind="lemma",
        assumes=("both laws satisfy a log-Sobolev inequality with constant c; the update map is L-Lipschitz",),
        title="One noisy update",
        where="Lemma 3.2 (proof in Appendix D.2)",
        says="R_α/α after one update, from u = R_α'/α' before it (hit = 0, record not in batch) or R_α/α (hit = 1).",
        bounds=r"\frac{R_\alpha(\theta_k^{j+1}\Vert{\theta'}_k^{j+1})}{\alpha}",
        quantity=Quantity.DIVERGENCE_STEP,
        relation="<=",
        expr=expr,
        shown=d.printed(expr, shown),
        also=((r"\alpha'", order),),
        hypotheses=(),
        steps=d.steps,
        uses=("lem:post_proc",),
    )


def _characteristics(d: Derivation, decay: Expr, growth: Expr) -> None:
    """Solve the inequality of lem:post_proc along characteristics, with `growth` 1 + 2cσ²t/L² at time t."""
    total = R_at(alpha, t)
    per_order = u_at(alpha, t)
    d.identity(
        "With u = R/α: R/α + (α−1)·∂_α R = α·(u + (α−1)·∂_α u), so u obeys ∂_t u ≤ −2σ²c_t·(u + (α−1)·∂_α u).",
        (total / alpha + (alpha - 1) * diff(total, alpha)).subs(total, alpha * per_order).doit(),
        alpha * (per_order + (alpha - 1) * diff(per_order, alpha)),
    )
    in_y = u_at(log(alpha - 1), t)
    d.identity(
        "With y = ln(α−1), (α−1)·∂_α u = ∂_y u: the transport has speed 2σ²c_t in y.",
        (alpha - 1) * diff(in_y, alpha),
        diff(u_at(y, t), y).subs(y, log(alpha - 1)),
    )
    d.identity(
        "∫₀ᵗ 2σ²c_s ds = ln(1 + 2cσ²t/L²), so a characteristic that ends at α starts at α' = 1 + (α−1)/(1 + 2cσ²t/L²).",
        exp(integrate(decay.subs(t, tau), (tau, 0, t))),
        growth,
    )
    start = alpha - 1  # α' − 1, constant along a characteristic
    d.identity(
        "Along α(t) = 1 + (α'−1)·(1 + 2cσ²t/L²), dα/dt = 2σ²c_t·(α−1): there du/dt = ∂_t u + 2σ²c_t(α−1)·∂_α u.",
        diff(1 + start * growth, t),
        decay * (start * growth),
    )
    to_z = y - log(growth) + log(growth.subs(t, eta))
    d.identity(
        "In the paper's variables τ = t, z = y − ln(1 + 2cσ²t/L²) + ln(1 + 2cησ²/L²): ∂_t z = −2σ²c_t (and ∂_y z = 1) "
        "cancels the transport term.",
        diff(to_z, t),
        -decay,
    )
    d.identity("At t = η, z = y.", to_z.subs(t, eta), y)
    d.identity(
        "Back from y = ln(α−1): e^(y − ln(1 + 2cησ²/L²)) + 1 = α'.",
        exp(log(alpha - 1) - log(growth)) + 1,
        (alpha - 1) / growth + 1,
    )
    along = u_at(t)
    violation = -diff(along, t) - decay * along
    d.at_most(
        "On it du/dt ≤ −2σ²c_t·u for t > 0, so u·(1 + 2cσ²t/L²) does not increase (Grönwall; continuity as t ↓ 0).",
        diff(along * growth, t),
        Integer(0),
        [(growth, Slack(violation, "the differential inequality along the characteristic"))],
    )
    d.check(
        "Cross-check: with equality, pdsolve's general solution F((L²/c + 2σ²t)/(α−1))/(α−1) is ours, g(α'−1)/growth "
        "with g the initial value.",
        SolvesPDE(
            diff(u_at(alpha_minus_1, t), t)
            + decay * (u_at(alpha_minus_1, t) + alpha_minus_1 * diff(u_at(alpha_minus_1, t), alpha_minus_1)),
            u_at(alpha_minus_1, t),
            r_at(alpha_minus_1 / growth) / growth,
            Lambda(y, V0 / (2 * sigma2) / y * r_at(V0 / (2 * sigma2) / y)),
        ),
    )


def _cite_data_processing(d: Derivation, says: str) -> None:
    """Data processing, cited: `says` is what it is used for."""
    other = gaussian.renyi().subs(a, a2)
    d.cite(
        f"Data processing: {says} (witness: dropping one of two independent Gaussian coordinates).",
        "van Erven & Harremoës 2014, Theorem 9",
        Certificate(gaussian.renyi(), gaussian.renyi() + other, ((other, Slack(Integer(1), "a squared shift")),)),
    )


def _sensitive_step(d: Derivation) -> None:
    """The composition case: a batch with the differing record adds at most ρ₀ to R_α/α."""
    d.later(_cite_data_processing, "R_α of the last iterate is at most R_α of the last two")
    d.at_most(
        "Composition: the moment E_α of the pair is Σ w·M_x over the first coordinate, at most max M_x times Σ w.",
        w * M_x,
        w * M,
        [(w, Slack(M - M_x, "M is the largest conditional moment"))],
    )
    cost = d.identity(
        "Definition of R_α for N(a, v) against N(0, v), SymPy doing the integral: R_α = αa²/(2v).",
        log(gaussian.moment_integral()) / (alpha - 1),
        gaussian.renyi(),
    )
    d.identity(
        "The two updates' means differ by at most a = ηS_g/b and v = 2ησ²: R_α/α grows by at most ρ₀ = ηS_g²/(4σ²b²).",
        cost.subs({a: eta * S_g / b, v: 2 * eta * sigma2}, simultaneous=True) / alpha,
        ABBREVIATIONS[rho0],
    )
